"""Every declared section survives being written and read, at every kind of length it can have.

Values are chosen at random with a fixed seed: of each format the ends of its range, small ones, and others.
What must come back is worked out here from the declaration, not by the decoder: a field that does not lie
inside the section is null.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

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
LOCAL = (datetime(1950, 1, 2, tzinfo=UTC), datetime(2099, 12, 31, tzinfo=UTC))
CERTIFICATES = (datetime(1951, 1, 1, tzinfo=UTC), datetime(2099, 12, 31, tzinfo=UTC))
CLOCK = (datetime(1901, 1, 1, tzinfo=UTC), datetime(2042, 1, 1, tzinfo=UTC))


def _sections() -> list[Any]:
    parameters = [pytest.param(catalog().header, id="header")]
    for (record_type, subtype), record in catalog().records.items():
        parameters += [
            pytest.param(section, id=f"{record_type}-{subtype}-{section.key}")
            for section in record.sections
            if section.fields
        ]
    return parameters


def _whole(luck: Random, least: int, most: int) -> int:
    """Return a number of a range: one of the ends, a small one, or any."""
    small = min(max(luck.randint(-3, 300), least), most)
    return luck.choice(
        (luck.choice((least, most)), small, luck.randint(least, most), luck.randint(least, most))
    )


def _time(luck: Random, first: datetime, last: datetime, step: timedelta) -> datetime:
    return first + _whole(luck, 0, (last - first) // step) * step


def _value(luck: Random, field: Field) -> Any:  # noqa: ANN401 - of any format
    """Return a value that a field can hold, as its column shows it."""
    length = field.length or 12
    most = 256**length - 1
    digits = 10 ** (2 * length - 1) - 1
    values: dict[Format, Callable[[], Any]] = {
        Format.UINT: lambda: _whole_number(luck, field, most),
        Format.BITS: lambda: _whole(luck, 0, most),
        Format.INT: lambda: _whole(luck, -(most + 1) // 2, most // 2),
        Format.TEXT: lambda: "".join(luck.choices(LETTERS, k=_whole(luck, 0, length))),
        Format.HEX: lambda: luck.choice((bytes(length), b"\xff" * length, luck.randbytes(length))).hex(),
        Format.IP_MAPPED: lambda: _address(luck),
        Format.IP_FIRST4: lambda: _address(luck),
        Format.TIME_HUNDREDTHS: lambda: _time(luck, *LOCAL, timedelta(milliseconds=10)),
        Format.PACKED_TIME: lambda: _time(luck, *LOCAL, timedelta(seconds=1)),
        Format.PACKED_SPAN: lambda: _whole(luck, 0, 100 * 60_000 - 1),
        Format.PACKED_NUMBER: lambda: _whole(luck, -digits, digits),
        Format.TOD_LOCAL: lambda: _time(luck, *CLOCK, timedelta(microseconds=1)),
        Format.TOD: lambda: _time(luck, *CLOCK, timedelta(microseconds=1)),
        Format.TOD_SPAN: lambda: _whole(luck, 0, (1 << 52) - 1),
        Format.TOD_SPAN_SIGNED: lambda: _whole(luck, -(1 << 51), (1 << 51) - 1),
        Format.HEX_FLOAT: lambda: _whole(luck, -(1 << 50), 1 << 50) / 64,
        Format.CERT_TIME: lambda: _time(luck, *CERTIFICATES, timedelta(seconds=1)),
    }
    return values[field.format]()


def _whole_number(luck: Random, field: Field, most: int) -> int | None:
    """Return a number, or none where the field has a value for that."""
    value = _whole(luck, 0, most)
    if field.nothing is not None and (value == field.nothing or luck.random() < 0.2):
        return None
    return value * field.scale


def _address(luck: Random) -> str:
    if luck.random() < 0.5:
        return str(IPv4Address(_whole(luck, 0, (1 << 32) - 1)))
    return str(IPv6Address(_whole(luck, 1 << 64, (1 << 128) - 1)))


def _rows(luck: Random, section: Section, count: int) -> dict[str, list[Any]]:
    """Return values for each column; those on which the presence of a field depends are chosen to match."""
    rows: dict[str, list[Any]] = {}
    for field in section.columns:
        if field.length is not None and field.format is not Format.RAW:
            if field.evidence is Evidence.INFERRED:
                known = [str(code) for code in catalog().codes[field.codes].codes if len(str(code)) == 4]
                rows[field.column] = luck.choices(sorted(known), k=count)
            else:
                rows[field.column] = [_value(luck, field) for _ in range(count)]
    for field in section.columns:
        if field.size:
            sizes = [_whole(luck, 0, field.length or 0) for _ in range(count)]
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


def _other_fields(luck: Random, section: Section, count: int) -> dict[str, list[int]]:
    """Return values of the fields of other sections that determine whether a field is present."""
    elsewhere = {c.field: c for f in section.fields for c in f.when if not _is_here(section, c.field)}
    return {
        name: luck.choices((c.least, c.least - 1, c.bits), k=count) for name, c in sorted(elsewhere.items())
    }


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
    short = section.is_located and length < section.shortest_length
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


@pytest.mark.parametrize("section", _sections())
def test_section_round_trip(section: Section) -> None:
    luck = Random(section.key)
    for length in _lengths(section):
        for count in (1, 20):
            _section_round_trip(section, length, count, luck)


def _section_round_trip(section: Section, length: int, count: int, luck: Random) -> None:
    rows = _rows(luck, section, count)
    flags = np.zeros(count, np.uint8)
    _agree_on_ip_version(section, rows, flags)
    written = encode_section(section, _stored(section, rows), count, length).tobytes()
    assert len(written) == count * length
    others = _other_fields(luck, section, count)
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
    field = Field("N", 0, form, column, "M.", length)
    kind = arrow_type(field) if form is not Format.PACKED_DATE else pa.timestamp("us", "UTC")
    written = CODECS[form].encode(field, pa.nulls(2, kind), PAGE)
    blank = {Format.TEXT: b"\x40" * 4, Format.CERT_TIME: b"\x40" * 15, Format.PACKED_DATE: b"\0\0\0\x0f"}
    blank[Format.PACKED_TIME] = blank[Format.PACKED_DATE]
    assert written.tobytes() == blank.get(form, bytes(length)) * 2


def test_every_format_has_a_codec() -> None:
    assert set(CODECS) == set(Format)
