"""The tables that tell of single connections: when a row was, and how it is known to be of a connection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from zscope.schemas.ddl import literal


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the connection that rows are looked for."""

    system: str
    stack: str | None
    number: int
    start_utc: datetime | None
    end_utc: datetime | None = None
    """None while it is open, or where its end is not in the data."""
    local_ip: str | None = None
    local_port: int | None = None
    remote_ip: str | None = None
    remote_port: int | None = None
    job_name: str | None = None
    user_id: str | None = None


Matches = Callable[[Known], dict[str, str]]
"""Conditions by the words that say what was matched; the surest first."""


@dataclass(frozen=True, slots=True)
class Told:
    """A table and how to read it."""

    table: str
    source: str
    """As people call it."""
    rank: int
    """Which comes first of what happened at the same moment."""
    moment_utc: str
    moment_local: str = "written_local"
    is_report: bool = False
    matches: Matches = lambda _of: {}


def _at(of: Known) -> str:
    stack = f"coalesce(stack, {literal(of.stack)}) = {literal(of.stack)}" if of.stack else "true"
    return f"system = {literal(of.system)} AND {stack}"


def _ends(of: Known, prefix: str = "") -> str:
    """Both ends of a connection, as far as they are known; what is not known matches nothing."""
    if of.remote_ip is None or of.remote_port is None or of.local_port is None:
        return "false"
    return (
        f"{prefix}remote_ip = {literal(of.remote_ip)} AND {prefix}remote_port = {of.remote_port} "
        f"AND {prefix}local_port = {of.local_port}"
    )


def _display(of: Known) -> dict[str, str]:
    return {"number and ports": f"{_at(of)} AND connection_id = {of.number} AND {_ends(of)}"}


def _transfer(of: Known) -> dict[str, str]:
    return {
        "number, control connection": f"{_at(of)} AND control_connection_id = {of.number}",
        "number, data connection": f"{_at(of)} AND data_connection_id = {of.number}",
        "addresses and ports, control connection": f"{_at(of)} AND {_ends(of, 'control_')}",
        "addresses and ports, data connection": f"{_at(of)} AND {_ends(of, 'data_')}",
    }


def _login(of: Known) -> dict[str, str]:
    return {
        "number, control connection": f"{_at(of)} AND control_connection_id = {of.number}",
        "addresses and ports": f"{_at(of)} AND {_ends(of)}",
    }


def _session(of: Known) -> dict[str, str]:
    return {"addresses and ports": f"{_at(of)} AND {_ends(of)}"}


_EVENT = "CASE event_type WHEN 1 THEN start_utc WHEN 3 THEN {end} WHEN 4 THEN {end} ELSE written_utc END"
_ZERT = f"coalesce({_EVENT.format(end='end_utc')}, written_utc)"
_NAMES = f"coalesce({_EVENT.format(end='written_utc')}, written_utc)"
"""Rows of names do not have the end."""

OWN = (
    Told("smf119_zert_detail", "SMF 119-11, zERT", 2, _ZERT),
    Told("smf119_tcp_term", "SMF 119-2, end of connection", 9, "coalesce(end_utc, written_utc)"),
    Told("smf119_tcp_init", "SMF 119-1, start of connection", 1, "coalesce(start_utc, written_utc)"),
    Told("smf119_zert_dn", "SMF 119-11, certificate names", 5, _NAMES),
    Told("smf119_zert_ssh", "SMF 119-11, SSH", 3, _ZERT),
    Told("smf119_zert_ipsec", "SMF 119-11, IPsec", 4, _ZERT),
)
ELSEWHERE = (
    Told("netstat_conn", "NETSTAT CONN", 6, "taken_utc", "taken_local", True, _display),
    Told("netstat_ttls", "NETSTAT TTLS", 6, "taken_utc", "taken_local", True, _display),
    Told("netstat_all", "NETSTAT ALL", 6, "taken_utc", "taken_local", True, _display),
    Told("smf119_ftp_client", "SMF 119-3, FTP client", 7, "written_utc", matches=_transfer),
    Told("smf119_ftp_server", "SMF 119-70, FTP server", 7, "written_utc", matches=_transfer),
    Told("smf119_ftp_failure", "SMF 119-72, FTP login", 7, "written_utc", matches=_login),
    Told("smf119_tn3270_init", "SMF 119-20, TN3270", 7, "written_utc", matches=_session),
    Told("smf119_tn3270_term", "SMF 119-21, TN3270", 8, "written_utc", matches=_session),
)
