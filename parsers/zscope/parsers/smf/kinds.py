"""The type and subtype of records as one number, found for all records of a window at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from zscope.parsers.smf.header import HEADER_WITH_SUBTYPE, SUBTYPES_USED, sliding

if TYPE_CHECKING:
    from zscope.parsers.smf.frames import Window

Kinds = NDArray[np.int32]
NO_SUBTYPE = np.int32(1 << 16)
FLAGS = 4
_FROM_FLAGS = np.dtype(
    {
        "names": ["flags", "type", "subtype"],
        "formats": ["u1", "u1", ">u2"],
        "offsets": [0, 5 - FLAGS, 22 - FLAGS],
        "itemsize": HEADER_WITH_SUBTYPE - FLAGS,
    }
)


def record_kinds(window: Window) -> Kinds:
    """Type and subtype of each record as one number."""
    headers = sliding(window.data, _FROM_FLAGS.itemsize)[window.starts + FLAGS].view(_FROM_FLAGS)
    has = (headers["flags"] & SUBTYPES_USED) != 0
    has &= window.lengths >= HEADER_WITH_SUBTYPE
    kinds: Kinds = np.where(has, headers["subtype"], NO_SUBTYPE)
    kinds |= headers["type"].astype(np.int32) << 17
    return kinds


def type_and_subtype(kind: int) -> tuple[int, int | None]:
    """Type and subtype from the number that stands for both."""
    subtype = kind & 0x1FFFF
    return kind >> 17, None if subtype == NO_SUBTYPE else subtype


def kind_of(record_type: int, subtype: int) -> int:
    """The number that stands for a type and subtype."""
    return record_type << 17 | subtype


def distinct_kinds(kinds: Kinds) -> list[int]:
    """The distinct kinds, by numbering instead of sorting."""
    numbers: list[int] = pa.array(kinds).unique().to_pylist()
    return numbers
