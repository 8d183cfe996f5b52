"""List what is in files without decoding them."""

from __future__ import annotations

from datetime import date

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
    supplied: Supplied,
    code_page: str,
    reading: Reading,
    output: Output,
) -> int:
    """List what is in files: kinds of records and reports, how many, from when to when.

    PATH is a file, a folder with everything below it, or - for standard input: SMF dumps, RMF listings and
    XML, captured NETSTAT and GSKSRVR displays, figures as CSV or JSON, in any mixture. Packed files (gzip,
    zip, TERSE) are unpacked on the way. One row for each file, system, and record type and subtype or
    report; a summary of each file and everything that is wrong goes to standard error.

    \b
    Examples:
      zscope inventory SMF.DUMP
      zscope inventory captured/ --format json -o inventory.json
      gunzip -c SMF.DUMP.gz | zscope inventory -
    """
    from zscope.parsers import inventory

    distinct_outputs(output.path, reading.issues.path if reading.issues else None, "--issues")
    with input_errors(), progress(quiet=reading.quiet) as report:
        found = inventory(
            paths,
            code_page=code_page,
            framing=reading.framing,
            progress=report,
            system=system,
            taken=taken,
            run=supplied.run,
            mapping=supplied.mapping,
            time_format=supplied.time_format,
            formatter_zone=supplied.formatter_zone,
        )
    if not reading.quiet:
        tell_files(found.files)
    if found.files:
        filled = tuple(name for name in ESSENTIAL if found.rows[name].null_count < found.rows.num_rows)
        output.write(Rows.of(found.rows, filled))
    return conclude(found.issues, reading, anything=bool(found.files))
