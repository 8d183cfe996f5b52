"""Read the reports of Postprocessor XML: CPU Activity with Partition Data, and Crypto Hardware Activity."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.captured_report import KnownFrom, Origin, ReportSource
from zscope.parsers.text.codecs import CODECS
from zscope.parsers.text.report_rows import ReportRows, quoted
from zscope.parsers.text.rmf.arithmetic import check_interval
from zscope.parsers.text.rmf.crypto_columns import (
    UNIT_KINDS,
    CryptoTable,
    crypto_column,
    is_known,
    unit_kind,
)
from zscope.parsers.text.spelling import nearly
from zscope.schemas.reports import PrintedField, PrintedFormat, plain_label, report_table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from zscope.parsers.text.report_rows import FileRows
    from zscope.parsers.text.rmf.xml_tree import XmlElement

_HOURS = re.compile(r"(\d{1,4})[.:](\d\d)[.:](\d\d)", re.ASCII)
_NEARLY_MS = 2_000
"""Accepted difference between the length of an interval and that of its rounded ends."""
_WANDERING_S = 5
"""A greater difference is not rounding: one of the figures is wrong."""

_NAMING = 2
"""Cells at the beginning of a row that identify it."""


@dataclass(frozen=True, slots=True)
class XmlRow:
    """A row of a table by column heading."""

    line: int
    cells: dict[str, str]
    total: bool
    """Whether the document marks it as a total."""


def open_report(unit: XmlElement, sheet: FileRows, *, second: bool) -> ReportRows:
    """Return the rows of this report, with its system and interval filled in."""
    out = ReportRows(sheet, Origin(ReportSource.XML))
    start = display_time(unit.text_at("time-data", "display-start"))
    resource = unit.at("resource", "resname")
    if system := one_line(resource, out):
        out.origin.system, out.origin.system_from = system, KnownFrom.REPORT
    else:
        line = resource.line if resource else unit.line
        out.issue(Code.BAD_VALUE, "the report names no system; the column is null", line, field="resname")
    if start:
        out.origin.time_from = KnownFrom.REPORT
    length = unit.at("time-data", "report-interval")
    out.common["interval_start_local"] = start
    out.common["second_hour"] = second or None
    end = display_time(unit.text_at("time-data", "display-end"))
    out.common["interval_ms"] = _length(length, start, end, out)
    _compare(unit, start, end, out)
    if start is None:
        printed = unit.at("time-data", "display-start")
        text = (
            f"{quoted(printed.text if printed else '')} is not the start of an interval; the column is null"
        )
        out.issue(Code.BAD_VALUE, text, printed.line if printed else unit.line, field="display-start")
    return out


def _compare(unit: XmlElement, start: datetime | None, end: datetime | None, out: ReportRows) -> None:
    """Report an end that is not after the start, or not as far from it as the length."""
    if start is None or end is None:
        return
    distance_s = (end - start).total_seconds()
    length = out.common["interval_ms"]
    if distance_s <= 0:
        text = "display-end is not after display-start"
    elif length is not None and abs(length / 1000 - distance_s) > _WANDERING_S:
        text = f"the interval has {length / 1000:g} s, but its start and end are {distance_s:g} s apart"
    else:
        return
    printed = unit.at("time-data", "display-end")
    line = printed.line if printed else unit.line
    out.issue(Code.ARITHMETIC, text, line, field="display-end", table="rmf_interval")


def display_time(text: str) -> datetime | None:
    """Return a printed time; None if it is invalid."""
    try:
        value: datetime = CODECS[PrintedFormat.TIME].decode(text)
    except ValueError:
        return None
    return value


def _length(
    element: XmlElement | None, start: datetime | None, end: datetime | None, out: ReportRows
) -> int | None:
    if element is None:
        return None
    try:
        value: int = CODECS[PrintedFormat.SPAN].decode(element.text)
    except ValueError:
        pass
    else:
        return value
    if start and end and (parts := _HOURS.fullmatch(element.text)):
        # Without milliseconds: accepted if the ends agree.
        hours, minutes, seconds = map(int, parts.groups())
        length = ((hours * 60 + minutes) * 60 + seconds) * 1000
        if abs(length - (end - start).total_seconds() * 1000) <= _NEARLY_MS:
            return length
    text = f"{quoted(element.text)} is not the length of the interval; the column is null"
    out.issue(Code.BAD_VALUE, text, element.line, field="report-interval")
    return None


def one_line(element: XmlElement | None, out: ReportRows) -> str:
    """Return the text of an element; no value contains a line end unless a tool added it."""
    if element is None:
        return ""
    if "\n" in element.text:
        text = f"{quoted(element.text)} is broken by a line end; it was skipped"
        out.issue(Code.BAD_VALUE, text, element.line)
        return ""
    return element.text


def table_headings(table: XmlElement, known: Collection[str], out: ReportRows) -> list[str]:
    """Return the column headings of a table; a heading that differs from a known one in a character becomes
    the known one, with an issue.
    """
    heads = table.at("column-headers")
    cells = list(heads.all("col")) if heads else []
    plain = {plain_label(cell.text) for cell in cells}
    missing = [label for label in known if label not in plain]
    headings = []
    for cell in cells:
        label = plain_label(cell.text)
        near = None if label in known else nearly(label, missing)
        if near:
            text = f"the column heading {quoted(cell.text)} is read as {near}, which differs in one character"
            out.issue(Code.UNKNOWN_COLUMN, text, cell.line, field=cell.text[:60])
        headings.append(near or cell.text)
    return headings


def table_rows(table: XmlElement, headings: Sequence[str], out: ReportRows) -> Iterator[XmlRow]:
    """Yield the rows of a table that are not empty."""
    names: list[str] = []
    for heading in headings:
        names.append(_unique_heading(heading, names))
    for row in table.all("row"):
        cells = [one_line(cell, out) for cell in row.all("col")]
        if not any(cells):
            continue
        if _only_begun(cells) and len(cells) < len(headings):
            # Real documents have these for deactivated partitions: one cell less than headings.
            cells += [""] * (len(headings) - len(cells))
        if len(cells) != len(headings):
            text = f"a row has {len(cells)} cells under {len(headings)} column headings; it was skipped"
            out.issue(Code.REPORT_UNREADABLE, text, row.line, 1)
            continue
        yield XmlRow(
            row.line, dict(zip(names, cells, strict=True)), row.attributes.get("type", "").upper() == "SUM"
        )


def _only_begun(cells: list[str]) -> bool:
    """Return whether only the cells that identify the row are filled: then none can be shifted."""
    return len(cells) > _NAMING and not any(cells[_NAMING:])


def _unique_heading(heading: str, others: Collection[str]) -> str:
    """Return the heading, with a number if the table has it already."""
    number, name = 1, heading
    while name in others:
        number += 1
        name = f"{heading} ({number})"
    return name


def by_column(
    cells: Mapping[str, str], labels: Mapping[str, PrintedField]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values of known columns, and the others by heading."""
    values: dict[str, Any] = {}
    extra: dict[str, str] = {}
    for heading, text in cells.items():
        field = labels.get(plain_label(heading))
        if field is not None and field.column not in values:
            values[field.column] = text
        elif text:
            extra[heading] = text
    return values, extra


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
"""Tables about address spaces and work units, which are not read."""
_PROCESSOR_HEADINGS = frozenset({"TYPE", "NUMBER"})
_PHYSICAL, _TOTAL = "*PHYSICAL*", "TOTAL"
_STATUS = {"A": "active", "ACTIVE": "active", "D": "deactivated", "DEACTIVATED": "deactivated"}


