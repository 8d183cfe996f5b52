"""Print the rows of one table straight from a file."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from datetime import date
from difflib import get_close_matches
from itertools import chain
from typing import TYPE_CHECKING

import click

from zscope.app.output import Output, Rows, row_options
from zscope.app.progress import progress
from zscope.app.reading import (
    Reading,
    code_page_option,
    conclude,
    display_options,
    distinct_outputs,
    input_errors,
    reading_options,
    tell_files,
)
from zscope.app.supplied_options import Supplied, supplied_options

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.parsers import Scan
    from zscope.parsers.select import Selection


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--table", "-t", metavar="NAME", required=True, help="The table; zscope fields lists them all.")
@click.option("--columns", "-c", metavar="A,B", help="Only these columns; the others are not decoded.")
@click.option("--limit", "-n", metavar="N", type=click.IntRange(min=0), help="Stop after N rows.")
@click.option(
    "--select", metavar="TYPES",
    help="For smf_record, smf_raw and record_digest: only records of these types and subtypes, such as "
    "'119(2,11:12),70'.",
)  # fmt: skip
@click.option("--jobs", "-j", metavar="N", type=click.IntRange(min=1), help="Threads. Default: one per CPU.")
@click.option("--strict", is_flag=True, help="Stop at the first thing that cannot be decoded.")
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
    supplied: Supplied,
    jobs: int | None,
    strict: bool,
    code_page: str,
    reading: Reading,
    output: Output,
) -> int:
    """Print the rows of one table straight from a file.

    PATH is a file, a folder with everything below it, or - for standard input: dumps, RMF listings and XML,
    captured NETSTAT and GSKSRVR displays, figures as CSV or JSON. Rows come in the order of the file and take
    a bounded amount of memory whatever its size.

    \b
    Examples:
      zscope decode SMF.DUMP --table smf119_zert_detail -c job_name,tls_version,cipher
      zscope decode SMF.DUMP --table smf70_cpu -o cpu.parquet
      zscope decode SMF.DUMP --table smf_record --select '119(2)' --limit 10
      zscope decode netstat.txt --table netstat_conn --system SYSA --taken 2026-03-02
      zscope decode panel.csv --table ztpf_series --map ecbs_in_use='ECBs in use (TPF1)'
    """
    from zscope.parsers import Issues, Scan
    from zscope.parsers.api import day_and_clock, selected_schema
    from zscope.parsers.inputs import Options

    distinct_outputs(output.path, reading.issues.path if reading.issues else None, "--issues")
    selection = _selection(table, columns, select)
    with input_errors(), progress(quiet=reading.quiet, rows_on_screen=output.on_terminal) as report:
        options = Options(code_page, reading.framing, jobs, report, system, *day_and_clock(taken))
        scan = Scan(paths, selection, supplied.added_to(options), Issues(strict=strict))
        with closing(_rows(scan, limit)) as rows:
            # The first rows tell whether there is an input at all; without any, no output is made.
            first = next(rows, None)
            if scan.files:
                schema = selected_schema(table, selection.columns[table])
                output.write(Rows(schema, chain([first] if first else [], rows)))
    if not reading.quiet:
        tell_files(scan.files)
    return conclude(scan.issues, reading, anything=bool(scan.files))


def _selection(table: str, columns: str | None, select: str | None) -> Selection:
    """The table with the columns asked for, and the types of records it is to be made from."""
    from zscope.parsers.select import Selection, parse
    from zscope.schemas.tables import ANY_RECORD_TABLES, table_names

    if table not in table_names():
        near = get_close_matches(table, table_names(), n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "zscope fields lists them all"
        raise click.UsageError(f"there is no table {table!r}; {hint}")
    with input_errors():
        wanted = parse(table if columns is None else f"{table}[{columns}]").columns
        if select is None:
            return Selection(wanted)
        if table not in ANY_RECORD_TABLES:
            raise click.UsageError(
                f"--select goes with {', '.join(ANY_RECORD_TABLES)}; {table} has its own type"
            )
        types = parse(select).types
    if not types:
        raise click.UsageError(f"--select takes record types such as 119(2,11:12), not {select!r}")
    return Selection(wanted, types)


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
