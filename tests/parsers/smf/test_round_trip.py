"""Every declared section survives being written and read, at every kind of length it can have.

Values are drawn for each format; what must come back is worked out here from the declaration, not by
the decoder: a field that does not lie inside the section is null.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zscope.parsers.issues import Code, Issues
from zscope.parsers.smf.codecs import CODECS
from zscope.parsers.smf.record_writer import encode_section
from zscope.parsers.smf.section_columns import SectionReader
from zscope.parsers.smf.sections import RecordGroup, SectionPlaces
from zscope.parsers.smf.walker import SLACK, Window
from zscope.parsers.text.coding import code_page
from zscope.schemas import Evidence, Field, Format, Section, catalog
from zscope.schemas.arrow import arrow_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zscope.schemas.model import Condition

PAGE = code_page()
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789#@$.-[]^"
IPV6_FLAG = 0x80


def _sections() -> list[Any]:
    parameters = [pytest.param(catalog().header, id="header")]
    for (record_type, subtype), record in catalog().records.items():
        parameters += [
            pytest.param(section, id=f"{record_type}-{subtype}-{section.key}")
            for section in record.sections
            if section.fields
        ]
    return parameters


def _times(first: datetime, last: datetime, step: timedelta) -> st.SearchStrategy[datetime]:
    steps = (last - first) // step
    return st.integers(0, steps).map(lambda count: first + count * step)


def _values(field: Field) -> st.SearchStrategy[Any]:
    """What a field can hold, as its column shows it."""
    length = field.length or 12
    local = _times(
        datetime(1950, 1, 2, tzinfo=UTC), datetime(2099, 12, 31, tzinfo=UTC), timedelta(milliseconds=10)
    )
    clock = _times(
        datetime(1901, 1, 1, tzinfo=UTC), datetime(2042, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
    )
    strategies: dict[Format, st.SearchStrategy[Any]] = {
        Format.UINT: _whole_numbers(field, length),
        Format.BITS: st.integers(0, 256**length - 1),
        Format.INT: st.integers(-(256**length // 2), 256**length // 2 - 1),
        Format.TEXT: st.text(LETTERS, max_size=length),
        Format.HEX: st.binary(min_size=length, max_size=length).map(bytes.hex),
        Format.IP_MAPPED: _addresses(),
        Format.IP_FIRST4: _addresses(),
        Format.TIME_HUNDREDTHS: local,
        Format.PACKED_TIME: local.map(lambda time: time.replace(microsecond=0)),
        Format.PACKED_SPAN: st.integers(0, 100 * 60_000 - 1),
        Format.PACKED_NUMBER: st.integers(-(10 ** (2 * length - 1) - 1), 10 ** (2 * length - 1) - 1),
        Format.TOD_LOCAL: clock,
        Format.TOD: clock,
        Format.TOD_SPAN: st.integers(0, (1 << 52) - 1),
        Format.TOD_SPAN_SIGNED: st.integers(-(1 << 51), (1 << 51) - 1),
        Format.HEX_FLOAT: st.integers(-(1 << 50), 1 << 50).map(lambda value: value / 64),
        Format.CERT_TIME: _times(
            datetime(1951, 1, 1, tzinfo=UTC), datetime(2099, 12, 31, tzinfo=UTC), timedelta(seconds=1)
        ),
    }
    return strategies[field.format]


def _whole_numbers(field: Field, length: int) -> st.SearchStrategy[int | None]:
    """Numbers, and none where the field has a value for that."""
    numbers = st.integers(0, 256**length - 1).filter(lambda value: value != field.nothing)
    scaled = numbers.map(lambda value: value * field.scale)
    return scaled if field.nothing is None else st.none() | scaled


def _addresses() -> st.SearchStrategy[str]:
    four = st.integers(0, (1 << 32) - 1).map(lambda value: str(IPv4Address(value)))
    six = st.integers(1 << 64, (1 << 128) - 1).map(lambda value: str(IPv6Address(value)))
    return four | six


@st.composite
def _rows(draw: st.DrawFn, section: Section, count: int) -> dict[str, list[Any]]:
    """Values for each column, consistent where fields tell of each other."""
    rows: dict[str, list[Any]] = {}
    for field in section.columns:
        if field.length is not None and field.format is not Format.RAW:
            if field.evidence is Evidence.INFERRED:
                known = sorted(
                    str(code) for code in catalog().codes[field.codes].codes if len(str(code)) == 4
                )
                rows[field.column] = draw(st.lists(st.sampled_from(known), min_size=count, max_size=count))
            else:
                rows[field.column] = draw(st.lists(_values(field), min_size=count, max_size=count))
    for field in section.columns:
        if field.size:
            sizes = draw(st.lists(st.integers(0, field.length or 0), min_size=count, max_size=count))
            rows[section.field(field.size).column] = list(sizes)
            values = rows[field.column]
            rows[field.column] = [
                value[: 2 * size] or None for value, size in zip(values, sizes, strict=True)
            ]
        if field.form:
            rows[section.field(field.form).column] = [2] * count
    for before, after in pairwise(section.columns):
        if before.name == after.name:
            assert (before.format, after.format) == (Format.TOD_SPAN, Format.UINT)
            rows[before.column] = [units >> 12 for units in rows[after.column]]
    return rows


@st.composite
def _other_fields(draw: st.DrawFn, section: Section, count: int) -> dict[str, list[int]]:
    """Values of the fields of other sections that determine whether a field is present."""
    elsewhere = {c.field: c for f in section.fields for c in f.when if not _is_here(section, c.field)}
    values = {name: st.sampled_from([c.least, c.least - 1, c.bits]) for name, c in elsewhere.items()}
    return {name: draw(st.lists(value, min_size=count, max_size=count)) for name, value in values.items()}


def _stored(section: Section, rows: dict[str, list[Any]]) -> dict[str, pa.Array]:
    """The values as Arrow columns of the declared types."""
    columns = {}
    for field in section.columns:
        if field.column in rows:
            values = rows[field.column]
            kind = arrow_type(field)
            if pa.types.is_timestamp(kind) and kind.tz is None:
                values = [value.replace(tzinfo=None) for value in values]
            columns[field.column] = pa.array(values, kind)
    return columns


def _decode(
    section: Section, data: bytes, count: int, length: int, peek: Callable[[str], np.ndarray[Any, Any]]
) -> Mapping[str, Any]:
    """Read back-to-back sections of one length."""
    buffer = np.frombuffer(data + bytes(SLACK), np.uint8)
    starts = np.arange(count, dtype=np.int64) * length
    everyone = np.arange(count)
    lengths = np.full(count, length, np.int64)
    window = Window(buffer, starts, lengths, starts, np.zeros(count, np.bool_), 1, len(data))
    issues = Issues()
    group = RecordGroup(window, everyone, issues, "test")
    reader = SectionReader(group, section, SectionPlaces(everyone, everyone * 0, starts, lengths), PAGE, peek)
    columns = reader.columns([field.column for field in section.columns])
    short = section.triplet is not None and length < section.shortest_length
    codes = {issue.code for issue in issues} - {Code.SECTION_LONGER}
    assert codes == ({Code.SECTION_SHORTER} if short else set())
    return columns


def _lengths(section: Section) -> list[int]:
    """Known lengths, a little less, a little more, and one that cuts a field in two."""
    if section.step_field or not section.lengths:
        return [section.known_length]
    known = sorted(set(section.lengths.values()))
    last = section.fields[-1]
    cut = [last.end - 1] if (last.length or 0) > 1 and last.end <= known[-1] else []
    return sorted({*known, known[0] - 1, known[-1] + 8, section.fields[0].end, *cut} - {0})


def _holds(condition: Condition, value: int | datetime | None) -> bool:
    """Whether a condition holds for the value of another field; a time is a number above 0 in the record."""
    if not isinstance(value, int):
        return value is not None or condition.least == 0
    return value & condition.bits == condition.bits and value >= condition.least


def _section_round_trip(section: Section, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 3), "count")
    length = data.draw(st.sampled_from(_lengths(section)), "length")
    rows = data.draw(_rows(section, count), "rows")
    flags = np.zeros(count, np.uint8)
    _agree_on_ip_version(section, rows, flags)
    written = encode_section(section, _stored(section, rows), count, length).tobytes()
    assert len(written) == count * length
    others = data.draw(_other_fields(section, count), "other fields")
    peek = {name: np.array(values, np.uint32) for name, values in others.items()}
    decoded = _decode(section, written, count, length, lambda name: peek.get(name, flags))
    others |= {f.name: rows[f.column] for f in section.columns if f.column in rows}
    for field in section.columns:
        if field.length is None:
            continue
        needed = max([field.end, *(section.field(n).end for n in field.partners if _is_here(section, n))])
        expected = rows[field.column] if needed <= length else [None] * count
        for condition in field.when:
            present = [_holds(condition, value) for value in others[condition.field]]
            expected = [value if here else None for value, here in zip(expected, present, strict=True)]
        if field.unless:
            met = [[_holds(c, value) for value in others[c.field]] for c in field.unless]
            expected = [None if all(each) else value for value, *each in zip(expected, *met, strict=True)]
        actual = decoded[field.column].to_pylist()
        if pa.types.is_timestamp(decoded[field.column].type) and decoded[field.column].type.tz is None:
            actual = [value and value.replace(tzinfo=UTC) for value in actual]
        assert actual == expected, field.name


_CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large]


@pytest.mark.parametrize("section", _sections())
@settings(max_examples=2, suppress_health_check=_CHECKS)
@given(data=st.data())
def test_section_round_trip(section: Section, data: st.DataObject) -> None:
    _section_round_trip(section, data)


@pytest.mark.deep
@pytest.mark.parametrize("section", _sections())
@settings(max_examples=50, suppress_health_check=_CHECKS)
@given(data=st.data())
def test_section_round_trip_of_many_values(section: Section, data: st.DataObject) -> None:
    _section_round_trip(section, data)


def _is_here(section: Section, name: str) -> bool:
    return any(field.name == name for field in section.fields)


def _agree_on_ip_version(section: Section, rows: dict[str, list[Any]], flags: np.ndarray[Any, Any]) -> None:
    """Set the flag of the IP version from the first address of a row, and change the others to it."""
    fields = [field for field in section.columns if field.format is Format.IP_FIRST4]
    for row in range(len(flags)):
        six = bool(fields) and ":" in rows[fields[0].column][row]
        flags[row] = IPV6_FLAG if six else 0
        for field in fields:
            if (":" in rows[field.column][row]) != six:
                rows[field.column][row] = "2001:db8::1" if six else "192.0.2.1"
            if _is_here(section, field.v6_flag):
                column = section.field(field.v6_flag).column
                rows[column][row] = rows[column][row] & 0x7F | int(flags[row])


@pytest.mark.parametrize("form", sorted(Format))
def test_absent_values_are_written_as_absent(form: Format) -> None:
    """Null goes out as what the format uses for nothing, and where the format has such a thing comes back."""
    clocks = (Format.TOD, Format.TOD_LOCAL, Format.TOD_SPAN, Format.TOD_SPAN_SIGNED)
    length = 8 if form in (*clocks, Format.HEX_FLOAT) else 4
    length = {Format.IP_FIRST4: 16, Format.IP_MAPPED: 16, Format.CERT_TIME: 15}.get(form, length)
    column = "time_utc" if "time" in form or "date" in form or form is Format.TOD else "value"
    column = "time_local" if form is Format.TOD_LOCAL else column
    field = Field("N", 0, length, form, column, "M.")
    kind = arrow_type(field) if form is not Format.PACKED_DATE else pa.timestamp("us", "UTC")
    written = CODECS[form].encode(field, pa.nulls(2, kind), PAGE)
    blank = {Format.TEXT: b"\x40" * 4, Format.CERT_TIME: b"\x40" * 15, Format.PACKED_DATE: b"\0\0\0\x0f"}
    blank[Format.PACKED_TIME] = blank[Format.PACKED_DATE]
    assert written.tobytes() == blank.get(form, bytes(length)) * 2


def test_every_format_has_a_codec() -> None:
    assert set(CODECS) == set(Format)
