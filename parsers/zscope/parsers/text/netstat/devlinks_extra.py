"""What NETSTAT DEVLINKS has in the column `extra`, sorted into the parts of the report that it comes from."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

_LAN = re.compile(r"(IPV[46]) LANGROUP (\S*)\.(.+)")
_MULTICAST = re.compile(r"multicast\.([0-9A-Fa-f:.]{2,45})\.([^.]+)")
_ASSOCIATED = re.compile(r"ASSOCIATED .* INTERFACE", re.IGNORECASE)


@dataclass(slots=True)
class SortedExtra:
    """Labels and values by the part that they stand in."""

    plain: dict[str, str] = field(default_factory=dict)
    """Of the interface itself."""
    multicast: dict[str, dict[str, str]] = field(default_factory=dict)
    """By multicast group."""
    lan: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """By address family and number of the LAN group."""
    parts: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """Other parts: heading, name and labels of each."""


def sorted_extra(extra: str | None) -> SortedExtra:
    """Sort the content of the column.

    >>> sorted_extra('{"Foo": "1", "IPV4 LANGROUP 00001.STATUS": "ACTIVE"}').lan
    {('IPV4', '00001'): {'STATUS': 'ACTIVE'}}
    """
    found = SortedExtra()
    parts: dict[str, tuple[str, str, dict[str, str]]] = {}
    for label, value in json.loads(extra or "{}").items():
        name, dot, rest = label.rpartition(".")
        if lan := _LAN.fullmatch(label):
            found.lan.setdefault((lan[1], lan[2]), {})[lan[3]] = value
        elif group := _MULTICAST.fullmatch(label):
            found.multicast.setdefault(group[1], {})[group[2]] = value
        elif _ASSOCIATED.fullmatch(label):
            parts |= {one: (label, one, {}) for one in value.split(", ")}
        elif dot:
            parts.setdefault(name, (name, "", {}))[2][rest] = value
        else:
            found.plain[label] = value
    found.parts = list(parts.values())
    return found
