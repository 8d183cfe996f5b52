"""Columns of tables that code declares: a name, a type, and what the column means."""

from __future__ import annotations

import pyarrow as pa


def described(
    name: str, kind: pa.DataType, meaning: str, unit: str = "", *, required: bool = False
) -> pa.Field:
    """Return a column, which can be null unless it is required.

    >>> described("seconds", pa.float64(), "Time of the load.", "s").metadata
    {b'meaning': b'Time of the load.', b'unit': b's'}
    """
    metadata = {"meaning": meaning} | ({"unit": unit} if unit else {})
    return pa.field(name, kind, nullable=not required, metadata=metadata)
