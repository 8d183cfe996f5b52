"""NETSTAT CONN and ALLCONN: read and write the connections and sockets of a stack, one row for each.

The short form has one line per connection; the form of stacks with IPv6 has a line for each socket.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.captured_report import Line, RowStretch
from zscope.parsers.text.codecs import split_socket
from zscope.parsers.text.netstat.plain_rows import CONN_FORMS, columns_of
from zscope.parsers.text.netstat.reply import Command, reply_lines
from zscope.parsers.text.netstat.sockets import (
    is_connection_id,
    is_state,
    printed_socket,
    report_damaged_state,
    state_name,
)
from zscope.schemas.reports import plain_label, report_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from zscope.parsers.text.netstat.reply import ReplyBody
    from zscope.parsers.text.report_rows import ReportRows


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
_SHORT_WORDS = 5
"""Words of a row of the short form."""
_LABEL_INDENT = 2
"""Indentation of all lines of a connection but the first."""


def read(body: ReplyBody, out: ReportRows) -> int:
    """Write a row for each connection; return the number of connections."""
    reader = _ConnReader(out)
    for line in body.lines:
        if isinstance(line, RowStretch):
            reader.take_stretch(line)
        else:
            reader.take(line)
    reader.close()
    return reader.rows


@dataclass(slots=True)
class _ConnEntry:
    """A connection whose lines are being read."""

    line: int
    values: dict[str, Any]
    block: bool
    """Whether its sockets are in separate lines."""
    extra: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _ConnReader:
    out: ReportRows
    rows: int = 0
    _id_column: int | None = None
    """Where the second column begins in the heading; None if blanks were removed from the text."""
    _words: int = 0
    """Number of words in a row; 0 before the first heading."""
    _entry: _ConnEntry | None = None

    def take(self, line: Line) -> None:
        """Read one line."""
        words = line.text.split()
        if (
            words
            and len(words) == self._words
            and is_connection_id(words[1])
            and self._aligned(line.text, words)
        ):
            values = _short(words) if self._words == _SHORT_WORDS else _long(words)
            if values is not None:
                self.close()
                self._entry = _ConnEntry(line.no, values, block=self._words == 3)
                return
        if words:
            self._other(line)

    def take_stretch(self, stretch: RowStretch) -> None:
        """Read many rows; the last one is read by itself, because other lines can belong to it."""
        form = CONN_FORMS.get(self._words)
        columns = None
        if form is not None:
            rows, last = stretch.split_last(form.row.lines)
            if rows.text and form.row.pattern.fullmatch(last.text):
                columns = columns_of(rows, form, self._id_column)
            if columns is not None:
                self.close()
                self.rows += len(columns["state"])
                self.out.rows(_TABLE, rows, columns)
                stretch = last
        for line in stretch.lines():
            self.take(line)

    def close(self) -> None:
        """The entry has no more lines."""
        entry, self._entry = self._entry, None
        if entry is None:
            return
        if entry.block and (missing := [text for text in _SOCKETS if _SOCKETS[text][0] not in entry.values]):
            names = " and ".join(text.removesuffix("SOCKET").lower() for text in missing)
            self.out.issue(Code.REPORT_CUT, f"the entry has no {names} socket", entry.line, table=_TABLE)
        if entry.values["state_name"] is None:
            report_damaged_state(self.out, _TABLE, entry.values["state"], entry.line)
        self.rows += 1
        self.out.row(_TABLE, entry.line, entry.values, entry.extra, entry.lines)

    def _aligned(self, text: str, words: list[str]) -> bool:
        """Return whether the id is below its heading; otherwise the row has lost characters at the start."""
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
            self.out.furniture(line.no)
        elif not text.strip("- "):
            self.out.furniture(line.no)
        elif self._belongs(line):
            self.out.used(line.no)
        else:
            if not text.startswith(" "):
                # It may begin another connection: lines after it belong to an unknown one.
                self.close()
            self.out.add_unknown_line(line.no, text)

    def _heading(self, text: str) -> None:
        titles = text.upper()
        indent = len(titles) - len(titles.lstrip())
        self._id_column = None if _SQUEEZED.match(text) else titles.index("CONN", indent + 6) - indent
        after = titles[titles.index("CONN", indent + 6) + len("CONN") :].strip()
        self._words = _SHORT_WORDS if after.startswith("LOC") else 3 if after.startswith("STA") else 0

    def _belongs(self, line: Line) -> bool:
        """Add a line with a label to the connection, if it belongs there."""
        entry, match = self._entry, _LABELLED.match(line.text)
        if entry is None or match is None:
            return False
        label, value, plain = match[1], match[2] or "", plain_label(match[1])
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


_SHORT = "User Id  Conn     Local Socket           Foreign Socket         State"
_LONG = "User Id  Conn     State"
_TITLE = re.compile(r"[^ ]+(?: [^ ]+)*")


def conn_lines(
    rows: Iterable[Mapping[str, Any]],
    command: Command | None = None,
    *,
    long: bool = False,
    mapped: bool = False,
    of: int | None = None,
) -> list[str]:
    """Return the lines of a report with these connections; each has a job name, an id and a state.

    `long` selects the form of stacks with IPv6, `mapped` prints IPv4 addresses as mapped IPv6 addresses, and
    `of` is the number of connections without the limit of the console.
    """
    command = command or Command()
    rows = list(rows)
    titles = [_LONG if long else _SHORT]
    if not command.console:
        titles.append(_TITLE.sub(lambda title: "-" * len(title[0]), titles[0]))
    body = [line for row in rows for line in (_long_lines(row, mapped=mapped) if long else _short_lines(row))]
    return reply_lines(command, titles + body, len(rows), of)


def _short_lines(row: Mapping[str, Any]) -> Iterator[str]:
    sockets = f"{printed_socket(row, 'local'):<22} {printed_socket(row, 'remote'):<22}"
    yield f"{row['job_name']:<8} {row['connection_id']:08X} {sockets} {row['state']}"
    yield from _application_data(row)


def _long_lines(row: Mapping[str, Any], *, mapped: bool) -> Iterator[str]:
    yield f"{row['job_name']:<8} {row['connection_id']:08X} {row['state']}"
    yield f"  Local Socket:   {printed_socket(row, 'local', mapped=mapped)}"
    yield f"  Foreign Socket: {printed_socket(row, 'remote', mapped=mapped)}"
    yield from _application_data(row)


def _application_data(row: Mapping[str, Any]) -> Iterator[str]:
    if row.get("application_data"):
        yield f"  Application Data:  {row['application_data']}"
