"""Write AT-TLS messages from rows of `tls_message`, as syslogd, consoles and job logs contain them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

Row = Mapping[str, Any]

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def message_lines(row: Row) -> list[str]:
    """Return the lines of a message without a prefix: one line, or five for EZD1287I."""
    identifier = row["message_id"]
    written = _FORMS.get(identifier)
    first, *others = written(row) if written else [str(row["message_text"])]
    return [f"{identifier} {first}", *others]


def _map(row: Row) -> list[str]:
    begin = f"TTLS Map CONNID: {_hex(row, 'connection_id')} {_sockets(row)} {_owner(row)}"
    end = f"TYPE: {row['map_type']} STATUS: {row['map_status']} RULE: {row['ttls_rule']}"
    return [f"{begin} {end} ACTIONS: {row['actions']}"]


def _start(row: Row) -> list[str]:
    return [f"TTLS Start {_ids(row)} {row['event']} ACTIONS: {row['actions']}"]


def _event_message(row: Row) -> list[str]:
    return [f"TTLS Event {_ids(row)} {_code(row)} {_event(row)}"]


def _flow(row: Row) -> list[str]:
    data = f" - {row.get('message_data') or ''}".rstrip()
    return [f"TTLS Flow  {_ids(row)}  {_code(row)} {row['event']} {row['flow_function']}{data}"]


def _data(row: Row) -> list[str]:
    return [f"TTLS Data CONNID: {_hex(row, 'connection_id')} {row['flow_function']} {row['message_data']}"]


def _error(row: Row) -> list[str]:
    rule = f"RULE: {row['ttls_rule']} {_code(row)} {_event(row)}"
    return [f"TTLS Error {_ids(row)} {_sockets(row)} {_owner(row)} {rule}"]


def _console_error(row: Row) -> list[str]:
    return [
        f"TTLS Error {_code(row)} {_event(row)}",
        f"  LOCAL: {row['local_ip']}..{row['local_port']}",
        f"  REMOTE: {row['remote_ip']}..{row['remote_port']}",
        f"  JOBNAME: {row['job_name']} RULE: {row['ttls_rule']}",
        f"  USERID: {row['user_id']} {_ids(row)}",
    ]


def _certificate(row: Row) -> list[str]:
    pairs = [f"{label}= {value}" for label, value in json.loads(row.get("extra") or "{}").items()]
    if row.get("return_code") is not None:
        pairs.insert(0, f"SSLRetCode= {row['return_code']}")
    return [f"{_ids(row)} {' '.join(pairs)}"]


def _hex(row: Row, column: str) -> str:
    return f"{row.get(column) or 0:08X}"


def _ids(row: Row) -> str:
    numbers = {"GRPID": "group_id", "ENVID": "environment_id", "CONNID": "connection_id"}
    return " ".join(f"{label}: {_hex(row, column)}" for label, column in numbers.items())


def _sockets(row: Row) -> str:
    sides = (("LOCAL", "local"), ("REMOTE", "remote"))
    return " ".join(f"{label}: {row[f'{side}_ip']}..{row[f'{side}_port']}" for label, side in sides)


def _owner(row: Row) -> str:
    return f"JOBNAME: {row['job_name']} USERID: {row['user_id']}"


def _code(row: Row) -> str:
    return f"RC: {row['return_code']:>4}"


def _event(row: Row) -> str:
    return " ".join(str(part) for part in (row["event"], row.get("message_data")) if part)


_FORMS: dict[str, Callable[[Row], list[str]]] = {
    "EZD1281I": _map,
    "EZD1282I": _start,
    "EZD1283I": _event_message,
    "EZD1284I": _flow,
    "EZD1285I": _data,
    "EZD1286I": _error,
    "EZD1287I": _console_error,
    "EZD2052I": _certificate,
    "EZD2053I": _certificate,
    "EZD2054I": _certificate,
}


def daemon_lines(
    row: Row, when: datetime, *, system: str = "SYSA", stack: str = "TCPIP", padded: bool = True
) -> list[str]:
    """Return the lines of a message in a file of syslogd, which prints no year.

    `padded` is false for the form without padding of day and hour.
    """
    day = f"{when.day:2}" if padded else str(when.day)
    clock = f"{when:%H:%M:%S}" if padded else f"{when.hour}:{when:%M:%S}"
    prefix = f"{_MONTHS[when.month - 1]} {day} {clock} {system} TTLS[67108874]: {when:%H:%M:%S} {stack} "
    return [prefix + line for line in message_lines(row)]


def job_log_lines(row: Row, when: datetime, *, job: str = "STC00123", connector: int = 731) -> list[str]:
    """Return the lines of a message in the job log of the TCP/IP stack."""
    first, *others = message_lines(row)
    if others:
        first = f"{first} {connector}"
    return [f"{when:%H.%M.%S} {job}  {first}", *(f"   {connector}             {line}" for line in others)]
