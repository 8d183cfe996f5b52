"""Print what the data cover: a strip of days for each system and source, with a sentence."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import click

from zscope.app.cli.metric_options import check_systems, period_options, selected, why_no_rows
from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.store_option import (
    note_missing_zones,
    open_session,
    prepare_metric,
    query_table,
    store_option,
)
from zscope.app.shared.covered_days import BY, METRIC

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

ESSENTIAL = ("system", "source", "day", "state", "covered_pct", "loss")


@click.command()
@period_options
@store_option
@row_options
def command(
    *, begin: date | None, end: date | None, systems: tuple[str, ...], store: Path, output: Output
) -> None:
    """Print what the data cover: a strip of days for each system and source, with a sentence.

    A day of a strip is complete, partial, lost, not known or not recorded; days are those of the clock of the
    system. Files and other formats have a row for each day, with the hours and the reason of a loss. The rows
    of the metric coverage are hours.

    \b
    Examples:
      zscope coverage
      zscope coverage --system SYSA --from 2026-03-02
      zscope coverage --json
      zscope metrics coverage --where "state = 'lost'"
    """
    from zscope.pipelines.metrics import MetricSelection, declared, statement

    metric = declared()[METRIC]
    selection = selected(systems, begin, end)
    with open_session(store) as session:
        check_systems(session, systems)
        prepare_metric(session, METRIC, selection)
        # What shows the state differs from hour to hour, so days have the reason of a loss alone.
        rows = query_table(session, statement(metric, BY, selection)).drop_columns("why")
        if not rows.num_rows:
            click.echo(why_no_rows(session, metric, narrowed=selection != MetricSelection()), err=True)
        note_missing_zones(session, METRIC, systems=systems)
    if output.on_screen:
        from zscope.app.cli.coverage_strips import strips

        click.echo("\n".join(strips(rows.to_pylist(), shutil.get_terminal_size().columns)))
        return
    output.write(Rows.of(rows, ESSENTIAL))
