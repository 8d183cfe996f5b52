"""The prompt of `zscope sql`: statements over several lines, and commands that begin with a dot.

On a terminal a wrong statement is told and the next one read. From a pipe there is no one to tell, so the
first error ends the run.
"""

from __future__ import annotations

import sys
import time
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from zscope.app.answers import answer
from zscope.app.completion import Completion
from zscope.app.exits import NothingDoneError
from zscope.app.output import Output, Rows
from zscope.app.prompt_lines import Lines, lines_of_user

if TYPE_CHECKING:
    from zscope.pipelines.store.session import Session

FIRST_LINE = "zscope> "
NEXT_LINE = "   ...> "
GREETING = "Statements end with ; and .help says what else there is."
HELP = """\
Statements end with ; and may take several lines. TAB completes tables, columns and keywords.

  .tables [PATTERN]  tables and views: all, or those whose name matches (* and ? stand for anything)
  .columns TABLE     the columns of a table, and what they mean
  .help              this text
  .quit              leave; so does Ctrl-D

Ctrl-C drops the statement that is being typed, and stops the one that runs."""
_TABLES = """
SELECT name, meaning FROM (
    SELECT table_name AS name, comment AS meaning FROM duckdb_tables()
    WHERE schema_name = 'main' AND NOT internal
    UNION ALL
    SELECT view_name, comment FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal
) WHERE name GLOB $pattern ORDER BY name"""
_COLUMNS = """
SELECT column_name AS name, data_type AS type, comment AS meaning FROM duckdb_columns()
WHERE schema_name = 'main' AND NOT internal AND table_name = $table ORDER BY column_index"""


class Prompt:
    """Reads statements and commands until there are no more."""

    def __init__(self, session: Session, output: Output) -> None:
        self._session = session
        self._output = output
        self._completion = Completion(session)
        self._person = sys.stdin.isatty()
        self._answered = 0
        """Results written so far, where they all go to one place."""

    def run(self) -> None:
        """Read and answer."""
        with lines_of_user(self._completion.candidates) as lines:
            if self._person:
                click.echo(GREETING, err=True)
            while (text := self._next(lines)) is not None and text != ".quit":
                self._answer(text)

    def _next(self, lines: Lines) -> str | None:
        """A command, or the lines of a statement; from a pipe the last one may lack its semicolon."""
        text = ""
        while True:
            try:
                line = lines.read(NEXT_LINE if text else FIRST_LINE, text)
            except KeyboardInterrupt:
                if not self._person:
                    raise
                click.echo(err=True)
                text = ""
                continue
            if line is None:
                return text if text and not self._person else None
            if not text and line.lstrip().startswith("."):
                return line.strip()
            if text or line.strip():
                text += f"{line}\n"
            if _is_complete(text):
                return text

    def _answer(self, text: str) -> None:
        """Do one thing; a person is told what went wrong and can go on."""
        from zscope.pipelines.store.session import QueryError

        try:
            if text.startswith("."):
                self._command(*text.split())
            else:
                self._ask(text)
        except (QueryError, NothingDoneError) as error:
            if not self._person:
                raise
            click.echo(f"Error: {error}", err=True)
        except KeyboardInterrupt:
            if not self._person:
                raise
            click.echo("interrupted", err=True)

    def _ask(self, text: str) -> None:
        started = time.monotonic()
        # What scrolls by on a screen may be any number of results; a file or a pipe is one place.
        already = 0 if self._output.on_terminal else self._answered
        results = answer(self._session, self._session.statements(text), self._output, already=already)
        self._answered += len(results)
        if self._person:
            rows = "".join(f"{_counted(result.count)}, " for result in results)
            click.echo(f"({rows}{time.monotonic() - started:.2f} s)", err=True)

    def _command(self, name: str, *arguments: str) -> None:
        match name, *arguments:
            case ".help", *_:
                click.echo(HELP, err=True)
            case (".tables",):
                self._show(_TABLES, pattern="*")
            case ".tables", pattern:
                self._show(_TABLES, pattern=pattern if set("*?[").intersection(pattern) else f"*{pattern}*")
            case ".columns", table:
                self._columns(table)
            case _:
                raise NothingDoneError(f"{' '.join((name, *arguments))}: no such command; .help lists them")

    def _columns(self, table: str) -> None:
        tables = self._completion.tables()
        if table not in tables:
            near = get_close_matches(table, tables, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else ".tables lists them all"
            raise NothingDoneError(f"there is no table {table!r}; {hint}")
        self._show(_COLUMNS, table=table)

    def _show(self, query: str, **parameters: object) -> None:
        result = self._session.run(query, parameters)
        assert result is not None
        self._output.write(Rows(result.schema, result.batches))


def _is_complete(text: str) -> bool:
    """Whether a statement ends here: with a semicolon that stands in no text and no comment."""
    from duckdb import tokenize

    tokens = tokenize(text)
    return bool(tokens) and text.encode()[tokens[-1][0] :].startswith(b";")


def _counted(rows: int) -> str:
    return f"{rows:,} row" if rows == 1 else f"{rows:,} rows"
