"""Connection ids, sockets as printed and states, which several NETSTAT reports print in the same way."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.report_rows import quoted
from zscope.parsers.text.spelling import edit_distance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zscope.parsers.text.report_rows import ReportRows

_ID = re.compile(r"[0-9A-Fa-f]{8}", re.ASCII)
_STATE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,11}", re.ASCII)
_STATE_NAMES = (
    ("ESTA?B", "ESTABLISHED"),
    ("LISTE", "LISTEN"),
    (r"TIME_?W", "TIME_WAIT"),
    (r"CLOSE?_?W", "CLOSE_WAIT"),
    (r"FIN_?WA?I?T_?1", "FIN_WAIT_1"),
    (r"FIN_?WA?I?T_?2", "FIN_WAIT_2"),
    (r"LAST_?A", "LAST_ACK"),
    ("CLOSIN", "CLOSING"),
    ("CLOSED", "CLOSED"),
    (r"SYN_?SE", "SYN_SENT"),
    (r"SYN_?R", "SYN_RECEIVED"),
    (r"UDP$", "UDP"),
)
"""Beginnings of the states as TSO and the console print them, and as cut rows contain them."""
_PRINTED = (
    *("ESTABLSH", "ESTBLSH", "LISTEN", "TIMEWAIT", "TIMEWT", "CLOSWAIT", "CLOSWT", "FINWAIT1", "FINWT1"),
    *("FINWAIT2", "FINWT2", "LASTACK", "CLOSING", "CLOSED", "SYNSENT", "SYNRCVD", "UDP"),
)
"""States as TSO and the console print them."""
_BEGINNINGS = [(re.compile(text), name) for text, name in _STATE_NAMES]


def is_connection_id(text: str) -> bool:
    """Return whether a text has the eight digits of a connection id; with fewer it was cut."""
    return _ID.fullmatch(text) is not None


def is_state(text: str) -> bool:
    """Return whether a text can be the name of a state, known or unknown."""
    return _STATE.fullmatch(text) is not None


@lru_cache(maxsize=256)
def state_name(printed: str) -> str | None:
    """Return the full name of a state, or None if the state is unknown.

    >>> state_name("Establ"), state_name("ESTBLSH"), state_name("Close"), state_name("FinWt2")
    ('ESTABLISHED', 'ESTABLISHED', None, 'FIN_WAIT_2')
    """
    plain = printed.upper().replace("-", "_")
    return next((name for begins, name in _BEGINNINGS if begins.match(plain)), None)


@lru_cache(maxsize=256)
def damaged_state(printed: str) -> str | None:
    """Return the known state from which a printed one without a full name differs in one character.

    >>> damaged_state("Esxablsh"), damaged_state("Establ"), damaged_state("Unheard")
    ('ESTABLSH', None, None)
    """
    plain = printed.upper().replace("-", "").replace("_", "")
    if state_name(printed) or any(state.startswith(plain) for state in _PRINTED):
        return None
    return next((state for state in _PRINTED if edit_distance(plain, state) == 1), None)


def report_damaged_state(out: ReportRows, table: str, state: str, line: int) -> None:
    """Report a state without a full name that is nearly a known one."""
    if near := damaged_state(state):
        problem = f"{quoted(state)} is no state that is known, and nearly the same as {near}; "
        out.issue(Code.BAD_VALUE, problem + "its full name is null", line, field="State", table=table)


def printed_socket(row: Mapping[str, Any], side: str, *, mapped: bool = False) -> str:
    """Return the socket of a side, `local` or `remote`, as printed; `mapped` prints IPv4 as mapped IPv6.

    >>> printed_socket({"local_ip": "::", "local_port": 21}, "local")
    '::..21'
    """
    address, port = row.get(f"{side}_ip"), row.get(f"{side}_port")
    if address is not None and mapped and ":" not in address:
        address = "::" if address == "0.0.0.0" else f"::ffff:{address}"
    return f"{'*' if address is None else address}..{'*' if port is None else port}"
