"""A few clean rows, made up, of z/VM listings and z/TPF series, next to the sample data of z/OS."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.schemas.arrow import table_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_BEGIN = datetime(2026, 3, 2, 12, 20, tzinfo=UTC)
_PERIOD = {
    "file": "perf.txt", "source": "text", "system": "VMA", "time_from": "report", "run": "2A",
    "interval_start_local": (_BEGIN + timedelta(hours=1)).replace(tzinfo=None), "period_s": 600.0,
}  # fmt: skip
_USERS = [
    ("OPERATOR", 0.0, 0.012, 0.009, 1.3),
    ("RSCS", 44.98, 269.9, 201.4, 1.3),
    ("SSL00001", 12.08, 72.48, 66.1, 1.1),
    ("TCPIP", 9.0, 53.97, 31.75, 1.7),
]
_SERIES = {"file": "ecbs.csv", "source": "csv", "system": "TPFA", "run": "before", "series": "before"}
_SAMPLES = [
    (60.0, 0.0, 0.0),
    (1480.0, 310.0, 2.0),
    (None, 655.0, 2.0),
    (560.0, None, 1.0),
    (62.0, 800.0, 0.0),
]


def other_systems() -> Mapping[str, pa.Table]:
    """Rows as the readers give them, by table."""
    return {
        "zvm_user": made(
            "zvm_user",
            [
                _PERIOD | {
                    "line_no": line, "userid": userid, "cpu_pct": pct, "tcpu_s": tcpu, "vcpu_s": vcpu,
                    "tv_ratio": ratio, "virtual_io_per_s": 3.0,
                }
                for line, (userid, pct, tcpu, vcpu, ratio) in enumerate(_USERS, start=11)
            ],
        ),
        "zvm_channel": made(
            "zvm_channel",
            [
                _PERIOD | {
                    "line_no": 31, "chpid": "54", "shared": True, "bus_cycle_pct": 11.0,
                    "work_units_pct": 9.0, "data_write_pct": 8.0, "data_read_pct": 8.0,
                    "own_work_units_pct": 5.0, "own_data_write_pct": 4.0, "own_data_read_pct": 4.0,
                    "write_bytes_per_s": 12.9e6, "read_bytes_per_s": 12.8e6,
                }
            ],
        ),
        "ztpf_series": made(
            "ztpf_series",
            [
                _SERIES | {
                    "line_no": number + 2, "sample_no": number, "since_start_us": number * 1_000_000,
                    "sample_utc": _BEGIN + timedelta(seconds=number), "ecbs_in_use": ecbs,
                    "tls_starts_completed": starts, "worker_threads": 4, "threads_starting": threads,
                    "sessions_requested": 800,
                }
                for number, (ecbs, starts, threads) in enumerate(_SAMPLES)
            ],
        ),
    }  # fmt: skip


def made(table: str, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows of a table as a reader gives them; columns that a row does not name have no value."""
    schema = table_schema(table)
    named = {name for row in rows for name in row}
    assert named <= set(schema.names), named - set(schema.names)
    loose = pa.schema([pa.field(field.name, _plain(field.type)) for field in schema])
    return pa.Table.from_pylist([dict(row) for row in rows], loose)


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
