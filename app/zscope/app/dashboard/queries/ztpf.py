"""Floods of TLS session starts on z/TPF: their figures, and the samples as curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.app.dashboard.answers import Data

AREA = "z/TPF"
_SECOND_US = 1_000_000


def floods(data: Data) -> pa.Table:
    """The figures of each series."""
    return data.metric("ztpf_flood")


def curves(data: Data, found: pa.Table, column: str) -> Iterator[tuple[int | None, pa.Table]]:
    """The samples of one column, floods of as many sessions together: others would hide each other."""
    samples = data.metric("ztpf_sample")
    samples = samples.filter(pc.is_valid(samples[column])).sort_by(
        [("series", "ascending"), ("since_start_us", "ascending")]
    )
    seconds = pc.divide(samples["since_start_us"].cast(pa.float64()), _SECOND_US)
    drawn = pa.table({"series": samples["series"], "since_start_s": seconds, column: samples[column]})
    named: dict[int | None, list[str]] = {}
    for row in found.select(["series", "sessions"]).to_pylist():
        named.setdefault(row["sessions"], []).append(row["series"])
    for sessions, names in sorted(named.items(), key=lambda each: (each[0] is None, each[0] or 0)):
        mine = drawn.filter(pc.is_in(drawn["series"], pa.array(names)))
        if mine.num_rows:
            yield sessions, mine
