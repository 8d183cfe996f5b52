"""Export tables of the store as files, and metrics as time series for monitoring systems."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from zscope.app.cli.exits import ExitCode, NothingDoneError
from zscope.app.cli.output import Rows
from zscope.app.cli.output.output_options import STANDARD_OUTPUT
from zscope.app.cli.series_export import (
    ECS,
    EVENT_FORMS,
    MOST_SERIES,
    OPENMETRICS,
    OTLP,
    OTLP_LOGS,
    PROMETHEUS,
    SERIES_FORMS,
    SPLUNK,
    SeriesRequest,
    export_events,
    export_series,
)
from zscope.app.cli.store_option import open_session, store_option
from zscope.pipelines.quantities import counted
from zscope.schemas.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date, datetime

    import pyarrow as pa

    from zscope.pipelines.export import ExportSource, WriteRows

PARQUET, CSV, DUCKDB = TABLE_FORMS = ("parquet", "csv", "duckdb")
GRAFANA, ALERT_RULES = READY_FORMS = ("grafana", "alert-rules")
"""Files for other programs that do not depend on the data."""
_READY_FILES = {
    GRAFANA: ("grafana-dashboard.json", b'{\n  "title": "zscope: TLS on IBM Z"'),
    ALERT_RULES: ("alert-rules.yaml", b"# Alert rules of zscope"),
}
"""Their names, and their first bytes: no other file is replaced by them."""
ENDINGS = {
    ".om": OPENMETRICS,
    ".openmetrics": OPENMETRICS,
    ".prom": PROMETHEUS,
    ".otlp.jsonl": OTLP,
    ".otlp.json": OTLP,
    ".otlp": OTLP,
    ".splunk.json": SPLUNK,
    ".ecs.json": ECS,
    ".logs.jsonl": OTLP_LOGS,
}
"""File endings and the format they select."""


@click.command()
@click.argument("tables", metavar="[TABLE]...", nargs=-1)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="TARGET",
    required=True,
    help="Folder to create (parquet, csv), file to write (other formats), or address of a collector (otlp, "
    "otlp-logs).",
)
@click.option(
    "--format",
    "form",
    type=click.Choice((*TABLE_FORMS, *SERIES_FORMS, *EVENT_FORMS, *READY_FORMS)),
    help="Default: by the ending of TARGET (.duckdb, .om, .prom, .otlp.jsonl, .logs.jsonl, .splunk.json, "
    ".ecs.json), otlp for an address, otherwise parquet.",
)
@click.option(
    "--from",
    "begin",
    metavar="DAY",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Only rows of this day or later; days are local time.",
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
    help="For series: the labels, instead of those of the metric. `day` and `week` (local), "
    "`day_utc` and `week_utc` replace its intervals; `all` means no labels.",
)  # fmt: skip
@click.option(
    "--where", metavar="CONDITION", default="",
    help="For series: an SQL condition on the columns of the metrics, instead of the one they declare.",
)  # fmt: skip
@click.option(
    "--max-series", "most_series", metavar="N", type=click.IntRange(min=1), default=MOST_SERIES,
    show_default=True, help="For series: do not export more than N.",
)  # fmt: skip
@click.option(
    "--raw", is_flag=True,
    help="In csv, write texts unchanged: without an apostrophe before = + - @, and with control characters.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Replace an existing export.")
@click.option("-q", "--quiet", is_flag=True, help="Print no messages about what is written.")
@store_option
def command(  # noqa: PLR0913 - one argument for each option
    tables: tuple[str, ...],
    *,
    target: str,
    form: str | None,
    begin: datetime | None,
    end: datetime | None,
    systems: tuple[str, ...],
    by: str | None,
    where: str,
    most_series: int,
    raw: bool,
    force: bool,
    quiet: bool,
    store: Path,
) -> int | None:
    """Export tables to Parquet, CSV or DuckDB, metrics to Prometheus and OpenTelemetry.

    TABLE is a table, a metric or another view. Default: all tables that have rows. With --from or --to, rows
    without a date are left out; tables without days or systems, such as the code tables, are exported
    completely. A DuckDB file contains tables with a comment on every column and does not need the store.
    TARGET appears only when it is complete.

    With the formats openmetrics, prometheus and otlp, metrics become time series. openmetrics: all intervals
    with their times, for promtool. prometheus: the newest interval without a time, for the textfile
    collector. otlp: lines of JSON for the otlpjsonfile receiver, or requests to a collector whose address is
    TARGET. Default: all metrics whose rows are intervals, and those that declare how they become series,
    such as tls_price. TARGET can then be - for standard output.

    otlp-logs, splunk and ecs export the rows of zscope check, for OpenTelemetry, Splunk and Elastic. grafana
    and alert-rules write a dashboard and rules for Prometheus; they need no store. docs/engines.md
    explains all of them.

    \b
    Examples:
      zscope export -o tls.duckdb
      zscope export smf119_zert_detail smf119_tcp_term -o exported --from 2026-03-01 --to 2026-03-07
      zscope export cpu_interval -o cpu --format csv
      zscope export -o history.om
      zscope export handshake_mix cpu_interval -o /var/lib/node_exporter/zscope.prom --force
      zscope export tls_posture --by system,server_port -o posture.otlp.jsonl
      zscope export --format otlp -o http://127.0.0.1:4318 --from 2026-03-02 --to 2026-03-02
      zscope export -o findings.ecs.json

    Exit codes: 4 if a collector did not accept all values; 12 if nothing was exported; 0 otherwise.
    """
    form = form or form_of(target)
    if form in READY_FORMS:
        _write_ready(form, target, store, force=force)
        return ExitCode.OK
    if form in (*SERIES_FORMS, *EVENT_FORMS):
        request = SeriesRequest(
            tables, form, target, by, begin, end, systems, most_series, force, quiet, where
        )
        export = export_series if form in SERIES_FORMS else export_events
        return export(request, store).code
    if target == STANDARD_OUTPUT:
        forms = ", ".join((*SERIES_FORMS, *EVENT_FORMS, *READY_FORMS))
        raise click.UsageError(f"-o -: choose one of {forms} with --format")
    if by is not None or where:
        option = "--where" if where else "--by"
        raise click.UsageError(
            f"{option} can be used with {', '.join(SERIES_FORMS)}; "
            f"use zscope metrics {option} for other formats"
        )
    names = export_tables(
        TableRequest(tables, form, Path(target), begin, end, systems, force, quiet, raw), store
    )
    if not quiet:
        click.echo(f"{target}: {counted(len(names), 'table')}", err=True)
    return ExitCode.OK


@dataclass(frozen=True, slots=True)
class TableRequest:
    """The options of an export of tables."""

    names: tuple[str, ...]
    form: str
    target: Path
    begin: datetime | None
    end: datetime | None
    systems: tuple[str, ...]
    force: bool
    quiet: bool
    raw: bool = False
    """Whether texts in CSV stay as they are."""


def export_tables(request: TableRequest, store: Path) -> list[str]:
    """Write tables to a folder or to a DuckDB file, and return their names."""
    from zscope.pipelines.export import ExportSource, RowFilter, export_database, export_files
    from zscope.pipelines.export_target import ExportError, check_target

    ending = None if request.form == DUCKDB else f".{request.form}"
    report = _print_nothing if request.quiet else _print_table
    try:
        check_target(request.target, store, ending, force=request.force)
        with open_session(store) as session:
            rows = RowFilter(_day(request.begin), _day(request.end), request.systems)
            source = ExportSource(session, rows)
            names = _names(source, request.names)
            if ending is None:
                export_database(source, names, request.target, report)
            else:
                write = table_writer(request.form, raw=request.raw)
                export_files(source, names, request.target, ending, write, report)
    except ExportError as error:
        raise NothingDoneError(str(error)) from error
    return names


def form_of(target: Path | str) -> str:
    """Return the format that the ending of a target selects."""
    from zscope.pipelines.exposition.collector import is_address

    if is_address(str(target)):
        return OTLP
    endings = {f".{DUCKDB}": DUCKDB, **ENDINGS}
    return next((form for ending, form in endings.items() if Path(target).name.endswith(ending)), PARQUET)


def _write_ready(form: str, target: str, store: Path, *, force: bool) -> None:
    """Write the dashboard or the alert rules."""
    from zscope.pipelines.export_target import ExportError, check_text_target, new_file

    name, mark = _READY_FILES[form]
    content = (files("zscope.pipelines.exposition") / name).read_text(encoding="utf-8")
    if target == STANDARD_OUTPUT:
        click.echo(content, nl=False)
        return
    try:
        check_text_target(Path(target), store, (mark,), force=force)
        with new_file(Path(target)) as path:
            path.write_text(content, encoding="utf-8")
    except ExportError as error:
        raise NothingDoneError(str(error)) from error


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
            hint = suggestion(table, known, 'zscope sql "SHOW ALL TABLES" lists all tables')
            raise click.UsageError(f"there is no table {table!r}; {hint}")
    return list(dict.fromkeys(tables))


def table_writer(form: str, *, raw: bool) -> WriteRows:
    """Return the function that writes rows as Parquet or CSV."""
    from zscope.app.cli.output.writers import write_csv, write_parquet

    def write_rows(schema: pa.Schema, batches: Iterable[pa.RecordBatch], out: BinaryIO) -> None:
        rows = Rows(schema, batches)
        if form == PARQUET:
            write_parquet(rows, out)
        else:
            write_csv(rows, out, raw=raw)

    return write_rows


def _print_table(table: str, rows: int) -> None:
    click.echo(f"{table}: {counted(rows, 'row')}", err=True)


def _print_nothing(table: str, rows: int) -> None:
    """Replace `_print_table` with --quiet."""
