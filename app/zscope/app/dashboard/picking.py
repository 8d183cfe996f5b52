"""Tables from which the reader chooses a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from zlib import crc32

from zscope.app.dashboard.show import grid

if TYPE_CHECKING:
    import pyarrow as pa


def chosen(
    rows: pa.Table,
    name: str,
    of: object,
    *,
    sources: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    config: Mapping[str, Any] | None = None,
    height: int | None = None,
) -> dict[str, Any] | None:
    """Draw a table and tell the row that was chosen in it.

    `of` is all that its rows depend on. Streamlit remembers the number of the row and not what it was, so a
    table of other rows has to be another one, where nothing is chosen yet.
    """
    row = grid(
        rows,
        f"{name}-{crc32(repr(of).encode()):08x}",
        sources=sources,
        pick=True,
        columns=columns,
        config=config,
        height=height,
    )
    found: list[dict[str, Any]] = [] if row is None else rows.slice(row, 1).to_pylist()
    return found[0] if found else None
