"""NETSTAT DEVLINKS: read the interfaces of a stack, each a block of labels with parts.

A block begins with the name of an interface, and a part with its heading. Columns are ignored; indentation is
used only to recognise the headings of unknown parts. Multicast groups and LAN groups have no columns: they
are stored in `extra` of the interface, each value under the name of its group and its title.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.netstat.netstat_labels import LabelValue, NetstatRow, doubtful, pairs_of, spreader
from zscope.parsers.text.report_rows import quoted
from zscope.parsers.text.spelling import nearly
from zscope.schemas.reports import PrintedFormat, plain_label, report_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.text.captured_report import Line
    from zscope.parsers.text.netstat.reply import ReplyBody
    from zscope.parsers.text.report_rows import ReportRows


LAN_SUMMARY = re.compile(r" *(IPV[46]) LAN GROUP SUMMARY:?$", re.ASCII | re.IGNORECASE)
_ADDRESS = re.compile(r"[0-9A-Fa-f:.]{2,45}", re.ASCII)
_NAME = re.compile(r"[A-Z@#$][A-Z0-9@#$]{0,15}", re.ASCII | re.IGNORECASE)
_GAP = re.compile(r" {2,}")


@dataclass(slots=True)
class Multicast:
    """The multicast groups that an interface has joined."""

    entry: NetstatRow
    _group: str = ""
    _titles: list[str] = field(default_factory=lambda: ["REFCNT", "SRCFLTMD"])

    def row(self, text: str) -> bool:
        """Read a line without a label; return whether it belongs to this table."""
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

    def labelled(self, pair: LabelValue) -> None:
        """Read a label: long addresses are printed as labels with values."""
        if plain_label(pair.label) == "GROUP":
            self._group = pair.value
        else:
            self._keep(*pair)

    def _keep(self, title: str, value: str) -> None:
        self.entry.keep(f"multicast.{self._group}.{title}" if self._group else f"multicast.{title}", value)


@dataclass(slots=True)
class LanGroups:
    """The LAN groups at the end of the report: interfaces that take over for each other."""

    family: str
    entries: dict[str, NetstatRow]
    """The interfaces by name."""
    group: str = ""
    _titles: list[str] = field(default_factory=list)
    _members: dict[str, list[NetstatRow]] = field(default_factory=dict)
    """The interfaces of the report by group."""
    _others: dict[str, dict[str, tuple[Line, list[tuple[str, str]]]]] = field(default_factory=dict)
    """Members that are not in the report, because the command selects others, by group and name."""

    def row(self, text: str, line: Line) -> bool:
        """Read a line without a label; return whether it belongs to this table."""
        words = text.split()
        if words[0].upper() == "NAME":
            self._titles = words[1:]
            return True
        parts = _GAP.split(text)
        name, *values = parts if len(parts) == len(self._titles) + 1 else words
        if not (self.group and self._titles) or len(values) != len(self._titles) or not _NAME.fullmatch(name):
            return False
        pairs = list(zip(self._titles, values, strict=True))
        if entry := self.entries.get(name):
            self._members.setdefault(self.group, []).append(entry)
            for title, value in pairs:
                entry.keep(f"{self.family} LANGROUP {self.group}.{title}", value)
        else:
            self._others.setdefault(self.group, {})[name] = (line, pairs)
        return True

    def finish(self) -> Iterator[Line]:
        """Store what the report shows of other members of the groups; yield the lines of members of groups
        of which no interface is in the report.
        """
        for group, others in self._others.items():
            for name, (line, pairs) in others.items():
                for entry in self._members.get(group, ()):
                    for title, value in pairs:
                        entry.keep(f"{self.family} LANGROUP {group}.{name}.{title}", value)
                if group not in self._members:
                    yield line


BEGINS = re.compile(r" *(?:IntfName|DevName):(?![^ ])", re.ASCII | re.IGNORECASE)

_TABLE = "netstat_devlink"
_FIELDS = report_table(_TABLE).by_label()
_COUNTS = frozenset(f.column for f in report_table(_TABLE).columns if f.format is PrintedFormat.COUNT)
_STATISTICS = frozenset(column for column in _COUNTS if column.startswith(("in_", "out_")))
_OF_STATISTICS = tuple(label for label, printed in _FIELDS.items() if printed.column in _STATISTICS)
_DEVICE = ("device_name", "device_type", "device_number", "device_status")
_MIGRATED = re.compile(r"\*+ ?AUTOMIGRATED ?\*+", re.ASCII | re.IGNORECASE)
_ASSOCIATED = re.compile(r"(?:UN)?ASSOCIATED.*INTERFACE(?P<several>S?)", re.ASCII)
"""Labels of interfaces of another kind: one whose labels follow, or a list of names."""
_SPEED = re.compile(r"(\d+) ?\([^()]*\)?", re.ASCII)
_NO_NUMBER = frozenset({"NONE", "UNKNOWN"})
_spread = spreader(label for f in report_table(_TABLE).columns for label in f.labels)


class _InterfacePart(Enum):
    """The parts of an interface."""

    INTERFACE = auto()
    MULTICAST = auto()
    STATISTICS = auto()
    IQD = auto()
    """Statistics of the associated HiperSockets interface."""
    OTHER = auto()
    """A part without columns."""
    LAN = auto()
    """The LAN groups after all interfaces."""


_IQD = "ASSOCIATEDIQDCONVERGEDINTERFACE"
_HEADINGS = {
    "MULTICASTSPECIFIC": _InterfacePart.MULTICAST,
    "INTERFACESTATISTICS": _InterfacePart.STATISTICS,
    "LINKSTATISTICS": _InterfacePart.STATISTICS,
    "SMCRCAPABILITY": _InterfacePart.INTERFACE,
}


def read(body: ReplyBody, out: ReportRows) -> int:
    """Write a row for each interface; return the number of interfaces."""
    reader = _DevlinksReader(out)
    for line in body.lines:
        reader.take(line)
    reader.finish()
    for entry in reader.entries:
        if str(entry.values.get("interface_type", "")).upper().startswith("EQENET"):
            entry.values.setdefault("automigrated", False)
        entry.write(out)
    return len(reader.entries)


@dataclass(slots=True)
class _DevlinksReader:
    out: ReportRows
    entries: list[NetstatRow] = field(default_factory=list)
    _block: _InterfacePart = _InterfacePart.INTERFACE
    _name: str = ""
    """Name of a part without columns, under which its labels are stored."""
    _names_follow: str = ""
    """Label of a list of interfaces, whose names can continue in the next lines."""
    _indent: int = 0
    """Indentation of the line before."""
    _heading_indent: int = -1
    """Indentation of the heading of the part."""
    _multicast: Multicast | None = None
    _lan: LanGroups | None = None

    def take(self, line: Line) -> None:
        """Read one line."""
        text = line.text.strip()
        if not text.strip("- "):
            self.out.furniture(line.no)
            return
        self.out.used(line.no)
        if self.entries and self._block is _InterfacePart.INTERFACE and _MIGRATED.fullmatch(text):
            self.entries[-1].values["automigrated"] = True
        elif match := LAN_SUMMARY.match(text):
            self.finish()
            named = {str(entry.values.get("interface")): entry for entry in self.entries}
            self._lan, self._block = LanGroups(match[1].upper(), named), _InterfacePart.LAN
        else:
            headed = _ASSOCIATED.fullmatch(plain_label(text))
            pairs = [LabelValue(text, "")] if headed else pairs_of(_spread(text))
            indent = len(line.text) - len(line.text.lstrip())
            outside = indent < self._indent or indent <= self._heading_indent
            heads = len(pairs) == 1 and not pairs[0].value and outside
            self._indent = indent
            for pair in pairs:
                known = self._labelled(pair, line, heads=heads) if pair.label else self._row(pair.value, line)
                if not known:
                    self.out.add_unknown_line(line.no, line.text)

    def finish(self) -> None:
        """Report the lines of LAN groups that belong to no interface."""
        if self._lan is not None:
            for line in self._lan.finish():
                self.out.add_unknown_line(line.no, line.text)
            self._lan = None

    def _row(self, text: str, line: Line) -> bool:
        """Read a line of a table; return whether it belongs there."""
        if self._block is _InterfacePart.LAN and self._lan:
            return self._lan.row(text, line)
        if self._block is _InterfacePart.OTHER and self._names_follow and self.entries:
            names = text.split()
            if all(map(_NAME.fullmatch, names)):
                self.entries[-1].keep(self._names_follow, ", ".join(names))
                return True
        return (
            self._block is _InterfacePart.MULTICAST
            and self._multicast is not None
            and self._multicast.row(text)
        )

    def _labelled(self, pair: LabelValue, line: Line, *, heads: bool) -> bool:
        """Store a label; return whether it belongs anywhere."""
        key = plain_label(pair.label)
        if key in {"INTFNAME", "DEVNAME"}:
            self._begin(line.no)
        if not self.entries:
            return False
        entry = self.entries[-1]
        if key == "LNKNAME" and "interface" in entry.values:
            same = {name: entry.values[name] for name in _DEVICE if name in entry.values}
            entry = self._begin(line.no)
            entry.values.update(same)
        if self._block is _InterfacePart.LAN:
            if self._lan and key == "LANGROUP":
                self._lan.group = pair.value
                return True
            return False
        if self._heading(entry, key, pair, line.no, heads=heads):
            return True
        printed = _FIELDS.get(key)
        if printed is None or self._block is _InterfacePart.OTHER:
            self._without_column(entry, pair, line.no)
        elif printed.column in _STATISTICS:
            self._statistic(entry, printed.column, pair, line.no)
        else:
            self._put(entry, printed.column, pair, line.no)
        return True

    def _without_column(self, entry: NetstatRow, pair: LabelValue, line: int) -> None:
        """Store a label that has no column, or not in its part."""
        key, block = plain_label(pair.label), self._block
        if key not in _FIELDS and doubtful(pair.value):
            problem = f"{quoted(pair.value)} seems to contain more than the value: a line end may be missing"
            self.out.issue(Code.BAD_VALUE, problem, line, field=pair.label[:60], table=_TABLE)
        if block is _InterfacePart.OTHER:
            entry.keep(f"{self._name}.{pair.label}", pair.value)
        elif block is _InterfacePart.MULTICAST and self._multicast:
            self._report_misspelt(pair.label, nearly(key, _FIELDS), line)
            self._multicast.labelled(pair)
        else:
            if block is _InterfacePart.IQD:
                self._report_misspelt(pair.label, nearly(key, _OF_STATISTICS), line)
            entry.keep(*pair)

    def _begin(self, line: int) -> NetstatRow:
        self.entries.append(NetstatRow(_TABLE, line))
        self._block, self._multicast, self._heading_indent = _InterfacePart.INTERFACE, None, -1
        return self.entries[-1]

    def _heading(self, entry: NetstatRow, key: str, pair: LabelValue, line: int, *, heads: bool) -> bool:
        """Begin a part, if the label is its heading; return whether the label needs no more processing."""
        if block := _HEADINGS.get(key):
            self._block, self._heading_indent = block, self._indent
            if block is _InterfacePart.MULTICAST:
                self._multicast = Multicast(entry)
            return not pair.value and key not in _FIELDS
        if key == _IQD:
            self._block, self._heading_indent = _InterfacePart.IQD, self._indent
        elif (match := _ASSOCIATED.fullmatch(key)) or (heads and key not in _FIELDS):
            self._report_misspelt(pair.label, nearly(key, (*_HEADINGS, _IQD)), line)
            several = match is not None and match["several"]
            self._block, self._name = (
                _InterfacePart.OTHER,
                pair.label if several else pair.value or pair.label,
            )
            self._heading_indent, self._names_follow = self._indent, pair.label if several else ""
            if pair.value:
                entry.keep(pair.label, ", ".join(pair.value.split()) if several else pair.value)
            return True
        return False

    def _report_misspelt(self, label: str, near: str | None, line: int) -> None:
        if near is not None:
            problem = (
                f"{quoted(label)} is unknown, and nearly the same as {near}: what it names is in `extra`"
            )
            self.out.issue(Code.UNKNOWN_COLUMN, problem, line, field=label[:60], table=_TABLE)

    def _statistic(self, entry: NetstatRow, column: str, pair: LabelValue, line: int) -> None:
        of_interface = column
        if self._block is _InterfacePart.IQD:
            column = f"iqd_{column}"
        if column not in _COUNTS:
            if of_interface not in entry.values:
                problem = f"{pair.label} is among the figures of the associated interface, and missing among "
                problem += "those of the interface itself: lines may be misplaced"
                self.out.issue(Code.BAD_VALUE, problem, line, field=pair.label[:60], table=_TABLE)
            entry.keep(f"iqd.{pair.label}", pair.value)
        elif column in entry.values:
            problem = f"a second {pair.label}; the heading of its statistics is missing"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line, 1, table=_TABLE)
            entry.keep(*pair)
        else:
            entry.take(self.out, column, pair, line)

    def _put(self, entry: NetstatRow, column: str, pair: LabelValue, line: int) -> None:
        if column in entry.values:
            problem = (
                f"a second {pair.label} in one interface; the first line of another interface is missing"
            )
            self.out.issue(Code.REPORT_UNREADABLE, problem, line, 1, table=_TABLE)
            entry = self._begin(line)
        if column in _COUNTS and pair.value.upper() in _NO_NUMBER:
            entry.keep(*pair)
            entry.put(column, None, line)
        elif column == "speed_mbit_per_s" and (speed := _SPEED.fullmatch(pair.value)):
            entry.put(column, speed[1], line)
        else:
            entry.take(self.out, column, pair, line)
