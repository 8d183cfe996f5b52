"""Records of ICSF (SMF 82), of which only the header has a layout."""

from __future__ import annotations

import random
import struct
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zscope.parsers import Code, inventory, read
from zscope.schemas import catalog

if TYPE_CHECKING:
    from pathlib import Path

DATE, SYSTEM = bytes.fromhex("0126061f"), "SYSA".encode("cp037")
NOON = datetime(2026, 3, 2, 12)  # noqa: DTZ001 - local


def icsf(subtype: int, body: bytes = b"") -> bytes:
    """Return a record, by the offsets of the manual's table."""
    record = bytearray(24) + body
    struct.pack_into(">HHBBI", record, 0, len(record), 0, 0x5E, 82, 4_320_000)
    struct.pack_into(">4s4s4sH", record, 10, DATE, SYSTEM, bytes(4), subtype)
    return bytes(record)


def rows_of(folder: Path, content: bytes, tables: str) -> tuple[list[list[dict[str, Any]]], list[Code]]:
    path = folder / "dump.smf"
    path.write_bytes(content)
    result = read(path, tables)
    return [rows.to_pylist() for rows in result.values()], [issue.code for issue in result.issues]


def test_a_record_has_its_subtype_and_length(tmp_path: Path) -> None:
    ([*rows],), issues = rows_of(tmp_path, icsf(42, bytes(100)) + icsf(1), "smf82_record")
    common = {"system": "SYSA", "written_local": NOON}
    assert rows == [
        {"record_no": 1, "record_offset": 0, **common, "record_subtype": 42, "record_length": 124},
        {"record_no": 2, "record_offset": 124, **common, "record_subtype": 1, "record_length": 24},
    ]
    assert issues == []


@pytest.mark.parametrize("subtype", [1, 18, 31, 42, 46, 49])
def test_the_bytes_of_any_body_are_kept_and_no_issue(tmp_path: Path, subtype: int) -> None:
    records = [icsf(subtype, random.Random(seed).randbytes(8 * seed)) for seed in range(40)]
    (rows, raw), issues = rows_of(
        tmp_path, b"".join(records), "smf82_record,smf_raw[record_subtype,part,bytes]"
    )
    assert [row["record_length"] for row in rows] == [len(record) for record in records]
    assert raw == [{"record_subtype": subtype, "part": "record", "bytes": record} for record in records]
    assert issues == []


@pytest.mark.parametrize("subtype", [0, 2, 43, 50, 65535])
def test_an_unknown_subtype_is_counted(tmp_path: Path, subtype: int) -> None:
    assert rows_of(tmp_path, icsf(subtype), "smf82_record") == ([[]], [])
    (raw,), _ = rows_of(tmp_path, icsf(subtype), "smf_raw[record_type,record_subtype]")
    assert raw == [{"record_type": 82, "record_subtype": subtype}]
    counted = inventory(tmp_path / "dump.smf").rows.select(["record_type", "record_subtype", "records"])
    assert [tuple(row.values()) for row in counted.to_pylist()] == [(82, subtype, 1)]


@pytest.mark.parametrize("length", [18, 22, 23])
def test_a_record_that_is_too_short_for_a_subtype_has_none(tmp_path: Path, length: int) -> None:
    short = length.to_bytes(2, "big") + icsf(42)[2:length]
    (rows,), issues = rows_of(tmp_path, icsf(42) + short + icsf(42), "smf82_record[record_no]")
    assert ([row["record_no"] for row in rows], issues) == ([1, 3], [])


def test_every_subtype_has_a_text() -> None:
    subtypes = {subtype for kind, subtype in catalog().records if kind == 82}
    assert subtypes == set(catalog().codes["smf82_subtype"].codes)


def test_a_wrong_byte_loses_no_record_without_a_sign(tmp_path: Path) -> None:
    good = icsf(42, b"\xc1" * 30)
    for at in range(len(good)):
        for value in (0, 0x40, 0xFF, good[at] ^ 1):
            changed = good[:at] + bytes([value]) + good[at + 1 :]
            dump = good + changed + good
            (rows, raw), issues = rows_of(tmp_path, dump, "smf82_record[record_no],smf_raw[record_no]")
            seen = {row["record_no"] for row in rows + raw}
            assert seen == {1, 2, 3} or issues, (at, value)


