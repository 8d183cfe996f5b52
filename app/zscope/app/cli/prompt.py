"""The prompt of `zscope sql`: statements over several lines, and commands that begin with a dot.

On a terminal an error is printed and the prompt continues. In a pipe the first error ends the run.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

from zscope.app.cli.exits import NothingDoneError
from zscope.app.cli.output import Output, Rows
from zscope.app.cli.statements import run_statements
from zscope.schemas.catalogue_schemas import EVERY_COLUMN, EVERY_NAME, PUBLIC_NAMES, public_views
from zscope.schemas.suggestions import suggestion

if TYPE_CHECKING:
    from zscope.pipelines.store.session import Session

HISTORY_LINES = 2_000
_DELIMITERS = " \t\n\"'()[]{},;=<>+-*/%!:|"
"""Characters between words; the dot is not one, so `table.column` is completed as one word."""

Complete = Callable[[str, str], list[str]]


class LineSource(Protocol):
    """A source of lines: a terminal or a pipe."""

    def read(self, prompt: str, before: str) -> str | None:
        """Return the next line, or None at the end; `before` contains the earlier lines of the statement."""


class _PipedLines:
    """Lines of standard input; prompts are shown if only the output is redirected."""

    def read(self, prompt: str, before: str) -> str | None:  # noqa: ARG002 - for completion only
        if sys.stdin.isatty():
            click.echo(prompt, err=True, nl=False)
        line = sys.stdin.readline()
        return line.rstrip("\n") if line else None


class _TypedLines:
    """Lines that a person types."""

    def __init__(self, complete: Complete) -> None:
        self._complete = complete
        self._before = ""
        self._offered: list[str] = []

    def read(self, prompt: str, before: str) -> str | None:
        self._before = before
        try:
            return input(prompt)
        except EOFError:
            click.echo()
            return None

    def offer(self, word: str, number: int) -> str | None:
        """Return one completion after the other, then None; readline calls this function."""
        import readline

        if number == 0:
            line = readline.get_line_buffer()[: readline.get_endidx()]
            self._offered = self._complete(self._before + line, word)
        return self._offered[number] if number < len(self._offered) else None


@contextmanager
def lines_of_user(complete: Complete) -> Iterator[LineSource]:
    """Yield a line source: on a terminal with editing, completion and history."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield _PipedLines()
        return
    typed = _TypedLines(complete)
    if importlib.util.find_spec("readline") is None:  # Python can be built without it
        yield typed
        return
    import readline

    # On macOS the module can be libedit, which has another syntax.
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
    readline.set_completer_delims(_DELIMITERS)
    readline.set_completer(typed.offer)
    history = history_file()
    with suppress(OSError):  # no history yet, or no permission: the prompt works without
        readline.read_history_file(history)
    try:
        yield typed
    finally:
        readline.set_completer(None)
        readline.set_history_length(HISTORY_LINES)
        with suppress(OSError):  # no home or no permission: the history is not saved
            history.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            readline.write_history_file(history)


def history_file() -> Path:
    """Return the path of the history, as the XDG base directories define it."""
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(os.path.expanduser(state)) / "zscope" / "sql_history"  # noqa: PTH111 - no error without a home


COMMANDS = (".tables", ".describe", ".columns", ".examples", ".help", ".quit")
_WORD = re.compile(r"\w+")
_COMPLETION_COLUMNS = (
    f"SELECT DISTINCT column_name FROM ({EVERY_COLUMN}) WHERE list_contains($tables, table_name) ORDER BY ALL"
)
_KEYWORDS = "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category != 'unreserved' ORDER BY ALL"
_EXTRA_KEYWORDS = (
    "by",
    "avg",
    "count",
    "max",
    "min",
    "over",
    "partition",
    "quantile_cont",
    "sum",
    "time_bucket",
)
"""Frequent words that DuckDB does not list as reserved keywords."""


class Completion:
    """Complete tables, columns of the tables in the statement, and keywords."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._keywords = sorted({*self._column(_KEYWORDS), *_EXTRA_KEYWORDS})

    def tables(self) -> list[str]:
        """Return all tables and views, including temporary ones."""
        return self._column(EVERY_NAME)

    def candidates(self, statement: str, word: str) -> list[str]:
        """Return the completions of a word; `statement` is the text typed so far and ends with the word."""
        first = statement.lstrip()
        if first.startswith("."):
            names = list(COMMANDS) if first == word else self.tables()
            return [name for name in names if name.startswith(word)]
        table, dot, part = word.rpartition(".")
        if dot:
            return [f"{table}.{name}" for name in self._columns([table]) if name.startswith(part)]
        tables = self.tables()
        named = [name for name in _WORD.findall(first) if name in tables]
        matches = [name for name in (*self._columns(named), *tables) if name.startswith(word.lower())]
        keywords = [name for name in self._keywords if name.startswith(word.lower())]
        return [*dict.fromkeys(matches), *(k.upper() if word.isupper() else k for k in keywords)]

    def _columns(self, tables: list[str]) -> list[str]:
        return self._column(_COMPLETION_COLUMNS, {"tables": tables})

    def _column(self, query: str, parameters: dict[str, object] | None = None) -> list[str]:
        result = self._session.run(query, parameters)
        assert result is not None
        return [value for batch in result.batches for value in batch[0].to_pylist()]


FIRST_LINE = "zscope> "
NEXT_LINE = "   ...> "
GREETING = "End statements with a semicolon (;). Type .help for help."
HELP = """\
End statements with a semicolon (;). They can span several lines. TAB completes names and keywords.

  .tables [PATTERN]  list the tables and views to begin with; with a PATTERN, which is a part of the name or
                     has wildcards * and ?, those of all schemas: .tables * lists all
  .describe NAME     say what a table or metric is, and list its columns with their meaning
  .columns NAME      list the columns only
  .examples [NUMBER] list statements to begin with, or print and run one
  .help              show this text
  .quit              leave the prompt (or press Ctrl-D)

