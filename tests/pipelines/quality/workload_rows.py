"""A few clean rows, made up, of spaces, classes, ports and stacks, for an interval of the sample dump."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tests.pipelines.quality.other_systems import made

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

_START = datetime(2026, 3, 2, 10, tzinfo=UTC)
_END = _START + timedelta(minutes=15)
_LOCAL = {
    "system": "SYSA", "record_offset": 0,
    "written_local": (_END + timedelta(hours=1, seconds=2)).replace(tzinfo=None),
}  # fmt: skip
_SPACE = _LOCAL | {
    "job_start_local": datetime(2026, 3, 1, 8, tzinfo=UTC).replace(tzinfo=None),
    "job_name": "TCPIP", "job_id": "STC00042", "program": "EZBTCPIP", "asid": 74, "step_number": 1,
    "substep_number": 0, "work_type": "STC", "task_ms": 30_000, "srb_ms": 5_000, "io_interrupt_ms": 0,
    "region_control_ms": 0, "hiperspace_ms": 0, "preemptable_srb_ms": 9_000, "enclave_ms": 1_000,
    "dependent_enclave_ms": 0, "ziip_ms": 0, "ziip_on_cp_ms": 0, "zaap_ms": 0,
}  # fmt: skip
_CLASS = _LOCAL | {
    "interval_start_local": (_START + timedelta(hours=1)).replace(tzinfo=None), "interval_ms": 900_000,
    "local_offset_us": 3_600_000_000, "interval_end_utc": _END, "class_name": "SYSSTC", "class_flags": 0,
    "period": 1, "valid_data": 0xE0, "cpu_coefficient_10000": 10_000, "srb_coefficient_10000": 10_000,
    "cpu_adjustment": 188, "ziip_speed_256": 256, "zaap_speed_256": 256, "cpu_service": 3_000_000.0,
    "srb_service": 500_000.0, "ziip_service": 0.0, "zaap_service": 0.0, "ziip_on_cp_service": 0.0,
    "region_control_us": 0.0, "io_interrupt_us": 0.0, "hiperspace_us": 0.0,
}  # fmt: skip
_PORT = _LOCAL | {
    "stack": "TCPIP", "port_kind": "TCP", "interval_us": 900_000_000, "local_port": 443,
    "reserved_for": "WEBSRV", "accepted_connections": 9, "most_connections": 5, "open_connections": 2,
}  # fmt: skip

_STACK = _LOCAL | {"stack": "TCPIP", "interval_us": 900_000_000}


def workload_rows() -> Mapping[str, pa.Table]:
    """Rows as the readers give them, by table."""
    space = _SPACE | {"record_no": 1, "interval_start_utc": _START, "interval_end_utc": _END}
    ends = [_SPACE | {"record_no": 5 + subtype, "record_subtype": subtype} for subtype in (4, 5)]
    return {
        "smf30_interval": made("smf30_interval", [space | {"record_subtype": 2}]),
        "smf30_end": made("smf30_end", ends),
        "smf72_service_class_period": made(
            "smf72_service_class_period", [_CLASS | {"record_no": 3, "section_no": 0}]
        ),
        "smf119_port_statistics": made("smf119_port_statistics", [_PORT | {"record_no": 4, "section_no": 0}]),
        "smf119_stack_statistics": made("smf119_stack_statistics", [_STACK | {"record_no": 9}]),
    }
