"""Send OTLP over HTTP to a collector: each line of JSON is a request."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import TYPE_CHECKING, Self
from urllib.parse import SplitResult, unquote, urlsplit

from zscope.pipelines.export_target import ExportError
from zscope.pipelines.exposition.otlp_requests import Encoding, partial_success

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

HEADERS = "OTEL_EXPORTER_OTLP_HEADERS"
"""Environment variable with further headers, such as a token, as OpenTelemetry defines it."""
_ATTEMPTS = 4
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0
_SECONDS = 30.0
_AGAIN = frozenset({429, 502, 503, 504})
"""Statuses after which a request can be sent again."""
_SHOWN = 200
"""Characters of an answer that a message contains."""


def is_address(target: str) -> bool:
    """Whether a target is the address of a collector and not a path."""
    return target.lower().startswith(("http://", "https://"))


@dataclass(slots=True)
class OtlpCollector:
    """A connection to a collector, to which lines are written as to a file."""

    address: str
    path: str
    """Path of the requests, unless the address already ends with it."""
    pause: Callable[[float], None] = time.sleep
    encoding: Encoding = field(default_factory=Encoding.of_environment)
    requests: int = 0
    """Requests that the collector has accepted."""
    rejected: list[str] = field(default_factory=list)
    """What the collector did not accept of requests that it accepted in part."""
    _connection: HTTPConnection | None = None

    def __enter__(self) -> Self:
        """Check the address; the first request connects."""
        self._url()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connection."""
        self._close()

    def write(self, line: bytes) -> int:
        """Send a line, again if the collector is not available, and return its length.

        Raise ExportError if it is not accepted.
        """
        problem = ""
        request = self.encoding.request(line, self.path)
        for attempt in range(_ATTEMPTS):
            try:
                response, body = self._sent(request)
            except (OSError, HTTPException) as error:
                self._close()
                problem = getattr(error, "strerror", None) or str(error) or type(error).__name__
                wait = _FIRST_PAUSE * 2**attempt
            else:
                if response.status in range(200, 300):
                    self.requests += 1
                    self._note_rejected(response, body)
                    return len(line)
                problem = _answer(response, body)
                if response.status not in _AGAIN:
                    raise ExportError(f"{self.address}: the collector answered {problem}{self._so_far()}")
                wait = _pause_of(response) or _FIRST_PAUSE * 2**attempt
            if attempt < _ATTEMPTS - 1:
                self.pause(min(wait, _LONGEST_PAUSE))
        raise ExportError(
            f"{self.address}: no collector took the data in {_ATTEMPTS} attempts ({problem})"
            f"{self._so_far()}; "
            "check the address, and whether OTLP over HTTP is on in the collector"
        )

    def _so_far(self) -> str:
        return f"; {self.requests} requests before it were accepted" if self.requests else ""

    def _sent(self, request: bytes) -> tuple[HTTPResponse, bytes]:
        url = self._url()
        if self._connection is None:
            kind = HTTPSConnection if url.scheme.lower() == "https" else HTTPConnection
            self._connection = kind(url.hostname or "", url.port, timeout=_SECONDS)
        path = url.path.rstrip("/")
        query = f"?{url.query}" if url.query else ""
        headers = {**self.encoding.headers, "User-Agent": "zscope", **_further_headers()}
        where = (path if path.endswith(self.path) else f"{path}{self.path}") + query
        self._connection.request("POST", where, request, headers)
        response = self._connection.getresponse()
        return response, response.read()

    def _url(self) -> SplitResult:
        try:
            url = urlsplit(self.address)
            port = url.port
        except ValueError as error:
            raise ExportError(f"{self.address}: not an address ({error}); {_EXAMPLE}") from error
        if not url.hostname or port == 0 or " " in self.address or not self.address.isascii():
            raise ExportError(f"{self.address}: not an address of a collector; {_EXAMPLE}")
        return url

    def _note_rejected(self, response: HTTPResponse, body: bytes) -> None:
        """Note what a collector reports about values that it did not accept."""
        partial = partial_success(body, response.headers.get_content_type(), self.path)
        count = partial.get("rejectedDataPoints") or partial.get("rejectedLogRecords") or 0
        message = partial.get("errorMessage") or ""
        if str(count) != "0" or message:
            self.rejected.append(f"{count} values not accepted: {message or 'no reason given'}")

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


_EXAMPLE = "use one such as http://127.0.0.1:4318"


def _answer(response: HTTPResponse, body: bytes) -> str:
    text = " ".join(body.decode("utf-8", "replace").split())[:_SHOWN]
    return f"{response.status} {response.reason}" + (f": {text}" if text.isprintable() and text else "")


def _pause_of(response: HTTPResponse) -> float:
    """Return the seconds after which the collector wants the request again; 0 if it does not say."""
    seconds = response.headers.get("Retry-After", "")
    return float(seconds) if seconds.isascii() and seconds.isdigit() else 0.0


def _further_headers() -> dict[str, str]:
    headers = {}
    for pair in filter(None, (text.strip() for text in os.environ.get(HEADERS, "").split(","))):
        name, equals, value = pair.partition("=")
        text = unquote(value.strip())
        plain = f"{name.strip()}{text}".isascii() and text.isprintable()
        if not plain or not equals or not name.strip().replace("-", "").replace("_", "").isalnum():
            # The value can be a password, so the message does not contain it.
            raise ExportError(f"{HEADERS}: expected name=value,name=value; a part has another form")
        headers[name.strip()] = text
    return headers
