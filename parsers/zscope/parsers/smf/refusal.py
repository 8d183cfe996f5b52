"""What a file is that is no dump, how that shows, and how to get a good one from z/OS."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code, Issue
from zscope.parsers.smf.ebcdic import CODE_PAGES, code_page
from zscope.parsers.smf.header import HEADER_LENGTH, header_at

if TYPE_CHECKING:
    from collections.abc import Iterator

TRANSFER_AGAIN = "transfer it again in binary with the record lengths (FTP: binary, quote SITE RDW, get)"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One kind of data that cannot be used."""

    wrong: str
    shown_by: str
    remedy: str

    def text(self) -> str:
        """All of it in one sentence."""
        return f"{self.wrong}: {self.shown_by}; {self.remedy}"


_REFUSALS = {
    Code.RDW_STRIPPED: Refusal(
        "the record lengths were not transferred",
        "the file begins with an SMF header but no length word, so nobody can tell where records end",
        TRANSFER_AGAIN,
    ),
    Code.LINE_ENDS: Refusal(
        "a text tool changed line ends inside the binary data",
        "X'0A' became X'0D0A', and with that undone the record lengths lead from record to record again",
        "copy the original again without conversion (git: mark it -text), or " + TRANSFER_AGAIN,
    ),
    Code.XMIT: Refusal(
        "the file is in TSO TRANSMIT (XMIT) form",
        "it begins with the control record INMR01",
        "on z/OS RECEIVE it and transfer the data set itself in binary with SITE RDW, or pack the data set "
        "with AMATERSE, which zscope reads directly",
    ),
    Code.MONITOR_III: Refusal(
        "the file is an RMF Monitor III report in XML",
        "it has a report but no postprocessor element",
        "zscope reads Postprocessor reports: ask the data server for the Postprocessor report CPU instead",
    ),
    Code.TERSE_FOREIGN: Refusal(
        "the file was packed by a TERSE program of another platform, whose form is not published",
        "its first bytes are those of native TERSE",
        "pack the dump with AMATERSE on z/OS and transfer that in binary",
    ),
}

_XMIT_MARK = bytes.fromhex("c9d5d4d9f0f1")
_TEXT_BYTES = bytes([0x09, 0x0A, 0x0C, 0x0D, *range(0x20, 0x7F)])
_SAMPLE = 1 << 16
_LINES = 50
_FAILED_CONVERSION = b"\xef\xbf\xbd"


def refuse(head: bytes, file: str, code: Code | None = None) -> Issue:
    """The issue that tells why these data are no SMF dump."""
    sample = head[:_SAMPLE]
    code = code or foreign(sample) or (Code.RDW_STRIPPED if _header_without_length(sample) else None)
    if code is not None:
        return Issue(code, _REFUSALS[code].text(), file, offset=0)
    if sign := _sign_of_translation(sample):
        translated = (
            "the file was transferred in text mode and cannot be recovered, as several bytes became one"
        )
        return Issue(Code.TEXT_MODE, Refusal(translated, sign, TRANSFER_AGAIN).text(), file, offset=0)
    return Issue(Code.UNKNOWN_DATA, _unknown(sample), file, offset=0)


def foreign(head: bytes) -> Code | None:
    """What these bytes certainly are, if that is no dump."""
    if head[2:8] == _XMIT_MARK:
        return Code.XMIT
    opening = head.lstrip(b"\xef\xbb\xbf \r\n\t")
    if opening.startswith((b"<?xml", b"<ddsml")) and b"<report" in head and b"<postprocessor" not in head:
        return Code.MONITOR_III
    return None


def _header_without_length(head: bytes) -> bool:
    return header_at(memoryview(b"\0\0\0\0" + head[:HEADER_LENGTH]), 0, 4 + len(head[:HEADER_LENGTH]))


def _sign_of_translation(head: bytes) -> str:
    """How it shows that binary data went through a translation to ASCII or UTF-8; empty if it does not.

    Either the translation can be undone for a header at the start of a line, or the signs add up: what only
    a failed conversion makes, or blanks and line ends of ASCII among bytes that no text holds.
    """
    if _readable(head):
        return ""
    for coding, page in product(("latin-1", "utf-8"), CODE_PAGES):
        text = head.decode(coding, errors="replace")
        if any(_header_without_length(raw) for raw in _undone(text, page)):
            return f"undoing the translation from EBCDIC (IBM-{page}) brings SMF headers to light"
    if (failed := head.count(_FAILED_CONVERSION)) * 256 > len(head):
        return f"X'EFBFBD', which stands for a failed conversion to UTF-8, occurs {failed:,} times"
    line_ends, blanks, ebcdic_blanks = head.count(0x0A), head.count(0x20), head.count(0x40)
    if line_ends * 512 > len(head) and blanks > 4 * ebcdic_blanks and blanks * 50 > len(head):
        return f"line ends ({line_ends:,}) and ASCII blanks ({blanks:,}) are too many for SMF data"
    return ""


def _undone(text: str, page: str) -> Iterator[bytes]:
    """The first bytes of the first lines as they were in EBCDIC."""
    back = code_page(page)
    for line in islice(text.split("\n"), _LINES):
        yield back.encode("".join(c if ord(c) < 256 else "\0" for c in line[:HEADER_LENGTH]))


def _readable(head: bytes) -> bool:
    """Whether nearly everything is ordinary text, such as a report or a listing."""
    return len(head.translate(None, _TEXT_BYTES)) * 50 <= len(head)


def _unknown(head: bytes) -> str:
    if _readable(head):
        first = head[:60].decode("ascii", errors="replace").splitlines()
        return (
            f"the file is readable text, not a binary SMF dump (it begins {first[0] if first else ''!r}); "
            "name the dump itself"
        )
    shown = " ".join(f"{byte:02X}" for byte in head[:32])
    return (
        f"the file is not recognised as SMF data; it begins with {shown}; check that it is an SMF dump and "
        + TRANSFER_AGAIN
    )
