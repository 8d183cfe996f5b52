"""A simulated z/OS around a real listener: SMF records of connections and of CPU time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from tests.dumps import composed

from zscope.parsers.smf.record_writer import as_stream

if TYPE_CHECKING:
    import numpy as np

SYSTEM, STACK, LISTENER = "SYSX", "TCPIP", "ZECHO"
QUARTER = timedelta(minutes=15)
FULL_S, RESUMED_S, MB_S = 1.0, 0.3, 2.0
"""CPU seconds of TLS, large because the simulated traffic is small and SMF 30 has hundredths of a second."""
SET_UP_S, PLAIN_MB_S, LISTENER_S = 0.08, 0.5, 0.2
_BASE_S, _NOISE_S = 20.0, 0.05
_VERSION, _SUITE = 0x0304, "1302"
_FULL, _RESUMED = 1, 2


@dataclass(frozen=True)
class Connection:
    """A connection that the stack saw."""

    start: datetime
    end: datetime
    port: int
    remote_port: int
    job: str
    is_tls: bool
    is_resumed: bool
    mb: float


def real_connections(start: datetime, quarters: int, rng: np.random.Generator) -> list[Connection]:
    """Return the traffic of a server of the system."""
    connections = []
    for quarter in range(quarters):
        begin = start + quarter * QUARTER
        for is_tls, is_resumed, mean in ((True, False, 20), (True, True, 30), (False, False, 25)):
            for _ in range(rng.poisson(mean)):
                at = begin + timedelta(seconds=float(rng.uniform(0, 890)))
                port = 443 if is_tls else 80
                mb = float(rng.uniform(0.001, 0.05))
                end = at + timedelta(seconds=1)
                remote = int(rng.integers(1024, 65_000))
                connections.append(Connection(at, end, port, remote, "WEB", is_tls, is_resumed, mb))
    return connections


def dump(
    connections: Sequence[Connection], start: datetime, quarters: int, rng: np.random.Generator
) -> bytes:
    """Return the records of the connections, and of the CPU time of stack and listener."""
    ordered = sorted(connections, key=lambda each: each.end)
    records = [*_connection_records(ordered), *_cpu_records(ordered, start, quarters, rng)]
    return b"".join(as_stream(records))


def _connection_records(connections: Sequence[Connection]) -> list[bytes]:
    records: list[bytes] = []
    for is_tls in (True, False):
        chosen = [(at, each) for at, each in enumerate(connections) if each.is_tls == is_tls]
        sections: dict[str, dict[str, object]] = {"identification": {"stack": STACK}}
        sections["common"] = {
            "event_type": [3 if each.end - each.start > timedelta(seconds=10) else 4 for _, each in chosen],
            "security_protocols_flags": 128 if is_tls else 0,
            "connection_flags": 16,
            "ip_protocol": 6,
            "job_name": [each.job for _, each in chosen],
            "start_utc": [each.start for _, each in chosen],
            "end_utc": [each.end for _, each in chosen],
            "remote_ip": "192.0.2.9",
            "local_ip": "192.0.2.1",
            "remote_port": [each.remote_port for _, each in chosen],
            "local_port": [each.port for _, each in chosen],
            "connection_id": [at + 1 for at, _ in chosen],
            "in_bytes": [round(each.mb * 5e5) for _, each in chosen],
            "out_bytes": [round(each.mb * 5e5) for _, each in chosen],
        }
        if is_tls:
            sections["tls"] = {
                "tls_version": _VERSION,
                "handshake_type": [_RESUMED if each.is_resumed else _FULL for _, each in chosen],
                "handshake_role": 2,
                "cipher": _SUITE,
            }
        records += composed((119, 11), [each.end for _, each in chosen], SYSTEM, **sections)
    return records


def _cpu_records(
    connections: Sequence[Connection], start: datetime, quarters: int, rng: np.random.Generator
) -> list[bytes]:
    stack, listener = (base + rng.normal(0, _NOISE_S, quarters) for base in (_BASE_S, 1.0))
    for each in connections:
        quarter = (each.start - start) // QUARTER
        tls = (RESUMED_S if each.is_resumed else FULL_S) + MB_S * each.mb if each.is_tls else 0.0
        stack[quarter] += tls + SET_UP_S + PLAIN_MB_S * each.mb
        if each.job == LISTENER:
            listener[quarter] += LISTENER_S
    records: list[bytes] = []
    for job, cpu_s in ((STACK, stack), (LISTENER, listener)):
        begins = [start + quarter * QUARTER for quarter in range(quarters)]
        records += composed(
            (30, 2),
            [begin + QUARTER + timedelta(seconds=1) for begin in begins],
            SYSTEM,
            identification={
                "job_name": job,
                "program": job,
                "job_id": f"STC0000{len(job)}",
                "step_number": 1,
                "asid": 50 + len(job),
                "interval_start_utc": begins,
                "interval_end_utc": [begin + QUARTER for begin in begins],
            },
            processor={
                "timer_flags": 0x8000,
                "task_ms": [10 * round(100 * seconds) for seconds in cpu_s],
                **dict.fromkeys(("srb_ms", "io_interrupt_ms", "region_control_ms", "hiperspace_ms"), 0),
            },
        )
    return records
