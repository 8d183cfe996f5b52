"""Binary integers, hexadecimal floating point, and packed decimal numbers.

Packed decimal numbers have two digits per byte and the sign in the last half byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.issues import Code
from zscope.parsers.smf.codecs.base import ByteRows, Column, Raw, as_byte_rows, filled, rows_of, unsigned
from zscope.schemas.arrow import arrow_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.smf.ebcdic import CodePage
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
        value = np.ldexp(fraction, 4 * (power - _EXCESS) - _FRACTION_BITS)
        return pa.array(np.where(word >> np.uint64(63), -value, value))

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Rounded to the 53 bits of a double; a value out of range is an error."""
        numbers = np.asarray(values.fill_null(0).to_numpy(zero_copy_only=False), np.float64)
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