@dataclass
class _Interval:
    """The contents of one report."""

    values: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    cpus: list[dict[str, Any]] = field(default_factory=list)
    partitions: list[dict[str, Any]] = field(default_factory=list)


def read_cpu_xml(unit: XmlElement, sheet: FileRows, *, second: bool = False) -> None:
    """Read the CPU report of one interval, and check that its figures agree."""
    out = open_report(unit, sheet, second=second)
    out.add_report("RMF CPU Activity", unit.line)
    interval = _Interval()
    interval.values |= {
        "interval_end_local": unit.text_at("time-data", "display-end"),
        "cycle_length_ms": _cycle(unit, out),
        "zos_level": _level(unit.text_at("version", "smf-data")),
        "report_level": _level(unit.text_at("version", "rmf-report")),
    }
    for segment in unit.all("segment"):
        if plain_label(segment.text_at("name")).startswith("PARTITIONDATA"):
            out.add_report("RMF Partition Data", segment.line)
        for part in segment.all("part"):
            for variable in part.below("var"):
                value = one_line(variable.at("value"), out)
                _variable(interval, variable.text_at("name"), value, variable.line)
            for table in part.below("table"):
                _table(interval, part.text_at("name"), table, out)
    interval.values["changed_labels"] = ",".join(interval.changed) or None
    row = out.row("rmf_interval", unit.line, interval.values, interval.extra, interval.lines)
    check_interval({**out.common, **row}, interval.cpus, interval.partitions, out)


def _cycle(unit: XmlElement, out: ReportRows) -> int | None:
    element = unit.at("time-data", "cycle")
    if element is None:
        return None
    text = element.text
    in_milliseconds = element.attributes.get("unit", "milliseconds") == "milliseconds"
    if in_milliseconds and text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    out.issue(Code.BAD_VALUE, f"{quoted(text)} is not a number of milliseconds", element.line, field="cycle")
    return None


def _level(text: str) -> str:
    """Return the release without the name of the system, as a listing has it."""
    return text.removeprefix("z/OS").strip()


def _variable(interval: _Interval, name: str, value: str, line: int) -> None:
    field = _labels("rmf_interval").get(plain_label(name))
    if field is None or field.column in interval.values:
        if value:
            interval.extra[name] = value
        return
    if len(value) > 1 and value.endswith("*"):
        interval.changed.append(field.label)
        value = value[:-1].rstrip()
    interval.values[field.column] = value
    interval.lines[field.column] = line


