"""Check the quality of the data in a store."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.exits import ExitCode, NothingDoneError
from zscope.app.output import Output, Rows, row_options
from zscope.app.settings_option import settings_option
from zscope.app.store_option import store_errors, store_option
from zscope.app.validating import check, conclude

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.pipelines.quality import Slice
    from zscope.pipelines.settings import Settings

ESSENTIAL = ("expectation", "severity", "outcome", "unexpected_rows", "checked_rows", "meaning")
_DAY = click.DateTime(["%Y-%m-%d"])


@click.command()
@click.option(
    "--load",
    "loads",
    metavar="ID",
    type=int,
    multiple=True,
    help="Only rows of this load; several can be given.",
)
@click.option(
    "--table", "-t", "tables", metavar="NAME", multiple=True, help="Only this table; several can be given."
)
@click.option("--system", metavar="NAME", help="Only rows of this system.")
@click.option("--from", "first", metavar="DAY", type=_DAY, help="Only rows of this day and later ones.")
@click.option("--to", "last", metavar="DAY", type=_DAY, help="Only rows of this day and earlier ones.")
@click.option("--all", "everything", is_flag=True, help="Show expectations that hold, too.")
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
    """Check the quality of the data in a store: ranges, codes, arithmetic, agreement of sources.

    Without options that choose rows, the loads that were never validated are. One row for each expectation
    that does not hold, with some of the rows that are not as expected. The results are kept in the table
    validation of the store, and pages about them are written to its folder data-docs; they can be opened
    without a network.

    \b
    Ends with 0 if everything holds, 4 if there are only warnings, 8 if the data contradicts itself, 12 if it
    could not be checked.

    \b
    Examples:
      zscope validate
      zscope validate --load 3 --all -o result.csv
      zscope validate --table smf119_zert_detail --from 2026-03-02 --to 2026-03-02
    """
    from zscope.pipelines.quality import VALIDATION_SCHEMA, Slice

    with store_errors():
        chosen = _chosen(store, Slice(loads or None, tables, system, _day(first), _day(last)))
    if chosen.loads == ():
        click.echo("every load was validated before; --load ID validates one again", err=True)
        output.write(Rows.of(VALIDATION_SCHEMA.empty_table(), ESSENTIAL))
        return ExitCode.OK
    results = check(store, chosen, settings)
    output.write(Rows.of(results if everything else _to_look_at(results), ESSENTIAL))
    return conclude(store, results)


def _day(given: datetime | None) -> date | None:
    return given.date() if given else None


def _chosen(store: Path, asked: Slice) -> Slice:
    """What to validate: what was asked for, or the loads that never were."""
    from dataclasses import replace

    from zscope.pipelines.quality import unvalidated
    from zscope.schemas.tables import table_names

    validated, there = _loads(store)
    _refuse_unknown("table", asked.tables, table_names())
    _refuse_unknown("load", map(str, asked.loads or ()), list(map(str, sorted(there))))
    if not there:
        raise NothingDoneError(f"{store}: nothing was loaded yet")
    if asked == type(asked)():
        return replace(asked, loads=unvalidated(validated, there))
    return asked


def _loads(store: Path) -> tuple[set[int], set[int]]:
    """The loads that were validated in full, without an error, and all there are."""
    from zscope.pipelines.store import open_reader

    with open_reader(store) as connection:
        validated = connection.execute(
            "SELECT DISTINCT unnest(any_value(load_ids)) FROM validation WHERE whole_loads "
            "GROUP BY run_id HAVING bool_and(outcome <> 'error')"
        )
        done = {row[0] for row in validated.fetchall()}
        there = connection.execute("SELECT load_id FROM load WHERE status <> 'removed' AND rows > 0")
        return done, {row[0] for row in there.fetchall()}


def _refuse_unknown(what: str, asked: Iterable[str], known: list[str] | tuple[str, ...]) -> None:
    for name in asked:
        if name not in known:
            near = get_close_matches(name, known, n=3)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise click.UsageError(f"there is no {what} {name}{hint}")


def _to_look_at(results: pa.Table) -> pa.Table:
    import pyarrow.compute as pc

    from zscope.pipelines.quality import Outcome

    return results.filter(pc.field("outcome") != Outcome.PASSED.value)
