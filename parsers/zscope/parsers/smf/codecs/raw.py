"""What a codec is given and what it has to offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from zscope.parsers.issues import Code

if TYPE_CHECKING:
    from zscope.parsers.smf.ebcdic import CodePage
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
    """In the machine's byte order for numbers, opaque items for all else."""
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
        """The numpy type in which a field of this length lies in a record."""

    def decode(self, raw: Raw) -> pa.Array:
        """The column, of the type the schema declares."""

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """The bytes of each row; null becomes what stands for absent."""


def opaque(length: int) -> str:
    """Storage as bytes without meaning."""
    return f"V{length}"


def unsigned(length: int) -> str:
    """Storage as a number."""
    return f">u{length}"


def filled(values: pa.Array, dtype: str, absent: int = 0) -> Column:
    """A column of integers as numpy values, with a number in place of null."""
    return np.asarray(values.fill_null(absent).to_numpy(zero_copy_only=False)).astype(dtype)


def rows_of(numbers: Column) -> ByteRows:
    """Numbers in the file's byte order as rows of bytes."""
    return as_byte_rows(numbers.astype(numbers.dtype.newbyteorder(">")))


def rows_at(rows: ByteRows, indices: pa.Array) -> ByteRows:
    """Some rows, in the order of their indices."""
    chosen: ByteRows = rows[indices.to_numpy(zero_copy_only=False)]
    return chosen


def with_nulls(values: Column, absent: NDArray[np.bool_], kind: pa.DataType) -> pa.Array:
    """An Arrow array of 8-byte values seen as another type of the same width."""
    return pa.array(values, mask=absent if absent.any() else None).view(kind)
