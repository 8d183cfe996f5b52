"""The CPU Activity and Partition Data reports as XML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.out import shown
from zscope.parsers.text.rmf.arithmetic import check_interval
from zscope.parsers.text.rmf.xml_report import TableRow, by_column, one_line, open_report, table_rows
from zscope.schemas.printed import PrintedField, plain_label, report_table

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out, Sheet
    from zscope.parsers.text.rmf.xml_tree import Element

_NOT_READ = frozenset(
    map(
        plain_label,
        (
            "System Address Space Analysis",
            "Distribution of In-ready Work Unit Queue",
            "Work Unit Analysis",
        ),
    )
)
"""Tables about address spaces and work units: they say nothing about the use of processors."""
_PHYSICAL, _TOTAL = "*PHYSICAL*", "TOTAL"
_STATUS = {"A": "active", "ACTIVE": "active", "D": "deactivated", "DEACTIVATED": "deactivated"}


@dataclass
class _Interval:
    """What one report says, until all of it is known."""

    values: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    cpus: list[dict[str, Any]] = field(default_factory=list)
    partitions: list[dict[str, Any]] = field(default_factory=list)


def read_cpu(unit: Element, sheet: Sheet) -> None:
    """Put the rows of one interval into the tables, and check that its figures agree."""
    out = open_report(unit, sheet)
    out.found("RMF CPU Activity", unit.line)
    interval = _Interval()
    interval.values |= {
        "interval_end_local": unit.text_at("time-data", "display-end"),
        "cycle_length_ms": _cycle(unit, out),
        "zos_level": _level(unit.text_at("version", "smf-data")),
        "report_level": _level(unit.text_at("version", "rmf-report")),
    }
    for segment in unit.all("segment"):
        if plain_label(segment.text_at("name")).startswith("PARTITIONDATA"):
            out.found("RMF Partition Data", segment.line)
        for part in segment.all("part"):
            for variable in part.below("var"):
                value = one_line(variable.at("value"), out)
                _variable(interval, variable.text_at("name"), value, variable.line)
            for table in part.below("table"):
                _table(interval, part.text_at("name"), table, out)
    interval.values["changed_labels"] = ",".join(interval.changed) or None
    row = out.row("rmf_interval", unit.line, interval.values, interval.extra, interval.lines)
    check_interval(row, interval.cpus, interval.partitions, out)


def _cycle(unit: Element, out: Out) -> int | None:
    element = unit.at("time-data", "cycle")
    if element is None:
        return None
    text = element.text
    in_milliseconds = element.attributes.get("unit", "milliseconds") == "milliseconds"
    if in_milliseconds and text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    out.issue(Code.BAD_VALUE, f"{shown(text)} is not a number of milliseconds", element.line, field="cycle")
    return None


def _level(text: str) -> str:
    """The release without the name of the system, as a listing has it."""
    return text.removeprefix("z/OS").strip()


def _variable(interval: _Interval, name: str, value: str, line: int) -> None:
    found = _labels("rmf_interval").get(plain_label(name))
    if found is None or found.column in interval.values:
        if value:
            interval.extra[name] = value
        return
    if len(value) > 1 and value.endswith("*"):
        interval.changed.append(found.label)
        value = value[:-1].rstrip()
    interval.values[found.column] = value
    interval.lines[found.column] = line


def _table(interval: _Interval, part: str, table: Element, out: Out) -> None:
    heads = table.at("column-headers")
    headings = {plain_label(cell.text) for cell in heads.all("col")} if heads else set()
    if "CPUNUMBER" in headings:
        _cpus(interval, table, out)
    elif "PARTITIONNAME" in headings:
        _partitions(interval, table, out)
    elif headings == {"TYPE", "NUMBER"}:
        for row in table_rows(table, out):
            kind, number = row.cells.values()
            _variable(interval, kind, number, row.line)
    elif plain_label(part) not in _NOT_READ and (headings or table.at("row")):
        text = f"the table {shown(part)} is not one that zscope reads; it was passed over"
        sheet = out.sheet
        sheet.told += 1
        sheet.issues.add_once(
            Issue(Code.OTHER_REPORT, text, sheet.file, section=part[:60], line_no=table.line)
        )


def _cpus(interval: _Interval, table: Element, out: Out) -> None:
    above: dict[str, Any] = {}
    for row in table_rows(table, out):
        values, extra = by_column(row.cells, _labels("rmf_cpu"))
        _multithreading(values, extra)
        number = str(values.get("cpu_id", ""))
        values |= {"row_kind": "processor", "thread": 0}
        if row.total or number.upper().startswith(_TOTAL):
            values |= {"row_kind": "total", "cpu_id": None, "thread": None}
        elif not number or (number == above.get("number") and not values.get("online_pct")):
            if not above:
                out.unknown(row.line, " ".join(filter(None, row.cells.values())))
                continue
            above["thread"] += 1
            values |= above["core"] | {"row_kind": "thread", "thread": above["thread"]}
        made = out.row("rmf_cpu", row.line, values, extra)
        if made["row_kind"] == "processor":
            core = {name: made.get(name) for name in ("cpu_id", "cpu_type_name")}
            above = {"number": number, "core": core, "thread": 0}
        interval.cpus.append(made)


def _multithreading(values: dict[str, Any], extra: dict[str, str]) -> None:
    """How these columns are called is not published, so any name with the right word will do."""
    for word, column in (("PROD", "mt_productivity_pct"), ("UTIL", "mt_utilisation_pct")):
        alike = [heading for heading in extra if word in heading.upper()]
        if len(alike) == 1 and column not in values:
            values[column] = extra.pop(alike[0])


def _partitions(interval: _Interval, table: Element, out: Out) -> None:
    for row in table_rows(table, out):
        values, extra = by_column(row.cells, _labels("rmf_partition"))
        kind = _kind(row, values)
        status = str(values.pop("partition_status", ""))
        values |= {"row_kind": kind, "partition_status": _STATUS.get(status.upper(), status)}
        if kind == "partition" and (weight := values.get("weight")):
            values["dedicated"] = weight.upper() == "DED"
            if values["dedicated"]:
                values["weight"] = None
        interval.partitions.append(out.row("rmf_partition", row.line, values, extra))


def _kind(row: TableRow, values: Mapping[str, Any]) -> str:
    name = str(values["partition_name"]).upper()
    if row.total or (name == _TOTAL and not values.get("partition_status")):
        return "total"
    return "physical" if name == _PHYSICAL else "partition"


@cache
def _labels(table: str) -> Mapping[str, PrintedField]:
    return report_table(table).by_label()
