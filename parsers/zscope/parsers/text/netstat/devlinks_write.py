"""Write NETSTAT DEVLINKS from rows of its table: one layout for all types of interfaces."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any

from zscope.parsers.text.netstat.reply import Command, reply_lines
from zscope.schemas.reports import report_table

_LAN = re.compile(r"(IPV[46]) LANGROUP (\S*)\.(.+)")
_MULTICAST = re.compile(r"multicast\.([0-9A-Fa-f:.]{2,45})\.([^.]+)")
_ASSOCIATED = re.compile(r"ASSOCIATED .* INTERFACE", re.IGNORECASE)


@dataclass(slots=True)
class SortedExtra:
    """The labels and values of `extra`, sorted into the parts of the report."""

    plain: dict[str, str] = field(default_factory=dict)
    """Labels of the interface itself."""
    multicast: dict[str, dict[str, str]] = field(default_factory=dict)
    """Labels by multicast group."""
    lan: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """Labels by address family and number of the LAN group."""
    parts: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """Other parts: heading, name and labels of each."""


def sorted_extra(extra: str | None) -> SortedExtra:
    """Sort the content of the column `extra`.

    >>> sorted_extra('{"Foo": "1", "IPV4 LANGROUP 00001.STATUS": "ACTIVE"}').lan
    {('IPV4', '00001'): {'STATUS': 'ACTIVE'}}
    """
    result = SortedExtra()
    parts: dict[str, tuple[str, str, dict[str, str]]] = {}
    for label, value in json.loads(extra or "{}").items():
        name, dot, rest = label.rpartition(".")
        if lan := _LAN.fullmatch(label):
            result.lan.setdefault((lan[1], lan[2]), {})[lan[3]] = value
        elif group := _MULTICAST.fullmatch(label):
            result.multicast.setdefault(group[1], {})[group[2]] = value
        elif _ASSOCIATED.fullmatch(label):
            parts |= {one: (label, one, {}) for one in value.split(", ")}
        elif dot:
            parts.setdefault(name, (name, "", {}))[2][rest] = value
        else:
            result.plain[label] = value
    result.parts = list(parts.values())
    return result


Row = Mapping[str, Any]

_LABELS = {printed.column: printed.label for printed in report_table("netstat_devlink").columns}
_LINES: tuple[tuple[tuple[str, int], ...], ...] = (
    (("device_number", 4), ("active_device_number", 22), ("device_status", 41)),
    (("chpid_type", 4), ("chpid", 22), ("pchid", 41)),
    (("smcd", 4), ("smcr", 22), ("pnet_id", 41)),
    (("adapter_generation", 4),),
    (("trle", 4), ("code_level", 37)),
    (("port_name", 4), ("datapath", 24), ("datapath_status", 44)),
    (("queue_size", 4), ("speed_mbit_per_s", 18)),
    (("ip_broadcast", 4),),
    (("vmac", 4), ("vmac_origin", 29), ("vmac_router", 48)),
    (("configured_mtu_bytes", 4), ("mtu_bytes", 37)),
    (("ip_address", 4),),
    (("vlan_id", 4), ("vlan_priority", 37)),
    (("duplicate_address_detection", 4), ("interface_id", 24)),
    (("temporary_prefix", 4),),
    (("read_storage", 4), ("inbound_performance", 37)),
    (("workload_queueing", 6),),
    (("total_read_storage", 4),),
    (("checksum_offload", 4), ("segmentation_offload", 37)),
    (("security_class", 4), ("monitor_sysplex", 37)),
    (("isolate", 4),),
)
"""The lines of an interface: columns of the table, and where their labels begin."""
_NOT_STARTED = frozenset({"active_device_number", "chpid", "pchid"})
"""Columns that Network Express always prints, with N/A while the interface is not started."""
_STATISTICS = tuple(c for c in _LABELS if re.fullmatch(r"(?:in|out)_(?:bytes|(?:\w+_)?packets)", c))
_MULTICAST_WIDTHS = (18, 14)
_LAN_WIDTHS = (18, 12)
_OTHER_WIDTH = 18


def devlinks_lines(rows: Iterable[Row], command: Command | None = None) -> list[str]:
    """Return the lines of a report with these interfaces and their LAN groups."""
    sorted_rows = [(row, sorted_extra(row.get("extra"))) for row in rows]
    body = [line for row, extra in sorted_rows for line in _interface(row, extra)]
    body += _lan_groups((str(row.get("interface")), extra.lan) for row, extra in sorted_rows)
    return reply_lines(command or Command(), body, len(sorted_rows))


def _interface(row: Row, extra: SortedExtra) -> Iterator[str]:
    first = ("interface", "interface_type", "interface_status")
    if row.get("device_name") is not None:
        yield _placed([("DevName", row["device_name"], 0), ("DevType", row.get("device_type"), 28)])
        yield from _fields(row, _LINES[:1])
        labels: tuple[str, ...] = ("LnkName", "LnkType", "LnkStatus")
    else:
        labels = ("IntfName", "IntfType", "IntfStatus")
    yield _placed([(label, row.get(c), at) for label, c, at in zip(labels, first, (0, 28, 49), strict=True)])
    if row.get("automigrated"):
        yield "  **AUTOMIGRATED**"
    yield from _fields(row, _LINES[1:] if row.get("device_name") is not None else _LINES)
    yield from (f"    {label}: {value}".rstrip() for label, value in extra.plain.items())
    if row.get("multicast_capability") is not None or extra.multicast:
        yield "  Multicast Specific:"
        yield from _fields(row, ((("multicast_capability", 4),),))
        yield from _multicast(extra.multicast)
    if statistics := [column for column in _STATISTICS if row.get(column) is not None]:
        yield "  Interface Statistics:"
        yield from (_equation(column, row[column]) for column in statistics)
    if row.get("iqd_interface") is not None:
        names = [(_LABELS[column], row.get(column)) for column in ("iqd_interface", "iqd_status")]
        yield "  " + "  ".join(f"{label}: {value}" for label, value in names if value is not None)
        yield from (_equation(c, row[f"iqd_{c}"]) for c in _STATISTICS if row.get(f"iqd_{c}") is not None)
    yield from _fields(row, ((("smcr_capability", 2),),))
    for heading, name, labels_inside in extra.parts:
        yield f"{'    ' if name else '  '}{heading}: {name}".rstrip()
        yield from (f"      {label}: {value}".rstrip() for label, value in labels_inside.items())


def _fields(row: Row, lines: Iterable[Sequence[tuple[str, int]]]) -> Iterator[str]:
    for fields in lines:
        if line := _placed([(_LABELS[column], _text(row, column), at) for column, at in fields]):
            yield line


def _text(row: Row, column: str) -> str | None:
    value = row.get(column)
    if value is None:
        network_express = str(row.get("interface_type")).upper().startswith("EQENET")
        return "N/A" if column in _NOT_STARTED and network_express else None
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if column == "speed_mbit_per_s":
        short = "" if row.get("queue_size") is not None or value % 1000 else f" ({value // 1000}G)"
        return f"{value:010}{short}"
    return str(value)


def _placed(fields: Sequence[tuple[str, str | None, int]]) -> str:
    """Return a line with labels at their columns, at least two blanks after the text before."""
    line = " " * fields[0][2]
    for label, text, at in fields:
        if text is not None:
            place = max(at, len(line) + 2) if line.strip() else len(line)
            line = f"{line:<{place}}{label}: {text}"
    return line.rstrip()


def _equation(column: str, value: int) -> str:
    return f"    {_LABELS[column]:<34}= {value}"


def _multicast(groups: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield the lines of the table; the source addresses of a group are in separate lines."""
    titles: list[str] = []
    for group, labels in groups.items():
        sources = [label for label in labels if label.upper() == "SRCADDR"]
        others = [label for label in labels if label not in sources]
        if others != titles:
            titles = others
            yield "    " + _columns(("Group", *titles), _MULTICAST_WIDTHS)
            yield "    " + _columns(["-" * len(title) for title in ("Group", *titles)], _MULTICAST_WIDTHS)
        yield "    " + _columns((group, *(labels[title] for title in titles)), _MULTICAST_WIDTHS)
        yield from (f"      {label}: {labels[label]}" for label in sources)


def _lan_groups(members: Iterable[tuple[str, Mapping[tuple[str, str], Mapping[str, str]]]]) -> Iterator[str]:
    groups: dict[tuple[str, str], list[Sequence[str]]] = {}
    for name, inside in members:
        for group, labels in inside.items():
            groups.setdefault(group, [("Name", *labels)]).append((name, *labels.values()))
    family_before = ""
    for (family, number), (titles, *table) in groups.items():
        if family != family_before:
            yield f"{family} LAN Group Summary"
        family_before = family
        yield f"LanGroup: {number}"
        for words in (titles, ["-" * len(title) for title in titles], *table):
            yield "  " + _columns(words, _LAN_WIDTHS)


def _columns(words: Sequence[str], widths: Iterable[int]) -> str:
    wide = chain(widths, repeat(_OTHER_WIDTH))
    return "".join(f"{word:<{next(wide)}}" for word in words).rstrip()
