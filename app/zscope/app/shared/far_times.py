"""Dates and times that Python and Arrow cannot write: infinite ones, and years of five digits.

DuckDB knows `infinity` and years up to 5,874,897. Arrow writes them as an error text or as another year, and
Python has no such dates at all.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_S = 86_400
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31, in days since 1970."""
_CYCLE_DAYS, _CYCLE_YEARS = 146_097, 400
"""The calendar repeats itself after 400 years."""
_INFINITE_DATE = 2**31 - 1
_INFINITE_TIME = 2**63 - 1
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def is_far(column: pa.Array) -> bool:
    """Return whether a column of dates or times has a value that needs `far_text`.

    >>> is_far(pa.array([2**31 - 1], pa.date32())), is_far(pa.array([0, None], pa.date32()))
    (True, False)
    """
    kind = column.type
    if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind)):
        return False
    first, last = (each.as_py() for each in pc.min_max(_numbers(column)).values())
    if first is None:
        return False
    if pa.types.is_time(kind):
        return bool(last >= _DAY_S * _PER_SECOND[kind.unit])
    per_day = _per_day(kind)
    ends = _INFINITE_TIME if per_day > 1 else _INFINITE_DATE
    return bool(first < _FIRST_DAY * per_day or last >= min((_LAST_DAY + 1) * per_day, ends))


def far_texts(column: pa.Array) -> pa.Array:
    """Return all values of a column as text."""
    kind = column.type
    write = _time_text if pa.types.is_time(kind) else _moment_text
    numbers = _numbers(column).to_pylist()
    return pa.array([None if each is None else write(each, kind) for each in numbers], pa.string())


def far_text(value: pa.Scalar) -> str:
    """Return one value as text.

    >>> far_text(pa.scalar(-(2**63) + 1, pa.timestamp("us"))), far_text(pa.scalar(105_200_797, pa.date32()))
    ('-infinity', '290000-01-01')
    """
    return str(far_texts(pa.array([value], value.type))[0].as_py())


def _numbers(column: pa.Array) -> pa.Array:
    wide = column.type.bit_width == 64
    return column.view(pa.int64() if wide else pa.int32()).cast(pa.int64())


def _per_day(kind: pa.DataType) -> int:
    if pa.types.is_timestamp(kind):
        return _DAY_S * _PER_SECOND[kind.unit]
    return _DAY_S * 1000 if pa.types.is_date64(kind) else 1


def _time_text(number: int, kind: pa.DataType) -> str:
    seconds, rest = divmod(number, _PER_SECOND[kind.unit])
    return f"{_clock(seconds)}{_fraction(rest, kind.unit)}"


def _moment_text(number: int, kind: pa.DataType) -> str:
    per_day = _per_day(kind)
    if abs(number) == (_INFINITE_TIME if per_day > 1 else _INFINITE_DATE):
        return "infinity" if number > 0 else "-infinity"
    days, rest = divmod(number, per_day)
    cycles, day_of_cycle = divmod(days, _CYCLE_DAYS)
    near = _EPOCH + timedelta(days=day_of_cycle)
    year = near.year + cycles * _CYCLE_YEARS
    text = f"{'-' if year < 0 else ''}{abs(year):04}-{near:%m-%d}"
    if not pa.types.is_timestamp(kind):
        return text
    seconds, part = divmod(rest, _PER_SECOND[kind.unit])
    zone = "Z" if kind.tz is not None else ""
    return f"{text}T{_clock(seconds)}{_fraction(part, kind.unit)}{zone}"


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _fraction(part: int, unit: str) -> str:
    digits = len(str(_PER_SECOND[unit])) - 1
    return f".{part:0{digits}}" if digits else ""
