"""NETSTAT CONN and ALLCONN: the connections and sockets of a stack, one row or one short block for each."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.netstat.sockets import is_connection_id, is_state, split_socket, state_name
from zscope.schemas.printed import plain_label, report_table

if TYPE_CHECKING:
    from zscope.parsers.text.netstat.body import Body
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line

BEGINS = re.compile(r" *USER ?ID +CONN\b(?!.*\bB(YTES)? ?(IN|OUT)\b)", re.ASCII | re.IGNORECASE)

_TABLE = "netstat_conn"
_SQUEEZED = re.compile(r" *USER ?ID CONN\b", re.ASCII | re.IGNORECASE)
_LABELLED = re.compile(r" *([A-Za-z][A-Za-z0-9 %/.-]{0,39}):(?: +(\S.*))?$", re.ASCII)
_SOCKETS = {"LOCALSOCKET": ("local_ip", "local_port"), "FOREIGNSOCKET": ("remote_ip", "remote_port")}
_APPLICATION_DATA = frozenset(
    label
    for label, printed in report_table(_TABLE).by_label().items()
    if printed.column == "application_data"
)
_LABEL_INDENT = 2
"""What belongs to an entry begins here; only its first line stands at the margin."""


def read(body: Body, out: Out) -> int:
    """Make a row of each connection; how many there are."""
    reader = _Reader(out)
    for line in body.lines:
        reader.take(line)
    reader.close()
    return reader.rows


@dataclass(slots=True)
class _Entry:
    """A connection whose lines are being read."""

    line: int
    values: dict[str, Any]
    block: bool
    """Its sockets stand in lines of their own."""
    extra: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Reader:
    out: Out
    rows: int = 0
    _id_column: int | None = None
    """Where the heading has its second column; None if blanks were squeezed out of the text."""
    _words: int = 0
    """How many a row has; 0 while no heading has told."""
    _entry: _Entry | None = None

    def take(self, line: Line) -> None:
        """Read one line."""
        words = line.text.split()
        if (
            words
            and len(words) == self._words
            and is_connection_id(words[1])
            and self._aligned(line.text, words)
        ):
            made = _short(words) if self._words == 5 else _long(words)
            if made is not None:
                self.close()
                self._entry = _Entry(line.no, made, block=self._words == 3)
                return
        if words:
            self._other(line)

    def close(self) -> None:
        """The entry has no more lines."""
        entry, self._entry = self._entry, None
        if entry is None:
            return
        if entry.block and (missing := [text for text in _SOCKETS if _SOCKETS[text][0] not in entry.values]):
            names = " and ".join(text.removesuffix("SOCKET").lower() for text in missing)
            self.out.issue(Code.REPORT_CUT, f"the entry has no {names} socket", entry.line, table=_TABLE)
        self.rows += 1
        self.out.row(_TABLE, entry.line, entry.values, entry.extra, entry.lines)

    def _aligned(self, text: str, words: list[str]) -> bool:
        """Whether the id stands below its heading: a row that lost characters in front has wrong names."""
        column = self._id_column
        if column is None or text[column : column + 8] == words[1]:
            return True
        indent = len(text) - len(text.lstrip())
        return text.index(words[1], indent + len(words[0])) - indent == column

    def _other(self, line: Line) -> None:
        text = line.text
        if BEGINS.match(text):
            self.close()
            self._heading(text)
        elif text.strip("- ") and not self._belongs(line):
            if not text.startswith(" "):
                # It may be the beginning of another entry: what follows it belongs to nobody.
                self.close()
            self.out.unknown(line.no, text)

    def _heading(self, text: str) -> None:
        titles = text.upper()
        indent = len(titles) - len(titles.lstrip())
        self._id_column = None if _SQUEEZED.match(text) else titles.index("CONN", indent + 6) - indent
        behind = titles[titles.index("CONN", indent + 6) + len("CONN") :].strip()
        self._words = 5 if behind.startswith("LOC") else 3 if behind.startswith("STA") else 0

    def _belongs(self, line: Line) -> bool:
        """Take a labelled line into the entry, if it is one of its lines."""
        entry, found = self._entry, _LABELLED.match(line.text)
        if entry is None or found is None:
            return False
        label, value, plain = found[1], found[2] or "", plain_label(found[1])
        if columns := _SOCKETS.get(plain):
            socket = split_socket(value)
            if socket is None or " " in value or not entry.block or columns[0] in entry.values:
                return False
            entry.values.update(zip(columns, socket, strict=True))
            entry.lines.update(dict.fromkeys(columns, line.no))
            return True
        if plain in _APPLICATION_DATA and "application_data" not in entry.values:
            entry.values["application_data"] = value
            return True
        if not line.text.startswith(" " * _LABEL_INDENT) or label in entry.extra:
            return False
        entry.extra[label] = value
        return True


def _short(words: list[str]) -> dict[str, Any] | None:
    name, number, local, remote, state = words
    here, there = split_socket(local), split_socket(remote)
    if here is None or there is None or not is_state(state):
        return None
    return {
        "job_name": name,
        "connection_id": int(number, 16),
        "local_ip": here[0],
        "local_port": here[1],
        "remote_ip": there[0],
        "remote_port": there[1],
        "state": state,
        "state_name": state_name(state),
    }


def _long(words: list[str]) -> dict[str, Any] | None:
    name, number, state = words
    if not is_state(state):
        return None
    return {
        "job_name": name,
        "connection_id": int(number, 16),
        "state": state,
        "state_name": state_name(state),
    }
