"""Print what the data cover: a strip of days for each system and source, with a sentence."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING, Any

import click

from zscope.app.cli import completion
from zscope.app.cli.metric_options import (
    check_condition,
    check_systems,
    metric_query,
    period_options,
    selected,
    why_no_rows,
)
from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.store_option import (
    note_missing_zones,
    open_session,
    prepare_metric,
    query_table,
    store_option,
)
from zscope.app.shared.covered_days import BY, METRIC, ONE_DAY, STATES, covered_systems, day_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date
    from pathlib import Path

    from zscope.app.shared.covered_days import CoveredSystem

MARKS = dict(zip(STATES, "#+x?-", strict=True))
"""The character of a day."""
LEGEND = "# complete   + partial   x lost   ? not known   - not recorded   (blank: no data of the system)"
_NAME_WIDTH = len("119-1/2") + 2
_SHARE_WIDTH = len("  0.688 % of 2,232 hours")
_LEAST_DAYS = 10
_HOURS = {"hour_local", "hour_utc"}
ESSENTIAL = ("system", "source", "day", "state", "covered_pct", "hours", "loss")


LISTS_HOURS = "zscope coverage --by hour_local --where \"state IN ('lost', 'partial')\""


@click.command()
@click.option(
    "--by", metavar="COLUMN,...", shell_complete=completion.groupings,
    help="Print rows of each system and source by these columns instead of days: hour_local, hour_utc, week.",
)  # fmt: skip
@click.option(
    "--where", metavar="SQL", default="",
    help="Print the rows of days, or of --by, that match an SQL condition, such as \"state = 'lost'\".",
)  # fmt: skip
@period_options
@store_option
@row_options
def command(
    *,
    by: str | None,
    where: str,
    begin: date | None,
    end: date | None,
    systems: tuple[str, ...],
    store: Path,
    output: Output,
) -> None:
    """Print what the data cover: a strip of days for each system and source, with a sentence.

    A day of a strip is complete, partial, lost, not known or not recorded; days are those of the clock of the
    system. Files and other formats have a row for each day, with the hours and the reason of a loss. --by
    hour_local prints hours instead; with --where, those that are missing.

    \b
    Examples:
      zscope coverage
      zscope coverage --system SYSA --from 2026-03-02
      zscope coverage --json
      zscope coverage --by hour_local --where "state IN ('lost', 'partial')"
    """
    from zscope.pipelines.metrics import declared
    from zscope.pipelines.metrics.query_options import grouping

    metric = declared()[METRIC]
    selection = selected(systems, begin, end, where)
    keys = list(dict.fromkeys([*BY[:2], *(grouping(by) or BY)]))
    with open_session(store) as session:
        check_systems(session, systems)
        check_condition(session, metric, where)
        query = metric_query(metric, keys, selection)
        prepare_metric(session, METRIC, selection)
        rows = query_table(session, query)
        if _HOURS.isdisjoint(keys):
            # What shows the state differs from hour to hour, so days have the reason of a loss alone.
            rows = rows.drop_columns("why")
        if not rows.num_rows:
            click.echo(why_no_rows(session, metric, selection), err=True)
        note_missing_zones(session, METRIC, systems=systems)
    if where:
        click.echo(f"rows by {', '.join(keys)} with {where}", err=True)
    if output.on_screen and not (by or where):
        days = rows.to_pylist()
        click.echo("\n".join(strips(days, shutil.get_terminal_size().columns)))
        if any(row["loss"] for row in days):
            click.echo(f"{LISTS_HOURS} lists the missing hours", err=True)
        return
    output.write(Rows.of(rows, tuple(dict.fromkeys([*keys, *ESSENTIAL[3:]]))))


def strips(rows: Iterable[dict[str, Any]], width: int) -> list[str]:
    """Return the lines for a terminal; rows are those of the metric by system, source and day.

    >>> from datetime import date
    >>> row = {"system": "SYSA", "source": "70", "day": date(2026, 3, 2), "state": "partial"}
    >>> row |= {"hours": 24, "covered_hours": 21.0, "hours_with_loss": 3}
    >>> row |= {"hours_not_recorded": 0, "hours_not_known": 0}
    >>> for line in strips([row | {"loss": "a gap in the intervals of a file"}], 100): print(line)
    SYSA, 1 day
    <BLANKLINE>
             2026-03-02
    70       +           87.5 % of 24 hours
    <BLANKLINE>
    3 hours of 70 are lost or partial, on 2026-03-02: a gap in the intervals of a file.
    <BLANKLINE>
    # complete   + partial   x lost   ? not known   - not recorded   (blank: no data of the system)
    """
    lines: list[str] = []
    for system in covered_systems(rows):
        lines += [*_system(system, width), ""]
    return [*lines, *textwrap.wrap(LEGEND, width)] if lines else []


def _system(system: CoveredSystem, width: int) -> Iterator[str]:
    """Yield the strips of one system and the sentences about it."""
    yield system.title
    yield ""
    for begin, number in day_blocks(system.days, max(_LEAST_DAYS, width - _NAME_WIDTH - _SHARE_WIDTH)):
        yield f"{'':{_NAME_WIDTH}}{begin}"
        for source in system.recorded:
            marks = {day: MARKS[state] for day, state in source.states.items()}
            strip = "".join(marks.get(begin + index * ONE_DAY, " ") for index in range(number))
            covered = source.in_days(begin, begin + number * ONE_DAY)
            share = f"{covered.covered_pct:.3g} % of {covered.hours:,} hours"
            yield f"{source.source:{_NAME_WIDTH}}{strip:{max(number, _LEAST_DAYS)}}  {share}"
        yield ""
    for sentence in system.sentences:
        yield from textwrap.wrap(sentence, width)