def audit(mark: str, *values: tuple[int, bytes], count: int | None = None, size: int | None = None) -> bytes:
    """Return an audit section: text, number of values, length; each value with its tag and length."""
    body = b"".join(struct.pack(">HH", tag, 4 + len(value)) + value for tag, value in values)
    count, size = len(values) if count is None else count, 8 + len(body) if size is None else size
    return mark.encode("cp037") + struct.pack(">HH", count, size) + body


Found = list[tuple[int, str, int, bytes]]


def audited(folder: Path, content: bytes) -> tuple[Found, list[Code]]:
    """Return record, identity, tag and value of each row, and the issues."""
    columns = "record_no,identity_of,tag,tag_value"
    (rows,), issues = rows_of(folder, content, f"smf82_audit_value[{columns}]")
    return [tuple(row.values()) for row in rows], issues


SERVER, USER = (1, b"\xc9\xc3\xe2\xc6"), (2, b"\xd1\xd6\xc5")


@pytest.mark.parametrize("before", [b"", bytes(11), bytes(range(200))])
def test_values_of_audit_sections_are_rows_in_any_order(tmp_path: Path, before: bytes) -> None:
    record = icsf(1, before + audit("USER", USER, (65535, b"")) + bytes(3) + audit("SERV", SERVER))
    expected = [(2, "server", *SERVER), (2, "end user", *USER), (2, "end user", 65535, b"")]
    assert audited(tmp_path, icsf(31, bytes(90)) + record + icsf(1)) == (expected, [])


def test_a_section_without_values_has_no_rows(tmp_path: Path) -> None:
    assert audited(tmp_path, icsf(1, audit("SERV") + audit("USER", USER))) == ([(1, "end user", *USER)], [])


@pytest.mark.parametrize("length", [0, 3, 9, 65535])
def test_a_value_of_impossible_length_ends_its_section(tmp_path: Path, length: int) -> None:
    section = bytearray(audit("SERV", SERVER, (7, b"abcd")))
    section[18:20] = length.to_bytes(2, "big")
    record = icsf(1, bytes(section) + audit("USER", USER))
    assert audited(tmp_path, record) == (
        [(1, "server", *SERVER), (1, "end user", *USER)],
        [Code.ENTRY_LENGTH],
    )


@pytest.mark.parametrize(("count", "size"), [(0, 16), (1, 17), (1, 24)])
def test_bytes_of_a_section_in_no_value_are_an_issue(tmp_path: Path, count: int, size: int) -> None:
    record = icsf(1, audit("SERV", SERVER, count=count, size=size) + b"\x01" * 8)
    assert audited(tmp_path, record) == ([(1, "server", *SERVER)] * count, [Code.ENTRY_LENGTH])


def test_a_section_that_extends_past_its_record_is_an_issue(tmp_path: Path) -> None:
    assert audited(tmp_path, icsf(1, audit("SERV", SERVER, size=17))) == ([], [Code.SECTION_OUTSIDE])


def test_names_that_contain_the_text_are_no_sections(tmp_path: Path) -> None:
    name = "SERVICE1.USER.KEY.SERV".encode("cp037")
    record = icsf(42, name + audit("SERV", SERVER, (9, name)) + name)
    assert audited(tmp_path, record) == ([(1, "server", *SERVER), (1, "server", 9, name)], [])


@given(st.binary(max_size=80), st.sampled_from(["SERV", "USER"]))
def test_any_bytes_after_the_text_are_rows_or_issues_or_no_section(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, mark: str
) -> None:
    folder = tmp_path_factory.getbasetemp()
    good = icsf(1, audit("SERV", SERVER))
    rows, _ = audited(folder, good + icsf(1, mark.encode("cp037") + content) + good)
    assert [row for row in rows if row[0] != 2] == [(1, "server", *SERVER), (3, "server", *SERVER)]
    assert sum(4 + len(value) for number, _, _, value in rows if number == 2) <= len(content)
