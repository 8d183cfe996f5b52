"""The row of a connection in NETSTAT TTLS CONN: what of its labels is a column, and what is not."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zscope.parsers.text.netstat.labels import Entry, Pair
from zscope.parsers.text.netstat.sockets import is_connection_id, split_socket
from zscope.schemas.printed import plain_label, report_table

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out

TABLE = "netstat_ttls"
CLOSEST = "TTLSConnAction"
"""The action whose parameters come before those of the others."""
ACTIONS = {plain_label(name): name for name in ("TTLSRule", "TTLSGrpAction", "TTLSEnvAction", CLOSEST)}
"""What the parameters of the policy stand under, in the order of the report."""
LISTS = frozenset(
    {
        "client_ecurves",
        "client_key_share_groups",
        "server_key_share_groups",
        "server_kex_ecurves",
        "signature_pairs",
        "v3_cipher_suites",
    }
)
_COLUMNS = {label: printed.column for label, printed in report_table(TABLE).by_label().items()}
_OF_CONNECTION = frozenset(
    plain_label(label)
    for label in (
        *("JobName", "LocalSocket", "RemoteSocket", "SecLevel", "Cipher", "KeyShare"),
        *("CertUserID", "MapType", "FIPS140", "SessionID", "SIDReuseReq"),
    )
)
"""These are columns only before the policy begins: a rule can have a JobName of its own."""
_SOCKETS = {"LOCALSOCKET": ("local_ip", "local_port"), "REMOTESOCKET": ("remote_ip", "remote_port")}

_CODE = re.compile(r"(?:[0-9A-Fa-f]{2}){1,2}", re.ASCII)
_HEX_WORDS = re.compile(r"[0-9A-Fa-f]{1,8}(?: [0-9A-Fa-f]{1,8})*", re.ASCII)
_NUMBER = re.compile(r"\d{1,20}", re.ASCII)
_SESSION_ID = re.compile(r"[0-9A-Fa-f]{8}(?: [0-9A-Fa-f]{8}){7}", re.ASCII)
_TLS_1_3 = re.compile(r"\b1\.3$")


@dataclass(slots=True)
class Parameter:
    """A label, and the texts behind it and in the lines below it."""

    label: str
    key: str
    """The label without case and blanks."""
    action: str
    """The part of the policy that it stands under; empty for what is true of the connection itself."""
    line: int
    texts: list[str]

    def goes_on(self, text: str) -> bool:
        """Take a line without a label, if it can belong here."""
        first = next((known for known in self.texts if known), "")
        if self.key == "SESSIONID":
            fits = _HEX_WORDS.fullmatch(text) is not None
        elif not first and _NUMBER.fullmatch(text):
            fits = True  # A tool that breaks lines puts a value that does not fit into the next one.
        else:
            fits = self._is_list(first) and _alike(text, first or "0000")
        if fits:
            self.texts.append(text)
        return fits

    def _is_list(self, first: str) -> bool:
        """Whether further members can follow; a list that is not known begins with a code and a name."""
        column = _COLUMNS.get(self.key)
        if column is not None:
            return column in LISTS
        return not first or (" " in first and members(first) is not None)

    @property
    def pair(self) -> Pair:
        """As it is kept where it has no column."""
        together = " " if self.key == "SESSIONID" else ", "
        label = f"{self.action}.{self.label}" if self.action else self.label
        return Pair(label, together.join(text for text in self.texts if text))


@dataclass(slots=True)
class Connection:
    """A connection as the report has it."""

    line: int
    number: str | None
    """None where the line that begins it is missing."""
    parameters: list[Parameter] = field(default_factory=list)


def members(text: str) -> list[tuple[str, str]] | None:
    """Codes and names of a list, one or more; None if it is no such list.

    >>> members("0023 secp256r1"), members("0029"), members("Any")
    ([('0023', 'secp256r1')], [('0029', '')], None)
    """
    words = text.split()
    names = words[1::2] or [""]
    if len(words[::2]) != len(names) or not all(_CODE.fullmatch(code) for code in words[::2]):
        return None
    return [(code.upper(), name) for code, name in zip(words[::2], names, strict=True)]


def _alike(text: str, first: str) -> bool:
    """Whether it is made of members whose codes are as long as that of the first one."""
    found, known = members(text) or [], members(first) or []
    return len(found) > 0 and {len(code) for code, _ in found} == {len(code) for code, _ in known}


def write_row(connection: Connection, out: Out) -> None:
    """Make the row of a connection."""
    entry = Entry(TABLE, connection.line)
    if connection.number is not None:
        if is_connection_id(connection.number):
            entry.put("connection_id", connection.number, connection.line)
        else:
            entry.refuse(out, Pair("ConnID", connection.number), connection.line, "is not eight digits")
    policy: dict[str, list[Parameter]] = {}
    for parameter in connection.parameters:
        column = _COLUMNS.get(parameter.key)
        if column is None or (parameter.action and parameter.key in _OF_CONNECTION):
            entry.keep(*parameter.pair)
        elif parameter.key in _OF_CONNECTION or parameter.key in ACTIONS:
            _put_once(entry, column, parameter, out)
        else:
            policy.setdefault(column, []).append(parameter)
    for column, parameters in policy.items():
        _put_closest(entry, column, parameters, out)
    _compare_version(entry, out)
    entry.write(out)


def _put_once(entry: Entry, column: str, parameter: Parameter, out: Out) -> None:
    line, pair = parameter.line, parameter.pair
    if column in entry.values:
        if first := entry.values[column]:
            entry.keep(pair.label, first)
            entry.put(column, None, line)
        entry.refuse(out, pair, line, "is a second value")
    elif pair.value.upper() in {"", "N/A"}:
        return
    elif parameter.key in _SOCKETS:
        socket = split_socket(pair.value)
        if socket is None or " " in pair.value:
            entry.refuse(out, pair, line, "is not an address and a port with two dots between them")
        else:
            for name, text in zip(_SOCKETS[parameter.key], socket, strict=True):
                entry.put(name, text, line)
    elif parameter.key == "SECLEVEL":
        entry.take(out, "security_level", pair, line)
        entry.put("tls_version", entry.values.get("security_level"), line)
    elif parameter.key in {"CIPHER", "KEYSHARE"}:
        _put_coded(entry, parameter, out)
    elif parameter.key == "SESSIONID" and not _SESSION_ID.fullmatch(pair.value):
        entry.refuse(out, pair, line, "is not eight groups of eight hexadecimal digits")
    else:
        entry.take(out, column, pair, line)


def _put_coded(entry: Entry, parameter: Parameter, out: Out) -> None:
    """A code, and mostly a name."""
    found = members(parameter.pair.value)
    share = parameter.key == "KEYSHARE"
    if found is None or len(found) > 1 or (share and len(found[0][0]) != 4):
        entry.refuse(out, parameter.pair, parameter.line, "is not a code with a name")
        return
    ((code, name),) = found
    column = "key_share" if share else "cipher" if len(code) == 4 else "cipher_2"
    entry.put(column, code, parameter.line)
    entry.put("key_share_name" if share else "cipher_name", name, parameter.line)


def _put_closest(entry: Entry, column: str, parameters: list[Parameter], out: Out) -> None:
    """Set a column from the action that counts; what others have is kept beside it."""
    actions = [parameter.action for parameter in parameters]
    closest = CLOSEST if CLOSEST in actions else actions[0]
    twice = actions.count(closest) > 1
    for parameter in parameters:
        if parameter.action != closest:
            entry.keep(*parameter.pair)
        elif twice:
            # The line with the name of an action is missing: which of them counts is not known.
            entry.refuse(out, parameter.pair, parameter.line, "is there more than once")
        elif column in LISTS and (listed := _listed(parameter.texts)):
            entry.put(column, listed, parameter.line)
        else:
            entry.take(out, column, parameter.pair, parameter.line)


def _listed(texts: list[str]) -> str | None:
    """The members of a list as one text; None if it is a word that stands for a list."""
    parts = [members(text) for text in texts if text]
    if None in parts:
        return None
    return ", ".join(f"{code} {name}".rstrip() for part in parts for code, name in part or ())


def _compare_version(entry: Entry, out: Out) -> None:
    """Cipher suites of TLS 1.3 have numbers of their own: a version that was cut short shows."""
    version, cipher = entry.values.get("tls_version"), entry.values.get("cipher")
    if version and cipher and (_TLS_1_3.search(version) is not None) != cipher.startswith("13"):
        why = f"does not go with the cipher {cipher}"
        entry.refuse(out, Pair("SecLevel", version), entry.lines["tls_version"], why)
        entry.put("tls_version", None, entry.lines["tls_version"])
