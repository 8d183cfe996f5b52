"""Print the rows of one table straight from a file."""

from __future__ import annotations

from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING

import click

from zscope.app.cli import completion
from zscope.app.cli.input_options import (
    ReadingOptions,
    SuppliedOptions,
    code_page_option,
    display_options,
    distinct_outputs,
    input_errors,
    paths_argument,
    print_files,
    progress,
    reading_options,
    report_issues,
    supplied_options,
)
from zscope.app.cli.output import Output, Rows, row_options
from zscope.schemas.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Generator
    from datetime import date

    import pyarrow as pa

    from zscope.parsers.api import Scan
    from zscope.parsers.options import Selection


@click.command()
@paths_argument
@click.option(
    "--table", "-t", metavar="NAME", required=True, shell_complete=completion.tables,
    help="Name of the table; zscope fields lists all tables.",
)  # fmt: skip
@click.option(
    "--columns", "-c", metavar="A,B", shell_complete=completion.columns,
    help="Only these columns; other columns are not decoded.",
)  # fmt: skip
@click.option("--limit", "-n", metavar="N", type=click.IntRange(min=0), help="Stop after N rows.")
@click.option(
    "--select", metavar="TYPES",
    help="Only records of these types and subtypes, such as '119(2,11:12),70'. For the tables smf_record, "
    "smf_raw and record_digest.",
)  # fmt: skip
@click.option("--jobs", "-j", metavar="N", type=click.IntRange(min=1), help="Threads. Default: one per CPU.")
@click.option("--strict", is_flag=True, help="Stop at the first issue.")
@display_options
@supplied_options
@row_options
@code_page_option
@reading_options
def command(  # noqa: PLR0913 - one argument for each option
    paths: tuple[str, ...],
    *,
    table: str,
    columns: str | None,
    limit: int | None,
    select: str | None,
    system: str | None,
    taken: date | None,
    supplied: SuppliedOptions,
    jobs: int | None,
    strict: bool,
    code_page: str,
    reading: ReadingOptions,
    output: Output,
) -> int:
    """Print the rows of one table directly from files, without a store.

    PATH is a file, a folder (searched recursively) or - for standard input: dumps, RMF listings and XML,
    captured NETSTAT and GSKSRVR displays, figures as CSV or JSON. Rows are printed in the order of the file;
    memory use does not grow with its size.

    \b
    Examples:
      zscope decode SMF.DUMP --table smf119_zert_detail -c job_name,tls_version,cipher
      zscope decode SMF.DUMP --table smf70_cpu -o cpu.parquet
      zscope decode SMF.DUMP --table smf_record --select '119(2)' --limit 10
      zscope decode netstat.txt --table netstat_conn --system SYSA --taken 2026-03-02
      zscope decode panel.csv --table ztpf_series --map ecbs_in_use='ECBs in use (TPF1)'
    """
    from zscope.parsers.api import scan, selected_schema
    from zscope.parsers.options import ReadOptions

    distinct_outputs(output.path, reading.issues.path if reading.issues else None, "--issues")
    selection = _selection(table, columns, select)
    with input_errors(), progress(quiet=reading.quiet, rows_on_screen=output.on_terminal) as report:
        options = ReadOptions(
            code_page=code_page, framing=reading.framing, jobs=jobs, strict=strict, progress=report,
            system=system, taken=taken, unpack_limits=reading.unpack_limits,
        )  # fmt: skip
        batches = scan(paths, selection, supplied.added_to(options))
        with closing(_rows(batches, limit)) as rows:
            # Read the first rows before the output is opened: without any input, no output is written.
            first = next(rows, None)
            if batches.files:
                schema = selected_schema(table, selection.columns[table])
                output.write(Rows(schema, chain([first] if first else [], rows)))
    if not reading.quiet:
        print_files(batches.files)
    return report_issues(batches.issues, reading, any_input=bool(batches.files))


def _selection(table: str, columns: str | None, select: str | None) -> Selection:
    """Return the selection of a table, its columns and the record types to read."""
    from zscope.parsers.options import Selection, parse
    from zscope.schemas.tables import ANY_RECORD_TABLES, table_names

    if table not in table_names():
        hint = suggestion(table, table_names(), "zscope fields lists all tables")
        raise click.UsageError(f"there is no table {table!r}; {hint}")
    with input_errors():
        tables = parse(table if columns is None else f"{table}[{columns}]").columns
        if select is None:
            return Selection(tables)
        if table not in ANY_RECORD_TABLES:
            raise click.UsageError(
                f"--select can be used with {', '.join(ANY_RECORD_TABLES)}; {table} has a fixed record type"
            )
        types = parse(select).types
    if not types:
        raise click.UsageError(f"--select {select!r}: use record types such as 119(2,11:12)")
    return Selection(tables, types)


def _rows(scan: Scan, limit: int | None) -> Generator[pa.RecordBatch]:
    left = limit
    for batch in scan:
        rows = batch.rows
        if left is not None:
            rows = rows.slice(0, min(left, rows.num_rows))
            left -= rows.num_rows
        yield rows
        if left == 0:
            return
