"""The files below the paths that a caller names, and the result of every kind of reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Protocol

import pyarrow as pa

from zscope.parsers.containers.source import Member, input_paths, members, open_input
from zscope.parsers.issues import InputError, Issues
from zscope.parsers.options import ProgressState, ReadOptions
from zscope.schemas.arrow import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from zscope.parsers.select import Selection

    Paths = str | Path | Iterable[str | Path]


@dataclass(slots=True)
class FileSummary:
    """The kind and the size of one file."""

    file: str
    packing: tuple[str, ...]
    kind: str
    """`smf`, `text`, `xml` or `json`."""
    form: str
    """Framing of a dump, coding of a text."""
    records: int = 0
    spanned: int = 0
    lines: int = 0
    reports: int = 0
    bytes: int = 0
    """After unpacking."""
    no_report: bool = False
    """The file is readable text, but contains no report."""
    skipped: bool = False
    """The file was not read, because no selected table comes from a file of this kind."""


class InputReader(Protocol):
    """Reads one file, once, in one of these ways."""

    summary: FileSummary

    def batches(self, selection: Selection) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Return the rows of the selected tables."""

    def inventory(self) -> pa.Table:
        """Read the file and count its records or reports."""

    def contents(self) -> pa.Table:
        """Return the same counts after the rows were read, for the part of the file that was read."""

    def unpacked(self, out: BinaryIO) -> int:
        """Write the data without packing, blocks and segments; return the number of bytes."""


class EmptyInputError(Exception):
    """Not one byte of a file could be read; its stream has reported this as an issue."""


def members_of(paths: Paths, issues: Issues) -> Iterator[Member]:
    """Open and unwrap all files that some paths name; a file that cannot be opened becomes an issue."""
    named = [paths] if isinstance(paths, str) or not hasattr(paths, "__iter__") else paths
    for path, by_name in input_paths(named, issues):
        try:
            with open_input(path) as (file, size):
                yield from members(path, file, size, issues, named=by_name)
        except InputError as error:
            issues.add(error.issue)


def report_progress(summary: FileSummary, member: Member, options: ReadOptions) -> None:
    """Call the progress function of the caller, if there is one."""
    if options.progress:
        done = summary.records or summary.lines
        options.progress(ProgressState(member.name, member.done(), member.size, done))


INVENTORY_SCHEMA = pa.schema(
    [
        ("file", pa.string()),
        ("kind", pa.string()),
        ("packing", pa.string()),
        ("framing", pa.string()),
        ("system", pa.string()),
        ("report", pa.string()),
        ("source", pa.string()),
        ("record_type", pa.uint8()),
        ("record_subtype", pa.uint16()),
        ("records", pa.uint64()),
        ("spanned", pa.uint64()),
        ("percent", pa.float64()),
        ("total_bytes", pa.uint64()),
        ("min_bytes", pa.uint32()),
        ("avg_bytes", pa.float64()),
        ("max_bytes", pa.uint32()),
        ("first_local", LOCAL),
        ("last_local", LOCAL),
    ]
)
"""The rows of an inventory. `records` counts records of a dump and reports of a text; a column that does not
apply to a kind of file is null.
"""
