"""Running the data validation from a command: in its own process, kept in the store, told in a line."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.exits import ExitCode, NothingDoneError
from zscope.app.store_option import store_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from zscope.pipelines.quality import Slice
    from zscope.pipelines.settings import Settings


def check(store: Path, part: Slice, settings: Settings) -> pa.Table:
    """Validate a slice of a store and keep the results in it."""
    from zscope.pipelines.quality import QualityError, validate_in_own_process
    from zscope.pipelines.store import record_validation
    from zscope.pipelines.store.change import refreshed
    from zscope.pipelines.store.folder import existing_store

    def tell(text: str) -> None:
        click.echo(text, err=True)

    with store_errors():
        folder = existing_store(store)
        catalogue = refreshed(folder, settings, tell)
    try:
        results = validate_in_own_process(catalogue, part, folder.docs)
    except QualityError as error:
        raise NothingDoneError(str(error)) from error
    with store_errors():
        record_validation(store, results, settings, tell)
    return results


def check_loads(store: Path, loads: Sequence[int], settings: Settings) -> ExitCode:
    """Validate some loads that were just made, and say what was found."""
    from zscope.pipelines.quality import Slice

    return conclude(store, check(store, Slice(tuple(loads)), settings))


def conclude(store: Path, results: pa.Table) -> ExitCode:
    """Say what was found and where the pages about it are."""
    if not results.num_rows:
        click.echo("there are no rows to check", err=True)
        return ExitCode.OK
    click.echo(_told(results), err=True)
    click.echo(f"pages: {store / 'data-docs' / 'index.html'}", err=True)
    return _exit_code(results)


def _told(results: pa.Table) -> str:
    from zscope.pipelines.quality import Outcome, Severity

    gravities = Counter(
        row["severity"] if row["outcome"] == Outcome.FAILED else row["outcome"]
        for row in results.select(["severity", "outcome"]).to_pylist()
    )
    counted = [
        f"{gravities[name]:,} {name}{'' if gravities[name] == 1 else 's'}"
        for name in (Outcome.ERROR.value, *(severity.value for severity in Severity))
        if gravities[name]
    ]
    held = f"{gravities[Outcome.PASSED]:,} of {results.num_rows:,} expectations hold"
    return f"{held}: {', '.join(counted)}" if counted else held


def _exit_code(results: pa.Table) -> ExitCode:
    from zscope.pipelines.quality import Outcome, Severity, worst

    match worst(results):
        case Outcome.ERROR:
            return ExitCode.NOTHING
        case Severity.FAILURE:
            return ExitCode.REFUSED
        case Severity.WARNING:
            return ExitCode.WARNINGS
        case _:
            return ExitCode.OK
