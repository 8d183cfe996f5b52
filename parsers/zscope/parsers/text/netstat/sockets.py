"""What CONN and ALL print alike: connection ids, sockets and states."""

from __future__ import annotations

import re
from functools import lru_cache

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
"""How the states begin, as TSO, console and a row that was cut short print them."""
_BEGINNINGS = [(re.compile(text), name) for text, name in _STATE_NAMES]


def is_connection_id(text: str) -> bool:
    """Whether it has the eight digits of a connection id; fewer are what is left of one."""
    return _ID.fullmatch(text) is not None


def is_state(text: str) -> bool:
    """Whether it can be the word for a state, known or not."""
    return _STATE.fullmatch(text) is not None


def split_socket(text: str) -> tuple[str, str] | None:
    """Address and port of a socket; None if it is none.

    >>> split_socket("::..21"), split_socket("*..*"), split_socket("10.1.2.3")
    (('::', '21'), ('*', '*'), None)
    """
    address, dots, port = text.rpartition("..")
    return (address, port) if dots and address and port else None


@lru_cache(maxsize=256)
def state_name(printed: str) -> str | None:
    """The full name of a state; None for a word that is not known as one.

    >>> state_name("Establ"), state_name("ESTBLSH"), state_name("Close"), state_name("FinWt2")
    ('ESTABLISHED', 'ESTABLISHED', None, 'FIN_WAIT_2')
    """
    plain = printed.upper().replace("-", "_")
    return next((name for begins, name in _BEGINNINGS if begins.match(plain)), None)
