"""Writer of metrics as OTLP: lines of JSON, each an ExportMetricsServiceRequest."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from zscope.pipelines.exposition.otlp_lines import (
    LINE_BYTES,
    SERVER_PORT,
    LineWriter,
    attribute,
    compact_json,
    double,
)
from zscope.pipelines.exposition.series import PREFIX, SYSTEM

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.pipelines.exposition.otlp_lines import Resources
    from zscope.pipelines.exposition.samples import Sample
    from zscope.pipelines.exposition.series import Family, Labels, Value

MARKS = (b'{"resourceMetrics":',)
"""First bytes of such a file."""
_DELTA = 1
_CONVENTIONS = {"server_port": SERVER_PORT}


class Otlp:
    """Writes requests, each with some points of some metrics."""

    def __init__(self, out: BinaryIO, resources: Resources) -> None:
        """Write into a stream."""
        self._resources = resources
        self._lines = LineWriter(out, "resourceMetrics")

    def write(self, family: Family, samples: Iterable[Sample]) -> int:
        """Write the points of a metric and return their number."""
        written = 0
        labels: Labels | None = None
        attributes = ""
        system: Value | None = None
        points: list[str] = []
        length = 0
        for sample in samples:
            if sample.labels is not labels:
                labels = sample.labels
                attributes = compact_json([attribute(_name(name), value) for name, value in labels])
                one = dict(labels).get(SYSTEM)
                if one != system:
                    self._add(family, system, points)
                    points, length, system = [], 0, one
            points.append(_point(sample, attributes))
            length += len(points[-1].encode())
            if self._lines.length + length >= LINE_BYTES:
                self._add(family, system, points)
                points, length = [], 0
                self._lines.end_line()
            written += 1
        self._add(family, system, points)
        return written

    def close(self) -> None:
        """Write the last line."""
        self._lines.end_line()

    def _add(self, family: Family, system: Value | None, points: list[str]) -> None:
        if points:
            self._lines.add(
                f'{{"resource":{{"attributes":{compact_json(self._resources.of_system(system))}}},'
                f'"scopeMetrics":[{{"scope":{compact_json(self._resources.scope)},'
                f'"metrics":[{_metric(family, points)}]}}]}}'
            )


def _name(label: str) -> str:
    """Return the name of an attribute: that of OpenTelemetry if it has one, otherwise with our prefix."""
    return _CONVENTIONS.get(label, f"{PREFIX}.{label}")


def _metric(family: Family, points: list[str]) -> str:
    head = compact_json(
        {
            "name": f"{PREFIX}.{family.metric}.{family.plain_name or family.name}",
            "description": family.help,
            "unit": family.unit.ucum,
        }
    )
    data_points = f'"dataPoints":[{",".join(points)}]'
    if family.summed:
        data = f'"sum":{{{data_points},"aggregationTemporality":{_DELTA},"isMonotonic":true}}'
    else:
        data = f'"gauge":{{{data_points}}}'
    return f"{head[:-1]},{data}}}"


def _point(sample: Sample, attributes: str) -> str:
    begin = "" if sample.begin_us is None else f'"startTimeUnixNano":"{sample.begin_us * 1000}",'
    end = f'"timeUnixNano":"{sample.end_us * 1000}"'
    return f'{{"attributes":{attributes},{begin}{end},{_number(sample.value)}}}'


def _number(value: float) -> str:
    return f'"asInt":"{value}"' if isinstance(value, int) else f'"asDouble":{double(value)}'
