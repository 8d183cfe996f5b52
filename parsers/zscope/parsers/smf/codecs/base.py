"""The interface of codecs, and functions they share.

Job names, dates and addresses repeat, so slow work is done once for each distinct value of a column. A column
of one value, the most frequent case, is detected by a comparison that is far cheaper than numbering.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from zscope.parsers.issues import Code

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zscope.parsers.text.coding import CodePage
    from zscope.schemas import Field


Column = NDArray[Any]
ByteRows = NDArray[np.uint8]
Flag = Callable[[Code, NDArray[np.bool_], str], None]
"""Reports the rows of a mask as issues of one kind."""


@dataclass(frozen=True, slots=True)
class Raw:
    """One field of many sections, as stored."""

    field: Field
    values: Column
    """Numbers in the machine's byte order, opaque items for all other formats."""
    partners: Mapping[str, Column]
    """The fields needed to understand this one, by vendor name."""
    page: CodePage
    flag: Flag

    def byte_rows(self) -> ByteRows:
        """The values as rows of bytes."""
        return as_byte_rows(self.values)


def as_byte_rows(values: Column) -> ByteRows:
    """Opaque items as rows of bytes."""
    rows: ByteRows = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)
    return rows


class Codec(Protocol):
    """Both directions of one format."""

    def storage(self, length: int) -> str:
        """Return the numpy type of a field of this length in a record."""

    def decode(self, raw: Raw) -> pa.Array:
        """Return the column, of the type that the schema declares."""

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Return the bytes of each row; null becomes the value for absent."""


def opaque(length: int) -> str:
    """Storage as bytes without meaning."""
    return f"V{length}"


def unsigned(length: int) -> str:
    """Storage as a number."""
    return f">u{length}"


def filled(values: pa.Array, dtype: str, absent: int = 0) -> Column:
    """A column of integers as numpy values, with a number in place of null."""
    return without_nulls(values, absent).astype(dtype)


def without_nulls(values: pa.Array, absent: int) -> Column:
    """Numbers as numpy values, with a number in place of null."""
    if values.null_count:  # most columns of a dump have none, and are short
        values = values.fill_null(absent)
    return np.asarray(values.to_numpy(zero_copy_only=False))


def rows_of(numbers: Column) -> ByteRows:
    """Numbers in the file's byte order as rows of bytes."""
    return as_byte_rows(numbers.astype(numbers.dtype.newbyteorder(">")))


def with_nulls(values: Column, absent: NDArray[np.bool_], kind: pa.DataType) -> pa.Array:
    """An Arrow array of 8-byte values seen as another type of the same width."""
    return pa.array(values, mask=absent if absent.any() else None).view(kind)


def alike(values: Column) -> bool:
    """Return whether all values are the same; False without values."""
    if not len(values) or values[0].tobytes() != values[-1].tobytes():
        return False
    if values.dtype.kind != "V":
        return bool((values == values[0]).all())
    width = values.dtype.itemsize
    flat = np.ascontiguousarray(values).view(np.uint8)
    return bool((flat[width:] == flat[:-width]).all())


def number_distinct(values: Column) -> pa.DictionaryArray:
    """Return opaque items or numbers as a dictionary array of the distinct ones."""
    if alike(values):
        first = pa.array(np.zeros(len(values), np.int32))
        return pa.DictionaryArray.from_arrays(first, _items(values[:1]), safe=False)
    return _items(values).dictionary_encode()


def number_pairs(bytes_before: Column, values: Column) -> pa.DictionaryArray:
    """Return opaque items, each with a byte before it that affects its meaning, as a dictionary array."""
    pairs = np.empty(len(values), [("before", "u1"), ("value", values.dtype)])
    pairs["before"], pairs["value"] = bytes_before, values
    return number_distinct(pairs.view(f"V{pairs.itemsize}"))


def each_once(values: Column, decode: Callable[[Column], Sequence[Column]]) -> list[Column]:
    """Apply a function to the distinct values only, and return its results for all values."""
    if alike(values):
        return [np.broadcast_to(part, len(values)) for part in decode(values[:1])]
    numbered = _items(values).dictionary_encode()
    which = numbered.indices.to_numpy()
    return [part[which] for part in decode(numbered.dictionary.to_numpy())]


SAMPLE_ROWS = 256
"""Rows of the sample that shows whether the values of a column repeat."""


def repeats(values: Column) -> bool:
    """Return whether most values of a column probably occur more than once.

    Numbering values that differ in most rows takes longer than decoding each of them.
    """
    sample = np.ascontiguousarray(values[:: max(1, len(values) // SAMPLE_ROWS)])
    return len(_items(sample).unique()) <= len(sample) // 2


def _items(values: Column) -> pa.Array:
    """Opaque items or numbers as an Arrow array."""
    if values.dtype.kind != "V":
        return pa.array(values)
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(values.dtype.itemsize), len(values), [None, buffer])


def fixed_items(dictionary: pa.Array) -> bytes:
    """Return the items of a dictionary, all of one width, as consecutive bytes."""
    width = dictionary.type.bit_width // 8
    begin = dictionary.offset * width
    items: bytes = dictionary.buffers()[1].slice(begin, len(dictionary) * width).to_pybytes()
    return items
