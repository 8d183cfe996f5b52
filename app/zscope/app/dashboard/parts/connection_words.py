"""What a row about a connection says, as a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zscope.app.dashboard.show import clean

if TYPE_CHECKING:
    from zscope.app.dashboard.queries.connection_story import Event

_LONGEST = 240


@dataclass(frozen=True, slots=True)
class _Row:
    """A row with the words for its codes."""

    values: Mapping[str, Any]
    words: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        """A value as people read it: the words of a code, a number with separators, `?` for none."""
        value = self.values.get(column)
        if column in self.words:
            return self.words[column]
        if value in (None, ""):
            return "?"
        return f"{value:,}" if isinstance(value, int) and not column.endswith("port") else str(value)

    def has(self, *columns: str) -> bool:
        """Whether there is anything in all of these columns."""
        return all(self.values.get(column) not in (None, "", 0) for column in columns)

    @property
    def ends(self) -> str:
        """From where to where."""
        local, remote = (f"{self[f'{side}_ip']} port {self[f'{side}_port']}" for side in ("local", "remote"))
        return f"local {local}, remote {remote}"

    @property
    def moved(self) -> str:
        """How much came and went."""
        return f"{self['in_bytes']} bytes received, {self['out_bytes']} sent"


def says(event: Event, words: Mapping[str, str]) -> str:
    """An event as a sentence."""
    return clean(_TELL[event.told.table](_Row(event.row, words)), _LONGEST)


def _opened(row: _Row) -> str:
    return f"Connection set up by {row['job_name']}: {row.ends}"


def _ended(row: _Row) -> str:
    said = f"Connection ended: {row.moved}; AT-TLS: {row['ttls_status']} ({row['ttls_policy_status']})"
    if row.has("tls_version"):
        cipher = row["cipher_4"] if row.has("cipher_4") else row["cipher_2"]
        said += f", {row['tls_version']}, suite {cipher}"
    return f"{said}; {row['retransmit_count']} segments sent again"


def _zert(row: _Row) -> str:
    said = f"zERT: {row['event_type']}; protected by {row['security_protocols_flags']}"
    if row.has("handshake_type") or row.has("tls_version"):
        said += f"; {row['tls_version']}, {row['cipher']}"
        said += f", {row['handshake_type']} handshake as {row['handshake_role']}"
    return f"{said}; so far {row.moved}"


def _name(row: _Row) -> str:
    return f"{row['dn_type']}: {row['distinguished_name']}"


def _ssh(row: _Row) -> str:
    return (
        f"{row['ssh_version']} by {row['ssh_provider']} ({row['ssh_component']}); "
        f"login by {row['auth_method']}; key exchange {row['kex_method']}; "
        f"server key {row['server_key_type']}, {row['server_key_length_bits']} bits"
    )


def _ipsec(row: _Row) -> str:
    return (
        f"IPsec tunnel {row['tunnel_local_ip']} to {row['tunnel_remote_ip']}, IKE "
        f"{row['ike_major_version']}.{row['ike_minor_version']}, rule {row['key_exchange_rule']}, "
        f"{row['encapsulation_mode']}, {row['auth_protocol']}"
    )


def _shown(row: _Row) -> str:
    return f"Display shows it in state {row['state_name']}, job {row['job_name']}: {row.ends}"


def _ttls(row: _Row) -> str:
    return f"Display shows AT-TLS: {row['security_level']}, {row['cipher_name']}, rule {row['ttls_rule']}"


def _counters(row: _Row) -> str:
    return (
        f"Display shows it in state {row['state_name']}: so far {row.moved}, {row['retransmits']} segments "
        "sent again"
    )


def _transfer(row: _Row) -> str:
    return (
        f"FTP {row['ftp_command']} of {row['file_name']}: {row['transfer_bytes']} bytes in "
        f"{row['duration_ms']} ms; protection {row['protection_mechanism']}, data "
        f"{row['data_protection_level']}; user {row['user_id']}"
    )


def _turned_away(row: _Row) -> str:
    return f"FTP login of {row['attempted_user_id']} turned away: {row['login_failure_reason']}"


def _session(row: _Row) -> str:
    return f"TN3270 session began: {row['lu_name']} with {row['host_application']}"


def _session_over(row: _Row) -> str:
    return (
        f"TN3270 session ended ({row['termination_reason']}): {row['lu_name']} with "
        f"{row['host_application']}, TLS: {row['ssl_status']}; {row.moved}"
    )


_TELL: Mapping[str, Callable[[_Row], str]] = {
    "smf119_tcp_init": _opened,
    "smf119_tcp_term": _ended,
    "smf119_zert_detail": _zert,
    "smf119_zert_dn": _name,
    "smf119_zert_ssh": _ssh,
    "smf119_zert_ipsec": _ipsec,
    "netstat_conn": _shown,
    "netstat_ttls": _ttls,
    "netstat_all": _counters,
    "smf119_ftp_client": _transfer,
    "smf119_ftp_server": _transfer,
    "smf119_ftp_failure": _turned_away,
    "smf119_tn3270_init": _session,
    "smf119_tn3270_term": _session_over,
}
