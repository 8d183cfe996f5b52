"""Fields that are numbers or times: integers, hexadecimal floating point, packed decimal, clocks and spans.

Packed decimal numbers have two digits per byte and the sign in the last half byte; packed dates and times of
day are such numbers. Times are also TOD clocks, hundredths of a second since midnight, and the expiry of
certificates. Whether a column is in local time or UTC is decided by its declaration.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.issues import Code
from zscope.parsers.smf.codecs.base import (
    ByteRows,
    Column,
    Raw,
    as_byte_rows,
    each_once,
    filled,
    fixed_items,
    number_pairs,
    opaque,
    rows_of,
    unsigned,
    with_nulls,
    without_nulls,
)
from zscope.parsers.smf.header import HUNDREDTHS_OF_A_DAY
from zscope.schemas.arrow import LOCAL as LOCAL_TYPE
from zscope.schemas.arrow import UTC as UTC_TYPE
from zscope.schemas.arrow import arrow_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.text.coding import CodePage
    from zscope.schemas import Field


@dataclass(frozen=True, slots=True)
class Integer:
    """Big-endian integers of 1, 2, 3, 4 or 8 bytes."""

    kind: str

    def storage(self, length: int) -> str:
        """Return the numpy type; three-byte numbers have none and are opaque bytes."""
        return "V3" if length == ODD_LENGTH else f">{self.kind}{length}"

    def decode(self, raw: Raw) -> pa.Array:
        """Decode the numbers; all 64 bits are exact."""
        values = raw.values
        if values.dtype.kind == "V":
            rows = raw.byte_rows().astype(np.uint32)
            values = rows[:, 0] << 16 | rows[:, 1] << 8 | rows[:, 2]
        nothing = None if raw.field.nothing is None else values == raw.field.nothing
        if raw.field.scale != 1:
            values = values.astype(f"{self.kind}8") * raw.field.scale
        return pa.array(values, arrow_type(raw.field), mask=nothing)

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Null becomes the field's value for absent, or zero."""
        length = field.length or 0
        numbers = filled(values, f"{self.kind}8", (field.nothing or 0) * field.scale) // field.scale
        return rows_of(numbers)[:, -length:]


ODD_LENGTH = 3
UNSIGNED = Integer("u")
SIGNED = Integer("i")

_EXCESS = 64
_FRACTION_BITS = 56


class HexFloat:
    """Sign, seven bits of a power of 16, 56 bits of fraction."""

    def storage(self, length: int) -> str:
        """Return the type of a number, because shifts extract the parts."""
        return unsigned(length)

    def decode(self, raw: Raw) -> pa.Array:
        """Doubles hold 53 of the 56 bits and more than the range."""
        word = raw.values
        fraction = (word & np.uint64(0x00FFFFFFFFFFFFFF)).astype(np.float64)
        power = ((word >> np.uint64(_FRACTION_BITS)) & np.uint64(0x7F)).astype(np.int32)
        value = np.ldexp(fraction, 4 * (power - _EXCESS) - _FRACTION_BITS) * raw.field.scale
        return pa.array(np.where(word >> np.uint64(63), -value, value))

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Rounded to the 53 bits of a double; a value out of range is an error."""
        numbers = without_nulls(values, 0).astype(np.float64) / field.scale
        return as_byte_rows(encode_hex_float(numbers).astype(">u8"))


def encode_hex_float(numbers: Column) -> Column:
    """Doubles as words of hexadecimal floating point."""
    mantissa, exponent = np.frexp(np.abs(numbers))
    power = -(-exponent // 4)
    fraction = np.ldexp(mantissa, exponent - 4 * power + _FRACTION_BITS).astype(np.uint64)
    power = np.where(fraction == 0, 0, power + _EXCESS)
    if ((power < 0) | (power > 0x7F) | ~np.isfinite(numbers)).any():
        raise ValueError("a number is out of the range of hexadecimal floating point")
    sign = np.signbit(numbers) & (fraction != 0)
    word: Column = sign.astype(np.uint64) << np.uint64(63)
    word |= power.astype(np.uint64) << np.uint64(_FRACTION_BITS) | fraction
    return word


HEX_FLOAT = HexFloat()


MINUS = 0x0D
SIGNS = (0x0A, 0x0C, 0x0E, 0x0F)


def digits(word: Column, count: int) -> tuple[list[NDArray[np.int64]], NDArray[np.bool_]]:
    """The decimal digits of packed words, most significant first, and whether all is decimal and signed."""
    number = word.astype(np.int64)
    parts = [number >> 4 * place & 0x0F for place in range(count, 0, -1)]
    sign = number & 0x0F
    valid = np.isin(sign, (*SIGNS, MINUS))
    for part in parts:
        valid &= part <= 9
    return parts, valid


def joined(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The number that decimal digits make."""
    total = np.zeros(len(parts[0]), np.int64)
    for part in parts:
        total = total * 10 + part
    return total


