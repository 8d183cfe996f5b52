"""The statements about the data as log records of OpenTelemetry."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from zscope.pipelines.exposition.otlp_lines import attribute, write_log_records
from zscope.pipelines.exposition.series import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from typing import BinaryIO

    from zscope.pipelines.exposition.otlp_lines import Resources
    from zscope.pipelines.exposition.series import Value

_INFO = 9
"""INFO of the data model of OpenTelemetry's logs."""


def write_statement_logs(
    out: BinaryIO, statements: Iterable[Mapping[str, Any]], resources: Resources, now: datetime
) -> int:
    """Write rows of the metric `statement` as requests in lines, and return the number of log records."""
    return write_log_records(out, ((row["system"], _log_record(row, now)) for row in statements), resources)


def _log_record(row: Mapping[str, Any], now: datetime) -> dict[str, object]:
    nanoseconds = str(int(now.timestamp() * 1_000_000) * 1000)
    values = {name: value for name, value in row.items() if name not in {"system", "sentence"}}
    return {
        "timeUnixNano": nanoseconds,
        "observedTimeUnixNano": nanoseconds,
        "severityNumber": _INFO,
        "severityText": "INFO",
        "eventName": f"{PREFIX}.statement",
        "body": {"stringValue": row["sentence"]},
        "attributes": [
            attribute(f"{PREFIX}.statement.{name}", _plain(value))
            for name, value in values.items()
            if value is not None
        ],
    }


def _plain(value: Value | date | list[str]) -> Value:
    """Days and moments as ISO 8601, names of columns with commas between them."""
    if isinstance(value, date):
        return value.isoformat()
    return ", ".join(value) if isinstance(value, list) else value
