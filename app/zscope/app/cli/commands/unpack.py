"""Unpack a file."""

from __future__ import annotations

import sys

import click

from zscope.app.cli.input_options import (
    ReadingOptions,
    input_errors,
    print_files,
    progress,
    reading_options,
    report_issues,
)
from zscope.app.cli.output.output_options import STANDARD_OUTPUT, AbandonedError, open_target


@click.command()
@click.argument("path")
@click.option(
    "-o", "--output", "target", metavar="FILE", required=True,
    help="File to write; - is standard output. An existing FILE is replaced only if PATH could be read.",
)  # fmt: skip
@reading_options
def command(path: str, target: str, reading: ReadingOptions) -> int:
    """Unpack a file: gzip, bzip2, xz, zstd, lz4, zip, tar, TERSE, blocks and segments.

    A dump becomes a plain stream of complete records, each with its record length (RDW) in front, as other
    tools expect it. Other packed data is written unchanged. PATH can be - for standard input.

    \b
    Examples:
      zscope unpack SMF.DUMP.trs -o smf.bin
      zscope unpack SMF.DUMP.gz -o - | other-tool
    """
    from zscope.parsers.api import unpack
    from zscope.parsers.options import ReadOptions

    if target == STANDARD_OUTPUT and sys.stdout.isatty():
        raise click.UsageError(
            "records cannot be shown on a terminal: write them to a file with -o or pipe them to a program"
        )
    with input_errors(), progress(quiet=reading.quiet) as report, open_target(target) as out:
        done = unpack(
            path,
            out,
            options=ReadOptions(
                framing=reading.framing, unpack_limits=reading.unpack_limits, progress=report
            ),
        )
        if not done.bytes:
            raise AbandonedError
    if not reading.quiet:
        print_files(done.files)
    return report_issues(done.issues, reading, any_input=done.bytes > 0)
