"""Run SQL statements on the store."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from zscope.app.cli.exits import NothingDoneError
from zscope.app.cli.output import Output, row_options
from zscope.app.cli.output.output_options import STANDARD_OUTPUT
from zscope.app.cli.statements import run_statements
from zscope.app.cli.store_option import open_session, store_option


@click.command()
@click.argument("statement", metavar="[STATEMENT]", required=False)
@click.option("-f", "--file", "file", metavar="FILE", help="Run the statements in FILE; - is standard input.")
@click.option(
    "--memory", metavar="SIZE", help="Memory limit of DuckDB, such as 2GB. Default: 80 % of the memory."
)
@click.option(
    "--threads", metavar="N", type=click.IntRange(min=1),
    help="Threads of DuckDB. Default: one per CPU, and one for a store of less than 500,000 rows.",
)  # fmt: skip
@click.option(
    "--temp-size", metavar="SIZE",
    help="Limit of the space in $TMPDIR for data that does not fit in memory, such as 10GB. Default: half of "
    "the free space.",
)  # fmt: skip
@click.option(
    "--timeout", metavar="SECONDS", type=click.FloatRange(min=0, min_open=True),
    help="Stop a statement after this many seconds of work in DuckDB.",
)  # fmt: skip
@store_option
@row_options
def command(  # noqa: PLR0913 - one argument for each option
    *,
    statement: str | None,
    file: str | None,
    memory: str | None,
    threads: int | None,
    temp_size: str | None,
    timeout: float | None,
    store: Path,
    output: Output,
) -> None:
    """Run SQL on the store (DuckDB's dialect).

    STATEMENT can be several statements separated by semicolons; they run in order; - reads them from
    standard input. Without STATEMENT and -f a prompt opens, with .tables, .describe, .examples and .help.
    Statements can read the tables of the store and create temporary tables; they cannot open other files or
    the network. Data that does not fit in memory goes to a private folder in $TMPDIR.

    \b
    Examples:
      zscope sql "SELECT system, count(*) FROM smf119_tcp_term GROUP BY ALL"
      zscope sql -f weekly.sql -o weekly.parquet
      zscope sql "SHOW TABLES"
      zscope sql

    The exit code is 12 if a statement is wrong, not allowed, or stopped by the time limit.
    """
    if statement is not None and file is not None:
        raise click.UsageError("give either STATEMENT or -f FILE")
    if statement == STANDARD_OUTPUT:
        statement, file = None, STANDARD_OUTPUT
    if statement is None and file is None and output.path != STANDARD_OUTPUT:
        raise click.UsageError("-o needs STATEMENT or -f FILE (-f - reads statements from standard input)")
    text = statement if file is None else _content(file)
    with open_session(
        store, memory=memory, threads=threads, seconds=timeout, temp_size=temp_size, only_prints=True
    ) as session:
        if text is None:
            from zscope.app.cli.prompt import Prompt

            Prompt(session, output).run()
        elif statements := session.statements(text):
            run_statements(session, statements, output)
        else:
            raise NothingDoneError("the text contains no statement")


def _content(file: str) -> str:
    try:
        if file == STANDARD_OUTPUT:
            return sys.stdin.read()
        return Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise NothingDoneError(f"{file}: not valid UTF-8 ({error.reason} at byte {error.start})") from error
