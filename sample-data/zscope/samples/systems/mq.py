"""MQ channel initiator tasks and channels of two queue managers, and the SMF 115 and 116 records about them.

There is one interval for each configuration. As in real records, elapsed time and wait time of a task add up
to the interval exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.record_writer import (
    SectionBytes,
    cut_rows,
    encode_records,
    encode_section,
    plain_records,
)
from zscope.samples.dump.write import DUMP_HEADER, DUMP_TRAILER
from zscope.samples.systems.plan import PLAN, start, zone
from zscope.schemas import catalog
from zscope.schemas.arrow import arrow_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.samples.systems.plan import DeclaredManager, RoundTrips, TaskKind
    from zscope.schemas import RecordLayout, Section


UNITS_PER_US = 4096
"""Units of the TOD clock in a microsecond."""
VERSION = "932"
_CONTROL_BYTES = 40
_SENDER, _RECEIVER = 1, 3


class QueueManager:
    """A queue manager and the rows about its tasks and channels."""

    def __init__(self, declared: DeclaredManager, seed: int) -> None:
        self.name, self.system, self.partner = declared.name, declared.system, declared.partner
        self._random = np.random.default_rng([seed, *self.name.encode("ascii")])

    def tasks(self, setup: RoundTrips) -> Iterator[dict[str, Any]]:
        """Yield the tasks of the channel initiator in the interval of a configuration."""
        interval = self._common(setup)
        for place, kind in enumerate(PLAN.mq.task):
            requests = self._shared_out(2 * _messages(setup) * kind.requests, kind.count)
            for number, served in enumerate(
                requests if setup.cipher_code or kind.name != "SSL" else [0] * kind.count
            ):
                cpu = round(served * _cpu_us(setup, kind) * UNITS_PER_US)
                elapsed = round(cpu * kind.elapsed_per_cpu)
                longest = kind.name == "SSL" and served > 0
                yield interval | {
                    "task_type": kind.name,
                    "section_no": number,
                    "task_number": 0x009CA000 + 0x4D0 * (number + 16 * place),
                    "requests": served,
                    "cpu_us": cpu // UNITS_PER_US,
                    "elapsed_tod": elapsed,
                    "wait_tod": interval["interval_tod"] - elapsed,
                    "channels": (2 if number == 0 else 0) if kind.name == "dispatcher" else None,
                    "longest_utc": interval["interval_end_utc"] - timedelta(seconds=7) if longest else None,
                    "longest_us": 11_204 if longest else 0,
                }

    def channels(self, setup: RoundTrips) -> Iterator[dict[str, Any]]:
        """Yield the channel to the partner and the channel from it."""
        messages = _messages(setup)
        data, control = messages * setup.channel_bytes, messages * _CONTROL_BYTES
        common = self._common(setup)
        for channel, kind, sent, received in (
            (f"{self.name}.TO.{self.partner}", _SENDER, data, control),
            (f"{self.partner}.TO.{self.name}", _RECEIVER, control, data),
        ):
            sends = kind == _SENDER
            yield {
                **common,
                **PLAN.mq.channel,
                "collected_utc": common["interval_end_utc"],
                "channel_name": channel,
                "channel_type": kind,
                "started_utc": _second_like(start() - timedelta(minutes=5)),
                "stopped_utc": None,
                "last_message_utc": _second_like(common["interval_end_utc"]),
                "messages": messages,
                "persistent_messages": messages // 2,
                "batches": messages,
                "buffers_sent": messages * setup.sends if sends else messages,
                "buffers_received": messages if sends else messages * setup.sends,
                "message_bytes": messages * setup.message_bytes,
                "persistent_message_bytes": messages // 2 * setup.message_bytes,
                "sent_bytes": sent,
                "received_bytes": received,
                "network_max_utc": common["interval_end_utc"] - timedelta(seconds=19),
                "remote_name": self.partner,
                "peer_serial": "0000000000001a2b" if setup.cipher_code else "0" * 16,
                "peer_name": self.partner if setup.cipher_code else "",
                "cipher_code": setup.cipher_code,
                "transmission_queue_empty": messages if sends else 0,
            }

    def _common(self, setup: RoundTrips) -> dict[str, Any]:
        plan = PLAN.mq
        begin, end = interval_of(setup.number)
        # No interval is a whole number of microseconds long.
        units = plan.interval_s * 1_000_000 * UNITS_PER_US + 1_234 + 7 * setup.number
        return {
            "system": self.system,
            "written_local": _local(end),
            "queue_manager": self.name,
            "mq_version": VERSION,
            "interval_start_local": _local(begin),
            "interval_end_utc": end,
            "interval_tod": units,
        }

    def _shared_out(self, total: float, tasks: int) -> list[int]:
        """Divide requests among the tasks, not quite evenly."""
        shares = self._random.uniform(0.95, 1.05, tasks)
        return [round(total * share) for share in (shares / shares.sum()).tolist()]


def interval_of(number: int) -> tuple[datetime, datetime]:
    """Return start and end of the interval of a configuration."""
    length = timedelta(seconds=PLAN.mq.interval_s)
    return start() + number * length, start() + (number + 1) * length


def round_trip_rows(setup: RoundTrips, system: str, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the repeated measurements of an application, distributed evenly around their mean."""
    plan = PLAN.mq
    count = plan.repetitions
    steps = np.random.default_rng([seed, setup.number]).permutation(count) - (count - 1) / 2
    begin, _ = interval_of(setup.number)
    for number, step in enumerate(steps.tolist()):
        yield {
            "run": plan.run,
            "system": system,
            "message_bytes": setup.message_bytes,
            "cipher": setup.cipher,
            "sslrkeyc": setup.sslrkeyc,
            "round_trip_us": round(setup.round_trip_us + step, 1),
            "cpu_us": round(setup.cpu_us + step / 2, 1),
            "round_trips": plan.round_trips,
            "channel_message_bytes": float(setup.channel_bytes),
            "channel_pairs": 2,
            "tcp_sends_per_message": float(setup.sends),
            "measured_utc": begin + timedelta(seconds=10 * number),
        }


