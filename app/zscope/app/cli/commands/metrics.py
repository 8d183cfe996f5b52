"""List the metrics, or print the rows of one."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from zscope.app.cli import completion
from zscope.app.cli.exits import NothingDoneError
from zscope.app.cli.metric_options import (
    check_condition,
    check_systems,
    count_runs_statement,
    metric_query,
    period_options,
    runs_option,
    selected,
    set_statement,
    why_no_rows,
)
from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.store_option import (
    note_both_ends,
    note_left_out_hours,
    note_missing_zones,
    open_session,
    prepare_metric,
    query_table,
    store_option,
)
from zscope.pipelines.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date
    from pathlib import Path

    import pyarrow as pa

    from zscope.pipelines.metrics import Metric, MetricSelection
    from zscope.pipelines.store.session import Session

_COVERED = "covered_pct"
_LIST = "list"
"""Instead of a name: the list of the metrics."""


@click.command()
@click.argument("name", required=False, shell_complete=completion.metrics)
@click.option(
    "--by", metavar="COLUMN,...", shell_complete=completion.groupings,
    help="Group by these columns instead of the grain of the metric. Also `day` and `week` (local), "
    "`hour_utc`, `day_utc`, `week_utc`, and `all` for one row in total.",
)  # fmt: skip
@period_options
@click.option(
    "--where",
    metavar="SQL",
    default="",
    help="Only rows that match an SQL condition, such as server_port = 443.",
)
@click.option(
    "--set", "settings", metavar="NAME=VALUE", multiple=True, shell_complete=completion.parameters,
    help="Set a parameter of the metric. Can be repeated. zscope metrics --parameters lists them.",
)  # fmt: skip
@click.option(
    "--price-per-msu", metavar="PRICE",
    help="Price of an MSU, for the money in tls_price. The same as --set price_per_msu=PRICE.",
)  # fmt: skip
@runs_option
@click.option("--columns", is_flag=True, help="List the columns of the metric with their meaning.")
@click.option("--parameters", is_flag=True, help="List the parameters of the metric, or of all metrics.")
@click.option("--sql", "show_sql", is_flag=True, help="Print the SQL statement and do not run it.")
@store_option
@row_options
def command(  # noqa: PLR0913 - one argument for each option
    name: str | None,
    *,
    by: str | None = None,
    begin: date | None = None,
    end: date | None = None,
    systems: tuple[str, ...] = (),
    where: str,
    settings: tuple[str, ...],
    price_per_msu: str | None = None,
    with_runs: bool = False,
    columns: bool,
    parameters: bool,
    show_sql: bool,
    store: Path,
    output: Output,
) -> None:
    """List the metrics, or print the rows of one.

    Without NAME, or with the word list, lists the metrics and the questions they answer. With NAME, prints
    the rows of the view with that name, grouped and filtered by the options. The appendix of zscope report
    has question, formula, sources and limits of each metric.

    \b
    Examples:
      zscope metrics
      zscope metrics handshake_mix --by system,day
      zscope metrics cpu_per_transaction --from 2026-03-02 --to 2026-03-02 --system SYSA
      zscope metrics cipher_distribution --by cipher --where "server_port = 443" -o ciphers.csv
      zscope metrics handshake_mix --columns
      zscope metrics tls_price --price-per-msu 120
      zscope metrics tls_price --by day

    The exit code is 12 if the metric, column, parameter or system does not exist.
    """
    name = None if name == _LIST else name
    # First of all, as reading the declarations imports Arrow, with or without numpy. But if there is no
    # store, errors in the options are reported first.
    opens_first = name is not None and not (parameters or columns or show_sql) and store.is_dir()
    with open_session(store, only_prints=True) if opens_first else nullcontext() as session:
        from zscope.pipelines.metrics.narrowing import prepared
        from zscope.pipelines.metrics.query_options import answering, grouping

        metric = None if name is None else _metric(name)
        if price_per_msu is not None:
            settings = (*settings, f"price_per_msu={price_per_msu}")
        if parameters:
            rows = _parameters(metric)
            output.write(rows)
            if not rows.count:
                click.echo(f"{name} has no parameters", err=True)
            return
        if metric is None:
            if by or begin or end or systems or where or settings or with_runs or columns or show_sql:
                raise click.UsageError("these options need the NAME of a metric")
            output.write(_list())
            return
        if columns:
            output.write(_columns(metric))
            return
        keys = grouping(by)
        metric = answering(metric, keys, begin, end)
        if metric.name != name:
            click.echo(f"rows of {metric.name}, which has the days of {name}", err=True)
        if output.on_screen and not show_sql:
            keys, where = _shown(metric, keys, where)
        selection = selected(systems, begin, end, where)
        statements = [set_statement(metric, text) for text in settings]
        if with_runs:
            statements.append(count_runs_statement(metric))
        query = metric_query(metric, keys, selection)
        if show_sql:
            texts = [*statements, *prepared(metric, selection), query]
            click.echo("".join(f"{text};\n\n" for text in texts), nl=False)
            return
        with nullcontext(session) if session else open_session(store) as opened:
            _print_rows(opened, metric, query, selection, statements, output, keys or ())


def _shown(metric: Metric, by: list[str] | None, where: str) -> tuple[list[str] | None, str]:
    """Return by and where of the rows that a terminal shows, and print what the user did not choose."""
    from zscope.pipelines.metrics.metric_statements import names_calculated

    if by is None and metric.shown_by:
        by = list(metric.shown_by)
        click.echo(
            f"grouped by {', '.join(by)}; --by COLUMN,... groups by others, "
            "and -o FILE writes all rows and columns",
            err=True,
        )
        if names_calculated(metric, where):
            click.echo(
                f"--where {where} names a calculated column, so it selects from these combined rows; "
                f"--by {','.join(metric.grain)} selects from the finest rows",
                err=True,
            )
    if not where and metric.shown_where and not (by and metric.rows_by):
        where = metric.shown_where
        click.echo(f'rows with {where}; --where SQL selects others, "--where true" all', err=True)
    return by, where


def _print_rows(
    session: Session,
    metric: Metric,
    query: str,
    selection: MetricSelection,
    settings: Sequence[str],
    output: Output,
    by: Sequence[str],
) -> None:
    check_systems(session, selection.systems)
    check_condition(session, metric, selection.where)
    prepare_metric(session, metric.name, selection, settings)
    least_pct = _least_covered_pct(session)
    parts = [*(_sections if output.on_screen and metric.sections else _whole)(session, metric, query, output)]
    names = parts[0].schema.names if parts else []
    measures = {column.name for column in (*metric.measures, *metric.derived)}
    keys = [name for name in names if name not in measures] if metric.combinable else [*by]
    counted_rows = []
    for part in parts:
        part.essential = tuple(dict.fromkeys([*keys, *metric.answer]))
        part.notes = metric.notes
        part.units = {column.name: column.unit for column in metric.view_columns if column.unit}
        part.batches = batches = _IncompleteRows(part.batches, least_pct)
        counted_rows.append(batches)
    output.write_all(parts)
    count = sum(part.count for part in parts)
    if not count:
        click.echo(why_no_rows(session, metric, selection), err=True)
    _note_incomplete(sum(each.count for each in counted_rows), count, least_pct)
    note_missing_zones(session, metric.name, systems=selection.systems)
    note_left_out_hours(session, metric.name, systems=selection.systems)
    if metric.both_ends and count and "system" not in keys:
        note_both_ends(session, selection.systems)


def _whole(session: Session, metric: Metric, query: str, output: Output) -> Iterator[Rows]:  # noqa: ARG001 - as _sections
    result = session.run(query)
    assert result is not None, "a query returns rows"
    yield Rows(result.schema, result.batches)


def _sections(session: Session, metric: Metric, query: str, output: Output) -> Iterator[Rows]:
    """Yield the sections that have rows, each below its number of rows; without any, one of none."""
    found = [
        (section, query_table(session, f"SELECT * FROM (\n{query}\n) WHERE {section.where}"))
        for section in metric.sections
    ]
    for section, table in [each for each in found if each[1].num_rows] or found[:1]:
        rows = Rows.of(table)
        rows.first = section.first
        rows.heading = f"{section.heading}: {counted(table.num_rows, 'row')}"
        if table.num_rows > section.first and not output.all_rows:
            rows.heading += f", the first {section.first}"
        yield rows


def _metric(name: str) -> Metric:
    from zscope.pipelines.metrics import declared
    from zscope.pipelines.metrics.query_options import like_metric

    if name in declared():
        return declared()[name]
    raise NothingDoneError(
        f"there is no metric {name}; {like_metric(name, 'zscope metrics lists all metrics')}"
    )


def _list() -> Rows:
    from zscope.pipelines.metrics import declared, metric_names

    metrics = [declared()[name] for name in metric_names()]
    return _rows(
        ("metric", "question"),
        {
            "metric": [metric.name for metric in metrics],
            "question": [metric.question for metric in metrics],
            "grain": [", ".join(metric.grain) for metric in metrics],
        },
    )


def _columns(metric: Metric) -> Rows:
    uses = ["group by" if column.dimension else column.combine or "" for column in metric.columns]
    return _rows(
        ("column_name", "use", "meaning"),
        {
            "column_name": [column.name for column in metric.columns],
            "type": [column.type for column in metric.columns],
            "unit": [column.unit for column in metric.columns],
            "use": uses,
            "calculation": [column.source for column in metric.columns],
            "meaning": [column.meaning for column in metric.columns],
        },
    )


def _parameters(metric: Metric | None) -> Rows:
    from zscope.pipelines.metrics import declared, settable

    of_all = ((name, parameter) for name, each in declared().items() for parameter in each.parameters)
    parameters = list(of_all if metric is None else settable(metric.name).values())
    return _rows(
        ("parameter", "default", "meaning"),
        {
            "parameter": [parameter.name for _, parameter in parameters],
            "default": [parameter.default for _, parameter in parameters],
            "type": [parameter.type for _, parameter in parameters],
            "declared_by": [name for name, _ in parameters],
            "meaning": [parameter.meaning for _, parameter in parameters],
        },
    )


def _rows(essential: tuple[str, ...], columns: dict[str, list[str]]) -> Rows:
    import pyarrow as pa

    return Rows.of(
        pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()}), essential
    )


def _least_covered_pct(session: Session) -> float:
    """Return the share of the hours that complete data cover, which the catalogue defines."""
    result = session.run("SELECT least_covered_pct()::DOUBLE AS pct")
    assert result is not None, "a query returns rows"
    [[least]] = [batch["pct"].to_pylist() for batch in result.batches]
    return float(least)


class _IncompleteRows:
    """Batches of rows, and how many of the rows read so far cover less than a share of their hours."""

    def __init__(self, batches: Iterable[pa.RecordBatch], least_pct: float) -> None:
        """Count the rows with a smaller `covered_pct`; without this column there are none."""
        self._batches = batches
        self._least_pct = least_pct
        self.count = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Iterate over the batches."""
        import pyarrow.compute as pc

        for batch in self._batches:
            if _COVERED in batch.schema.names:
                self.count += pc.sum(pc.less(batch[_COVERED], self._least_pct)).as_py() or 0
            yield batch


def _note_incomplete(incomplete: int, rows: int, least_pct: float) -> None:
    """Print a note about the incomplete ones of so many rows."""
    if incomplete:
        verb = "is" if rows == 1 else "are"
        click.echo(
            f"note: {incomplete:,} of {rows:,} rows {verb} of days of which the data cover less than "
            f"{least_pct:g} % ({_COVERED}); zscope coverage shows what is missing",
            err=True,
        )
