"""Writes what all NETSTAT reports have around them: the heading, and the ending on the console."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import time


@dataclass(frozen=True, slots=True)
class Command:
    """Where a NETSTAT command was given, and what its heading says."""

    console: bool = False
    """DISPLAY TCPIP on the console: all in upper case, with an ending. Otherwise TSO or the shell."""
    release: str = "V2R5"
    stack: str = "TCPIP"
    clock: time = time(9, 41, 7)
    """Not shown on the console."""
    connector: int | None = None
    """Number that ties the lines of a console reply together; shown in the heading."""

    def heading(self) -> str:
        """The first line of the reply.

        >>> Command(console=True, connector=87).heading()
        'EZD0101I NETSTAT CS V2R5 TCPIP 087'
        """
        if not self.console:
            named = f"{self.release}       TCPIP Name: {self.stack:<16}{self.clock:%H:%M:%S}"
            return f"MVS TCP/IP NETSTAT CS {named}"
        connector = "" if self.connector is None else f" {self.connector:03}"
        return f"EZD0101I NETSTAT CS {self.release} {self.stack}{connector}".upper()


def reply_lines(
    command: Command, body: Iterable[str], shown: int | None = None, of: int | None = None
) -> list[str]:
    """The whole reply: heading, body, and on the console how many records of how many it shows."""
    if not command.console:
        return [command.heading(), *body]
    counted = [] if shown is None else [f"{shown} OF {shown if of is None else of} RECORDS DISPLAYED"]
    return [command.heading(), *(line.upper() for line in body), *counted, "END OF THE REPORT"]
