"""What a connection is known by, and how that is written into an address."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from zscope.schemas.ddl import literal

_WRITTEN = re.compile(
    r"(?P<system>[^~]{1,8})~(?P<stack>[^~]{0,8})~(?P<number>\d{1,10})~(?P<start>[\dT:.-]{10,26}Z)?"
)
_LARGEST = 2**32 - 1
_SAME_START = timedelta(seconds=1)
"""Records of one connection have its start from two clocks, read one after the other."""


@dataclass(frozen=True, slots=True)
class ConnectionKey:
    """One connection: numbers are used again, so the start belongs to it."""

    system: str
    stack: str | None
    number: int
    start_utc: datetime | None

    @property
    def text(self) -> str:
        """As an address has it."""
        start = (
            f"{self.start_utc.astimezone(UTC).replace(tzinfo=None).isoformat()}Z" if self.start_utc else ""
        )
        return f"{self.system}~{self.stack or ''}~{self.number}~{start}"

    @property
    def hex(self) -> str:
        """The number as NETSTAT shows it."""
        return f"{self.number:08X}"

    @classmethod
    def read(cls, text: str) -> ConnectionKey | None:
        """The key that an address names; None if it names none.

        >>> key = ConnectionKey.read("SYSA~TCPIP~4382~2026-03-02T10:46:33.73Z")
        >>> key and (key.hex, key.text)
        ('0000111E', 'SYSA~TCPIP~4382~2026-03-02T10:46:33.730000Z')
        >>> ConnectionKey.read("SYSA~TCPIP~x~")
        """
        found = _WRITTEN.fullmatch(text)
        if not found or int(found["number"]) > _LARGEST:
            return None
        try:
            start = datetime.fromisoformat(found["start"]) if found["start"] else None
        except ValueError:
            return None
        return cls(found["system"], found["stack"] or None, int(found["number"]), start)

    def conditions(self) -> list[str]:
        """What holds for its records of SMF type 119, whichever clock they have its start from."""
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
    """A moment as SQL has it."""
    return f"TIMESTAMPTZ {literal(value.isoformat())}"
