"""An echo listener for test connections: it returns what it receives, on a port with TLS and one without.

It needs only Python, so this one file also runs where zscope cannot be installed, such as z/OS UNIX:
`python3 echo_listener.py --plain-port 4400 --tls-port 4443`. There AT-TLS does the TLS, below the sockets.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import ssl
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

MOST_CONNECTIONS = 64
"""Limit of open connections; further ones are closed at once."""
IDLE_S = 60.0
"""After this time without data a connection is closed."""
CHUNK_BYTES = 1 << 16


@dataclass(frozen=True)
class Served:
    """A connection that is over."""

    port: int
    remote_port: int
    is_tls: bool
    is_resumed: bool
    tls_version: str | None
    cipher: str | None
    received_bytes: int = 0
    sent_bytes: int = 0


@dataclass(frozen=True)
class ListenerOptions:
    """Where a listener accepts connections."""

    address: str
    plain_port: int
    tls_port: int
    context: ssl.SSLContext | None = None
    """Certificate and key of the port with TLS; None if AT-TLS does the TLS."""


@dataclass
class Totals:
    """What a listener served."""

    plain: int = 0
    full: int = 0
    resumed: int = 0
    refused: int = 0
    """Connections above the limit."""
    received_bytes: int = 0

    def add(self, served: Served) -> None:
        """Count a connection."""
        if not served.is_tls:
            self.plain += 1
        elif served.is_resumed:
            self.resumed += 1
        else:
            self.full += 1
        self.received_bytes += served.received_bytes

    def __str__(self) -> str:
        refused = f", {self.refused} above the limit" if self.refused else ""
        return (
            f"{self.plain} connections without TLS, {self.full} full and {self.resumed} resumed "
            f"handshakes{refused}, {self.received_bytes} bytes"
        )


def tls_context(certificate: str, key: str, client_ca: str | None = None) -> ssl.SSLContext:
    """Return the settings of a port with TLS; with `client_ca`, clients must have a certificate of it."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=client_ca)
    context.load_cert_chain(certificate, key)
    if client_ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
    return context


class EchoListener:
    """Accepts connections and returns what it receives, until it is closed."""

    def __init__(self, options: ListenerOptions, on_served: Callable[[Served], None]) -> None:
        self.totals = Totals()
        self._options = options
        self._on_served = on_served
        self._servers: list[asyncio.Server] = []
        self._open: set[asyncio.Task[None]] = set()

    async def start(self) -> list[int]:
        """Begin to listen; return the ports: without TLS, with TLS."""
        options = self._options
        for port, context in ((options.plain_port, None), (options.tls_port, options.context)):
            server = await asyncio.start_server(self._serve, options.address, port, ssl=context)
            self._servers.append(server)
        return [server.sockets[0].getsockname()[1] for server in self._servers]

    async def close(self) -> None:
        """Close the ports and the connections."""
        for server in self._servers:
            server.close()
        for task in tuple(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._open) >= MOST_CONNECTIONS:
            self.totals.refused += 1
            writer.close()
            return
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        # Of a connection that is over, nothing can be asked any more.
        opened = _opened(writer)
        received = sent = 0
        try:
            while data := await asyncio.wait_for(reader.read(CHUNK_BYTES), IDLE_S):
                received += len(data)
                writer.write(data)
                await writer.drain()
                sent += len(data)
        except (OSError, TimeoutError, asyncio.CancelledError):
            pass  # the client or the user ended the connection; it counts nevertheless
        finally:
            self._open.discard(task)
            writer.close()
            with contextlib.suppress(OSError, TimeoutError, asyncio.CancelledError):
                await asyncio.wait_for(writer.wait_closed(), 1)
        served = replace(opened, received_bytes=received, sent_bytes=sent)
        self.totals.add(served)
        self._on_served(served)


def _opened(writer: asyncio.StreamWriter) -> Served:
    """Return a new connection, without its bytes."""
    tls = writer.get_extra_info("ssl_object")
    return Served(
        port=writer.get_extra_info("sockname")[1],
        remote_port=writer.get_extra_info("peername")[1],
        is_tls=tls is not None,
        is_resumed=tls is not None and bool(tls.session_reused),
        tls_version=tls.version() if tls is not None else None,
        cipher=tls.cipher()[0] if tls is not None else None,
    )


async def serve(options: ListenerOptions, report: Callable[[str], None]) -> Totals:
    """Listen until SIGINT or SIGTERM; return what was served."""
    listener = EchoListener(options, lambda _served: None)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    try:
        plain_port, tls_port = await listener.start()
        by = "Python" if options.context else "AT-TLS, if its policy has a rule for the port"
        report(
            f"listening on {options.address}: port {plain_port} without TLS, port {tls_port} with TLS by {by}"
        )
        await stopped.wait()
    finally:
        await listener.close()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
    return listener.totals


def main() -> None:
    """Run the listener with its own arguments."""
    parser = argparse.ArgumentParser(description="An echo listener on two ports.")
    parser.add_argument("--address", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--plain-port", type=int, required=True)
    parser.add_argument("--tls-port", type=int, required=True)
    parser.add_argument("--certificate", help="certificate chain (PEM); without it AT-TLS does the TLS")
    parser.add_argument("--key", help="private key (PEM)")
    words = parser.parse_args()
    if bool(words.certificate) != bool(words.key):
        parser.error("--certificate and --key belong together")
    context = tls_context(words.certificate, words.key) if words.certificate else None
    options = ListenerOptions(words.address, words.plain_port, words.tls_port, context)

    def report(text: str) -> None:
        sys.stderr.write(f"{text}\n")

    report(str(asyncio.run(serve(options, report))))


if __name__ == "__main__":
    main()
