"""NETSTAT TTLS CONN: what AT-TLS does for a connection, with DETAIL also the parameters of its policy.

Here the lines of a connection are put together, label by label: each with the action of the policy that it
stands under, and with the further lines that have no label of their own. Indentation counts for nothing: it
differs between published displays, and some have lost it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.netstat.labels import pairs_of
from zscope.parsers.text.netstat.ttls_row import ACTIONS, TABLE, Connection, Parameter, write_row
from zscope.schemas.printed import plain_label

if TYPE_CHECKING:
    from zscope.parsers.text.netstat.body import Body
    from zscope.parsers.text.netstat.labels import Pair
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line

BEGINS = re.compile(r" *ConnID:(?![^ ])", re.ASCII | re.IGNORECASE)

_ONCE = frozenset({"LOCALSOCKET", "REMOTESOCKET", "SECLEVEL", "CIPHER"})
"""A connection has these only once: a second one belongs to another connection."""


def read(body: Body, out: Out) -> int:
    """Make a row of each connection; how many there are."""
    reader = _Reader(out)
    for line in body.lines:
        reader.take(line)
    reader.close()
    return reader.rows


@dataclass(slots=True)
class _Reader:
    out: Out
    rows: int = 0
    _connection: Connection | None = None
    _action: str = ""
    _open: Parameter | None = None
    """The last label; None if what followed it was not understood."""
    _once: set[str] = field(default_factory=set)

    def take(self, line: Line) -> None:
        """Read one line."""
        for pair in pairs_of(line.text):
            if pair.label:
                self._labelled(pair, line)
            elif self._open is None or not self._open.goes_on(pair.value):
                self._open = None
                self.out.unknown(line.no, line.text)

    def close(self) -> None:
        """The connection has no more lines."""
        if self._connection is not None:
            write_row(self._connection, self.out)
            self.rows += 1
        self._connection = None

    def _labelled(self, pair: Pair, line: Line) -> None:
        key = plain_label(pair.label)
        if key == "CONNID":
            self._begin(line.no, pair.value)
            return
        if self._connection is None:
            self.out.unknown(line.no, line.text)
            return
        if key in self._once:
            problem = f"a second {pair.label} without ConnID before it: its connection is not known"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, 1, table=TABLE)
            self._begin(line.no, None)
        if key in _ONCE:
            self._once.add(key)
        if key in ACTIONS:
            self._action = ACTIONS[key]
        action = "" if key in ACTIONS else self._action
        self._open = Parameter(pair.label, key, action, line.no, [pair.value])
        self._connection.parameters.append(self._open)

    def _begin(self, line: int, number: str | None) -> None:
        self.close()
        self._connection, self._open = Connection(line, number), None
        self._action, self._once = "", set()
