"""The small tables in NETSTAT DEVLINKS: multicast groups of an interface, and the LAN groups of all of them.

No column is made of them. They are kept in `extra` of the interface, each value under the name of its group
and its title.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zscope.schemas.printed import plain_label

if TYPE_CHECKING:
    from zscope.parsers.text.netstat.labels import Entry, Pair

LAN_SUMMARY = re.compile(r" *(IPV[46]) LAN GROUP SUMMARY:?$", re.ASCII | re.IGNORECASE)
_ADDRESS = re.compile(r"[0-9A-Fa-f:.]{2,45}", re.ASCII)
_GAP = re.compile(r" {2,}")


@dataclass(slots=True)
class Multicast:
    """The groups that an interface has joined."""

    entry: Entry
    _group: str = ""
    _titles: list[str] = field(default_factory=lambda: ["REFCNT", "SRCFLTMD"])

    def row(self, text: str) -> bool:
        """Take a line without a label, if it is one of this table."""
        first, *others = text.split()
        if plain_label(first) == "GROUP":
            self._titles = others
        elif not _ADDRESS.fullmatch(first):
            return False
        elif others and len(others) == len(self._titles):
            self._group = first
            for title, value in zip(self._titles, others, strict=True):
                self._keep(title, value)
        elif not others and self._group:
            self._keep("SRCADDR", first)
        else:
            return False
        return True

    def labelled(self, pair: Pair) -> None:
        """Take a label: long addresses have the group itself and its values behind labels."""
        if plain_label(pair.label) == "GROUP":
            self._group = pair.value
        else:
            self._keep(*pair)

    def _keep(self, title: str, value: str) -> None:
        self.entry.keep(f"multicast.{self._group}.{title}" if self._group else f"multicast.{title}", value)


@dataclass(slots=True)
class LanGroups:
    """The summary at the end of the report: which interfaces stand in for each other."""

    family: str
    entries: dict[str, Entry]
    """The interfaces by name."""
    group: str = ""
    _titles: list[str] = field(default_factory=list)

    def row(self, text: str) -> bool:
        """Take a line without a label, if it is one of this table."""
        words = text.split()
        if words[0].upper() == "NAME":
            self._titles = words[1:]
            return True
        parts = _GAP.split(text)
        name, *values = parts if len(parts) == len(self._titles) + 1 else words
        entry = self.entries.get(name)
        if entry is None or not self._titles or len(values) != len(self._titles):
            return False
        for title, value in zip(self._titles, values, strict=True):
            entry.keep(f"{self.family} LANGROUP {self.group}.{title}", value)
        return True