def pack(number: Column, places: int) -> Column:
    """Non-negative numbers as packed words with the preferred plus sign."""
    rest = number.astype(np.int64)
    word = np.full(len(rest), 0x0F, np.int64)
    for place in range(1, places + 1):
        word |= rest % 10 << 4 * place
        rest //= 10
    if rest.any():
        raise ValueError(f"a number has more than {places} digits")
    return word


class PackedNumber:
    """A plain packed number."""

    def storage(self, length: int) -> str:
        """Return the type of a number, because shifts extract the digits."""
        return unsigned(length)

    def decode(self, raw: Raw) -> pa.Array:
        """Other than decimal digits is malformed; only zero bytes means absent."""
        parts, valid = digits(raw.values, 2 * (raw.field.length or 0) - 1)
        absent = raw.values == 0
        value = joined(parts)
        value = np.where((raw.values & 0x0F) == MINUS, -value, value)
        raw.flag(Code.BAD_PACKED, ~valid & ~absent, "is not a packed decimal number")
        return pa.array(value.astype(np.int32), mask=~valid)

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Encode the values; null becomes zero bytes."""
        length = field.length or 0
        numbers = filled(values, "i8")
        word = pack(np.abs(numbers), 2 * length - 1)
        word = np.where(numbers < 0, word - 2, word)
        word = np.where(values.is_null().to_numpy(zero_copy_only=False), 0, word)
        return rows_of(word)[:, -length:]


class PackedSpan:
    """mmsstttF, decoded to milliseconds; less than 100 minutes."""

    def storage(self, length: int) -> str:
        """Return the type of a number, because shifts extract the digits."""
        return unsigned(length)

    def decode(self, raw: Raw) -> pa.Array:
        """Only zero bytes means absent."""
        parts, valid = digits(raw.values, 7)
        absent = raw.values == 0
        valid &= parts[2] <= 5
        minutes, seconds, milliseconds = joined(parts[:2]), joined(parts[2:4]), joined(parts[4:])
        raw.flag(Code.BAD_PACKED, ~valid & ~absent, "is not an interval of the form mmsstttF")
        value = (minutes * 60 + seconds) * 1000 + milliseconds
        return pa.array(value.astype(np.uint64), mask=~valid)

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Encode the values; null becomes zero bytes."""
        milliseconds = filled(values, "i8")
        if (milliseconds >= 100 * 60_000).any():
            raise ValueError("an interval of 100 minutes or more cannot be written as mmsstttF")
        seconds, rest = milliseconds // 1000, milliseconds % 1000
        word = pack((seconds // 60 * 100 + seconds % 60) * 1000 + rest, 7)
        word = np.where(values.is_null().to_numpy(zero_copy_only=False), 0, word)
        return rows_of(word)[:, -4:]


PACKED_NUMBER = PackedNumber()
PACKED_SPAN = PackedSpan()


DAY_US = 86_400_000_000
TOD_EPOCH_US = 2_208_988_800_000_000
"""Microseconds from 1900, where the TOD clock starts, to 1970."""
NO_DATE = 0x0000000F

# First day of each year from 1900 to 2099, in days since 1970.
_YEARS = np.arange("1900", "2101", dtype="datetime64[Y]").astype("datetime64[D]").astype(np.int64)


def decode_dates(word: Column) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Packed dates 0cyydddF as days since 1970; which are valid; which are absent."""
    parts, valid = digits(word, 7)
    absent = (word == 0) | (word >> 4 == 0)
    year = np.clip(parts[1] * 100 + parts[2] * 10 + parts[3], 0, 199)
    day = joined(parts[4:])
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
    return np.where(absent, NO_DATE, pack(year * 1000 + day, 7))


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
        parts, valid = digits(raw.values, 7)
        hours, minutes, seconds = (joined(parts[at : at + 2]) for at in (1, 3, 5))
        valid &= (parts[0] == 0) & (hours < 24) & (minutes < 60) & (seconds < 60)
        return _timestamps(raw, ((hours * 60 + minutes) * 60 + seconds) * 1_000_000, valid)

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """The time of day to the second; the date is written by its own field."""
        microseconds, absent = _microseconds(values)
        seconds = np.where(absent, 0, microseconds % DAY_US // 1_000_000)
        decimal = seconds // 3600 * 10_000 + seconds // 60 % 60 * 100 + seconds % 60
        return rows_of(pack(decimal, 7).astype(np.uint32))


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
        """Each distinct text is decoded once, and all texts of the usual form at the same time."""
        distinct = number_pairs(raw.partners[raw.field.form], raw.values)
        keys = np.frombuffer(fixed_items(distinct.dictionary), np.uint8).reshape(len(distinct.dictionary), -1)
        times, known = usual_certificate_times(keys[:, 0], keys[:, 1:])
        malformed = np.zeros(len(keys), np.bool_)
        for index in np.flatnonzero(~known).tolist():
            try:
                time = certificate_time(int(keys[index, 0]), keys[index, 1:].tobytes(), raw.page)
            except ValueError:
                malformed[index] = True
            else:
                known[index] = time is not None
                times[index] = time or 0
        if malformed.any():
            bad = malformed[distinct.indices.to_numpy()]
            raw.flag(Code.BAD_CERT_TIME, bad, "is not an expiry of the form in its type field")
        return with_nulls(times, ~known, UTC_TYPE).take(distinct.indices)

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


def certificate_time(form: int, raw: bytes, page: CodePage) -> int | None:
    """Return microseconds since 1970, or None if absent; a malformed text is a ValueError."""
    if not raw.strip(b"\0\x40\x20"):
        return None
    text = raw.decode("ascii", "replace") if raw[:1].isdigit() else page.decode(raw)
    if form == UTC_FORM:
        text = ("20" if text[:2] < str(_CENTURY_CUT) else "19") + text[:13]
    elif form != GENERALIZED_FORM:
        raise ValueError(f"form {form} is not known")
    time = datetime.strptime(text.rstrip(" \0"), "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
    return round(time.timestamp() * 1_000_000)


_USUAL_LENGTH = 15
_UTC_DIGITS, _GENERALIZED_DIGITS = 12, 14
_ASCII_ZERO, _ASCII_Z, _EBCDIC_ZERO, _EBCDIC_Z = 0x30, 0x5A, 0xF0, 0xE9


def usual_certificate_times(forms: Column, texts: ByteRows) -> tuple[Column, NDArray[np.bool_]]:
    """Return microseconds since 1970 and where they are known: of valid digits with a Z, in either form."""
    times = np.zeros(len(forms), np.int64)
    if texts.shape[1] != _USUAL_LENGTH:
        return times, np.zeros(len(forms), np.bool_)
    ascii_digits = texts[:, 0] - np.uint8(_ASCII_ZERO) <= 9
    digits = texts - np.where(ascii_digits, np.uint8(_ASCII_ZERO), np.uint8(_EBCDIC_ZERO))[:, None]
    short = forms == UTC_FORM
    count = np.where(short, _UTC_DIGITS, _GENERALIZED_DIGITS)
    known = ((digits <= 9) | (np.arange(_USUAL_LENGTH) >= count[:, None])).all(axis=1)
    known &= texts[np.arange(len(texts)), count] == np.where(ascii_digits, _ASCII_Z, _EBCDIC_Z)
    known &= short | (forms == GENERALIZED_FORM)
    # Other bytes than digits give any numbers, which the ranges exclude or `known` does.
    pairs = digits[:, :_GENERALIZED_DIGITS].astype(np.int64) @ _PAIRS
    century = np.where(pairs[:, 0] < _CENTURY_CUT, 20, 19)
    with_century = np.column_stack([century, pairs[:, : _UTC_DIGITS // 2]])
    parts = np.where(short[:, None], with_century, pairs)
    year, month, day = parts[:, 0] * 100 + parts[:, 1], parts[:, 2], parts[:, 3]
    hour, minute, second = parts[:, 4], parts[:, 5], parts[:, 6]
    known &= (year >= 1) & (month >= 1) & (month <= 12) & (hour < 24) & (minute < 60) & (second < 60)
    months = (np.where(known, year, 1970) - 1970) * 12 + np.where(known, month, 1) - 1
    first, following = (
        (months + more).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) for more in (0, 1)
    )
    known &= (day >= 1) & (day <= following - first)
    seconds = (first + day - 1) * (DAY_US // 1_000_000) + hour * 3600 + minute * 60 + second
    return np.where(known, seconds * 1_000_000, 0), known


_PAIRS = np.kron(np.eye(_GENERALIZED_DIGITS // 2, dtype=np.int64), np.array([[10], [1]]))
"""Turns digits into the numbers that two of them make."""


HUNDREDTHS = Hundredths()
PACKED_TIME = PackedTime()
PACKED_DATE = PackedDate()
TOD = Tod(UTC_TYPE)
TOD_LOCAL = Tod(LOCAL_TYPE)
TOD_SPAN = TodSpan("u")
TOD_SPAN_SIGNED = TodSpan("i")
CERT_TIME = CertTime()
