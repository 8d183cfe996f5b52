"""Charts over time: whether they have hours or days, and where these are drawn."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from zscope.app.dashboard.filter_choices import choices

if TYPE_CHECKING:
    from datetime import date

    from zscope.app.dashboard.page_data import PageData

Span = Literal["hour_utc", "day"]
"""Column that rows over time are grouped by: the hour in UTC, or the local day of the system."""
UNITS: dict[Span, str] = {"hour_utc": "utcyearmonthdatehours", "day": "utcyearmonthdate"}
"""The same as units of Vega, so that a bar is as wide as its hour or day."""
_HOURLY = timedelta(days=8)
"""Up to this length, hours are distinguishable on a screen."""


def drawn_at(time: date) -> datetime:
    """Return the moment at which a time is drawn: a local day where an axis in UTC has that day."""
    return time if isinstance(time, datetime) else datetime.combine(time, datetime.min.time(), UTC)


def span(data: PageData, hourly: timedelta = _HOURLY) -> Span:
    """Return the column that an hourly metric is grouped by for the period shown: the hour up to a length."""
    return "hour_utc" if period_length(data) <= hourly else "day"


def period_length(data: PageData) -> timedelta:
    """Return the length of the period shown; zero if no data has a time."""
    offered = choices(data.queries, data.version)
    begin, end = data.filters.begin or offered.first_utc, data.filters.end or offered.last_utc
    return end - begin if begin and end else timedelta(0)
