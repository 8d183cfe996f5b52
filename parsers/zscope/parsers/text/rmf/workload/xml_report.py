"""The Workload Activity report of Postprocessor XML: service classes, workloads, report classes.

Names such as CPU are in several parts of a class, so a value is identified by part and name. The report adds
up all systems of its last segment. Sample data and tests write it from rows of `rmf_workload`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.captured_report import KnownFrom
from zscope.parsers.text.codecs import CODECS
from zscope.parsers.text.report_rows import NO_VALUE, quoted
from zscope.parsers.text.rmf.workload.workload_labels import labels
from zscope.parsers.text.rmf.workload.workload_rows import (
    NAME,
    PERIOD,
    TABLE,
    WorkloadClass,
    WorkloadFacts,
    seconds_of,
    write_classes,
)
from zscope.parsers.text.rmf.xml_reports import one_line, open_report, table_headings, table_rows
from zscope.parsers.text.rmf.xml_write import XmlIds, XmlTable, document, inside, leaf, report_times
from zscope.parsers.text.spelling import nearly
from zscope.schemas.reports import PrintedFormat, plain_label, report_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zscope.parsers.text.report_rows import FileRows, ReportRows
    from zscope.parsers.text.rmf.xml_tree import XmlElement
    from zscope.schemas.reports import PrintedField

Row = Mapping[str, Any]

_KINDS = {"Service Class": "service class", "Workload": "workload", "Report Class": "report class"}
_POLICY_SECTION, _ACTIVATION = "Service Policy Section", "Policy Activation"
_GOALS = "Goals/Actuals Summary"
_SEGMENT = re.compile(rf"(?P<kind>{'|'.join(_KINDS)}) +(?P<name>\S+)(?: +(?P<rest>.*))?$", re.IGNORECASE)
_PERIOD = re.compile(r"(?:.* )?Period (?P<number>[1-9]\d?)", re.ASCII | re.IGNORECASE)
_REMARK = re.compile(r" *\([^()]*\)")
_ELAPSED = re.compile(r"(\d{1,6})\.(\d\d)\.(\d\d)\.(\d{6})", re.ASCII)
_PARTS = frozenset(
    plain_label(name)
    for name in (
        *("Transactions", "Transaction Time", "Transaction Application Time %", "Enclaves", "Service"),
        *("Service Time", "Application Time %", "Promoted Transactions", "DASD I/O", "Storage Frames"),
        *("Page-In Rates", _GOALS),
    )
)
_POLICY_PARTS = frozenset(
    map(
        plain_label,
        ("Service Definition", "Service Definition Coefficients", "Normalization Factors", "Systems"),
    )
)
_ZERO = "ALLDATAZERO"
_GOAL_COLUMNS = {"# of Transactions": "Transactions: Ended"}
_WRITTEN_PARTS = (
    "Transactions",
    "Transaction Time",
    "Service",
    "Service Time",
    "Application Time %",
    "Promoted Transactions",
)
_FORMS = {"Transaction Time": " (HHH.MM.SS.FFFFFF)"}
_FIRST_LABELS = ("Policy", "Workload", "Description", "Resource Group")
_GOAL_LABELS = (
    "Period", "Importance", "Performance Index", "# of Transactions", "Response Time Goal",
    "Execution Velocity % Goal", "Execution Velocity % Actual", "Total Using %", "Execution Delay %",
)  # fmt: skip
_DECIMALS = {"Service Time": 3, "Promoted Transactions": 3, "Transactions": 2, "Application Time %": 2}


def read_workload_xml(unit: XmlElement, sheet: FileRows, *, second: bool = False) -> None:
    """Read the report of one interval."""
    out = open_report(unit, sheet, second=second)
    facts = WorkloadFacts()
    classes: list[WorkloadClass] = []
    for segment in unit.all("segment"):
        name = segment.text_at("name")
        if plain_label(name) == plain_label(_POLICY_SECTION):
            _read_policy(segment, facts, out)
        elif match := _SEGMENT.match(" ".join(name.split())):
            kind = next(text for label, text in _KINDS.items() if label.upper() == match["kind"].upper())
            found = WorkloadClass(kind, match["name"], segment.line)
            if match["rest"]:
                found.extra["segment"] = name
                if period := _PERIOD.fullmatch(match["rest"]):
                    found.kind, found.values["period_no"] = PERIOD, period["number"]
            _read_class(segment, found, out)
            classes.append(found)
        elif plain_label(name) == plain_label(_ACTIVATION):
            for part in segment.all("part"):
                _keep_facts(_ACTIVATION, part, facts, out)
        else:
            problem = f"the part {quoted(name)} of the report is not known; it is skipped"
            out.issue(Code.UNKNOWN_LINE, problem, segment.line, field=name[:60], table=TABLE)
    _set_system(unit, facts, out)
    out.add_report(NAME, unit.line)
    option = metric.attributes.get("option") if (metric := unit.at("metric")) else None
    if not option:
        problem = "the report does not show its option; the column is null"
        out.issue(Code.BAD_VALUE, problem, unit.line, field="option", table=TABLE)
    common = {
        "sysplex": unit.text_at("resource", "resname") or None,
        "systems": ", ".join(facts.systems) or None,
        "interval_end_local": unit.text_at("time-data", "display-end"),
        "report_option": option or None,
        "ziip_factor": facts.ziip_factor,
        "zaap_factor": facts.zaap_factor,
    }
    write_classes(classes, common, facts, out)
    if not classes:
        problem = "the report has no service class, workload or report class"
        out.issue(Code.REPORT_UNREADABLE, problem, unit.line, 1, table=TABLE)


def _set_system(unit: XmlElement, facts: WorkloadFacts, out: ReportRows) -> None:
    """Set the system of the rows: the only one of the report, or none."""
    if unit.text_at("resource", "restype").upper() == "SYSTEM":
        return
    origin = out.origin
    if len(facts.systems) == 1:
        origin.system, origin.system_from = facts.systems[0], KnownFrom.REPORT
    else:
        origin.system, origin.system_from = None, None


def _read_policy(segment: XmlElement, facts: WorkloadFacts, out: ReportRows) -> None:
    for part in segment.all("part"):
        name = plain_label(part.text_at("name"))
        if name and name not in _POLICY_PARTS:
            problem = f"the part {quoted(part.text_at('name'))} of the policy is not known"
            problem += "; its values are stored in `extra`"
            out.issue(Code.UNKNOWN_COLUMN, problem, part.line, field=name[:60], table=TABLE)
        if name == "NORMALIZATIONFACTORS":
            for label, text, line in _variables(part, out):
                factor = _factor(label, text, line, out)
                if plain_label(label) == "ZIIP":
                    facts.ziip_factor = factor
                elif plain_label(label) == "ZAAP":
                    facts.zaap_factor = factor
                else:
                    problem = f"the processor {quoted(label)} of a normalization factor is not known"
                    out.issue(Code.UNKNOWN_COLUMN, problem, line, field=label[:60], table=TABLE)
                    facts.extra[f"{part.text_at('name')}: {label}"] = text
        else:
            _keep_facts(part.text_at("name"), part, facts, out)
        for table in part.below("table"):
            _read_systems(part.text_at("name"), table, facts, out)


def _read_systems(title: str, table: XmlElement, facts: WorkloadFacts, out: ReportRows) -> None:
    """Add the systems of a table, and store its other cells by the first one of their row."""
    headings = table_headings(table, {"SYSTEMID"}, out)
    for row in table_rows(table, headings, out):
        name = next(iter(row.cells.values()), "")
        for heading, text in row.cells.items():
            if plain_label(heading) == "SYSTEMID":
                facts.systems += [text] if text else []
            elif text.upper() not in NO_VALUE:
                facts.extra[f"{title}: {name}: {heading}"] = text


def _keep_facts(title: str, part: XmlElement, facts: WorkloadFacts, out: ReportRows) -> None:
    """Store the variables of a part about the policy, which have no columns."""
    for label, text, _ in _variables(part, out):
        if text.upper() not in NO_VALUE:
            facts.extra[f"{title}: {label}"] = text


def _factor(label: str, text: str, line: int, out: ReportRows) -> float | None:
    if text.upper() in NO_VALUE:
        return None
    try:
        value: float = CODECS[PrintedFormat.NUMBER].decode(text)
    except ValueError:
        problem = f"{quoted(text)} is not a normalization factor; the column is null"
        out.issue(Code.BAD_VALUE, problem, line, field=label[:60], table=TABLE)
        return None
    return value


def _variables(part: XmlElement, out: ReportRows) -> Iterator[tuple[str, str, int]]:
    for variable in part.below("var"):
        yield variable.text_at("name"), one_line(variable.at("value"), out).strip(), variable.line


def _read_class(segment: XmlElement, found: WorkloadClass, out: ReportRows) -> None:
    if any(plain_label(message.text_at("description")) == _ZERO for message in segment.below("message")):
        found.values["all_zero"] = True
    for part in segment.all("part"):
        title = _REMARK.sub("", part.text_at("name")).strip()
        if title and plain_label(title) not in _PARTS:
            problem = (
                f"the part {quoted(title)} of {found.name} is not known; its values are stored in `extra`"
            )
            out.issue(Code.UNKNOWN_COLUMN, problem, part.line, field=title[:60], table=TABLE)
        for label, text, line in _variables(part, out):
            _put(found, f"{title}: {label}" if title else label, text, line, out)
        for table in part.below("table"):
            if plain_label(title) == plain_label(_GOALS):
                _read_goals(table, found, out)
            else:
                _keep_table(title, table, found, out)


def _put(found: WorkloadClass, label: str, text: str, line: int, out: ReportRows) -> None:
    """Set a value. A repeated name can stand in the place of another one: the first counts."""
    printed = labels().get(plain_label(label))
    if printed is None:
        if near := nearly(plain_label(label), labels()):
            problem = f"the name {quoted(label)} is unknown, and differs in one character from {near}"
            out.issue(Code.UNKNOWN_COLUMN, problem, line, field=label[:60], table=TABLE)
        if text and not (label in {"Service Class", "Report Class"} and text == found.name):
            found.extra[label] = text
        return
    if printed.column in found.lines:
        # A real report has a second MPL in the place of Ended: whatever it stands for is not known.
        found.extra[f"{label} (2)"] = text
        return
    found.lines[printed.column] = line
    if printed.format is PrintedFormat.MADE:
        found.values[printed.column] = _elapsed_us(label, text, line, out)
    else:
        found.values[printed.column] = text
        if text.upper() not in NO_VALUE and seconds_of(text) is None:
            found.damaged.add(printed.column)


def _elapsed_us(label: str, text: str, line: int, out: ReportRows) -> int | None:
    if text.upper() in NO_VALUE:
        return None
    match = _ELAPSED.fullmatch(text)
    if match is None or int(match[2]) > 59 or int(match[3]) > 59:
        problem = f"{quoted(text)} is not a time such as 000.00.01.250000; the column is null"
        out.issue(Code.BAD_VALUE, problem, line, field=label[:60], table=TABLE)
        return None
    hours, minutes, seconds, rest = map(int, match.groups())
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + rest


def _read_goals(table: XmlElement, found: WorkloadClass, out: ReportRows) -> None:
    headings = table_headings(table, {"PERIOD"}, out)
    for row in table_rows(table, headings, out):
        if row.total:
            continue
        values: dict[str, Any] = {}
        extra: dict[str, str] = {}
        for heading, text in row.cells.items():
            label = _GOAL_COLUMNS.get(heading, f"Goals: {heading}")
            printed = labels().get(plain_label(label))
            if printed is not None and printed.column not in values:
                values[printed.column] = text
            elif text:
                extra[heading] = text
                if nearly(plain_label(label), labels()):
                    problem = f"the column heading {quoted(heading)} is not known"
                    out.issue(Code.UNKNOWN_COLUMN, problem, row.line, field=heading[:60], table=TABLE)
        found.periods.append((row.line, values, extra))


def _keep_table(title: str, table: XmlElement, found: WorkloadClass, out: ReportRows) -> None:
    """Store the cells of a table that has no columns here in `extra`."""
    headings = table_headings(table, (), out)
    for row in table_rows(table, headings, out):
        names = list(row.cells.values())
        for heading, text in list(row.cells.items())[1:]:
            if text:
                found.extra[f"{title}: {names[0]}: {heading}"] = text


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
        *ids.segment(_ACTIVATION, lambda: [ids.part("", {"Date": "03/01/2026", "Time": "00.00.00"})]),
    ]
    titles = {kind: title for title, kind in _KINDS.items()}
    for row in rows:
        if row["class_kind"] != PERIOD:
            name = f"{titles[row['class_kind']]} {row['class_name']}"
            content += _segment(ids, name, row, rows)
    content += ids.segment(_POLICY_SECTION, partial(_policy, ids, first))
    return inside("postprocessor", content)


def _segment(ids: XmlIds, name: str, row: Row, rows: Sequence[Row]) -> list[str]:
    lines = ids.segment(name, lambda: _parts(ids, row, rows))
    if row.get("all_zero"):
        message = [*leaf("description", "All data zero"), *leaf("severity", "1")]
        lines[-1:-1] = [f"    {line}" for line in inside("message", message, id="ERB00001")]
    return lines


def _parts(ids: XmlIds, row: Row, rows: Sequence[Row]) -> Iterator[list[str]]:
    yield ids.part("", {label: _printed(row, _column(label)) for label in _FIRST_LABELS})
    if row.get("all_zero"):
        return
    for title in _WRITTEN_PARTS:
        fields = {
            printed.label.partition(": ")[2]: printed
            for printed in report_table("rmf_workload").columns
            if printed.label.partition(": ")[0] == title
        }
        values = {name: _printed(row, printed, _DECIMALS.get(title, 0)) for name, printed in fields.items()}
        yield ids.part(f"{title}{_FORMS.get(title, '')}", values)
    periods = [
        each for each in rows if each["class_kind"] == PERIOD and each["class_name"] == row["class_name"]
    ]
    if periods and row["class_kind"] != "workload":
        cells = [[_goal(period, name) for name in _GOAL_LABELS] for period in periods]
        yield ids.part(
            _GOALS, table=XmlTable([(name, "T") for name in _GOAL_LABELS], [(line, False) for line in cells])
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
    text = _printed(row, _column(label), 1)
    return "" if text == "N/A" else text


def _printed(row: Row, printed: PrintedField, decimals: int = 2) -> str:
    value = row.get(printed.column)
    if value is None:
        return "N/A"
    if printed.format is PrintedFormat.MADE:
        seconds, rest = divmod(int(value), 1_000_000)
        return f"{seconds // 3600:03}.{seconds // 60 % 60:02}.{seconds % 60:02}.{rest:06}"
    return f"{value:.{decimals}f}" if printed.format is PrintedFormat.NUMBER else str(value)
