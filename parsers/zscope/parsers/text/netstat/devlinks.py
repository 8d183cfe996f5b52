"""NETSTAT DEVLINKS: the interfaces of a stack, each a block of labels with smaller blocks in it.

A block begins with the name of an interface, the smaller ones with their headings. Columns count for nothing,
and indentation only tells the heading of a part that is not known here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.netstat.devlinks_tables import LAN_SUMMARY, LanGroups, Multicast
from zscope.parsers.text.netstat.labels import Entry, Pair, pairs_of, spreader
from zscope.schemas.printed import PrintedFormat, plain_label, report_table

if TYPE_CHECKING:
    from zscope.parsers.text.netstat.body import Body
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line

BEGINS = re.compile(r" *(?:IntfName|DevName):(?![^ ])", re.ASCII | re.IGNORECASE)

_TABLE = "netstat_devlink"
_FIELDS = report_table(_TABLE).by_label()
_COUNTS = frozenset(f.column for f in report_table(_TABLE).columns if f.format is PrintedFormat.COUNT)
_STATISTICS = frozenset(column for column in _COUNTS if column.startswith(("in_", "out_")))
_DEVICE = ("device_name", "device_type", "device_number", "device_status")
_MIGRATED = re.compile(r"\*+ ?AUTOMIGRATED ?\*+", re.ASCII | re.IGNORECASE)
_SPEED = re.compile(r"(\d+) ?\([^()]*\)?", re.ASCII)
_NO_NUMBER = frozenset({"NONE", "UNKNOWN"})
_spread = spreader(label for f in report_table(_TABLE).columns for label in f.labels)


class _Block(Enum):
    """The part of an interface that is being read."""

    INTERFACE = auto()
    MULTICAST = auto()
    STATISTICS = auto()
    IQD = auto()
    """Statistics again, of the HiperSockets interface that belongs to it."""
    OTHER = auto()
    """A part that has no columns."""
    LAN = auto()
    """Behind all interfaces."""


_HEADINGS = {
    "MULTICASTSPECIFIC": _Block.MULTICAST,
    "INTERFACESTATISTICS": _Block.STATISTICS,
    "LINKSTATISTICS": _Block.STATISTICS,
    "SMCRCAPABILITY": _Block.INTERFACE,
}


def read(body: Body, out: Out) -> int:
    """Make a row of each interface; how many there are."""
    reader = _Reader(out)
    for line in body.lines:
        reader.take(line)
    for entry in reader.entries:
        if str(entry.values.get("interface_type", "")).upper().startswith("EQENET"):
            entry.values.setdefault("automigrated", False)
        entry.write(out)
    return len(reader.entries)


@dataclass(slots=True)
class _Reader:
    out: Out
    entries: list[Entry] = field(default_factory=list)
    _block: _Block = _Block.INTERFACE
    _name: str = ""
    """What labels of a block without columns are kept under."""
    _indent: int = 0
    """Of the line before."""
    _heading_indent: int = -1
    """Of the line that began the smaller block."""
    _multicast: Multicast | None = None
    _lan: LanGroups | None = None

    def take(self, line: Line) -> None:
        """Read one line."""
        text = line.text.strip()
        if not text.strip("- "):
            return
        if self.entries and self._block is _Block.INTERFACE and _MIGRATED.fullmatch(text):
            self.entries[-1].values["automigrated"] = True
        elif found := LAN_SUMMARY.match(text):
            named = {str(entry.values.get("interface")): entry for entry in self.entries}
            self._lan, self._block = LanGroups(found[1].upper(), named), _Block.LAN
        else:
            pairs = pairs_of(_spread(text))
            indent = len(line.text) - len(line.text.lstrip())
            outside = indent < self._indent or indent <= self._heading_indent
            heads = len(pairs) == 1 and not pairs[0].value and outside
            self._indent = indent
            for pair in pairs:
                known = self._labelled(pair, line, heads=heads) if pair.label else self._row(pair.value)
                if not known:
                    self.out.unknown(line.no, line.text)

    def _row(self, text: str) -> bool:
        """Take a line of a table."""
        if self._block is _Block.LAN and self._lan:
            return self._lan.row(text)
        return self._block is _Block.MULTICAST and self._multicast is not None and self._multicast.row(text)

    def _labelled(self, pair: Pair, line: Line, *, heads: bool) -> bool:
        """Take a label, if it belongs anywhere."""
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
        if self._block is _Block.LAN:
            if self._lan and key == "LANGROUP":
                self._lan.group = pair.value
                return True
            return False
        if self._heading(entry, key, pair, heads=heads):
            return True
        printed = _FIELDS.get(key)
        if self._block is _Block.OTHER:
            entry.keep(f"{self._name}.{pair.label}", pair.value)
        elif printed is None and self._block is _Block.MULTICAST and self._multicast:
            self._multicast.labelled(pair)
        elif printed is None:
            entry.keep(*pair)
        elif printed.column in _STATISTICS:
            self._statistic(entry, printed.column, pair, line.no)
        else:
            self._put(entry, printed.column, pair, line.no)
        return True

    def _begin(self, line: int) -> Entry:
        self.entries.append(Entry(_TABLE, line))
        self._block, self._multicast, self._heading_indent = _Block.INTERFACE, None, -1
        return self.entries[-1]

    def _heading(self, entry: Entry, key: str, pair: Pair, *, heads: bool) -> bool:
        """Begin a smaller block; whether nothing more is to be done about the label."""
        if block := _HEADINGS.get(key):
            self._block, self._heading_indent = block, self._indent
            if block is _Block.MULTICAST:
                self._multicast = Multicast(entry)
            return not pair.value and key not in _FIELDS
        if key == "ASSOCIATEDIQDCONVERGEDINTERFACE":
            self._block, self._heading_indent = _Block.IQD, self._indent
        elif (key.startswith("ASSOCIATED") and key.endswith("INTERFACE")) or (heads and key not in _FIELDS):
            self._block, self._name = _Block.OTHER, pair.value or pair.label
            self._heading_indent = self._indent
            if pair.value:
                entry.keep(*pair)
            return True
        return False

    def _statistic(self, entry: Entry, column: str, pair: Pair, line: int) -> None:
        if self._block is _Block.IQD:
            column = f"iqd_{column}"
        if column not in _COUNTS:
            entry.keep(f"iqd.{pair.label}", pair.value)
        elif column in entry.values:
            problem = f"a second {pair.label}: the heading of the statistics it belongs to is missing"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line, 1, table=_TABLE)
            entry.keep(*pair)
        else:
            entry.take(self.out, column, pair, line)

    def _put(self, entry: Entry, column: str, pair: Pair, line: int) -> None:
        if column in entry.values:
            problem = f"a second {pair.label} of one interface: the line that begins another is missing"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line, 1, table=_TABLE)
            entry = self._begin(line)
        if column in _COUNTS and pair.value.upper() in _NO_NUMBER:
            entry.keep(*pair)
            entry.put(column, None, line)
        elif column == "speed_mbit_per_s" and (speed := _SPEED.fullmatch(pair.value)):
            entry.put(column, speed[1], line)
        else:
            entry.take(self.out, column, pair, line)
