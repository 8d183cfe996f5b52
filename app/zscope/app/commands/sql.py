"""Ask the store in SQL."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from zscope.app.answers import answer
from zscope.app.exits import NothingDoneError
from zscope.app.output import Output, row_options
from zscope.app.output.target import STANDARD_OUTPUT
from zscope.app.store_option import asking, store_option


@click.command()
@click.argument("statement", metavar="[STATEMENT]", required=False)
@click.option("-f", "--file", "file", metavar="FILE", help="Run the statements of FILE; - is standard input.")
@click.option(
    "--memory", metavar="SIZE", help="What DuckDB may use, such as 2GB. Default: 80 % of all there is."
)
@click.option("--threads", metavar="N", type=click.IntRange(min=1), help="Default: one per CPU.")
@click.option(
    "--timeout", metavar="SECONDS", type=click.FloatRange(min=0, min_open=True),
    help="Stop a statement that DuckDB works on for longer.",
)  # fmt: skip
@store_option
@row_options
def command(
    *,
    statement: str | None,
    file: str | None,
    memory: str | None,
    threads: int | None,
    timeout: float | None,
    store: Path,
    output: Output,
) -> None:
    """Ask the store in SQL, as DuckDB understands it.

    STATEMENT may be several, with ; between them; they run in order. Without STATEMENT and -f there is a
    prompt: .help explains it. Statements read the tables of the store and may make temporary ones; they open
    no other file and no network. What does not fit in memory goes to a private folder below $TMPDIR.

    \b
    Examples:
      zscope sql "SELECT system, count(*) FROM smf119_tcp_term GROUP BY ALL"
      zscope sql -f weekly.sql -o weekly.parquet
      zscope sql "SHOW TABLES"
      zscope sql

    The exit code is 12 if a statement is wrong, not possible or stopped by the time limit.
    """
    if statement is not None and file is not None:
        raise click.UsageError("give either STATEMENT or -f FILE")
    if statement is None and file is None and output.path != STANDARD_OUTPUT:
        raise click.UsageError("-o needs STATEMENT or -f FILE (-f - takes statements from standard input)")
    text = statement if file is None else _content(file)
    with asking(store, memory=memory, threads=threads, seconds=timeout) as session:
        if text is None:
            from zscope.app.prompt import Prompt

            Prompt(session, output).run()
        elif statements := session.statements(text):
            answer(session, statements, output)
        else:
            raise NothingDoneError("there is no statement in it")


def _content(file: str) -> str:
    try:
        if file == STANDARD_OUTPUT:
            return sys.stdin.read()
        return Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise NothingDoneError(
            f"{file}: this is no text in UTF-8 ({error.reason} at byte {error.start})"
        ) from error
