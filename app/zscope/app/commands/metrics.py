"""List the metrics, or ask one."""

from __future__ import annotations

from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.asked import check_condition, only_known, set_statement, why_no_rows
from zscope.app.exits import NothingDoneError
from zscope.app.moments import day_or_moment, period
from zscope.app.output import Output, Rows, row_options
from zscope.app.store_option import asking, prepare, store_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.pipelines.metrics import Metric, Selection

ALL_TOGETHER = "all"


@click.command()
@click.argument("name", required=False)
@click.option(
    "--by", metavar="COLUMN,...",
    help="Group by these columns instead of those the metric has by itself; also `day` and `week`, and `all` "
    "for one row about everything.",
)  # fmt: skip
@click.option(
    "--from", "begin", metavar="DAY", type=day_or_moment,
    help="Only from this day (2026-03-02) or moment (2026-03-02T09:00+01:00) on; in UTC if it has no offset.",
)  # fmt: skip
@click.option(
    "--to", "end", metavar="DAY", type=day_or_moment,
    help="Only up to and with this day, or before this moment.",
)  # fmt: skip
@click.option("--system", "systems", metavar="NAME", multiple=True, help="Only this system; may be repeated.")
@click.option("--where", metavar="SQL", default="", help="Only rows for which this holds: server_port = 443.")
@click.option(
    "--set", "settings", metavar="NAME=VALUE", multiple=True,
    help="Set a parameter of the metric; may be repeated. zscope metrics --parameters lists them.",
)  # fmt: skip
@click.option("--columns", is_flag=True, help="Explain the columns of the metric instead of asking it.")
@click.option("--parameters", is_flag=True, help="List what can be set, of one metric or of all.")
@click.option("--sql", "show_sql", is_flag=True, help="Print the statement instead of running it.")
@store_option
@row_options
def command(  # noqa: PLR0913 - one argument for each option
    name: str | None,
    *,
    by: str | None,
    begin: date | None,
    end: date | None,
    systems: tuple[str, ...],
    where: str,
    settings: tuple[str, ...],
    columns: bool,
    parameters: bool,
    show_sql: bool,
    store: Path,
    output: Output,
) -> None:
    """List the metrics, or ask one.

    Without NAME, lists the metrics and the questions they answer. With NAME, prints its rows, as the view of
    that name in the catalogue has them, or grouped and narrowed as the options say. docs/metrics.md explains
    each metric: formula, sources, limits.

    \b
    Examples:
      zscope metrics
      zscope metrics handshake_mix --by system,day
      zscope metrics cpu_per_transaction --from 2026-03-02 --to 2026-03-02 --system SYSA
      zscope metrics cipher_distribution --by cipher --where "server_port = 443" -o ciphers.csv
      zscope metrics handshake_mix --columns

    The exit code is 12 if there is no such metric, or it has not what was asked for.
    """
    from zscope.pipelines.metrics import Selection

    metric = None if name is None else _found(name)
    if parameters:
        told = _parameters(metric)
        output.write(told)
        if not told.count:
            click.echo(f"{name} has nothing to set", err=True)
        return
    if metric is None:
        if by or begin or end or systems or where or settings or columns or show_sql:
            raise click.UsageError("name the metric that this is about")
        output.write(_list())
        return
    if columns:
        output.write(_columns(metric))
        return
    selection = Selection(systems, *period(begin, end), where)
    keys = None if by is None else [] if by == ALL_TOGETHER else _keys(by)
    _answer(store, metric, keys, selection, _settings(metric, settings), output, show_sql=show_sql)


def _answer(
    store: Path,
    metric: Metric,
    by: Sequence[str] | None,
    selection: Selection,
    settings: Sequence[str],
    output: Output,
    *,
    show_sql: bool,
) -> None:
    from zscope.pipelines.metrics import AskedWronglyError, Selection, statement
    from zscope.pipelines.metrics.narrowing import prepared

    try:
        asked = statement(metric, by, selection)
    except AskedWronglyError as error:
        raise NothingDoneError(str(error)) from error
    if show_sql:
        before = [*settings, *prepared(metric, selection)]
        click.echo("".join(f"{text};\n\n" for text in (*before, asked)), nl=False)
        return
    with asking(store) as session:
        only_known(session, selection.systems)
        check_condition(session, metric, selection.where)
        prepare(session, metric.name, selection, settings)
        result = session.run(asked)
        assert result is not None, "a question has rows"
        rows = Rows(result.schema, result.batches)
        output.write(rows)
        if not rows.count:
            click.echo(why_no_rows(session, metric, of_a_part=selection != Selection()), err=True)


def _found(name: str) -> Metric:
    from zscope.pipelines.metrics import declared, metric_names

    if name in declared():
        return declared()[name]
    close = get_close_matches(name, metric_names(), 3)
    hint = f"did you mean {' or '.join(close)}?" if close else "zscope metrics lists them"
    raise NothingDoneError(f"there is no metric {name}; {hint}")


def _keys(by: str) -> list[str]:
    """The columns to group by, each once."""
    return list(dict.fromkeys(key.strip() for key in by.split(",")))


def _settings(metric: Metric, settings: tuple[str, ...]) -> list[str]:
    from zscope.pipelines.metrics import settable

    known = {name: parameter for name, (_, parameter) in settable(metric.name).items()}
    return [set_statement(metric, known, text) for text in settings]


def _list() -> Rows:
    from zscope.pipelines.metrics import declared, metric_names

    told = [declared()[name] for name in metric_names()]
    return _rows(
        {
            "metric": [metric.name for metric in told],
            "question": [metric.question for metric in told],
            "grain": [", ".join(metric.grain) for metric in told],
        }
    )


def _columns(metric: Metric) -> Rows:
    uses = ["group by" if column.dimension else column.combine or "" for column in metric.columns]
    return _rows(
        {
            "column_name": [column.name for column in metric.columns],
            "type": [column.type for column in metric.columns],
            "unit": [column.unit for column in metric.columns],
            "use": uses,
            "calculation": [column.source for column in metric.columns],
            "meaning": [column.meaning for column in metric.columns],
        }
    )


def _parameters(metric: Metric | None) -> Rows:
    from zscope.pipelines.metrics import declared, settable

    of_all = ((name, parameter) for name, found in declared().items() for parameter in found.parameters)
    told = list(of_all if metric is None else settable(metric.name).values())
    return _rows(
        {
            "parameter": [parameter.name for _, parameter in told],
            "default": [parameter.default for _, parameter in told],
            "type": [parameter.type for _, parameter in told],
            "declared_by": [name for name, _ in told],
            "meaning": [parameter.meaning for _, parameter in told],
        }
    )


def _rows(columns: dict[str, list[str]]) -> Rows:
    import pyarrow as pa

    return Rows.of(pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()}))
