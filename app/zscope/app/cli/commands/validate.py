"""Validate the data of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode, NothingDoneError
from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.publishing import publish_if_set
from zscope.app.cli.store_option import settings_option, store_errors, store_option
from zscope.app.cli.validating import report_validation, validate_slice, validated_and_existing_loads
from zscope.schemas.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date, datetime
    from pathlib import Path

    import pyarrow as pa

    from zscope.pipelines.quality import StoreSlice
    from zscope.pipelines.settings import Settings

ESSENTIAL = (
    "expectation", "severity", "outcome", "unexpected_rows", "checked_rows", "first_unexpected",
    "last_unexpected", "meaning",
)  # fmt: skip
_DAY = click.DateTime(["%Y-%m-%d"])


@click.command()
@click.option(
    "--load",
    "loads",
    metavar="ID",
    type=int,
    multiple=True,
    help="Only rows of this load. Can be repeated.",
)
@click.option(
    "--table", "-t", "tables", metavar="NAME", multiple=True, help="Only this table. Can be repeated."
)
@click.option("--system", metavar="NAME", help="Only rows of this system.")
@click.option("--from", "first", metavar="DAY", type=_DAY, help="Only rows of this day or later.")
@click.option("--to", "last", metavar="DAY", type=_DAY, help="Only rows of this day or earlier.")
@click.option("--all", "everything", is_flag=True, help="Also print expectations that are met.")
@store_option
@settings_option
@row_options
def command(  # noqa: PLR0913 - one argument for each option
    *,
    loads: tuple[int, ...],
    tables: tuple[str, ...],
    system: str | None,
    first: datetime | None,
    last: datetime | None,
    everything: bool,
    store: Path,
    settings: Settings,
    output: Output,
) -> int:
    """Validate the data of a store: ranges, codes, arithmetic, agreement of sources.

    Without options that choose rows, validates the loads that were not validated yet. Prints one row for
    each expectation that is not met, with the period and examples of the rows that violate it. The results
    are stored in the table validation. HTML pages about them are written to the folder data-docs of the
    store; they need no network.

    Exit codes: 0 all expectations are met; 4 there are warnings only; 8 the data contradicts itself; 12 it
    could not be validated.

    \b
    Examples:
      zscope validate
      zscope validate --load 3 --all -o result.csv
      zscope validate --table smf119_zert_detail --from 2026-03-02 --to 2026-03-02
    """
    from zscope.pipelines.quality import VALIDATION_SCHEMA, StoreSlice

    with store_errors():
        selected = _selected(store, StoreSlice(loads or None, tables, system, _day(first), _day(last)))
    if selected.loads == ():
        click.echo("all loads are validated already; use --load ID to validate one again", err=True)
        output.write(Rows.of(VALIDATION_SCHEMA.empty_table(), ESSENTIAL))
        return ExitCode.OK
    results = validate_slice(store, selected, settings)
    output.write(Rows.of(results if everything else _not_passed(results), ESSENTIAL))
    return max(report_validation(store, results), publish_if_set(store, settings))


def _day(given: datetime | None) -> date | None:
    return given.date() if given else None


def _selected(store: Path, given: StoreSlice) -> StoreSlice:
    """Return the slice of the options, or without any the loads that were not validated yet."""
    from dataclasses import replace

    from zscope.pipelines.quality import unvalidated_loads
    from zscope.schemas.tables import table_names

    validated, existing = validated_and_existing_loads(store)
    _refuse_unknown("table", given.tables, table_names())
    _refuse_unknown("load", map(str, given.loads or ()), list(map(str, sorted(existing))))
    if not existing:
        raise NothingDoneError(f"{store}: the store has no loads")
    if given == type(given)():
        return replace(given, loads=unvalidated_loads(validated, existing))
    return given


def _refuse_unknown(what: str, names: Iterable[str], known: list[str] | tuple[str, ...]) -> None:
    for name in names:
        if name not in known:
            command = "zscope loads" if what == "load" else "zscope fields"
            hint = suggestion(name, known, f"{command} lists all {what}s")
            raise click.UsageError(f"there is no {what} {name}; {hint}")


def _not_passed(results: pa.Table) -> pa.Table:
    import pyarrow.compute as pc

    from zscope.pipelines.quality import CheckOutcome

    return results.filter(pc.field("outcome") != CheckOutcome.PASSED.value)
