"""Times of the samples of a series: moments, times of a clock whose zone nobody tells, or plain numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum

SECONDS, MILLISECONDS = "seconds", "milliseconds"
_NUMBER = re.compile(r"\d{1,13}(?:\.\d{0,9})?", re.ASCII)
_SINCE_1970 = 10**9
"""Seconds from which on a number is a moment: nothing is measured for 30 years."""
_MOST_SECONDS = 10**11
"""From here on a number without a unit is milliseconds since 1970: as seconds it were of the year 5138."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_YEAR = 1900
"""What `strptime` makes of a text without a year."""
_SECOND_US = 1_000_000
_MICROSECOND = timedelta(microseconds=1)

EXPECTED = (
    "2026-03-02T13:20:00Z, 2026-03-02 13:20:00, seconds as a number or milliseconds since 1970; "
    "--time-format tells another"
)


class TimeKind(Enum):
    """What a time is counted from."""

    MOMENT = "with a zone"
    CLOCK = "without a zone"
    NUMBER = "a number of seconds"


@dataclass(frozen=True, slots=True)
class SampleTime:
    """When a sample was taken."""

    kind: TimeKind
    microseconds: int
    """From some beginning that all samples of this kind share."""
    moment: datetime | None = None


class TimeFormatError(ValueError):
    """A format of times that cannot be used."""


def reader_of(time_format: str | None) -> Callable[[str], SampleTime]:
    """What reads times that are written in a given way, or in one that is seen; raises ValueError.

    >>> reader_of(None)("2026-03-02 13:20:00").kind, reader_of(None)("1.5").microseconds
    (<TimeKind.CLOCK: 'without a zone'>, 1500000)
    >>> reader_of("milliseconds")("1500").microseconds
    1500000
    """
    match (time_format or "").lower():
        case "":
            return _seen
        case "seconds":
            return lambda text: _number(text, 1)
        case "milliseconds":
            return lambda text: _number(text, 1_000)
    form = time_format or ""
    return lambda text: _written(datetime.strptime(text, form))  # noqa: DTZ007 - the format may have a zone


def check_time_format(time_format: str) -> None:
    """Raise a TimeFormatError for what is no format."""
    if time_format.lower() in {SECONDS, MILLISECONDS}:
        return
    sample = datetime(2026, 3, 2, 13, 20, 7, tzinfo=UTC)
    try:
        text = sample.strftime(time_format)
        found = datetime.strptime(text, time_format).replace(tzinfo=UTC)
    except (ValueError, re.error, UnicodeError) as error:
        raise TimeFormatError(_told(time_format)) from error
    if found.time() != sample.time():
        raise TimeFormatError(_told(time_format))


def _told(time_format: str) -> str:
    return (
        f"{time_format[:60]!r} is no format of times down to the second: expected is one such as "
        f"'%m/%d/%Y %H:%M:%S', or {SECONDS}, or {MILLISECONDS}"
    )


def _seen(text: str) -> SampleTime:
    if _NUMBER.fullmatch(text):
        return _number(text, 1_000 if Decimal(text) >= _MOST_SECONDS else 1)
    return _written(datetime.fromisoformat(text))


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


def _written(found: datetime) -> SampleTime:
    try:
        if found.tzinfo is not None and found.year != _NO_YEAR:
            return _moment(found.astimezone(UTC))
    except OverflowError as error:
        raise ValueError(str(found)) from error
    plain = found.replace(tzinfo=UTC)
    return SampleTime(TimeKind.CLOCK, (plain - _EPOCH) // _MICROSECOND)


def _moment(found: datetime) -> SampleTime:
    return SampleTime(TimeKind.MOMENT, (found - _EPOCH) // _MICROSECOND, found)
