"""How finely a picture over time is drawn."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from zscope.app.dashboard.queries.choices import choices

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

_HOURLY = timedelta(days=8)
"""Up to this length hours can be told apart on a screen."""


def span(data: Data) -> tuple[Literal["hour_utc", "day"], Literal["hour_utc", "day_utc"]]:
    """What a metric by the hour is grouped by for the period shown, and the column this gives."""
    return ("hour_utc", "hour_utc") if length(data) <= _HOURLY else ("day", "day_utc")


def length(data: Data) -> timedelta:
    """How long the period shown is; nothing where there is no data with a time."""
    there = choices(data.answers, data.version)
    begin, end = data.filters.begin or there.first_utc, data.filters.end or there.last_utc
    return end - begin if begin and end else timedelta(0)
