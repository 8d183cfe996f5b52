"""Writer of OTLP as JSON lines: one ExportMetricsServiceRequest per line, as the collector's `otlpjsonfile`
reads them.

The JSON mapping of Protobuf applies: names in lowerCamelCase, 64-bit integers as text, enumerations as
numbers, NaN and infinity as words.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, BinaryIO

from zscope.pipelines.exposition.series import PREFIX, SYSTEM

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.pipelines.exposition.samples import Sample
    from zscope.pipelines.exposition.series import Family, Labels, Value

MARKS = (b'{"resourceMetrics":',)
"""First bytes of such a file."""
LINE_BYTES = 256 * 1024
"""Length at which a line ends. The collector cuts lines at 1 MiB."""
_DELTA = 1


class Otlp:
    """Writes requests, each with some points of some metrics."""

    def __init__(self, out: BinaryIO, version: str) -> None:
        """Write into a stream; the version is that of the program."""
        self._out = out
        self._version = version
        self._parts: list[str] = []
        self._length = 0

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
                attributes = _json([_attribute(name, value) for name, value in labels])
                one = dict(labels).get(SYSTEM)
                if one != system:
                    self._add(family, system, points)
                    points, length, system = [], 0, one
            points.append(_point(sample, attributes))
            length += len(points[-1].encode())
            if self._length + length >= LINE_BYTES:
                self._add(family, system, points)
                points, length = [], 0
                self._end_line()
            written += 1
        self._add(family, system, points)
        return written

    def close(self) -> None:
        """Write the last line."""
        self._end_line()

    def _add(self, family: Family, system: Value | None, points: list[str]) -> None:
        if not points:
            return
        part = (
            f'{{"resource":{{"attributes":{_json(self._resource(system))}}},'
            f'"scopeMetrics":[{{"scope":{_json({"name": PREFIX, "version": self._version})},'
            f'"metrics":[{_metric(family, points)}]}}]}}'
        )
        self._parts.append(part)
        self._length += len(part.encode())

    def _resource(self, system: Value | None) -> list[object]:
        """Return the attributes of the program and of the system that the points are about."""
        attributes: dict[str, Value] = {"service.name": PREFIX, "service.version": self._version}
        if system is not None:
            attributes["host.name"] = system
        return [_attribute(name, value) for name, value in attributes.items()]

    def _end_line(self) -> None:
        if self._parts:
            self._out.write(f'{{"resourceMetrics":[{",".join(self._parts)}]}}\n'.encode())
        self._parts, self._length = [], 0


def _metric(family: Family, points: list[str]) -> str:
    head = _json(
        {
            "name": f"{PREFIX}.{family.metric}.{family.name}",
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
    if isinstance(value, int):
        return f'"asInt":"{value}"'
    return f'"asDouble":{_double(value)}'


def _double(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'


def _attribute(name: str, value: Value) -> object:
    match value:
        case bool():
            typed: dict[str, Value] = {"boolValue": value}
        case int():
            typed = {"intValue": str(value)}
        case float():
            typed = {"doubleValue": value if math.isfinite(value) else _double(value).strip('"')}
        case _:
            typed = {"stringValue": value}
    return {"key": name, "value": typed}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
