"""What is no dump is refused with what is wrong, how it shows, and what to do about it."""

from __future__ import annotations

import random
import struct
from typing import TYPE_CHECKING

import pytest

from zscope.parsers.issues import Code, InputError, Severity
from zscope.parsers.smf.framing import Framing, detect, refuse

if TYPE_CHECKING:
    from collections.abc import Callable

AGAIN = "transfer it again in binary with the record lengths (FTP: binary, quote SITE RDW, get)"

STRIPPED = (
    "the record lengths were not transferred: the file begins with an SMF header but no length word, "
    "so the ends of the records are unknown; " + AGAIN
)
TEXT_MODE = (
    "the file was transferred in text mode and cannot be recovered, as several bytes became one: {sign}; "
) + AGAIN
LINE_ENDS = (
    "a text tool changed line ends inside the binary data: X'0A' became X'0D0A', and with that undone the "
    "record lengths lead from record to record again; copy the original again without conversion (git: mark "
    "it -text), or " + AGAIN
)
XMIT = (
    "the file is in TSO TRANSMIT (XMIT) form: it begins with the control record INMR01; on z/OS RECEIVE it "
    "and transfer the data set itself in binary with SITE RDW, or pack the data set with AMATERSE, which "
    "zscope reads directly"
)
MONITOR_III = (
    "the file is an RMF Monitor III report in XML: it has a report but no postprocessor element; zscope "
    "reads Postprocessor reports: ask the data server for the Postprocessor report CPU instead"
)
TERSE = (
    "the file was packed by a TERSE program of another platform, whose form is not published: its first "
    "bytes are those of native TERSE; pack the dump with AMATERSE on z/OS and transfer that in binary"
)


def refusal(data: bytes, *, whole: bool = True) -> tuple[Code, str]:
    with pytest.raises(InputError) as caught:
        detect(data, whole=whole, file="the.file")
    issue = caught.value.issue
    assert (issue.file, issue.offset, issue.severity) == ("the.file", 0, Severity.REFUSED)
    return issue.code, issue.text


def record(number: int, size: int, kind: int = 30) -> bytes:
    """A record as jobs leave them: names and blanks in EBCDIC, counters in binary."""
    rng = random.Random(number)
    time = rng.randrange(8_640_000)
    system, date = "SYS1".encode("cp037"), bytes.fromhex("0126060f")
    body = "".join(rng.choice(["PAYROLL ", "TCPIP   ", "CICSPROD", "        "]) for _ in range(5)).encode(
        "cp037"
    )
    while len(body) < size - 18:
        body += struct.pack(">IQ", rng.randrange(1 << 16), rng.randrange(1 << 40)) + "STC00042".encode(
            "cp037"
        )
    return struct.pack(">HHBBI4s4s", size, 0, 0x5E, kind, time, date, system) + body[: size - 18]


HEADER, TRAILER = record(0, 18, 2), record(999, 18, 3)
RECORDS = [HEADER, *(record(n, 150 + n * 29 % 700, n % 128) for n in range(1, 60)), TRAILER]
DUMP = b"".join(RECORDS)


def in_text_mode(records: list[bytes], page: str, coding: str, line_end: bytes) -> bytes:
    """What FTP makes of records in ASCII mode: no length words, translated, a line end after each."""
    lines = (r[4:].decode(page).encode(coding) for r in records)
    return b"".join(line + line_end for line in lines)


def test_the_dump_itself_is_good() -> None:
    assert detect(DUMP, whole=True) is Framing.RDW


@pytest.mark.parametrize("records", [RECORDS, RECORDS[1:], RECORDS[:1], [record(5, 32_000)]])
def test_record_lengths_that_were_not_transferred(records: list[bytes]) -> None:
    stripped = b"".join(r[4:] for r in records)
    assert refusal(stripped) == (Code.RDW_STRIPPED, STRIPPED)


@pytest.mark.parametrize("coding", ["latin-1", "utf-8"])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b""], ids=["LF", "CRLF", "none"])
@pytest.mark.parametrize("first", [0, 1, 7], ids="from record {}".format)
def test_text_mode_is_detected_from_headers(coding: str, line_end: bytes, first: int) -> None:
    damaged = in_text_mode(RECORDS[first:], "cp037", coding, line_end)
    sign = "undoing the translation from EBCDIC (IBM-1047) brings SMF headers to light"
    assert refusal(damaged) == (Code.TEXT_MODE, TEXT_MODE.format(sign=sign))


def test_text_mode_is_seen_in_the_last_of_many_lines_too() -> None:
    """If the first lines lost characters, a later line is still recognised."""
    lines = in_text_mode(RECORDS, "cp037", "latin-1", b"\n").split(b"\n")
    damaged = b"\n".join(
        line[:3] + b"?" + line[3:] if number < 8 else line for number, line in enumerate(lines)
    )
    assert refusal(damaged)[0] is Code.TEXT_MODE


def test_text_mode_is_seen_in_failed_conversions() -> None:
    """A tool that takes the binary data for UTF-8 and writes what it could not read as X'EFBFBD'."""
    damaged = DUMP.decode("utf-8", errors="replace").encode()
    count = damaged.count(b"\xef\xbf\xbd")
    sign = f"X'EFBFBD', the sign of a failed conversion to UTF-8, occurs {count:,} times"
    assert refusal(damaged) == (Code.TEXT_MODE, TEXT_MODE.format(sign=sign))


def test_text_mode_is_seen_in_blanks_and_line_ends() -> None:
    """A translation that loses what headers are made of: all below X'20' becomes a question mark."""
    translated = (r[4:].decode("cp037").encode("latin-1") for r in RECORDS)
    damaged = b"".join(bytes(b if b >= 0x20 else 0x3F for b in line) + b"\n" for line in translated)
    line_ends, blanks = damaged.count(b"\n"), damaged.count(b" ")
    sign = f"line ends ({line_ends}) and ASCII blanks ({blanks:,}) are too many for SMF data"
    assert refusal(damaged) == (Code.TEXT_MODE, TEXT_MODE.format(sign=sign))


