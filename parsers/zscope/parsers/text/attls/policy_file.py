"""Read AT-TLS policy files: resolve the references between statements, and fill in documented defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.attls.codes import LISTS, split_members
from zscope.parsers.text.attls.policy import (
    ANY,
    CONNECTION,
    ENVIRONMENT,
    GROUP,
    POLICY_FILE,
    RULES,
    UNUSED,
    AddressRange,
    PolicyAction,
    PolicyParameter,
    PolicyRows,
    PolicyRule,
    PortRange,
    address_range,
    port_range,
)
from zscope.parsers.text.attls.statements import CodedParameter, Statement, read_statements
from zscope.parsers.text.line_ledger import LineUse
from zscope.parsers.text.report_rows import ReportRows, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.text.captured_report import CapturedReport
    from zscope.parsers.text.report_rows import FileRows

_SCOPES = {
    "TTLSGROUPACTION": GROUP,
    "TTLSENVIRONMENTACTION": ENVIRONMENT,
    "TTLSCONNECTIONACTION": CONNECTION,
}
_PARMS = frozenset(
    {"TTLSGROUPADVANCEDPARMS", "TTLSENVIRONMENTADVANCEDPARMS", "TTLSCONNECTIONADVANCEDPARMS"}
    | {"TTLSKEYRINGPARMS", "TTLSCIPHERPARMS", "TTLSSIGNATUREPARMS", "TTLSGSKADVANCEDPARMS"}
    | {"TTLSGSKLDAPPARMS", "TTLSGSKOCSPPARMS", "TTLSGSKHTTPCDPPARMS"}
)
_ADDRESSES = frozenset({"IPADDR", "IPADDRSET", "IPADDRGROUP"})
_PORTS = frozenset({"PORTRANGE", "PORTGROUP"})
_KNOWN = {"TTLSRULE", "IPTIMECONDITION", *_SCOPES, *_PARMS, *_ADDRESSES, *_PORTS}
_RULE_TEXTS = {
    "PRIORITY": "rule_priority", "DIRECTION": "direction", "JOBNAME": "job_name", "USERID": "user_id",
}  # fmt: skip
_OF_ADDRESS = frozenset(
    {"ADDR", "PREFIX", "PREFIXLENGTH", "RANGE", *_ADDRESSES, *(f"{name}REF" for name in _ADDRESSES)}
)
_OF_PORT = frozenset({"PORT", *_PORTS, *(f"{name}REF" for name in _PORTS)})
_VALUES = frozenset({"ADDR", "PREFIX", "RANGE", "PORT"})
"""Parameters that are in a range or an address, and not in a group of them."""
_GROUPS = ("ADDRGROUP", "PORTGROUP")
_RULE_WORDS = frozenset(
    {*_RULE_TEXTS, *(f"{name}REF" for name in _SCOPES), "LOCALADDRREF", "REMOTEADDRREF", "IPTIMECONDITIONREF"}
)


class PolicyFile:
    """Reads the policy files in one file."""

    def __init__(self, sheet: FileRows) -> None:
        self._sheet = sheet

    def read(self, report: CapturedReport) -> None:
        """Read one policy file."""
        out = ReportRows(self._sheet, report.origin, common={"stack": None, "release": None})
        statements, outside = read_statements(report.lines, out)
        reader = _PolicyFileReader(out, statements)
        reader.write()
        for parameter in outside:
            out.add_unknown_line(parameter.line, f"{parameter.keyword} {parameter.value}".rstrip())
        out.add_report("AT-TLS policy (file)", report.first_line, has_date=False)

    def finish(self) -> None:
        """Do nothing: no policy depends on another."""


@dataclass(slots=True)
class _PolicyFileReader:
    out: ReportRows
    statements: list[Statement]
    _named: dict[tuple[str, str], Statement] = field(default_factory=dict)
    _folded: dict[tuple[str, str], Statement] = field(default_factory=dict)
    _rows: PolicyRows = field(init=False)
    _inline: list[PolicyAction] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._rows = PolicyRows(POLICY_FILE, self.out)
        for statement in self.statements:
            key = (statement.key, statement.name)
            if statement.key not in _KNOWN:
                self.out.add_unknown_line(statement.line, f"{statement.keyword} {statement.name}".rstrip())
                self._skip(statement)
            elif key in self._named and statement.key != "TTLSRULE":
                text = (
                    f"{statement.keyword} {statement.name} is also defined in line {self._named[key].line}; "
                )
                text += "the later definition is used"
                self.out.issue(Code.REPORT_REPEATED, text, statement.line, 1)
                self._skip(self._named[key])
            self._named[key] = statement
            self._folded[statement.key, statement.name.upper()] = statement

    def _skip(self, statement: Statement) -> None:
        """Note that an issue says that a statement is not used."""
        self.out.sheet.ledger.take_all(statement.all_lines(), LineUse.ISSUE)

    def write(self) -> None:
        """Write the rows of all rules, then of all actions, then of statements that nothing refers to."""
        for statement in self.statements:
            if statement.key == "TTLSRULE":
                self._rows.add_rule(self._rule(statement))
        for statement in self.statements:
            if statement.key in _SCOPES and self._named[statement.key, statement.name] is statement:
                action = self._action(statement, statement.name)
                if not statement.used:
                    action.extra["note"] = "no rule refers to this action"
                    self._report_unused(statement)
                self._rows.add_action(action)
        for action in self._inline:
            self._rows.add_action(action)
        for statement in self.statements:
            if statement.key in _KNOWN and not statement.used and statement.key not in {"TTLSRULE", *_SCOPES}:
                self._report_unused(statement)
                action = PolicyAction(statement.name or "(no name)", UNUSED, statement.line)
                self._parameters(action, statement, statement.keyword)
                self._rows.add_action(action)

    def _report_unused(self, statement: Statement) -> None:
        """Note that a statement has no effect, unless the file has no rules at all, as a part of a policy."""
        if any(other.key == "TTLSRULE" for other in self.statements):
            text = f"nothing refers to {statement.keyword} {quoted(statement.name)}, so it has no effect: "
            text += "the line that refers to it may be missing or misspelt"
            self.out.issue(Code.UNUSED_STATEMENT, text, statement.line, 1)

    def _referenced(self, parameter: CodedParameter, key: str) -> Statement | None:
        """Return the statement to which a parameter refers."""
        statement = self._named.get((key, parameter.value)) or self._folded.get(
            (key, parameter.value.upper())
        )
        if statement is None:
            text = f"{parameter.keyword} refers to {quoted(parameter.value)}, which this file does not define"
            self.out.issue(Code.BAD_VALUE, text, parameter.line, field=parameter.keyword[:60], table=RULES)
            return None
        statement.used = True
        return statement

    def _rule(self, statement: Statement) -> PolicyRule:
        rule = PolicyRule(statement.name or "(no name)", statement.line)
        for parameter in statement.parameters:
            self.out.used(parameter.line)
            key = parameter.key
            if len(words := parameter.value.upper().split()) > 1 and not _RULE_WORDS.isdisjoint(words):
                text = f"the value of {parameter.keyword} contains the name of another parameter"
                self.out.issue(
                    Code.BAD_VALUE, text, parameter.line, field=parameter.keyword[:60], table=RULES
                )
                rule.impossible.add(parameter.keyword)
            if column := _RULE_TEXTS.get(key):
                rule.texts[column], rule.lines[column] = parameter.value, parameter.line
            elif key.endswith("REF") and key[:-3] in _SCOPES:
                rule.actions[_SCOPES[key[:-3]]] = parameter.value
                self._referenced(parameter, key[:-3])
            elif key == "IPTIMECONDITIONREF":
                if time := self._referenced(parameter, "IPTIMECONDITION"):
                    self._time(rule, time)
            elif not self._condition(rule, parameter):
                self.out.issue(
                    Code.UNKNOWN_COLUMN, f"the parameter {quoted(parameter.keyword)} of the rule is unknown",
                    parameter.line, field=parameter.keyword[:60], table=RULES,
                )  # fmt: skip
                rule.extra[parameter.keyword] = parameter.value
        for inner in statement.inner:
            self._of_rule(rule, inner)
        if rule.addresses or rule.ports:
            rule.ranges_from = "configured"
        return rule

    def _of_rule(self, rule: PolicyRule, inner: Statement) -> None:
        """Read a statement without a name inside a rule."""
        side = inner.key.partition("ADDR")[0].partition("PORT")[0].lower()
        if inner.key in _SCOPES:
            scope = _SCOPES[inner.key]
            rule.actions[scope] = inner.name or f"{rule.name} (inline)"
            self._inline.append(self._action(inner, rule.actions[scope]))
        elif inner.key == "IPTIMECONDITION":
            self._time(rule, inner)
        elif side in {"local", "remote"} and f"IP{inner.key[len(side) :]}" in _ADDRESSES:
            self._addresses(rule, side, inner)
        elif side in {"local", "remote"} and inner.key[len(side) :] in _PORTS:
            self._ports(rule, side, inner)
        else:
            self.out.add_unknown_line(inner.line, f"{inner.keyword} {inner.name}".rstrip())
            self._skip(inner)

    def _condition(self, rule: PolicyRule, parameter: CodedParameter) -> bool:
        """Read a parameter LocalAddrRef, RemotePortRange and so on; return False if it is none."""
        for side in ("local", "remote"):
            kind = parameter.key.removeprefix(side.upper())
            if kind == parameter.key:
                continue
            rule.lines.setdefault(f"{side}_{'ports' if 'PORT' in kind else 'addresses'}", parameter.line)
            reference = kind.removesuffix("REF")
            if f"IP{reference}" in _ADDRESSES:
                if kind == reference:
                    self._address(rule, side, parameter)
                elif found := self._referenced(parameter, f"IP{reference}"):
                    self._addresses(rule, side, found)
                else:
                    rule.impossible.add(side)
                return True
            if reference in _PORTS:
                if kind == reference:
                    self._port(rule, side, parameter)
                elif found := self._referenced(parameter, reference):
                    self._ports(rule, side, found)
                else:
                    rule.impossible.add(side)
                return True
        return False

    def _addresses(self, rule: PolicyRule, side: str, statement: Statement) -> None:
        for each in self._with_references(rule, side, statement, _ADDRESSES):
            self._report_others(rule, side, each, _OF_ADDRESS)
            length = _prefix_length(each)
            for parameter in each.parameters:
                alone = parameter.key == "ADDR" and not length
                prefix = parameter.key == "PREFIX" and "/" in parameter.value
                if alone or prefix or parameter.key == "RANGE":
                    self._address(rule, side, parameter)
            address = next((one for one in each.parameters if one.key in {"ADDR", "PREFIX"}), None)
            if length and address is not None:
                self._range(rule, side, address.value, "", length, address.line)

    def _address(self, rule: PolicyRule, side: str, parameter: CodedParameter) -> None:
        value = parameter.value
        if value.upper() in ANY:
            return
        if "/" in value:
            low, _, length = value.partition("/")
            self._range(rule, side, low, "", length, parameter.line)
        else:
            low, _, high = value.replace(" ", "").partition("-")
            self._range(rule, side, low, high, "", parameter.line)

    def _range(self, rule: PolicyRule, side: str, low: str, high: str, prefix: str, line: int) -> None:
        try:
            found: AddressRange = address_range(low, high, prefix)
        except ValueError:
            self._bad(
                rule, side, f"{low}{'-' * bool(high)}{high}{'/' * bool(prefix)}{prefix}", line, "address"
            )
            return
        rule.addresses.setdefault(side, []).append(found)

    def _ports(self, rule: PolicyRule, side: str, statement: Statement) -> None:
        for each in self._with_references(rule, side, statement, _PORTS):
            self._report_others(rule, side, each, _OF_PORT)
            for parameter in each.parameters:
                if parameter.key == "PORT":
                    self._port(rule, side, parameter)

    def _with_references(
        self, rule: PolicyRule, side: str, statement: Statement, kinds: frozenset[str]
    ) -> Iterator[Statement]:
        """Yield a statement and those of these kinds that it contains or refers to, each once.

        Groups can refer to groups, many times to the same one: each is read once, so that the work is in
        proportion to the file.
        """
        seen: set[int] = set()
        opened: set[int] = set()
        waiting = [(statement, False)]
        while waiting:
            each, is_complete = waiting.pop()
            if is_complete:
                opened.remove(id(each))
            elif id(each) in opened:
                text = f"{each.keyword} {each.name} refers to itself"
                self.out.issue(Code.BAD_VALUE, text, each.line, 1, table=RULES)
                rule.impossible.add(side)
            elif id(each) not in seen:
                seen.add(id(each))
                opened.add(id(each))
                yield each
                further = self._further(rule, side, each, kinds)
                waiting += [(each, True), *((one, False) for one in reversed(further))]

    def _further(
        self, rule: PolicyRule, side: str, statement: Statement, kinds: frozenset[str]
    ) -> list[Statement]:
        """Return the statements of these kinds that a statement contains or refers to."""
        further = [inner for inner in statement.inner if inner.key in kinds]
        for parameter in statement.parameters:
            key = parameter.key.removesuffix("REF")
            if key != parameter.key and key in kinds:
                if found := self._referenced(parameter, key):
                    further.append(found)
                else:
                    rule.impossible.add(side)
        return further

    def _report_others(
        self, rule: PolicyRule, side: str, statement: Statement, known: frozenset[str]
    ) -> None:
        """Report parameters and statements that addresses and ports do not have."""
        parts: list[CodedParameter | Statement] = [*statement.parameters, *statement.inner]
        self.out.used(statement.line)
        for parameter in statement.parameters:
            self.out.used(parameter.line)
        if not parts:
            rule.impossible.add(side)
            text = f"{statement.keyword} {statement.name}".rstrip()
            text += f" contains nothing: the conditions of the rule {quoted(rule.name)} are incomplete"
            self.out.issue(Code.BAD_VALUE, text, statement.line, 1, table=RULES)
        if statement.key.endswith(_GROUPS):
            known -= _VALUES
        for each in (part for part in parts if part.key not in known):
            rule.impossible.add(side)
            text = f"{quoted(each.keyword)} is no part of {statement.keyword}: the conditions of the rule "
            text += f"{quoted(rule.name)} are incomplete"
            self.out.issue(Code.UNKNOWN_COLUMN, text, each.line, field=each.keyword[:60], table=RULES)

    def _port(self, rule: PolicyRule, side: str, parameter: CodedParameter) -> None:
        low, _, high = parameter.value.replace(" ", "").partition("-")
        try:
            found: PortRange = port_range(low, high)
        except ValueError:
            self._bad(rule, side, parameter.value, parameter.line, "port")
            return
        if found != PortRange(0, 0):
            rule.ports.setdefault(side, []).append(found)

    def _bad(self, rule: PolicyRule, side: str, value: str, line: int, what: str) -> None:
        rule.impossible.add(side)
        text = f"{quoted(value)} is no {what} and no range: the conditions of the rule {quoted(rule.name)} "
        self.out.issue(Code.BAD_VALUE, f"{text}are incomplete", line, field=f"{side} {what}", table=RULES)

    def _time(self, rule: PolicyRule, statement: Statement) -> None:
        parts = [f"{each.keyword} {each.value}" for each in statement.parameters]
        self.out.used(statement.line)
        for each in statement.parameters:
            self.out.used(each.line)
        rule.time_condition = "; ".join(parts) or None

    def _action(self, statement: Statement, name: str) -> PolicyAction:
        action = PolicyAction(name, _SCOPES[statement.key], statement.line)
        self._parameters(action, statement, "")
        return action

    def _parameters(self, action: PolicyAction, statement: Statement, section: str) -> None:
        """Add the parameters of a statement and of those that it contains or refers to, each read once."""
        seen: set[int] = set()
        known: dict[tuple[str, str], PolicyParameter] = {}
        waiting = [(statement, section)]
        while waiting:
            each, section = waiting.pop()
            if id(each) in seen:
                continue
            seen.add(id(each))
            further: list[Statement] = []
            self.out.used(each.line)
            for parameter in each.parameters:
                self.out.used(parameter.line)
                key = parameter.key.removesuffix("REF")
                if key != parameter.key and key in _PARMS:
                    if found := self._referenced(parameter, key):
                        further.append(found)
                else:
                    self._parameter(known, parameter, section)
            for inner in each.inner:
                if inner.key not in _PARMS | _ADDRESSES | _PORTS:
                    self.out.add_unknown_line(inner.line, f"{inner.keyword} {inner.name}".rstrip())
            waiting += [(one, one.keyword) for one in reversed([*further, *each.inner])]
        action.parameters += known.values()

    @staticmethod
    def _parameter(
        known: dict[tuple[str, str], PolicyParameter], parameter: CodedParameter, section: str
    ) -> None:
        """Add a parameter; a repeated keyword adds members to a list."""
        values = split_members(parameter.keyword, parameter.value)
        if before := known.get((parameter.key, section)):
            before.values += values
            before.is_list = True
        else:
            is_list = parameter.key in LISTS
            known[parameter.key, section] = PolicyParameter(
                parameter.keyword, section, values, parameter.line, is_list
            )


def _prefix_length(statement: Statement) -> str:
    """Return the length of the prefix of an address, or an empty text."""
    for parameter in statement.parameters:
        if parameter.key in {"PREFIX", "PREFIXLENGTH"} and "/" not in parameter.value:
            return parameter.value
    return ""
