"""Times of the samples of a series: moments, times of a clock without a zone, or plain numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING

from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS, MILLISECONDS = "seconds", "milliseconds"
_NUMBER = re.compile(r"\d{1,13}(?:\.\d{0,9})?", re.ASCII)
_SINCE_1970 = 10**9
"""From this number of seconds on, a number is a time since 1970: no measurement takes 30 years."""
_MOST_SECONDS = 10**11
"""From this number on, a number without a unit is milliseconds since 1970: as seconds it is in year 5138."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_YEAR = 1900
"""The year that `strptime` assumes if a text has none."""
_SECOND_US = 1_000_000
_MICROSECOND = timedelta(microseconds=1)

EXPECTED = (
    "2026-03-02T13:20:00Z, 2026-03-02 13:20:00, seconds as a number or milliseconds since 1970; "
    "--time-format sets another format"
)


class TimeKind(Enum):
    """The kinds of times."""

    MOMENT = "with a zone"
    CLOCK = "without a zone"
    NUMBER = "a number of seconds"


@dataclass(frozen=True, slots=True)
class SampleTime:
    """The time of a sample."""

    kind: TimeKind
    microseconds: int
    """From a start that all samples of this kind share."""
    moment: datetime | None = None


class TimeFormatError(Error, ValueError):
    """A time format that cannot be used."""


def time_reader(time_format: str | None) -> Callable[[str], SampleTime]:
    """Return a function that reads times in a format, by default in any known one; it raises a ValueError.

    >>> time_reader(None)("2026-03-02 13:20:00").kind, time_reader(None)("1.5").microseconds
    (<TimeKind.CLOCK: 'without a zone'>, 1500000)
    >>> time_reader("milliseconds")("1500").microseconds
    1500000
    """
    match (time_format or "").lower():
        case "":
            return _recognised
        case "seconds":
            return lambda text: _number(text, 1)
        case "milliseconds":
            return lambda text: _number(text, 1_000)
    form = time_format or ""
    return lambda text: _clock_time(datetime.strptime(text, form))  # noqa: DTZ007 - the format may have a zone


def check_time_format(time_format: str) -> None:
    """Raise a `TimeFormatError` if a text is not a time format."""
    if time_format.lower() in {SECONDS, MILLISECONDS}:
        return
    sample = datetime(2026, 3, 2, 13, 20, 7, tzinfo=UTC)
    try:
        text = sample.strftime(time_format)
        read_back = datetime.strptime(text, time_format).replace(tzinfo=UTC)
    except (ValueError, re.error, UnicodeError) as error:
        raise TimeFormatError(_format_problem(time_format)) from error
    if read_back.time() != sample.time():
        raise TimeFormatError(_format_problem(time_format))


def _format_problem(time_format: str) -> str:
    return (
        f"{time_format[:60]!r} is not a time format with seconds: expected one such as "
        f"'%m/%d/%Y %H:%M:%S', or {SECONDS}, or {MILLISECONDS}"
    )


def _recognised(text: str) -> SampleTime:
    if _NUMBER.fullmatch(text):
        return _number(text, 1_000 if Decimal(text) >= _MOST_SECONDS else 1)
    return _clock_time(datetime.fromisoformat(text))


def _number(text: str, per_second: int) -> SampleTime:
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    microseconds = round(Decimal(text) * _SECOND_US / per_second)
    if microseconds < _SINCE_1970 * _SECOND_US:
        return SampleTime(TimeKind.NUMBER, microseconds)
    try:
        return _moment(_EPOCH + timedelta(microseconds=microseconds))
    except OverflowError as error:
        raise ValueError(text) from error


def _clock_time(when: datetime) -> SampleTime:
    try:
        if when.tzinfo is not None and when.year != _NO_YEAR:
            return _moment(when.astimezone(UTC))
    except OverflowError as error:
        raise ValueError(str(when)) from error
    plain = when.replace(tzinfo=UTC)
    return SampleTime(TimeKind.CLOCK, (plain - _EPOCH) // _MICROSECOND)


def _moment(when: datetime) -> SampleTime:
    return SampleTime(TimeKind.MOMENT, (when - _EPOCH) // _MICROSECOND, when)
