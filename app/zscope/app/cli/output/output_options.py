"""The options of every command that prints rows: format, file, and what a terminal shows."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.app.cli.output.row_stream import Rows


STANDARD_OUTPUT = "-"


class AbandonedError(Error):
    """Raised while writing if there is nothing to write; `open_target` catches it and keeps the old file."""


@contextmanager
def open_target(path: str) -> Iterator[BinaryIO]:
    """Yield a stream to write to; a file is written under a temporary name and renamed on success.

    An existing file stays until then, and after a failure. Devices and pipes are written directly.
    """
    if path == STANDARD_OUTPUT:
        with suppress(AbandonedError):
            yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        with target.open("wb") as direct, suppress(AbandonedError):
            yield direct
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with _create(path, temporary) as file:
            yield file
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o7777)
        temporary.replace(target)
    except AbandonedError:
        pass
    finally:
        with suppress(FileNotFoundError):  # renamed, or never created
            temporary.unlink()


def _create(path: str, temporary: Path) -> BinaryIO:
    """Create the temporary file; an error names the path that the user gave."""
    try:
        return temporary.open("xb")
    except OSError as error:
        error.filename = path
        raise


Command = Callable[..., int | None]


class OutputFormat(StrEnum):
    """A format in which rows are written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"
    PARQUET = "parquet"
    ARROW = "arrow"
    TSV = "tsv"
    MARKDOWN = "md"


ENDINGS = {
    ".txt": OutputFormat.TABLE,
    ".csv": OutputFormat.CSV,
    ".json": OutputFormat.JSON,
    ".jsonl": OutputFormat.JSONL,
    ".ndjson": OutputFormat.JSONL,
    ".parquet": OutputFormat.PARQUET,
    ".arrow": OutputFormat.ARROW,
    ".arrows": OutputFormat.ARROW,
    ".tsv": OutputFormat.TSV,
    ".md": OutputFormat.MARKDOWN,
}
BINARY = (OutputFormat.PARQUET, OutputFormat.ARROW)


@dataclass(frozen=True, slots=True)
class Output:
    """Where and in which format rows are written."""

    format: OutputFormat
    path: str = STANDARD_OUTPUT
    raw: bool = False
    all_rows: bool = False
    """Whether a terminal shows all rows, not only the first."""
    all_columns: bool = False
    """Whether a terminal shows all columns, under their names."""
    paged: bool = True
    """Whether a terminal shows long tables with a pager."""
    is_chosen: bool = True
    """Whether the user specified a format or a file."""

    @property
    def on_terminal(self) -> bool:
        """Whether rows are shown on the screen."""
        return self.path == STANDARD_OUTPUT and is_terminal()

    @property
    def on_screen(self) -> bool:
        """Whether rows are shown on the screen as a table that is made for it."""
        return self.on_terminal and self.format is OutputFormat.TABLE

    def write(self, rows: Rows) -> None:
        """Write all rows; an existing file is replaced only when that succeeds."""
        self.write_all([rows])

    def write_all(self, results: Iterable[Rows]) -> None:
        """Write several results with an empty line between them; several for the format `table` only."""
        if self.on_screen:
            self._show(results)
            return
        with open_target(self.path) as out:
            for number, rows in enumerate(results):
                if number:
                    out.write(b"\n")
                self._write(rows, out)

    def _show(self, results: Iterable[Rows]) -> None:
        from zscope.app.cli.output.terminal import notes, page, screen

        width = shutil.get_terminal_size().columns
        wanted = {"all_rows": self.all_rows, "all_columns": self.all_columns}
        shown = [screen(rows, width=width, raw=self.raw, **wanted) for rows in results]
        page("\n".join("".join(f"{line}\n" for line in each.lines) for each in shown), paged=self.paged)
        for note in notes(shown):
            click.echo(note, err=True)

    def _write(self, rows: Rows, out: BinaryIO) -> None:
        from zscope.app.cli.output import writers

        match self.format:
            case OutputFormat.CSV:
                writers.write_csv(rows, out, raw=self.raw)
            case OutputFormat.TSV:
                writers.write_tsv(rows, out, raw=self.raw)
            case OutputFormat.MARKDOWN:
                writers.write_markdown(rows, out, raw=self.raw)
            case OutputFormat.JSON:
                writers.write_json(rows, out)
            case OutputFormat.JSONL:
                writers.write_jsonl(rows, out)
            case OutputFormat.PARQUET:
                writers.write_parquet(rows, out)
            case OutputFormat.ARROW:
                writers.write_arrow(rows, out)
            case OutputFormat.TABLE:
                from zscope.app.cli.output.aligned import write_table

                write_table(rows, out, raw=self.raw)


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()


