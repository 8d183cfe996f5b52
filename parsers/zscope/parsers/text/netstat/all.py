"""NETSTAT ALL: all that a stack knows about each of its connections, as pairs of labels and values."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.netstat.all_shape import COLUMNS, TABLE, can_be_wrapped, is_whole
from zscope.parsers.text.netstat.labels import Entry, Pair, pairs_of, spreader
from zscope.parsers.text.netstat.sockets import split_socket, state_name
from zscope.parsers.text.out import shown
from zscope.schemas.printed import plain_label, report_table

if TYPE_CHECKING:
    from zscope.parsers.text.netstat.body import Body
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line

BEGINS = re.compile(r" *CLIENT NAME:(?![^ ])", re.ASCII | re.IGNORECASE)

_SOCKETS = {"LOCALSOCKET": ("local_ip", "local_port"), "FOREIGNSOCKET": ("remote_ip", "remote_port")}
_ONCE = frozenset({"CLIENTID", "LOCALSOCKET"})
"""An entry has these only once: a second one belongs to another entry."""
_START = ("STARTDATE", "STARTTIME")
_NAME = r"[A-Za-z][^ :=]*+(?: [^ :=]++){0,3}+"
_WORD = r"(?:[^ :=]|[:=](?=[^ ]))++"
_COMMON = re.compile(rf" *({_NAME}): +({_WORD})(?: {{2,}}({_NAME}): +({_WORD}))?$")
"""Nearly all lines: one or two labels, each with one word. Reading these alone makes it ten times as fast."""
_spread = spreader(label for printed in report_table(TABLE).columns for label in printed.labels)


def read(body: Body, out: Out) -> int:
    """Make a row of each entry; how many there are."""
    reader = _Reader(out)
    for line in body.lines:
        if line.text.strip():
            reader.take(line)
    reader.close()
    return reader.rows


@dataclass(slots=True)
class _Value:
    """A label with its value, and where."""

    pair: Pair
    line: int


@dataclass(slots=True)
class _Block:
    """The lines of one entry, label by label."""

    line: int
    values: dict[str, _Value] = field(default_factory=dict)
    more: list[_Value] = field(default_factory=list)
    """Labels that were there already."""

    def short(self) -> bool:
        """Whether both sockets stand in one line, as they do only in the short form."""
        here, there = self.values.get("LOCALSOCKET"), self.values.get("FOREIGNSOCKET")
        return here is not None and there is not None and here.line == there.line


@dataclass(slots=True)
class _Reader:
    out: Out
    rows: int = 0
    _block: _Block | None = None
    _open: str = ""
    """A label at the end of the line before that has no value."""

    def take(self, line: Line) -> None:
        """Read one line."""
        for pair in _pairs(line.text):
            if pair.label:
                self._labelled(pair, line)
            elif self._block and self._open and can_be_wrapped(self._open, pair.value):
                label = self._block.values[self._open].pair.label
                self._block.values[self._open] = _Value(Pair(label, pair.value), line.no)
                self._open = ""
            else:
                self._open = ""
                self.out.unknown(line.no, line.text)

    def close(self) -> None:
        """The entry has no more lines."""
        block, self._block, self._open = self._block, None, ""
        if block is not None:
            self.rows += 1
            _write(block, self.out)

    def _labelled(self, pair: Pair, line: Line) -> None:
        key = plain_label(pair.label)
        if key == "CLIENTNAME":
            self.close()
            self._block = _Block(line.no)
        elif self._block is None:
            self.out.unknown(line.no, line.text)
            return
        elif key in _ONCE and key in self._block.values:
            problem = f"a second {pair.label} without Client Name before it: its owner is not known"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, 1, table=TABLE)
            self.close()
            self._block = _Block(line.no)
        if key.endswith("INFORMATION") and not pair.value:
            # No label, but the heading of what follows.
            self._open = ""
        elif key in self._block.values:
            self._open = ""
            self._block.more.append(_Value(pair, line.no))
        else:
            self._open = "" if pair.value else key
            self._block.values[key] = _Value(pair, line.no)


def _pairs(text: str) -> list[Pair]:
    found = _COMMON.match(text)
    if found is None:
        squeezed = ": " in text and "  " not in text.strip()
        return pairs_of(_spread(text) if squeezed else text)
    first = Pair(found[1], found[2])
    return [first, Pair(found[3], found[4])] if found[3] else [first]


def _write(block: _Block, out: Out) -> None:
    entry, short = Entry(TABLE, block.line), block.short()
    _put_start(entry, block, out)
    for key, value in block.values.items():
        pair, line, column = value.pair, value.line, COLUMNS.get(key)
        if key in _START or (column is not None and pair.value.upper() in {"", "N/A"}):
            continue
        if column is None:
            entry.keep(*pair)
        elif columns := _SOCKETS.get(key):
            _put_socket(entry, columns, pair, line, out)
        elif column == "application_data":
            entry.put(column, pair.value, line)
        elif not is_whole(key, pair.value, short=short):
            entry.refuse(out, pair, line, "is not printed as it always is")
        else:
            entry.take(out, column, pair, line)
    if state := entry.values.get("state"):
        entry.values["state_name"] = state_name(state)
    entry.write(out)
    for pair, line in ((again.pair, again.line) for again in block.more):
        problem = f"{shown(pair.value)} is a second value of {shown(pair.label)}; the first one stays"
        out.issue(Code.BAD_VALUE, problem, line, field=pair.label, table=TABLE)


def _put_socket(entry: Entry, columns: tuple[str, str], pair: Pair, line: int, out: Out) -> None:
    socket = split_socket(pair.value)
    if socket is None or " " in pair.value:
        entry.refuse(out, pair, line, "is not an address and a port with two dots between them")
        return
    for column, text in zip(columns, socket, strict=True):
        entry.put(column, text, line)


def _put_start(entry: Entry, block: _Block, out: Out) -> None:
    """Date and time of the start are one value; half of it is none."""
    parts = {key: block.values[key] for key in _START if key in block.values and block.values[key].pair.value}
    if len(parts) == 2 and all(is_whole(key, part.pair.value, short=False) for key, part in parts.items()):
        day, clock = parts.values()
        entry.put("started_local", f"{day.pair.value} {clock.pair.value}", day.line)
        return
    for part in parts.values():
        entry.refuse(out, part.pair, part.line, "is not all of a date with its time of day")
