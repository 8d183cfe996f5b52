"""Numbering the distinct values of a column, so that what is slow is done once for each of them.

Job names, dates and addresses repeat; system names are the same in a whole file. A column of one value, the
most frequent case, is told apart by a comparison that is far cheaper than any numbering.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zscope.parsers.smf.codecs.raw import Column


def alike(values: Column) -> bool:
    """Whether all values are the same; not so for no values."""
    if not len(values) or values[0].tobytes() != values[-1].tobytes():
        return False
    if values.dtype.kind != "V":
        return bool((values == values[0]).all())
    width = values.dtype.itemsize
    flat = np.ascontiguousarray(values).view(np.uint8)
    return bool((flat[width:] == flat[:-width]).all())


def number_distinct(values: Column) -> pa.DictionaryArray:
    """Opaque items or numbers as numbers of a dictionary of distinct ones."""
    if alike(values):
        first = pa.array(np.zeros(len(values), np.int32))
        return pa.DictionaryArray.from_arrays(first, _items(values[:1]), safe=False)
    return _items(values).dictionary_encode()


def number_pairs(bytes_before: Column, values: Column) -> pa.DictionaryArray:
    """Opaque items, each with a byte before it that tells how to understand it, numbered together."""
    pairs = np.empty(len(values), [("before", "u1"), ("value", values.dtype)])
    pairs["before"], pairs["value"] = bytes_before, values
    return number_distinct(pairs.view(f"V{pairs.itemsize}"))


def each_once(values: Column, decode: Callable[[Column], Sequence[Column]]) -> list[Column]:
    """What a function makes of the values, called with the distinct ones only."""
    if alike(values):
        return [np.broadcast_to(part, len(values)) for part in decode(values[:1])]
    numbered = _items(values).dictionary_encode()
    which = numbered.indices.to_numpy()
    return [part[which] for part in decode(numbered.dictionary.to_numpy())]


def _items(values: Column) -> pa.Array:
    if values.dtype.kind != "V":
        return pa.array(values)
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(values.dtype.itemsize), len(values), [None, buffer])


def fixed_items(dictionary: pa.Array) -> bytes:
    """The items of a dictionary, all of one width, as they lie in memory one after the other."""
    width = dictionary.type.bit_width // 8
    begin = dictionary.offset * width
    items: bytes = dictionary.buffers()[1].slice(begin, len(dictionary) * width).to_pybytes()
    return items
