"""Interval records that are missing between two others of one load.

Looked at are tables with a row for each interval of a system, whatever it did: there a hole is a loss. zERT
summaries are none of them, for a system without connections writes none. And not every hole is a loss: at an
IPL the interval before ends early or is not written at all, and the first one behind it is short, as it ends
when the clock says. So a hole beside an interval that is shorter than its neighbour is left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.pipelines.offsets import offsets_of
from zscope.schemas.arrow import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from zscope.pipelines.offsets import Changes, Times
    from zscope.pipelines.zones import Zones

INTERVAL_TABLES = ("smf70_interval", "rmf_interval")
"""Tables with a row for each interval of a system."""
INTERVAL_COLUMNS = ["system", "interval_start_local", "interval_ms"]
"""What is needed of them."""
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
_LONGEST_MS = 100 * 24 * 3_600_000
"""Reports can combine many intervals into one; what is longer than this is damage."""
_SHORT = 0.9
"""An interval that lasts less than this share of its neighbour ended early or began late."""
_FARTHEST = 1 << 61


def find_gaps(rows: pa.Table, table: str, zones: Zones) -> pa.Table:
    """The holes between the intervals of each system; the rows may come in any order and twice."""
    starts = rows["interval_start_local"].cast(pa.int64())
    lengths = rows["interval_ms"].cast(pa.uint64())
    usable = pc.and_kleene(pc.greater(lengths, 0), pc.less_equal(lengths, _LONGEST_MS))
    usable = pc.and_kleene(usable, pc.and_kleene(pc.greater(starts, -_FARTHEST), pc.less(starts, _FARTHEST)))
    usable = pc.and_kleene(usable, pc.is_valid(rows["system"].cast(pa.string())))
    kept = pa.table(
        {"system": rows["system"].cast(pa.string()), "start": starts, "length": lengths.cast(pa.int64())}
    ).filter(usable)
    found: list[dict[str, object]] = []
    for system, start, length in _by_system(kept):
        changes = _changes(zones.of(system), start)
        for from_local, to_local, missing, interval in _holes(start, length * _MS, changes):
            found.append(
                {
                    "system": system,
                    "source": table,
                    "from_local": from_local,
                    "to_local": to_local,
                    "missing_intervals": missing,
                    "interval_ms": interval // _MS,
                }
            )
    return pa.Table.from_pylist(found, GAP_SCHEMA)


def _by_system(rows: pa.Table) -> Iterator[tuple[str, Times, Times]]:
    # One that is there twice counts once, and with its longest length.
    once = rows.group_by(["system", "start"]).aggregate([("length", "max")])
    ordered = once.sort_by([("system", "ascending"), ("start", "ascending")]).combine_chunks()
    systems = ordered["system"].dictionary_encode().combine_chunks()
    if not len(ordered):
        return
    names = systems.dictionary.to_pylist()
    borders = np.flatnonzero(np.diff(systems.indices.to_numpy())) + 1
    start, length = ordered["start"].to_numpy(), ordered["length_max"].to_numpy()
    yield from zip(names, np.split(start, borders), np.split(length, borders), strict=True)


def _changes(zone: str | None, start: Times) -> Changes | None:
    return offsets_of(zone).changes(int(start[0]), int(start[-1])) if zone else None


def _holes(start: Times, length: Times, changes: Changes | None) -> Iterator[tuple[int, int, int, int]]:
    """From, to, how many intervals, and how long each: of one system in the order of time."""
    if changes is not None:
        start, length = _in_utc(start, length, changes)
    end = start + length
    reached = np.maximum.accumulate(end)
    # The interval that reached farthest so far, and the one behind the hole.
    farthest = np.maximum.accumulate(np.where(end == reached, np.arange(len(end)), 0))[:-1]
    behind = np.arange(1, len(start))
    hole = start[1:] - reached[:-1]
    usual = _usual(length)
    before = length[farthest]
    one_before = np.where(farthest > 0, length[farthest - 1], usual)
    one_after = np.append(length, usual)[behind + 1]
    short = (before < _SHORT * np.maximum(one_before, before)) | (
        length[1:] < _SHORT * np.maximum(one_after, length[1:])
    )
    for at in np.flatnonzero((2 * hole >= before) & ~short):
        ends = np.array([reached[at], start[at + 1]])
        first, last = (changes.to_local(ends) if changes is not None else ends).tolist()
        yield first, last, max(1, round(int(hole[at]) / int(before[at]))), int(before[at])


def _usual(length: Times) -> int:
    """The most frequent length."""
    values, counts = np.unique(length, return_counts=True)
    return int(values[np.argmax(counts)])


def _in_utc(start: Times, length: Times, changes: Changes) -> tuple[Times, NDArray[np.int64]]:
    """Intervals by UTC, in order; one whose start the clock shows twice stands for both.

    Which of the two it was cannot be told from here, and a hole must not be made up.
    """
    before, after = changes.passed(start)
    utc = start - changes.offsets[before]
    twice = np.flatnonzero(changes.offsets[after] < changes.offsets[before])
    utc = np.concatenate([utc, start[twice] - changes.offsets[after[twice]]])
    length = np.concatenate([length, length[twice]])
    order = np.argsort(utc, kind="stable")
    return utc[order], length[order]
