"""The events of one connection: all rows about it from every source, in time order.

Records of SMF type 119 with the number and the start of a connection belong to it. Other rows (displays,
records of FTP and TN3270) are matched by number, addresses and ports, and by a time between start and end.
Moments in UTC and local times of an unknown zone are two separate sequences.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from zscope.app.dashboard.drawing import clean
from zscope.app.dashboard.pages.connections.connection_key import ConnectionKey, moment
from zscope.app.dashboard.table_roles import connection_tables
from zscope.pipelines.store.parquet_files import parquet_schema
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.table_roles import ConnectionTable
    from zscope.schemas.model import ConnectionMatch

MOST = 200
"""Limit of the rows of one table."""
_BEFORE, _AFTER = timedelta(seconds=1), timedelta(seconds=30)
"""The record of a session can be written after its connection has ended."""
_A_DAY = timedelta(days=1)
_LONGEST_SENTENCE = 240
_OPTIONAL = re.compile(r"\[([\w|]+)\?([^\]]*)\]")
_COLUMN = re.compile(r"\{([\w|]+)\}")


@dataclass(frozen=True, slots=True)
class ConnectionFacts:
    """What is known of a connection before its other rows are searched."""

    system: str
    stack: str | None
    number: int
    start_utc: datetime | None
    end_utc: datetime | None = None
    """None while it is open, or if its end is not in the data."""
    local_ip: str | None = None
    local_port: int | None = None
    remote_ip: str | None = None
    remote_port: int | None = None
    job_name: str | None = None
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class ConnectionEvent:
    """A row about a connection."""

    source: ConnectionTable
    row: Mapping[str, Any]
    moment_utc: datetime | None
    """None if the time zone of the clock is not known."""
    moment_local: datetime | None
    matched_by: str

    @property
    def place(self) -> str:
        """The position of the row in its file."""
        row = self.row
        return f"record {row['record_no']}" if "record_no" in row else f"line {row['line_no']}"


@dataclass(frozen=True, slots=True)
class ConnectionHistory:
    """A connection with all rows about it."""

    key: ConnectionKey
    facts: ConnectionFacts
    in_utc: tuple[ConnectionEvent, ...]
    in_local: tuple[ConnectionEvent, ...]
    """Events with a local time only."""
    cut: tuple[str, ...]
    """Tables with more rows than the limit."""

    @property
    def events(self) -> tuple[ConnectionEvent, ...]:
        """All events, those with a moment in UTC first."""
        return (*self.in_utc, *self.in_local)


def connection_history(data: PageData, key: ConnectionKey) -> ConnectionHistory:
    """Return all rows about a connection."""
    events = [
        event
        for source in connection_tables()
        if not source.matches
        for event in _rows(data, source, [*key.conditions(), *_not_before(key.start_utc)], "number and start")
    ]
    facts = _facts(key, events)
    events = _with_times_of_records(events)
    for source in connection_tables():
        for match in source.matches:
            conditions = [match_condition(match, facts), *_while_open(source, facts)]
            events += _rows(data, source, conditions, match.label, events)
    ordered = sorted(events, key=lambda event: (event.source.rows.order, event.place))
    return ConnectionHistory(
        key=key,
        facts=facts,
        in_utc=tuple(sorted((event for event in ordered if event.moment_utc), key=_by_utc)),
        in_local=tuple(sorted((event for event in ordered if not event.moment_utc), key=_by_local)),
        cut=tuple(
            source.table
            for source in connection_tables()
            if sum(event.source is source for event in events) >= MOST
        ),
    )


def match_condition(match: ConnectionMatch, facts: ConnectionFacts) -> str:
    """Return the condition in SQL for the rows that match a connection in one way."""
    stack = facts.stack and literal(facts.stack)
    conditions = [
        f"system = {literal(facts.system)}",
        f"coalesce(stack, {stack}) = {stack}" if stack else "true",
    ]
    if match.number:
        conditions.append(f"{match.number} = {facts.number}")
    if match.addresses is not None:
        conditions.append(_same_ends(facts, match.addresses))
    return " AND ".join(conditions)


def _same_ends(facts: ConnectionFacts, prefix: str) -> str:
    """Both ends of a connection; an unknown end matches no row."""
    if facts.remote_ip is None or facts.remote_port is None or facts.local_port is None:
        return "false"
    return (
        f"{prefix}remote_ip = {literal(facts.remote_ip)} AND {prefix}remote_port = {facts.remote_port} "
        f"AND {prefix}local_port = {facts.local_port}"
    )


def _rows(
    data: PageData,
    source: ConnectionTable,
    conditions: list[str],
    matched_by: str,
    known: list[ConnectionEvent] | None = None,
) -> list[ConnectionEvent]:
    seen = {_identity(event) for event in known or []}
    file = (
        ""
        if source.is_report
        else ", (SELECT any_value(l.file) FROM load AS l WHERE l.load_id = t.load_id) AS file"
    )
    rows = data.rows(f"""
        SELECT t.* EXCLUDE (day), {source.rows.time_utc} AS moment_utc,
            {source.rows.time_local} AS moment_local{file}
        FROM {source.table} AS t WHERE {" AND ".join(conditions)} LIMIT {MOST}
    """).to_pylist()
    events = [
        ConnectionEvent(
            source, row, at, row.pop("moment_local"),
            matched_by if at or not source.matches else f"{matched_by}, day only",
        )
        for row in rows
        for at in [row.pop("moment_utc")]
    ]  # fmt: skip
    return [event for event in events if _identity(event) not in seen]


def _with_times_of_records(events: list[ConnectionEvent]) -> list[ConnectionEvent]:
    """Set the time of the record in rows without a time, such as certificate names."""
    of_record = {_identity(event): event for event in events}

    def timed(event: ConnectionEvent) -> ConnectionEvent:
        record = of_record.get((event.source.rows.time_of_event, *_identity(event)[1:]))
        if record is None:
            return event
        return replace(event, moment_utc=record.moment_utc, moment_local=record.moment_local)

    return [timed(event) for event in events]


def _identity(event: ConnectionEvent) -> tuple[str, int, str]:
    return event.source.table, event.row["load_id"], event.place


def _not_before(start: datetime | None) -> list[str]:
    """No record is written before its connection starts; the files are by local day."""
    return [f"day >= DATE {literal((start - _A_DAY).date().isoformat())}"] if start else []


def _facts(key: ConnectionKey, events: list[ConnectionEvent]) -> ConnectionFacts:
    """The facts of a connection, each from the first row that has it."""
    facts = ConnectionFacts(system=key.system, stack=key.stack, number=key.number, start_utc=key.start_utc)
    for event in events:
        if facts.end_utc is None and event.row.get("end_utc"):
            # Start and end from one clock, so that the end is not before the start.
            facts = replace(facts, start_utc=event.row["start_utc"], end_utc=event.row["end_utc"])
        for name in ("local_ip", "local_port", "remote_ip", "remote_port", "job_name", "user_id"):
            if getattr(facts, name) in (None, "") and event.row.get(name) not in (None, ""):
                facts = replace(facts, **{name: event.row[name]})
    return facts


def _while_open(source: ConnectionTable, facts: ConnectionFacts) -> list[str]:
    """Return the condition for rows between start and end; rows without a time are selected by day."""
    if facts.start_utc is None:
        return []
    first, last = facts.start_utc - _BEFORE, facts.end_utc + _AFTER if facts.end_utc else None
    exact = f"{source.rows.time_utc} >= {moment(first)}" + (
        f" AND {source.rows.time_utc} <= {moment(last)}" if last else ""
    )
    days = _not_before(first)
    if last:
        days.append(f"day <= DATE {literal((last + _A_DAY).date().isoformat())}")
    return [*days, f"({source.rows.time_utc} IS NULL OR ({exact}))"]


def _by_utc(event: ConnectionEvent) -> datetime:
    assert event.moment_utc is not None
    return event.moment_utc


def _by_local(event: ConnectionEvent) -> tuple[bool, datetime | None]:
    return event.moment_local is None, event.moment_local


def code_texts(data: PageData, table: str, row: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of the codes in a row, by column; a code that no list has is `unknown`."""
    texts = {}
    for field in parquet_schema(table):
        codes = (field.metadata or {}).get(b"codes", b"").decode()
        value = row.get(field.name)
        if codes and value not in (None, ""):
            texts[field.name] = _code_text(data, codes, value)
    return texts


