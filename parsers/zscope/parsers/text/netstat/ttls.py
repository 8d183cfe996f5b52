"""NETSTAT TTLS CONN: read and write the AT-TLS state of connections; DETAIL adds parameters of the policy.

The lines of a connection are collected label by label: each with the action of the policy under which it is
printed, and with the following lines that have no label. Indentation is ignored: it differs between published
displays, and some have lost it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.codecs import CODECS, split_socket
from zscope.parsers.text.netstat.netstat_labels import LabelValue, NetstatRow, pairs_of
from zscope.parsers.text.netstat.reply import Command, reply_lines
from zscope.parsers.text.netstat.sockets import is_connection_id
from zscope.schemas.reports import plain_label, report_table

if TYPE_CHECKING:
    from zscope.parsers.text.captured_report import Line
    from zscope.parsers.text.netstat.reply import ReplyBody
    from zscope.parsers.text.report_rows import ReportRows


TABLE = "netstat_ttls"
CLOSEST = "TTLSConnAction"
"""The action whose parameters have precedence over those of the others."""
ACTIONS = {plain_label(name): name for name in ("TTLSRule", "TTLSGrpAction", "TTLSEnvAction", CLOSEST)}
"""The actions under which parameters of the policy are printed, in order."""
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
"""Labels of the connection itself. Under an action they are parameters: a rule can have a JobName."""
_RULE = "TTLSRule"
_OF_RULE = frozenset({"JOBNAME", "LOCALSOCKET", "REMOTESOCKET"})
"""Labels of a connection that can be conditions of its rule."""
_OF_ACTION = {"GROUPID": "TTLSGrpAction", "ENVIRONMENTUSERINSTANCE": "TTLSEnvAction"}
"""Labels that only one of the actions has."""
_PAIRS = "signature_pairs"
_OF_GROUPS_OR_PAIRS = LISTS - {"v3_cipher_suites"}
"""Lists of groups, whose codes begin with 00, and of signature pairs, whose codes do not."""
_SOCKETS = {"LOCALSOCKET": ("local_ip", "local_port"), "REMOTESOCKET": ("remote_ip", "remote_port")}

_CODE = re.compile(r"(?:[0-9A-Fa-f]{2}){1,2}", re.ASCII)
_HEX_WORDS = re.compile(r"[0-9A-Fa-f]{1,8}(?: [0-9A-Fa-f]{1,8})*", re.ASCII)
_NUMBER = re.compile(r"\d{1,20}", re.ASCII)
_SESSION_ID = re.compile(r"[0-9A-Fa-f]{8}(?: [0-9A-Fa-f]{8}){7}", re.ASCII)
_TLS_1_3 = re.compile(r"\b1\.3$")


@dataclass(slots=True)
class TtlsParameter:
    """A label with its text and the texts of the lines that continue it."""

    label: str
    key: str
    """The label in the form in which labels are compared."""
    action: str
    """The action under which it is printed; empty for a label of the connection itself."""
    line: int
    texts: list[str]

    def continue_with(self, text: str) -> bool:
        """Add a line without a label, if it can continue this one; return whether it was added."""
        first = next((known for known in self.texts if known), "")
        if self.key == "SESSIONID":
            fits = _HEX_WORDS.fullmatch(text) is not None
        elif not first and _NUMBER.fullmatch(text):
            fits = True  # A tool that wraps lines moves a long value to the next line.
        else:
            fits = self._is_list(first) and _alike(text, first or "0000")
        if fits:
            self.texts.append(text)
        return fits

    def _is_list(self, first: str) -> bool:
        """Return whether members can follow; an unknown list begins with a code and a name."""
        column = _COLUMNS.get(self.key)
        if column is not None:
            return column in LISTS
        return not first or (" " in first and members(first) is not None)

    @property
    def pair(self) -> LabelValue:
        """Label and value for `extra`."""
        together = " " if self.key == "SESSIONID" else ", "
        label = f"{self.action}.{self.label}" if self.action else self.label
        return LabelValue(label, together.join(text for text in self.texts if text))


@dataclass(slots=True)
class TtlsConnection:
    """The lines of one connection."""

    line: int
    number: str | None
    """The connection id; None if its line is missing."""
    parameters: list[TtlsParameter] = field(default_factory=list)


def members(text: str) -> list[tuple[str, str]] | None:
    """Return the codes and names of a list, or None if the text is not such a list.

    >>> members("0023 secp256r1"), members("0029"), members("Any")
    ([('0023', 'secp256r1')], [('0029', '')], None)
    """
    words = text.split()
    names = words[1::2] or [""]
    if len(words[::2]) != len(names) or not all(_CODE.fullmatch(code) for code in words[::2]):
        return None
    return [(code.upper(), name) for code, name in zip(words[::2], names, strict=True)]


def _alike(text: str, first: str) -> bool:
    """Return whether a text consists of members with codes of the same length as in `first`."""
    candidates, known = members(text) or [], members(first) or []
    return len(candidates) > 0 and {len(code) for code, _ in candidates} == {len(code) for code, _ in known}


def write_row(connection: TtlsConnection, out: ReportRows) -> None:
    """Write the row of a connection."""
    entry = NetstatRow(TABLE, connection.line)
    if connection.number is not None:
        if is_connection_id(connection.number):
            entry.put("connection_id", connection.number, connection.line)
        else:
            entry.refuse(out, LabelValue("ConnID", connection.number), connection.line, "is not eight digits")
    policy: dict[str, list[TtlsParameter]] = {}
    for parameter in connection.parameters:
        out.used(parameter.line)
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
    _report_misplaced(entry, connection, out)
    entry.write(out)


def _report_misplaced(entry: NetstatRow, connection: TtlsConnection, out: ReportRows) -> None:
    """Report labels that a connection lacks, and its rule has: a rule has none of them."""
    for parameter in connection.parameters:
        of_rule = parameter.action == _RULE and parameter.key in _OF_CONNECTION - _OF_RULE
        if of_rule and _COLUMNS.get(parameter.key) not in entry.values:
            problem = f"{parameter.label} is printed after {_RULE}, and missing before it; the column is null"
            out.issue(Code.BAD_VALUE, problem, parameter.line, field=parameter.label, table=TABLE)
        action = _OF_ACTION.get(parameter.key, parameter.action)
        if action != parameter.action:
            problem = f"{parameter.label} is not printed after {action}: the line {action} may be missing or "
            problem += "misplaced"
            out.issue(Code.BAD_VALUE, problem, parameter.line, field=parameter.label, table=TABLE)
        _report_other_members(parameter, out)


def _report_other_members(parameter: TtlsParameter, out: ReportRows) -> None:
    """Report signature pairs in a list of groups, and groups among signature pairs."""
    column = _COLUMNS.get(parameter.key)
    codes = [code for text in parameter.texts for code, _ in members(text) or ()]
    if column not in _OF_GROUPS_OR_PAIRS or all(
        code.startswith("00") is (column != _PAIRS) for code in codes if len(code) == 4
    ):
        return
    problem = f"{parameter.label} has members of another list: a line with a label may be misplaced"
    out.issue(Code.BAD_VALUE, problem, parameter.line, field=parameter.label, table=TABLE)


def _put_once(entry: NetstatRow, column: str, parameter: TtlsParameter, out: ReportRows) -> None:
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


def _put_coded(entry: NetstatRow, parameter: TtlsParameter, out: ReportRows) -> None:
    """Set a column with a code, and the column with its name."""
    listed = members(parameter.pair.value)
    share = parameter.key == "KEYSHARE"
    if listed is None or len(listed) > 1 or (share and len(listed[0][0]) != 4):
        entry.refuse(out, parameter.pair, parameter.line, "is not a code with a name")
        return
    ((code, name),) = listed
    column = "key_share" if share else "cipher" if len(code) == 4 else "cipher_2"
    entry.put(column, code, parameter.line)
    entry.put("key_share_name" if share else "cipher_name", name, parameter.line)


def _put_closest(entry: NetstatRow, column: str, parameters: list[TtlsParameter], out: ReportRows) -> None:
    """Set a column from the action with precedence, and store the values of the others in `extra`."""
    actions = [parameter.action for parameter in parameters]
    closest = CLOSEST if CLOSEST in actions else actions[0]
    twice = actions.count(closest) > 1
    for parameter in parameters:
        if parameter.action != closest:
            entry.keep(*parameter.pair)
        elif twice:
            # The line with the name of an action is missing, so it is unknown which value has precedence.
            entry.refuse(out, parameter.pair, parameter.line, "occurs more than once")
        elif column in LISTS and (listed := _listed(parameter.texts)):
            entry.put(column, listed, parameter.line)
        else:
            entry.take(out, column, parameter.pair, parameter.line)


def _listed(texts: list[str]) -> str | None:
    """Return the members of a list as one text, or None if the text is a word for a list."""
    parts = [members(text) for text in texts if text]
    if None in parts:
        return None
    return ", ".join(f"{code} {name}".rstrip() for part in parts for code, name in part or ())


def _compare_version(entry: NetstatRow, out: ReportRows) -> None:
    """Compare the version with the cipher: TLS 1.3 has its own cipher numbers, so a cut version shows."""
    version, cipher = entry.values.get("tls_version"), entry.values.get("cipher")
    if version and cipher and (_TLS_1_3.search(version) is not None) != cipher.startswith("13"):
        why = f"does not match the cipher {cipher}"
        entry.refuse(out, LabelValue("SecLevel", version), entry.lines["tls_version"], why)
        entry.put("tls_version", None, entry.lines["tls_version"])


BEGINS = re.compile(r" *ConnID:(?![^ ])", re.ASCII | re.IGNORECASE)

_ONCE = frozenset({"LOCALSOCKET", "REMOTESOCKET", "SECLEVEL", "CIPHER"})
"""Labels that a connection has once: a second one belongs to another connection."""


def read(body: ReplyBody, out: ReportRows) -> int:
    """Write a row for each connection; return the number of connections."""
    reader = _TtlsReader(out)
    for line in body.lines:
        reader.take(line)
    reader.close()
    return reader.rows


@dataclass(slots=True)
class _TtlsReader:
    out: ReportRows
    rows: int = 0
    _connection: TtlsConnection | None = None
    _action: str = ""
    _open: TtlsParameter | None = None
    """The last label; None after a line that does not continue it."""
    _once: set[str] = field(default_factory=set)

    def take(self, line: Line) -> None:
        """Read one line."""
        for pair in pairs_of(line.text):
            if pair.label:
                self._labelled(pair, line)
            elif self._open is not None and self._open.continue_with(pair.value):
                self.out.used(line.no)
            else:
                self._open = None
                self.out.add_unknown_line(line.no, line.text)

    def close(self) -> None:
        """Write the row of the connection."""
        if self._connection is not None:
            write_row(self._connection, self.out)
            self.rows += 1
        self._connection = None

    def _labelled(self, pair: LabelValue, line: Line) -> None:
        key = plain_label(pair.label)
        if key == "CONNID":
            self._begin(line.no, pair.value)
            return
        if self._connection is None:
            self.out.add_unknown_line(line.no, line.text)
            return
        if key in self._once:
            problem = f"a second {pair.label} without a line ConnID before it; its connection is unknown"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, 1, table=TABLE)
            self._begin(line.no, None)
        if key in _ONCE:
            self._once.add(key)
        if key in ACTIONS:
            self._action = ACTIONS[key]
        action = "" if key in ACTIONS else self._action
        self._open = TtlsParameter(pair.label, key, action, line.no, [pair.value])
        self._connection.parameters.append(self._open)

    def _begin(self, line: int, number: str | None) -> None:
        self.close()
        self._connection, self._open = TtlsConnection(line, number), None
        self._action, self._once = "", set()


Row = Mapping[str, Any]

_FIELDS = {printed.column: printed for printed in report_table(TABLE).columns}
_AFTER_CIPHER = ("cert_user", "map_type", "fips_140")
_POLICY = tuple(_FIELDS)[tuple(_FIELDS).index("ttls_handshake_role") :]
"""Columns that only DETAIL prints."""
_ACTION_COLUMNS = {
    label: next(column for column, printed in _FIELDS.items() if printed.label == label)
    for label in ACTIONS.values()
}
_WIDTH = 14
_POLICY_WIDTH = 22
_SESSION_LINE = 4
"""Groups of eight digits in one line."""


def ttls_lines(rows: Iterable[Row], command: Command | None = None, *, detail: bool = False) -> list[str]:
    """Return the lines of a report of one or more connections."""
    blocks = [list(_connection(row, detail=detail)) for row in rows]
    body = [line for block in blocks for line in block]
    return reply_lines(command or Command(), body, len(blocks))


def ttls_block(row: Row, *, detail: bool = False) -> list[str]:
    """Return the lines of one connection without heading and ending."""
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
    """Yield a label with its value; a list has one line per member."""
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
