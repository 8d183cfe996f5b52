"""Floods of TLS session starts on z/TPF: their figures, and the samples as curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.app.dashboard.answers import Data

AREA = "z/TPF"
_STEPS = 1_000


def floods(data: Data) -> pa.Table:
    """The figures of each series."""
    return data.metric("ztpf_flood")


def curves(data: Data, found: pa.Table, column: str) -> Iterator[tuple[int | None, pa.Table]]:
    """The samples of one column, floods of as many sessions together: others would hide each other.

    A long series is thinned: of each thousandth of it the highest sample is kept, where it was.
    """
    drawn = data.rows(f"""
        WITH placed AS (
            SELECT series, since_start_us, {column},
                {_STEPS} * since_start_us
                // (1 + max(since_start_us) OVER (PARTITION BY series, system)) AS step
            FROM ztpf_sample WHERE {column} IS NOT NULL
        )
        SELECT series, arg_max(since_start_us, {column}) / 1e6 AS since_start_s, max({column}) AS {column}
        FROM placed GROUP BY series, step ORDER BY series, since_start_s
    """)
    named: dict[int | None, list[str]] = {}
    for row in found.select(["series", "sessions"]).to_pylist():
        named.setdefault(row["sessions"], []).append(row["series"])
    for sessions, names in sorted(named.items(), key=lambda each: (each[0] is None, each[0] or 0)):
        mine = drawn.filter(pc.is_in(drawn["series"], pa.array(names)))
        if mine.num_rows:
            yield sessions, mine
