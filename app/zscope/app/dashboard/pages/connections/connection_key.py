"""The key of a connection, and its form in an address."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from zscope.schemas.sql_text import literal

_WRITTEN = re.compile(
    r"(?P<system>[^~]{1,8})~(?P<stack>[^~]{0,8})~(?P<number>\d{1,10})~(?P<start>[\dT:.-]{10,26}Z)?"
)
_LARGEST = 2**32 - 1
_SAME_START = timedelta(seconds=1)
"""Records of one connection can differ in its start: two clocks are read one after the other."""


@dataclass(frozen=True, slots=True)
class ConnectionKey:
    """The identity of a connection; the start is part of it because numbers are reused."""

    system: str
    stack: str | None
    number: int
    start_utc: datetime | None

    @property
    def text(self) -> str:
        """The key as part of an address."""
        start = (
            f"{self.start_utc.astimezone(UTC).replace(tzinfo=None).isoformat()}Z" if self.start_utc else ""
        )
        return f"{self.system}~{self.stack or ''}~{self.number}~{start}"

    @property
    def hex(self) -> str:
        """The number in the form of NETSTAT."""
        return f"{self.number:08X}"

    @classmethod
    def read(cls, text: str) -> ConnectionKey | None:
        """Return the key in an address, or None if the text is not a key.

        >>> key = ConnectionKey.read("SYSA~TCPIP~4382~2026-03-02T10:46:33.73Z")
        >>> key and (key.hex, key.text)
        ('0000111E', 'SYSA~TCPIP~4382~2026-03-02T10:46:33.730000Z')
        >>> ConnectionKey.read("SYSA~TCPIP~x~")
        """
        match = _WRITTEN.fullmatch(text)
        if not match or int(match["number"]) > _LARGEST:
            return None
        try:
            start = datetime.fromisoformat(match["start"]) if match["start"] else None
        except ValueError:
            return None
        return cls(match["system"], match["stack"] or None, int(match["number"]), start)

    def conditions(self) -> list[str]:
        """Return the conditions in SQL for its records of SMF type 119."""
        same = [
            f"system = {literal(self.system)}",
            f"stack = {literal(self.stack)}" if self.stack else "coalesce(stack, '') = ''",
            f"connection_id = {self.number}",
        ]
        if self.start_utc is None:
            return [*same, "start_utc IS NULL"]
        first, last = self.start_utc - _SAME_START, self.start_utc + _SAME_START
        return [*same, f"start_utc BETWEEN {moment(first)} AND {moment(last)}"]


def moment(value: datetime) -> str:
    """Return a moment as a literal of SQL."""
    return f"TIMESTAMPTZ {literal(value.isoformat())}"
