"""Read the Workload Activity report of listings: one block for each class, workload or period.

No current listing is published. Values are identified by the heading of their group and their label. A block
or a line without the expected ones becomes an issue that recommends the report in XML.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.captured_report import KnownFrom, Origin
from zscope.parsers.text.report_rows import ReportRows, quoted
from zscope.parsers.text.rmf.label_lines import LONGEST
from zscope.parsers.text.rmf.page_heading import is_set_back
from zscope.parsers.text.rmf.workload.workload_labels import (
    GROUPS,
    NO_COLUMN,
    Group,
    LabelCell,
    column_of,
    group_headings,
    label_cells,
    labels,
    printed_value,
)
from zscope.parsers.text.rmf.workload.workload_rows import (
    CP_PARTS,
    NAME,
    PERIOD,
    SPECIAL,
    TABLE,
    WorkloadClass,
    WorkloadFacts,
    write_classes,
)
from zscope.parsers.text.spelling import edit_distance, nearly
from zscope.schemas.reports import plain_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.parsers.text.captured_report import CapturedReport, Line
    from zscope.parsers.text.report_rows import FileRows
    from zscope.parsers.text.rmf.page_heading import RmfHeading

ASK_FOR_XML = "request the report in XML"
REPORT_BY = "REPORT BY:"
_KEYS = {
    "POLICY": "policy_name",
    "WORKLOAD": "workload_name",
    "SERVICE CLASS": "",
    "REPORT CLASS": "",
    "RESOURCE GROUP": "resource_group",
    "PERIOD": "period_no",
    "IMPORTANCE": "goal_importance",
    "DESCRIPTION": "class_description",
    "CRITICAL": "",
    "HONOR PRIORITY": "",
}
"""Keys of the first lines of a block, with their columns."""
_KEY = re.compile(
    rf"(?<!\S)(?P<key>{'|'.join(key.replace(' ', ' ?') for key in sorted(_KEYS, key=len, reverse=True))}) *=",
    re.IGNORECASE,
)
_OTHER_PAIR = re.compile(r"(?<!\S)(?P<key>[^\s=]+(?: [^\s=]+)?) *= *(?P<value>[^\s=]+)(?!\S)")
_REPORT_BY = re.compile(r"\s*REPORT +BY *:(?P<rest>.*)", re.IGNORECASE)
_NAME = re.compile(r"[^\s=,;:()]{1,8}")
_NUMBER = re.compile(r"[1-9]\d?", re.ASCII)
_ALL_ZERO = re.compile(r"\W*ALL DATA ZERO\W*", re.IGNORECASE)
_GOAL = re.compile(r"\s*GOAL *:", re.IGNORECASE)
_SECTION = re.compile(
    r"[- ]*(?:SERV(?:ICE|\.)? *CLASS|REPORT CLASS|WORKLOAD|SERVICE POLICY)(?:\(?E?S\)?)?"
    r"(?: PERIOD(?:\(S\)|S)?)?[- ]*",
    re.IGNORECASE,
)
_ACTIVATION = re.compile(r"\s*POLICY ACTIVATION DATE/TIME +[\d/]+ +[\d.]+\s*", re.ASCII | re.IGNORECASE)
_RULE = re.compile(r"[-\s]*")
_MOST_PAGES = 500
_GOALS_FIELD = "GOAL"

Identity = tuple[str | None, str | None, datetime, int | None]
ClassIdentity = tuple[str, str, Any]


@dataclass(slots=True)
class _Block:
    """The rows of one REPORT BY, as far as they are read."""

    found: WorkloadClass
    groups: dict[str, int] = field(default_factory=dict)
    """The groups so far, each with the line of its heading."""
    labels: set[str] = field(default_factory=set)
    """The labels so far, in the form of `plain_label`."""
    last_values: list[tuple[str, str, int, int]] = field(default_factory=list)
    """The last values of lines: group, column, end, line."""
    ends: dict[str, list[int]] = field(default_factory=dict)
    """Ends of the values of each group."""


class WorkloadListing:
    """Reads the Workload Activity pages of one file."""

    def __init__(self, sheet: FileRows) -> None:
        self._sheet = sheet
        self._report: _WorkloadReport | None = None
        self._classes: dict[Identity, dict[ClassIdentity, int]] = {}
        """The classes of each interval so far, with their lines."""

    def read(self, page: CapturedReport, heading: RmfHeading) -> None:
        """Read one page."""
        assert heading.identity is not None, "the caller skips such pages"
        named = heading.has_system
        system = heading.identity.system if named else page.origin.system
        identity = (system, heading.sysplex, heading.identity.start, heading.identity.interval_ms)
        report = self._report
        if report is None or report.identity != identity or report.pages == _MOST_PAGES:
            self.finish()
            origin = Origin(
                page.origin.source,
                system,
                KnownFrom.REPORT if named else page.origin.system_from,
                heading.identity.start.date(),
                heading.identity.start.time(),
                KnownFrom.REPORT,
                page.origin.run,
            )
            common = {
                "interval_start_local": heading.identity.start,
                "interval_ms": heading.identity.interval_ms,
                "second_hour": None,
            }
            report = self._report = _WorkloadReport(
                identity, heading, ReportRows(self._sheet, origin, common)
            )
        report.read(heading, max(len(line.text) for line in page.lines))

    def finish(self) -> None:
        """Write the report that is still open."""
        if self._report is not None:
            self._report.write(self._classes.setdefault(self._report.identity, {}))
            self._report = None


@dataclass(slots=True)
class _WorkloadReport:
    """The pages of one report that follow each other."""

    identity: Identity
    first: RmfHeading
    out: ReportRows
    pages: int = 0
    _last_page: int | None = None
    _blocks: list[_Block] = field(default_factory=list)
    _block: _Block | None = None
    _skipping: bool = False
    """Whether the lines belong to a block that cannot be read, which an issue reports."""
    _headings: Sequence[Group] = ()
    _goals: bool = False
    """Whether the lines are about goals, which are not read."""
    _goal_lines: int = 0
    _width: int = 0
    _incomplete: set[str] = field(default_factory=set)
    """The groups below the current headings that a line lacked."""

    def read(self, heading: RmfHeading, width: int) -> None:
        """Read one page; `width` is the length of its longest line."""
        self.pages += 1
        if self._last_page is not None and heading.page is not None and heading.page > self._last_page + 1:
            problem = f"the pages from {self._last_page + 1} to {heading.page - 1} of this report are missing"
            self.out.issue(Code.REPORT_CUT, problem, heading.line_no, 1)
            self._end_block()
        self._last_page = heading.page
        self._width = width
        for line in heading.body:
            if line.text.strip():
                self._read_line(line)

    def _read_line(self, line: Line) -> None:
        text = line.text
        if len(text) > LONGEST:
            self._end_block()
            self._refuse(line, f"a line of {len(text):,} characters is no print line")
        elif match := _REPORT_BY.fullmatch(text):
            self.out.used(line.no)
            self._begin_block(line, match["rest"])
        elif _RULE.fullmatch(text) or _SECTION.fullmatch(text) or _ACTIVATION.fullmatch(text):
            self._headings = ()
            self.out.furniture(line.no)
        elif self._is_damaged_beginning(text):
            self._end_block()
            self._refuse(line, f"{quoted(text.strip())} seems to be the beginning of a block")
        elif _GOAL.match(text):
            self._headings, self._goals = (), True
            self._goal_lines = self._goal_lines or line.no
            self.out.skipped([line])
        elif groups := group_headings(text):
            self.out.furniture(line.no)
            self._read_headings(line, groups)
        elif self._goals or self._skipping:
            self.out.skipped([line])
        else:
            self._read_content(line)

    def _read_content(self, line: Line) -> None:
        block = self._block
        if block is None:
            self.out.add_unknown_line(line.no, line.text, self.first.title)
        elif self._headings:
            self._read_labels(block, line)
        elif _ALL_ZERO.fullmatch(line.text) and not block.groups:
            block.found.values["all_zero"] = True
            self.out.used(line.no)
        elif block.groups or not self._read_pairs(line, line.text, block.found):
            self.out.add_unknown_line(line.no, line.text, self.first.title)
        else:
            self.out.used(line.no)

    @staticmethod
    def _is_damaged_beginning(text: str) -> bool:
        if "=" not in text:
            return False
        begin = text.strip().upper()
        return any(edit_distance(begin[:length], REPORT_BY) <= 1 for length in (9, 10, 11)) or (
            "POLICY" in begin and len(_KEY.findall(begin)) > 1
        )

    def _end_block(self) -> None:
        self._block, self._headings, self._goals, self._skipping = None, (), False, False

    def _refuse(self, line: Line, why: str) -> None:
        problem = f"{why}; the lines below are not read: {ASK_FOR_XML}"
        self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, 1, table=TABLE)
        self._skipping = True

    def _begin_block(self, line: Line, text: str) -> None:
        self._end_block()
        found = WorkloadClass("", "", line.no)
        if not self._read_pairs(line, text, found):
            self._refuse(line, f"{quoted(line.text.strip())} is not completely known")
            return
        names = {kind: found.extra.pop(kind.upper(), "") for kind in ("service class", "report class")}
        given = [(kind, name) for kind, name in names.items() if name]
        workload, period = found.values.get("workload_name"), found.values.get("period_no")
        if not given and workload and period is None:
            given = [("workload", str(workload))]
        if len(given) != 1:
            self._refuse(
                line, f"{quoted(line.text.strip())} names no service class, report class or workload"
            )
            return
        found.kind, found.name = given[0]
        if period is not None:
            found.kind = PERIOD
        self._block = _Block(found)
        self._blocks.append(self._block)

    def _read_pairs(self, line: Line, text: str, found: WorkloadClass) -> bool:
        """Read keys and values; return whether the line has nothing else."""
        keys = list(_KEY.finditer(text))
        bounds = [*(match.start() for match in keys), len(text)]
        rest = [text[: bounds[0]]]
        for match, end in zip(keys, bounds[1:], strict=True):
            key = next(key for key in _KEYS if plain_label(key) == plain_label(match["key"]))
            value = text[match.end() : end].strip()
            if key != "DESCRIPTION":
                value, _, more = value.partition(" ")
                rest.append(more)
            if not self._put_pair(key, value, found):
                return False
        for other in rest:
            for pair in _OTHER_PAIR.finditer(other):
                if nearly(plain_label(pair["key"]), map(plain_label, _KEYS)):
                    return False
                problem = f"the key {quoted(pair['key'])} is not known; its value is stored in `extra`"
                self.out.issue(Code.UNKNOWN_COLUMN, problem, line.no, field=pair["key"][:60], table=TABLE)
                found.extra[pair["key"]] = pair["value"]
            if _OTHER_PAIR.sub("", other).strip():
                return False
        return bool(keys)

    @staticmethod
    def _put_pair(key: str, value: str, found: WorkloadClass) -> bool:
        """Set a value; return False if it is not one of the key, or there is another one."""
        column = _KEYS[key]
        if key in {"POLICY", "WORKLOAD", "SERVICE CLASS", "REPORT CLASS"} and not _NAME.fullmatch(value):
            return False
        if key == "PERIOD" and not _NUMBER.fullmatch(value):
            return False
        if "=" in value or key in found.extra or column in found.values:
            return False
        if column:
            found.values[column] = value
            found.lines[column] = found.line
        else:
            found.extra[key] = value
        return True

    def _read_headings(self, line: Line, groups: Sequence[Group]) -> None:
        self._goals = False
        block = self._block
        repeated = [group.name for group in groups if block is not None and group.name in block.groups]
        if repeated or (block is None and not self._skipping):
            self._end_block()
            why = "is repeated in a block" if repeated else "is in no block"
            self._refuse(line, f"the heading {quoted(repeated[0] if repeated else groups[0].name)} {why}")
            return
        if block is None:
            return
        self._headings = groups
        self._incomplete = set()
        for group in groups:
            block.groups[group.name] = line.no
            if not group.known:
                problem = f"the heading {quoted(group.name)} is not known; its values are stored in `extra`"
                self.out.issue(Code.UNKNOWN_COLUMN, problem, line.no, field=group.name[:60], table=TABLE)

    def _read_labels(self, block: _Block, line: Line) -> None:
        cells = label_cells(line.text, self._headings)
        if cells is None:
            problem = f"it is not certain to which headings the labels in {quoted(line.text)} belong; their "
            problem += f"columns are null: {ASK_FOR_XML}"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line.no, 1, table=TABLE)
            # The line can have the seconds on zIIPs and zAAPs.
            block.found.damaged.update(SPECIAL)
            return
        self.out.used(line.no)
        present = {cell.group.name for cell in cells}
        if gaps := sorted(present & self._incomplete):
            problem = f"the line above has no label of {', '.join(gaps)}: it seems to be cut off"
            self.out.issue(Code.REPORT_CUT, problem, line.no, 1, table=TABLE)
            self._incomplete -= present
        self._incomplete |= {group.name for group in self._headings} - present
        for cell in cells:
            self._put(block, cell, line, last=cell is cells[-1])

    def _put(self, block: _Block, cell: LabelCell, line: Line, *, last: bool) -> None:
        found, plain = block.found, plain_label(cell.name)
        if plain in block.labels:
            problem = f"the label {quoted(cell.name)} is repeated in the block; the first one counts"
            self.out.issue(Code.BAD_VALUE, problem, line.no, field=cell.name[:60], table=TABLE)
            found.extra[f"{cell.name} (2)"] = cell.value
            return
        block.labels.add(plain)
        printed = column_of(cell.group, cell.label)
        if printed is None or printed.column in found.values:
            if printed is not None or (cell.group.name in GROUPS and plain not in NO_COLUMN):
                problem = (
                    f"the label {quoted(cell.name)} is not known or repeated; its value is stored in `extra`"
                )
                self.out.issue(Code.UNKNOWN_COLUMN, problem, line.no, field=cell.name[:60], table=TABLE)
            found.extra[cell.name] = cell.value
            return
        try:
            value, rounding = printed_value(cell.value, printed, cell.group.fraction)
        except ValueError:
            problem = f"{quoted(cell.value)} is not a value of {cell.name}; the column is null"
            self.out.issue(Code.BAD_VALUE, problem, line.no, field=cell.name[:60], table=TABLE)
            value, rounding = None, 0.0
            found.damaged.add(printed.column)
        if cell.value and cell.end == self._width:
            problem = (
                f"{quoted(cell.value)} of {cell.name} ends where the page is cut off; the column is null"
            )
            self.out.issue(Code.REPORT_CUT, problem, line.no, cell.end, field=cell.name[:60], table=TABLE)
            value, rounding = None, 0.0
            found.damaged.add(printed.column)
        block.ends.setdefault(cell.group.name, []).append(cell.end)
        if last and value is not None:
            block.last_values.append((cell.group.name, printed.column, cell.end, line.no))
        found.lines[printed.column] = line.no
        found.values[printed.column] = value
        if rounding:
            # The text shows to which digit the number is exact.
            found.extra[cell.name] = cell.value
            found.rounding_s += rounding if printed.column in (*CP_PARTS, "ziip_s", "zaap_s") else 0.0

    def write(self, before: dict[ClassIdentity, int]) -> None:
        """Add the rows; `before` has the classes of earlier reports of the same interval."""
        out, first = self.out, self.first
        out.add_report(NAME, first.line_no)
        if self._goal_lines:
            problem = f"goals and the tables below them are not read in listings: {ASK_FOR_XML}"
            out.issue(Code.OTHER_REPORT, problem, self._goal_lines, field=_GOALS_FIELD, table=TABLE)
        if not self._blocks:
            problem = f"the report has no block that begins with {REPORT_BY}: {ASK_FOR_XML}"
            out.issue(Code.REPORT_UNREADABLE, problem, first.line_no, 1, table=TABLE)
        complete = [block.found for block in self._blocks if self._is_complete(block)]
        self._report_repeated(complete, before)
        common = {
            "sysplex": first.sysplex,
            "interval_end_local": first.identity.end if first.identity else None,
        }
        write_classes(complete, common, WorkloadFacts(), out)

    def _is_complete(self, block: _Block) -> bool:
        """Return whether a block has a group with all expected labels; every group without is reported."""
        found = block.found
        self._report_cut(block)
        if found.values.get("all_zero") and not block.groups:
            return True
        complete = False
        for name in (each for each in block.groups if each in GROUPS):
            alike = self._alike(block, name)
            missing = [label for label in GROUPS[name] if plain_label(f"{name}: {label}") not in alike]
            complete = complete or not missing
            if missing:
                problem = f"the group {name} of {found.name} has no label {', '.join(missing)}: {ASK_FOR_XML}"
                out = self.out
                out.issue(Code.REPORT_UNREADABLE, problem, block.groups[name], 1, field=name, table=TABLE)
        if complete:
            return True
        problem = (
            f"the block of {found.name} has no group with the expected labels; it is skipped: {ASK_FOR_XML}"
        )
        self.out.issue(Code.REPORT_UNREADABLE, problem, found.line, 1, table=TABLE)
        return False

    def _report_cut(self, block: _Block) -> None:
        """Report values at the end of lines that end before all others of their group, and make them null."""
        for name, column, end, line in block.last_values:
            others = list(block.ends[name])
            others.remove(end)
            if len(others) > 1 and min(others) == max(others) > end:
                problem = f"the line seems to be cut off after {end} columns; {column} is null"
                self.out.issue(Code.REPORT_CUT, problem, line, end + 1, field=column, table=TABLE)
                block.found.values[column] = None
                block.found.damaged.add(column)

    @staticmethod
    def _alike(block: _Block, name: str) -> set[str]:
        """Return the labels of a group, also in their other spellings."""
        prefix = plain_label(f"{name}:") + ":"
        columns = {
            printed.column
            for label in block.labels
            if label.startswith(prefix) and (printed := labels().get(label)) is not None
        }
        return {label for label, printed in labels().items() if printed.column in columns} | block.labels

    def _report_repeated(self, classes: Sequence[WorkloadClass], before: dict[ClassIdentity, int]) -> None:
        """Report classes that an earlier report of the same interval has."""
        own: dict[ClassIdentity, int] = {}
        again: list[tuple[int, int]] = []
        for found in classes:
            identity = (found.kind, found.name, found.values.get("period_no"))
            if identity in before and identity not in own:
                again.append((found.line, before[identity]))
            own.setdefault(identity, found.line)
        before |= own
        if not again:
            return
        line, earlier = again[0]
        start = self.identity[2]
        if is_set_back(start):
            self.out.common["second_hour"] = True
            problem = f"the start of this interval is also in line {earlier}, with other figures: "
            problem += "it is in the second hour after the clock was set back"
            self.out.issue(Code.AMBIGUOUS_TIME, problem, line, 1, table=TABLE)
        else:
            problem = (
                f"{len(again)} classes of this interval are also in an earlier report, from line {earlier} on"
            )
            self.out.issue(Code.REPORT_REPEATED, problem, line, 1, table=TABLE)
