"""Tables of the store as files for others, metrics as series for monitoring systems."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from zscope.app.exits import NothingDoneError
from zscope.app.exposing import ENDINGS, MOST_SERIES, SERIES_FORMS, Wanted, expose_metrics
from zscope.app.output import Rows
from zscope.app.output.target import STANDARD_OUTPUT
from zscope.app.store_option import asking, store_option

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.pipelines.export import Source, Write

PARQUET, CSV, DUCKDB = TABLE_FORMS = ("parquet", "csv", "duckdb")


@click.command()
@click.argument("tables", metavar="[TABLE]...", nargs=-1)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="TARGET",
    required=True,
    type=click.Path(path_type=Path),
    help="The folder to make, or the file: DuckDB, openmetrics, prometheus and otlp are one.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice((*TABLE_FORMS, *SERIES_FORMS)),
    help="Default: as TARGET ends, .duckdb, .om, .prom or .otlp.jsonl, else parquet.",
)
@click.option(
    "--from",
    "begin",
    metavar="DAY",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Only rows of this day of local time and later ones; of series, of this day in UTC.",
)
@click.option(
    "--to",
    "end",
    metavar="DAY",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Only rows of this day and earlier ones.",
)
@click.option(
    "--system",
    "systems",
    metavar="NAME",
    multiple=True,
    help="Only rows of this system; several can be given.",
)
@click.option(
    "--by", metavar="COLUMN,...",
    help="Of series: the labels, instead of those the metric has by itself; also `day` and `week` in place "
    "of its intervals, and `all` for no labels.",
)  # fmt: skip
@click.option(
    "--max-series", "most_series", metavar="N", type=click.IntRange(min=1), default=MOST_SERIES,
    show_default=True, help="Of series: refuse to write more of them.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Replace an earlier export.")
@click.option("-q", "--quiet", is_flag=True, help="Do not tell what is written.")
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
    """Export tables to Parquet, CSV or one DuckDB file, metrics to Prometheus and OpenTelemetry.

    TABLE is a table, or a metric or other view; without any, all tables that have rows. Rows without a date
    are left out when days are asked for; tables that know no days or systems, such as the code tables, are
    exported whole. A DuckDB file has real tables with comments on every column and needs no store beside it.
    TARGET appears when it is complete.

    Metrics become series: as openmetrics all intervals with their times, for promtool to make blocks of; as
    prometheus the newest interval without a time, for the textfile collector; as otlp lines of JSON, for the
    otlpjsonfile receiver. Without names, those metrics whose rows are about intervals. TARGET can be - then.

    \b
    Examples:
      zscope export -o tls.duckdb
      zscope export smf119_zert_detail smf119_tcp_term -o exported --from 2026-03-01 --to 2026-03-07
      zscope export cpu_interval -o cpu --format csv
      zscope export -o history.om
      zscope export handshake_mix cpu_interval -o /var/lib/node_exporter/zscope.prom --force
      zscope export tls_posture --by system,server_port -o posture.otlp.jsonl
    """
    from zscope.pipelines.export import Slice, Source, export_database, export_files
    from zscope.pipelines.export_target import ExportError, check_target

    form = form or _form_of(target)
    if form in SERIES_FORMS:
        wanted = Wanted(tables, form, target, by, begin, end, systems, most_series, force, quiet)
        expose_metrics(wanted, store)
        return
    if str(target) == STANDARD_OUTPUT:
        raise click.UsageError(f"-o -: say with --format which of {', '.join(SERIES_FORMS)} is wanted")
    if by is not None:
        raise click.UsageError(
            f"--by is for {', '.join(SERIES_FORMS)}; zscope metrics groups rows for other formats"
        )
    ending = None if form == DUCKDB else f".{form}"
    told = _nothing if quiet else _tell
    try:
        check_target(target, store, ending, force=force)
        with asking(store) as session:
            source = Source(session, Slice(_day(begin), _day(end), systems))
            chosen = _chosen(source, tables)
            if ending is None:
                export_database(source, chosen, target, told)
            else:
                export_files(source, chosen, target, ending, _writer(form), told)
    except ExportError as error:
        raise NothingDoneError(str(error)) from error
    if not quiet:
        click.echo(f"{target}: {len(chosen)} {'table' if len(chosen) == 1 else 'tables'}", err=True)


def _form_of(target: Path) -> str:
    name = target.name
    endings = {f".{DUCKDB}": DUCKDB, **ENDINGS}
    return next((form for ending, form in endings.items() if name.endswith(ending)), PARQUET)


def _day(moment: datetime | None) -> date | None:
    return moment.date() if moment else None


def _chosen(source: Source, tables: tuple[str, ...]) -> list[str]:
    if not tables:
        found = source.names_with_rows()
        if not found:
            raise NothingDoneError("there is no table with such rows in the store")
        return found
    names = list(source.meanings)
    for table in tables:
        if table not in names:
            near = get_close_matches(table, names, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else 'zscope sql "SHOW TABLES" lists them all'
            raise click.UsageError(f"there is no table {table!r}; {hint}")
    return list(dict.fromkeys(tables))


def _writer(form: str) -> Write:
    from zscope.app.output.columnar import write_parquet
    from zscope.app.output.delimited import write_csv

    write = write_parquet if form == PARQUET else write_csv

    def write_rows(schema: pa.Schema, batches: Iterable[pa.RecordBatch], out: BinaryIO) -> None:
        write(Rows(schema, batches), out)

    return write_rows


def _tell(table: str, rows: int) -> None:
    click.echo(f"{table}: {rows:,} {'row' if rows == 1 else 'rows'}", err=True)


def _nothing(table: str, rows: int) -> None:
    """Tell nothing."""
