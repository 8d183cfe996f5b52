"""The log of the client as runs of a store: one with the role `tls-test` for each quarter hour."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from zscope.pipelines.runs.entry import TLS_TEST, Run, parse_run

if TYPE_CHECKING:
    from zscope.pipelines.experiment.client_log import LogLine


def runs_of_log(lines: Iterable[LogLine], system: str) -> list[Run]:
    """Return the runs of a log; raise SettingsError for a value that a run cannot have."""
    return [_run(line, system) for line in lines]


def _run(line: LogLine, system: str) -> Run:
    tags: dict[str, str | int | None] = {
        "arm": line.arm.value,
        "tls_port": line.tls_port,
        "plain_port": line.plain_port,
        "target": line.target,
        "full": line.full,
        "resumed": line.resumed,
        "failed": line.failed,
        "bytes": line.bytes,
        "client_version": line.tls_version,
        "client_suite": line.cipher,
    }
    raw = {
        "name": f"tls-test {line.start_utc:%Y-%m-%d %H:%M:%S} {line.tls_port}",
        "system": system,
        "role": TLS_TEST,
        "from": line.start_utc,
        "to": line.end_utc,
        "transactions": line.connections,
        "tags": {name: value for name, value in tags.items() if value is not None},
    }
    return parse_run(raw | ({"note": f"ended early: {line.ended_early}"} if line.ended_early else {}))
