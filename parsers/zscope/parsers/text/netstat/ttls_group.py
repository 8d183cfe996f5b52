"""NETSTAT TTLS GROUP: read and write the AT-TLS groups of a stack; DETAIL adds queues and environments."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.netstat.netstat_labels import LabelValue, NetstatRow, pairs_of
from zscope.parsers.text.netstat.reply import Command, reply_lines
from zscope.parsers.text.netstat.sockets import is_connection_id
from zscope.schemas.reports import plain_label, report_table

if TYPE_CHECKING:
    from zscope.parsers.text.captured_report import Line
    from zscope.parsers.text.netstat.reply import ReplyBody
    from zscope.parsers.text.report_rows import ReportRows


BEGINS = re.compile(r" *TTLSGrpAction(?::(?![^ ])| +Group ?ID\b)", re.ASCII | re.IGNORECASE)

_TABLE = "netstat_ttls_group"
_TITLES = re.compile(r" *TTLSGrpAction(?P<gap> +)Group ?ID +Conns$", re.ASCII | re.IGNORECASE)
_ROW = re.compile(r" *([^ ]{0,31}[^ :])(?P<gap> +)([0-9A-Fa-f]{8}) +(\d{1,10})", re.ASCII)
_ROW_COLUMNS = ("ttls_group_action", "ttls_group_id", "connections")
_COLUMNS = {label: printed.column for label, printed in report_table(_TABLE).by_label().items()}
_OF_ENVIRONMENT = frozenset({"ENVCONNS", "CONNS"})


def read(body: ReplyBody, out: ReportRows) -> int:
    """Write a row for each group and each environment; return the number of groups."""
    reader = _GroupReader(out)
    for line in body.lines:
        reader.take(line)
    reader.check_names()
    reader.check_ids()
    reader.check_connections()
    for entry in reader.entries:
        entry.write(out)
    return reader.groups


@dataclass(slots=True)
class _GroupReader:
    out: ReportRows
    groups: int = 0
    entries: list[NetstatRow] = field(default_factory=list)
    _places: list[tuple[NetstatRow | None, int | None]] = field(default_factory=list)
    """Columns of the ids, with the row of each; the heading has none."""
    _group: NetstatRow | None = None
    _environment: NetstatRow | None = None
    _environments: list[tuple[NetstatRow, list[NetstatRow]]] = field(default_factory=list)
    """The groups, each with its environments."""
    _indents: tuple[int, int] = (0, 0)
    """Indentations of the current group and its environment."""
    _is_table: bool | None = None
    """Whether the groups so far are rows of a table, not labels."""

    def take(self, line: Line) -> None:
        """Read one line: a row of the table, or labels of the detailed form."""
        if not line.text.strip(" -"):
            self.out.furniture(line.no)
            return
        if titles := _TITLES.match(line.text):
            self.out.furniture(line.no)
            self._has_form(line.no, is_table=True)
            self._places.append((None, _place(titles)))
            return
        if row := _ROW.fullmatch(line.text):
            self._has_form(line.no, is_table=True)
            group = self._begin(line.no)
            self._places.append((group, _place(row)))
            for column, text in zip(_ROW_COLUMNS, row.group(1, 3, 4), strict=True):
                group.put(column, text, line.no)
            self._group = None
            return
        indent = len(line.text) - len(line.text.lstrip())
        for pair in pairs_of(line.text):
            if not pair.label or not self._labelled(pair, line.no, indent):
                self.out.add_unknown_line(line.no, line.text)
                return
        self.out.used(line.no)

    def check_names(self) -> None:
        """Report rows whose id is not aligned with the others: their name is incomplete or contains more."""
        places = Counter(place for _, place in self._places if place is not None)
        usual, count = max(places.items(), key=lambda place: place[1], default=(None, 0))
        for group, place in self._places:
            if group and place not in {None, usual} and count > len(self._places) / 2:
                pair = LabelValue("TTLSGrpAction", group.values["ttls_group_action"])
                group.refuse(self.out, pair, group.line, "is not aligned with the other names")
                group.put("ttls_group_action", None, group.line)

    def check_ids(self) -> None:
        """Report groups without an id, which each group has."""
        for group in self.entries:
            is_group = "environment" not in group.values and "Group ID" not in group.extra
            if is_group and "ttls_group_id" not in group.values:
                problem = "the group has no Group ID: a line may be missing"
                self.out.issue(Code.REPORT_CUT, problem, group.line, 1, table=_TABLE)

    def check_connections(self) -> None:
        """Report groups that have another number of connections than their environments have together."""
        for group, environments in self._environments:
            printed = [str(entry.values.get("connections")) for entry in (group, *environments)]
            if environments and all(text.isascii() and text.isdigit() for text in printed):
                total, *others = map(int, printed)
                if total != sum(others):
                    problem = (
                        f"the group has {total:,} connections, but its environments have {sum(others):,}"
                    )
                    self.out.issue(Code.COUNT_DIFFERS, problem, group.line, table=_TABLE)

    def _has_form(self, line: int, *, is_table: bool) -> None:
        """Report a line of the other form than the lines before: one report has one form."""
        if self._is_table not in {None, is_table}:
            problem = "the form of the report changes here; the heading of another report may be missing"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line, 1, table=_TABLE)
        self._is_table = is_table

    def _begin(self, line: int) -> NetstatRow:
        group = NetstatRow(_TABLE, line)
        self.entries.append(group)
        self.groups += 1
        self._group, self._environment = group, None
        self._environments.append((group, []))
        return group

    def _labelled(self, pair: LabelValue, line: int, indent: int) -> bool:
        """Store a label, if it belongs to a group; return whether it does."""
        column = _COLUMNS.get(plain_label(pair.label))
        if column == "ttls_group_action":
            self._has_form(line, is_table=False)
            self._begin(line)
            self._indents = indent, indent
        if self._group is None:
            return False
        if column == "environment":
            same = {name: self._group.values.get(name) for name in ("ttls_group_action", "ttls_group_id")}
            self._environment = NetstatRow(_TABLE, line, dict(same))
            self.entries.append(self._environment)
            self._environments[-1][1].append(self._environment)
            self._indents = self._indents[0], indent
        entry = self._group
        if self._environment and (
            column in {None, "environment"} or plain_label(pair.label) in _OF_ENVIRONMENT
        ):
            entry = self._environment
        if column is None:
            of_group, of_environment = self._indents
            # Labels of an environment are further right than it, unless blanks were removed from the text.
            is_outside = of_group < of_environment and indent <= of_environment and entry.line != line
            (self._group if is_outside else entry).keep(*pair)
        elif column in entry.values:
            problem = f"a second {pair.label} in one group; the first line of another group may be missing"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line, 1, table=_TABLE)
            entry.keep(*pair)
        elif column == "ttls_group_id" and not is_connection_id(pair.value):
            entry.refuse(self.out, pair, line, "is not eight digits")
        else:
            entry.take(self.out, column, pair, line)
        return True


def _place(match: re.Match[str]) -> int | None:
    """Return the column of the id, counted from the start of the name; None if blanks were removed."""
    indent = len(match.string) - len(match.string.lstrip())
    return match.end("gap") - indent if len(match["gap"]) > 1 else None


Row = Mapping[str, Any]

_TABLE_ROW = "{:<42}{:<8}{:>16}"
_GROUP_LABELS = {
    "tasks": "Tasks",
    "connections": "GroupConns",
    "queued_work_elements": "WorkQElements",
    "queued_syslog_elements": "SyslogQElements",
}


def ttls_group_lines(
    rows: Sequence[Row], command: Command | None = None, *, detail: bool = False
) -> list[str]:
    """Return the lines of a report: a table, or with `detail` labels for groups and their environments."""
    command = command or Command()
    groups = [row for row in rows if row.get("environment") is None]
    if detail:
        body = [
            line for row in rows for line in (_environment(row) if row.get("environment") else _group(row))
        ]
    else:
        body = list(_table(groups, dashes=not command.console))
    return reply_lines(command, body, len(groups))


def _table(rows: Sequence[Row], *, dashes: bool) -> Iterator[str]:
    titles = ("TTLSGrpAction", "Group ID", "Conns")
    yield _TABLE_ROW.format(*titles)
    if dashes:
        yield _TABLE_ROW.format(*("-" * len(title) for title in titles))
    for row in rows:
        yield _TABLE_ROW.format(row["ttls_group_action"], f"{row['ttls_group_id']:08X}", row["connections"])


def _group(row: Row) -> Iterator[str]:
    yield f"TTLSGrpAction: {row['ttls_group_action']}"
    if row.get("ttls_group_id") is not None:
        yield f"  Group ID: {row['ttls_group_id']:08X}"
    for column, label in _GROUP_LABELS.items():
        if row.get(column) is not None:
            yield f"  {label + ':':<17}{row[column]}"
    yield from _labels(row, "  ")


def _environment(row: Row) -> Iterator[str]:
    connections = "" if row.get("connections") is None else f"   EnvConns: {row['connections']}"
    yield f"  Env: {row['environment']}{connections}"
    yield from _labels(row, "    ")


def _labels(row: Row, indent: str) -> Iterator[str]:
    for label, value in json.loads(row.get("extra") or "{}").items():
        yield f"{indent}{label}: {value}".rstrip()
