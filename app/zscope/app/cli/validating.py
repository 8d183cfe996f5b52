"""Run the data validation for `validate` and `ingest --validate`, and report its results."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode, NothingDoneError, print_message
from zscope.app.cli.store_option import store_errors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

    from zscope.pipelines.quality import StoreSlice
    from zscope.pipelines.settings import Settings


def validated_and_existing_loads(store: Path) -> tuple[set[int], set[int]]:
    """Return the loads that were validated completely and without an error, and all loads with rows."""
    from zscope.pipelines.store import open_reader

    with open_reader(store) as connection:
        validated = connection.execute(
            "SELECT DISTINCT unnest(any_value(load_ids)) FROM validation WHERE whole_loads "
            "GROUP BY run_id HAVING bool_and(outcome <> 'error')"
        )
        done = {row[0] for row in validated.fetchall()}
        existing = connection.execute("SELECT load_id FROM load WHERE status <> 'removed' AND rows > 0")
        return done, {row[0] for row in existing.fetchall()}


def validate_slice(store: Path, part: StoreSlice, settings: Settings) -> pa.Table:
    """Validate a slice of a store in a separate process, and store the results."""
    from zscope.pipelines.quality import QualityError, validate_in_subprocess
    from zscope.pipelines.store.folder import existing_store
    from zscope.pipelines.store.maintenance import record_validation
    from zscope.pipelines.store.permissions import readable_by
    from zscope.pipelines.store.transaction import current_catalogue

    with store_errors():
        folder = existing_store(store)
        catalogue = current_catalogue(folder, settings, print_message)
    try:
        with readable_by(folder.path, everybody=settings.readable_by_everybody):
            results = validate_in_subprocess(catalogue, part, folder.docs)
    except QualityError as error:
        raise NothingDoneError(str(error)) from error
    with store_errors():
        record_validation(store, results, settings, print_message)
    return results


def validate_loads(store: Path, loads: Sequence[int], settings: Settings) -> ExitCode:
    """Validate new loads and report the results."""
    from zscope.pipelines.quality import StoreSlice

    return report_validation(store, validate_slice(store, StoreSlice(tuple(loads)), settings))


def report_validation(store: Path, results: pa.Table) -> ExitCode:
    """Print a summary of the results and the path of the pages; return the exit code."""
    if not results.num_rows:
        click.echo("there are no rows to validate", err=True)
        return ExitCode.OK
    click.echo(validation_summary(results), err=True)
    click.echo(f"pages: {store / 'data-docs' / 'index.html'}", err=True)
    return validation_exit_code(results)


def validation_summary(results: pa.Table) -> str:
    """Return how many expectations are met and how many are not, by severity."""
    from zscope.pipelines.quality import CheckOutcome, CheckSeverity

    counts = Counter(
        row["severity"] if row["outcome"] == CheckOutcome.FAILED else row["outcome"]
        for row in results.select(["severity", "outcome"]).to_pylist()
    )
    counted = [
        f"{counts[name]:,} {name}{'' if counts[name] == 1 else 's'}"
        for name in (CheckOutcome.ERROR.value, *(severity.value for severity in CheckSeverity))
        if counts[name]
    ]
    passed = f"{counts[CheckOutcome.PASSED]:,} of {results.num_rows:,} expectations are met"
    return f"{passed}: {', '.join(counted)}" if counted else passed


def validation_exit_code(results: pa.Table) -> ExitCode:
    """Return the exit code that follows from the results of a validation."""
    from zscope.pipelines.quality import CheckOutcome, CheckSeverity, worst_outcome

    match worst_outcome(results):
        case CheckOutcome.ERROR:
            return ExitCode.NOTHING
        case CheckSeverity.FAILURE:
            return ExitCode.REFUSED
        case CheckSeverity.WARNING:
            return ExitCode.WARNINGS
        case _:
            return ExitCode.OK
