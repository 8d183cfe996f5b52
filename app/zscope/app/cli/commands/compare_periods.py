"""Compare two periods of production: what changed by more than noise."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode
from zscope.app.cli.metric_options import check_systems, runs_option, written_period
from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.store_option import (
    note_left_out_hours,
    note_missing_zones,
    open_session,
    prepare_metric,
    query_table,
    store_option,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Any

    from zscope.pipelines.metrics import MetricSelection
    from zscope.pipelines.store.session import Session
    from zscope.pipelines.written_days import DaysPeriod

DIFFERENCE, CAUSE, CHANGE = "period_difference", "period_cause", "change_statement"
_CHANGED = {"less", "more"}
_WITHIN_NOISE = "within noise"


@click.command()
@click.argument("periods", metavar="[A] [B]", nargs=-1, type=written_period)
@click.option("--system", "systems", metavar="NAME", multiple=True, help="Only this system. Can be repeated.")
@click.option(
    "--why", "causes", is_flag=True,
    help="Print the causes instead: jobs and ports, versions, client networks, session caches, settings.",
)  # fmt: skip
@runs_option
@store_option
@row_options
def command(
    periods: tuple[DaysPeriod, ...],
    *,
    systems: tuple[str, ...],
    causes: bool,
    with_runs: bool,
    store: Path,
    output: Output,
) -> int:
    """Compare two periods of production: what changed from A to B by more than noise.

    A and B are each a day (2026-03-02), a week (2026-W10), a month (2026-03) or a span of days
    (2026-03-02..2026-03-08), by the clock of each system. One period is compared with the same days of the
    week before, or with the month before. Without any, the last seven days of the data are; of data of less
    than two weeks, the days that also have the same day of the week before.

    Prints one row for each system and quantity: cost of TLS, CPU time, handshakes, connections and bytes per
    hour, and the shares of resumed handshakes, of TLSv1.3 and of old versions. Each has both values, the
    change, its interval, and whether it is more than noise: how much the days of the periods vary or, with
    less than five days, their parts of four hours. The metric period_difference has the same rows.

    On a terminal, the changes that are more than noise follow as sentences, and why a change is not known;
    --all-columns prints the sentence of each row.

    With --why, prints where the change of the resumption rate and of the cost comes from: the metric
    period_cause. Hours with benchmark runs do not count, unless --with-runs says so.

    \b
    Examples:
      zscope compare-periods
      zscope compare-periods 2026-03-09
      zscope compare-periods 2026-W10 2026-W11 --system SYSA
      zscope compare-periods 2026-W10 2026-W11 --why
      zscope compare-periods 2026-02 2026-03 --format json -o changes.json

    The exit code is 4 if nothing can be compared.
    """
    from zscope.pipelines.metrics import MetricSelection, metric, statement
    from zscope.pipelines.written_days import weekend_note

    if len(periods) > 2:
        raise click.UsageError("name at most two periods; write a span of days as 2026-03-02..2026-03-08")
    selection = MetricSelection(systems, with_runs=with_runs)
    if periods:
        selection = replace(selection, first_day=periods[-1].first, last_day=periods[-1].last)
    name = CAUSE if causes else DIFFERENCE
    with open_session(store) as session:
        check_systems(session, systems)
        prepare_metric(session, name, selection, _earlier(periods, selection))
        rows = query_table(session, statement(metric(name), None, selection))
        why = ""
        if not rows.num_rows:
            why = _why_none(session, selection, periods)
        elif causes:
            why = _within_noise(session, selection, periods)
        note_missing_zones(session, name, systems=systems)
        if not with_runs:
            note_left_out_hours(session, name, systems=systems)
    output.write(Rows.of(rows, metric(name).answer))
    if len(periods) > 1 and (note := weekend_note(*periods)):
        click.echo(f"note: {note}", err=True)
    if why:
        click.echo(why, err=True)
    if causes:
        return ExitCode.OK if rows.num_rows else ExitCode.WARNINGS
    if output.on_terminal:
        for line in lines_below(rows.to_pylist()):
            click.echo(line, err=True)
    return ExitCode.OK if {*_CHANGED, _WITHIN_NOISE} & {*rows["verdict"].to_pylist()} else ExitCode.WARNINGS


def lines_below(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Compose what the table does not say: periods, changes in sentences, and why others are not known."""
    periods = {f"{row['later_period']} against {row['earlier_period']}": row["system"] for row in rows}
    for words, system in periods.items():
        yield words if len(periods) == 1 else f"{system}: {words}"
    yield from _other_records(rows)
    yield from (row["sentence"] for row in rows if row["verdict"] in _CHANGED)
    unknown: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["verdict"] not in {*_CHANGED, _WITHIN_NOISE}:
            unknown[row["why"]].append(row["quantity"])
    for why, quantities in unknown.items():
        yield f"{why} (not known: {', '.join(quantities)})"
    verdicts = {row["verdict"] for row in rows}
    if _WITHIN_NOISE in verdicts and verdicts.isdisjoint(_CHANGED):
        yield 'no change is more than noise; one below "smallest visible" would not have been seen'


def _other_records(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Name the records of each system, for quantities that come from different records."""
    systems: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        systems[row["quantity"]][row["source"]].append(row["system"])
    quantities: dict[str, list[str]] = defaultdict(list)
    for quantity, by_source in systems.items():
        if len(by_source) > 1:
            words = "; ".join(f"{source} of {', '.join(names)}" for source, names in by_source.items())
            quantities[words].append(quantity)
    for words, listed in quantities.items():
        yield f"records of {', '.join(listed)}: {words}"


def _within_noise(session: Session, selection: MetricSelection, periods: tuple[DaysPeriod, ...]) -> str:
    """Return a note that names the systems whose changes are all within noise, if there are any."""
    from zscope.pipelines.metrics import metric, statement

    prepare_metric(session, DIFFERENCE, selection, _earlier(periods, selection))
    verdicts: dict[str, set[str]] = defaultdict(set)
    for row in query_table(session, statement(metric(DIFFERENCE), None, selection)).to_pylist():
        verdicts[row["system"]].add(row["verdict"])
    quiet = [name for name, found in verdicts.items() if _WITHIN_NOISE in found and not found & _CHANGED]
    if not quiet:
        return ""
    return f"note: {', '.join(sorted(quiet))}: no change is more than noise, so these causes may be noise"


def _why_none(session: Session, selection: MetricSelection, periods: tuple[DaysPeriod, ...]) -> str:
    """Return why there are no rows: which records are missing in which period, as the statement says it."""
    from zscope.pipelines.metrics import metric
    from zscope.pipelines.metrics.metric_statements import settings

    chosen = settings(metric("statement"), selection)
    prepare_metric(session, CHANGE, selection, (*chosen, *_earlier(periods, selection)))
    [row] = query_table(session, f"SELECT sentence FROM {CHANGE} ORDER BY rank DESC LIMIT 1").to_pylist()
    return str(row["sentence"])


def _earlier(periods: tuple[DaysPeriod, ...], selection: MetricSelection) -> list[str]:
    """Return the statements that set the period to compare with."""
    from zscope.pipelines.metrics.metric_statements import earlier_settings

    if not periods:
        return []
    earlier = periods[0] if len(periods) > 1 else periods[0].before
    return earlier_settings(earlier.first, earlier.last, selection.systems)
