"""Points in time and spans: TOD clock, time of day with a packed date, certificate expiry.

Whether a column is in local time or UTC is decided by its declaration.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.issues import Code
from zscope.parsers.smf.codecs import numbers as packed
from zscope.parsers.smf.codecs.base import (
    ByteRows,
    Column,
    Raw,
    as_byte_rows,
    each_once,
    filled,
    number_pairs,
    opaque,
    rows_of,
    unsigned,
    with_nulls,
)
from zscope.parsers.smf.header import HUNDREDTHS_OF_A_DAY
from zscope.schemas.arrow import LOCAL as LOCAL_TYPE
from zscope.schemas.arrow import UTC as UTC_TYPE
from zscope.schemas.arrow import arrow_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.smf.ebcdic import CodePage
    from zscope.schemas import Field

DAY_US = 86_400_000_000
TOD_EPOCH_US = 2_208_988_800_000_000
"""Microseconds from 1900, where the TOD clock starts, to 1970."""
NO_DATE = 0x0000000F

# First day of each year from 1900 to 2099, in days since 1970.
_YEARS = np.arange("1900", "2101", dtype="datetime64[Y]").astype("datetime64[D]").astype(np.int64)


def decode_dates(word: Column) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Packed dates 0cyydddF as days since 1970; which are valid; which are absent."""
    parts, valid = packed.digits(word, 7)
    absent = (word == 0) | (word >> 4 == 0)
    year = np.clip(parts[1] * 100 + parts[2] * 10 + parts[3], 0, 199)
    day = packed.joined(parts[4:])
    length = _YEARS[year + 1] - _YEARS[year]
    valid &= (parts[0] == 0) & (parts[1] <= 1) & (day >= 1) & (day <= length)
    return _YEARS[year] + day - 1, valid, absent


def encode_dates(days: Column, absent: NDArray[np.bool_]) -> Column:
    """Days since 1970 as packed dates."""
    date = np.where(absent, 0, days).astype("datetime64[D]")
    year = date.astype("datetime64[Y]").astype(np.int64) + 70
    if ((year < 0) | (year > 199)).any():
        raise ValueError("a packed date can only contain the years from 1900 to 2099")
    day = date.astype(np.int64) - _YEARS[year] + 1
    return np.where(absent, NO_DATE, packed.pack(year * 1000 + day, 7))


def _microseconds(values: pa.Array) -> tuple[Column, NDArray[np.bool_]]:
    absent = values.is_null().to_numpy(zero_copy_only=False)
    return filled(values.cast(pa.int64()), "i8"), absent


def _timestamps(raw: Raw, microseconds: Column, valid_time: NDArray[np.bool_]) -> pa.Array:
    """The day of the partner and the time of this field, as one timestamp."""
    days, valid_date, no_date = each_once(raw.partners[raw.field.date], decode_dates)
    times = days * DAY_US + microseconds
    valid = valid_date & valid_time
    if valid.all():
        return pa.array(times).view(arrow_type(raw.field))
    raw.flag(
        Code.BAD_DATE, ~valid_date & ~no_date, f"the date ({raw.field.date}) is not a packed date 0cyydddF"
    )
    raw.flag(Code.BAD_TIME, ~valid_time & ~no_date, "is not a time of day")
    return with_nulls(times, ~valid, arrow_type(raw.field))