def _table(interval: _Interval, part: str, table: XmlElement, out: ReportRows) -> None:
    known = _PROCESSOR_HEADINGS | _labels("rmf_cpu").keys() | _labels("rmf_partition").keys()
    headings = table_headings(table, () if plain_label(part) in _NOT_READ else known, out)
    labels = {plain_label(heading) for heading in headings}
    if "CPUNUMBER" in labels:
        _cpus(interval, table, headings, out)
    elif "PARTITIONNAME" in labels:
        _partitions(interval, table, headings, out)
    elif labels == _PROCESSOR_HEADINGS:
        for row in table_rows(table, headings, out):
            kind, number = row.cells.values()
            _variable(interval, kind, number, row.line)
    elif plain_label(part) not in _NOT_READ and (headings or table.at("row")):
        text = f"the table {quoted(part)} is not one that zscope reads; it was skipped"
        sheet = out.sheet
        sheet.issue_count += 1
        sheet.issues.add_once(
            Issue(Code.OTHER_REPORT, text, sheet.file, section=part[:60], line_no=table.line)
        )


def _cpus(interval: _Interval, table: XmlElement, headings: Sequence[str], out: ReportRows) -> None:
    above: dict[str, Any] = {}
    for row in table_rows(table, headings, out):
        values, extra = by_column(row.cells, _labels("rmf_cpu"))
        _multithreading(values, extra)
        number = str(values.get("cpu_id", ""))
        values |= {"row_kind": "processor", "thread": 0}
        if row.total or number.upper().startswith(_TOTAL):
            values |= {"row_kind": "total", "cpu_id": None, "thread": None}
        elif not number or (number == above.get("number") and not values.get("online_pct")):
            if not above:
                out.add_unknown_line(row.line, " ".join(filter(None, row.cells.values())))
                continue
            above["thread"] += 1
            values |= above["core"] | {"row_kind": "thread", "thread": above["thread"]}
        added = out.row("rmf_cpu", row.line, values, extra)
        if added["row_kind"] == "processor":
            core = {name: added.get(name) for name in ("cpu_id", "cpu_type_name")}
            above = {"number": number, "core": core, "thread": 0}
        interval.cpus.append(added)


def _multithreading(values: dict[str, Any], extra: dict[str, str]) -> None:
    """Assign the multithreading columns; their headings are not published, so any with the right word is
    accepted.
    """
    for word, column in (("PROD", "mt_productivity_pct"), ("UTIL", "mt_utilisation_pct")):
        alike = [heading for heading in extra if word in heading.upper()]
        if len(alike) == 1 and column not in values:
            values[column] = extra.pop(alike[0])


def _partitions(interval: _Interval, table: XmlElement, headings: Sequence[str], out: ReportRows) -> None:
    for row in table_rows(table, headings, out):
        values, extra = by_column(row.cells, _labels("rmf_partition"))
        kind = _kind(row, values)
        status = str(values.pop("partition_status", ""))
        values |= {"row_kind": kind, "partition_status": _STATUS.get(status.upper(), status)}
        if kind == "partition" and (weight := values.get("weight")):
            values["dedicated"] = weight.upper() == "DED"
            if values["dedicated"]:
                values["weight"] = None
        interval.partitions.append(out.row("rmf_partition", row.line, values, extra))


def _kind(row: XmlRow, values: Mapping[str, Any]) -> str:
    name = str(values["partition_name"]).upper()
    if row.total or (name == _TOTAL and not values.get("partition_status")):
        return "total"
    return "physical" if name == _PHYSICAL else "partition"


@cache
def _labels(table: str) -> Mapping[str, PrintedField]:
    return report_table(table).by_label()


def read_crypto_xml(unit: XmlElement, sheet: FileRows, *, second: bool = False) -> None:
    """Read the crypto report of one interval, as far as its column headings are known."""
    out = open_report(unit, sheet, second=second)
    out.add_report("RMF Crypto Hardware Activity", unit.line)
    for segment in unit.all("segment"):
        name = segment.text_at("name")
        kind = unit_kind(name)
        if kind not in UNIT_KINDS:
            text = f"the part {quoted(name)} is not known: it is the kind of the units in its rows"
            out.issue(Code.UNKNOWN_COLUMN, text, segment.line, field=name[:60], table="rmf_crypto")
        rows = CryptoTable(kind, out)
        for table in segment.below("table"):
            headings = table_headings(table, (), out)
            for heading in headings:
                if not is_known(crypto_column(heading)):
                    text = f"the column heading {quoted(heading)} is not known"
                    line = (table.at("column-headers") or table).line
                    out.issue(Code.UNKNOWN_COLUMN, text, line, field=heading[:60], table="rmf_crypto")
            for row in table_rows(table, headings, out):
                cells = [(crypto_column(heading), text) for heading, text in row.cells.items()]
                rows.read_cells(row.line, cells)
