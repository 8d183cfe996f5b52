"""Sections that nothing locates, and the entries in them: they are where their text is.

ICSF writes who asked for something at a place that is not published, after a text of four letters. Such a
section says how long it is and how many entries it has, and each entry how long it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.issues import Code
from zscope.parsers.smf.header import HEADER_WITH_SUBTYPE
from zscope.parsers.smf.sections import NOWHERE, SectionPlaces
from zscope.parsers.text.coding import code_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.smf.sections import RecordGroup
    from zscope.schemas import Field, Section


def locate_marked(group: RecordGroup, section: Section, entry: Section) -> SectionPlaces:
    """Return where a section is in each record, and report those that extend past their record.

    Other values can contain the text: names do. What follows must be numbers that are possible; of several
    such places the first counts whose entries fill it, else the first.
    """
    assert section.mark is not None
    text, view = code_page().encode(section.mark.text), group.data.data
    found: list[tuple[int, int]] = []
    for index, (start, length) in enumerate(zip(group.starts.tolist(), group.lengths.tolist(), strict=True)):
        record = bytes(view[start : start + length])
        places = [at for at in _places_of(text, record) if _is_possible(record[at:], section, entry)]
        inside = [at for at in places if at + _numbers(record[at:], section)[0] <= length]
        whole = [at for at in inside if _is_filled(record[at:], section, entry)]
        if inside:
            found.append((index, (whole or inside)[0]))
        elif places:
            problem = "the section extends past the record; it was skipped"
            group.flag(Code.SECTION_OUTSIDE, np.array([index]), problem, section.key, at=places[0])
    if not found:
        return NOWHERE
    records, places_in = np.array(found, np.int64).T
    lengths = np.full(len(found), section.known_length)
    return SectionPlaces(records, np.zeros_like(records), group.starts[records] + places_in, lengths)


def _places_of(text: bytes, record: bytes) -> Iterator[int]:
    at = record.find(text, HEADER_WITH_SUBTYPE)
    while at >= 0:
        yield at
        at = record.find(text, at + 1)


def _is_possible(content: bytes, section: Section, entry: Section) -> bool:
    """Return whether the numbers after a text can be those of a section: the entries have room in it."""
    size, count = _numbers(content, section)
    return size >= section.known_length + count * _shortest(entry)


def _is_filled(content: bytes, section: Section, entry: Section) -> bool:
    size, count = _numbers(content, section)
    entries = [*_entries(content[:size], entry, section.known_length, count)]
    return len(entries) == count and sum(length for _, length in entries) == size - section.known_length


def entries_after(
    group: RecordGroup, section: Section, marked: Section, places: SectionPlaces
) -> SectionPlaces:
    """Return the places of the entries of marked sections; an entry of impossible length ends its section."""
    rows: list[tuple[int, int, int, int]] = []
    for index, start in zip(places.record.tolist(), places.starts.tolist(), strict=True):
        content = bytes(group.data.data[start : group.starts[index] + group.lengths[index]])
        size, count = _numbers(content, marked)
        entries = [*_entries(content[:size], section, marked.known_length, count)]
        rows += [(index, number, start + at, length) for number, (at, length) in enumerate(entries)]
        end = sum(entries[-1]) if entries else marked.known_length
        text = ""
        if len(entries) < count:
            text = "an entry is shorter than its fixed part or extends past its section; "
            text += "it and those after it were skipped"
        elif end < size:
            text = "bytes follow the entries that the section counts; they were skipped"
        if text:
            at = start - int(group.starts[index]) + end
            group.flag(Code.ENTRY_LENGTH, np.array([index]), text, section.key, section.step_field, at=at)
    if not rows:
        return NOWHERE
    return SectionPlaces(*np.array(rows, np.int64).T)


def _entries(content: bytes, section: Section, begin: int, count: int) -> Iterator[tuple[int, int]]:
    """Yield place and length of each entry, up to one whose length is not possible."""
    step = section.field(section.step_field)
    shortest = _shortest(section)
    at = begin
    for _ in range(count):
        if at + shortest > len(content):
            return
        length = _number(content[at:], step)
        if length < shortest or at + length > len(content):
            return
        yield at, length
        at += length


def _shortest(entry: Section) -> int:
    """Return the length of an entry without a value."""
    return max(field.offset for field in entry.fields)


def _numbers(content: bytes, section: Section) -> tuple[int, int]:
    """Return length and number of entries that a section states; 0 where the record ends before."""
    assert section.mark is not None
    size, count = section.field(section.mark.size), section.field(section.mark.count)
    return _number(content, size), _number(content, count)


def _number(content: bytes, field: Field) -> int:
    return int.from_bytes(content[field.offset : field.end], "big")
