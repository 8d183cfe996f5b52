"""The heading of a reply of GSKSRVR: which display it is, of which cache, and where it ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import pyparsing as pp

if TYPE_CHECKING:
    from zscope.parsers.text.report import Line

_MOST_PIECES = 3
"""Into so many lines a heading may be split: the system makes two of it, a narrow screen more."""


class Cache(StrEnum):
    """One of the two caches that the systems of a sysplex share."""

    SESSION_ID = "session-id"
    TICKET = "ticket"

    @property
    def command(self) -> str:
        """What commands call it."""
        return "TICKETCACHE" if self is Cache.TICKET else "SIDCACHE"


class Display(StrEnum):
    """What a reply shows."""

    STATUS = "status"
    STATISTICS = "statistics"
    CRYPTO = "crypto"


_KNOWN_IDS = {
    "GSK01032I": (Cache.SESSION_ID, Display.STATUS),
    "GSK01078I": (Cache.TICKET, Display.STATUS),
    "GSK01079I": (Cache.TICKET, Display.STATISTICS),
    "GSK01081I": (Cache.SESSION_ID, Display.STATISTICS),
}
"""For a heading that is cut. Whole ones are told by their words: not all ids are published."""

_ID = pp.Regex(r"(?i)GSK01\d{3}[A-Z]\b")("id")
_CONNECTOR = pp.Opt(pp.Regex(r"\d{1,4}\b").suppress())
_CACHE = (
    pp.CaselessKeyword("session")
    + pp.Opt(pp.CaselessKeyword("ID"))
    + pp.Opt(pp.CaselessKeyword("ticket"))("ticket")
    + pp.CaselessKeyword("cache")
)("cache")
_DISPLAY = pp.CaselessKeyword("status") | pp.CaselessKeyword("statistics")
_SECOND_LINE = _DISPLAY + _CONNECTOR + pp.StringEnd()
_CACHE_HEADING = _ID + _CACHE + _CONNECTOR + pp.Opt(_DISPLAY("display")) + _CONNECTOR + pp.StringEnd()
_CRYPTO_HEADING = (
    _ID + pp.CaselessKeyword("cryptographic") + pp.CaselessKeyword("status") + _CONNECTOR + pp.StringEnd()
)
_MESSAGE = _ID + pp.Regex(r".*")("text")


@dataclass(frozen=True, slots=True)
class Heading:
    """What a heading says."""

    message_id: str
    text: str
    """Behind the id, as printed in the first line."""
    body: Sequence[Line]
    """The lines after it."""
    cache: Cache | None = None
    display: Display | None = None
    """None with a cache: the part of the heading that would tell is missing. Otherwise not a display."""


def begins_message(text: str) -> bool:
    """Whether a line is the first one of a message of GSKSRVR.

    >>> begins_message("GSK01032I Session cache status 418"), begins_message("see GSK01032I")
    (True, False)
    """
    return text.lstrip()[:5].upper() == "GSK01" and _parsed(_MESSAGE, text) is not None


def read_heading(lines: Sequence[Line]) -> Heading | None:
    """The heading with which these lines begin; None if they do not begin with one."""
    message = _parsed(_MESSAGE, lines[0].text)
    if message is None:
        return None
    message_id, text = message["id"].upper(), message["text"]
    if _parsed(_CRYPTO_HEADING, lines[0].text):
        return Heading(message_id, text, lines[1:], display=Display.CRYPTO)
    cache: Cache | None = None
    for count, joined in _joined(lines):
        if found := _parsed(_CACHE_HEADING, joined):
            cache = Cache.TICKET if "ticket" in found else Cache.SESSION_ID
            if "display" in found:
                return Heading(message_id, text, lines[count:], cache, Display(found["display"]))
    by_id, display = _KNOWN_IDS.get(message_id, (None, None))
    rest = _without_second_line(lines[1:]) if by_id else lines[1:]
    return Heading(message_id, text, rest, cache or by_id, display)


def _joined(lines: Sequence[Line]) -> list[tuple[int, str]]:
    """The first line, the first two that are not blank and so on, with the number of lines they take."""
    joined: list[tuple[int, str]] = []
    for count, line in enumerate(lines, 1):
        if line.text.strip():
            joined.append((count, f"{joined[-1][1]} {line.text}" if joined else line.text))
        if len(joined) == _MOST_PIECES:
            break
    return joined


def _without_second_line(lines: Sequence[Line]) -> Sequence[Line]:
    for index, line in enumerate(lines[:_MOST_PIECES]):
        if line.text.strip():
            return lines[index + 1 :] if _parsed(_SECOND_LINE, line.text) else lines
    return lines


def _parsed(grammar: pp.ParserElement, text: str) -> pp.ParseResults | None:
    try:
        return grammar.parse_string(text)
    except pp.ParseException:
        return None
