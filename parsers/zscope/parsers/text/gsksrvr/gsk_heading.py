"""The heading of a GSKSRVR display: its kind, its cache, and the lines after it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import pyparsing as pp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.parsers.text.captured_report import Line


_MOST_PIECES = 3
"""Lines of a heading: the system splits it into two, a narrow screen into more."""


class Cache(StrEnum):
    """One of the two caches that the systems of a sysplex share."""

    SESSION_ID = "session-id"
    TICKET = "ticket"

    @property
    def command(self) -> str:
        """The name of the cache in commands."""
        return "TICKETCACHE" if self is Cache.TICKET else "SIDCACHE"


class Display(StrEnum):
    """The kinds of displays."""

    STATUS = "status"
    STATISTICS = "statistics"
    CRYPTO = "crypto"


_KNOWN_IDS = {
    "GSK01032I": (Cache.SESSION_ID, Display.STATUS),
    "GSK01078I": (Cache.TICKET, Display.STATUS),
    "GSK01079I": (Cache.TICKET, Display.STATISTICS),
    "GSK01081I": (Cache.SESSION_ID, Display.STATISTICS),
}
"""Used for a heading that is cut. A whole one is recognised by its words: not all ids are published."""

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
class GskHeading:
    """A message id with the display that follows."""

    message_id: str
    text: str
    """The text after the id in the first line."""
    body: Sequence[Line]
    """The lines after the heading."""
    cache: Cache | None = None
    display: Display | None = None
    """None if the message is no display, or, with a cache, if the rest of the heading is missing."""


def begins_message(text: str) -> bool:
    """Return whether a line is the first one of a GSKSRVR message.

    >>> begins_message("GSK01032I Session cache status 418"), begins_message("see GSK01032I")
    (True, False)
    """
    return text.lstrip()[:5].upper() == "GSK01" and _parsed(_MESSAGE, text) is not None


def read_heading(lines: Sequence[Line]) -> GskHeading | None:
    """Return the heading with which these lines begin, or None."""
    message = _parsed(_MESSAGE, lines[0].text)
    if message is None:
        return None
    message_id, text = message["id"].upper(), message["text"]
    if _parsed(_CRYPTO_HEADING, lines[0].text):
        return GskHeading(message_id, text, lines[1:], display=Display.CRYPTO)
    cache: Cache | None = None
    for count, joined in _joined(lines):
        if parsed := _parsed(_CACHE_HEADING, joined):
            cache = Cache.TICKET if "ticket" in parsed else Cache.SESSION_ID
            if "display" in parsed:
                return GskHeading(message_id, text, lines[count:], cache, Display(parsed["display"]))
    by_id, display = _KNOWN_IDS.get(message_id, (None, None))
    rest = _without_second_line(lines[1:]) if by_id else lines[1:]
    return GskHeading(message_id, text, rest, cache or by_id, display)


def _joined(lines: Sequence[Line]) -> list[tuple[int, str]]:
    """Return the first line, the first two that are not blank and so on, with the number of lines used."""
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


_IDS = {
    (Cache.SESSION_ID, Display.STATUS): "GSK01032I",
    (Cache.TICKET, Display.STATUS): "GSK01078I",
    (Cache.TICKET, Display.STATISTICS): "GSK01079I",
    (Cache.SESSION_ID, Display.STATISTICS): "GSK01081I",
}
_RESET_IDS = {Cache.TICKET: "GSK01080I", Cache.SESSION_ID: "GSK01082I"}
"""Assumed for the reply to a reset, whose id is not published."""
_LONGEST_FIRST_LINE = 30


def heading_lines(cache: Cache, display: Display, *, split: bool = True, reset: bool = False) -> list[str]:
    """Return the heading of a cache display: one line, or two if the system splits it.

    >>> heading_lines(Cache.TICKET, Display.STATUS)
    ['GSK01078I Session ticket cache', ' status']
    """
    message_id = _RESET_IDS[cache] if reset else _IDS[cache, display]
    words = "Session ticket cache" if cache is Cache.TICKET else "Session cache"
    first = f"{message_id} {words}"
    whole = f"{first} {display}"
    return [first, f" {display}"] if split and len(whole) > _LONGEST_FIRST_LINE else [whole]
