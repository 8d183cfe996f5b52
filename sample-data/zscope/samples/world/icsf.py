"""SMF 82 records of a world: what ICSF writes in the time in which connections have records of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.smf.record_writer import cut_rows, with_descriptor
from zscope.samples.dump.assemble import SmfBatch
from zscope.samples.dump.connections import FULL, RESUMED
from zscope.samples.dump.site_context import FILLER_BYTES
from zscope.samples.world.world_recipe import NAMES
from zscope.samples.world.world_scenario import SCENARIO

if TYPE_CHECKING:
    from zscope.samples.dump.arrays import Numbers
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.world.world_connections import SeenConnections

STARTED, CARD_CHANGED, STATISTICS, OBJECT, OBJECT_USED = 1, 18, 31, 42, 46
"""Subtypes."""
ICSF = 82
TABLE = "smf82_record"
AUDITING = NAMES.index(SCENARIO.reports.session_audit)
_STATISTICS_RECORDS = 5
_TWICE_EACH, _USED_EACH = 50, 10
"""Of this many sessions one has a second object, and one a record of its use."""
_BODY_BYTES = 8


def icsf_records(
    context: RecordContext, system: int, seen: SeenConnections, recorded_us: tuple[int, int]
) -> SmfBatch:
    """Generate the records of a system: options, a card that changes, statistics, audited sessions.

    The bodies are random bytes: no layout of them is published.
    """
    begin, end = recorded_us
    written = {
        STARTED: np.array([begin, end - 1]),
        CARD_CHANGED: np.array([(begin + end) // 2]),
        STATISTICS: np.linspace(begin, end, _STATISTICS_RECORDS, endpoint=False, dtype=np.int64),
    }
    if system == AUDITING:
        with_session = (seen.handshake == FULL) | (seen.handshake == RESUMED)
        ends = np.sort(seen.end[with_session & (seen.times == 1)])
        ends = ends[(ends >= begin) & (ends < end)]
        written[OBJECT] = np.sort(np.concatenate([ends, ends[_TWICE_EACH - 1 :: _TWICE_EACH]]))
        written[OBJECT_USED] = ends[_USED_EACH - 1 :: _USED_EACH]
    batch, rng = SmfBatch(), context.random(60, system)
    for subtype, times in written.items():
        places = rng.integers(0, FILLER_BYTES - _BODY_BYTES, len(times))
        records = _records(context, system, subtype, times, places)
        batch.add((ICSF, subtype), records, np.full(len(times), system), times)
        batch.expected.tables[TABLE] += len(times)
    return batch


def _records(
    context: RecordContext, system: int, subtype: int, times: Numbers, places: Numbers
) -> list[bytes]:
    heads = cut_rows(context.headers(ICSF, subtype, np.full(len(times), system), times, ""))
    return [
        with_descriptor(head[4:] + context.filler[place : place + _BODY_BYTES])
        for head, place in zip(heads, places.tolist(), strict=True)
    ]