def row_options(command: Command) -> Command:
    """Add the options of output to a command; the command receives the argument `output`."""

    @click.option(
        "--format", "form", type=click.Choice([f.value for f in OutputFormat]),
        help="Format of the rows. Default: by the ending of FILE, or table on a terminal and csv elsewhere.",
    )  # fmt: skip
    @click.option(
        "-o", "--output", "path", metavar="FILE", default=STANDARD_OUTPUT,
        help="Write to FILE instead of standard output. An existing FILE is replaced only on success.",
    )  # fmt: skip
    @click.option("--csv", is_flag=True, help="The same as --format csv.")
    @click.option("--json", is_flag=True, help="The same as --format json.")
    @click.option(
        "--raw", is_flag=True,
        help="In format table, show codes as numbers instead of their meaning, such as 'full' or "
        "'unknown (0x07)', and numbers with all digits. The other formats always do. In csv, tsv and md, "
        "write texts unchanged: without an apostrophe before = + - @, and with control characters.",
    )  # fmt: skip
    @click.option("--all-rows", is_flag=True, help="On a terminal, show all rows. Default: the first 200.")
    @click.option(
        "--all-columns", is_flag=True,
        help="On a terminal, show all columns under their names, one below the other if they do not fit. "
        "Default: the columns with the answer, and others that fit.",
    )  # fmt: skip
    @click.option(
        "--no-pager", is_flag=True,
        help="On a terminal, do not show long tables with the pager, which is $PAGER or less.",
    )  # fmt: skip
    @wraps(command)
    def with_output(  # noqa: PLR0913 - one argument for each option
        form: str | None,
        path: str,
        *,
        csv: bool,
        json: bool,
        raw: bool,
        all_rows: bool,
        all_columns: bool,
        no_pager: bool,
        **options: object,
    ) -> int | None:
        forms = [form, *(["csv"] if csv else []), *(["json"] if json else [])]
        given = list(dict.fromkeys(filter(None, forms)))
        if len(given) > 1:
            raise click.UsageError(f"{' and '.join(given)}: choose one format")
        chosen = chosen_format(given[0] if given else None, path)
        is_chosen = bool(given) or path != STANDARD_OUTPUT
        output = Output(chosen, path, raw, all_rows, all_columns, not no_pager, is_chosen)
        return command(output=output, **options)

    return with_output


OUTPUT_ARGUMENTS = ("form", "path", "csv", "json", "raw", "all_rows", "all_columns", "no_pager")
"""The names of the options that `row_options` adds."""


def chosen_format(form: str | None, path: str) -> OutputFormat:
    """Return the format of `--format`, or the one that the ending of the file or the terminal suggests."""
    terminal = path == STANDARD_OUTPUT and is_terminal()
    if form is None:
        return _suggested(path, terminal=terminal)
    if terminal and form in BINARY:
        raise click.UsageError(
            f"{form} cannot be shown on a terminal: write it to a file with -o or pipe it to a program"
        )
    return OutputFormat(form)


def _suggested(path: str, *, terminal: bool) -> OutputFormat:
    if path == STANDARD_OUTPUT:
        return OutputFormat.TABLE if terminal else OutputFormat.CSV
    ending = Path(path).suffix.lower()
    if ending in ENDINGS:
        return ENDINGS[ending]
    known = ", ".join(ENDINGS)
    raise click.UsageError(f"{path}: unknown file ending (known: {known}); add --format")
