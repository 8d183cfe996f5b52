"""Triplets are compared with the length of the record, and all valid sections are delivered.

Records are composed byte by byte, so each invalid value is deliberate.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from zscope.parsers import Code, Issue, ReadOptions, Tables, read

if TYPE_CHECKING:
    from pathlib import Path

TIME = struct.pack(">I", 36_000_00)
DATE = bytes.fromhex("0126060f")  # 1 March 2026
SYSTEM = "SYSA".encode("cp037")
IDENT = b"".join(
    f"{name:<8}".encode("cp037") for name in ("SYSA", "PLEX", "TCPIP", "030100", "TCP", "TCPIP", "USER")
)
IDENT += struct.pack(">HHBBH", 0, 77, 8, 0, 0)


@dataclass
class Made:
    """A type 119 record in the making."""

    subtype: int
    sections: dict[int, bytes] = field(default_factory=dict)
    lies: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """Triplets to write instead of the true ones."""
    triplets: int = 7
    claimed: int | None = None

    def record(self) -> bytes:
        """The bytes, descriptor included."""
        place = 28 + 8 * self.triplets
        pointers, body = [], b""
        for index in range(self.triplets):
            content = self.sections.get(index, b"")
            true = (place + len(body), len(content), 1) if content else (0, 0, 0)
            pointers.append(struct.pack(">IHH", *self.lies.get(index, true)))
            body += content
        claimed = self.triplets if self.claimed is None else self.claimed
        rest = bytes((0x5E, 119)) + TIME + DATE + SYSTEM + bytes(4) + struct.pack(">H", self.subtype)
        rest += struct.pack(">HH", claimed, 0) + b"".join(pointers) + body
        return struct.pack(">HH", 4 + len(rest), 0) + rest


def _init(job: str) -> bytes:
    """The section of a connection start, by the offsets of the format sheet."""
    text = f"{job:<8}".encode("cp037") + struct.pack(">I", 4711) + bytes(8)
    address = bytes(10) + b"\xff\xff" + bytes((10, 1, 2, 3))
    return text + address + address + struct.pack(">HH", 50000, 443) + TIME + DATE + bytes(8)


def _read(tmp_path: Path, records: list[bytes], select: str, code_page: str = "1047") -> Tables:
    file = tmp_path / "dump"
    file.write_bytes(b"".join(records))
    return read(file, select, options=ReadOptions(code_page=code_page))


def _init_record(
    job: str, lies: dict[int, tuple[int, int, int]] | None = None, claimed: int | None = None
) -> bytes:
    return Made(1, {0: IDENT, 1: _init(job)}, lies or {}, claimed=claimed).record()


GOOD = [_init_record(f"GOOD{number}") for number in range(5)]


def _with(bad: bytes) -> list[bytes]:
    """A record among good ones; it is number 3."""
    return [*GOOD[:2], bad, *GOOD[2:]]


BAD_MAKE_UP = {
    "beyond the record": (
        {1: (5000, 72, 1)},
        Code.SECTION_OUTSIDE,
        "the triplet points outside the record; the section was skipped",
        [],
    ),
    "into the header": (
        {1: (4, 72, 1)},
        Code.SECTION_OUTSIDE,
        "the triplet points outside the record; the section was skipped",
        [],
    ),
    "largest numbers": (
        {1: (0xFFFFFFFF, 0xFFFF, 0xFFFF)},
        Code.SECTION_OUTSIDE,
        "the triplet points outside the record; the section was skipped",
        [],
    ),
    "length zero": ({1: (148, 0, 1)}, Code.SECTION_EMPTY, "the triplet gives a length of zero", []),
    "absurd count": (
        {1: (148, 72, 65535)},
        Code.SECTION_COUNT,
        "the triplet counts more sections than fit into the record; those that fit were read",
        ["BAD"],
    ),
}


@pytest.mark.parametrize("name", BAD_MAKE_UP)
def test_lying_triplet(tmp_path: Path, name: str) -> None:
    lies, code, text, jobs = BAD_MAKE_UP[name]
    result = _read(tmp_path, _with(_init_record("BAD", lies=lies)), "smf119_tcp_init")
    (issue,) = result.issues
    expected = Issue(code, text, str(tmp_path / "dump"), 3, 2 * len(GOOD[0]) + 28 + 8, None, "tcp_init", "")
    assert issue == expected
    assert result["smf119_tcp_init"]["job_name"].to_pylist() == [
        "GOOD0",
        "GOOD1",
        *jobs,
        "GOOD2",
        "GOOD3",
        "GOOD4",
    ]


def test_more_triplets_than_room(tmp_path: Path) -> None:
    bad = _init_record("BAD", claimed=60_000)
    result = _read(tmp_path, _with(bad), "smf119_tcp_init")
    assert [(i.code, i.record_no) for i in result.issues] == [(Code.TRIPLETS_OUTSIDE, 3)]
    assert "BAD" in result["smf119_tcp_init"]["job_name"].to_pylist()


def test_record_too_short_for_triplets(tmp_path: Path) -> None:
    bad = struct.pack(">HH", 26, 0) + GOOD[0][4:24] + bytes(2)
    result = _read(tmp_path, _with(bad), "smf119_tcp_init")
    assert [(i.code, i.record_no) for i in result.issues] == [(Code.RECORD_TOO_SHORT, 3)]
    assert result["smf119_tcp_init"].num_rows == 5


def test_fewer_triplets_than_declared_are_absent_sections(tmp_path: Path) -> None:
    old = Made(2, {0: IDENT, 1: bytes(216)}, triplets=2).record()
    result = _read(tmp_path, [old], "smf119_tcp_term")
    assert len(result.issues) == 0
    (row,) = result["smf119_tcp_term"].to_pylist()
    assert row["stack"] == "TCPIP"
    assert row["tls_version"] is None
    assert row["lu_name"] is None


def test_section_that_should_occur_once(tmp_path: Path) -> None:
    twice = Made(1, {0: IDENT, 1: _init("FIRST") + _init("SECOND")}, lies={1: (148, 72, 2)}).record()
    result = _read(tmp_path, [twice], "smf119_tcp_init")
    assert [(i.code, i.text) for i in result.issues] == [
        (Code.SECTION_REPEATED, "occurs more than once; only the first was read")
    ]
    assert result["smf119_tcp_init"]["job_name"].to_pylist() == ["FIRST"]


def test_a_field_cut_by_the_length_is_null(tmp_path: Path) -> None:
    """Seventy bytes cut the eight-byte clock at 64 in two; the date before it is whole."""
    short = Made(1, {0: IDENT, 1: _init("SHORT")[:70]}).record()
    result = _read(tmp_path, [GOOD[0], short], "smf119_tcp_init[job_name,start_local,start_utc]")
    assert [(issue.code, issue.record_no) for issue in result.issues] == [(Code.SECTION_SHORTER, 2)]
    first, second = result["smf119_tcp_init"].to_pylist()
    assert str(second["start_local"]) == "2026-03-01 10:00:00"
    assert second["start_utc"] is None
    assert first["start_utc"] is None, "a clock of zero means no time"


def test_longer_sections_are_noted_once(tmp_path: Path) -> None:
    longer = [Made(1, {0: IDENT, 1: _init(f"J{n}") + b"\xee" * 8}).record() for n in range(3)]
    result = _read(tmp_path, longer, "smf119_tcp_init")
    assert [(i.code, i.text) for i in result.issues] == [
        (Code.SECTION_LONGER, "sections have 80 bytes, more than the known 72; the rest was skipped")
    ]
    assert result["smf119_tcp_init"]["job_name"].to_pylist() == ["J0", "J1", "J2"]


def _dn(kind: int, text: str) -> bytes:
    return struct.pack(">HH", 4 + len(text), kind) + text.encode("cp037")


NAMES = [_dn(5, "CN=server,O=EX"), _dn(6, "CN=ca"), _dn(7, "CN=client, L=[1]".replace("[1]", "1"))]


@pytest.mark.parametrize(
    ("length", "number"),
    [
        pytest.param(len(b"".join(NAMES)), 1, id="one block"),
        pytest.param(len(b"".join(NAMES)), 3, id="whole length, count"),
        pytest.param(max(map(len, NAMES)), 3, id="longest entry, count"),
        pytest.param(len(NAMES[0]), 3, id="first entry, count"),
    ],
)
def test_distinguished_names_with_each_form_of_triplet(tmp_path: Path, length: int, number: int) -> None:
    place = 28 + 8 * 7 + len(IDENT) + 128
    lies = {6: (place, length, number)}
    record = Made(11, {0: IDENT, 1: bytes(128), 6: b"".join(NAMES)}, lies=lies).record()
    result = _read(
        tmp_path, [record, record], "smf119_zert_dn[record_no,section_no,dn_type,distinguished_name]"
    )
    assert len(result.issues) == 0
    rows = [(0, 5, "CN=server,O=EX"), (1, 6, "CN=ca"), (2, 7, "CN=client, L=1")]
    assert [tuple(row.values()) for row in result["smf119_zert_dn"].to_pylist()] == [
        (number, *row) for number in (1, 2) for row in rows
    ]


def test_distinguished_names_without_their_connection(tmp_path: Path) -> None:
    """The names are read, and the record that has no section of a connection has an issue."""
    good = Made(11, {0: IDENT, 1: bytes(128), 6: NAMES[0]}).record()
    result = _read(
        tmp_path, [good, Made(11, {0: IDENT, 6: NAMES[1]}).record()], "smf119_zert_detail,smf119_zert_dn"
    )
    assert [(i.code, i.record_no, i.section) for i in result.issues] == [(Code.TRIPLETS_OUTSIDE, 2, "common")]
    assert result["smf119_zert_detail"]["record_no"].to_pylist() == [1]
    assert result["smf119_zert_dn"]["record_no"].to_pylist() == [1, 2]


def test_distinguished_name_with_impossible_length(tmp_path: Path) -> None:
    names = NAMES[0] + struct.pack(">HH", 2, 6) + b"rest"
    record = Made(11, {0: IDENT, 1: bytes(128), 6: names}).record()
    result = _read(tmp_path, [record], "smf119_zert_dn")
    assert [(i.code, i.section, i.field) for i in result.issues] == [
        (Code.ENTRY_LENGTH, "dn", "SMF119SC_DN_Len")
    ]
    assert result["smf119_zert_dn"]["distinguished_name"].to_pylist() == ["CN=server,O=EX"]


def test_thousands_of_empty_names_end(tmp_path: Path) -> None:
    names = struct.pack(">HH", 4, 5) * 7000
    record = Made(11, {0: IDENT, 1: bytes(128), 6: names}).record()
    result = _read(tmp_path, [record], "smf119_zert_dn")
    assert result["smf119_zert_dn"].num_rows == 7000


def _attls(rest: bytes = b"") -> bytes:
    user = f"{'PARTNER':<8}".encode("cp037")
    return struct.pack(">H", 0x0303) + "4X".encode("cp037") + bytes((2, 0, 0, 0)) + user + rest


@pytest.mark.parametrize(
    ("rest", "cipher"),
    [
        pytest.param("C02F".encode("cp037"), "C02F", id="known suite"),
        pytest.param("C02F".encode("cp037") + bytes(40), "C02F", id="known suite in a longer section"),
        pytest.param("FACE".encode("cp037"), None, id="hexadecimal but no suite"),
        pytest.param(b"C02F", None, id="ASCII"),
        pytest.param("C02".encode("cp037"), None, id="section too short"),
        pytest.param(b"", None, id="old section"),
    ],
)
def test_cipher_of_attls_is_believed_where_it_is_a_known_suite(
    tmp_path: Path, rest: bytes, cipher: str | None
) -> None:
    section = _attls(rest)
    record = Made(2, {0: IDENT, 1: bytes(216), 3: section}).record()
    result = _read(
        tmp_path, [record], "smf119_tcp_term[tls_version,cipher_2,cipher_4,cert_user,ttls_section]"
    )
    assert result["smf119_tcp_term"].to_pylist() == [
        {
            "tls_version": 0x0303,
            "cipher_2": "4X",
            "cipher_4": cipher,
            "cert_user": "PARTNER",
            "ttls_section": section,
        }
    ]


def test_parts_without_layout_are_stored_as_bytes(tmp_path: Path) -> None:
    """A section known by name, a triplet nobody declared, a subtype without layout, another type."""
    rule = Made(11, {0: IDENT, 1: bytes(128), 7: b"RULE", 8: b"NEW"}, triplets=9).record()
    subtype = Made(49, {0: IDENT}).record()
    foreign = bytearray(subtype)
    foreign[5] = 200
    result = _read(
        tmp_path, [rule, subtype, bytes(foreign)], "smf_raw[record_no,record_type,record_subtype,part,bytes]"
    )
    assert len(result.issues) == 0
    rows = sorted(result["smf_raw"].to_pylist(), key=lambda row: (row["record_no"], row["part"]))
    assert [tuple(row.values()) for row in rows] == [
        (1, 119, 11, "policy_rule", b"RULE"),
        (1, 119, 11, "triplet_8", b"NEW"),
        (2, 119, 49, "record", subtype),
        (3, 200, 49, "record", bytes(foreign)),
    ]


def test_raw_bytes_of_chosen_types_only(tmp_path: Path) -> None:
    subtype = Made(49, {0: IDENT}).record()
    foreign = bytearray(subtype)
    foreign[5] = 200
    result = _read(tmp_path, [subtype, bytes(foreign)], "smf_raw,200")
    assert result["smf_raw"]["record_type"].to_pylist() == [200]


def test_bad_values_are_null_and_reported_with_their_byte(tmp_path: Path) -> None:
    bad_date = bytearray(_init_record("BAD"))
    at = 148 + 60
    bad_date[at : at + 4] = bytes.fromhex("0126999f")
    bad_time = bytearray(_init_record("LATE"))
    bad_time[148 + 56 : 148 + 60] = struct.pack(">I", 24 * 360_000)
    no_date = bytearray(_init_record("NONE"))
    no_date[at : at + 4] = bytes.fromhex("0000000f")
    result = _read(
        tmp_path,
        [GOOD[0], bytes(bad_date), bytes(bad_time), bytes(no_date)],
        "smf119_tcp_init[job_name,start_local]",
    )
    size = len(GOOD[0])
    assert [(i.code, i.record_no, i.offset, i.field) for i in result.issues] == [
        (Code.BAD_DATE, 2, size + 148 + 56, "SMF119AP_TITime"),
        (Code.BAD_TIME, 3, 2 * size + 148 + 56, "SMF119AP_TITime"),
    ]
    assert result["smf119_tcp_init"]["start_local"].null_count == 3


def test_code_page_decides_the_brackets(tmp_path: Path) -> None:
    job = bytearray(_init_record("X"))
    job[148:152] = bytes.fromhex("adbdbabb")
    names = [
        _read(tmp_path, [bytes(job)], "smf119_tcp_init[job_name]", code_page=page)["smf119_tcp_init"][
            "job_name"
        ][0].as_py()
        for page in ("1047", "037")
    ]
    assert names == ["[]\xdd\xa8", "\xdd\xa8[]"]


def test_very_many_issues_are_counted_but_not_stored(tmp_path: Path) -> None:
    bad = _init_record("BAD", lies={1: (5000, 72, 1)})
    result = _read(tmp_path, [bad] * 3000, "smf119_tcp_init")
    assert len(result.issues) == 3000
    listed = list(result.issues)
    assert len(listed) == 1001
    assert any(issue.text == "2,000 more like this are counted but not listed" for issue in listed)


def test_an_issue_of_two_tables_is_reported_once(tmp_path: Path) -> None:
    bad = bytearray(GOOD[0])
    bad[10:14] = bytes.fromhex("0126999f")
    result = _read(tmp_path, [*GOOD, bytes(bad), *GOOD], "smf_record,smf119_tcp_init")
    assert [(i.code, i.record_no, i.field) for i in result.issues] == [(Code.BAD_DATE, 6, "SMFxTME")]


def test_a_number_of_triplets_that_is_too_small_is_reported(tmp_path: Path) -> None:
    place = 28 + 8 * 7 + len(IDENT) + 128
    names = b"".join(NAMES)
    lies = {6: (place, len(names), len(NAMES))}
    record = Made(11, {0: IDENT, 1: bytes(128), 6: names}, claimed=6, lies=lies).record()
    result = _read(tmp_path, [record], "smf119_zert_detail,smf119_zert_dn")
    assert [(i.code, i.record_no, i.offset) for i in result.issues] == [(Code.TRIPLETS_OUTSIDE, 1, 24)]
    assert result["smf119_zert_detail"].num_rows == 1


def test_a_section_that_is_not_counted_is_reported(tmp_path: Path) -> None:
    place = 28 + 8 * 7 + len(IDENT) + 128
    lies = {3: (place, 60, 0)}
    record = Made(11, {0: IDENT, 1: bytes(128), 3: b"S" * 60}, lies=lies).record()
    result = _read(tmp_path, [record], "smf119_zert_detail")
    assert [(i.code, i.record_no, i.offset) for i in result.issues] == [(Code.SECTION_COUNT, 1, 28 + 8 * 3)]


def test_names_that_are_not_counted_are_reported(tmp_path: Path) -> None:
    place = 28 + 8 * 7 + len(IDENT) + 128
    names = b"".join(NAMES)
    lies = {6: (place, len(names), 0)}
    record = Made(11, {0: IDENT, 1: bytes(128), 6: names}, lies=lies).record()
    result = _read(tmp_path, [record], "smf119_zert_detail,smf119_zert_dn")
    assert [(i.code, i.record_no, i.section) for i in result.issues] == [(Code.SECTION_COUNT, 1, "dn")]


def test_zeros_after_the_last_section_are_no_section(tmp_path: Path) -> None:
    place = 28 + 8 * 7 + len(IDENT) + 128
    record = Made(11, {0: IDENT, 1: bytes(128), 3: bytes(60)}, lies={3: (place, 60, 0)}).record()
    assert len(_read(tmp_path, [record], "smf119_zert_detail").issues) == 0


def test_a_record_inside_another_one_is_reported(tmp_path: Path) -> None:
    first, second = _init_record("FIRST"), _init_record("SECOND")
    joined = struct.pack(">HH", len(first) + len(second), 0) + first[4:] + second
    result = _read(tmp_path, [*GOOD[:2], joined, GOOD[2]], "smf119_tcp_init")
    before = len(GOOD[0]) + len(GOOD[1])
    place = [(Code.DAMAGED_RANGE, 3, before + len(first), before + len(joined))]
    assert [(i.code, i.record_no, i.offset, i.end) for i in result.issues] == place
    assert result["smf119_tcp_init"]["job_name"].to_pylist() == ["GOOD0", "GOOD1", "FIRST", "GOOD2"]
