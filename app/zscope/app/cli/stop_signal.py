"""Signals that end a command which runs until the user ends it."""

from __future__ import annotations

import select
import signal
import socket
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


@dataclass
class StopSignal:
    """SIGTERM and Ctrl-C: the first ends the work after its current piece, the second at once."""

    is_set: bool = False
    _received: socket.socket | None = None
    _sent: socket.socket | None = None

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Handle the signals while the block runs."""
        with ExitStack() as stack:
            self._received, self._sent = map(stack.enter_context, socket.socketpair())
            for number in (signal.SIGTERM, signal.SIGINT):
                stack.callback(signal.signal, number, signal.signal(number, self._stop))
            yield

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        if self.is_set:
            raise KeyboardInterrupt
        self.is_set = True
        # A lock, as that of an Event, could be held by the code that the signal interrupts.
        assert self._sent is not None
        self._sent.send(b"\0")

    def wait(self, seconds: float) -> None:
        """Wait, or return at once after a signal."""
        assert self._received is not None
        select.select([self._received], [], [], seconds)
