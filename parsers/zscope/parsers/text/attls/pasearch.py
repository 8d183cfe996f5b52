"""Read the AT-TLS part of a pasearch report.

A label ends with the first colon of its line, and nothing depends on columns: long labels move their values,
and slides and captures change indents. A second label in a line is one of those that a report prints there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from zscope.parsers.issues import Code
from zscope.parsers.text.attls.codes import LISTS
from zscope.parsers.text.attls.conditions import ConditionReader
from zscope.parsers.text.attls.policy import (
    ACTIONS,
    PASEARCH,
    RULES,
    SCOPES,
    PolicyAction,
    PolicyParameter,
    PolicyRows,
    PolicyRule,
    ctime,
)
from zscope.parsers.text.captured_report import KnownFrom
from zscope.parsers.text.codecs import CODECS
from zscope.parsers.text.report_rows import ReportRows, quoted
from zscope.parsers.text.spelling import edit_distance, nearly
from zscope.schemas.reports import PrintedFormat

if TYPE_CHECKING:
    from datetime import datetime

    from zscope.parsers.text.captured_report import CapturedReport, Line
    from zscope.parsers.text.report_rows import FileRows

_HEADING = re.compile(
    r"TCP/IP pasearch CS +(?P<release>\S+)(?: +Image Name: +(?P<stack>\S+))? *$", re.IGNORECASE
)
_RIGHT = (
    "Time", "Image Name", "Status", "ForLoadDist", "Sequence Actions", "To TimeOfDay", "To TimeOfDay UTC",
    "End Date Time", "NegativeIndicator", "LocalPortTo", "RemotePortTo", "ToAddr", "UserId",
    "Action Sequence",
)  # fmt: skip
"""Labels that can be the second of their line."""
_SECOND = re.compile(
    rf"(?:(?<=: )|(?<=  ))({'|'.join(sorted(_RIGHT, key=len, reverse=True))}):(?![^ ])", re.IGNORECASE
)
_LABEL = re.compile(r" *(?P<label>[A-Za-z0-9][^:]{0,60}?) *:(?: +(?P<value>.*))?$")
_ENTRY = re.compile(r" *(?P<code>[0-9A-Fa-f]{4})(?: +(?P<name>\S+))?$", re.ASCII)
_LABEL_IN_VALUE = re.compile(r"(?<![^ ])[A-Za-z][A-Za-z0-9_.]{3,}:(?![^ ])")
_RULE_TEXTS = {
    "STATUS": "status", "PRIORITY": "rule_priority", "SERVICEDIRECTION": "direction", "JOBNAME": "job_name",
    "USERID": "user_id",
}  # fmt: skip
_OF_RULE = frozenset(
    {*_RULE_TEXTS, "POLICYRULE", "POLICYACTION", "ACTIONTYPE", "TTLS ACTION", "RULE TYPE"}
    | {"NO. POLICY ACTION", "POLICY CREATED", "POLICY UPDATED", "LOCALPORTFROM", "LOCALPORTTO", "VERSION"}
    | {"REMOTEPORTFROM", "REMOTEPORTTO", "FROMADDR", "TOADDR", "LOCAL ADDRESS", "REMOTE ADDRESS", "WEIGHT"}
)
_OF_MATCHING = frozenset(
    {"PRIORITY", "SERVICEDIRECTION", "JOBNAME", "USERID", "LOCALPORTFROM", "LOCALPORTTO", "REMOTEPORTFROM"}
    | {"REMOTEPORTTO", "FROMADDR", "TOADDR", "LOCAL ADDRESS", "REMOTE ADDRESS", "PREFIX", "RANGE"}
)
"""Labels without whose values it is not known which connections a rule matches."""
_TIMES = {"POLICY CREATED": "created", "POLICY UPDATED": "updated"}
_HEAD_OF_ACTION = frozenset({"SCOPE", "VERSION", "STATUS", *_TIMES})
"""Labels that an action has once."""
_WITH_BLANKS = {*_TIMES, "START DATE TIME", "END DATE TIME", "START DATE TIME UTC", "END DATE TIME UTC"}
"""Labels of times, in which several blanks can follow each other."""
_SEQUENCE = "ACTION SEQUENCE"
"""The label of a rule that each of its actions has."""
_NOT_AVAILABLE = "<not available>"
_SECTION = re.compile(r"TTLS\w+Parms", re.ASCII | re.IGNORECASE)


class ReportedPair(NamedTuple):
    """A label with its value."""

    label: str
    value: str
    line: int

    @property
    def key(self) -> str:
        """Return the label for comparison."""
        return self.label.upper()


def labels_of(line: Line) -> list[ReportedPair] | None:
    """Return the one or two labels of a line with their values; None if it has no label.

    >>> from zscope.parsers.text.captured_report import Line
    >>> [pair[:2] for pair in labels_of(Line(1, "   JobName:             PAY*            UserId:   "))]
    [('JobName', 'PAY*'), ('UserId', '')]
    """
    text = line.text
    first = _LABEL.match(text)
    if first is None:
        return None
    second = _SECOND.search(text, first.end("label"))
    if second is None:
        return [ReportedPair(first["label"], (first["value"] or "").strip(), line.no)]
    begin = text[first.end("label") : second.start()].strip().removeprefix(":").strip()
    return [
        ReportedPair(first["label"], begin, line.no),
        ReportedPair(second[1], text[second.end() :].strip(), line.no),
    ]


class Pasearch:
    """Reads the pasearch reports of one file."""

    def __init__(self, sheet: FileRows) -> None:
        self._sheet = sheet

    def read(self, report: CapturedReport) -> None:
        """Read the part of one TCP/IP stack."""
        out = ReportRows(self._sheet, report.origin, common={"stack": None, "release": None})
        first = report.lines[0]
        out.used(first.no)
        heading = _HEADING.match(first.text)
        if heading is None:
            problem = f"{quoted(first.text)} is not a whole heading; stack and release can be missing"
            out.issue(Code.REPORT_CUT, problem, first.no, 1)
            words = first.text.split()
            at = (
                [word.upper() for word in words].index("NAME:")
                if "NAME:" in first.text.upper().split()
                else -1
            )
            stack = words[at + 1 :] if at >= 0 else []
            out.common["stack"] = stack[0] if stack else None
        else:
            out.common = {"stack": heading["stack"], "release": heading["release"]}
        reader = _PasearchReader(out)
        for line in report.lines[1:]:
            reader.take(line)
        reader.close()
        out.add_report("AT-TLS policy (pasearch)", report.first_line)
        if reader.blocks == 0 and not reader.others:
            problem = "the report has no rule and no action of AT-TLS"
            out.issue(Code.REPORT_UNREADABLE, problem, report.first_line, 1)

    def finish(self) -> None:
        """Do nothing: no report depends on another."""


@dataclass(slots=True)
class _PasearchReader:
    out: ReportRows
    blocks: int = 0
    others: int = 0
    _rows: PolicyRows = field(init=False)
    _rule: PolicyRule | None = None
    _conditions: ConditionReader = field(init=False)
    _action: PolicyAction | None = None
    _section: str = ""
    _once_in_action: set[str] = field(default_factory=set)
    """The labels of the action so far."""
    _list: PolicyParameter | None = None
    _policy_action: str = ""
    _count: str = ""
    _sequences: int = 0
    """How many numbers of actions the rule has."""
    _other_type: str = ""
    _instance: int | None = None
    _printed: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._rows = PolicyRows(PASEARCH, self.out)
        self._conditions = ConditionReader(self.out)

    def take(self, line: Line) -> None:
        """Read one line."""
        if not line.text.strip():
            return
        pairs = labels_of(line)
        if pairs is None:
            self._entry(line)
            return
        self._list = None
        self.out.used(line.no)
        for pair in pairs:
            if _LABEL_IN_VALUE.search(pair.value):
                problem = f"the value of {pair.label} seems to contain another label; it is skipped"
                self.out.issue(Code.BAD_VALUE, problem, pair.line, field=pair.label[:60], table=RULES)
            else:
                self._report_gap(pair)
                self._pair(pair)

    def _report_gap(self, pair: ReportedPair) -> None:
        """Report a label or a value with several blanks in it, which only times have."""
        if "  " in pair.label or ("  " in pair.value and pair.key not in _WITH_BLANKS):
            problem = f"{quoted(f'{pair.label}: {pair.value}')} contains something between label and value"
            self.out.issue(Code.BAD_VALUE, problem, pair.line, field=pair.label[:60], table=RULES)
            if self._rule is not None and self._action is None:
                self._rule.impossible.add(pair.label)

    def close(self) -> None:
        """Write the rows of what is open."""
        self._close_action()
        self._close_rule()

    def _pair(self, pair: ReportedPair) -> None:
        if pair.key == "POLICYRULE":
            self.close()
            if not pair.value:
                self.out.issue(Code.BAD_VALUE, "a rule has no name; it is skipped", pair.line, table=RULES)
                return
            self.blocks += 1
            self._rule = PolicyRule(pair.value, pair.line, instance_id=self._instance)
            self._conditions = ConditionReader(self.out)
            self._policy_action, self._count, self._other_type = "", "", ""
            self._sequences = 0
        elif pair.key == "TTLS ACTION":
            self._close_action()
            self.blocks += 1
            self._action = PolicyAction(pair.value or "unknown", "", pair.line)
            self._section, self._once_in_action = "", set()
        elif self._action is not None:
            self._of_action(self._action, pair)
        elif self._rule is not None:
            self._of_rule(self._rule, pair)
        else:
            self._of_heading(pair)

    def _of_heading(self, pair: ReportedPair) -> None:
        if pair.key == "TTLS INSTANCE ID":
            self._instance = self.out.value(RULES, "instance_id", pair.value, pair.line)
        elif pair.key in {"DATE", "TIME"}:
            self._printed[pair.key] = pair.value
            if len(self._printed) == 2:
                self._set_time(f"{self._printed['DATE']} {self._printed['TIME']}", pair.line)
        elif pair.key == "IMAGE NAME":
            self.out.common["stack"] = pair.value or None
        elif pair.key.endswith("INSTANCE ID") and not _is_damaged_instance(pair.key):
            pass  # The instance of another type of policy.
        else:
            self.out.add_unknown_line(pair.line, f"{pair.label}: {pair.value}")

    def _set_time(self, text: str, line: int) -> None:
        try:
            taken: datetime = CODECS[PrintedFormat.TIME].decode(text)
        except ValueError:
            problem = f"{quoted(text)} is not a date with a time of day"
            self.out.issue(Code.BAD_VALUE, problem, line, field="Date", table=RULES)
            return
        origin = self.out.origin
        origin.day, origin.clock, origin.time_from = taken.date(), taken.time(), KnownFrom.REPORT

    def _of_rule(self, rule: PolicyRule, pair: ReportedPair) -> None:
        key, value = pair.key, pair.value
        if value.lower() == _NOT_AVAILABLE:
            rule.extra[pair.label] = value
            if key in _OF_MATCHING:
                rule.impossible.add(pair.label)
        elif key == "RULE TYPE" and value.upper() != "TTLS":
            if "TTLS" in value.upper() or edit_distance(value.upper()[:8], "TTLS") == 1:
                problem = f"the type of the rule, {quoted(value)}, is read as TTLS"
                self.out.issue(Code.BAD_VALUE, problem, pair.line, field=pair.label, table=RULES)
            else:
                self._other_type = value or "unknown"
        elif key == "POLICYACTION":
            self._policy_action = value
        elif key == "ACTIONTYPE":
            self._action_type(rule, pair)
        elif key == "NO. POLICY ACTION":
            self._count = value
        elif key == _SEQUENCE:
            self._sequences += 1
            rule.extra[pair.label] = ", ".join(filter(None, [rule.extra.get(pair.label), value]))
        elif key in _TIMES:
            self._created(rule, pair)
        elif column := _RULE_TEXTS.get(key):
            self._once(rule, column, pair)
        elif not self._conditions.take(rule, pair.label, value, pair.line):
            self._keep(rule, pair)

    def _once(self, rule: PolicyRule, column: str, pair: ReportedPair) -> None:
        if column in rule.texts:
            problem = f"{pair.label} is {quoted(pair.value)} here and {quoted(rule.texts[column])} before"
            self.out.issue(Code.BAD_VALUE, problem, pair.line, field=pair.label, table=RULES)
            return
        rule.texts[column], rule.lines[column] = pair.value, pair.line

    def _keep(self, rule: PolicyRule, pair: ReportedPair) -> None:
        label = pair.label
        if near := nearly(pair.key, _OF_RULE):
            problem = f"the label {quoted(label)} is unknown, and differs in one character from {near}"
            self.out.issue(Code.UNKNOWN_COLUMN, problem, pair.line, field=label[:60], table=RULES)
            rule.impossible.add(label)
        if label in rule.extra:
            problem = f"the label {quoted(label)} occurs more than once in the rule"
            self.out.issue(Code.BAD_VALUE, problem, pair.line, field=label[:60], table=RULES)
        if pair.value:
            rule.extra[label] = f"{rule.extra[label]}, {pair.value}" if label in rule.extra else pair.value

    def _action_type(self, rule: PolicyRule, pair: ReportedPair) -> None:
        scope = pair.value.upper().removeprefix("TTLS ").strip().lower()
        if scope not in SCOPES or not self._policy_action or scope in rule.actions:
            problem = f"{quoted(pair.value)} of the action {quoted(self._policy_action)} is not understood"
            self.out.issue(Code.BAD_VALUE, problem, pair.line, field=pair.label, table=RULES)
        else:
            rule.actions[scope] = self._policy_action
        self._policy_action = ""

    def _created(self, rule: PolicyRule, pair: ReportedPair) -> None:
        try:
            when = ctime(pair.value)
        except ValueError:
            problem = (
                f"{quoted(pair.value)} is not a time such as Tue Mar  3 09:41:07 2026; the column is null"
            )
            self.out.issue(Code.BAD_VALUE, problem, pair.line, field=pair.label, table=RULES)
            return
        if pair.key == "POLICY CREATED":
            rule.created = when
        else:
            rule.updated = when

    def _close_rule(self) -> None:
        rule, self._rule = self._rule, None
        if rule is None:
            return
        if self._other_type:
            self.others += 1
            if self.others == 1:
                problem = f"rules of the type {quoted(self._other_type)} are not read; they are skipped"
                self.out.issue(Code.OTHER_REPORT, problem, rule.line)
            return
        self._conditions.finish(rule)
        if self._count and self._count != str(len(rule.actions)):
            problem = f"the rule has {quoted(self._count)} actions, but {len(rule.actions)} were read"
            self.out.issue(Code.COUNT_DIFFERS, problem, rule.line, table=RULES)
        elif self._sequences not in {0, len(rule.actions)}:
            problem = f"the rule has {len(rule.actions)} actions, but {self._sequences} lines Action Sequence"
            self.out.issue(Code.COUNT_DIFFERS, problem, rule.line, table=RULES)
        self._rows.add_rule(rule)

    def _of_action(self, action: PolicyAction, pair: ReportedPair) -> None:
        key = pair.key
        if key in _HEAD_OF_ACTION and key in self._once_in_action:
            problem = f"a second {pair.label} in the action {quoted(action.name)}: the begin of another "
            problem += "action may be missing, whose parameters then count for this one"
            self.out.issue(Code.REPORT_UNREADABLE, problem, pair.line, field=pair.label, table=ACTIONS)
        self._once_in_action.add(key)
        if key == "SCOPE":
            action.scope = pair.value.lower()
        elif key in _HEAD_OF_ACTION:
            action.extra[pair.label] = pair.value
        elif not pair.value and _SECTION.fullmatch(pair.label):
            self._section = pair.label
        elif near := nearly(key, _OF_RULE | {"SCOPE"}):
            problem = f"the label {quoted(pair.label)} is unknown, and differs in one character from {near}"
            self.out.issue(Code.UNKNOWN_COLUMN, problem, pair.line, field=pair.label[:60], table=ACTIONS)
            action.extra[pair.label] = pair.value
        else:
            is_list = not pair.value
            if is_list and key not in LISTS:
                self._report_empty(pair)
            values = [] if is_list else [pair.value]
            section = "" if key in _OF_ACTION else self._section
            parameter = PolicyParameter(pair.label, section, values, pair.line, is_list)
            self._list = parameter if is_list else None
            action.parameters.append(parameter)

    def _report_empty(self, pair: ReportedPair) -> None:
        if nearly(pair.key, LISTS):
            problem = f"the label {quoted(pair.label)} is nearly one of a list"
            self.out.issue(Code.UNKNOWN_COLUMN, problem, pair.line, field=pair.label[:60], table=ACTIONS)

    def _entry(self, line: Line) -> None:
        """Read a member of a list."""
        match = _ENTRY.match(line.text)
        if self._list is None or match is None:
            self._list = None
            self.out.add_unknown_line(line.no, line.text)
            return
        self.out.used(line.no)
        member = f"{match['code'].upper()} {match['name'] or ''}".rstrip()
        if member in self._list.values:
            problem = f"{quoted(member)} is twice in the list {self._list.name}"
            self.out.issue(Code.BAD_VALUE, problem, line.no, field=self._list.name[:60], table=ACTIONS)
        self._list.values.append(member)

    def _close_action(self) -> None:
        action, self._action = self._action, None
        self._section = ""
        if action is None:
            return
        for parameter in action.parameters:
            if parameter.is_list and not parameter.values:
                # A label without a value, such as a certificate label that is blank.
                parameter.is_list = False
        if action.scope not in SCOPES:
            problem = (
                f"the action {quoted(action.name)} has the scope {quoted(action.scope)}, which is unknown"
            )
            self.out.issue(Code.BAD_VALUE, problem, action.line, field="Scope", table=ACTIONS)
            action.scope = "unknown"
        self._report_other_name(action)
        self._rows.add_action(action)

    def _report_other_name(self, action: PolicyAction) -> None:
        """Report an action that its rule does not name: one of the two names may be damaged."""
        named = self._rule.actions.values() if self._rule else ()
        if named and action.name.upper() not in {name.upper() for name in named}:
            problem = f"the action {quoted(action.name)} is none of those that its rule names: "
            problem += ", ".join(map(quoted, named))
            self.out.issue(Code.BAD_VALUE, problem, action.line, field="TTLS Action", table=ACTIONS)


def _is_damaged_instance(key: str) -> bool:
    """Return whether a label is that of the instance of AT-TLS with a wrong character."""
    return "TTLS" in key or nearly(key, ["TTLS INSTANCE ID"]) is not None


_OF_ACTION = frozenset(
    {"TTLSENABLED", "HANDSHAKEROLE", "CTRACECLEARTEXT", "TRACE", "FIPS140", "SUITEBPROFILE"}
    | {"GROUPUSERINSTANCE", "ENVIRONMENTUSERINSTANCE", "CONNECTIONUSERINSTANCE"}
)
"""Parameters of the action itself, wherever they are printed."""
