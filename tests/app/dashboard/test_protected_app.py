"""The application of the server: the hosts that it answers, and the headers of its responses."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from streamlit import config

from zscope.app.dashboard.server import protected_app
from zscope.app.dashboard.server.protected_app import HEADERS, ResponseHeaders
from zscope.app.shared.dashboard_server import program

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send


async def _answer(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Answer as Streamlit does."""
    headers = [(b"content-type", b"text/html"), (b"x-frame-options", b"ALLOWALL")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"page"})


def test_every_response_has_the_headers_once() -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(ResponseHeaders(_answer)({"type": "http"}, receive, send))
    start, body = sent
    found = [(name.decode().lower(), value.decode()) for name, value in start["headers"]]
    assert sorted(found) == sorted(
        [("content-type", "text/html"), *((name.lower(), value) for name, value in HEADERS.items())]
    )
    assert body["body"] == b"page"


@pytest.mark.parametrize("source", ["http:", "https:", "*", "unsafe-hashes"])
def test_no_content_of_other_servers_is_allowed(source: str) -> None:
    assert source not in HEADERS["Content-Security-Policy"].replace("'self'", "").split()


def test_the_command_starts_this_application() -> None:
    assert program()[-1] == protected_app.__file__
    assert config.get_option("client.allowedOrigins") == []
