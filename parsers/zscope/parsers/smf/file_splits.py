"""Places at which a dump can be cut into spans that are read apart with the results of the whole.

The whole file is walked through without decoding, and only places are used that the walk passes with nothing
unfinished: before a record, or its block, that follows complete records with good headers without a gap.
From there a second walk takes the same decisions, whatever is damaged before or after.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.smf.chain import DESCRIPTOR, LONGEST_DETOUR
from zscope.parsers.smf.framing import Framing
from zscope.parsers.smf.header import believable
from zscope.parsers.smf.walker import ENDLESS, WHOLE, Span, Window, last_dump_mark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.smf.header import Positions
    from zscope.parsers.smf.walker import FrameReader

GOOD_BEFORE = LONGEST_DETOUR + 1
"""So many good records before a cut end every detour over damaged headers that began before them."""


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


Cut = tuple[int, tuple[int, int] | None]
"""Offset at which a span begins, and the block inside which this is."""


def _cut(window: Window, index: int, changes: list[tuple[int, int, int]]) -> Cut | None:
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
