"""All that the store knows of one connection, from every source, in the order of time.

Records of type 119 that have the number and the start of a connection are its own. What has less (displays,
records of FTP and TN3270) is matched by number, addresses and ports, and by its time lying between start and
end. Moments in UTC and times of a local clock whose zone is not known are two orders, never one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from zscope.app.dashboard.queries.connection_key import ConnectionKey, moment
from zscope.app.dashboard.queries.connection_tables import ELSEWHERE, OWN, Known, Told
from zscope.schemas.ddl import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

MOST = 200
"""Rows of one table; what has more is cut, and that is said."""
_BEFORE, _AFTER = timedelta(seconds=1), timedelta(seconds=30)
"""A record about a session can be written when its connection is gone."""
_A_DAY = timedelta(days=1)
_NAMES = "smf119_zert_dn"


@dataclass(frozen=True, slots=True)
class Event:
    """What one row of one table tells."""

    told: Told
    row: Mapping[str, Any]
    moment_utc: datetime | None
    """None where the zone of the clock is not known."""
    moment_local: datetime | None
    matched_by: str

    @property
    def place(self) -> str:
        """Where the row stands in its file."""
        row = self.row
        return f"record {row['record_no']}" if "record_no" in row else f"line {row['line_no']}"


@dataclass(frozen=True, slots=True)
class Story:
    """A connection and everything that tells of it."""

    key: ConnectionKey
    of: Known
    in_utc: tuple[Event, ...]
    in_local: tuple[Event, ...]
    """What is told by local clocks only."""
    cut: tuple[str, ...]
    """Tables of which there is more."""

    @property
    def events(self) -> tuple[Event, ...]:
        """All of them."""
        return (*self.in_utc, *self.in_local)


def story(data: Data, key: ConnectionKey) -> Story:
    """Everything about a connection."""
    first = key.start_utc
    found = [
        event
        for told in OWN
        for event in _rows(data, told, [*key.conditions(), *_from(first)], "number and start")
    ]
    of = _known(key, found)
    found = _named(found)
    for told in ELSEWHERE:
        for words, condition in told.matches(of).items():
            found += _rows(data, told, [condition, *_between(told, of)], words, found)
    ordered = sorted(found, key=lambda event: (event.told.rank, event.place))
    return Story(
        key=key,
        of=of,
        in_utc=tuple(sorted((event for event in ordered if event.moment_utc), key=_by_utc)),
        in_local=tuple(sorted((event for event in ordered if not event.moment_utc), key=_by_local)),
        cut=tuple(told.table for told in (*OWN, *ELSEWHERE) if sum(e.told is told for e in found) >= MOST),
    )


def _rows(
    data: Data, told: Told, conditions: list[str], words: str, known: list[Event] | None = None
) -> list[Event]:
    seen = {_identity(event) for event in known or []}
    file = (
        ""
        if told.is_report
        else ", (SELECT any_value(l.file) FROM load AS l WHERE l.load_id = t.load_id) AS file"
    )
    rows = data.rows(f"""
        SELECT t.* EXCLUDE (day), {told.moment_utc} AS moment_utc, {told.moment_local} AS moment_local{file}
        FROM {told.table} AS t WHERE {" AND ".join(conditions)} LIMIT {MOST}
    """).to_pylist()
    events = [
        Event(told, row, at, row.pop("moment_local"), words if at or told in OWN else f"{words}, day only")
        for row in rows
        for at in [row.pop("moment_utc")]
    ]
    return [event for event in events if _identity(event) not in seen]


def _named(found: list[Event]) -> list[Event]:
    """Names get the moment of the record that they lie in: their rows know less of it."""
    of_record = {_identity(event)[1:]: event for event in found if event.told is OWN[0]}
    return [
        replace(event, moment_utc=record.moment_utc, moment_local=record.moment_local)
        if event.told.table == _NAMES and (record := of_record.get(_identity(event)[1:]))
        else event
        for event in found
    ]


def _identity(event: Event) -> tuple[str, int, str]:
    return event.told.table, event.row["load_id"], event.place


def _from(start: datetime | None) -> list[str]:
    """No record is written before its connection begins; files are by the local day."""
    return [f"day >= DATE {literal((start - _A_DAY).date().isoformat())}"] if start else []


def _known(key: ConnectionKey, found: list[Event]) -> Known:
    """What records say of the connection, the first that has it."""
    of = Known(system=key.system, stack=key.stack, number=key.number, start_utc=key.start_utc)
    for event in found:
        if of.end_utc is None and event.row.get("end_utc"):
            # From one clock, so that it does not end before it begins.
            of = replace(of, start_utc=event.row["start_utc"], end_utc=event.row["end_utc"])
        for name in ("local_ip", "local_port", "remote_ip", "remote_port", "job_name", "user_id"):
            if getattr(of, name) in (None, "") and event.row.get(name) not in (None, ""):
                of = replace(of, **{name: event.row[name]})
    return of


def _between(told: Told, of: Known) -> list[str]:
    """Rows of the time of the connection; by the day where the moment is not known."""
    if of.start_utc is None:
        return []
    first, last = of.start_utc - _BEFORE, of.end_utc + _AFTER if of.end_utc else None
    exact = f"{told.moment_utc} >= {moment(first)}" + (
        f" AND {told.moment_utc} <= {moment(last)}" if last else ""
    )
    days = _from(first)
    if last:
        days.append(f"day <= DATE {literal((last + _A_DAY).date().isoformat())}")
    return [*days, f"({told.moment_utc} IS NULL OR ({exact}))"]


def _by_utc(event: Event) -> datetime:
    assert event.moment_utc is not None
    return event.moment_utc


def _by_local(event: Event) -> tuple[bool, datetime | None]:
    return event.moment_local is None, event.moment_local
