"""List what is in files without decoding them."""

from __future__ import annotations

import click

from zscope.app.output import Output, Rows, row_options
from zscope.app.progress import progress
from zscope.app.reading import (
    Reading,
    code_page_option,
    conclude,
    distinct_outputs,
    input_errors,
    reading_options,
    tell_files,
)

ESSENTIAL = (
    "system", "record_type", "record_subtype", "records", "percent", "first_local", "last_local", "avg_bytes",
    "file",
)  # fmt: skip


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@row_options
@code_page_option
@reading_options
def command(paths: tuple[str, ...], code_page: str, reading: Reading, output: Output) -> int:
    """List what is in files: kinds of records, how many, from when to when.

    PATH is a file, a folder with everything below it, or - for standard input. Packed files (gzip, zip,
    TERSE) are unpacked on the way. One row for each file, system, record type and subtype; a summary of each
    file and everything that is wrong goes to standard error.

    \b
    Examples:
      zscope inventory SMF.DUMP
      zscope inventory dumps/ --format json -o inventory.json
      gunzip -c SMF.DUMP.gz | zscope inventory -
    """
    from zscope.parsers import inventory

    distinct_outputs(output.path, reading.issues.path if reading.issues else None, "--issues")
    with input_errors(), progress(quiet=reading.quiet) as report:
        found = inventory(paths, code_page=code_page, framing=reading.framing, progress=report)
    if not reading.quiet:
        tell_files(found.files)
    if found.files:
        output.write(Rows.of(found.rows, ESSENTIAL))
    return conclude(found.issues, reading, anything=bool(found.files))
