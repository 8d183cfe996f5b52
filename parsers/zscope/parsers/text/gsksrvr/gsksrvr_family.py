"""The family of GSKSRVR displays: how they begin and go on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from zscope.parsers.text.report_family import DisplayHeading, ReportFamily
from zscope.schemas.reports import report_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.options import ReadOptions
    from zscope.parsers.text.captured_report import Grammar
    from zscope.parsers.text.report_rows import FileRows
    from zscope.schemas.reports import ReportTable


def _grammar(sheet: FileRows, options: ReadOptions) -> Grammar:  # noqa: ARG001 - the same for all families
    from zscope.parsers.text.gsksrvr.gsk_grammar import Gsksrvr

    return Gsksrvr(sheet)


def _has_table(table: ReportTable) -> bool:
    return table.family == "gsksrvr"


def _labels() -> Iterator[str]:
    for table in report_tables().values():
        if table.family == "gsksrvr":
            yield from (label for printed in table.fields for label in printed.labels)


GSKSRVR = ReportFamily(
    name="gsksrvr",
    place=2,
    described="one of a GSKSRVR display (GSK01...)",
    grammar=_grammar,
    has_table=_has_table,
    display=DisplayHeading(
        heading=r"GSK01\d{3}[A-Z]\b",
        words=("GSK01",),
        capitals="GSK01",
        begins=(
            "GSK01009I Cryptographic status",
            "GSK01032I Session cache status",
            "GSK01078I Session ticket cache",
            "GSK01079I Session ticket cache",
            "GSK01081I Session cache",
        ),
        console=re.compile("GSK01", re.ASCII | re.IGNORECASE),
        body=r" *(?:User +Count|Date: +\d|status$|statistics$|Current time:|Algorithm +|\*DSPACE\*)",
    ),
    continues=re.compile(
        r"\S{1,8} +\d+(?:/\d+)?(?: +(?:\d+|N/A))?$|[A-Z][\w ]{3,30}: +\S+|\w+ statistics +Count$"
        r"|-+ +-+$|User +Count|[\w -]{2,20} {2,}(?:\d+|--?) +(?:\d+|--?)$|Algorithm +\w+",
        re.ASCII | re.IGNORECASE,
    ),
    certain=(
        r" *\*DSPACE\* |User +Count(?: |$)|Current time: +\d|(?:Add|Update|Retrieval) statistics +Count$"
        r"|Algorithm +(?:Hard|Soft)ware\b"
    ),
    rows=(r" *(?:3?DES|AES|RC[24]|RSA (?:Encrypt|Sign)|SHA-?\d{1,3}|ChaCha20)(?: +(?:\d{2,5}|--?)){2}$"),
    labels=_labels,
)
FAMILIES = (GSKSRVR,)
