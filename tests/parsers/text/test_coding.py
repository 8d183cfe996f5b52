"""Detecting encodings, and reading lines in each of them."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zscope.parsers.text.capture_writer import as_bytes
from zscope.parsers.text.coding import LONGEST_LINE, LineEnds, code_page, detect_coding, read_lines

LINES = [
    "MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPPROD         07:15:31",
    "User Id  Conn     Local Socket           Foreign Socket         State",
    "-------  ----     ------------           --------------         -----",
    "",
    "PAYROLL  0000B7C1 10.9.8.7..443          10.9.1.2..40001        Establsh",
]


def _lines(data: bytes) -> list[str]:
    coding = detect_coding(data)
    assert coding is not None
    return [line.rstrip() for line in read_lines(io.BytesIO(data), coding)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("coding", ["ascii", "utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("pad", [0, 133])
def test_codings_with_line_ends(coding: str, end: str, pad: int) -> None:
    assert _lines(as_bytes(LINES, coding, end, pad)) == LINES


@pytest.mark.parametrize("coding", ["ebcdic", "ebcdic-records", "ebcdic-lengths"])
def test_ebcdic(coding: str) -> None:
    assert _lines(as_bytes(LINES, coding)) == LINES


@pytest.mark.parametrize("width", [80, 121, 132, 133])
def test_records_of_one_length(width: int) -> None:
    data = b"".join(code_page().encode(line, width) for line in LINES * 3)
    coding = detect_coding(data)
    assert coding is not None
    assert (coding.ends, coding.record_length) == (LineEnds.RECORDS, width)
    assert _lines(data) == LINES * 3


@pytest.mark.parametrize("line", ["time,ecbs_in_use", "Time;ECBs", '{"time":0,"ecbs_in_use":1}'])
def test_ebcdic_without_a_blank(line: str) -> None:
    assert _lines(code_page().encode(line) + b"\x15") == [line]


def test_line_feeds_of_ebcdic() -> None:
    data = b"\x25".join(code_page().encode(line) for line in LINES)
    assert _lines(data) == LINES


def test_the_last_line_needs_no_end() -> None:
    assert _lines(b"a\nb") == ["a", "b"]
    assert _lines(b"a\nb\n") == ["a", "b"]


def test_characters_of_several_bytes_across_pieces() -> None:
    class Drip(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:  # noqa: ARG002 - one byte at a time is the point
            return super().read(1)

    data = "Übergabe\r\nzweite Zeile\n".encode()
    coding = detect_coding(data)
    assert coding is not None
    assert list(read_lines(Drip(data), coding)) == ["Übergabe", "zweite Zeile"]


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)) * 4,
        b"\0" * 500,
        b"\x00\x80\x00\x00\x5e\x77" + bytes(122),
        b"\x89PNG\r\n\x1a\n" + bytes(range(200)),
        code_page().encode("NO BLANKS"[:2]) + bytes(100),
        b"",
    ],
)
def test_bytes_that_are_not_text(data: bytes) -> None:
    assert detect_coding(data) is None


def test_a_line_without_end_needs_no_more_memory_than_the_longest() -> None:
    data = b"x" * (3 * LONGEST_LINE) + b"\nnext\n"
    assert [len(line) for line in _lines(data)] == [LONGEST_LINE, 4]


@given(
    st.lists(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=60), max_size=20),
    st.sampled_from(["utf-8", "utf-16", "ebcdic", "ebcdic-lengths"]),
)
def test_round_trip(lines: list[str], coding: str) -> None:
    lines = [line.rstrip() for line in [*LINES, *lines]]
    assert _lines(as_bytes(lines, coding)) == lines


RMF_PAGE = [
    "1" + " " * 55 + "C P U  A C T I V I T Y",
    *(" " + " " * 20 + "z/OS V2R3   SYSTEM ID SYSX",) * 3,
    *(" " + f"SYS{number:<6}A  500".ljust(126) + "100.00" for number in range(20)),
]
"""Rows fill their records to the last column, and the next page begins at once."""


@pytest.mark.parametrize("pages", [1, 2, 3, 28])
def test_full_records_with_carriage_control(pages: int) -> None:
    lines = RMF_PAGE * pages
    assert _lines(b"".join(code_page().encode(line, 133) for line in lines)) == lines


@pytest.mark.parametrize("width", [80, 84, 100, 120, 121, 132, 160, 240, 256])
@pytest.mark.parametrize("count", [1, 60])
def test_short_reports_in_records(width: int, count: int) -> None:
    lines = [*LINES[:3], *LINES[4:] * count]
    assert _lines(b"".join(code_page().encode(line, width) for line in lines)) == lines


def _with_lengths(records: list[bytes]) -> bytes:
    return b"".join((len(record) + 4).to_bytes(2, "big") + b"\0\0" + record for record in records)


LENGTHS = st.one_of(
    st.integers(5, 32_756),
    st.integers(5, 400),
    # Lengths with the codes of both line ends in one of their bytes.
    st.builds(lambda high, low: high << 8 | low, st.integers(0, 0x7E), st.sampled_from([0x15, 0x25])),
    st.builds(lambda high, low: high << 8 | low, st.sampled_from([0x15, 0x25]), st.integers(5, 255)),
)


@given(st.lists(LENGTHS.filter(lambda length: length >= 5), min_size=1, max_size=8), st.integers(3, 300))
def test_records_of_any_length(lengths: list[int], repeated: int) -> None:
    texts = ["PAYROLL  0000B7C1, " * (length // 19 + 1) for length in lengths]
    records = [code_page().encode(text[: length - 4]) for text, length in zip(texts, lengths, strict=True)]
    records *= min(repeated, 1 + 200_000 // sum(lengths))
    data = _with_lengths([*records, code_page().encode("END OF THE REPORT, ")])
    head = data[: 1 << 16]
    coding = detect_coding(head, whole=len(head) == len(data))
    assert coding is not None
    assert coding.ends is LineEnds.LENGTHS
    assert [line.rstrip() for line in read_lines(io.BytesIO(data), coding)] == [
        *(code_page().decode(record) for record in records),
        "END OF THE REPORT,",
    ]


@given(
    st.lists(st.integers(1, 32_752), min_size=1, max_size=8), st.sampled_from([b"\x15", b"\x25", b"\x0d\x25"])
)
def test_lines_of_any_length(lengths: list[int], end: bytes) -> None:
    lines = [("PAYROLL  0000B7C1, " * (length // 19 + 1))[:length].rstrip() for length in [*lengths, 19]]
    data = b"".join(code_page().encode(line) + end for line in lines)
    coding = detect_coding(data[: 1 << 16], whole=len(data) <= 1 << 16)
    assert coding is not None
    assert coding.ends is LineEnds.CHARACTERS
    assert list(read_lines(io.BytesIO(data), coding)) == lines


def test_a_cut_record_is_a_line() -> None:
    data = _with_lengths([code_page().encode(line or " ") for line in LINES])
    assert _lines(data[:-3]) == [*LINES[:-1], LINES[-1][:-3]]


@pytest.mark.parametrize("damaged", [b"", b"\x01", bytes(7)])
def test_records_go_on_after_damage(damaged: bytes) -> None:
    before, after = (_with_lengths([code_page().encode(line or " ") for line in LINES * 3]) for _ in range(2))
    lines = _lines(before + code_page().encode("stray") + damaged + after)
    assert lines[:15] == LINES * 3
    assert lines[15].startswith("stray")
    assert lines[16:] == LINES * 3
