"""What metrics and logs in OTLP share: resources, attributes, and lines of JSON with one request each.

The collector's receiver `otlpjsonfile` reads such lines, and each is a request to a collector. The
JSON mapping of Protobuf applies: names in lowerCamelCase, 64-bit integers as text, enumerations as numbers,
NaN and infinity as words.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from zscope.pipelines.exposition.series import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from zscope.pipelines.exposition.series import Value
    from zscope.pipelines.store.session import Session

SERVER_PORT = "server.port"
"""Name of the port in the semantic conventions of OpenTelemetry."""
LINE_BYTES = 256 * 1024
"""Length at which a line ends. The collector cuts lines at 1 MiB."""


@dataclass(frozen=True, slots=True)
class Resources:
    """The attributes of resources: of the program, and of the systems that values are about."""

    version: str
    """The version of the program."""
    systems: Mapping[str, Mapping[str, str]]
    """The attributes of z/OS systems as the semantic conventions of OpenTelemetry name them."""

    @classmethod
    def of(cls, session: Session, version: str) -> Resources:
        """Return the resources with what the records of a store say about its systems."""
        result = session.run("SELECT system, sysplex, lpar FROM system_identity ORDER BY system")
        assert result is not None
        rows = [row for batch in result.batches for row in batch.to_pylist()]
        return cls(version, {str(row["system"]): dict(_identity(row)) for row in rows})

    @property
    def scope(self) -> Mapping[str, str]:
        """The instrumentation scope of all values."""
        return {"name": PREFIX, "version": self.version}

    def of_system(self, system: Value | None) -> list[object]:
        """Return the attributes of the resource with values about a system, or about none."""
        attributes: dict[str, Value] = {"service.name": PREFIX, "service.version": self.version}
        if system is not None:
            attributes |= {"host.name": system, **self.systems.get(str(system), {})}
        return [attribute(name, value) for name, value in attributes.items()]


def _identity(row: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    for name, column in (
        ("zos.smf.id", "system"),
        ("zos.sysplex.name", "sysplex"),
        ("mainframe.lpar.name", "lpar"),
    ):
        if value := row[column]:
            yield name, value


class LineWriter:
    """Collects parts of requests and writes a line when enough of them are there."""

    def __init__(self, out: BinaryIO, field: str) -> None:
        """Write lines whose only field is a list of parts."""
        self._out = out
        self._field = field
        self._parts: list[str] = []
        self.length = 0
        """Bytes of the parts that are not written yet."""

    def add(self, part: str) -> None:
        """Add a part to the line."""
        self._parts.append(part)
        self.length += len(part.encode())

    def end_line(self) -> None:
        """Write the line, if it has parts."""
        if self._parts:
            self._out.write(f'{{"{self._field}":[{",".join(self._parts)}]}}\n'.encode())
        self._parts, self.length = [], 0


def write_log_records(
    out: BinaryIO, records: Iterable[tuple[str | None, Mapping[str, object]]], resources: Resources
) -> int:
    """Write log records, each with its system, as requests in lines, and return their number."""
    lines = LineWriter(out, "resourceLogs")
    written = 0
    for system, record in records:
        lines.add(
            f'{{"resource":{{"attributes":{compact_json(resources.of_system(system))}}},"scopeLogs":'
            f'[{{"scope":{compact_json(resources.scope)},"logRecords":[{compact_json(record)}]}}]}}'
        )
        written += 1
        if lines.length >= LINE_BYTES:
            lines.end_line()
    lines.end_line()
    return written


_SEVERITY_NUMBERS = {"high": 17, "medium": 13, "low": 10, "info": 9}
"""ERROR, WARN, INFO2 and INFO of the data model of OpenTelemetry's logs."""
_SEVERITY_TEXTS = {"high": "ERROR", "medium": "WARN", "low": "INFO", "info": "INFO"}


def log_record(
    event: str, severity: str, text: str, attributes: Mapping[str, Value | None], now: datetime
) -> dict[str, object]:
    """Return a LogRecord message; attributes without a value are left out."""
    nanoseconds = str(int(now.timestamp() * 1_000_000) * 1000)
    return {
        "timeUnixNano": nanoseconds,
        "observedTimeUnixNano": nanoseconds,
        "severityNumber": _SEVERITY_NUMBERS[severity],
        "severityText": _SEVERITY_TEXTS[severity],
        "eventName": f"{PREFIX}.{event}",
        "body": {"stringValue": text},
        "attributes": [attribute(name, value) for name, value in attributes.items() if value is not None],
    }


def attribute(name: str, value: Value) -> object:
    """Return a KeyValue message."""
    match value:
        case bool():
            typed: dict[str, Value] = {"boolValue": value}
        case int():
            typed = {"intValue": str(value)}
        case float():
            typed = {"doubleValue": value if math.isfinite(value) else double(value).strip('"')}
        case _:
            typed = {"stringValue": value}
    return {"key": name, "value": typed}


def double(value: float) -> str:
    """Return a floating point number as JSON.

    >>> double(0.1), double(float("-inf"))
    ('0.1', '"-Infinity"')
    """
    if math.isfinite(value):
        return repr(value)
    return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'


def compact_json(value: object) -> str:
    """Return a value as JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
