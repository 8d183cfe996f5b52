"""NumPy arrays that describe many records at once, tables of them, and the Arrow columns made from them."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from zscope.schemas.arrow import LOCAL, UTC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Self

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Choice = NDArray[Any]
"""For each row, the number of the value it has."""


def column(kind: type[np.generic] = np.int64, *width: int) -> Any:  # noqa: ANN401 - the field of a data class
    """Return the field of a column that has no rows yet; `width` is the number of values in a row."""
    return field(default_factory=lambda: np.zeros((0, *width), kind))


@dataclass
class ColumnTable:
    """Rows in columns of equal length; a subclass declares the columns."""

    @classmethod
    def zeros(cls, count: int) -> Self:
        """Return rows with zero in every column."""
        return cls()._changed(lambda values: np.zeros((count, *values.shape[1:]), values.dtype))

    @classmethod
    def joined(cls, tables: Iterable[Self]) -> Self:
        """Return the rows of several tables, one after the other."""
        columns = [vars(table) for table in (cls(), *tables)]
        joined = cls()
        vars(joined).update({name: np.concatenate([each[name] for each in columns]) for name in columns[0]})
        return joined

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    def __getitem__(self, rows: slice | Choice) -> Self:
        """Return the rows of a slice, at these numbers, or with these flags."""
        return self._changed(lambda values: values[rows])

    def copy(self) -> Self:
        """Return the same rows in arrays of their own."""
        return self._changed(np.copy)

    def _changed(self, change: Callable[[Choice], Choice]) -> Self:
        table = copy(self)
        vars(table).update({name: change(values) for name, values in vars(self).items()})
        return table


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
