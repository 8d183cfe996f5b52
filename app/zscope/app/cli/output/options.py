"""The options `--format`, `-o` and `--raw` of every command that prints rows, and where `-o` writes."""

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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.app.cli.output.rows import Rows


STANDARD_OUTPUT = "-"


class AbandonedError(Exception):
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


ENDINGS = {
    ".txt": OutputFormat.TABLE,
    ".csv": OutputFormat.CSV,
    ".json": OutputFormat.JSON,
    ".jsonl": OutputFormat.JSONL,
    ".ndjson": OutputFormat.JSONL,
    ".parquet": OutputFormat.PARQUET,
    ".arrow": OutputFormat.ARROW,
    ".arrows": OutputFormat.ARROW,
}
BINARY = (OutputFormat.PARQUET, OutputFormat.ARROW)


@dataclass(frozen=True, slots=True)
class Output:
    """Where and in which format rows are written."""

    format: OutputFormat
    path: str = STANDARD_OUTPUT
    raw: bool = False

    @property
    def on_terminal(self) -> bool:
        """Whether rows are shown on the screen."""
        return self.path == STANDARD_OUTPUT and sys.stdout.isatty()

    def write(self, rows: Rows) -> None:
        """Write all rows; an existing file is replaced only when that succeeds."""
        with open_target(self.path) as out:
            self._write(rows, out)

    def write_all(self, results: Iterable[Rows]) -> None:
        """Write several results with an empty line between them; for the format `table` only."""
        with open_target(self.path) as out:
            for number, rows in enumerate(results):
                if number:
                    out.write(b"\n")
                self._write(rows, out)

    def _write(self, rows: Rows, out: BinaryIO) -> None:
        match self.format:
            case OutputFormat.CSV:
                from zscope.app.cli.output.writers import write_csv

                write_csv(rows, out)
            case OutputFormat.JSON:
                from zscope.app.cli.output.writers import write_json

                write_json(rows, out)
            case OutputFormat.JSONL:
                from zscope.app.cli.output.writers import write_jsonl

                write_jsonl(rows, out)
            case OutputFormat.PARQUET:
                from zscope.app.cli.output.writers import write_parquet

                write_parquet(rows, out)
            case OutputFormat.ARROW:
                from zscope.app.cli.output.writers import write_arrow

                write_arrow(rows, out)
            case OutputFormat.TABLE:
                self._write_table(rows, out)

    def _write_table(self, rows: Rows, out: BinaryIO) -> None:
        from zscope.app.cli.output.aligned import write_table

        width = shutil.get_terminal_size().columns if self.on_terminal else None
        missing = write_table(rows, out, width=width, raw=self.raw)
        if missing:
            out.flush()
            some = ", ".join(missing[:6]) + (", ..." if len(missing) > 6 else "")
            click.echo(
                f"{len(missing)} columns do not fit on the screen ({some}); use -o FILE to write them all",
                err=True,
            )


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
    @click.option(
        "--raw", is_flag=True,
        help="In format table, show codes as numbers instead of their meaning, such as 'full' or "
        "'unknown (0x07)', and numbers with all digits. The other formats always do.",
    )  # fmt: skip
    @wraps(command)
    def with_output(form: str | None, path: str, *, raw: bool, **options: object) -> int | None:
        return command(output=Output(chosen_format(form, path), path, raw), **options)

    return with_output


def chosen_format(form: str | None, path: str) -> OutputFormat:
    """Return the format of `--format`, or the one that the ending of the file or the terminal suggests."""
    terminal = path == STANDARD_OUTPUT and sys.stdout.isatty()
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