def _messages(setup: RoundTrips) -> int:
    plan = PLAN.mq
    return int(plan.requesters * plan.interval_s * 1_000_000 / setup.round_trip_us)


def _cpu_us(setup: RoundTrips, kind: TaskKind) -> float:
    if kind.name != "SSL":
        return kind.cpu_us
    plain = next(m.cpu_us for m in PLAN.mq.message if m.bytes == setup.message_bytes)
    # A round trip has two messages on each side, and each of the four needs its requests of an SSL task.
    return float(setup.cpu_us - plain) / (4 * kind.requests)


def _local(moment: datetime) -> datetime:
    return (moment + zone()).replace(tzinfo=None)


def _second_like(moment: datetime) -> datetime:
    """Round to steps of 1.048576 seconds: these records leave the low word of the clock empty."""
    step = timedelta(microseconds=1_048_576)
    epoch = datetime(1900, 1, 1, tzinfo=moment.tzinfo)
    return epoch + (moment - epoch) // step * step


Row = Mapping[str, Any]


def dump(manager: QueueManager, setups: Sequence[RoundTrips]) -> bytes:
    """Return a dump with two records for each interval (115-231 and 116-10), a header and a trailer."""
    records: list[bytes] = []
    for setup in setups:
        records += _interval(manager, setup)
    first, last = ([next(manager.tasks(setup))] for setup in (setups[0], setups[-1]))
    return b"".join([*_plain(DUMP_HEADER, first), *records, *_plain(DUMP_TRAILER, last)])


def _interval(manager: QueueManager, setup: RoundTrips) -> Iterator[bytes]:
    tasks, channels = list(manager.tasks(setup)), list(manager.channels(setup))
    statistics = catalog().records[115, 231]
    control = {**tasks[0], **PLAN.mq.initiator, "job_name": f"{manager.name}CHIN"}
    parts = {"control": [control]} | {
        kind.section: [task for task in tasks if task["task_type"] == kind.name] for kind in PLAN.mq.task
    }
    yield from _record(statistics, tasks[0], parts)
    accounting = catalog().records[116, 10]
    yield from _record(accounting, channels[0], {"channel": channels})


def _record(layout: RecordLayout, common: Row, parts: Mapping[str, Sequence[Row]]) -> list[bytes]:
    """Encode one record; the header of MQ is its last section."""
    parts = {**parts, "common": [common]}
    sections = [
        SectionBytes(layout.section(key), [_section(layout.section(key), rows)])
        for key, rows in parts.items()
    ]
    header = layout.section("header")
    return encode_records(layout, _columns(header, [common]), sections, 1)


def _section(section: Section, rows: Sequence[Row]) -> list[bytes]:
    length = PLAN.mq.section_length.get(section.key, section.known_length)
    return cut_rows(encode_section(section, _columns(section, rows), len(rows), length))


def _columns(section: Section, rows: Sequence[Row]) -> dict[str, pa.Array]:
    """Return the columns of a section that the rows have values for."""
    return {
        field.column: pa.array([row[field.column] for row in rows], arrow_type(field))
        for field in section.columns
        if all(field.column in row for row in rows)
    }


def _plain(record_type: int, rows: Sequence[Row]) -> list[bytes]:
    return plain_records(record_type, _columns(catalog().header, rows), 1)
