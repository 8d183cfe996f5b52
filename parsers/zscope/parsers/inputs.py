"""From the paths a caller names to a reader for each dump behind them; all else becomes an issue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zscope.parsers.containers.source import Member, input_paths, members, open_input
from zscope.parsers.containers.terse import foreign_terse
from zscope.parsers.issues import Code, InputError, Issues
from zscope.parsers.smf.ebcdic import DEFAULT_CODE_PAGE, CodePage, code_page
from zscope.parsers.smf.frames import FrameReader, Window
from zscope.parsers.smf.framing import HEAD_BYTES, Framing, detect
from zscope.parsers.smf.refusal import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    Paths = str | Path | Iterable[str | Path]
    Progress = Callable[["ProgressState"], None]


@dataclass(frozen=True, slots=True)
class ProgressState:
    """How far the reading of one file has come."""

    file: str
    bytes_done: int
    bytes_total: int | None
    records: int


@dataclass(frozen=True, slots=True)
class Options:
    """How to read, where a file does not tell or its telling is wrong."""

    code_page: str = DEFAULT_CODE_PAGE
    framing: Framing | None = None
    jobs: int | None = None
    progress: Progress | None = None

    @property
    def page(self) -> CodePage:
        """The code page itself."""
        return code_page(self.code_page)


@dataclass(slots=True)
class FileSummary:
    """What one file turned out to be."""

    file: str
    packing: tuple[str, ...]
    framing: Framing
    records: int = 0
    spanned: int = 0
    bytes: int = 0
    """After unpacking."""

    def count(self, window: Window) -> None:
        """Take the records of a window into account."""
        self.records += len(window.starts)
        self.spanned += int(window.spanned.sum())
        self.bytes = window.end_offset


class NothingThereError(Exception):
    """Not one byte of a member could be read, which its stream has reported already."""


def members_of(paths: Paths, issues: Issues) -> Iterator[Member]:
    """Everything that some paths name, unwrapped; what cannot be opened becomes an issue."""
    named = [paths] if isinstance(paths, str) or not hasattr(paths, "__iter__") else paths
    for path in input_paths(named, issues):
        try:
            with open_input(path) as (file, size):
                yield from members(path, file, size, issues)
        except InputError as error:
            issues.add(error.issue)


def readers(
    paths: Paths, options: Options, issues: Issues
) -> Iterator[tuple[Member, FrameReader, FileSummary]]:
    """A reader for each input that is a dump; all else becomes an issue."""
    for member in members_of(paths, issues):
        try:
            reader, summary = reader_of(member, options, issues)
        except NothingThereError:
            continue
        except InputError as error:
            issues.add(error.issue)
            continue
        yield member, reader, summary


def reader_of(member: Member, options: Options, issues: Issues) -> tuple[FrameReader, FileSummary]:
    """A reader for one member, framed as it says or as the caller knows."""
    head = member.stream.peek(HEAD_BYTES + 1)
    if not head and member.stream.damaged:
        raise NothingThereError
    if foreign_terse(head):
        raise InputError(refuse(head, member.name, Code.TERSE_FOREIGN))
    framing = options.framing or detect(head[:HEAD_BYTES], whole=len(head) <= HEAD_BYTES, file=member.name)
    reader = FrameReader(member.stream, framing, issues, member.name)
    return reader, FileSummary(member.name, member.packing, framing)


def advance(summary: FileSummary, window: Window, member: Member, options: Options) -> None:
    """Count a window, and tell who asked how far the reading has come."""
    summary.count(window)
    if options.progress:
        options.progress(ProgressState(member.name, member.done(), member.size, summary.records))
