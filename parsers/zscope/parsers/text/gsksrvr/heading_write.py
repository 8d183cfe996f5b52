"""Writes the heading of a cache display."""

from __future__ import annotations

from zscope.parsers.text.gsksrvr.heading import Cache, Display

_IDS = {
    (Cache.SESSION_ID, Display.STATUS): "GSK01032I",
    (Cache.TICKET, Display.STATUS): "GSK01078I",
    (Cache.TICKET, Display.STATISTICS): "GSK01079I",
    (Cache.SESSION_ID, Display.STATISTICS): "GSK01081I",
}
_RESET_IDS = {Cache.TICKET: "GSK01080I", Cache.SESSION_ID: "GSK01082I"}
"""What the reply to a reset may have; nobody has published it."""
_LONGEST_FIRST_LINE = 30


def heading_lines(cache: Cache, display: Display, *, split: bool = True, reset: bool = False) -> list[str]:
    """One line, or two where the system splits it.

    >>> heading_lines(Cache.TICKET, Display.STATUS)
    ['GSK01078I Session ticket cache', ' status']
    """
    message_id = _RESET_IDS[cache] if reset else _IDS[cache, display]
    words = "Session ticket cache" if cache is Cache.TICKET else "Session cache"
    first = f"{message_id} {words}"
    whole = f"{first} {display}"
    return [first, f" {display}"] if split and len(whole) > _LONGEST_FIRST_LINE else [whole]
