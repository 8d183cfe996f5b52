"""The application of the server: which hosts it answers, and what browsers may do with a page.

`zscope dashboard` has Streamlit run this file. Streamlit compares the host of a request with the allowed ones
for the connection of a page only, and sends no headers against framing and foreign content.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from streamlit import config
from streamlit.starlette import App

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY = {
    "default-src": "'self'",
    # The page of Streamlit begins with a script of its own, and Vega compiles the expressions of charts.
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "worker-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}
HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {sources}" for name, sources in _POLICY.items()),
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}
"""Headers of every response: no content of other servers, and no page in a frame of another site."""


class ResponseHeaders:
    """Adds the headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        await self._app(scope, receive, send_with_headers)


config.set_option("client.allowedOrigins", [])  # other sites cannot send messages to a page
app = App(
    Path(__file__).with_name("dashboard_main.py"),
    middleware=[
        Middleware(ResponseHeaders),
        Middleware(
            TrustedHostMiddleware,
            allowed_hosts=config.get_option("server.allowedHosts") or ["*"],
            www_redirect=False,
        ),
    ],
)
