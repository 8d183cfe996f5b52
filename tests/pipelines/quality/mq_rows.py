"""A few clean rows, made up, of MQ records, files of the formatter and round trips."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.pipelines.quality.other_systems import made

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

_END = datetime(2026, 3, 2, 12, 30, tzinfo=UTC)
_LENGTH = timedelta(minutes=1)
_TOD = 4096
"""Units of the TOD clock in a microsecond."""
_INTERVAL = 60_000_000 * _TOD + 7
_WRITTEN = {
    "system": "SYS1", "queue_manager": "MQ5A",
    "written_local": (_END + timedelta(hours=1)).replace(tzinfo=None),
}  # fmt: skip
_RECORD = _WRITTEN | {
    "source": "smf", "record_offset": 0, "interval_end_utc": _END, "interval_us": _INTERVAL // _TOD,
    "interval_start_local": (_END - _LENGTH + timedelta(hours=1)).replace(tzinfo=None),
}  # fmt: skip
_LINE = _WRITTEN | {"source": "csv", "system_from": "report"}


def _task(kind: str, section: int, requests: int, cpu: int, elapsed: int) -> dict[str, Any]:
    """A task of a record; times in units of the clock."""
    return _RECORD | {
        "record_no": 1, "section_no": section, "task_type": kind, "task_number": 100 * section + len(kind),
        "requests": requests, "cpu_us": cpu // _TOD, "elapsed_us": elapsed // _TOD, "elapsed_tod": elapsed,
        "wait_us": (_INTERVAL - elapsed) // _TOD, "wait_tod": _INTERVAL - elapsed, "interval_tod": _INTERVAL,
    }  # fmt: skip


_CHANNEL = {
    "channel_name": "MQ5A.TO.MQ5B", "connection_name": "10.1.2.3", "disposition": 4, "channel_type": 1,
    "channel_state": 3, "monitoring": 33, "batches": 12200, "full_batches": 0, "messages": 12200,
    "persistent_messages": 12200, "message_bytes": 99942400, "persistent_message_bytes": 99942400,
    "sent_bytes": 104858100, "received_bytes": 488400, "compression_rate": 0, "exit_avg_us": 0,
    "exit_max_us": 0, "network_avg_us": 180, "network_min_us": 151, "network_max_us": 2210,
    "peer_serial": "0000000000001A2B", "cipher_code": 49192,
}  # fmt: skip
_STOPPED = {
    "started_utc": _END - timedelta(hours=1), "stopped_utc": _END - timedelta(seconds=2), "channel_state": 0
}  # fmt: skip
_TRIP = {"file": "trips.csv", "source": "csv", "run": "mq-8k", "message_bytes": 8192, "round_trips": 1000}


def mq_rows() -> Mapping[str, pa.Table]:
    """Rows as the readers give them, by table."""
    tasks = [
        _task("dispatcher", 0, 300, 9_000_001, 20_000_003),
        _task("adapter", 0, 0, 700_000, 0),
        _task("SSL", 0, 24_400, 1_954_000 * _TOD, 8_882_000 * _TOD + 1),
        _task("SSL", 1, 0, 0, 0),
        # More CPU time than elapsed time is nothing out of the ordinary for a task with little to do.
        _task("DNS", 0, 3, 26 * _TOD, 12 * _TOD),
    ]
    line = {
        "file": "SMF-QCTSSL.csv", "line_no": 2, "task_type": "SSL", "requests": 5, "cpu_us": 900,
        "elapsed_us": 1000, "wait_us": 59_999_000, "interval_us": 60_000_000,
    }  # fmt: skip
    channels = [
        _RECORD | _CHANNEL | {"record_no": 2, "section_no": 0},
        _RECORD | _CHANNEL | _STOPPED | {"record_no": 2, "section_no": 1},
        _LINE | _CHANNEL | {"file": "SMF-QCST.csv", "line_no": 2},
    ]
    initiator = {
        "record_no": 1, "current_channels_high": 12, "current_channels_max": 200, "active_channels_high": 8,
        "active_channels_max": 200,
    }  # fmt: skip
    trips = [
        {"cipher": "none", "round_trip_us": 402.0, "cpu_us": 100.0},
        {"cipher": "C028", "sslrkeyc": 0, "round_trip_us": 437.0, "channel_message_bytes": 8595.0},
        {"cipher": "C028", "sslrkeyc": 1_048_576, "round_trip_us": 496.0, "channel_pairs": 2},
    ]
    return {
        "mq_task": made("mq_task", [*tasks, _LINE | line]),
        "mq_channel": made("mq_channel", channels),
        "mq_channel_initiator": made("mq_channel_initiator", [_RECORD | initiator]),
        "mq_round_trip": made(
            "mq_round_trip",
            [_TRIP | trip | {"line_no": number} for number, trip in enumerate(trips, start=2)],
        ),
    }
