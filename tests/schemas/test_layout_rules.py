"""House rules of the declarations, over every layout and code table there is."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from zscope.schemas import Evidence, Field, Format, Section, catalog
from zscope.schemas.arrow import arrow_type, table_schema
from zscope.schemas.model import unit_in
from zscope.schemas.reports import report_tables
from zscope.schemas.tables import ANY_RECORD_TABLES, columns_of, record_table_names

if TYPE_CHECKING:
    from collections.abc import Callable

TIMES = {
    Format.TIME_HUNDREDTHS, Format.PACKED_TIME, Format.TOD, Format.TOD_LOCAL, Format.CERT_TIME,
    Format.PACKED_DATE,
}  # fmt: skip


AVERAGES = {"cpu_us"}
"""Counted in whole microseconds by records, and supplied as an average of many round trips."""


def _sections() -> list[tuple[str, Section]]:
    sections = [("header", catalog().header)]
    for (record_type, subtype), record in catalog().records.items():
        sections += [(f"{record_type}-{subtype}-{section.key}", section) for section in record.sections]
    return sections


def for_each_section(test: Callable[[Section], None]) -> Callable[[list[Section]], None]:
    """Run a test for all sections of a record; thousands of tests of one section each would take minutes."""

    def run(sections: list[Section]) -> None:
        for section in sections:
            test(section)

    run.__name__ = test.__name__
    records = [([catalog().header], "header")]
    records += [(list(r.sections), f"{kind}-{subtype}") for (kind, subtype), r in catalog().records.items()]
    return pytest.mark.parametrize("sections", [pytest.param(s, id=name) for s, name in records])(run)


def _placed(section: Section) -> list[Field]:
    """The fields that take room of their own: all but a copy of the whole section."""
    return [field for field in section.fields if field.format is not Format.RAW]


@for_each_section
def test_fields_are_in_order_and_do_not_overlap(section: Section) -> None:
    fields = _placed(section)
    for before, after in pairwise(fields):
        assert before.length is not None, f"{before.name} takes the rest, but {after.name} follows"
        if _same_place(before, after):
            continue
        assert before.offset + before.length <= after.offset, f"{after.name} overlaps {before.name}"


def _same_place(one: Field, other: Field) -> bool:
    """One field shown twice, as people read it and in the units it was counted in."""
    place = (one.name, one.offset, one.length)
    return place == (other.name, other.offset, other.length) and one.format is not other.format


@for_each_section
def test_a_name_has_one_place(section: Section) -> None:
    places = {(field.name, field.offset, field.length) for field in section.fields}
    assert len(places) == len({field.name for field in section.fields})
    assert len(section.columns) == len({field.column for field in section.columns})


@for_each_section
def test_fields_lie_inside_the_known_length(section: Section) -> None:
    for field in _placed(section):
        inside = field.end <= section.known_length
        assert inside or field.evidence is Evidence.INFERRED, f"{field.name} ends at {field.end}"


@for_each_section
def test_lengths_grow_with_the_releases(section: Section) -> None:
    lengths = list((section.lengths or {}).values())
    assert lengths == sorted(lengths)


@for_each_section
def test_fields_are_described(section: Section) -> None:
    for field in section.fields:
        where = f"{field.name}: {field.meaning}"
        assert field.meaning.endswith("."), where
        assert field.meaning.isascii(), where
        assert re.fullmatch(r"[a-z][a-z0-9_]*", field.column), where
        assert field.source in catalog().sources, where
        assert field.length is None or field.length > 0, where


@for_each_section
def test_unit_and_name_agree(section: Section) -> None:
    for field in section.fields:
        assert unit_in(field.column) == field.unit, field.name


@for_each_section
def test_times_have_a_clock(section: Section) -> None:
    for field in section.fields:
        assert (field.format in TIMES) == field.column.endswith(("_utc", "_local")), field.name
        if field.format in {Format.TOD, Format.CERT_TIME}:
            assert field.column.endswith("_utc"), field.name
        if field.format is Format.TOD_LOCAL:
            assert field.column.endswith("_local"), field.name


@for_each_section
def test_the_value_for_absent_fits_into_the_number(section: Section) -> None:
    for field in section.fields:
        if field.nothing is not None:
            assert field.format is Format.UINT, field.name
            assert 0 < field.nothing < 256 ** (field.length or 0), field.name


def test_conditions_use_fields_that_compare_as_numbers() -> None:
    """Texts of other lengths than three are stored in the byte order of the machine."""
    for key, record in catalog().records.items():
        named = {field.name: field for section in record.sections for field in section.fields}
        for field in named.values():
            for condition in field.when:
                other = named[condition.field]
                number = other.format in {Format.UINT, Format.BITS, Format.TOD} or other.length == 3
                assert number, f"{key}: {field.name} uses {other.name}"
                assert condition.bits or condition.least, f"{key}: {field.name}"


@for_each_section
def test_partners_exist_and_are_needed(section: Section) -> None:
    for field in section.fields:
        needs = {
            Format.TIME_HUNDREDTHS: field.date,
            Format.PACKED_TIME: field.date,
            Format.CERT_TIME: field.form,
            Format.IP_FIRST4: field.v6_flag,
        }
        assert needs.get(field.format, "nothing needed"), (
            f"{field.name} cannot be decoded without its partner"
        )
        if field.date:
            assert section.field(field.date).format is Format.PACKED_DATE, field.name
            assert section.field(field.date).column == field.column, field.name
        if field.size:
            assert field.format is Format.HEX, field.name


def test_every_packed_date_completes_a_time() -> None:
    for name, section in _sections():
        dates = {field.name for field in section.fields if field.format is Format.PACKED_DATE}
        assert dates == {field.date for field in section.fields if field.date}, name


@for_each_section
def test_code_tables_exist_and_fit(section: Section) -> None:
    for field in section.fields:
        if not field.codes:
            assert field.evidence is not Evidence.INFERRED, f"{field.name}: only a known value is believed"
            continue
        table = catalog().codes[field.codes]
        assert (table.kind == "text") == (field.format is Format.TEXT), field.name
        bits = 8 * (field.length or 0)
        least, limit = (-1 << bits - 1, 1 << bits - 1) if field.format is Format.INT else (0, 1 << bits)
        for code in table.codes:
            assert isinstance(code, str) or least <= code < limit, field.name


def test_every_code_table_is_used() -> None:
    used = {field.codes for _, section in _sections() for field in section.fields}
    used |= {field.codes for table in report_tables().values() for field in table.fields}
    used |= {table.numbering.names for _, table in catalog().tables() if table.numbering}
    assert set(catalog().codes) - used == set()


def test_one_name_one_type_one_unit() -> None:
    seen: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for table in record_table_names():
        for column in columns_of(table):
            for declared in (column.field, *(field for _, field in column.others)):
                seen[column.name].add((str(arrow_type(declared)), declared.unit))
    for report in report_tables().values():
        for field in report.fields:
            seen[field.column].add((str(arrow_type(field)), field.unit))
    # Types in an extended header do not fit into the one byte of the standard header.
    assert seen["record_type"] == {("uint8", ""), ("uint16", "")}
    assert {name for name, kinds in seen.items() if len(kinds) > 1} == AVERAGES | {"record_type"}
    assert all({unit for _, unit in seen[name]} == {"us"} for name in AVERAGES)


@pytest.mark.parametrize("table", record_table_names())
def test_columns_of_a_table_are_distinct_and_the_grain_is_among_them(table: str) -> None:
    names = [column.name for column in columns_of(table)]
    assert len(names) == len(set(names))
    if table in report_tables():
        assert set(table_schema(table).names) == {*names, *(f.column for f in report_tables()[table].fields)}
    else:
        assert table_schema(table).names == names
    if table not in ANY_RECORD_TABLES:
        _, layout = catalog().table(table)
        assert set(layout.grain) <= set(names)
        assert layout.meaning.endswith(".")


def test_joined_sections_occur_once() -> None:
    for layout in catalog().records.values():
        for table in layout.tables:
            for join in table.joins:
                section = layout.section(join.section)
                locates_rows = all(layout.section(row).base == section.key for row in table.rows)
                repeats = section.repeats and not locates_rows
                assert not repeats, f"{table.name} joins {section.key}, which repeats"
                known = {field.column for field in section.columns}
                assert set(join.columns or ()) <= known


def test_every_located_section_has_its_own_triplet() -> None:
    for key, record in catalog().records.items():
        triplets = [section.triplet for section in record.sections if section.triplet is not None]
        assert len(triplets) == len(set(triplets)), key


def test_triplets_are_counted_by_the_record_or_by_the_layout() -> None:
    for key, record in catalog().records.items():
        area = record.triplets
        if area is None:
            placed = [section for section in record.sections if section.mark or section.base]
            assert [section.key for section in record.sections if section not in placed] == ["header"], key
            continue
        assert (area.count_at is None) == (area.number is not None), key
        located = [section.triplet for section in record.sections if section.triplet is not None]
        # Where the layout does not count them, some can be of sections that it does not know.
        known = list(range(len(located) if area.places else area.number or 0))
        assert area.number is None or sorted(located) == known, key


def test_every_section_with_fields_reaches_a_table() -> None:
    for key, record in catalog().records.items():
        reached = {"header", *(rows for table in record.tables for rows in table.rows)}
        reached |= {join.section for table in record.tables for join in table.joins}
        reached |= {section.base for section in record.sections if section.key in reached}
        for section in record.sections:
            assert section.key in reached or section.base or not section.fields, f"{key}: {section.key}"
