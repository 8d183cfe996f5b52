"""The rows of `zscope check` as events: OTLP logs, and lines of JSON for Splunk and Elastic.

The three formats have the same content under the names that their readers know. `key` is the same in every
export for the same finding at the same place, so readers can recognise it again. OTLP logs also have the
statements about the data.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import date
from hashlib import blake2s
from typing import TYPE_CHECKING, Any, BinaryIO

from zscope.pipelines.exposition.otlp_lines import SERVER_PORT, compact_json, log_record, write_log_records
from zscope.pipelines.exposition.series import PREFIX
from zscope.pipelines.metrics.metric_checks import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from zscope.pipelines.exposition.otlp_lines import Resources
    from zscope.pipelines.exposition.series import Value
    from zscope.pipelines.store.session import Session

ORDER = f"""
    array_position({list(SEVERITIES)!r}, severity),
    array_position(['found', 'fail', 'unknown', 'pass'], result),
    connections DESC NULLS LAST, id, system NULLS LAST, server_port NULLS LAST, job_name NULLS LAST,
    certificate NULLS LAST
"""
"""The order of the rows of `zscope check`: the worst first."""
MARKS = (b'{"resourceLogs":', b'{"time":', b'{"@timestamp":')
"""First bytes of files in these formats."""


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One row of `zscope check`; the fields are its columns."""

    id: str
    kind: str
    severity: str
    result: str
    what: str
    system: str | None
    server_port: int | None
    job_name: str | None
    certificate: str | None
    connections: int | None
    share_pct: float | None
    source: str | None
    covered_pct: float | None
    evidence: str | None
    remedy: str | None
    evidence_query: str | None

    @property
    def key(self) -> str:
        """A digest of the check and its place."""
        place = [self.kind, self.id, self.system, self.server_port, self.job_name, self.certificate]
        return blake2s(json.dumps(place).encode(), digest_size=8).hexdigest()

    @property
    def message(self) -> str:
        """The row in one line."""
        place = [
            *([self.system] if self.system else []),
            *([f"port {self.server_port}"] if self.server_port is not None else []),
            *([f"job {self.job_name}"] if self.job_name else []),
        ]
        where = ", ".join(place) or "all systems"
        return f"{where}: {self.what}: {self.result} ({self.evidence or 'no evidence'})"


def selected_systems(systems: Sequence[str]) -> str:
    """Return the WHERE clause for the rows of these systems; it has the parameter `systems`.

    A recommended setting without data of any system is reported for every system.
    """
    return (
        "WHERE list_contains($systems, system) OR (kind = 'practice' AND system IS NULL)" if systems else ""
    )


def check_results(session: Session, systems: Sequence[str] = ()) -> Iterator[CheckRow]:
    """Yield the rows of `zscope check` for these or all systems, in its order."""
    result = session.run(
        f"SELECT * FROM check_result {selected_systems(systems)} ORDER BY {ORDER}",
        {"systems": list(systems)} if systems else None,
    )
    assert result is not None
    for batch in result.batches:
        for row in batch.to_pylist():
            yield CheckRow(**row)


def write_otlp_logs(out: BinaryIO, results: Iterable[CheckRow], resources: Resources, now: datetime) -> int:
    """Write lines of JSON, each an ExportLogsServiceRequest, and return the number of log records."""
    return write_log_records(out, ((each.system, _log_record(each, now)) for each in results), resources)


def _log_record(result: CheckRow, now: datetime) -> dict[str, object]:
    values: dict[str, Value | None] = {
        f"{PREFIX}.check.{name}": value
        for name, value in asdict(result).items()
        if name not in {"system", "server_port"}
    }
    values |= {f"{PREFIX}.check.key": result.key, SERVER_PORT: result.server_port}
    return log_record(f"check.{result.kind}", result.severity, result.message, values, now)


def write_statement_logs(
    out: BinaryIO, statements: Iterable[Mapping[str, Any]], resources: Resources, now: datetime
) -> int:
    """Write rows of the metric `statement` as requests in lines, and return the number of log records."""
    records = ((row["system"], _record_of_statement(row, now)) for row in statements)
    return write_log_records(out, records, resources)


def _record_of_statement(row: Mapping[str, Any], now: datetime) -> dict[str, object]:
    values = {
        f"{PREFIX}.statement.{name}": None if value is None else _plain(value)
        for name, value in row.items()
        if name not in {"system", "sentence"}
    }
    return log_record("statement", "info", row["sentence"], values, now)


def _plain(value: Value | date | list[str]) -> Value:
    """Days and moments as ISO 8601, names of columns with commas between them."""
    if isinstance(value, date):
        return value.isoformat()
    return ", ".join(value) if isinstance(value, list) else value


def write_splunk(out: BinaryIO, results: Iterable[CheckRow], now: datetime) -> int:
    """Write events as Splunk's HTTP Event Collector takes them, one a line, and return their number."""
    return _write_lines(out, (_splunk_event(result, now) for result in results))


def _splunk_event(result: CheckRow, now: datetime) -> dict[str, object]:
    content = {"message": result.message, "key": result.key, **_present(asdict(result))}
    return {
        "time": int(now.timestamp()),
        **({"host": result.system} if result.system else {}),
        "source": PREFIX,
        "sourcetype": f"{PREFIX}:check",
        "event": content,
    }


ECS_VERSION = "8.11.0"
"""Version of the Elastic Common Schema whose field names are used."""
_ECS_SEVERITIES = {"high": 73, "medium": 47, "low": 21, "info": 0}
_ECS_LEVELS = {"high": "error", "medium": "warning", "low": "notice", "info": "info"}
_ECS_OUTCOMES = {"found": "failure", "fail": "failure", "pass": "success", "unknown": "unknown"}


def write_ecs(out: BinaryIO, results: Iterable[CheckRow], version: str, now: datetime) -> int:
    """Write documents with the names of the Elastic Common Schema, one a line, and return their number."""
    return _write_lines(out, (_ecs_document(result, version, now) for result in results))


def _ecs_document(result: CheckRow, version: str, now: datetime) -> dict[str, object]:
    details = (
        "certificate",
        "connections",
        "share_pct",
        "source",
        "covered_pct",
        "evidence",
        "remedy",
        "evidence_query",
    )
    own = {
        name: value
        for name, value in asdict(result).items()
        if name in {"kind", "severity", "result", *details}
    }
    document = {
        "@timestamp": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "ecs.version": ECS_VERSION,
        "message": result.message,
        "log.level": _ECS_LEVELS[result.severity],
        "event.kind": "state",
        "event.category": ["configuration" if result.kind == "practice" else "network"],
        "event.type": ["info"],
        "event.module": PREFIX,
        "event.dataset": f"{PREFIX}.check",
        "event.code": result.id,
        "event.severity": _ECS_SEVERITIES[result.severity],
        "event.outcome": _ECS_OUTCOMES[result.result],
        "rule.id": result.id,
        "rule.name": result.what,
        "rule.category": result.kind,
        "host.name": result.system,
        "server.port": result.server_port,
        "process.name": result.job_name,
        "observer.product": PREFIX,
        "observer.version": version,
        f"{PREFIX}.check.key": result.key,
        **{f"{PREFIX}.check.{name}": value for name, value in own.items()},
    }
    return _present(document)


def _present(content: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in content.items() if value is not None}


def _write_lines(out: BinaryIO, documents: Iterable[dict[str, object]]) -> int:
    written = 0
    for document in documents:
        out.write(f"{compact_json(document)}\n".encode())
        written += 1
    return written
