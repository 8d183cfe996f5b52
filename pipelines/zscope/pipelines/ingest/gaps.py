"""Find missing intervals between the interval records of one load.

Only tables with a row for every interval of a system are examined: there a missing row is a loss. zERT
summaries are not among them, as a system without connections writes none. Not every gap is a loss either: at
an IPL the last interval ends early or is not written at all, and the first one after it is short because it
ends at the usual time. Therefore a gap next to an interval that is shorter than its neighbour is ignored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.pipelines.local_time.timelines import timeline_of
from zscope.schemas.arrow import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from zscope.pipelines.local_time.timelines import Timeline, Times
    from zscope.pipelines.settings import Zones

INTERVAL_TABLES = ("smf70_interval", "rmf_interval")
"""Tables with a row for every interval of a system."""
INTERVAL_COLUMNS = ["system", "interval_start_local", "interval_ms"]
"""The columns that `find_gaps` reads."""
GAP_SCHEMA = pa.schema(
    [
        ("system", pa.string()),
        ("source", pa.string()),
        ("from_local", LOCAL),
        ("to_local", LOCAL),
        ("missing_intervals", pa.uint32()),
        ("interval_ms", pa.uint64()),
    ]
)
_MS = 1000
_MAX_INTERVAL_MS = 100 * 24 * 3_600_000
"""A report can combine many intervals into one; a longer interval is damaged data."""
_SHORT = 0.9
"""An interval shorter than this share of its neighbour ended early or started late."""
_MAX_TIME = 1 << 61


def find_gaps(rows: pa.Table, table: str, zones: Zones) -> pa.Table:
    """Return the gaps between the intervals of each system; rows may be unordered and repeated."""
    starts = rows["interval_start_local"].cast(pa.int64())
    lengths = rows["interval_ms"].cast(pa.uint64())
    usable = pc.and_kleene(pc.greater(lengths, 0), pc.less_equal(lengths, _MAX_INTERVAL_MS))
    usable = pc.and_kleene(usable, pc.and_kleene(pc.greater(starts, -_MAX_TIME), pc.less(starts, _MAX_TIME)))
    usable = pc.and_kleene(usable, pc.is_valid(rows["system"].cast(pa.string())))
    intervals = pa.table(
        {"system": rows["system"].cast(pa.string()), "start": starts, "length": lengths.cast(pa.int64())}
    ).filter(usable)
    gaps: list[dict[str, object]] = []
    for system, start, length in _by_system(intervals):
        zone = zones.of(system)
        timeline = timeline_of(zone) if zone else None
        for from_local, to_local, missing, interval in _gaps(start, length * _MS, timeline):
            gaps.append(
                {
                    "system": system,
                    "source": table,
                    "from_local": from_local,
                    "to_local": to_local,
                    "missing_intervals": missing,
                    "interval_ms": interval // _MS,
                }
            )
    return pa.Table.from_pylist(gaps, GAP_SCHEMA)


def _by_system(intervals: pa.Table) -> Iterator[tuple[str, Times, Times]]:
    """Yield each system with the starts and lengths of its intervals, in order of time."""
    # A repeated interval counts once, with its greatest length.
    distinct = intervals.group_by(["system", "start"]).aggregate([("length", "max")])
    ordered = distinct.sort_by([("system", "ascending"), ("start", "ascending")]).combine_chunks()
    if not len(ordered):
        return
    systems = ordered["system"].dictionary_encode().combine_chunks()
    names = systems.dictionary.to_pylist()
    borders = np.flatnonzero(np.diff(systems.indices.to_numpy())) + 1
    start, length = ordered["start"].to_numpy(), ordered["length_max"].to_numpy()
    yield from zip(names, np.split(start, borders), np.split(length, borders), strict=True)


def _gaps(start: Times, length: Times, timeline: Timeline | None) -> Iterator[tuple[int, int, int, int]]:
    """Yield start, end, number of missing intervals and their length, for the intervals of one system."""
    if timeline is not None:
        start, length = _in_utc(start, length, timeline)
    end = start + length
    reached = np.maximum.accumulate(end)
    # Before each interval: the length of the gap, and the interval that ended last.
    gap = start[1:] - reached[:-1]
    previous = np.maximum.accumulate(np.where(end == reached, np.arange(len(end)), 0))[:-1]
    usual = _usual_length(length)
    before = length[previous]
    second_before = np.where(previous > 0, length[previous - 1], usual)
    second_after = np.append(length, usual)[2:]
    short = (before < _SHORT * np.maximum(second_before, before)) | (
        length[1:] < _SHORT * np.maximum(second_after, length[1:])
    )
    for index in np.flatnonzero((2 * gap >= before) & ~short):
        ends = np.array([reached[index], start[index + 1]])
        first, last = (timeline.to_local(ends) if timeline is not None else ends).tolist()
        yield first, last, max(1, round(int(gap[index]) / int(before[index]))), int(before[index])


def _usual_length(length: Times) -> int:
    values, counts = np.unique(length, return_counts=True)
    return int(values[np.argmax(counts)])


def _in_utc(start: Times, length: Times, timeline: Timeline) -> tuple[Times, NDArray[np.int64]]:
    """Convert intervals to UTC, in order; one whose start the clock shows twice is counted at both times.

    Which of the two times it was is unknown here, and no gap may be invented.
    """
    before, after = timeline.passed(start)
    utc = start - timeline.offsets[before]
    repeated = np.flatnonzero(timeline.offsets[after] < timeline.offsets[before])
    utc = np.concatenate([utc, start[repeated] - timeline.offsets[after[repeated]]])
    length = np.concatenate([length, length[repeated]])
    order = np.argsort(utc, kind="stable")
    return utc[order], length[order]
