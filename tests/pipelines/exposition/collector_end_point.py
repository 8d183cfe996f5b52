"""A collector for tests: an HTTP server that decodes OTLP with the classes generated from its definition."""

from __future__ import annotations

import gzip
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from google.protobuf.json_format import Parse, ParseError
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message

    from opentelemetry.proto.common.v1.common_pb2 import KeyValue


@dataclass
class Received:
    """What the collector was sent."""

    address: str = ""
    metrics: list[ExportMetricsServiceRequest] = field(default_factory=list)
    logs: list[ExportLogsServiceRequest] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answers: list[tuple[int, str | bytes, dict[str, str]]] = field(default_factory=list)
    """Status, text and headers of the next answers; afterwards all is accepted."""


def decoded(path: str, headers: Message, body: bytes, received: Received) -> bool:
    """Keep a request; False if it is not one."""
    metrics = path.endswith("/v1/metrics")
    request = ExportMetricsServiceRequest() if metrics else ExportLogsServiceRequest()
    try:
        if headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        match headers["Content-Type"]:
            case "application/x-protobuf":
                request.ParseFromString(body)
            case "application/json":
                Parse(body, request)
            case _:
                return False
    except (ParseError, DecodeError, gzip.BadGzipFile):
        return False
    (received.metrics if metrics else received.logs).append(request)
    return True


@contextmanager
def collector() -> Iterator[Received]:
    """Run a collector on a free port of the loopback."""
    received = Received()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.headers.append({name.lower(): value for name, value in self.headers.items()})
            status, text, headers = received.answers.pop(0) if received.answers else (200, "{}", {})
            known = self.path in {"/v1/metrics", "/v1/logs"}
            if status == 200 and not (known and decoded(self.path, self.headers, body, received)):
                status, text = 400, "not OTLP"
            self.send_response(status)
            for name, value in {"Content-Length": str(len(text)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text if isinstance(text, bytes) else text.encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the interface of http.server
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        received.address = f"http://127.0.0.1:{server.server_port}"
        try:
            yield received
        finally:
            server.shutdown()


def attributes(pairs: Iterator[KeyValue] | list[KeyValue]) -> dict[str, object]:
    """Return attributes as a dictionary."""
    values = {}
    for pair in pairs:
        kind = pair.value.WhichOneof("value")
        assert kind is not None
        values[pair.key] = getattr(pair.value, kind)
    assert all(values), "a name is empty"
    return values
