"""A small dump of one day in which SMF lost all records of three hours, and says so in a record of type 7.

The day has records of connections (119-1, 119-2, 119-11), of RMF (70-1) every quarter of an hour, and of the
status of SMF (23) every hour.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.record_writer import (
    SectionBytes,
    as_stream,
    encode_records,
    encode_section,
    encode_without_triplets,
)
from zscope.samples.dump.context import RecordContext
from zscope.samples.dump.recipe import Recipe, RecordKind, microseconds, named_systems
from zscope.samples.dump.record_plan import RecordPlan
from zscope.samples.dump.write import RecordGenerator
from zscope.schemas import catalog
from zscope.schemas.arrow import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterable

SYSTEM = "SYSL"
DAY = datetime(2026, 3, 3, tzinfo=UTC)
FIRST, LAST = DAY + timedelta(hours=10, seconds=2), DAY + timedelta(hours=13)
"""The loss, by the clock of the system, which is UTC; RMF has written the interval before it."""
_RECORDS = {
    RecordKind.ZERT_DETAIL: 1_200, RecordKind.TCP_INIT: 800, RecordKind.TCP_TERM: 800, RecordKind.RMF_CPU: 96,
}  # fmt: skip
_STATISTICS_BYTES = 52
_HOUR_US = 3_600_000_000
_MEGABYTE = 1 << 20
_BUFFERS = {
    "buffers_written": 40, "most_buffers": 3, "buffer_unit_bytes": 8 * _MEGABYTE,
    "buffer_bytes": 128 * _MEGABYTE, "most_buffer_bytes": 128 * _MEGABYTE,
    "buffer_limit_bytes": 1024 * _MEGABYTE, "buffer_warning_pct": 25,
}  # fmt: skip
"""Synthetic: the use of the buffers of SMF in each hour."""


def dump_with_lost_hours() -> bytes:
    """Return the dump; always the same bytes."""
    recipe = Recipe(
        records=sum(_RECORDS.values()), seed=20260303, mix=_RECORDS, start=DAY,
        systems=named_systems(SYSTEM, utc_offset_minutes=0),
    )  # fmt: skip
    records: list[bytes] = []
    times: list[int] = []
    for batch in RecordGenerator(RecordContext(recipe), RecordPlan(recipe)):
        records += batch.records
        times += np.concatenate(batch.written).tolist()
    first, last = microseconds(FIRST), microseconds(LAST)
    kept = [(at, record) for at, record in zip(times, records, strict=True) if not first <= at < last]
    # SMF writes it when it has buffers again.
    loss = [(last, _loss(len(records) - len(kept)))]
    hours = range(recipe.start_us, recipe.end_us, _HOUR_US)
    status = [(at, _status(at, kept)) for at in hours if not first <= at < last]
    ordered = sorted(chain(kept, loss, status), key=lambda each: each[0])
    return b"".join(as_stream(record for _, record in ordered))


def _header(at: datetime) -> dict[str, pa.Array]:
    return {"system": pa.array([SYSTEM]), "written_local": pa.array([at.replace(tzinfo=None)], LOCAL)}


def _loss(records: int) -> bytes:
    """Return the record that says how many records were lost."""
    values: dict[str, Any] = {
        "start_local": pa.array([FIRST.replace(tzinfo=None)], LOCAL),
        "lost_records": pa.array([records], pa.uint16()),
        "loss_flags": pa.array([0], pa.uint8()),
    }
    [record] = encode_without_triplets(catalog().records[7, None], _header(LAST) | values, 1)
    return record


def _status(at: int, records: Iterable[tuple[int, bytes]]) -> bytes:
    """Return the record about the status of SMF in an hour."""
    written = sum(at - _HOUR_US <= time < at for time, _ in records)
    layout = catalog().records[23, None]
    section = next(section for section in layout.sections if section.key == "statistics")
    values = _BUFFERS | {"records_written": written, "statistics_flags": 0}
    columns = {name: pa.array([value], pa.uint32()) for name, value in values.items()}
    [row] = encode_section(section, columns, 1, _STATISTICS_BYTES)
    header = _header(datetime.fromtimestamp(at / 1e6, UTC))
    [record] = encode_records(layout, header, [SectionBytes(section, [[row.tobytes()]])], 1)
    return record
