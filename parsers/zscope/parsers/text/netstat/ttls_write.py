"""Writes NETSTAT TTLS CONN, plain or with DETAIL, from rows of its table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from zscope.parsers.text.codecs import CODECS
from zscope.parsers.text.netstat.heading_write import Command, reply_lines
from zscope.parsers.text.netstat.ttls_row import ACTIONS, LISTS, TABLE
from zscope.schemas.printed import report_table

Row = Mapping[str, Any]

_FIELDS = {printed.column: printed for printed in report_table(TABLE).columns}
_AFTER_CIPHER = ("cert_user", "map_type", "fips_140")
_POLICY = tuple(_FIELDS)[tuple(_FIELDS).index("ttls_handshake_role") :]
"""Columns that only DETAIL shows."""
_ACTION_COLUMNS = {
    label: next(column for column, printed in _FIELDS.items() if printed.label == label)
    for label in ACTIONS.values()
}
_WIDTH = 14
_POLICY_WIDTH = 22
_SESSION_LINE = 4
"""So many groups of eight digits stand in one line."""


def ttls_lines(rows: Iterable[Row], command: Command | None = None, *, detail: bool = False) -> list[str]:
    """The report of one connection or, as in a capture of several commands, of more."""
    blocks = [list(_connection(row, detail=detail)) for row in rows]
    body = [line for block in blocks for line in block]
    return reply_lines(command or Command(), body, len(blocks))


def ttls_block(row: Row, *, detail: bool = False) -> list[str]:
    """A connection alone, without heading and ending, as people cut it out."""
    return list(_connection(row, detail=detail))


def _connection(row: Row, *, detail: bool) -> Iterator[str]:
    more: dict[str, dict[str, str]] = {}
    for label, value in json.loads(row.get("extra") or "{}").items():
        action, dot, rest = label.partition(".")
        known = bool(dot) and action in _ACTION_COLUMNS
        more.setdefault(action if known else "", {})[rest if known else label] = value
    yield f"ConnID: {row['connection_id']:08X}"
    for label, value in _plain(row):
        yield f"  {label + ':':<{_WIDTH - 1}} {value}".rstrip()
    yield from _session(row)
    yield from _labels(more.get("", {}))
    policy = [line for column in _POLICY for line in _parameter(column, row.get(column))] if detail else []
    if row.get("ttls_environment_action") is None:
        yield from policy
    for action, column in _ACTION_COLUMNS.items():
        if (name := row.get(column)) is not None:
            yield f"{'' if column == 'ttls_rule' else '  '}{action}: {name}"
            yield from policy if column == "ttls_environment_action" else ()
            yield from _labels(more.get(action, {}))


def _plain(row: Row) -> Iterator[tuple[str, str]]:
    yield from _present("JobName", row.get("job_name"))
    for label, side in (("LocalSocket", "local"), ("RemoteSocket", "remote")):
        if row.get(f"{side}_ip") is not None:
            yield label, f"{row[f'{side}_ip']}..{row[f'{side}_port']}"
    level = row.get("security_level")
    if level is None and row.get("tls_version") is not None:
        level = CODECS[_FIELDS["tls_version"].format].encode(row["tls_version"])
    yield from _present("SecLevel", level)
    code = row.get("cipher") or row.get("cipher_2")
    yield from _present("Cipher", _coded(code, row.get("cipher_name")))
    yield from _present("KeyShare", _coded(row.get("key_share"), row.get("key_share_name")))
    for column in _AFTER_CIPHER:
        yield _FIELDS[column].label, row.get(column) or "N/A"
    if row.get("session_reuse_requested") is not None:
        yield "SIDReuseReq", "Yes" if row["session_reuse_requested"] else "No"


def _session(row: Row) -> Iterator[str]:
    if (digits := row.get("session_id")) is None:
        return
    digits = digits.upper()
    groups = [digits[at : at + 8] for at in range(0, len(digits), 8)]
    for at in range(0, len(groups), _SESSION_LINE):
        label = "SessionID:" if at == 0 else ""
        yield f"  {label:<{_WIDTH}}{' '.join(groups[at : at + _SESSION_LINE])}"


def _parameter(column: str, value: object) -> Iterator[str]:
    """A label with its value; the members of a list stand below each other."""
    if value is None:
        return
    if isinstance(value, bool):
        value = "On" if value else "Off"
    members = str(value).split(", ") if column in LISTS else [str(value)]
    for at, member in enumerate(members):
        label = "" if at else _FIELDS[column].label + ":"
        yield f"    {label:<{_POLICY_WIDTH - 1}} {member}"


def _labels(labels: Mapping[str, str]) -> Iterator[str]:
    for label, value in labels.items():
        yield f"    {label + ':':<{_POLICY_WIDTH - 1}} {value}".rstrip()


def _present(label: str, value: str | None) -> Iterator[tuple[str, str]]:
    if value is not None:
        yield label, value


def _coded(code: str | None, name: str | None) -> str | None:
    return None if code is None else f"{code} {name or ''}".rstrip()
