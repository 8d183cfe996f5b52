"""The log of the client: one JSON line for each quarter hour, with what the client did and saw.

A store has it as runs with the role `tls-test`, one for each line.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated

import msgspec

from zscope.pipelines.experiment.arms import Arm
from zscope.pipelines.runs.entry import TLS_TEST, Run, parse_run
from zscope.schemas.errors import Error

_Count = Annotated[int, msgspec.Meta(ge=0)]
_Port = Annotated[int, msgspec.Meta(ge=1, le=65_535)]


class LogError(Error):
    """A log cannot be read; the message contains the line and the reason."""


class LogLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the client did in one quarter hour."""

    start_utc: datetime
    end_utc: datetime
    arm: Arm
    connections: _Count
    """Connections that were opened, closed and had all bytes returned."""
    full: _Count
    resumed: _Count
    """Handshakes of these connections, as the client saw them."""
    failed: _Count
    """Connections that failed, in the handshake or later."""
    bytes: _Count
    """Bytes sent and received by the application, of all connections."""
    target: str
    tls_port: _Port
    plain_port: _Port
    tls_version: str | None = None
    cipher: str | None = None
    """Version and cipher suite of the last connection with TLS."""
    ended_early: str | None = None
    """Why the arm did not run until its end."""


def log_text(line: LogLine) -> str:
    """Return a line of the file."""
    return msgspec.json.encode(line).decode()


def parse_log(lines: Iterable[str]) -> list[LogLine]:
    """Return the lines of a log; raise LogError with the number of the first wrong one.

    >>> parse_log(['{"arm": "full"}'])
    Traceback (most recent call last):
    ...
    zscope.pipelines.experiment.client_log.LogError: line 1: Object missing required field `start_utc`
    """
    parsed: list[LogLine] = []
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            line = msgspec.json.decode(text, type=LogLine)
        except msgspec.MsgspecError as error:
            raise LogError(f"line {number}: {error}") from error
        if line.start_utc.tzinfo is None or line.end_utc.tzinfo is None:
            raise LogError(f"line {number}: start_utc and end_utc need an offset from UTC")
        if line.end_utc <= line.start_utc:
            raise LogError(f"line {number}: end_utc is not after start_utc")
        start, end = line.start_utc.astimezone(UTC), line.end_utc.astimezone(UTC)
        parsed.append(msgspec.structs.replace(line, start_utc=start, end_utc=end))
    if not parsed:
        raise LogError("the log is empty")
    return parsed


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
