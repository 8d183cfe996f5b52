"""Undo packing, blocks and segments."""

from __future__ import annotations

import sys

import click

from zscope.app.output.target import STANDARD_OUTPUT, AbandonedError, open_target
from zscope.app.progress import progress
from zscope.app.reading import Reading, conclude, input_errors, reading_options, tell_files


@click.command()
@click.argument("path")
@click.option(
    "-o", "--output", "target", metavar="FILE", required=True,
    help="Where to write; it is replaced only when something could be read. - is standard output.",
)  # fmt: skip
@reading_options
def command(path: str, target: str, reading: Reading) -> int:
    """Undo gzip, zip, TERSE, blocks and segments.

    A dump becomes a plain stream of whole records, each with its length word in front, as other tools want
    it. Packed data that are no dump are written as they are. PATH may be - for standard input.

    \b
    Examples:
      zscope unpack SMF.DUMP.trs -o smf.bin
      zscope unpack SMF.DUMP.gz -o - | other-tool
    """
    from zscope.parsers import unpack

    if target == STANDARD_OUTPUT and sys.stdout.isatty():
        raise click.UsageError(
            "records are not for a terminal: name a file with -o or send them to a program"
        )
    with input_errors(), progress(quiet=reading.quiet) as report, open_target(target) as out:
        done = unpack(path, out, framing=reading.framing, progress=report)
        if not done.bytes:
            raise AbandonedError
    if not reading.quiet:
        tell_files(done.files)
    return conclude(done.issues, reading, anything=done.bytes > 0)
