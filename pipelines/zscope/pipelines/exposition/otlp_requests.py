"""Encode requests to a collector: a line of JSON as it is or as Protobuf, compressed or not.

The environment variables are those that OpenTelemetry defines for exporters.
"""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zscope.pipelines.export_target import ExportError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from google.protobuf.message import Message

METRICS, LOGS = "/v1/metrics", "/v1/logs"
"""Paths of the two kinds of requests, below the address of the collector."""
PROTOCOL, COMPRESSION = "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_COMPRESSION"
_PROTOBUF, _JSON = "http/protobuf", "http/json"
_GZIP, _NONE = "gzip", "none"
_PROTOBUF_TYPE, _JSON_TYPE = "application/x-protobuf", "application/json"


@dataclass(frozen=True, slots=True)
class Encoding:
    """How requests are encoded."""

    protobuf: bool
    compressed: bool = True

    @classmethod
    def of_environment(cls) -> Encoding:
        """Return what the environment says; by default Protobuf if its messages are installed, and gzip."""
        protocol, compression = _value(PROTOCOL, _PROTOBUF, _JSON), _value(COMPRESSION, _GZIP, _NONE)
        if protocol == _PROTOBUF and not _installed():
            raise ExportError(f'{PROTOCOL}={_PROTOBUF} needs pip install "zscope[otlp]"')
        return cls(protocol != _JSON and _installed(), compression != _NONE)

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers that name the encoding."""
        encoding = {"Content-Encoding": _GZIP} if self.compressed else {}
        return {"Content-Type": _PROTOBUF_TYPE if self.protobuf else _JSON_TYPE, **encoding}

    def request(self, line: bytes, path: str) -> bytes:
        """Return the body of the request for a line of JSON."""
        body = _from_json(line, path) if self.protobuf else line.rstrip(b"\n")
        return gzip.compress(body, mtime=0) if self.compressed else body


def partial_success(body: bytes, content_type: str, path: str) -> dict[str, Any]:
    """Return what a collector says about values that it did not accept; empty if it says nothing."""
    try:
        answer = _answer(body, path) if content_type == _PROTOBUF_TYPE else json.loads(body or b"{}")
    except ValueError:
        return {}  # an answer of something in front of the collector
    partial = answer.get("partialSuccess") if isinstance(answer, dict) else None
    return partial if isinstance(partial, dict) else {}


def _value(variable: str, *values: str) -> str:
    """Return the value of an environment variable; empty if it is not set."""
    value = os.environ.get(variable, "").strip()
    if value and value not in values:
        raise ExportError(f"{variable}={value}: zscope knows {' and '.join(values)}")
    return value


def _installed() -> bool:
    try:
        import opentelemetry.proto  # noqa: F401 - only whether it is there
    except ImportError:
        return False
    return True


def _from_json(line: bytes, path: str) -> bytes:
    from google.protobuf.json_format import Parse

    request: bytes = Parse(line, _messages(path)[0]).SerializeToString()
    return request


def _answer(body: bytes, path: str) -> dict[str, Any]:
    from google.protobuf.json_format import MessageToDict
    from google.protobuf.message import DecodeError

    message = _messages(path)[1]
    try:
        message.ParseFromString(body)
    except DecodeError as error:
        raise ValueError(str(error)) from error
    answer: dict[str, Any] = MessageToDict(message)
    return answer


def _messages(path: str) -> tuple[Message, Message]:
    """Return an empty request and an empty answer."""
    if path == METRICS:
        from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
            ExportMetricsServiceRequest,
            ExportMetricsServiceResponse,
        )

        return ExportMetricsServiceRequest(), ExportMetricsServiceResponse()
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
        ExportLogsServiceRequest,
        ExportLogsServiceResponse,
    )

    return ExportLogsServiceRequest(), ExportLogsServiceResponse()
