"""Writes NETSTAT TTLS GROUP, the table or the labels of DETAIL, from rows of its table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from zscope.parsers.text.netstat.heading_write import Command, reply_lines

Row = Mapping[str, Any]

_ROW = "{:<42}{:<8}{:>16}"
_GROUP_LABELS = {
    "tasks": "Tasks",
    "connections": "GroupConns",
    "queued_work_elements": "WorkQElements",
    "queued_syslog_elements": "SyslogQElements",
}


def ttls_group_lines(
    rows: Sequence[Row], command: Command | None = None, *, detail: bool = False
) -> list[str]:
    """The report; rows of environments are only in the detailed one, behind the row of their group."""
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
    yield _ROW.format(*titles)
    if dashes:
        yield _ROW.format(*("-" * len(title) for title in titles))
    for row in rows:
        yield _ROW.format(row["ttls_group_action"], f"{row['ttls_group_id']:08X}", row["connections"])


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
