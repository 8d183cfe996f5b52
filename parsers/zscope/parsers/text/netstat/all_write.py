"""Writes NETSTAT ALL as TSO, the shell and the console print it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from zscope.parsers.text.netstat.heading_write import Command, reply_lines
from zscope.parsers.text.netstat.sockets_write import printed_socket
from zscope.schemas.printed import PrintedField, PrintedFormat, report_table

_VALUE, _RIGHT = 22, 40
"""Where the first value and the second label of a line begin, if what is before them leaves room."""
_FIELDS: dict[str, PrintedField] = {printed.label: printed for printed in report_table("netstat_all").columns}
_WIDE = ("BytesIn", "BytesOut", "SegmentsIn", "SegmentsOut")
"""Counters of 64 bits: the long form gives each a line, the short form cuts them."""
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
"""The lines of an entry in order: how far a line is indented, and its labels."""
_ABOVE = {"Smooth trip time": "  Round-trip information:", "SMCRCURRCONNS": "SMC INFORMATION:"}
"""Lines that stand above the one with this label."""


def all_lines(
    rows: Iterable[Mapping[str, Any]],
    command: Command | None = None,
    *,
    long: bool = False,
    of: int | None = None,
) -> list[str]:
    """The report with these connections; what a row has no value for is not printed.

    `long` is the form of stacks with IPv6, `of` how many connections there would be on the console without
    a limit.
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
        there = [(label, texts[label]) for label in labels if label in texts]
        if there:
            if labels[0] in _ABOVE:
                yield _ABOVE[labels[0]]
            yield _line(indent, there)


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
        if there := [(label, texts[label]) for label in labels if label in texts]:
            yield _line(2, there)


def _line(indent: int, pairs: list[tuple[str, str]]) -> str:
    (label, value), *others = pairs
    line = f"{' ' * indent + label + ':':<{_VALUE - 1}} {value}"
    for label, value in others:
        line = f"{line:<{_RIGHT - 2}}  {label + ':':<{_VALUE - 3}} {value}"
    return line


def _texts(row: Mapping[str, Any]) -> dict[str, str]:
    """What is printed behind each label of the body."""
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
