"""The family of NETSTAT replies: how they begin, go on and end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from zscope.parsers.text.netstat.plain_rows import CONN_FORMS
from zscope.parsers.text.report_family import DisplayHeading, ReportFamily
from zscope.schemas.reports import report_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.options import ReadOptions
    from zscope.parsers.text.captured_report import Grammar
    from zscope.parsers.text.report_rows import FileRows
    from zscope.schemas.reports import ReportTable

_IGNORE_CASE = re.ASCII | re.IGNORECASE
_HEADLESS = (
    r" {0,8}(?:(?P<ttls>ConnID: )|(?P<conn>User Id +Conn )|(?P<all>Client Name: )"
    r"|(?P<config>TCP Configuration Table:)|(?P<devlinks>IntfName: +\S+ +IntfType: )"
    r"|(?P<group>TTLSGrpAction +Group ?ID +Conns$))"
)
"""First lines of reports that were captured without their heading."""


def _grammar(sheet: FileRows, options: ReadOptions) -> Grammar:  # noqa: ARG001 - the same for all families
    from zscope.parsers.text.netstat.netstat_grammar import Netstat

    return Netstat(sheet)


def _has_table(table: ReportTable) -> bool:
    return table.family == "netstat"


def _labels() -> Iterator[str]:
    for table in report_tables().values():
        if table.family == "netstat":
            yield from (label for printed in table.fields for label in printed.labels)
    from zscope.parsers.text.netstat.config import LABELS

    yield from LABELS


def _is_state(word: str) -> bool:
    """Return whether a word is a state in its full width."""
    from zscope.parsers.text.netstat.sockets import state_name

    return len(word) == _LONGEST_STATE and state_name(word) is not None


_LONGEST_STATE = 8
_NAMES = re.compile(r"\(\?P<\w+>")

NETSTAT = ReportFamily(
    name="netstat",
    place=1,
    described="a capture with the heading of NETSTAT",
    grammar=_grammar,
    has_table=_has_table,
    display=DisplayHeading(
        heading=(r"(?:EZZ\d{4}I )?MVS TCP/IP NETSTAT CS\b|EZD0101I NETSTAT CS\b|VM TCP/IP Netstat Level"),
        words=("NETSTAT", "etstat "),
        capitals="NETSTAT",
        begins=("EZD0101I NETSTAT CS", "MVS TCP/IP NETSTAT CS"),
        console=re.compile("EZD0101I", _IGNORE_CASE),
        has_end=True,
        body=r" *(?:User ?Id +Conn|ConnID:|Client Name:|TTLSGrpAction|IntfName:|DevName:"
        r"|(?:TCP|UDP|IP) Configuration Table)",
    ),
    headless=re.compile(_HEADLESS, _IGNORE_CASE),
    plain_rows=tuple(form.row for form in CONN_FORMS.values()),
    once=re.compile(r" {0,8}User Id +Conn ", _IGNORE_CASE),
    continues=re.compile(
        r"\S{1,8} +[0-9A-F]{8} |\S{1,32} +[0-9A-F]{8} +\d+$| *[A-Z][\w .%-]{0,60}:(?: |$)| +[0-9A-F]{4} [A-Z]"
        r"| +[A-Z ]{5,35}= \d| +\*\*\w+\*\*$| *-[- ]*$| +\S+ +\d{10} +[A-Z]+$| *\d+ OF \d+ RECORDS"
        r"| *(?:User Id +Conn|TTLSGrpAction +Group|Group +RefCnt|Name +Status|IPv[46] LAN Group)\b",
        _IGNORE_CASE,
    ),
    refused=re.compile("VM TCP", re.IGNORECASE),
    certain=(
        r" *(?:END OF THE REPORT|\d+ OF \d+ RECORDS DISPLAYED|(?:LOCAL|FOREIGN) SOCKET: )"
        r"|User ?ID +Conn +(?:Local|State)"
        r"| *\S{1,8} +[0-9A-F]{8} +\S+\.\.\d{1,5} +\S+\.\.\d{1,5}(?: |$)"
        rf"|{_NAMES.sub('(?:', _HEADLESS)}"
    ),
    rows=(
        r" *\S{1,8} +[0-9A-F]{8} +(?:\S+\.\.\d{1,5}(?: |$)|[\d.]{3,15}$)"
        r"|.{0,80}\.\.\d{1,5} +(?:\S+\.\.\d{1,5} +)?"
        r"(?:ESTA?BLSH|LISTEN|TIMEWA?I?T|CLOSWA?I?T|FINWA?I?T[12]|LASTACK|CLOSING|CLOSED|SYNSENT|SYNRCVD)$"
        r"| *(?:LOCAL|FOREIGN|REMOTE) ?SOCKET: +\S+\.\.\d{1,5}"
    ),
    labels=_labels,
    whole_word=_is_state,
)
FAMILIES = (NETSTAT,)
