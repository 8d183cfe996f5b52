"""SMF records of a queue manager: 115-231 with its tasks and 116-10 with its channels, in a dump."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.parsers.smf.write import SectionBytes, cut_rows, encode_records, encode_section, plain_records
from zscope.parsers.synthetic.dump import DUMP_HEADER, DUMP_TRAILER
from zscope.schemas import catalog
from zscope.schemas.arrow import arrow_type

if TYPE_CHECKING:
    from zscope.parsers.synthetic.systems.channels import QueueManager
    from zscope.parsers.synthetic.systems.plan import RoundTrips
    from zscope.schemas import RecordLayout, Section

Row = Mapping[str, Any]
_LENGTHS = {"common": 52, "control": 48, "channel": 324}
"""As releases before MQ 9.3.5 write them."""
_INITIATOR = {
    "current_channels_high": 2, "current_channels_max": 200, "active_channels_high": 2,
    "active_channels_max": 200, "tcp_channels_max": 200, "lu62_channels_max": 200, "storage_below_mb": 41,
}  # fmt: skip


def dump(manager: QueueManager, arrangements: Sequence[RoundTrips]) -> bytes:
    """A dump with the two records of each interval, between the header and the trailer of a dump."""
    records: list[bytes] = []
    for used in arrangements:
        records += _interval(manager, used)
    first, last = ([next(manager.tasks(used))] for used in (arrangements[0], arrangements[-1]))
    return b"".join([*_plain(DUMP_HEADER, first), *records, *_plain(DUMP_TRAILER, last)])


def _interval(manager: QueueManager, used: RoundTrips) -> Iterator[bytes]:
    tasks, channels = list(manager.tasks(used)), list(manager.channels(used))
    statistics = catalog().records[115, 231]
    control = tasks[0] | {**_INITIATOR, "job_name": f"{manager.name}CHIN"}
    kinds = {"dispatcher": "dispatcher", "adapter": "adapter", "ssl": "SSL", "dns": "DNS"}
    parts = {"control": [control]} | {
        key: [task for task in tasks if task["task_type"] == told] for key, told in kinds.items()
    }
    yield from _record(statistics, tasks[0], parts)
    accounting = catalog().records[116, 10]
    yield from _record(accounting, channels[0], {"channel": channels})


def _record(layout: RecordLayout, lead: Row, parts: Mapping[str, Sequence[Row]]) -> list[bytes]:
    """One record; the header of MQ is its last section."""
    parts = {**parts, "common": [lead]}
    sections = [
        SectionBytes(layout.section(key), [_section(layout.section(key), rows)])
        for key, rows in parts.items()
    ]
    header = layout.section("header")
    return encode_records(layout, _columns(header, [lead]), sections, 1)


def _section(section: Section, rows: Sequence[Row]) -> list[bytes]:
    length = _LENGTHS.get(section.key, section.known_length)
    return cut_rows(encode_section(section, _columns(section, rows), len(rows), length))


def _columns(section: Section, rows: Sequence[Row]) -> dict[str, pa.Array]:
    """What the rows say of the fields of a section."""
    return {
        field.column: pa.array([row[field.column] for row in rows], arrow_type(field))
        for field in section.columns
        if all(field.column in row for row in rows)
    }


def _plain(record_type: int, rows: Sequence[Row]) -> list[bytes]:
    return plain_records(record_type, _columns(catalog().header, rows), 1)
