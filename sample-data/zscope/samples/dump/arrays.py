"""Types of the NumPy arrays that describe many records at once, and the Arrow columns made from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from zscope.schemas.arrow import LOCAL, UTC

if TYPE_CHECKING:
    from collections.abc import Sequence

Numbers = NDArray[np.int64]
Choice = NDArray[Any]
"""For each row, the number of the value it has."""
Connections = NDArray[np.void]
"""One connection in each element; `zscope.samples.dump.connections.CONNECTION` lists the fields."""


def pick(values: Sequence[str | None], choice: Choice) -> pa.DictionaryArray:
    """Return a column of texts: row i has the value `values[choice[i]]`."""
    return pa.DictionaryArray.from_arrays(pa.array(choice.astype(np.int32)), pa.array(values, pa.string()))


def same(value: str, count: int) -> pa.DictionaryArray:
    """Return a column with the same text in every row."""
    return pick([value], np.zeros(count, np.int32))


def utc(microseconds: Numbers, absent: NDArray[np.bool_] | None = None) -> pa.Array:
    """Return a column of UTC timestamps; rows in `absent` are null."""
    return pa.array(microseconds, mask=absent).view(UTC)


def local(microseconds: Numbers) -> pa.Array:
    """Return a column of timestamps in local time."""
    return pa.array(microseconds).view(LOCAL)
