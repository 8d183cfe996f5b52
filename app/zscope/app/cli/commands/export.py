"""Export tables of the store as files, and metrics as time series for monitoring systems."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from zscope.app.cli.exits import NothingDoneError
from zscope.app.cli.output import Rows
from zscope.app.cli.output.options import STANDARD_OUTPUT
from zscope.app.cli.store_option import open_session, store_option
from zscope.schemas.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from zscope.pipelines.export import ExportSource, WriteRows
    from zscope.pipelines.exposition import ExposedMetric, SeriesQuery
    from zscope.pipelines.exposition.expose import SeriesWriter
    from zscope.pipelines.metrics import Metric

PARQUET, CSV, DUCKDB = TABLE_FORMS = ("parquet", "csv", "duckdb")
OPENMETRICS, PROMETHEUS, OTLP = SERIES_FORMS = ("openmetrics", "prometheus", "otlp")
ENDINGS = {
    ".om": OPENMETRICS,
    ".openmetrics": OPENMETRICS,
    ".prom": PROMETHEUS,
    ".otlp.jsonl": OTLP,
    ".otlp.json": OTLP,
    ".otlp": OTLP,
}
"""File endings and the format they select."""
MOST_SERIES = 50_000
"""Default limit: a monitoring server of usual size takes this many."""
NO_LABELS = "all"


@click.command()
@click.argument("tables", metavar="[TABLE]...", nargs=-1)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="TARGET",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder to create (parquet, csv) or file to write (duckdb, openmetrics, prometheus, otlp).",
)
@click.option(
    "--format",
    "form",
    type=click.Choice((*TABLE_FORMS, *SERIES_FORMS)),
    help="Default: by the ending of TARGET (.duckdb, .om, .prom, .otlp.jsonl), otherwise parquet.",
)
@click.option(
    "--from",
    "begin",
    metavar="DAY",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Only rows of this day or later; days are local time, for series UTC.",
)
@click.option(
    "--to",
    "end",
    metavar="DAY",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Only rows of this day or earlier.",
)
@click.option(
    "--system",
    "systems",
    metavar="NAME",
    multiple=True,
    help="Only rows of this system. Can be repeated.",
)
@click.option(
    "--by", metavar="COLUMN,...",
    help="For series: the labels, instead of those of the metric. `day` and `week` replace its intervals; "
    "`all` means no labels.",
)  # fmt: skip
@click.option(
    "--max-series", "most_series", metavar="N", type=click.IntRange(min=1), default=MOST_SERIES,
    show_default=True, help="For series: do not export more than N.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Replace an existing export.")
@click.option("-q", "--quiet", is_flag=True, help="Print no messages about what is written.")
@store_option
def command(  # noqa: PLR0913 - one argument for each option
    tables: tuple[str, ...],
    *,
    target: Path,
    form: str | None,
    begin: datetime | None,
    end: datetime | None,
    systems: tuple[str, ...],
    by: str | None,
    most_series: int,
    force: bool,
    quiet: bool,
    store: Path,
) -> None:
    """Export tables to Parquet, CSV or DuckDB, metrics to Prometheus and OpenTelemetry.

    TABLE is a table, a metric or another view. Default: all tables that have rows. With --from or --to, rows
    without a date are left out; tables without days or systems, such as the code tables, are exported
    completely. A DuckDB file contains tables with a comment on every column and does not need the store.
    TARGET appears only when it is complete.

    With the formats openmetrics, prometheus and otlp, metrics become time series. openmetrics: all intervals
    with their times, for promtool. prometheus: the newest interval without a time, for the textfile
    collector. otlp: lines of JSON for the otlpjsonfile receiver. Default: all metrics whose rows are
    intervals. TARGET can then be - for standard output.

    \b
    Examples:
      zscope export -o tls.duckdb
      zscope export smf119_zert_detail smf119_tcp_term -o exported --from 2026-03-01 --to 2026-03-07
      zscope export cpu_interval -o cpu --format csv
      zscope export -o history.om
      zscope export handshake_mix cpu_interval -o /var/lib/node_exporter/zscope.prom --force
      zscope export tls_posture --by system,server_port -o posture.otlp.jsonl
    """
    from zscope.pipelines.export import ExportSource, RowFilter, export_database, export_files
    from zscope.pipelines.export_target import ExportError, check_target

    form = form or _form_of(target)
    if form in SERIES_FORMS:
        request = SeriesRequest(tables, form, target, by, begin, end, systems, most_series, force, quiet)
        export_series(request, store)
        return
    if str(target) == STANDARD_OUTPUT:
        raise click.UsageError(f"-o -: choose one of {', '.join(SERIES_FORMS)} with --format")
    if by is not None:
        raise click.UsageError(
            f"--by can be used with {', '.join(SERIES_FORMS)}; use zscope metrics --by for other formats"
        )
    ending = None if form == DUCKDB else f".{form}"
    report = _print_nothing if quiet else _print_table
    try:
        check_target(target, store, ending, force=force)
        with open_session(store) as session:
            source = ExportSource(session, RowFilter(_day(begin), _day(end), systems))
            names = _names(source, tables)
            if ending is None:
                export_database(source, names, target, report)
            else:
                export_files(source, names, target, ending, _table_writer(form), report)
    except ExportError as error:
        raise NothingDoneError(str(error)) from error
    if not quiet:
        click.echo(f"{target}: {len(names)} {'table' if len(names) == 1 else 'tables'}", err=True)


def _form_of(target: Path) -> str:
    name = target.name
    endings = {f".{DUCKDB}": DUCKDB, **ENDINGS}
    return next((form for ending, form in endings.items() if name.endswith(ending)), PARQUET)


def _day(moment: datetime | None) -> date | None:
    return moment.date() if moment else None


def _names(source: ExportSource, tables: tuple[str, ...]) -> list[str]:
    if not tables:
        with_rows = source.names_with_rows()
        if not with_rows:
            raise NothingDoneError("no table of the store has matching rows")
        return with_rows
    known = list(source.meanings)
    for table in tables:
        if table not in known:
            hint = suggestion(table, known, 'zscope sql "SHOW TABLES" lists all tables')
            raise click.UsageError(f"there is no table {table!r}; {hint}")
    return list(dict.fromkeys(tables))


def _table_writer(form: str) -> WriteRows:
    from zscope.app.cli.output.writers import write_csv, write_parquet

    write = write_parquet if form == PARQUET else write_csv

    def write_rows(schema: pa.Schema, batches: Iterable[pa.RecordBatch], out: BinaryIO) -> None:
        write(Rows(schema, batches), out)

    return write_rows


def _print_table(table: str, rows: int) -> None:
    click.echo(f"{table}: {rows:,} {'row' if rows == 1 else 'rows'}", err=True)


def _print_nothing(table: str, rows: int) -> None:
    """Replace `_print_table` with --quiet."""


@dataclass(frozen=True, slots=True)
class SeriesRequest:
    """The options of an export of metrics as series."""

    names: tuple[str, ...]
    form: str
    target: Path
    by: str | None
    begin: datetime | None
    end: datetime | None
    systems: tuple[str, ...]
    most_series: int
    force: bool
    quiet: bool


def export_series(request: SeriesRequest, store: Path) -> None:
    """Write the series of metrics to one file or to standard output."""
    from zscope.pipelines.export_target import ExportError
    from zscope.pipelines.exposition import expose

    now = datetime.now(UTC).replace(microsecond=0)
    total = 0
    try:
        questions = _questions(request)
        with _opened(request, store) as out:
            for exposed in expose(
                questions,
                lambda: open_session(store),
                _series_writer(request.form, out),
                request.most_series,
                now,
                newest=request.form == PROMETHEUS,
            ):
                total += exposed.samples
                _print_series(exposed, quiet=request.quiet)
            if not total and not request.names:
                raise NothingDoneError("no metric has matching rows")
    except ExportError as error:
        raise NothingDoneError(str(error)) from error
    if not request.quiet:
        metrics = "metric" if len(questions) == 1 else "metrics"
        click.echo(f"{request.target}: {len(questions)} {metrics}, {total:,} samples", err=True)


def _questions(request: SeriesRequest) -> list[SeriesQuery]:
    from zscope.pipelines.exposition import interval_metrics, series_query
    from zscope.pipelines.metrics import MetricQueryError, MetricSelection

    if request.by is not None and not request.names:
        raise click.UsageError("--by needs the names of metrics")
    by = None if request.by is None else _columns(request.by)
    selection = MetricSelection(request.systems, _midnight(request.begin), _midnight(request.end, later=1))
    try:
        return [
            series_query(_metric(name, request.form), by, selection)
            for name in dict.fromkeys(request.names or interval_metrics())
        ]
    except MetricQueryError as error:
        raise NothingDoneError(str(error)) from error


def _columns(by: str) -> list[str]:
    return [] if by == NO_LABELS else [key.strip() for key in by.split(",")]


def _metric(name: str, form: str) -> Metric:
    from zscope.pipelines.metrics import metric, metric_names

    if name in metric_names():
        return metric(name)
    lists = "zscope metrics lists them; export tables as parquet, csv or duckdb"
    hint = suggestion(name, metric_names(), lists)
    raise NothingDoneError(f"{name} is not a metric, and only metrics can be exported as {form}; {hint}")


def _midnight(day: datetime | None, later: int = 0) -> datetime | None:
    return day and datetime.combine(day.date() + timedelta(days=later), time(), UTC)


def _series_writer(form: str, out: BinaryIO) -> SeriesWriter:
    from importlib.metadata import version

    from zscope.pipelines.exposition import OpenMetrics, Otlp

    if form == OTLP:
        return Otlp(out, version("zscope"))
    return OpenMetrics(out, timestamps=form == OPENMETRICS)


@contextmanager
def _opened(request: SeriesRequest, store: Path) -> Iterator[BinaryIO]:
    from zscope.pipelines.export_target import check_text_target, new_file
    from zscope.pipelines.exposition import openmetrics, otlp

    if str(request.target) == STANDARD_OUTPUT:
        yield sys.stdout.buffer
        return
    marks = otlp.MARKS if request.form == OTLP else openmetrics.MARKS
    check_text_target(request.target, store, marks, force=request.force)
    with new_file(request.target) as path, path.open("xb") as out:
        yield out


def _print_series(exposed: ExposedMetric, *, quiet: bool) -> None:
    if not quiet:
        click.echo(f"{exposed.metric}: {exposed.series:,} series, {exposed.samples:,} samples", err=True)
    if exposed.without_time:
        rows = "row is" if exposed.without_time == 1 else "rows are"
        click.echo(
            f"{exposed.metric}: {exposed.without_time:,} {rows} left out, because the time in UTC is "
            "unknown; docs/time-zones.md explains how to set the time zone of a system",
            err=True,
        )
