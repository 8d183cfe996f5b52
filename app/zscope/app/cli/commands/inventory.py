"""List the contents of files without decoding them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.reading import (
    ReadingOptions,
    SuppliedOptions,
    code_page_option,
    display_options,
    distinct_outputs,
    input_errors,
    print_files,
    progress,
    reading_options,
    report_issues,
    supplied_options,
)

if TYPE_CHECKING:
    from datetime import date

ESSENTIAL = (
    "system", "report", "source", "record_type", "record_subtype", "records", "percent", "first_local",
    "last_local", "avg_bytes", "file",
)  # fmt: skip


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@display_options
@supplied_options
@row_options
@code_page_option
@reading_options
def command(
    paths: tuple[str, ...],
    system: str | None,
    taken: date | None,
    supplied: SuppliedOptions,
    code_page: str,
    reading: ReadingOptions,
    output: Output,
) -> int:
    """List the contents of files: kinds of records and reports, counts, first and last time.

    PATH is a file, a folder (searched recursively) or - for standard input. Files can be SMF dumps, RMF
    listings and XML, captured NETSTAT and GSKSRVR displays, and figures as CSV or JSON, in any mixture and
    packed by gzip, zip or TERSE. Prints one row for each file, system, and record type and subtype or
    report. A summary of each file and all issues go to standard error.

    \b
    Examples:
      zscope inventory SMF.DUMP
      zscope inventory captured/ --format json -o inventory.json
      gunzip -c SMF.DUMP.gz | zscope inventory -
    """
    from zscope.parsers.api import inventory
    from zscope.parsers.options import ReadOptions

    distinct_outputs(output.path, reading.issues.path if reading.issues else None, "--issues")
    with input_errors(), progress(quiet=reading.quiet) as report:
        contents = inventory(
            paths,
            options=ReadOptions(
                code_page=code_page,
                framing=reading.framing,
                progress=report,
                system=system,
                taken=taken,
                run=supplied.run,
                mapping=supplied.mapping,
                time_format=supplied.time_format,
                formatter_zone=supplied.formatter_zone,
            ),
        )
    if not reading.quiet:
        print_files(contents.files)
    if contents.files:
        rows = contents.rows
        filled = tuple(name for name in ESSENTIAL if rows[name].null_count < rows.num_rows)
        output.write(Rows.of(rows, filled))
    return report_issues(contents.issues, reading, any_input=bool(contents.files))
