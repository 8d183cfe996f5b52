"""Print what the data say: on one screen, or in a few sentences."""

from __future__ import annotations

import shutil
import textwrap
from itertools import groupby
from typing import TYPE_CHECKING

import click

from zscope.app.cli.metric_options import check_systems, period_options, runs_option, selected
from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.store_option import (
    note_missing_zones,
    open_session,
    prepare_metric,
    query_table,
    store_option,
)

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    import pyarrow as pa

    from zscope.pipelines.metrics import MetricSelection
    from zscope.pipelines.store.session import Session


@click.command()
@period_options
@runs_option
@click.option(
    "--full", is_flag=True,
    help="Print all statements as sentences, each with the command for its evidence.",
)  # fmt: skip
@store_option
@row_options
def command(
    *,
    begin: date | None,
    end: date | None,
    systems: tuple[str, ...],
    with_runs: bool,
    full: bool,
    store: Path,
    output: Output,
) -> None:
    """Print what the data say, on one screen or in a few sentences.

    What TLS costs and who pays, which change of an AT-TLS statement saves most, what is unprotected or has an
    old version, which certificates end, how benchmark runs compare with published results, and what the data
    cover: each part with the command that prints its rows.

    To a pipe, the same in sentences, and what changed against the period before, each with the command for
    its evidence; with --full, all of them. With --format or -o, they are rows; zscope metrics statement
    prints them with all columns.

    \b
    Examples:
      zscope summary
      zscope summary --full
      zscope summary | less
      zscope summary --system SYSA --from 2026-03-02 --to 2026-03-08
      zscope summary --format json -o summary.json
    """
    selection = selected(systems, begin, end, with_runs=with_runs)
    with open_session(store) as session:
        check_systems(session, systems)
        if output.on_screen and not full:
            click.echo(screen_of(session, store, selection))
        else:
            statements = said_statements(session, selection, every=full)
            if output.on_screen or not output.is_chosen:
                click.echo(paragraphs(statements))
            else:
                output.write(Rows.of(statements.drop_columns("of_subject")))
        note_missing_zones(session, "statement", systems=systems)


def screen_of(session: Session, store: Path, selection: MetricSelection | None = None) -> str:
    """Return the screen with the answers."""
    from zscope.app.cli.reporting import SessionData
    from zscope.app.cli.screen.screen_lines import screen_text
    from zscope.app.shared.filters import Filters

    filters = Filters.of(selection) if selection else Filters()
    return screen_text(SessionData(session, filters), store.resolve().name)


def said_statements(
    session: Session, selection: MetricSelection | None = None, *, every: bool = False
) -> pa.Table:
    """Return every statement, or those that are shown first, with the commands for their evidence."""
    import pyarrow as pa

    from zscope.app.shared.shown_statements import STATEMENT, command_line, evidence_words, shown_sql
    from zscope.pipelines.metrics import metric, statement

    prepare_metric(session, STATEMENT, selection)
    rows = query_table(session, shown_sql(f"({statement(metric(STATEMENT), None, selection)})", every=every))
    with_runs = selection is not None and selection.with_runs
    commands = [command_line(evidence_words(row, with_runs=with_runs)) for row in rows.to_pylist()]
    return rows.append_column("evidence", pa.array(commands, pa.string()))


def paragraphs(statements: pa.Table) -> str:
    """Return statements as paragraphs of the width of the terminal, each with its command."""
    from zscope.app.shared.shown_statements import more_words

    width = shutil.get_terminal_size().columns
    said = []
    for _, of_subject in groupby(statements.to_pylist(), key=lambda each: each["subject"]):
        rows = list(of_subject)
        said += [_paragraph(row["sentence"], row["not_filtered_by"], row["evidence"], width) for row in rows]
        said[-1] = "\n".join(filter(None, (said[-1], more_words(rows))))
    return "\n\n".join(said)


def _paragraph(sentence: str, not_filtered_by: str | None, evidence: str, width: int) -> str:
    note = f" (Not filtered by {not_filtered_by}.)" if not_filtered_by else ""
    lines = textwrap.wrap(f"{sentence}{note}", width, break_on_hyphens=False)
    return "\n".join([*lines, f"  {evidence}"])
