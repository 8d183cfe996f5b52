"""Tables of the store as files for others."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from zscope.app.exits import NothingDoneError
from zscope.app.output import Rows
from zscope.app.store_option import asking, store_option

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.pipelines.export import Source, Write

PARQUET, CSV, DUCKDB = FORMS = ("parquet", "csv", "duckdb")


@click.command()
@click.argument("tables", metavar="[TABLE]...", nargs=-1)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="TARGET",
    required=True,
    type=click.Path(path_type=Path),
    help="The folder to make, or the DuckDB file.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    help="Default: duckdb if TARGET ends in .duckdb, else parquet.",
)
@click.option(
    "--from",
    "begin",
    metavar="DAY",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Only rows of this day of local time and later ones.",
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
    force: bool,
    quiet: bool,
    store: Path,
) -> None:
    """Export tables of the store to Parquet, CSV or one DuckDB file.

    TABLE is a table, or a metric or other view; without any, all tables that have rows. Rows without a date
    are left out when days are asked for; tables that know no days or systems, such as the code tables, are
    exported whole. A DuckDB file has real tables with comments on every column and needs no store beside it.
    TARGET appears when it is complete.

    \b
    Examples:
      zscope export -o tls.duckdb
      zscope export smf119_zert_detail smf119_tcp_term -o exported --from 2026-03-01 --to 2026-03-07
      zscope export cpu_interval -o cpu --format csv
    """
    from zscope.pipelines.export import Slice, Source, export_database, export_files
    from zscope.pipelines.export_target import ExportError, check_target

    form = form or (DUCKDB if target.suffix == f".{DUCKDB}" else PARQUET)
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
