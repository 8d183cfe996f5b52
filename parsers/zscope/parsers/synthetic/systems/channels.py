"""What two queue managers see while request and reply go through their channels: tasks and channels.

One interval for each arrangement. Elapsed and waiting time of a task are the interval to the last unit of the
clock, as in real records.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.parsers.synthetic.systems.plan import declared, start, zone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.synthetic.systems.plan import RoundTrips

UNITS_PER_US = 4096
"""Of the TOD clock."""
VERSION = "932"
_TASKS = {"dispatcher": 5, "adapter": 8, "SSL": 5, "DNS": 1}
_REQUESTS_PER_MESSAGE = {"dispatcher": 3.0, "adapter": 2.0, "SSL": 2.0, "DNS": 0.0}
_CPU_US = {"dispatcher": 9.0, "adapter": 22.0, "SSL": 0.0, "DNS": 0.0}
"""For a request; that of the SSL tasks is what the cipher adds."""
_ELAPSED_PER_CPU = {"dispatcher": 1.2, "adapter": 1.8, "SSL": 1.5, "DNS": 1.0}
_CONTROL_BYTES = 40
_RUNNING, _MEDIUM, _PRIVATE, _SENDER, _RECEIVER = 3, 33, 4, 1, 3


class QueueManager:
    """One of the two queue managers, with all that it records."""

    def __init__(self, name: str, system: str, partner: str, seed: int) -> None:
        self.name, self.system, self.partner = name, system, partner
        self._random = np.random.default_rng([seed, *name.encode("ascii")])

    def tasks(self, used: RoundTrips) -> Iterator[dict[str, Any]]:
        """The tasks of the channel initiator in the interval of an arrangement."""
        interval = self._lead(used)
        for task_type, count in _TASKS.items():
            requests = self._shared_out(2 * _messages(used) * _REQUESTS_PER_MESSAGE[task_type], count)
            for number, served in enumerate(
                requests if used.cipher_code or task_type != "SSL" else [0] * count
            ):
                cpu = round(served * _cpu_us(used, task_type) * UNITS_PER_US)
                elapsed = round(cpu * _ELAPSED_PER_CPU[task_type])
                longest = task_type == "SSL" and served > 0
                yield interval | {
                    "task_type": task_type,
                    "section_no": number,
                    "task_number": 0x009CA000 + 0x4D0 * (number + 16 * list(_TASKS).index(task_type)),
                    "requests": served,
                    "cpu_us": cpu // UNITS_PER_US,
                    "elapsed_tod": elapsed,
                    "wait_tod": interval["interval_tod"] - elapsed,
                    "channels": (2 if number == 0 else 0) if task_type == "dispatcher" else None,
                    "longest_utc": interval["interval_end_utc"] - timedelta(seconds=7) if longest else None,
                    "longest_us": 11_204 if longest else 0,
                }

    def channels(self, used: RoundTrips) -> Iterator[dict[str, Any]]:
        """The channel to the partner and the one from it."""
        messages = _messages(used)
        data, control = messages * used.channel_bytes, messages * _CONTROL_BYTES
        lead = self._lead(used)
        for channel, kind, sent, received in (
            (f"{self.name}.TO.{self.partner}", _SENDER, data, control),
            (f"{self.partner}.TO.{self.name}", _RECEIVER, control, data),
        ):
            sends = kind == _SENDER
            yield lead | {
                "collected_utc": lead["interval_end_utc"],
                "channel_name": channel,
                "disposition": _PRIVATE,
                "channel_type": kind,
                "channel_state": _RUNNING,
                "monitoring": _MEDIUM,
                "connection_name": "192.0.2.17",
                "started_utc": _second_like(start() - timedelta(minutes=5)),
                "stopped_utc": None,
                "last_message_utc": _second_like(lead["interval_end_utc"]),
                "batch_size": 50,
                "messages": messages,
                "persistent_messages": messages // 2,
                "batches": messages,
                "full_batches": 0,
                "buffers_sent": messages * used.sends if sends else messages,
                "buffers_received": messages if sends else messages * used.sends,
                "shared_conversations": 0,
                "message_bytes": messages * used.message_bytes,
                "persistent_message_bytes": messages // 2 * used.message_bytes,
                "sent_bytes": sent,
                "received_bytes": received,
                "compression_rate": 0,
                "network_avg_us": 180,
                "network_min_us": 151,
                "network_max_us": 2_210,
                "network_max_utc": lead["interval_end_utc"] - timedelta(seconds=19),
                "remote_name": self.partner,
                "peer_serial": "0000000000001a2b" if used.cipher_code else "0" * 16,
                "peer_name": self.partner if used.cipher_code else "",
                "cipher_code": used.cipher_code,
                "transmission_queue_empty": messages if sends else 0,
                "batch_data_limit_kb": 5_000,
                "dispatcher_number": 0,
            }

    def _lead(self, used: RoundTrips) -> dict[str, Any]:
        plan = declared()["mq"]
        begin, end = interval_of(used.number)
        # No interval is a whole number of microseconds long.
        units = plan["interval_s"] * 1_000_000 * UNITS_PER_US + 1_234 + 7 * used.number
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
        """Requests by task, not quite evenly."""
        shares = self._random.uniform(0.95, 1.05, tasks)
        return [round(total * share) for share in (shares / shares.sum()).tolist()]


def interval_of(number: int) -> tuple[datetime, datetime]:
    """Begin and end of the interval of an arrangement."""
    length = timedelta(seconds=declared()["mq"]["interval_s"])
    return start() + number * length, start() + (number + 1) * length


def round_trip_rows(used: RoundTrips, system: str, seed: int) -> Iterator[dict[str, Any]]:
    """What the application measured, repeatedly; the repetitions lie evenly around their mean."""
    plan = declared()["mq"]
    count = plan["repetitions"]
    steps = np.random.default_rng([seed, used.number]).permutation(count) - (count - 1) / 2
    begin, _ = interval_of(used.number)
    for number, step in enumerate(steps.tolist()):
        yield {
            "run": plan["run"],
            "system": system,
            "message_bytes": used.message_bytes,
            "cipher": used.cipher,
            "sslrkeyc": used.sslrkeyc,
            "round_trip_us": round(used.round_trip_us + step, 1),
            "cpu_us": round(used.cpu_us + step / 2, 1),
            "round_trips": plan["round_trips"],
            "channel_message_bytes": float(used.channel_bytes),
            "channel_pairs": 2,
            "tcp_sends_per_message": float(used.sends),
            "measured_utc": begin + timedelta(seconds=10 * number),
        }


def _messages(used: RoundTrips) -> int:
    plan = declared()["mq"]
    return int(plan["requesters"] * plan["interval_s"] * 1_000_000 / used.round_trip_us)


def _cpu_us(used: RoundTrips, task_type: str) -> float:
    if task_type != "SSL":
        return _CPU_US[task_type]
    plain = next(m["cpu_us"] for m in declared()["mq"]["message"] if m["bytes"] == used.message_bytes)
    # A round trip has two messages on each side, and each of the four needs its requests of an SSL task.
    return float(used.cpu_us - plain) / (4 * _REQUESTS_PER_MESSAGE["SSL"])


def _local(moment: datetime) -> datetime:
    return (moment + zone()).replace(tzinfo=None)


def _second_like(moment: datetime) -> datetime:
    """As these records have it: the low word of the clock is empty, so that steps are of 1.048576 seconds."""
    step = timedelta(microseconds=1_048_576)
    epoch = datetime(1900, 1, 1, tzinfo=moment.tzinfo)
    return epoch + (moment - epoch) // step * step
