"""Binary integers and hexadecimal floating point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.codecs.raw import ByteRows, Column, Raw, as_byte_rows, filled, rows_of, unsigned
from zscope.schemas.arrow import arrow_type

if TYPE_CHECKING:
    from zscope.parsers.smf.ebcdic import CodePage
    from zscope.schemas import Field


@dataclass(frozen=True, slots=True)
class Integer:
    """Big-endian integers of 1, 2, 3, 4 or 8 bytes."""

    kind: str

    def storage(self, length: int) -> str:
        """Three-byte numbers have no numpy type of their own."""
        return "V3" if length == ODD_LENGTH else f">{self.kind}{length}"

    def decode(self, raw: Raw) -> pa.Array:
        """Exact for all 64 bits."""
        values = raw.values
        if values.dtype.kind == "V":
            rows = raw.byte_rows().astype(np.uint32)
            values = rows[:, 0] << 16 | rows[:, 1] << 8 | rows[:, 2]
        nothing = None if raw.field.nothing is None else values == raw.field.nothing
        if raw.field.scale != 1:
            values = values.astype(f"{self.kind}8") * raw.field.scale
        return pa.array(values, arrow_type(raw.field), mask=nothing)

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Null becomes what the field has for nothing, or zero, as on a system that has nothing to say."""
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
        """As a number, to take it apart by shifts."""
        return unsigned(length)

    def decode(self, raw: Raw) -> pa.Array:
        """Doubles hold 53 of the 56 bits and more than the range."""
        word = raw.values
        fraction = (word & np.uint64(0x00FFFFFFFFFFFFFF)).astype(np.float64)
        power = ((word >> np.uint64(_FRACTION_BITS)) & np.uint64(0x7F)).astype(np.int32)
        value = np.ldexp(fraction, 4 * (power - _EXCESS) - _FRACTION_BITS)
        return pa.array(np.where(word >> np.uint64(63), -value, value))

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Rounded to the 53 bits of a double; what is out of range is an error."""
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
