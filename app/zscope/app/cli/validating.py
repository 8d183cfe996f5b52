"""Run the data validation for `validate` and `ingest --validate`, and report its results."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode, NothingDoneError
from zscope.app.cli.store_option import store_errors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

    from zscope.pipelines.quality import StoreSlice
    from zscope.pipelines.settings import Settings


def validate_slice(store: Path, part: StoreSlice, settings: Settings) -> pa.Table:
    """Validate a slice of a store in a separate process, and store the results."""
    from zscope.pipelines.quality import QualityError, validate_in_subprocess
    from zscope.pipelines.store.change import current_catalogue
    from zscope.pipelines.store.folder import existing_store
    from zscope.pipelines.store.maintenance import record_validation

    def report(text: str) -> None:
        click.echo(text, err=True)

    with store_errors():
        folder = existing_store(store)
        catalogue = current_catalogue(folder, settings, report)
    try:
        results = validate_in_subprocess(catalogue, part, folder.docs)
    except QualityError as error:
        raise NothingDoneError(str(error)) from error
    with store_errors():
        record_validation(store, results, settings, report)
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
    click.echo(_summary(results), err=True)
    click.echo(f"pages: {store / 'data-docs' / 'index.html'}", err=True)
    return _exit_code(results)


def _summary(results: pa.Table) -> str:
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


def _exit_code(results: pa.Table) -> ExitCode:
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
