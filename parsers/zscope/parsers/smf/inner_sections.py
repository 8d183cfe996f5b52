"""Sections that other sections locate, and not the triplets of the header.

A section states where the sections inside it are, how long each is and how many there are. What it states is
compared with the record before it is used, as for triplets. Rows can be numbered by their place: the counters
of a set have no numbers of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.issues import Code
from zscope.parsers.smf.header import HEADER_WITH_SUBTYPE, LONGEST_RECORD
from zscope.parsers.smf.section_columns import gather_fields, storage
from zscope.parsers.smf.sections import SectionPlaces
from zscope.schemas import catalog

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from zscope.parsers.smf.header import Mask, Positions
    from zscope.parsers.smf.sections import RecordGroup
    from zscope.schemas import Section
    from zscope.schemas.model import RowNumbering

    _Outer = Sequence[tuple[Section, SectionPlaces]]
    """The section with the pointer, and the one that locates it."""


LEAST_GAP = 8
"""Bytes of the longest number: fewer bytes between sections only align them."""


def locate_inside(group: RecordGroup, section: Section, outer: _Outer) -> SectionPlaces:
    """Return the places of a section that another one locates, and report those outside their record."""
    base, places = outer[0]
    offset, length, number = (_part(group, name, outer) for name in section.pointer)
    record = places.record
    number = _usable(group, section, outer, offset, length, number)
    if not _has(base, section.pointer[0]):
        # One offset for all: the occurrences of each base section follow those of the one before.
        taken = np.cumsum(number * length) - number * length
        offset = offset + taken - _first_of_record(record, taken)
        number = _usable(group, section, outer, offset, length, number)
    within = np.repeat(np.arange(len(record)), number)
    begins: Positions = np.cumsum(number) - number
    index = np.arange(len(within)) - begins[within]
    starts: Positions = group.starts[record[within]] + offset[within] + index * length[within]
    everyone = np.arange(len(within))
    in_record = everyone - _first_of_record(record[within], everyone)
    return SectionPlaces(record[within], in_record, starts, length[within], within=within, index=index)


def _has(section: Section, name: str) -> bool:
    return any(field.name == name for field in section.fields)


def _part(group: RecordGroup, name: str, outer: _Outer) -> Positions:
    """Return a part of the pointer for each occurrence of the base section; 0 where it is absent."""
    base = outer[0][1]
    section, places = next(each for each in outer if _has(each[0], name))
    field = section.field(name)
    there = places.lengths >= field.end
    values = np.zeros(len(places.record), np.int64)
    values[there] = gather_fields(group.data, places.starts[there], storage([field]))[name]
    if places is base:
        return values
    if base.within is not None:
        return values[base.within]
    of_record = np.zeros(len(group), np.int64)
    of_record[places.record] = values
    return of_record[base.record]


def _first_of_record(record: Positions, values: Positions) -> Positions:
    """Return for each occurrence the value of the first one of its record."""
    begins = np.flatnonzero(np.diff(record, prepend=-1))
    return values[begins[np.searchsorted(begins, np.arange(len(record)), side="right") - 1]]


def _usable(
    group: RecordGroup,
    section: Section,
    outer: _Outer,
    offset: Positions,
    length: Positions,
    number: Positions,
) -> Positions:
    """Return how many of the occurrences that each pointer counts are inside their record."""
    base, places = outer[0]
    record, size = places.record, group.lengths[places.record]
    place = places.starts - group.starts[record]
    place = place + next((f.offset for f in base.fields if f.name in section.pointer), 0)

    def flag(code: Code, which: Mask, text: str) -> None:
        rows = np.flatnonzero(which)
        group.flag(code, record[rows], text, section.key, at=place[rows])

    claimed = number > 0
    empty = claimed & (length == 0)
    flag(Code.SECTION_EMPTY, empty, "the pointer gives a length of zero")
    outside = claimed & ~empty & ((offset < HEADER_WITH_SUBTYPE) | (offset + length > size))
    text = "the pointer is to a place outside the record; the section was skipped"
    flag(Code.SECTION_OUTSIDE, outside, text)
    usable = claimed & ~empty & ~outside
    fitting = np.zeros_like(number)
    np.floor_divide(size - offset, length, out=fitting, where=usable)
    text = "the pointer counts more sections than fit into the record; those that fit were read"
    flag(Code.SECTION_COUNT, usable & (number > fitting), text)
    found: Positions = np.where(usable, np.minimum(number, fitting), 0)
    # Sections that overlap could have more rows than the record has bytes, without end.
    taken: Positions = np.cumsum(found * length)
    before: Positions = taken - found * length
    beyond = (found > 0) & (taken - _first_of_record(record, before) > size)
    text = "the pointers count more bytes of sections than the record has; the section was skipped"
    flag(Code.SECTION_COUNT, beyond, text)
    kept: Positions = np.where(beyond, 0, found)
    return kept


def report_gaps(group: RecordGroup, placed: Mapping[str, SectionPlaces]) -> None:
    """Report records in which sections overlap, or leave bytes between them that have content.

    A number of sections that is too small is as valid as the right one, but it leaves bytes that no section
    has. A few bytes, and zeros, are padding.
    """
    record, begin, length = (
        np.concatenate(parts)
        for parts in zip(
            *((p.record, p.starts - group.starts[p.record], p.lengths) for p in placed.values()), strict=True
        )
    )
    order = np.lexsort((begin, record))
    record, begin, length = record[order], begin[order], length[order]
    key = record * (2 * LONGEST_RECORD)
    # The furthest end so far; that of the records before is less than where this one begins.
    furthest = np.maximum.accumulate(key + begin + length)
    following = np.append((key + begin)[1:], np.iinfo(np.int64).max)
    here = np.minimum(following, key + group.lengths[record])
    overlapping = np.unique(record[furthest > following])
    known = ~group.reported[overlapping]
    text = "sections overlap; all were read"
    group.flag(Code.SECTION_COUNT, overlapping[known], text, "")
    room = here - furthest
    gaps = np.flatnonzero(room >= LEAST_GAP)
    gaps = gaps[~group.reported[record[gaps]]]
    starts = group.starts[record[gaps]] + (furthest - key)[gaps]
    filled = [group.data[at : at + size].any() for at, size in zip(starts, room[gaps], strict=True)]
    left = np.unique(record[gaps[np.array(filled, np.bool_)]])
    text = "bytes with content are in no section: fewer sections are counted than there are; these were read"
    group.flag(Code.SECTION_COUNT, left, text, "")


def numbered(
    numbering: RowNumbering, rows: SectionPlaces, kinds: pa.Array, versions: Mapping[str, pa.Array]
) -> dict[str, pa.Array]:
    """Return index, number and name of rows by their place in their group; unknown ones are null."""
    assert rows.within is not None
    assert rows.index is not None
    index = rows.index
    first = pa.array(numbering.first.values(), pa.int64())
    begin = first.take(pc.index_in(kinds.cast(pa.int64()), pa.array(numbering.first.keys(), pa.int64())))
    number = pc.add(begin, pa.array(index, pa.int64()))
    counts = np.bincount(rows.within, minlength=1)[rows.within] if len(index) else index
    named = np.zeros(len(index), np.bool_)
    plain = number.fill_null(-1).to_numpy(zero_copy_only=False)
    for known in numbering.known:
        holds = (plain >= known.first) & (plain <= known.last)
        if known.count is not None:
            holds &= counts == known.count
        if known.version:
            holds &= _in_range(versions[known.version], known.least, known.most)
        named |= holds
    codes = catalog().codes[numbering.names].codes
    which = pc.index_in(number, pa.array(list(codes), pa.int64()))
    which = pc.if_else(pa.array(named), which, pa.scalar(None, pa.int32()))
    return {
        numbering.index.column: pa.array(index.astype(np.uint16)),
        numbering.number.column: number.cast(pa.uint16()),
        numbering.name.column: pa.DictionaryArray.from_arrays(which, list(codes.values())),
    }


def _in_range(version: pa.Array, least: int, most: int | None) -> NDArray[np.bool_]:
    numbers = version.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    inside: NDArray[np.bool_] = numbers >= least
    return inside if most is None else inside & (numbers <= most)
