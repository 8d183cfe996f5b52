"""Print what the data say in a few sentences."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

import click

from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.store_option import note_missing_zones, open_session, query_table, store_option

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from zscope.pipelines.metrics.narrowing import PreparedMetrics
    from zscope.pipelines.summary import Conclusion, Query

_METRICS = ("tls_posture", "certificate_inventory", "period_comparison")


@click.command()
@store_option
@row_options
def command(*, store: Path, output: Output) -> None:
    """Print what the data say in a few sentences, each with the command for its evidence.

    What TLS costs and whose it is, which change of an AT-TLS statement saves most, what is unprotected, which
    certificates end, and what changed against the period before.

    \b
    Examples:
      zscope summary
      zscope summary --format json -o summary.json
    """
    import pyarrow as pa

    from zscope.pipelines.metrics.narrowing import PreparedMetrics

    with open_session(store) as session:
        every = conclusions_of(PreparedMetrics(session))
        note_missing_zones(session, *_METRICS)
    if output.on_screen:
        click.echo(paragraphs(every))
        return
    columns = {
        "about": [each.about for each in every],
        "sentence": [each.sentence for each in every],
        "evidence": [each.evidence for each in every],
    }
    output.write(Rows.of(pa.table(columns)))


def conclusions_of(metrics: PreparedMetrics) -> list[Conclusion]:
    """Return the sentences about a store."""
    from zscope.pipelines.summary import conclusions

    return conclusions(_query(metrics))


def paragraphs(every: Sequence[Conclusion]) -> str:
    """Return sentences as paragraphs of the width of the terminal, each with its command."""
    width = shutil.get_terminal_size().columns
    return "\n\n".join(_paragraph(each, width) for each in every)


def _query(metrics: PreparedMetrics) -> Query:
    def run(metric: str, statement: str) -> list[dict[str, Any]]:
        metrics.prepare(metric)
        found = query_table(metrics.session, f"WITH found AS (FROM {metric}) {statement}")
        rows: list[dict[str, Any]] = found.to_pylist()
        return rows

    return run


def _paragraph(each: Conclusion, width: int) -> str:
    lines = textwrap.wrap(each.sentence, width, break_on_hyphens=False)
    return "\n".join([*lines, f"  {each.evidence}"])
