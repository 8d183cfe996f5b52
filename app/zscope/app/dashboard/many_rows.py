"""Pictures of thousands of rows: these stand beside the picture until it is sent.

Altair checks and copies rows that are part of a picture, piece by piece, which takes seconds where there are
thousands of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import altair as alt

from zscope.app.dashboard.looks import plain_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.show import Chart

ROWS = alt.NamedData("rows")
"""What stands in a picture for its rows."""
_KEY = "rows"
_waiting: dict[int, list[dict[str, Any]]] = {}
"""Rows of pictures that are not sent yet; of the few that never are, the oldest make room."""
_MOST_WAITING = 64
_numbers = count()


def with_rows(chart: Chart, table: pa.Table, columns: Sequence[str]) -> Chart:
    """A picture of `ROWS` with these columns of a table; those that the table does not have are left out."""
    there = [name for name in dict.fromkeys(columns) if name in table.column_names]
    number = next(_numbers)
    _waiting[number] = plain_rows(table.select(there))
    while len(_waiting) > _MOST_WAITING:
        _waiting.pop(next(iter(_waiting)), None)
    chart["usermeta"] = {_KEY: number}
    return chart


def complete(spec: dict[str, Any]) -> dict[str, Any]:
    """The description of a picture with the rows that waited for it."""
    number = spec.pop("usermeta", {}).get(_KEY)
    if number is not None:
        spec.setdefault("datasets", {})[ROWS["name"]] = _waiting.pop(number)
    return spec