class Hundredths:
    """1/100 seconds since midnight, with the packed date of another field."""

    def storage(self, length: int) -> str:
        """Return the type of a number."""
        return unsigned(length)

    def decode(self, raw: Raw) -> pa.Array:
        """Without a date there is no timestamp, whatever the time."""
        return _timestamps(raw, raw.values.astype(np.int64) * 10_000, raw.values < HUNDREDTHS_OF_A_DAY)

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """The time of day; the date is written by its own field."""
        microseconds, absent = _microseconds(values)
        return rows_of(np.where(absent, 0, microseconds % DAY_US // 10_000).astype(np.uint32))


class PackedTime:
    """0hhmmssF, with the packed date of another field."""

    def storage(self, length: int) -> str:
        """Return the type of a number, because shifts extract the digits."""
        return unsigned(length)

    def decode(self, raw: Raw) -> pa.Array:
        """Without a date there is no timestamp, whatever the time."""
        parts, valid = packed.digits(raw.values, 7)
        hours, minutes, seconds = (packed.joined(parts[at : at + 2]) for at in (1, 3, 5))
        valid &= (parts[0] == 0) & (hours < 24) & (minutes < 60) & (seconds < 60)
        return _timestamps(raw, ((hours * 60 + minutes) * 60 + seconds) * 1_000_000, valid)

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """The time of day to the second; the date is written by its own field."""
        microseconds, absent = _microseconds(values)
        seconds = np.where(absent, 0, microseconds % DAY_US // 1_000_000)
        decimal = seconds // 3600 * 10_000 + seconds // 60 % 60 * 100 + seconds % 60
        return rows_of(packed.pack(decimal, 7).astype(np.uint32))


class PackedDate:
    """0cyydddF, the partner of a time of day; it has no separate column."""

    def storage(self, length: int) -> str:
        """Return the type of a number, because shifts extract the digits."""
        return unsigned(length)

    def decode(self, raw: Raw) -> pa.Array:
        """Decode the days."""
        days, valid, absent = decode_dates(raw.values)
        raw.flag(Code.BAD_DATE, ~valid & ~absent, "is not a packed date 0cyydddF")
        return pa.array(days.astype(np.int32), mask=~valid).cast(pa.date32())

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """The day of the timestamp the field shares with its time."""
        microseconds, absent = _microseconds(values)
        return rows_of(encode_dates(microseconds // DAY_US, absent).astype(np.uint32))


@dataclass(frozen=True, slots=True)
class Tod:
    """A point in time on the TOD clock, in which bit 51 is one microsecond."""

    kind: pa.DataType
    """UTC, or local time where the clock was set to that."""

    def storage(self, length: int) -> str:
        """Return the type of a number."""
        return unsigned(length)

    def decode(self, raw: Raw) -> pa.Array:
        """A clock of zero means that there is no time. Leap seconds are not subtracted."""
        microseconds = (raw.values >> np.uint64(12)).astype(np.int64) - TOD_EPOCH_US
        return with_nulls(microseconds, raw.values == 0, self.kind)

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Microseconds; the finer bits are zero."""
        microseconds, absent = _microseconds(values)
        clock = (microseconds + TOD_EPOCH_US).astype(np.uint64) << np.uint64(12)
        return rows_of(np.where(absent, np.uint64(0), clock))


@dataclass(frozen=True, slots=True)
class TodSpan:
    """An elapsed time, or an offset, in units of the TOD clock."""

    kind: str

    def storage(self, length: int) -> str:
        """Return the type of a number."""
        return f">{self.kind}{length}"

    def decode(self, raw: Raw) -> pa.Array:
        """Decode whole microseconds."""
        return pa.array(raw.values >> raw.values.dtype.type(12))

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Encode the values; the finer bits are zero."""
        return rows_of(filled(values, f"{self.kind}8") << np.dtype(f"{self.kind}8").type(12))


class CertTime:
    """The end of a certificate's life: YYMMDDhhmmssZ or YYYYMMDDhhmmssZ, in EBCDIC or ASCII."""

    def storage(self, length: int) -> str:
        """Return the type of opaque bytes."""
        return opaque(length)

    def decode(self, raw: Raw) -> pa.Array:
        """Certificates are few, so each distinct text is read once."""
        distinct = number_pairs(raw.partners[raw.field.form], raw.values)
        times: list[int | None] = []
        malformed = np.zeros(len(distinct.dictionary), np.bool_)
        for index, key in enumerate(distinct.dictionary.to_pylist()):
            try:
                times.append(_certificate_time(key[0], key[1:], raw.page))
            except ValueError:
                times.append(None)
                malformed[index] = True
        if malformed.any():
            bad = malformed[distinct.indices.to_numpy()]
            raw.flag(Code.BAD_CERT_TIME, bad, "is not an expiry of the form in its type field")
        return pa.array(times, pa.int64()).view(UTC_TYPE).take(distinct.indices)

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Four-digit years, the only form for every date; null becomes blanks."""
        texts = [
            page.encode("" if time is None else f"{time:%Y%m%d%H%M%S}Z", field.length)
            for time in values.to_pylist()
        ]
        return as_byte_rows(np.array(texts, f"S{field.length}").view(f"V{field.length}"))


UTC_FORM, GENERALIZED_FORM = 1, 2
_CENTURY_CUT = 50
"""Two-digit years below it are of this century (RFC 5280)."""


def _certificate_time(form: int, raw: bytes, page: CodePage) -> int | None:
    """Microseconds since 1970; None when absent; malformed is a ValueError."""
    if not raw.strip(b"\0\x40\x20"):
        return None
    text = raw.decode("ascii", "replace") if raw[:1].isdigit() else page.decode(raw)
    if form == UTC_FORM:
        text = ("20" if text[:2] < str(_CENTURY_CUT) else "19") + text[:13]
    elif form != GENERALIZED_FORM:
        raise ValueError(f"form {form} is not known")
    time = datetime.strptime(text.rstrip(" \0"), "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
    return round(time.timestamp() * 1_000_000)


HUNDREDTHS = Hundredths()
PACKED_TIME = PackedTime()
PACKED_DATE = PackedDate()
TOD = Tod(UTC_TYPE)
TOD_LOCAL = Tod(LOCAL_TYPE)
TOD_SPAN = TodSpan("u")
TOD_SPAN_SIGNED = TodSpan("i")
CERT_TIME = CertTime()
