"""Packed decimal numbers: two digits a byte, the sign in the last half byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.issues import Code
from zscope.parsers.smf.codecs.raw import ByteRows, Column, Raw, filled, rows_of, unsigned

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.smf.ebcdic import CodePage
    from zscope.schemas import Field

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


class Number:
    """A plain packed number."""

    def storage(self, length: int) -> str:
        """As a number, so that digits are shifts."""
        return unsigned(length)

    def decode(self, raw: Raw) -> pa.Array:
        """What is not decimal is malformed; zero bytes throughout mean that nothing was stored."""
        parts, valid = digits(raw.values, 2 * (raw.field.length or 0) - 1)
        absent = raw.values == 0
        value = joined(parts)
        value = np.where((raw.values & 0x0F) == MINUS, -value, value)
        raw.flag(Code.BAD_PACKED, ~valid & ~absent, "is not a packed decimal number")
        return pa.array(value.astype(np.int32), mask=~valid)

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Null becomes zero bytes."""
        length = field.length or 0
        numbers = filled(values, "i8")
        word = pack(np.abs(numbers), 2 * length - 1)
        word = np.where(numbers < 0, word - 2, word)
        word = np.where(values.is_null().to_numpy(zero_copy_only=False), 0, word)
        return rows_of(word)[:, -length:]


class Span:
    """mmsstttF, decoded to milliseconds; it cannot hold 100 minutes."""

    def storage(self, length: int) -> str:
        """As a number, so that digits are shifts."""
        return unsigned(length)

    def decode(self, raw: Raw) -> pa.Array:
        """Zero bytes throughout mean that nothing was stored."""
        parts, valid = digits(raw.values, 7)
        absent = raw.values == 0
        valid &= parts[2] <= 5
        minutes, seconds, milliseconds = joined(parts[:2]), joined(parts[2:4]), joined(parts[4:])
        raw.flag(Code.BAD_PACKED, ~valid & ~absent, "is not an interval of the form mmsstttF")
        value = (minutes * 60 + seconds) * 1000 + milliseconds
        return pa.array(value.astype(np.uint64), mask=~valid)

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Null becomes zero bytes."""
        milliseconds = filled(values, "i8")
        if (milliseconds >= 100 * 60_000).any():
            raise ValueError("an interval of 100 minutes or more cannot be written as mmsstttF")
        seconds, rest = milliseconds // 1000, milliseconds % 1000
        word = pack((seconds // 60 * 100 + seconds % 60) * 1000 + rest, 7)
        word = np.where(values.is_null().to_numpy(zero_copy_only=False), 0, word)
        return rows_of(word)[:, -4:]


NUMBER = Number()
SPAN = Span()
