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
    if text[:1] in {"+", "-"}:
        return datetime.fromisoformat(f"2000-01-01T00:00{text}").tzinfo
    try:
        return ZoneInfo(text)
    except (OSError, KeyError) as error:
        raise ValueError(f"{text[:60]!r} is no time zone") from error
