"""Pictures of thousands of rows: these stand beside the picture until it is sent.

Altair checks and copies rows that are part of a picture, piece by piece, which takes seconds where there are
thousands of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt

from zscope.app.dashboard.looks import plain_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.looks import Chart

ROWS = alt.NamedData("rows")
"""What stands in a picture for its rows."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture of `ROWS`, and these."""

    chart: Chart
    rows: list[dict[str, Any]]


def with_rows(chart: Chart, table: pa.Table, columns: Sequence[str]) -> Drawn:
    """A picture of `ROWS` with these columns of a table; those that the table does not have are left out."""
    there = [name for name in dict.fromkeys(columns) if name in table.column_names]
    return Drawn(chart, plain_rows(table.select(there)))


def described(picture: Chart | Drawn) -> dict[str, Any]:
    """A picture as the browser draws it."""
    if not isinstance(picture, Drawn):
        return picture.to_dict()
    description = picture.chart.to_dict()
    description.setdefault("datasets", {})[ROWS["name"]] = picture.rows
    return description
