"""Write Workload Activity reports in Postprocessor XML from rows of `rmf_workload`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from zscope.parsers.text.rmf.workload.workload_rows import PERIOD
from zscope.parsers.text.rmf.workload.xml_report import ACTIVATION, GOALS, KINDS, POLICY_SECTION
from zscope.parsers.text.rmf.xml_write import XmlIds, XmlTable, document, inside, leaf, report_times
from zscope.schemas.reports import PrintedFormat, report_table

if TYPE_CHECKING:
    from zscope.schemas.reports import PrintedField

Row = Mapping[str, Any]

_PARTS = (
    "Transactions",
    "Transaction Time",
    "Service",
    "Service Time",
    "Application Time %",
    "Promoted Transactions",
)
_FORMS = {"Transaction Time": " (HHH.MM.SS.FFFFFF)"}
_FIRST = ("Policy", "Workload", "Description", "Resource Group")
_GOALS = (
    "Period", "Importance", "Performance Index", "# of Transactions", "Response Time Goal",
    "Execution Velocity % Goal", "Execution Velocity % Actual", "Total Using %", "Execution Delay %",
)  # fmt: skip
_DECIMALS = {"Service Time": 3, "Promoted Transactions": 3, "Transactions": 2, "Application Time %": 2}


def workload_xml(reports: Sequence[Sequence[Row]], *, on_few_lines: bool = False) -> str:
    """Return a document with a report for each group of rows, which share sysplex and interval.

    Rows of the kind period belong to the row of their class before them.
    """
    content = [line for rows in reports for line in _report(rows)]
    return document(content, on_few_lines=on_few_lines)


def _report(rows: Sequence[Row]) -> list[str]:
    ids, first = XmlIds(), rows[0]
    about = [*leaf("description", "Workload Activity Report"), *leaf("type", "Interval")]
    resource = [*leaf("resname", first["sysplex"] or ""), *leaf("restype", "SYSPLEX")]
    content = [
        *inside("metric", about, id="WLMGL", option=first.get("report_option") or "WGPER"),
        *inside("version", leaf("rmf-report", "z/OS V2R5")),
        *inside("resource", resource),
        *inside("time-data", report_times(first)),
        *ids.segment(ACTIVATION, lambda: [ids.part("", {"Date": "03/01/2026", "Time": "00.00.00"})]),
    ]
    titles = {kind: title for title, kind in KINDS.items()}
    for row in rows:
        if row["class_kind"] != PERIOD:
            name = f"{titles[row['class_kind']]} {row['class_name']}"
            content += _segment(ids, name, row, rows)
    content += ids.segment(POLICY_SECTION, partial(_policy, ids, first))
    return inside("postprocessor", content)


def _segment(ids: XmlIds, name: str, row: Row, rows: Sequence[Row]) -> list[str]:
    lines = ids.segment(name, lambda: _parts(ids, row, rows))
    if row.get("all_zero"):
        message = [*leaf("description", "All data zero"), *leaf("severity", "1")]
        lines[-1:-1] = [f"    {line}" for line in inside("message", message, id="ERB00001")]
    return lines


def _parts(ids: XmlIds, row: Row, rows: Sequence[Row]) -> Iterator[list[str]]:
    yield ids.part("", {label: _text(row, _column(label)) for label in _FIRST})
    if row.get("all_zero"):
        return
    for title in _PARTS:
        fields = {
            printed.label.partition(": ")[2]: printed
            for printed in report_table("rmf_workload").columns
            if printed.label.partition(": ")[0] == title
        }
        values = {name: _text(row, printed, _DECIMALS.get(title, 0)) for name, printed in fields.items()}
        yield ids.part(f"{title}{_FORMS.get(title, '')}", values)
    periods = [
        each for each in rows if each["class_kind"] == PERIOD and each["class_name"] == row["class_name"]
    ]
    if periods and row["class_kind"] != "workload":
        cells = [[_goal(period, name) for name in _GOALS] for period in periods]
        yield ids.part(
            GOALS, table=XmlTable([(name, "T") for name in _GOALS], [(line, False) for line in cells])
        )


def _policy(ids: XmlIds, row: Row) -> Iterator[list[str]]:
    factors = {
        name: "N/A" if row.get(column) is None else f"{row[column]:.4f}"
        for name, column in (("zAAP", "zaap_factor"), ("zIIP", "ziip_factor"))
    }
    yield ids.part("Normalization Factors", factors)
    systems = [([name, "00"], False) for name in (row.get("systems") or "").split(", ") if name]
    yield ids.part("Systems", table=XmlTable([("System ID", "T"), ("IEAOPTxx Member", "T")], systems))


def _column(label: str) -> PrintedField:
    return next(printed for printed in report_table("rmf_workload").columns if printed.label == label)


def _goal(row: Row, name: str) -> str:
    label = "Transactions: Ended" if name.startswith("#") else f"Goals: {name}"
    text = _text(row, _column(label), 1)
    return "" if text == "N/A" else text


def _text(row: Row, printed: PrintedField, decimals: int = 2) -> str:
    value = row.get(printed.column)
    if value is None:
        return "N/A"
    if printed.format is PrintedFormat.MADE:
        seconds, rest = divmod(int(value), 1_000_000)
        return f"{seconds // 3600:03}.{seconds // 60 % 60:02}.{seconds % 60:02}.{rest:06}"
    return f"{value:.{decimals}f}" if printed.format is PrintedFormat.NUMBER else str(value)
