"""The zone in which the formatter wrote moments, as an option names it."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo


def zone_of(text: str | None) -> tzinfo | None:
    """The zone of a name or a distance from UTC; None where none is told. ValueError for what is no zone.

    >>> zone_of("+01:00").utcoffset(None), zone_of("UTC") is UTC
    (datetime.timedelta(seconds=3600), True)
    """
    if text is None:
        return None
    if text.upper() in {"UTC", "Z"}:
        return UTC
    try:
        if text[:1] in {"+", "-"}:
            return datetime.fromisoformat(f"2000-01-01T00:00{text}").tzinfo
        return ZoneInfo(text)
    except (OSError, KeyError, ValueError) as error:
        expected = "a name such as Europe/Berlin or a distance from UTC such as +01:00"
        raise ValueError(f"{text[:60]!r} is no time zone: expected is {expected}") from error
