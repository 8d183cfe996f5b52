"""Time zones as users write them: a name of the tz database, or a fixed offset from UTC.

Imports only the standard library, so that commands can check their options before heavy imports.
"""

from __future__ import annotations

import re
from datetime import UTC, timedelta, timezone, tzinfo
from difflib import get_close_matches
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from zscope.schemas.errors import Error

_FIXED = re.compile(r"([+-])(\d{2}):?(\d{2})")
_FARTHEST = timedelta(hours=16)
"""Clocks of real systems are up to 14 hours from UTC; more is a typing error."""
EXPECTED = 'a name such as "Europe/Berlin" or a fixed offset from UTC such as "+01:00"'


class ZoneError(Error, ValueError):
    """A text that is not a time zone; the message contains what is expected."""


@cache
def zone_of(text: str) -> tzinfo:
    """Return the time zone that a text names.

    >>> zone_of("-05:30").utcoffset(None)
    datetime.timedelta(days=-1, seconds=66600)
    """
    if text.upper() in {"UTC", "Z"}:
        return UTC
    if text[:1] in {"+", "-"}:
        return _fixed(text)
    try:
        return ZoneInfo(text)
    except (OSError, ValueError, KeyError) as error:
        raise ZoneError(_why(text)) from error


def _fixed(text: str) -> timezone:
    parts = _FIXED.fullmatch(text)
    if parts is None:
        raise ZoneError(
            f"{text!r} is not an offset from UTC: write hours and minutes, such as +01:00 or -05:30"
        )
    sign, hours, minutes = parts.groups()
    distance = timedelta(hours=int(hours), minutes=int(minutes))
    if int(minutes) > 59 or distance > _FARTHEST:
        raise ZoneError(f"{text!r} is not a valid offset from UTC: the largest is 16 hours")
    return timezone(-distance if sign == "-" else distance)


def offset_text(seconds: int) -> str:
    """Return an offset as `--timezone` expects it.

    >>> offset_text(3600), offset_text(-5 * 3600 - 1800)
    ('+01:00', '-05:30')
    """
    hours, minutes = divmod(abs(seconds) // 60, 60)
    return f"{'-' if seconds < 0 else '+'}{hours:02}:{minutes:02}"


def _why(text: str) -> str:
    known = {name.casefold(): name for name in available_timezones()}
    if not known:
        return (
            "this machine has no database of time zones: pip install tzdata (or the package tzdata of the "
            "operating system), or use a fixed offset from UTC such as +01:00"
        )
    near = get_close_matches(text.casefold(), known, n=3)
    hint = f"; similar names are {', '.join(known[name] for name in near)}" if near else ""
    return f"{text[:60]!r} is not a time zone: expected is {EXPECTED}{hint}"
