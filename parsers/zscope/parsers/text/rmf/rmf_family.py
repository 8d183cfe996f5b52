"""The family of RMF listings and RMF XML: how their pages begin and go on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from zscope.parsers.text.captured_report import ReportSource
from zscope.parsers.text.report_family import FoundHeading, ReportFamily
from zscope.parsers.text.rmf.page_title import damaged_title

if TYPE_CHECKING:
    from zscope.parsers.options import ReadOptions
    from zscope.parsers.text.captured_report import Grammar
    from zscope.parsers.text.report_family import ColumnNames, XmlGrammar
    from zscope.parsers.text.report_rows import FileRows
    from zscope.schemas.reports import ReportTable

_PAGE_TITLE = re.compile(
    r"(?=.*[^ ] {2,}[^ ])(?P<control>[10+-])? *[A-Z](?: {1,3}[A-Z]){6,80}(?: +PAGE +\d+)?$", re.ASCII
)
_CONTROL = re.compile(r"[10+-] ")
_TIME_OF_DAY = r"\d{1,4}\.\d\d\.\d\d\.\d{3}"


def _grammar(sheet: FileRows, options: ReadOptions) -> Grammar:  # noqa: ARG001 - the same for all families
    from zscope.parsers.text.rmf.listing import RmfListing

    return RmfListing(sheet)


def _xml_grammar(sheet: FileRows) -> XmlGrammar:
    from zscope.parsers.text.rmf.xml import RmfXml

    return RmfXml(sheet)


def _has_table(table: ReportTable) -> bool:
    return table.family == "rmf"


def _title(text: str, raw: str, renamed: ColumnNames) -> FoundHeading | None:  # noqa: ARG001
    title = _PAGE_TITLE.match(text)
    if title is None and not damaged_title(text):
        return None
    control = bool(title["control"]) if title else _CONTROL.match(text) is not None
    return FoundHeading(text[1:] if control else text, ReportSource.TEXT, control)


RMF = ReportFamily(
    name="rmf",
    place=6,
    described="an RMF listing or XML with CPU reports",
    grammar=_grammar,
    has_table=_has_table,
    xml_grammar=_xml_grammar,
    find_heading=_title,
    page_title=_PAGE_TITLE,
    interruption=re.compile(r" ?ERB\d{3}[A-Z] | *READY$", re.ASCII),
    has_margin=False,
    has_controls=True,
    continues=re.compile(r"."),
    certain=r"[ 0]?TOTAL/AVERAGE +\d| {20,40}z/OS \S+ +SYSTEM ID ",
    rows=(
        r" *[0-9A-F]{1,4} +(?:CP|IIP|AAP|IFL|ICF|SAP) +\d{1,3}\.\d\d "
        rf"|.{{0,120}} {_TIME_OF_DAY} +{_TIME_OF_DAY} +\d"
        r"| *NUM +TYPE +ONLINE\b| *NAME +(?:BT +)?S +(?:BT +)?WGT\b"
        r"| *REPORT +BY *: +POLICY *=|.{0,120}-+ ?TRANSACTIONS ?-+ "
        r"|.{0,80}\bSYSTEM ID \S+ +(?:START|DATE) \d|.{0,100}\bEXEC +TIME +UTIL%"
    ),
    page_lines=(
        r" *(?:MVS PARTITION NAME|IMAGE CAPACITY|NUMBER OF CONFIGURED PARTITIONS|DISPATCH INTERVAL) +\S"
        r"|.{0,100}\b(?:IIPCP|AAPCP|AAP|IIP|CRM|LCK|SUP|ENQ|BLK|CONVERSION|INELIGIBLE|R/S AFFINITY)"
        r" +(?:\d{1,9}\.\d{2,3}|N/A)(?: |$)"
        r"|.{0,90} [<=>]{1,2} +N +(?:\+ +\d{1,4} +)?\d{1,3}\.\d(?: |$)"
        r"| *H/W MODEL +\S| *NUMBER OF ADDRESS SPACES +MIN| *LOGICAL OUT (?:RDY|WAIT) +\d| *OUT WAIT +\d"
        r"|.{0,60}SYSTEM ADDRESS SPACE AND WORK UNIT ANALYSIS|.{0,80}\bBLWL(?:TRPCT|INTHD)\b"
        r"|.{0,60}\bBLOCKED WORKLOAD ANALYSIS"
    ),
)
FAMILIES = (RMF,)
