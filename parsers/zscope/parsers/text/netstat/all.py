"""NETSTAT ALL: read and write the details of each connection, as pairs of labels and values.

Most values are printed with leading zeros to a fixed width. A shorter value has lost its end and would be a
wrong number, so the columns are set only from values of the usual form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.codecs import split_socket
from zscope.parsers.text.netstat.netstat_labels import LabelValue, NetstatRow, pairs_of, spreader
from zscope.parsers.text.netstat.reply import Command, reply_lines
from zscope.parsers.text.netstat.sockets import printed_socket, report_damaged_state, state_name
from zscope.parsers.text.report_rows import quoted
from zscope.schemas.model import Evidence
from zscope.schemas.reports import PrintedField, PrintedFormat, plain_label, report_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from zscope.parsers.text.captured_report import Line
    from zscope.parsers.text.netstat.reply import ReplyBody
    from zscope.parsers.text.report_rows import ReportRows


TABLE = "netstat_all"

_JOB_NAME = re.compile(r"[^ ]{1,8}")
_FIXED_COUNT = re.compile(r"\d{10}|\d{20}", re.ASCII)
_COUNT = re.compile(r"\d{10}|\d{20}|0|[1-9]\d*", re.ASCII)
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2})+", re.ASCII)
_FIXED_TRIP = re.compile(r"\d+\.\d{3}", re.ASCII)
_TRIP = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_ID = re.compile(r"[0-9A-Fa-f]{8}", re.ASCII)
_CLOCK = re.compile(r"\d\d:\d\d:\d\d", re.ASCII)
_DATE = re.compile(r"\d\d/\d\d/\d{4}", re.ASCII)
_ANY_WORD = re.compile(r"[^ ]+")

_BY_COLUMN = {
    "job_name": _JOB_NAME,
    "connection_id": _ID,
    "last_touched": _CLOCK,
    "state": _ANY_WORD,
}
_BY_LABEL = {"STARTDATE": _DATE, "STARTTIME": _CLOCK}


def _shape(key: str, printed: PrintedField, *, short: bool) -> re.Pattern[str] | None:
    if shape := _BY_LABEL.get(key) or _BY_COLUMN.get(printed.column):
        return shape
    if printed.evidence is not Evidence.PUBLIC_CODE:
        return None
    match printed.format:
        case PrintedFormat.COUNT:
            return _FIXED_COUNT if short else _COUNT
        case PrintedFormat.NUMBER:
            return _FIXED_TRIP if short else _TRIP
        case PrintedFormat.HEX:
            return _HEX
        case _:
            return None


_LABELS = report_table(TABLE).by_label()
COLUMNS = {key: printed.column for key, printed in _LABELS.items()}
"""Columns by label, in the form in which labels are compared."""
_SHORT = {key: _shape(key, printed, short=True) for key, printed in _LABELS.items()}
_LONG = {key: _shape(key, printed, short=False) for key, printed in _LABELS.items()}


def is_whole(key: str, value: str, *, short: bool) -> bool:
    """Return whether a value can be complete. The widths of the long form are unknown, so the test is weaker.

    >>> is_whole("BYTESIN", "0000418220", short=True), is_whole("BYTESIN", "00004182", short=False)
    (True, False)
    """
    shape = (_SHORT if short else _LONG).get(key)
    return shape is None or shape.fullmatch(value) is not None


def can_be_wrapped(key: str, text: str) -> bool:
    """Return whether a line with only this text can be the value of the label that ends the line before."""
    if COLUMNS.get(key) == "state":
        return state_name(text) is not None
    shape = _LONG.get(key)
    return shape.fullmatch(text) is not None if shape else text.isascii() and text.isdigit()


BEGINS = re.compile(r" *CLIENT NAME:(?![^ ])", re.ASCII | re.IGNORECASE)

_SOCKETS = {"LOCALSOCKET": ("local_ip", "local_port"), "FOREIGNSOCKET": ("remote_ip", "remote_port")}
_ONCE = frozenset({"CLIENTID", "LOCALSOCKET"})
"""Labels that a connection has once: a second one belongs to another connection."""
_START = ("STARTDATE", "STARTTIME")
_NAME = r"[A-Za-z][^ :=]*(?: [^ :=]+){0,3}"
_WORD = r"(?:[^ :=]|[:=](?=[^ ]))+"
_COMMON = re.compile(rf" *({_NAME}): +({_WORD})(?: {{2,}}({_NAME}): +({_WORD}))?$")
"""Nearly all lines: one or two labels with one word each. Matching them separately is faster."""
_spread = spreader(label for printed in report_table(TABLE).columns for label in printed.labels)


def read(body: ReplyBody, out: ReportRows) -> int:
    """Write a row for each connection; return the number of connections."""
    reader = _AllReader(out)
    for line in body.lines:
        if line.text.strip():
            reader.take(line)
    reader.close()
    return reader.rows


@dataclass(slots=True)
class _PlacedValue:
    """A label with its value and its line."""

    pair: LabelValue
    line: int


@dataclass(slots=True)
class _ClientLines:
    """The lines of one connection, label by label."""

    line: int
    values: dict[str, _PlacedValue] = field(default_factory=dict)
    more: list[_PlacedValue] = field(default_factory=list)
    """Repeated labels."""

    def short(self) -> bool:
        """Whether both sockets are in one line, as only in the short form."""
        here, there = self.values.get("LOCALSOCKET"), self.values.get("FOREIGNSOCKET")
        return here is not None and there is not None and here.line == there.line


@dataclass(slots=True)
class _AllReader:
    out: ReportRows
    rows: int = 0
    _block: _ClientLines | None = None
    _open: str = ""
    """The label that ends the line before, if it has no value."""

    def take(self, line: Line) -> None:
        """Read one line."""
        for pair in _pairs(line.text):
            if pair.label:
                self._labelled(pair, line)
            elif self._block and self._open and can_be_wrapped(self._open, pair.value):
                label = self._block.values[self._open].pair.label
                self.out.used(self._block.values[self._open].line)
                self._block.values[self._open] = _PlacedValue(LabelValue(label, pair.value), line.no)
                self._open = ""
            else:
                self._open = ""
                self.out.add_unknown_line(line.no, line.text)

    def close(self) -> None:
        """Write the row of the connection."""
        block, self._block, self._open = self._block, None, ""
        if block is not None:
            self.rows += 1
            _write(block, self.out)

    def _labelled(self, pair: LabelValue, line: Line) -> None:
        key = plain_label(pair.label)
        if key == "CLIENTNAME":
            self.close()
            self._block = _ClientLines(line.no)
        elif self._block is None:
            self.out.add_unknown_line(line.no, line.text)
            return
        elif key in _ONCE and key in self._block.values:
            problem = f"a second {pair.label} without a line Client Name before it; its connection is unknown"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, 1, table=TABLE)
            self.close()
            self._block = _ClientLines(line.no)
        if key.endswith("INFORMATION") and not pair.value:
            # The heading of a group of labels.
            self._open = ""
            self.out.furniture(line.no)
        elif key in self._block.values:
            self._open = ""
            self._block.more.append(_PlacedValue(pair, line.no))
        else:
            self._open = "" if pair.value else key
            self._block.values[key] = _PlacedValue(pair, line.no)


def _pairs(text: str) -> list[LabelValue]:
    match = _COMMON.match(text)
    if match is None:
        squeezed = ": " in text and "  " not in text.strip()
        return pairs_of(_spread(text) if squeezed else text)
    first = LabelValue(match[1], match[2])
    return [first, LabelValue(match[3], match[4])] if match[3] else [first]


def _write(block: _ClientLines, out: ReportRows) -> None:
    entry, short = NetstatRow(TABLE, block.line), block.short()
    _put_start(entry, block, out)
    for key, value in block.values.items():
        pair, line, column = value.pair, value.line, COLUMNS.get(key)
        out.used(line)
        if key in _START or (column is not None and pair.value.upper() in {"", "N/A"}):
            continue
        if column is None:
            entry.keep(*pair)
        elif columns := _SOCKETS.get(key):
            _put_socket(entry, columns, pair, line, out)
        elif column == "application_data":
            entry.put(column, pair.value, line)
        elif not is_whole(key, pair.value, short=short):
            entry.refuse(out, pair, line, "does not have the usual form")
        else:
            entry.take(out, column, pair, line)
    if state := entry.values.get("state"):
        entry.values["state_name"] = state_name(state)
        if entry.values["state_name"] is None:
            report_damaged_state(out, TABLE, state, entry.lines["state"])
    entry.write(out)
    for pair, line in ((again.pair, again.line) for again in block.more):
        problem = f"{quoted(pair.value)} is a second value of {quoted(pair.label)}; the first value is used"
        out.issue(Code.BAD_VALUE, problem, line, field=pair.label, table=TABLE)


def _put_socket(
    entry: NetstatRow, columns: tuple[str, str], pair: LabelValue, line: int, out: ReportRows
) -> None:
    socket = split_socket(pair.value)
    if socket is None or " " in pair.value:
        entry.refuse(out, pair, line, "is not an address and a port with two dots between them")
        return
    for column, text in zip(columns, socket, strict=True):
        entry.put(column, text, line)


def _put_start(entry: NetstatRow, block: _ClientLines, out: ReportRows) -> None:
    """Set the start time from its date and time of day, which are two labels."""
    parts = {key: block.values[key] for key in _START if key in block.values and block.values[key].pair.value}
    if len(parts) == 2 and all(is_whole(key, part.pair.value, short=False) for key, part in parts.items()):
        day, clock = parts.values()
        entry.put("started_local", f"{day.pair.value} {clock.pair.value}", day.line)
        return
    for part in parts.values():
        entry.refuse(out, part.pair, part.line, "is not a complete date and time of day")


_VALUE, _RIGHT = 22, 40
"""Columns of the first value and of the second label of a line, if the text before them is not longer."""
_FIELDS: dict[str, PrintedField] = {printed.label: printed for printed in report_table("netstat_all").columns}
_WIDE = ("BytesIn", "BytesOut", "SegmentsIn", "SegmentsOut")
"""Counters of 64 bits: the long form prints each in a line, the short form cuts them to 32 bits."""
_SHORT_BITS = 32

_BODY: tuple[tuple[int, tuple[str, ...]], ...] = (
    (2, ("StartDate", "StartTime")),
    (2, ("Last Touched", "State")),
    (2, ("RcvNxt", "SndNxt")),
    (2, ("ClientRcvNxt", "ClientSndNxt")),
    (2, ("InitRcvSeqNum", "InitSndSeqNum")),
    (2, ("CongestionWindow", "SlowStartThreshold")),
    (2, ("IncomingWindowNum", "OutgoingWindowNum")),
    (2, ("SndWl1", "SndWl2")),
    (2, ("SndWnd", "MaxSndWnd")),
    (2, ("SndUna", "rtt_seq")),
    (2, ("MaximumSegmentSize", "DSField")),
    (4, ("Smooth trip time", "SmoothTripVariance")),
    (2, ("ReXmt", "ReXmtCount")),
    (2, ("DupACKs", "RcvWnd")),
    (2, ("SockOpt", "TcpTimer")),
    (2, ("TcpSig", "TcpSel")),
    (2, ("TcpDet", "TcpPol")),
    (2, ("TcpPrf", "TcpPrf2")),
    (2, ("TcpPrf3",)),
    (2, ("DelayAck",)),
    (2, ("QOSPolicy",)),
    (2, ("TTLSPolicy",)),
    (4, ("TTLSRule",)),
    (4, ("TTLSGrpAction",)),
    (4, ("TTLSEnvAction",)),
    (4, ("TTLSConnAction",)),
    (2, ("RoutingPolicy",)),
    (2, ("ReceiveBufferSize", "SendBufferSize")),
    (2, ("ReceiveDataQueued",)),
    (2, ("SendDataQueued",)),
    (2, ("SendStalled",)),
    (2, ("SMCRCURRCONNS", "SMCRTOTALCONNS")),
    (2, ("UseSMC", "Source")),
    (2, ("AutoSMC%",)),
    (2, ("Application Data",)),
)
"""The lines of a connection in order: indentation and labels."""
_ABOVE = {"Smooth trip time": "  Round-trip information:", "SMCRCURRCONNS": "SMC INFORMATION:"}
"""Lines before the line with this label."""


def all_lines(
    rows: Iterable[Mapping[str, Any]],
    command: Command | None = None,
    *,
    long: bool = False,
    of: int | None = None,
) -> list[str]:
    """Return the lines of a report with these connections, without labels that have no value.

    `long` selects the form of stacks with IPv6, and `of` is the number of connections without the limit of
    the console.
    """
    rows = list(rows)
    body = [line for row in rows for line in _entry(row, long=long)]
    return reply_lines(command or Command(), body, len(rows), of)


def _entry(row: Mapping[str, Any], *, long: bool) -> Iterator[str]:
    local, remote = printed_socket(row, "local"), printed_socket(row, "remote")
    yield f"{'Client Name: ' + row['job_name']:<38}Client Id: {row['connection_id']:08X}"
    if long:
        yield f"  Local Socket: {local}"
        yield f"  Foreign Socket: {remote}"
    else:
        yield f"{'Local Socket: ' + local:<38}Foreign Socket: {remote}"
    texts = _texts(row)
    yield from _counters(row, long=long)
    for indent, labels in _BODY:
        present = [(label, texts[label]) for label in labels if label in texts]
        if present:
            if labels[0] in _ABOVE:
                yield _ABOVE[labels[0]]
            yield _line(indent, present)


def _counters(row: Mapping[str, Any], *, long: bool) -> Iterator[str]:
    texts = {}
    for label in _WIDE:
        value = row.get(_FIELDS[label].column)
        if value is not None:
            texts[label] = f"{value:020}" if long else f"{value % (1 << _SHORT_BITS):010}"
    if long:
        yield from (_line(2, [item]) for item in texts.items())
        return
    for labels in (_WIDE[:2], _WIDE[2:]):
        if present := [(label, texts[label]) for label in labels if label in texts]:
            yield _line(2, present)


def _line(indent: int, pairs: list[tuple[str, str]]) -> str:
    (label, value), *others = pairs
    line = f"{' ' * indent + label + ':':<{_VALUE - 1}} {value}"
    for label, value in others:
        line = f"{line:<{_RIGHT - 2}}  {label + ':':<{_VALUE - 3}} {value}"
    return line


def _texts(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the printed values by label."""
    texts = {}
    for _, labels in _BODY:
        for label in labels:
            printed = _FIELDS.get(label)
            if printed and label != "StartDate" and row.get(printed.column) is not None:
                texts[label] = _text(printed, row[printed.column])
    if started := row.get("started_local"):
        texts["StartDate"], texts["StartTime"] = f"{started:%m/%d/%Y}", f"{started:%H:%M:%S}"
    return texts


def _text(printed: PrintedField, value: Any) -> str:  # noqa: ANN401 - typed by the column
    if printed.unit == "pct":
        return f"{value:03.0f}"
    match printed.format:
        case PrintedFormat.COUNT:
            return f"{value:010}"
        case PrintedFormat.NUMBER:
            return f"{value:.3f}"
        case PrintedFormat.YES_NO:
            return "Yes" if value else "No"
        case PrintedFormat.HEX:
            return str(value).upper()
        case _:
            return str(value)