def _code_text(data: PageData, codes: str, value: int | str) -> str:
    entries = data.rows(f"SELECT * FROM code_{codes}").to_pylist()
    if entries and "mask" in entries[0]:
        bits = [entry["text"] for entry in entries if int(value) & entry["mask"] == entry["code"]]
        return ", ".join(bits) or "none"
    return next(
        (entry["text"] for entry in entries if str(entry["code"]) == str(value)), f"unknown ({value})"
    )


def sentence(event: ConnectionEvent, texts: Mapping[str, str]) -> str:
    """Return an event as a sentence; `texts` are those of its codes."""
    row = event.row

    def has_value(column: str) -> bool:
        return row.get(column) not in (None, "", 0)

    def value(match: re.Match[str]) -> str:
        columns = match[1].split("|")
        column = next((name for name in columns if has_value(name)), columns[-1])
        if column in texts:
            return texts[column]
        shown = row.get(column)
        if shown in (None, ""):
            return "?"
        return f"{shown:,}" if isinstance(shown, int) and not column.endswith("port") else str(shown)

    template = _OPTIONAL.sub(
        lambda match: match[2] if any(map(has_value, match[1].split("|"))) else "", event.source.rows.sentence
    )
    return clean(_COLUMN.sub(value, template), _LONGEST_SENTENCE)
