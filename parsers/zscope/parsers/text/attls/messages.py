"""Read the messages of AT-TLS: labels by name, then the event with its data."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.attls.message_lines import message_id, message_start, second_message
from zscope.parsers.text.captured_report import KnownFrom, ReportSource
from zscope.parsers.text.codecs import split_socket
from zscope.parsers.text.console_lines import console_prefix
from zscope.parsers.text.report_rows import ReportRows, quoted
from zscope.parsers.text.spelling import edit_distance
from zscope.parsers.written_forms import ISO_MOMENT, NAME, SYSTEM
from zscope.schemas.attls import attls_defaults
from zscope.schemas.reports import report_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.parsers.text.captured_report import CapturedReport, Line, Origin
    from zscope.parsers.text.report_rows import FileRows

TABLE = "tls_message"
KINDS = {
    "EZD1281I": "Map",
    "EZD1282I": "Start",
    "EZD1283I": "Event",
    "EZD1284I": "Flow",
    "EZD1285I": "Data",
    "EZD1286I": "Error",
    "EZD1287I": "Error",
}
CERTIFICATE = "certificate"
_CERTIFICATE_IDS = frozenset({"EZD2052I", "EZD2053I", "EZD2054I"})
_COLUMNS = {printed.label: printed.column for printed in report_table(TABLE).columns if printed.label}
_SOCKETS = {"LOCAL": ("local_ip", "local_port"), "REMOTE": ("remote_ip", "remote_port")}
_IDS = frozenset({"GRPID", "ENVID", "CONNID"})
_NEEDED = {
    "EZD1281I": {"CONNID"},
    "EZD1282I": {"GRPID", "ENVID", "CONNID"},
    "EZD1283I": {"GRPID", "ENVID", "CONNID", "RC"},
    "EZD1284I": {"GRPID", "ENVID", "CONNID", "RC"},
    "EZD1285I": {"CONNID"},
    "EZD1286I": {"GRPID", "ENVID", "CONNID", "LOCAL", "REMOTE", "JOBNAME", "USERID", "RULE", "RC"},
    "EZD1287I": {"GRPID", "ENVID", "CONNID", "LOCAL", "REMOTE", "JOBNAME", "USERID", "RULE", "RC"},
}
"""Labels of a whole message."""
_TITLE = re.compile(r" *(?P<id>\S+) +TTLS +(?P<kind>[A-Z][a-z]+) *", re.ASCII)
_LABEL = re.compile(r" *(?P<label>[A-Z][A-Z0-9]{1,11}):(?= |$) *", re.ASCII)
_KNOWN_LABEL = re.compile(rf"(?<![^ ])(?:{'|'.join(_COLUMNS)}):(?= |$)", re.ASCII)
_EVENT = re.compile(r"[A-Z][a-z]+(?: [A-Z][a-z]+)*", re.ASCII)
_FLOW = re.compile(r"(?P<action>[A-Z][a-z]+) +(?P<function>\S+)(?: +- *(?P<data>.*))?$", re.ASCII)
_DATA = re.compile(r"(?P<function>[A-Z]+(?: [A-Z]+)*) +(?P<data>[0-9A-Fa-f]+)$", re.ASCII)
_CONNECTOR = re.compile(r" \d{3,4}$", re.ASCII)
_EQUATION = re.compile(
    r"(?P<name>[A-Za-z]\w{0,40})=(?: +|$)(?P<value><[^<>]*>|.*?)(?= +[A-Za-z]\w{0,40}=(?: |$)| *$)"
)
_EVENTS = frozenset(
    {"Initial Handshake", "Connection Init", "Connection Close", "Connection Stop", "Connection Abend Close"}
    | {"Data Decryption", "Environment Create", "Environment Init", "Environment Close", "Policy Mapping"}
)
"""Known events; others are possible."""
_MOST_WORDS = {"STATUS": 2, "ACTIONS": 100}
"""Words of values that are not one word."""
_LONGEST_CODE = 9

_DAEMON = re.compile(
    r"(?P<month>[A-Z][a-z]{2}) {1,2}(?P<day>\d{1,2}) {1,2}(?P<clock>\d{1,2}:\d\d:\d\d) +(?P<host>\S+)"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_CREATED = re.compile(rf"(?P<clock>\d\d:\d\d:\d\d)(?:\.\d{{1,6}})?(?: +(?P<job>{NAME}))? *$", re.ASCII)


class TlsMessages:
    """Reads the messages of one file."""

    def __init__(self, sheet: FileRows) -> None:
        self._sheet = sheet

    def read(self, report: CapturedReport) -> None:
        """Read one message."""
        first = report.lines[0]
        out = ReportRows(self._sheet, report.origin)
        for line in report.lines:
            out.used(line.no)
        values: dict[str, Any] = {"message_id": message_id(first.text)}
        start = message_start(first.text)
        prefix = _prefix(first.text[:start], report.origin)
        if prefix is None:
            problem = f"{quoted(first.text[:start].strip())} before the message is not understood"
            out.issue(Code.BAD_VALUE, problem, first.no, 1, table=TABLE)
        values |= prefix or {}
        if second_message(first.text[start:]):
            problem = "the line contains a second message, which is not read"
            out.issue(Code.BAD_VALUE, problem, first.no, 1, table=TABLE)
        _MessageReader(out, values, first.no).read(first.text[start:], report.lines)
        out.add_report("AT-TLS messages", first.no)

    def finish(self) -> None:
        """Do nothing: no message depends on another."""


def _prefix(before: str, origin: Origin) -> dict[str, Any] | None:
    """Set the origin of a message from the text before it, and return the values of its columns.

    Return None if a part of the text is not understood.
    """
    values: dict[str, Any] = {}
    text = before.strip()
    if not text:
        return values
    rest = text
    if match := ISO_MOMENT.search(text):
        values["logged_text"] = match[0].removesuffix(f" {match['host']}")
        _set_host(origin, match["host"])
        if match["zone"] != "Z":
            _set_time(origin, _day(match["day"]), _clock(match["clock"]))
        rest = text[match.end("zone") if match["zone"] else match.end("clock") :]
    elif match := _DAEMON.search(text):
        values["logged_text"] = text[match.start() : match.end("clock")]
        _set_host(origin, match["host"])
        _set_time(origin, _nearest(match["month"], int(match["day"]), origin.day), _clock(match["clock"]))
        rest = text[match.end("clock") :]
    elif plain := console_prefix(f"{text} "):
        values["logged_text"] = text
        if plain.system and origin.system_from in {None, KnownFrom.FILE_NAME, KnownFrom.OPTION}:
            origin.system, origin.system_from = plain.system, plain.system_from
        if plain.clock:
            _set_time(origin, plain.day or origin.day, plain.clock, plain.day is not None)
        origin.source = ReportSource.CONSOLE
        return values
    else:
        return None
    if created := _CREATED.search(rest):
        values["created_time"], values["stack"] = created["clock"], created["job"]
    elif rest.rpartition(": ")[1] and rest.rpartition(": ")[2].strip():
        return None
    return values


def _set_host(origin: Origin, host: str | None) -> None:
    if host and SYSTEM.fullmatch(host):
        origin.system, origin.system_from = host, KnownFrom.PREFIX


def _set_time(origin: Origin, day: date | None, clock: time | None, dated: bool = True) -> None:
    if clock is None:
        return
    origin.clock = clock
    if day is None:
        origin.day, origin.time_from = None, KnownFrom.NO_DATE
    elif dated:
        origin.day, origin.time_from = day, KnownFrom.PREFIX
    else:
        origin.day = day


def _nearest(month: str, day: int, near: date | None) -> date | None:
    """Return the date without a year that is nearest to a known day; None without one."""
    if near is None or month not in _MONTHS:
        return None
    number = _MONTHS.index(month) + 1
    dates = []
    for year in (near.year - 1, near.year, near.year + 1):
        try:
            dates.append(date(year, number, day))
        except ValueError:
            continue
    return min(dates, key=lambda each: abs((each - near).days), default=None)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _clock(text: str) -> time | None:
    try:
        return datetime.strptime(text, "%H:%M:%S").time()  # noqa: DTZ007 - local time has no zone
    except ValueError:
        return None


@dataclass(slots=True)
class _MessageReader:
    out: ReportRows
    values: dict[str, Any]
    line: int
    extra: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)

    def read(self, first: str, lines: Sequence[Line]) -> None:
        """Read a message that begins with its identifier, and write its row."""
        identifier = str(self.values["message_id"])
        title = _TITLE.match(first)
        body = first[title.end() if title else len(identifier) :].rstrip()
        if len(lines) > 1 and identifier == "EZD1287I":
            body = _CONNECTOR.sub("", body)
        text = " ".join([body, *(line.text.strip() for line in lines[1:])]).strip()
        kind = KINDS.get(identifier)
        if identifier in _CERTIFICATE_IDS:
            self.values["kind"] = CERTIFICATE
            self._equations(text)
        elif kind is not None:
            self.values["kind"] = kind
            if title is None or title["kind"] != kind:
                problem = f"the text is not that of {identifier}, which is a message of the kind {kind}"
                self.out.issue(Code.BAD_VALUE, problem, self.line, 1, table=TABLE)
            self._labels(text, kind)
            if missing := sorted(_NEEDED[identifier] - self.seen):
                problem = f"the message {identifier} has no {', '.join(missing)}; it may be cut or damaged"
                self.out.issue(Code.REPORT_CUT, problem, self.line, 1, table=TABLE)
        else:
            self._report_nearly(identifier)
            begin = first[len(identifier) : title.end()] if title else ""
            self.values["message_text"] = f"{begin.strip()} {text}".strip()
        code = self.values.get("return_code")
        if isinstance(code, str) and code.isdecimal() and len(code) <= _LONGEST_CODE:
            self.values["reason_family"] = attls_defaults().reason_family(int(code))
        self.out.row(TABLE, self.line, self.values, self.extra)

    def _report_nearly(self, identifier: str) -> None:
        """Report an unknown identifier that differs from a known one in its last letter."""
        if near := next((known for known in KINDS if known[:-1] == identifier[:-1]), None):
            problem = f"the message {identifier} is unknown, and differs from {near} in its last letter; "
            problem += "only its text is read"
            self.out.issue(Code.BAD_VALUE, problem, self.line, 1, field="message_id", table=TABLE)

    def _labels(self, text: str, kind: str) -> None:
        """Read labels and values from the start of a text; what has no label is the event."""
        at = 0
        while at < len(text):
            match = _LABEL.match(text, at)
            if match is None:
                end = len(text)
                if kind not in {"Flow", "Data"} and (following := _KNOWN_LABEL.search(text, at)):
                    end = following.start()
                self._event(text[at:end].strip(), kind)
                at = end
                continue
            at = self._label(match["label"], text, match.end(), kind)

    def _label(self, label: str, text: str, at: int, kind: str) -> int:
        """Read the value of a label; return where it ends."""
        following = _KNOWN_LABEL.search(text, at)
        end = following.start() if following else len(text)
        if label not in {"ACTIONS", "STATUS"} and kind != "Map":
            blank = text.find(" ", at, end)
            end = blank if blank >= 0 else end
        value = text[at:end].strip()
        if len(value.split()) > _MOST_WORDS.get(label, 1):
            problem = f"{quoted(value)} seems to contain more than the value of {label}"
            self.out.issue(Code.BAD_VALUE, problem, self.line, field=label, table=TABLE)
        if label in self.seen:
            problem = f"the label {label} occurs more than once; the first value is used"
            self.out.issue(Code.BAD_VALUE, problem, self.line, field=label, table=TABLE)
        elif label in _SOCKETS:
            self._socket(label, value)
        elif label in _COLUMNS:
            self._put(label, value)
        else:
            self.extra[label] = value
            problem = f"the label {quoted(label)} is unknown; its value is stored in `extra`"
            self.out.issue(Code.UNKNOWN_COLUMN, problem, self.line, field=label, table=TABLE)
        self.seen.add(label)
        return max(end, at)

    def _put(self, label: str, value: str) -> None:
        if label in _IDS:
            if len(value) != 8 or value.strip("0123456789ABCDEFabcdef"):
                problem = f"{quoted(value)} is not eight hexadecimal digits; the column is null"
                self.out.issue(Code.BAD_VALUE, problem, self.line, field=label, table=TABLE)
                return
            value = "" if not value.strip("0") else value
        elif label == "RC" and not value:
            self.out.issue(Code.BAD_VALUE, "no return code follows RC", self.line, field=label, table=TABLE)
        self.values[_COLUMNS[label]] = value or None

    def _socket(self, label: str, value: str) -> None:
        socket = split_socket(value)
        if socket is None:
            problem = f"{quoted(value)} is not an address and a port with two dots between them"
            self.out.issue(
                Code.BAD_VALUE, f"{problem}; the columns are null", self.line, field=label, table=TABLE
            )
            return
        self.values |= dict(zip(_SOCKETS[label], socket, strict=True))

    def _event(self, text: str, kind: str) -> None:
        if not text:
            return
        if kind == "Flow":
            match = _FLOW.match(text)
            if match:
                self._set(event=match["action"], flow_function=match["function"], message_data=match["data"])
                return
        elif kind == "Data":
            match = _DATA.match(text)
            if match:
                self._set(flow_function=match["function"], message_data=match["data"])
                return
        elif match := _EVENT.match(text):
            self._report_event(match[0])
            self._set(event=match[0], message_data=text[match.end() :])
            return
        problem = f"{quoted(text)} is not the event of a message of the kind {kind}; it is stored as data"
        self.out.issue(Code.BAD_VALUE, problem, self.line, field="event", table=TABLE)
        self._set(message_data=text)

    def _report_event(self, event: str) -> None:
        """Report an event that is nearly a known one, or the beginning of one."""
        if event in _EVENTS:
            return
        if any(known.startswith(event) or edit_distance(event, known) == 1 for known in _EVENTS):
            problem = f"the event {quoted(event)} is unknown; it may be damaged"
            self.out.issue(Code.BAD_VALUE, problem, self.line, field="event", table=TABLE)

    def _set(self, **values: str | None) -> None:
        for column, value in values.items():
            if value is None or not value.strip():
                continue
            text = value.strip()
            before = self.values.get(column)
            self.values[column] = f"{before} {text}" if before else text

    def _equations(self, text: str) -> None:
        """Read `name= value`; the numbers of group, environment and connection also come with a colon."""
        plain = _KNOWN_LABEL.sub(lambda match: match[0][:-1] + "=", text)
        end = 0
        for match in _EQUATION.finditer(plain):
            if unread := plain[end : match.start()].strip():
                self.extra[f"text {len(self.extra) + 1}"] = unread
            name, value, end = match["name"], match["value"].strip(), match.end()
            if name in _IDS:
                self._put(name, value)
            elif name == "SSLRetCode" and value.isdecimal():
                self.values["return_code"] = value
            else:
                self.extra[name] = value
            self.seen.add(name)
        if unread := plain[end:].strip():
            self.extra[f"text {len(self.extra) + 1}"] = unread
        if not self.seen & _IDS:
            problem = "the message has no number of a group, environment or connection; it may be damaged"
            self.out.issue(Code.REPORT_CUT, problem, self.line, 1, table=TABLE)
