"""The client of the experiment: test connections to one listener, at a low rate, as a schedule says.

Connections are opened one after the other, never several at once, and never later than the schedule ends.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from zscope.pipelines.experiment.arms import Arm
from zscope.pipelines.experiment.client_log import LogLine

if TYPE_CHECKING:
    from zscope.pipelines.experiment.schedule import Slot

USUAL_RATE, MOST_RATE = 5.0, 50.0
"""Connections a second."""
USUAL_MB, MOST_MB = 1.0, 10.0
"""Megabytes a second in both directions together."""
FAILURES_IN_A_ROW = 10
"""After as many the rest of the arm is left out: the listener is not there, or refuses."""
TIMEOUT_S = 10.0
MESSAGE = b"z" * 64
_CHUNK = b"z" * 16_384
_MEGABYTE = 1e6


class Clock(Protocol):
    """The time, and waiting that a signal can end."""

    @property
    def is_stopped(self) -> bool:
        """Whether the user ended the client."""
        ...

    def now(self) -> datetime:
        """Return the time in UTC."""
        ...

    def wait(self, seconds: float) -> None:
        """Wait, or return at once after a signal."""
        ...


class Stop(Protocol):
    """A signal of the user to end."""

    is_set: bool

    def wait(self, seconds: float) -> None:
        """Wait, or return at once after a signal."""
        ...


@dataclass(frozen=True)
class SystemClock:
    """The clock of this machine."""

    stop: Stop

    @property
    def is_stopped(self) -> bool:
        """Whether the user ended the client."""
        return self.stop.is_set

    def now(self) -> datetime:
        """Return the time in UTC."""
        return datetime.now(UTC)

    def wait(self, seconds: float) -> None:
        """Wait, or return at once after a signal."""
        self.stop.wait(seconds)


@dataclass(frozen=True)
class Server:
    """The one listener that the client connects to."""

    name: str
    tls_port: int
    plain_port: int
    context: ssl.SSLContext
    server_name: str
    """Name that the certificate must have."""
    plain_source: str | None = None
    """Own address of connections without TLS, if the AT-TLS policy tells them apart by address."""

    def resolved(self) -> Server:
        """Return the target with its address: it is looked up once, so that it stays the same."""
        found = socket.getaddrinfo(self.name, self.tls_port, type=socket.SOCK_STREAM)
        return replace(self, name=str(found[0][4][0]))

    def open(self, session: ssl.SSLSession | None = None, *, tls: bool) -> socket.socket:
        """Return a new connection; with TLS it offers the session."""
        source = (self.plain_source, 0) if self.plain_source and not tls else None
        port = self.tls_port if tls else self.plain_port
        plain = socket.create_connection((self.name, port), TIMEOUT_S, source)
        if not tls:
            return plain
        try:
            return self.context.wrap_socket(plain, server_hostname=self.server_name, session=session)
        except BaseException:
            plain.close()
            raise


def client_context(
    ca: str | None, version: ssl.TLSVersion, ciphers: str | None, certificate: tuple[str, str] | None
) -> ssl.SSLContext:
    """Return the settings of connections with TLS: one version, and a verified certificate."""
    context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cafile=ca)
    context.minimum_version = context.maximum_version = version
    if ciphers is not None:
        context.set_ciphers(ciphers)
    if certificate is not None:
        context.load_cert_chain(*certificate)
    return context


@dataclass(frozen=True)
class Limits:
    """The rates of the test connections."""

    connections_per_s: float = USUAL_RATE
    mb_per_s: float = USUAL_MB


@dataclass
class ArmCounts:
    """What happened in an arm so far."""

    connections: int = 0
    full: int = 0
    resumed: int = 0
    failed: int = 0
    bytes: int = 0
    tls_version: str | None = None
    cipher: str | None = None
    failures_in_a_row: int = 0
    last_failure: str = ""

    def count_handshake(self, connection: socket.socket) -> None:
        """Count the handshake of a connection, as the client sees it."""
        if not isinstance(connection, ssl.SSLSocket):
            return
        if connection.session_reused:
            self.resumed += 1
        else:
            self.full += 1
        self.tls_version = connection.version()
        suite = connection.cipher()
        self.cipher = suite[0] if suite else None

    def count_failure(self, error: Exception) -> None:
        """Count a connection that failed."""
        self.failed += 1
        self.failures_in_a_row += 1
        self.last_failure = str(error)

    @property
    def is_hopeless(self) -> bool:
        """Whether the rest of the arm is left out."""
        return self.failures_in_a_row >= FAILURES_IN_A_ROW


@dataclass
class LoadClient:
    """Follows a schedule of test connections."""

    target: Server
    limits: Limits
    clock: Clock
    log: Callable[[LogLine], None]
    _counts: ArmCounts = field(default_factory=ArmCounts)

    def follow(self, slots: Iterable[Slot]) -> None:
        """Run the arms of a schedule that are not over yet, until the user ends it."""
        for slot in slots:
            self._wait_until(slot.start)
            start = self.clock.now()
            if self.clock.is_stopped:
                return
            if start < slot.end:
                self.log(self._run(slot, start))

    def _run(self, slot: Slot, start: datetime) -> LogLine:
        counts = self._counts = ArmCounts()
        if slot.arm is Arm.NOTHING:
            self._wait_until(slot.end)
        elif slot.arm.is_bulk:
            self._send_bytes(slot)
        else:
            self._open_connections(slot)
        ended_early = None
        if self.clock.is_stopped:
            ended_early = "a signal of the user"
        elif counts.is_hopeless:
            ended_early = f"{FAILURES_IN_A_ROW} failures in a row: {counts.last_failure}"
        return LogLine(
            start_utc=start,
            end_utc=max(self.clock.now(), start + timedelta(microseconds=1)),
            arm=slot.arm,
            connections=counts.connections,
            full=counts.full,
            resumed=counts.resumed,
            failed=counts.failed,
            bytes=counts.bytes,
            target=self.target.name,
            tls_port=self.target.tls_port,
            plain_port=self.target.plain_port,
            tls_version=counts.tls_version,
            cipher=counts.cipher,
            ended_early=ended_early,
        )

    def _goes_on(self, slot: Slot) -> bool:
        return not (self.clock.is_stopped or self._counts.is_hopeless) and self.clock.now() < slot.end

    def _wait_until(self, moment: datetime) -> None:
        while not self.clock.is_stopped:
            seconds = (moment - self.clock.now()).total_seconds()
            if seconds <= 0:
                return
            self.clock.wait(seconds)

    def _open_connections(self, slot: Slot) -> None:
        """Open connections at the rate; after a delay no connection is made up for."""
        session: ssl.SSLSession | None = None
        apart = timedelta(seconds=1 / self.limits.connections_per_s)
        due = self.clock.now()
        while self._goes_on(slot):
            session = self._exchange(slot.arm, session)
            due = max(due + apart, self.clock.now())
            self._wait_until(min(due, slot.end))

    def _exchange(self, arm: Arm, session: ssl.SSLSession | None) -> ssl.SSLSession | None:
        """Open a connection, exchange a message, close it; return the session to resume next."""
        counts = self._counts
        try:
            connection = self.target.open(session, tls=arm.is_tls)
            with connection:
                counts.bytes += _echo(connection, MESSAGE)
                # The session of TLSv1.3 arrives with the first data.
                if isinstance(connection, ssl.SSLSocket) and arm is Arm.RESUMED:
                    session = connection.session
                counts.count_handshake(connection)
                _close(connection)
        except (OSError, ValueError) as error:
            counts.count_failure(error)
            return None
        counts.connections += 1
        counts.failures_in_a_row = 0
        return session

    def _send_bytes(self, slot: Slot) -> None:
        """Send bytes on one connection at the rate; open another one if it is lost."""
        while self._goes_on(slot):
            try:
                connection = self.target.open(tls=slot.arm.is_tls)
                with connection:
                    self._counts.count_handshake(connection)
                    self._send_on(connection, slot)
                    _close(connection)
                self._counts.connections += 1
            except (OSError, ValueError) as error:
                self._counts.count_failure(error)
                self._wait_until(min(self.clock.now() + timedelta(seconds=1), slot.end))

    def _send_on(self, connection: socket.socket, slot: Slot) -> None:
        due = self.clock.now()
        while self._goes_on(slot):
            sent = _echo(connection, _CHUNK)
            self._counts.bytes += sent
            self._counts.failures_in_a_row = 0
            apart = timedelta(seconds=sent / (self.limits.mb_per_s * _MEGABYTE))
            due = max(due + apart, self.clock.now())
            self._wait_until(min(due, slot.end))


def _echo(connection: socket.socket, data: bytes) -> int:
    """Send data and receive them again; return the number of bytes in both directions."""
    connection.sendall(data)
    received = 0
    while received < len(data):
        part = connection.recv(len(data) - received)
        if not part:
            raise ConnectionError("the listener closed the connection before it returned all bytes")
        received += len(part)
    return len(data) + received


def _close(connection: socket.socket) -> None:
    """End the connection; without the message of TLS, a session of TLSv1.2 could not be resumed."""
    if isinstance(connection, ssl.SSLSocket):
        with suppress(OSError, ValueError):
            connection.unwrap()
