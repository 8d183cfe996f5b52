"""NETSTAT TTLS GROUP: the AT-TLS groups of a stack; with DETAIL what they do, and their environments."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.netstat.labels import Entry, Pair, pairs_of
from zscope.parsers.text.netstat.sockets import is_connection_id
from zscope.schemas.printed import plain_label, report_table

if TYPE_CHECKING:
    from zscope.parsers.text.netstat.body import Body
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line

BEGINS = re.compile(r" *TTLSGrpAction(?::(?![^ ])| +Group ?ID\b)", re.ASCII | re.IGNORECASE)

_TABLE = "netstat_ttls_group"
_TITLES = re.compile(r" *TTLSGrpAction(?P<gap> +)Group ?ID +Conns$", re.ASCII | re.IGNORECASE)
_ROW = re.compile(r" *([^ ]{0,31}[^ :])(?P<gap> +)([0-9A-Fa-f]{8}) +(\d{1,10})", re.ASCII)
_ROW_COLUMNS = ("ttls_group_action", "ttls_group_id", "connections")
_COLUMNS = {label: printed.column for label, printed in report_table(_TABLE).by_label().items()}
_OF_ENVIRONMENT = frozenset({"ENVCONNS", "CONNS"})


def read(body: Body, out: Out) -> int:
    """Make a row of each group and each environment; how many groups there are."""
    reader = _Reader(out)
    for line in body.lines:
        reader.take(line)
    reader.check_names()
    for entry in reader.entries:
        entry.write(out)
    return reader.groups


@dataclass(slots=True)
class _Reader:
    out: Out
    groups: int = 0
    entries: list[Entry] = field(default_factory=list)
    _places: list[tuple[Entry | None, int | None]] = field(default_factory=list)
    """Where the ids stand; the heading has no entry."""
    _group: Entry | None = None
    _environment: Entry | None = None

    def take(self, line: Line) -> None:
        """Read one line: a row of the table, or labels of the detailed form."""
        if not line.text.strip(" -"):
            return
        if titles := _TITLES.match(line.text):
            self._places.append((None, _place(titles)))
            return
        if row := _ROW.fullmatch(line.text):
            group = self._begin(line.no)
            self._places.append((group, _place(row)))
            for column, text in zip(_ROW_COLUMNS, row.group(1, 3, 4), strict=True):
                group.put(column, text, line.no)
            self._group = None
            return
        for pair in pairs_of(line.text):
            if not pair.label or not self._labelled(pair, line.no):
                self.out.unknown(line.no, line.text)
                return

    def check_names(self) -> None:
        """A row whose id does not stand below the others has lost some of its name, or has more than that."""
        places = Counter(place for _, place in self._places if place is not None)
        usual, count = max(places.items(), key=lambda place: place[1], default=(None, 0))
        for group, place in self._places:
            if group and place not in {None, usual} and count > len(self._places) / 2:
                pair = Pair("TTLSGrpAction", group.values["ttls_group_action"])
                group.refuse(self.out, pair, group.line, "is not where the other names are")
                group.put("ttls_group_action", None, group.line)

    def _begin(self, line: int) -> Entry:
        group = Entry(_TABLE, line)
        self.entries.append(group)
        self.groups += 1
        self._group, self._environment = group, None
        return group

    def _labelled(self, pair: Pair, line: int) -> bool:
        """Take a label, if it belongs to a group."""
        column = _COLUMNS.get(plain_label(pair.label))
        if column == "ttls_group_action":
            self._begin(line)
        if self._group is None:
            return False
        if column == "environment":
            same = {name: self._group.values.get(name) for name in ("ttls_group_action", "ttls_group_id")}
            self._environment = Entry(_TABLE, line, dict(same))
            self.entries.append(self._environment)
        entry = self._group
        if self._environment and (
            column in {None, "environment"} or plain_label(pair.label) in _OF_ENVIRONMENT
        ):
            entry = self._environment
        if column is None:
            entry.keep(*pair)
        elif column in entry.values:
            problem = f"a second {pair.label} of the same group: a line that begins one may be missing"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line, 1, table=_TABLE)
            entry.keep(*pair)
        elif column == "ttls_group_id" and not is_connection_id(pair.value):
            entry.refuse(self.out, pair, line, "is not eight digits")
        else:
            entry.take(self.out, column, pair, line)
        return True


def _place(found: re.Match[str]) -> int | None:
    """The column of the id, counted from the beginning of the name; None where blanks were squeezed out."""
    indent = len(found.string) - len(found.string.lstrip())
    return found.end("gap") - indent if len(found["gap"]) > 1 else None
