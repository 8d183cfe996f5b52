"""Write reports as captures contain them: with prefixes, carriage control, message IDs, prompts and
encodings.

This is the inverse of `report_splitter`. Sample data and tests use it. The tests also have captures composed
by hand, so that reader and writer cannot share a mistake unnoticed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from zscope.parsers.text.coding import code_page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

PRINT_WIDTH = 132
NEW_PAGE = "1"


@dataclass(frozen=True, slots=True)
class SyslogWriter:
    """Write replies as SYSLOG records."""

    system: str
    when: datetime
    connector: int = 612
    job: str = "STC01234"
    century: bool = False
    """Years have four digits, which moves all that follows by two columns."""
    control: bool = False
    """Each line begins with a carriage control character, as in a printed log."""

    def command(self, text: str) -> str:
        """Return the line that records an operator command."""
        return self._whole("N", "C", "OPER01", text)

    def reply(self, lines: Sequence[str]) -> list[str]:
        """Return the lines of one reply."""
        first, *others = lines
        if not others:
            return [self._whole("N", "R", self.job, first)]
        types = ["D"] * (len(others) - 1) + ["E"]
        return [
            self._whole("M", "R", self.job, f"{first} {self.connector}"),
            *(self._following(kind, text) for kind, text in zip(types, others, strict=True)),
        ]

    def _whole(self, kind: str, request: str, job: str, text: str) -> str:
        day = self.when.strftime("%Y%j" if self.century else "%y%j")
        clock = self.when.strftime("%H:%M:%S.") + f"{self.when.microsecond // 10_000:02}"
        prefix = f"{kind}{request}0000000 {self.system:<8} {day} {clock} {job:<8} 00000090  "
        return f"{' ' if self.control else ''}{prefix}{text}".rstrip()

    def _following(self, kind: str, text: str) -> str:
        width = 45 + 2 * self.century
        number = f"{kind}R{self.connector:>{width - 2}} 00000090  "
        return f"{' ' if self.control else ''}{number}{text}".rstrip()


def interleaved(*replies: Sequence[str]) -> list[str]:
    """Interleave the lines of several replies, one of each in turn, as overlapping commands do."""
    return [line for group in zip_longest(*replies) for line in group if line is not None]


def with_control(pages: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of pages with carriage control characters: 1 for the first line of a page."""
    return [
        ((NEW_PAGE if number == 0 else " ") + line).rstrip()
        for page in pages
        for number, line in enumerate(page)
    ]


def with_ids(lines: Sequence[str], ids: Sequence[str]) -> list[str]:
    """Put a message ID before each line; the last ID serves all remaining lines."""
    return [f"{ids[min(number, len(ids) - 1)]} {line}".rstrip() for number, line in enumerate(lines)]


def with_prompt(lines: Sequence[str], command: str, prompt: str = "IBMUSER:/u/ibmuser: >") -> list[str]:
    """Return a report as a terminal session shows it: after the command, before the next prompt."""
    return [f"{prompt}{command}", *lines, prompt]


def as_bytes(lines: Iterable[str], coding: str = "utf-8", end: str = "\n", pad: int = 0) -> bytes:
    """Encode the lines as a file; `pad` is the length to which lines are filled with blanks.

    `coding` is a Python encoding, or `ebcdic` (with line ends), `ebcdic-records` or `ebcdic-lengths`.

    >>> as_bytes(["A", "B"], "ebcdic").hex()
    'c115c215'
    """
    padded = [line.ljust(pad) for line in lines]
    if coding == "ebcdic":
        return b"".join(code_page().encode(line) + b"\x15" for line in padded)
    if coding == "ebcdic-records":
        width = max(PRINT_WIDTH + 1, *map(len, padded))
        return b"".join(code_page().encode(line, width) for line in padded)
    if coding == "ebcdic-lengths":
        coded = [code_page().encode(line or " ") for line in padded]
        return b"".join((len(raw) + 4).to_bytes(2, "big") + b"\0\0" + raw for raw in coded)
    return "".join(line + end for line in padded).encode(coding)
