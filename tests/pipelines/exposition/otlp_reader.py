"""A strict reader of OTLP/JSON lines, from the messages of the protocol and the JSON mapping of Protobuf.

Every field must belong to its message and follow the mapping; nothing is skipped.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Message = dict[str, Any]
_UNSIGNED = re.compile(r"0|[1-9]\d*")
_SIGNED = re.compile(r"-?(0|[1-9]\d*)")


class InvalidError(Exception):
    """The text is not in the format."""


@dataclass(frozen=True)
class Point:
    """A point with its metric, scope and resource."""

    resource: dict[str, object]
    scope: Message
    metric: Message
    """Without its points."""
    kind: str
    data: Message
    """Of the sum or the gauge, without its points."""
    attributes: dict[str, object]
    begin: int | None
    end: int
    value: float


def _text(value: object) -> bool:
    return isinstance(value, str)


def _truth(value: object) -> bool:
    return isinstance(value, bool)


def _int64(value: object) -> bool:
    return isinstance(value, str) and bool(_SIGNED.fullmatch(value)) and -(2**63) <= int(value) < 2**63


def _fixed64(value: object) -> bool:
    return isinstance(value, str) and bool(_UNSIGNED.fullmatch(value)) and int(value) < 2**64


def _double(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int | float) or value in {"NaN", "Infinity", "-Infinity"}


def _enumeration(value: object) -> bool:
    return value in {0, 1, 2} and not isinstance(value, bool)


_MESSAGES: dict[str, dict[str, Callable[[object], bool] | str | list[str]]] = {
    "request": {"resourceMetrics": ["resourceMetrics"]},
    "resourceMetrics": {"resource": "resource", "scopeMetrics": ["scopeMetrics"], "schemaUrl": _text},
    "resource": {"attributes": ["keyValue"]},
    "scopeMetrics": {"scope": "scope", "metrics": ["metric"], "schemaUrl": _text},
    "scope": {"name": _text, "version": _text, "attributes": ["keyValue"]},
    "metric": {"name": _text, "description": _text, "unit": _text, "gauge": "gauge", "sum": "sum"},
    "gauge": {"dataPoints": ["point"]},
    "sum": {"dataPoints": ["point"], "aggregationTemporality": _enumeration, "isMonotonic": _truth},
    "point": {
        "attributes": ["keyValue"],
        "startTimeUnixNano": _fixed64,
        "timeUnixNano": _fixed64,
        "asInt": _int64,
        "asDouble": _double,
    },
    "keyValue": {"key": _text, "value": "anyValue"},
    "anyValue": {"stringValue": _text, "boolValue": _truth, "intValue": _int64, "doubleValue": _double},
}
_ONE_OF = {"metric": {"gauge", "sum"}, "point": {"asInt", "asDouble"}, "anyValue": set(_MESSAGES["anyValue"])}


def read(data: bytes) -> list[Point]:
    """All points of a file."""
    if data and not data.endswith(b"\n"):
        raise InvalidError("the last line has no end")
    result: list[Point] = []
    for line in data.decode("utf-8").split("\n")[:-1]:
        request = json.loads(line, object_pairs_hook=_once, parse_constant=_no_constant)
        _check("request", request)
        result += _points(request)
    return result


def _once(pairs: list[tuple[str, Any]]) -> Message:
    if len(dict(pairs)) != len(pairs):
        raise InvalidError(f"a name twice: {pairs}")
    return dict(pairs)


def _no_constant(text: str) -> object:
    raise InvalidError(f"{text} is not JSON")


def _check(kind: str, message: object) -> None:
    if not isinstance(message, dict):
        raise InvalidError(f"{kind} is no object: {message}")
    if kind in _ONE_OF and len(_ONE_OF[kind] & set(message)) != 1:
        raise InvalidError(f"{kind} needs one of {_ONE_OF[kind]}: {message}")
    for name, value in message.items():
        match _MESSAGES[kind].get(name):
            case None:
                raise InvalidError(f"{kind} has no field {name}")
            case str() as inner:
                _check(inner, value)
            case [inner]:
                if not isinstance(value, list):
                    raise InvalidError(f"{kind}.{name} is no list")
                for one in value:
                    _check(inner, one)
            case valid:
                if not callable(valid) or not valid(value):
                    raise InvalidError(f"{kind}.{name} is {value!r}")


def _points(request: Message) -> Iterator[Point]:
    for resource in request["resourceMetrics"]:
        whom = _attributes(resource["resource"]["attributes"])
        for scope in resource["scopeMetrics"]:
            for metric in scope["metrics"]:
                kind = "sum" if "sum" in metric else "gauge"
                data = dict(metric[kind])
                points = data.pop("dataPoints")
                if not points:
                    raise InvalidError(f"{metric['name']} has no points")
                about = {name: value for name, value in metric.items() if name != kind}
                for point in points:
                    begin = point.get("startTimeUnixNano")
                    yield Point(
                        whom,
                        scope["scope"],
                        about,
                        kind,
                        data,
                        _attributes(point["attributes"]),
                        None if begin is None else int(begin),
                        int(point["timeUnixNano"]),
                        int(point["asInt"]) if "asInt" in point else float(point["asDouble"]),
                    )


def _attributes(pairs: list[Message]) -> dict[str, object]:
    result: dict[str, object] = {}
    for pair in pairs:
        [(kind, value)] = pair["value"].items()
        if pair["key"] in result or not pair["key"]:
            raise InvalidError(f"attribute {pair['key']!r}")
        result[pair["key"]] = int(value) if kind == "intValue" else value
    return result
