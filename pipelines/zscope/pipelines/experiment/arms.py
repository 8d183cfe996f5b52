"""The arms of the experiment: what the test connections of a quarter hour do."""

from __future__ import annotations

from enum import StrEnum


class Arm(StrEnum):
    """What happens in a quarter hour. The difference of two arms is the cost of TLS alone."""

    NOTHING = "nothing"
    PLAIN = "plain"
    FULL = "full"
    RESUMED = "resumed"
    TLS_BYTES = "tls-bytes"
    PLAIN_BYTES = "plain-bytes"

    @property
    def meaning(self) -> str:
        """A sentence without its end about the arm."""
        return _MEANINGS[self]

    @property
    def is_tls(self) -> bool:
        """Whether its connections have TLS."""
        return self in (Arm.FULL, Arm.RESUMED, Arm.TLS_BYTES)

    @property
    def is_bulk(self) -> bool:
        """Whether it transfers bytes on one connection, instead of opening many."""
        return self in (Arm.TLS_BYTES, Arm.PLAIN_BYTES)


_MEANINGS = {
    Arm.NOTHING: "no test connections",
    Arm.PLAIN: "connections without TLS",
    Arm.FULL: "connections with a full handshake each",
    Arm.RESUMED: "connections that resume a session",
    Arm.TLS_BYTES: "bytes on a connection with TLS",
    Arm.PLAIN_BYTES: "bytes on a connection without TLS",
}
