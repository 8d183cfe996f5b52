"""The HTTP server of `zscope serve-metrics`: the page, and whether the server and the store are well."""

from __future__ import annotations

import gzip
import socket
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from zscope.pipelines.exposition.metrics_page import MetricsPage

OPENMETRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_TEXT_TYPE = "text/plain; charset=utf-8"
METRICS, HEALTHY, READY = "/metrics", "/-/healthy", "/-/ready"
_INDEX = f"""zscope metrics
{METRICS}     newest values, for Prometheus
{HEALTHY}   whether this server runs
{READY}     whether the store can be read
"""
_SOCKET_SECONDS = 30


class PageServer(ThreadingHTTPServer):
    """A server that answers each request in a thread of its own."""

    daemon_threads = True
    """A request that hangs does not keep the program from ending."""

    def __init__(self, host: str, port: int, page: MetricsPage) -> None:
        """Listen on an address; raise OSError if that is not possible."""
        self.page = page
        self.address_family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        super().__init__((host, port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base class
        """Print nothing about a client that has gone; report other errors as the base class does."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """The address of the page."""
        host, port = self.server_address[:2]
        text = host.decode() if isinstance(host, bytes | bytearray) else host
        return f"http://{f'[{text}]' if ':' in text else text}:{port}{METRICS}"


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    timeout = _SOCKET_SECONDS
    server_version = "zscope"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer a request."""
        self._answer()

    def do_HEAD(self) -> None:
        """Answer without the text."""
        self._answer()

    def _answer(self) -> None:
        if not self._own_name():
            text = "this server does not have the name in the Host header; use its address\n"
            self._send(HTTPStatus.MISDIRECTED_REQUEST, text.encode(), _TEXT_TYPE)
            return
        match urlsplit(self.path).path:
            case "/metrics":
                kind = (
                    OPENMETRICS_TYPE if wants_openmetrics(self.headers.get("Accept", "")) else PROMETHEUS_TYPE
                )
                self._send(HTTPStatus.OK, self.server.page.text(), kind)
            case "/-/healthy":
                self._send(HTTPStatus.OK, b"zscope runs\n", _TEXT_TYPE)
            case "/-/ready":
                problem = self.server.page.problem()
                status = HTTPStatus.SERVICE_UNAVAILABLE if problem else HTTPStatus.OK
                self._send(status, f"{problem or 'the store can be read'}\n".encode(), _TEXT_TYPE)
            case "/":
                self._send(HTTPStatus.OK, _INDEX.encode(), _TEXT_TYPE)
            case _:
                self._send(HTTPStatus.NOT_FOUND, f"there is no such page\n\n{_INDEX}".encode(), _TEXT_TYPE)

    def _own_name(self) -> bool:
        """Whether a server on the loopback is called by an address or as localhost.

        A browser can be led to it by another name, and the page of that name could read the answer.
        """
        host, _ = self.server.server_address[:2]
        text = host.decode() if isinstance(host, bytes | bytearray) else host
        if not ip_address(text).is_loopback:
            return True
        name = urlsplit(f"//{self.headers.get('Host', text)}").hostname or ""
        return name == "localhost" or _is_address(name)

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        if "gzip" in self.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body, compresslevel=5)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Vary", "Accept, Accept-Encoding")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the interface of http.server
        """Print nothing: a line for each scrape would hide the messages."""


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def wants_openmetrics(accept: str) -> bool:
    """Whether a client prefers OpenMetrics 1.0 to the older text format.

    >>> wants_openmetrics("application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5")
    True
    >>> wants_openmetrics("text/plain;q=0.9, application/openmetrics-text;version=0.0.1")
    False
    """
    best = {"openmetrics": 0.0, "plain": 0.0}
    for part in accept.lower().split(","):
        kind, *parameters = (text.strip() for text in part.split(";"))
        named = dict(text.partition("=")[::2] for text in parameters)
        try:
            weight = float(named.get("q", "1"))
        except ValueError:
            weight = 0.0
        if kind == "application/openmetrics-text" and named.get("version", "1.0.0") == "1.0.0":
            best["openmetrics"] = max(best["openmetrics"], weight)
        elif kind in {"text/plain", "text/*"}:
            best["plain"] = max(best["plain"], weight)
    return best["openmetrics"] > best["plain"] or (0 < best["openmetrics"] == best["plain"])