def blocks(records: list[bytes]) -> bytes:
    return b"".join(
        struct.pack(">HH", 4 + sum(map(len, records[at : at + 7])), 0) + b"".join(records[at : at + 7])
        for at in range(0, len(records), 7)
    )


def exclusive(records: list[bytes]) -> bytes:
    return b"".join(struct.pack(">H", len(r) - 4) + r[2:] for r in records)


FRAMED: dict[Framing, Callable[[list[bytes]], bytes]] = {
    Framing.RDW: b"".join,
    Framing.BLOCKS: blocks,
    Framing.RDW_EXCLUSIVE: exclusive,
}


@pytest.mark.parametrize("framing", FRAMED)
def test_changed_line_ends(framing: Framing) -> None:
    data = FRAMED[framing](RECORDS)
    assert data.count(b"\n") > 20
    assert b"\r\n" not in data
    assert refusal(data.replace(b"\n", b"\r\n")) == (Code.LINE_ENDS, LINE_ENDS)


def test_changed_line_ends_in_a_file_of_a_single_record_between_header_and_trailer() -> None:
    one = record(1, 200)[:60] + b"\n" + record(1, 200)[61:]
    data = HEADER + one.replace(b"\r", b"\0") + TRAILER
    assert refusal(data.replace(b"\n", b"\r\n")) == (Code.LINE_ENDS, LINE_ENDS)


def test_changed_line_ends_where_even_the_first_length_has_one() -> None:
    data = b"".join(record(n, 0x20A) for n in range(12))
    assert refusal(data.replace(b"\n", b"\r\n")) == (Code.LINE_ENDS, LINE_ENDS)


def test_changed_line_ends_in_the_head_of_a_longer_file() -> None:
    damaged = DUMP.replace(b"\n", b"\r\n")[:10_000]
    assert refusal(damaged, whole=False) == (Code.LINE_ENDS, LINE_ENDS)


@pytest.mark.parametrize("framing", FRAMED)
@pytest.mark.parametrize("damage", ["none", "a wrong length", "cut off", "garbage"])
def test_line_ends_that_belong_to_the_data_are_no_damage(framing: Framing, damage: str) -> None:
    records = [r[:18] + r[18:].replace("STC0".encode("cp037"), b"\r\n\r\n") for r in RECORDS]
    data = FRAMED[framing](records)
    assert data.count(b"\r\n") > 50
    middle = data.index(records[20][4:]) - 4
    if damage == "a wrong length":
        data = data[:middle] + b"\1" + data[middle + 1 :]
    elif damage == "cut off":
        data = data[:-30]
    elif damage == "garbage":
        data = data[:middle] + b"\r\nxx" + data[middle:]
    assert detect(data, whole=True) is framing


def xmit(data: bytes) -> bytes:
    """A TRANSMIT file: a control record in segments of at most 253 bytes, then the data the same way."""
    control = bytes([0x2A, 0xE0]) + "INMR01".encode("cp037") + bytes.fromhex("0042000100020050") + b"\0" * 26
    parts = [
        bytes([len(data[at : at + 253]) + 2, 0x80]) + data[at : at + 253] for at in range(0, len(data), 253)
    ]
    return control + b"".join(parts)


@pytest.mark.parametrize("content", [DUMP, b"", b"".join(record(n, 70) for n in range(100))])
def test_transmit_files(content: bytes) -> None:
    assert refusal(xmit(content)) == (Code.XMIT, XMIT)


@pytest.mark.parametrize(
    "opening",
    [
        '<?xml version="1.0" encoding="UTF-8"?>\n<ddsml>\n',
        "\N{BYTE ORDER MARK}<?xml version='1.0'?><ddsml>",
        "<ddsml xmlns='x'>",
    ],
)
def test_monitor_iii_reports(opening: str) -> None:
    text = opening + '<report id="CPC"><message/><row><col>SYS1</col></row></report></ddsml>'
    assert refusal(text.encode()) == (Code.MONITOR_III, MONITOR_III)


def test_a_postprocessor_report_is_not_recognised_as_monitor_iii() -> None:
    text = '<?xml version="1.0"?><ddsml><postprocessor metric-id="CPU"><report/></postprocessor></ddsml>'
    assert refusal(text.encode())[0] is Code.UNKNOWN_DATA


def test_foreign_terse() -> None:
    issue = refuse(bytes.fromhex("018969a5"), "x", Code.TERSE_FOREIGN)
    assert (issue.code, issue.text) == (Code.TERSE_FOREIGN, TERSE)


def test_readable_text() -> None:
    text = (
        "the file is readable text, not a binary SMF dump (it begins 'MVS TCP/IP NETSTAT CS V2R5'); "
        "name the dump itself"
    )
    assert refusal(b"MVS TCP/IP NETSTAT CS V2R5\r\n" + b"User Id  Conn     State\r\n" * 50) == (
        Code.UNKNOWN_DATA,
        text,
    )


def test_anything_else_is_shown_in_hexadecimal() -> None:
    text = (
        "the file is not recognised as SMF data; it begins with 7F 45 4C 46 02 01 01 "
        + "00 " * 24
        + "00; check that it is an SMF dump and "
        + AGAIN
    )
    assert refusal(b"\x7fELF\2\1\1" + bytes(500)) == (Code.UNKNOWN_DATA, text)


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_are_unknown_and_not_text(seed: int) -> None:
    assert refusal(random.Random(seed).randbytes(20_000))[0] is Code.UNKNOWN_DATA
