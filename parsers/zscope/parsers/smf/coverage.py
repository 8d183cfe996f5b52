"""Find sections that no triplet locates, by the bytes of a record that belong to none of its sections.

A count that is too small is as valid as the right one, but it leaves bytes between the sections. Usually the
header, the triplets and all sections have exactly the length of the record; only the other records are
examined, and an issue is reported only if the bytes fit further sections, a further triplet or a record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zscope.parsers.issues import Code, Issue
from zscope.parsers.smf.header import HEADER_LENGTH, gather
from zscope.schemas.model import TRIPLET_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from zscope.parsers.smf.header import Mask, Positions
    from zscope.parsers.smf.sections import RecordGroup
    from zscope.schemas import RecordLayout


class PlacedTriplet(NamedTuple):
    """A triplet, and its position among those of the record."""

    position: int
    offset: int
    length: int
    number: int

    @property
    def end(self) -> int:
        """The end of the last section."""
        return self.offset + self.length * self.number


class Uncovered(NamedTuple):
    """Bytes of a record that look like a part of which no triplet knows."""

    code: Code
    text: str
    at: int
    """Offset in the record of what is wrong: a triplet or the number of triplets."""
    begin: int
    end: int
    triplet: int | None = None


def report_uncovered(group: RecordGroup, layout: RecordLayout) -> None:
    """Report records whose triplets count too few or too many sections, unless another issue was reported.

    Only records that state the number of their triplets are checked: others can have triplets that their
    layout does not know.
    """
    if group.area.count_at is None:
        return
    of_any_length = {section.triplet for section in layout.sections if section.step_field}
    triplets = int(group.triplet_counts.max(initial=0))
    covered = group.area.offset(0) + TRIPLET_BYTES * group.triplet_counts
    for index in range(triplets):
        column = group.triplets(index)
        sizes = column.length * column.number
        if column.which is not None:
            sizes = sizes[column.which]
        if index in of_any_length:
            offsets = column.offset if column.which is None else column.offset[column.which]
            sizes = np.where(sizes > 0, group.lengths - offsets, 0)
        covered = covered + sizes
    rows = np.flatnonzero((covered != group.lengths) & ~group.reported)
    if len(rows):
        _examine(group, layout, rows, triplets, of_any_length)


def _examine(
    group: RecordGroup, layout: RecordLayout, rows: Positions, triplets: int, of_any_length: set[int | None]
) -> None:
    """Examine records once for each different content of their triplets."""
    area = group.area
    words = gather(group.data, group.starts[rows] + area.at, TRIPLET_BYTES * (triplets + 1))
    words = words.view(">u8").astype(np.uint64)
    counts = group.triplet_counts[rows].astype(np.uint64)
    shapes = np.column_stack([words, counts, group.lengths[rows].astype(np.uint64)])
    different, which = np.unique(shapes, axis=0, return_inverse=True)
    keys = {section.triplet: section.key for section in layout.sections}
    for number, shape in enumerate(different.tolist()):
        *stated, count, length = shape
        placed = [
            PlacedTriplet(index, word >> 32, word >> 16 & 0xFFFF, word & 0xFFFF)
            for index, word in enumerate(stated[: count + 1])
        ]
        problem = next(_problems(placed, length, area.offset(count), of_any_length), None)
        if problem is None:
            continue
        same = rows[which.ravel() == number]
        content = gather(group.data, group.starts[same] + problem.begin, problem.end - problem.begin)
        if problem.code is Code.DAMAGED_RANGE:
            _report_records(group, same[_has_length_word(content)], problem)
        else:
            at = area.count_at if problem.triplet is None else problem.at
            section = keys.get(problem.triplet, "")
            group.flag(problem.code, same[content.any(axis=1)], problem.text, section, at=at or 0)


def _problems(
    placed: list[PlacedTriplet], length: int, area_end: int, of_any_length: set[int | None]
) -> Iterator[Uncovered]:
    """Yield what can be wrong with a record; the last of `placed` is the word after its triplets."""
    *stated, following = placed
    present = [each for each in stated if each.number and each.length]
    known = [each for each in present if each.position not in of_any_length]
    if any(each.offset < area_end or each.end > length for each in known):
        return  # a triplet that no section of the layout uses, or that is damaged
    begins = sorted(each.offset for each in present) or [length]
    last = max((length if each.position in of_any_length else each.end for each in present), default=area_end)
    for each in stated:
        if not each.length or not area_end <= each.offset < length:
            continue
        limit = min((begin for begin in begins if begin > each.offset), default=length)
        room = limit - each.end
        if each.position in of_any_length:  # only its first section is known to have bytes
            if each.number:
                continue
            room -= room % each.length
        inside = any(other.offset < each.end < other.end for other in present)
        at = area_end - TRIPLET_BYTES * (len(stated) - each.position)
        if room < 0:
            text = "the triplet counts sections that overlap the next one; all were read"
            yield Uncovered(Code.SECTION_COUNT, text, at, limit, each.end, each.position)
        elif room >= each.length and room % each.length == 0 and not inside and each.end not in begins:
            text = "the triplet counts fewer sections than there are before the next one; these were read"
            yield Uncovered(Code.SECTION_COUNT, text, at, each.end, limit, each.position)
    counted = 1 if following.position in of_any_length else following.number
    fits = begins[0] <= following.offset <= length - following.length * counted and following.number
    if begins[0] - area_end >= TRIPLET_BYTES and fits and following.offset not in begins:
        text = "counts fewer triplets than there are before the first section; those that it counts were used"
        yield Uncovered(Code.TRIPLETS_OUTSIDE, text, 0, area_end, area_end + TRIPLET_BYTES)
    if length - last >= HEADER_LENGTH:
        text = "another record follows the last section: the length word of this record is wrong"
        yield Uncovered(Code.DAMAGED_RANGE, text, 0, last, length)


def _has_length_word(tails: NDArray[np.uint8]) -> Mask:
    """Whether the bytes begin with the length word of a record that fits into them."""
    words = tails[:, :4].astype(np.int64)
    lengths = words[:, 0] << 8 | words[:, 1]
    inside: Mask = (lengths >= HEADER_LENGTH) & (lengths <= tails.shape[1])
    fits: Mask = inside & (words[:, 2] < 4) & (words[:, 3] == 0)
    return fits


def _report_records(group: RecordGroup, records: Positions, problem: Uncovered) -> None:
    for number, offset in zip(group.numbers[records].tolist(), group.offsets[records].tolist(), strict=True):
        begin, end = offset + problem.begin, offset + problem.end
        group.issues.add(Issue(problem.code, problem.text, group.file, number, begin, end))
