"""From the paths a caller names to what is behind them: dumps, reports; all else becomes an issue."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, time, tzinfo
from typing import TYPE_CHECKING, BinaryIO, Protocol

from zscope.parsers.containers.source import Member, input_paths, members, open_input
from zscope.parsers.issues import InputError, Issues
from zscope.parsers.smf.ebcdic import DEFAULT_CODE_PAGE, CodePage, code_page
from zscope.schemas.zones import zone_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import pyarrow as pa

    from zscope.parsers.select import Selection
    from zscope.parsers.smf.frames import Window
    from zscope.parsers.smf.framing import Framing

    Paths = str | Path | Iterable[str | Path]
    Progress = Callable[["ProgressState"], None]
    Watch = Callable[[Window], None]


@dataclass(frozen=True, slots=True)
class ProgressState:
    """How far the reading of one file has come."""

    file: str
    bytes_done: int
    bytes_total: int | None
    records: int
    """Records of a dump, lines of a text."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to read, where a file does not tell or its telling is wrong."""

    code_page: str = DEFAULT_CODE_PAGE
    framing: Framing | None = None
    jobs: int | None = None
    progress: Progress | None = None
    system: str | None = None
    """Name of the system where the data do not have one."""
    day: date | None = None
    """Day of displays that show only the time of day."""
    clock: time | None = None
    """Time of day of displays that do not show it."""
    watch: Watch | None = None
    """Is shown all windows of a dump in the order of the file, each before its rows are delivered."""
    count: bool = False
    """Count the records of a dump while it is decoded, for its `contents`."""
    begin_at: int = 0
    """Records of a dump that begin before this byte are left out, as others have them already."""
    run: str | None = None
    """The benchmark run of supplied figures and reports that do not name theirs."""
    mapping: tuple[tuple[str, str], ...] = ()
    """Columns of supplied tables, and what a CSV or JSON calls them instead."""
    time_format: str | None = None
    """How times of a series are written, where that is not seen."""
    formatter_zone: str | None = None
    """Zone in which a formatter wrote moments of other clocks."""

    @property
    def formatter_clock(self) -> tzinfo | None:
        """That zone itself; raises a ValueError for what is none."""
        return None if self.formatter_zone is None else zone_of(self.formatter_zone)

    @property
    def page(self) -> CodePage:
        """The code page itself."""
        return code_page(self.code_page)


@dataclass(slots=True)
class FileSummary:
    """What one file turned out to be."""

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
    useless: bool = False
    """Readable text, as it turned out without anything to read."""
    skipped: bool = False
    """Not read, because none of the tables asked for comes from a file of this kind."""


class Source(Protocol):
    """One input, ready to be read in one of these ways, once."""

    summary: FileSummary

    def batches(self, selection: Selection) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The rows of the selected tables."""

    def inventory(self) -> pa.Table:
        """What is in it, counted."""

    def contents(self) -> pa.Table:
        """The same after the rows were read, as far as that came to see what is there."""

    def unpacked(self, out: BinaryIO) -> int:
        """Write it without packing, blocks and segments; returns the number of bytes."""


class NothingThereError(Exception):
    """Not one byte of a member could be read, which its stream has reported already."""


def members_of(paths: Paths, issues: Issues) -> Iterator[Member]:
    """Everything that some paths name, unwrapped; what cannot be opened becomes an issue."""
    named = [paths] if isinstance(paths, str) or not hasattr(paths, "__iter__") else paths
    for path, by_name in input_paths(named, issues):
        try:
            with open_input(path) as (file, size):
                yield from members(path, file, size, issues, named=by_name)
        except InputError as error:
            issues.add(error.issue)


def tell(summary: FileSummary, member: Member, options: Options) -> None:
    """Tell who asked how far the reading has come."""
    if options.progress:
        done = summary.records or summary.lines
        options.progress(ProgressState(member.name, member.done(), member.size, done))
