"""Conversion of the values that the formatter prints, including what it prints for a missing field."""

from __future__ import annotations

import csv
import re
from datetime import UTC, datetime, tzinfo

from zscope.schemas.errors import Error

MICROSECONDS = 1_000_000
_NUMBER = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_HEX_NUMBER = re.compile(r"(?=0.|.*[A-F])[0-9A-F]{1,8}", re.ASCII | re.IGNORECASE)
"""With a letter or a leading zero: numbers in decimal have neither."""
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2})+", re.ASCII)
_DATE = re.compile(r"(\d{4})[/-](\d\d)[/-](\d\d)", re.ASCII)
_CLOCK = re.compile(r"(\d\d):(\d\d):(\d\d)(?:[.,](\d{6}))?", re.ASCII)
_NO_DATE = re.compile(r"|1970[/-]01[/-]01", re.ASCII)
_NOT_THERE = "-1"


class AmbiguousError(Error, ValueError):
    """A time that occurs twice in a zone, because clocks are set back."""


class SkippedError(Error, ValueError):
    """A time that does not exist in a zone, because clocks are set forward."""


def cells(text: str) -> list[str] | None:
    """Return the values of a line without quotes, `=` and blanks around them; None if the line is no CSV.

    >>> cells('="100000","MQ5A ",8, 882000 ,')
    ['100000', 'MQ5A', '8', '882000', '']
    >>> cells('"MQ5A') is None
    True
    """
    try:
        (values,) = csv.reader([text], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        return None
    return [_bare(cell) for cell in values]


def _bare(cell: str) -> str:
    """Remove the formula around a text such as `="0012"`, which keeps spreadsheets from converting it."""
    bare = cell.strip()
    if bare.startswith('="') and bare.endswith('"') and len(bare) > 2:
        bare = bare[2:-1].strip()
    return bare


def number(text: str) -> int | None:
    """Return a whole number, or None if the record has no such field; raise a ValueError for other text.

    >>> number("200"), number("-1")
    (200, None)
    """
    if text in {"", _NOT_THERE}:
        return None
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    return int(text)


def cipher(text: str) -> int | None:
    """Return the number of a cipher suite, printed in decimal or, by early releases of the formatter, in hex.

    >>> cipher("49192") == cipher("C028"), cipher("00001301") == cipher("4865")
    (True, True)
    """
    return int(text, 16) if _HEX_NUMBER.fullmatch(text) else number(text)


def is_value(text: str) -> bool:
    """Return whether a text is a value, not what is printed if the record has no such field.

    >>> is_value("0"), is_value("-1"), is_value("....")
    (True, False, False)
    """
    return bool(text.strip(" .")) and text != _NOT_THERE


def characters(text: str) -> str | None:
    """Return a text without padding, or None if the record has no such field.

    >>> characters("MQ5A  "), characters("    "), characters(".....")
    ('MQ5A', '', None)
    """
    bare = text.strip()
    return None if bare and not bare.strip(".") else bare


def digits(text: str) -> str | None:
    """Return bytes as hexadecimal digits in lower case, or None if the record has no such field.

    >>> digits("0000000000001A2B")
    '0000000000001a2b'
    """
    if not text.strip(" ."):
        return None
    if not _HEX.fullmatch(text):
        raise ValueError(text)
    return text.lower()


def span(seconds: str, microseconds: str) -> int | None:
    """Return a duration in microseconds; JSON has no separate seconds.

    >>> span("8", "882000"), span("", "8882000")
    (8882000, 8882000)
    """
    whole, part = number(seconds), number(microseconds)
    if part is None:
        return None
    if part < 0 or (whole is not None and (whole < 0 or part >= MICROSECONDS)):
        raise ValueError(f"{seconds}, {microseconds}")
    return (whole or 0) * MICROSECONDS + part


def clock(day: str, time: str) -> datetime | None:
    """Return date and time of day, or None if nothing happened; raise a ValueError for other text.

    >>> clock("2026/03/02", "13:29:41,134500") == clock("2026-03-02", "13:29:41.134500")
    True
    >>> clock("1970/01/01", "00:00:00,000000") is None
    True
    """
    if _NO_DATE.fullmatch(day):
        return None
    date, hour = _DATE.fullmatch(day), _CLOCK.fullmatch(time)
    if date is None or hour is None:
        raise ValueError(f"{day} {time}")
    return datetime.fromisoformat(
        f"{'-'.join(date.groups())}T{':'.join(hour.groups()[:3])}.{hour[4] or '000000'}"
    )


def moment(printed: datetime, zone: tzinfo) -> datetime:
    """Return the time in UTC at which a zone shows a time; raise an error if it never does, or twice.

    >>> from zoneinfo import ZoneInfo
    >>> moment(datetime(2026, 3, 2, 14, 30), ZoneInfo("Europe/Berlin")).hour
    13
    """
    first, second = (printed.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first.astimezone(zone).replace(tzinfo=None) != printed:
        raise SkippedError(f"{printed} does not exist, because clocks are set forward; the zone may be wrong")
    if first != second:
        raise AmbiguousError(f"{printed} occurs twice, because clocks are set back")
    return first
