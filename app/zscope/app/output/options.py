"""The options of every command that prints rows, and the choice of writer they lead to."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from zscope.app.output.target import STANDARD_OUTPUT, open_target

if TYPE_CHECKING:
    from zscope.app.output.rows import Rows

Command = Callable[..., int | None]


class Format(StrEnum):
    """How rows are written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"
    PARQUET = "parquet"
    ARROW = "arrow"


ENDINGS = {
    ".txt": Format.TABLE,
    ".csv": Format.CSV,
    ".json": Format.JSON,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".parquet": Format.PARQUET,
    ".arrow": Format.ARROW,
    ".arrows": Format.ARROW,
}
BINARY = (Format.PARQUET, Format.ARROW)


@dataclass(frozen=True, slots=True)
class Output:
    """Where rows go and how they are written; decided before any work begins."""

    format: Format
    path: str = STANDARD_OUTPUT
    raw: bool = False

    @property
    def on_terminal(self) -> bool:
        """Whether rows appear on the screen."""
        return self.path == STANDARD_OUTPUT and sys.stdout.isatty()

    def write(self, rows: Rows) -> None:
        """Write all rows; a file has its name only when that went well."""
        with open_target(self.path) as out:
            self._write(rows, out)

    def write_all(self, results: Iterable[Rows]) -> None:
        """Write several results one behind the other, with an empty line between; for tables only."""
        with open_target(self.path) as out:
            for number, rows in enumerate(results):
                if number:
                    out.write(b"\n")
                self._write(rows, out)

    def _write(self, rows: Rows, out: BinaryIO) -> None:
        match self.format:
            case Format.CSV:
                from zscope.app.output.delimited import write_csv

                write_csv(rows, out)
            case Format.JSON:
                from zscope.app.output.json_rows import write_json

                write_json(rows, out)
            case Format.JSONL:
                from zscope.app.output.json_rows import write_jsonl

                write_jsonl(rows, out)
            case Format.PARQUET:
                from zscope.app.output.columnar import write_parquet

                write_parquet(rows, out)
            case Format.ARROW:
                from zscope.app.output.columnar import write_arrow

                write_arrow(rows, out)
            case Format.TABLE:
                self._write_table(rows, out)

    def _write_table(self, rows: Rows, out: BinaryIO) -> None:
        from zscope.app.output.aligned import write_table

        width = shutil.get_terminal_size().columns if self.on_terminal else None
        missing = write_table(rows, out, width=width, raw=self.raw)
        if missing:
            out.flush()
            some = ", ".join(missing[:6]) + (", ..." if len(missing) > 6 else "")
            click.echo(
                f"{len(missing)} columns do not fit on the screen ({some}); -o FILE writes them all", err=True
            )


def row_options(command: Command) -> Command:
    """Give a command the options of rows; it gets one argument `output` made from them."""

    @click.option(
        "--format", "form", type=click.Choice([f.value for f in Format]),
        help="How to write the rows. Default: by the ending of FILE; table on a terminal, csv elsewhere.",
    )  # fmt: skip
    @click.option(
        "-o", "--output", "path", metavar="FILE", default=STANDARD_OUTPUT,
        help="Write to FILE instead of standard output; it is replaced only when all went well.",
    )  # fmt: skip
    @click.option(
        "--raw", is_flag=True,
        help="In format table, show codes as the numbers they are. Without it their meaning is shown, such "
        "as 'full' or 'unknown (0x07)'. All other formats always have the numbers.",
    )  # fmt: skip
    @wraps(command)
    def with_output(form: str | None, path: str, *, raw: bool, **options: object) -> int | None:
        return command(output=Output(chosen_format(form, path), path, raw), **options)

    return with_output


def chosen_format(form: str | None, path: str) -> Format:
    """The format asked for, or the one that the place suggests; one that cannot go there is refused."""
    terminal = path == STANDARD_OUTPUT and sys.stdout.isatty()
    if form is None:
        return _suggested(path, terminal=terminal)
    if terminal and form in BINARY:
        raise click.UsageError(f"{form} is not for a terminal: name a file with -o or send it to a program")
    return Format(form)


def _suggested(path: str, *, terminal: bool) -> Format:
    if path == STANDARD_OUTPUT:
        return Format.TABLE if terminal else Format.CSV
    ending = Path(path).suffix.lower()
    if ending in ENDINGS:
        return ENDINGS[ending]
    known = ", ".join(ENDINGS)
    raise click.UsageError(f"{path}: the ending tells no format ({known}); add --format")
