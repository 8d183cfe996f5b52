"""Cut large dumps into ranges, so that processes or machines can share the reading of one file.

The ranges are read apart with the results of the whole. A large dump is walked through without decoding, and
only places are used that the walk passes with nothing unfinished: before a record, or its block, that follows
complete records with good headers without a gap. From there a second walk takes the same decisions, whatever
is damaged before or after.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.api import reader_for
from zscope.parsers.inputs import STANDARD_INPUT, file_ranges, members, open_input
from zscope.parsers.issues import EmptyInputError, InputError, Issues
from zscope.parsers.options import DEFAULT_OPTIONS
from zscope.parsers.smf.chain import DESCRIPTOR, LONGEST_DETOUR
from zscope.parsers.smf.dump import Dump
from zscope.parsers.smf.framing import Framing
from zscope.parsers.smf.header import believable
from zscope.parsers.smf.walker import ENDLESS, WHOLE, WINDOW_BYTES, FrameReader, Span, Window, last_dump_mark
from zscope.schemas.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.file_range import FileRange
    from zscope.parsers.inputs import Paths
    from zscope.parsers.options import ReadOptions
    from zscope.parsers.smf.header import Positions

RANGE_BYTES = 256 << 20
GOOD_BEFORE = LONGEST_DETOUR + 1
"""So many good records before a cut end every detour over damaged headers that began before them."""
_Cut = tuple[int, tuple[int, int] | None]
"""Offset at which a span begins, and the block inside which this is."""


@dataclass(frozen=True, slots=True)
class RangePlan:
    """The ranges of some files, in the order of the files."""

    ranges: tuple[FileRange, ...]
    issues: Issues
    """What is in a folder but no input. Everything else is reported by those who read the ranges."""

    def __iter__(self) -> Iterator[FileRange]:
        """Iterate over the ranges."""
        return iter(self.ranges)

    def __len__(self) -> int:
        """Return the number of ranges."""
        return len(self.ranges)

    def __repr__(self) -> str:
        """Return the number of ranges and files."""
        files = len({part.path for part in self.ranges})
        return f"<RangePlan: {len(self):,} ranges of {files:,} files; {self.issues!r}>"


def plan_ranges(
    paths: Paths,
    size: int = RANGE_BYTES,
    options: ReadOptions = DEFAULT_OPTIONS,
    *,
    window: int = WINDOW_BYTES,
) -> RangePlan:
    """Cut dumps into ranges of about `size` bytes, which `read` and `scan` take like paths.

    The rows and issues of the ranges are together those of the whole files; `Issues.extend` collects issues.
    A dump that is larger than `size` is walked through for that, without decoding. Packed files, reports and
    small dumps become one range each, and so do dumps in which all records are in segments.

    `options` are those with which the ranges will be read. `window` is how much is read at a time.

    >>> plan = plan_ranges("sample-data/smf-sample.bin", size=100_000)
    >>> [part.span.first_record for part in plan][:2]
    [1, 82]
    >>> from zscope.parsers import read
    >>> whole = read("sample-data/smf-sample.bin", "smf119_tcp_term")["smf119_tcp_term"].num_rows
    >>> sum(read(part, "smf119_tcp_term")["smf119_tcp_term"].num_rows for part in plan) == whole
    True
    """
    if size < 1:
        raise SettingsError("", "", f"size is {size}: a range needs at least one byte")
    issues = Issues()
    named = [paths] if isinstance(paths, str) or not hasattr(paths, "__iter__") else paths
    planned = [part for file in file_ranges(named, issues) for part in _parts(file, size, options, window)]
    return RangePlan(tuple(planned), issues)


def _parts(file: FileRange, size: int, options: ReadOptions, window: int) -> Iterator[FileRange]:
    """The ranges of one file."""
    if not file.whole or file.path == STANDARD_INPUT:
        yield file
        return
    # A file that cannot be read stays whole: its reader reports why, as it reports all issues.
    with suppress(InputError, EmptyInputError), open_input(file.path) as (opened, length):
        file = replace(file, size=length)
        found = members(file.path, opened, length, Issues(), limits=options.limits)
        for member in found if (length or 0) > size else ():
            if member.packing:
                break
            reader = reader_for(member, options, Issues())
            if isinstance(reader, Dump):
                frames = FrameReader(member.stream, reader.framing, Issues(), window=window)
                cut = list(spans(frames, reader.framing, size))
                if len(cut) > 1:
                    yield from (replace(file, span=span, framing=reader.framing) for span in cut)
                    return
    yield file


def spans(reader: FrameReader, framing: Framing, size: int) -> Iterator[Span]:
    """Yield spans of about this many bytes, in order; the reader is at the beginning of the file."""
    current = WHOLE
    opened: tuple[int, int] | None = None
    for window in reader:
        indices = _cuts(window) if window.end_offset - current.begin >= size else np.empty(0, np.int64)
        changes = reader.block_changes() if framing is Framing.BLOCKS else []
        places = window.offsets[indices]
        at = 0
        while (at := max(at, int(np.searchsorted(places, current.begin + size)))) < len(indices):
            index = int(indices[at])
            at += 1
            if (cut := _cut(window, index, changes)) is None:
                continue
            yield replace(current, end=cut[0])
            number = window.first_record + index
            current = Span(cut[0], None, number, _open_dump(window, index, opened), cut[1])
        opened = _open_dump(window, len(window.starts), opened)
    yield current


def _cuts(window: Window) -> Positions:
    """The indices of the records of a window before which nothing is unfinished, apart from blocks."""
    good = ~window.spanned & believable(window.data, window.starts)
    fits = good.copy()
    for before in range(1, GOOD_BEFORE + 1):
        fits[before:] &= good[:-before]
        fits[:before] = False
    gaps = np.zeros(len(good), np.int64)
    gaps[1:] = window.offsets[1:] - window.offsets[:-1] - window.lengths[:-1]
    # Between two blocks is the length word of the second one.
    return np.flatnonzero(fits & ((gaps == 0) | (gaps == DESCRIPTOR)))


def _cut(window: Window, index: int, changes: list[tuple[int, int, int]]) -> _Cut | None:
    """Return the cut before a record; None if the walk has something to report about blocks there."""
    place = int(window.offsets[index])
    gap = place - int(window.offsets[index - 1] + window.lengths[index - 1])
    # One place for each change of the block; only in a dump without blocks there is none.
    here = [change for change in changes if change[0] == index]
    before = max((change for change in changes if change[0] < index), default=None)
    if before is None:
        return None if gap else (place, None)
    _, block, end = before
    if not gap and not here:
        return place, (block, end)
    begin = place - DESCRIPTOR
    # A block begins, where the one before it ends or none is known.
    regular = gap and len(here) == 1 and here[0][1] == begin and end in {begin, ENDLESS}
    return (begin, None) if regular else None


def _open_dump(window: Window, index: int, before: tuple[int, int] | None) -> tuple[int, int] | None:
    """The dump header without a trailer before a record of a window."""
    if not index:
        return before
    earlier = Window(
        window.data, window.starts[:index], window.lengths[:index], window.offsets[:index],
        window.spanned[:index], window.first_record, window.end_offset,
    )  # fmt: skip
    mark = last_dump_mark(earlier)
    return before if mark is None else mark[1]