Ctrl-C discards the statement being typed, and stops a running one."""
_PUBLIC = f"SELECT name, comment AS meaning FROM ({PUBLIC_NAMES}) ORDER BY name"
_MATCHING = f"SELECT name, comment AS meaning FROM ({EVERY_NAME}) WHERE name GLOB $pattern ORDER BY name"
_COLUMNS = f"""
SELECT column_name AS name, data_type AS type, comment AS meaning FROM ({EVERY_COLUMN})
WHERE table_name = $table"""


class Prompt:
    """Read statements and commands until the input ends, and run each."""

    def __init__(self, session: Session, output: Output) -> None:
        self._session = session
        self._output = output
        self._completion = Completion(session)
        self._interactive = sys.stdin.isatty()
        self._results_written = 0

    def run(self) -> None:
        """Run the prompt until the input ends."""
        with lines_of_user(self._completion.candidates) as lines:
            if self._interactive:
                click.echo(GREETING, err=True)
            while (text := self._next(lines)) is not None and text != ".quit":
                self._process(text)

    def _next(self, lines: LineSource) -> str | None:
        """Return a command or a complete statement; in a pipe the last one needs no semicolon."""
        text = ""
        while True:
            try:
                line = lines.read(NEXT_LINE if text else FIRST_LINE, text)
            except KeyboardInterrupt:
                if not self._interactive:
                    raise
                click.echo(err=True)
                text = ""
                continue
            if line is None:
                return text if text and not self._interactive else None
            if not text and line.lstrip().startswith("."):
                return line.strip()
            if text or line.strip():
                text += f"{line}\n"
            if _is_complete(text):
                return text

    def _process(self, text: str) -> None:
        """Run one statement or command; on a terminal an error is printed and the prompt continues."""
        from zscope.pipelines.store.sql_sandbox import QueryError

        try:
            if text.startswith("."):
                self._command(*text.split())
            else:
                self._run(text)
        except (QueryError, NothingDoneError) as error:
            if not self._interactive:
                raise
            click.echo(f"Error: {error}", err=True)
        except KeyboardInterrupt:
            if not self._interactive:
                raise
            click.echo("interrupted", err=True)

    def _run(self, text: str) -> None:
        started = time.monotonic()
        # A terminal can show any number of results; in most formats a file or a pipe can contain only one.
        earlier = 0 if self._output.on_terminal else self._results_written
        statements = self._session.statements(text)
        results = run_statements(self._session, statements, self._output, earlier_results=earlier)
        self._results_written += len(results)
        if self._interactive:
            rows = "".join(f"{_counted(result.count)}, " for result in results)
            click.echo(f"({rows}{time.monotonic() - started:.2f} s)", err=True)

    def _command(self, name: str, *arguments: str) -> None:
        match name, *arguments:
            case ".help", *_:
                click.echo(HELP, err=True)
            case (".tables",):
                self._show(_PUBLIC)
            case ".tables", pattern:
                self._show(_MATCHING, pattern=pattern if set("*?[").intersection(pattern) else f"*{pattern}*")
            case ".columns", table:
                self._columns(table)
            case ".describe", table:
                self._columns(table, describe=True)
            case (".examples",):
                self._examples()
            case ".examples", number:
                self._example(number)
            case _:
                raise NothingDoneError(
                    f"{' '.join((name, *arguments))}: unknown command; .help lists the commands"
                )

    def _columns(self, table: str, *, describe: bool = False) -> None:
        tables = self._completion.tables()
        if table not in tables:
            hint = suggestion(table, tables, ".tables * lists all tables")
            raise NothingDoneError(f"there is no table {table!r}; {hint}")
        if describe:
            result = self._session.run(_MATCHING, {"pattern": table})
            assert result is not None, "a query returns rows"
            for meaning in (value for batch in result.batches for value in batch["meaning"].to_pylist()):
                click.echo(f"{table}: {meaning}", err=True)
            if example := public_views().get(table):
                click.echo(f"for example: {example};", err=True)
        self._show(_COLUMNS, table=table)

    def _examples(self) -> None:
        """List the titles of the examples."""
        import pyarrow as pa

        from zscope.app.shared.statement_examples import EXAMPLES

        titles = [example.title for example in EXAMPLES]
        self._output.write(Rows.of(pa.table({"number": range(1, len(titles) + 1), "statement": titles})))

    def _example(self, number: str) -> None:
        """Print an example and run it."""
        from zscope.app.shared.statement_examples import EXAMPLES

        if not number.isdecimal() or not 1 <= int(number) <= len(EXAMPLES):
            raise NothingDoneError(f".examples {number}: choose a number from 1 to {len(EXAMPLES)}")
        sql = EXAMPLES[int(number) - 1].sql
        click.echo(f"{sql};", err=True)
        self._run(f"{sql};")

    def _show(self, query: str, **parameters: object) -> None:
        result = self._session.run(query, parameters)
        assert result is not None
        self._output.write(Rows(result.schema, result.batches))


def _is_complete(text: str) -> bool:
    """Return whether the text ends with a semicolon that is not part of a string or a comment."""
    from duckdb import tokenize

    tokens = tokenize(text)
    return bool(tokens) and text.encode()[tokens[-1][0] :].startswith(b";")


def _counted(rows: int) -> str:
    return f"{rows:,} row" if rows == 1 else f"{rows:,} rows"
