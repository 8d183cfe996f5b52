"""The families of AT-TLS: reports of pasearch, policy files, and messages in logs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from zscope.parsers.text.attls.message_lines import (
    MessageLines,
    concerns_messages,
    is_message,
    nearly_message,
)
from zscope.parsers.text.captured_report import ReportSource
from zscope.parsers.text.report_family import NEVER, DisplayHeading, FoundHeading, MessageKind, ReportFamily
from zscope.schemas.reports import report_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.options import ReadOptions
    from zscope.parsers.text.captured_report import Grammar
    from zscope.parsers.text.report_family import ColumnNames
    from zscope.parsers.text.report_rows import FileRows
    from zscope.schemas.reports import ReportTable

_POLICY = re.compile(
    r" *(?:TTLS(?:Rule|(?:Group|Environment|Connection)Action|\w{1,24}Parms)|IpAddr(?:Set|Group)?"
    r"|PortRange|PortGroup|IpTimeCondition) +[^\s{}:=#]{1,64}(?: *\{)? *(?:#.*|\d{8})?$",
    re.ASCII | re.IGNORECASE,
)
"""A statement of an AT-TLS policy file, which has no heading."""
_POLICY_WORDS = frozenset({"TTLS", "IPAD", "PORT", "IPTI"})
_OF_PASEARCH = (
    "policyRule", "ServiceDirection", "LocalPortFrom", "LocalPortTo", "RemotePortFrom", "RemotePortTo",
    "FromAddr", "ToAddr", "No. Policy Action", "policyAction", "ActionType", "Rule Type", "Policy created",
    "Policy updated", "TimeZone", "TTLS Action", "HandshakeRole", "TTLSEnabled",
)  # fmt: skip


def _pasearch(sheet: FileRows, options: ReadOptions) -> Grammar:  # noqa: ARG001 - the same for all families
    from zscope.parsers.text.attls.pasearch import Pasearch

    return Pasearch(sheet)


def _policy_file(sheet: FileRows, options: ReadOptions) -> Grammar:  # noqa: ARG001
    from zscope.parsers.text.attls.policy_file import PolicyFile

    return PolicyFile(sheet)


def _messages(sheet: FileRows, options: ReadOptions) -> Grammar:  # noqa: ARG001
    from zscope.parsers.text.attls.messages import TlsMessages

    return TlsMessages(sheet)


def _has_table(table: ReportTable) -> bool:
    return table.family == "attls"


def _statement(text: str, raw: str, renamed: ColumnNames) -> FoundHeading | None:  # noqa: ARG001
    coded = text
    if text[:1].isdecimal():
        from zscope.parsers.text.attls.statements import without_number

        coded = without_number(text)
    if coded.lstrip()[:4].upper() in _POLICY_WORDS and _POLICY.match(coded):
        return FoundHeading(text, ReportSource.TEXT)
    return None


def _labels() -> Iterator[str]:
    from zscope.schemas.attls import attls_defaults

    yield from _OF_PASEARCH
    yield from attls_defaults().names
    for table in report_tables().values():
        if table.family == "attls":
            yield from (label for printed in table.fields for label in printed.labels)


def _statements() -> Iterator[str]:
    """Yield the words with which a line of a policy file begins."""
    from zscope.schemas.attls import attls_defaults

    words = {"LOCALADDR", "REMOTEADDR", "LOCALPORTRANGE", "REMOTEPORTRANGE", "DIRECTION", "PORT", "PORTRANGE"}
    yield from words
    yield from (f"{word}REF" for word in words)
    yield from ("TTLSGROUPACTIONREF", "TTLSENVIRONMENTACTIONREF", "TTLSCONNECTIONACTIONREF")
    yield from (name for name in attls_defaults().names if name != "TRACE")


ATTLS = ReportFamily(
    name="attls",
    place=3,
    described="one of pasearch",
    grammar=_pasearch,
    has_table=_has_table,
    display=DisplayHeading(
        heading=r"TCP/IP pasearch CS\b",
        words=("pasearch CS",),
        capitals="PASEARCH",
        begins=("TCP/IP pasearch CS",),
        body=r" *(?:policyRule:|Date: +\d)",
    ),
    has_print_headings=True,
    continues=re.compile(r" *[A-Za-z0-9][\w. -]{0,60}:(?: |$)| +[0-9A-Fa-f]{4} {1,2}\S+$", re.ASCII),
    certain=r" *policyRule: +\S| *TTLS Action: +\S",
    labels=_labels,
)
ATTLS_FILE = ReportFamily(
    name="attls_file",
    place=4,
    described="an AT-TLS policy file",
    grammar=_policy_file,
    has_table=_has_table,
    find_heading=_statement,
    repeats_heading=True,
    uninterrupted=True,
    interruption=NEVER,
    has_margin=False,
    has_print_headings=True,
    certain=r" *TTLS\w{1,30}Ref +\S+$",
    statements=_statements,
)
ATTLS_LOG = ReportFamily(
    name="attls_log",
    place=5,
    described="a log with AT-TLS messages (EZD12...)",
    grammar=_messages,
    has_table=_has_table,
    messages=MessageKind(
        collector=MessageLines,
        begins=is_message,
        concerns=concerns_messages,
        nearly_begins=nearly_message,
        identifier=r"EZD(?:128|205)\dI",
    ),
    rows=r".{0,300}\b(?:GRPID|ENVID|CONNID): [0-9A-F]{8}(?: |$)",
)
FAMILIES = (ATTLS, ATTLS_FILE, ATTLS_LOG)
