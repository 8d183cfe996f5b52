"""Rules and actions of an AT-TLS policy, and the rows of both forms of input."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING, NamedTuple

from zscope.parsers.issues import Code
from zscope.parsers.text.attls.codes import lacks_code, member_code
from zscope.parsers.text.report_rows import quoted
from zscope.parsers.text.spelling import edit_distance
from zscope.schemas.attls import AttlsParameter, attls_defaults

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zscope.parsers.text.report_rows import ReportRows

RULES, ACTIONS = "tls_rule", "tls_action"
PASEARCH, POLICY_FILE = "pasearch", "file"
GROUP, ENVIRONMENT, CONNECTION, UNUSED = "group", "environment", "connection", "unused"
SCOPES = (GROUP, ENVIRONMENT, CONNECTION)
ANY = frozenset({"ALL", "ANY", "ALL4", "ALL6"})
_DIRECTIONS = frozenset({"INBOUND", "OUTBOUND", "BOTH"})
_REQUIRED = frozenset({"TTLSENABLED", "HANDSHAKEROLE", "KEYRING"})
_CIPHERS = re.compile(r"V[23]CIPHERSUITES(?:4CHAR)?", re.ASCII)
"""A report has no cipher suites unless they are coded."""
_SECTIONS = {
    "KEYRING": "TTLSKeyringParms",
    "V3CIPHERSUITES": "TTLSCipherParms",
    "V3CIPHERSUITES4CHAR": "TTLSCipherParms",
    "HTTPCDPENABLE": "TTLSGskHttpCdpParms",
    "HTTPCDPPROXYSERVERPORT": "TTLSGskHttpCdpParms",
    "HTTPCDPRESPONSETIMEOUT": "TTLSGskHttpCdpParms",
    "HTTPCDPMAXRESPONSESIZE": "TTLSGskHttpCdpParms",
    "HTTPCDPCACHESIZE": "TTLSGskHttpCdpParms",
    "HTTPCDPCACHEENTRYMAXSIZE": "TTLSGskHttpCdpParms",
}
"""Parameters without a default, and the statements that have them."""
_PROTOCOL = re.compile(r"(?:SSL|TLS)v\d(?:\.\d)?", re.ASCII | re.IGNORECASE)
_LONGEST_PORT = 5
_HIGHEST_PORT = 0xFFFF


class PortRange(NamedTuple):
    """A range of ports."""

    low: int
    high: int

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


class AddressRange(NamedTuple):
    """A range of addresses of one version."""

    low: IPv4Address | IPv6Address
    high: IPv4Address | IPv6Address

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


@lru_cache(maxsize=1 << 16)
def address_range(low: str, high: str = "", prefix: str = "") -> AddressRange:
    """Return a range from one address, two addresses, or an address with the length of a prefix.

    Many rules can have the same large group of addresses, so ranges are cached.

    Raises ValueError if that is no range.

    >>> str(address_range("10.1.2.0", prefix="24")), str(address_range("::ffff:10.1.2.3"))
    ('10.1.2.0-10.1.2.255', '10.1.2.3')
    """
    if prefix:
        network = ip_network(f"{low}/{prefix}", strict=False)
        return AddressRange(network[0], network[-1])
    first, last = _address(low), _address(high or low)
    if first.version != last.version or int(first) > int(last):
        raise ValueError(f"{low}-{high}")
    return AddressRange(first, last)


def _address(text: str) -> IPv4Address | IPv6Address:
    address = ip_address(text.strip())
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def port_range(low: str, high: str = "") -> PortRange:
    """Return a range of ports; raises ValueError if the texts are no range.

    >>> str(port_range("8443")), str(port_range("1024", "2047"))
    ('8443', '1024-2047')
    """
    numbers = [low.strip(), (high or low).strip()]
    if not all(text.isascii() and text.isdigit() and len(text) <= _LONGEST_PORT for text in numbers):
        raise ValueError(f"{low}-{high}")
    first, last = map(int, numbers)
    if not first <= last <= _HIGHEST_PORT:
        raise ValueError(f"{low}-{high}")
    return PortRange(first, last)


@dataclass(slots=True)
class PolicyParameter:
    """One parameter of an action."""

    name: str
    section: str
    values: list[str]
    line: int
    is_list: bool = False


@dataclass(slots=True)
class PolicyAction:
    """One action with its parameters."""

    name: str
    scope: str
    line: int
    parameters: list[PolicyParameter] = field(default_factory=list)
    extra: dict[str, str] = field(default_factory=dict)

    def value(self, name: str) -> str:
        """Return the value of a parameter, or an empty text."""
        for parameter in self.parameters:
            if parameter.name.upper() == name.upper() and parameter.values:
                return parameter.values[0]
        return ""

    def contents(self) -> tuple[object, ...]:
        """Return everything except places, for comparison."""
        return tuple((each.name, each.section, tuple(each.values)) for each in self.parameters)


@dataclass(slots=True)
class PolicyRule:
    """One rule with its conditions and the names of its actions."""

    name: str
    line: int
    texts: dict[str, str] = field(default_factory=dict)
    """Printed values by column."""
    lines: dict[str, int] = field(default_factory=dict)
    addresses: dict[str, list[AddressRange]] = field(default_factory=dict)
    """Ranges by `local` and `remote`; a side without a condition is missing."""
    ports: dict[str, list[PortRange]] = field(default_factory=dict)
    impossible: set[str] = field(default_factory=set)
    """Sides with a condition that could not be read."""
    time_condition: str | None = None
    ranges_from: str | None = None
    created: datetime | None = None
    updated: datetime | None = None
    instance_id: int | None = None
    actions: dict[str, str] = field(default_factory=dict)
    """Names of actions by scope."""
    extra: dict[str, str] = field(default_factory=dict)


def write_rule(rule: PolicyRule, form: str, out: ReportRows) -> None:
    """Write the row of a rule."""
    _report_mistaken_port(rule, out)
    _check_texts(rule, out)
    values = {
        "policy_form": form,
        "instance_id": rule.instance_id,
        "rule_name": rule.name,
        **rule.texts,
        **{f"{side}_addresses": _listed(ranges) for side, ranges in rule.addresses.items()},
        **{f"{side}_ports": _listed(ranges) for side, ranges in rule.ports.items()},
        "time_condition": rule.time_condition,
        "ranges_from": rule.ranges_from,
        **{f"{scope}_action": name for scope, name in rule.actions.items()},
        "policy_created_local": rule.created,
        "policy_updated_local": rule.updated,
    }
    if rule.impossible:
        # Without one of its conditions the rule would match more than it does.
        values["direction"] = None
    out.row(RULES, rule.line, values, rule.extra, rule.lines)


def _check_texts(rule: PolicyRule, out: ReportRows) -> None:
    """Mark a rule as incomplete if its direction or its priority is damaged; report the direction."""
    direction, priority = (rule.texts.get(name) or "" for name in ("direction", "rule_priority"))
    if direction and direction.upper() not in _DIRECTIONS:
        rule.impossible.add("direction")
        text = f"{quoted(direction)} is not Inbound, Outbound or Both: the conditions of the rule "
        text += f"{quoted(rule.name)} are incomplete"
        line = rule.lines.get("direction", rule.line)
        out.issue(Code.BAD_VALUE, text, line, field="direction", table=RULES)
    if priority and not (priority.isascii() and priority.isdigit()):
        rule.impossible.add("rule_priority")


def _listed(ranges: Iterable[AddressRange | PortRange]) -> str | None:
    return ", ".join(str(each) for each in dict.fromkeys(ranges)) or None


def _report_mistaken_port(rule: PolicyRule, out: ReportRows) -> None:
    """Report an address that is a port number: AT-TLS accepts 443 as the address 0.0.1.187."""
    for side, ranges in rule.addresses.items():
        for each in ranges:
            number = int(each.low)
            if each.low == each.high and each.low.version == 4 and 0 < number <= _HIGHEST_PORT:
                text = f"the {side} address {each.low} is the number {number}: it is probably a port, "
                text += "and the rule never matches"
                line = rule.lines.get(f"{side}_addresses", rule.line)
                out.issue(Code.BAD_VALUE, text, line, field=f"{side}_addresses", table=RULES)


@lru_cache(maxsize=4096)
def nearly_parameter(name: str) -> str | None:
    """Return the known name of which an unknown one is a misspelling, such as TLSv1.2 for TLSv.2: one
    character in eight differs, at least one.
    """
    known = attls_defaults().names
    plain = name.upper()
    if plain in known:
        return None
    most = max(1, len(plain) // 8)
    near = (
        (distance, other)
        for other in known
        if abs(len(other) - len(plain)) <= most and (distance := edit_distance(plain, other)) <= most
    )
    return min(near, default=(0, None))[1]


def without_summary(ranges: list[AddressRange]) -> list[AddressRange]:
    """Return the ranges without the one that only extends from the lowest to the highest of the others."""
    if len({each.low.version for each in ranges}) != 1:
        return ranges
    whole = _extent(ranges)
    others = [each for each in ranges if each != whole]
    return others if 1 < len(others) < len(ranges) and _extent(others) == whole else ranges


def _extent(ranges: list[AddressRange]) -> AddressRange:
    """Return the range from the lowest to the highest address of one version."""
    low = min((each.low for each in ranges), key=int)
    return AddressRange(low, max((each.high for each in ranges), key=int))


def write_action(action: PolicyAction, form: str, out: ReportRows) -> None:
    """Write the rows of an action; from a policy file, also those of defaults that are not coded."""
    rows = _ActionRows(action, form, out)
    for parameter in action.parameters:
        _report_doubtful(parameter, form, out)
        _report_misplaced(action, parameter, out)
        if form == POLICY_FILE:
            _report_repeated(parameter, out)
        rows.add(parameter, _coded(parameter) if form == POLICY_FILE else _setting(action, parameter))
    if form == POLICY_FILE and action.scope in {GROUP, ENVIRONMENT}:
        for parameter in _uncoded(action):
            rows.add(parameter, "default")
    elif not action.parameters:
        rows.add(PolicyParameter("", "", [], action.line), "unknown")


@dataclass(slots=True)
class _ActionRows:
    """Writes the rows of one action; the first one has what is no parameter."""

    action: PolicyAction
    form: str
    out: ReportRows
    _written: bool = False

    def add(self, parameter: PolicyParameter, setting: str) -> None:
        """Write the row of a parameter, or one for each member of a list."""
        for member, value in _members(parameter):
            values = {
                "policy_form": self.form,
                "action_scope": self.action.scope,
                "action_name": self.action.name,
                "section": parameter.section or None,
                "parameter": parameter.name,
                "parameter_name": attls_defaults().names.get(parameter.name.upper()),
                "member_no": member,
                "parameter_value": value or None,
                "code": member_code(parameter.name, value),
                "setting": setting,
            }
            self.out.row(ACTIONS, parameter.line, values, None if self._written else self.action.extra)
            self._written = True


def _coded(parameter: PolicyParameter) -> str:
    """Return the setting of a parameter in a policy file: a misspelt one has no effect that is known."""
    return "set" if parameter.name.upper() in attls_defaults().names else "unknown"


def _report_doubtful(parameter: PolicyParameter, form: str, out: ReportRows) -> None:
    """Report a name that is nearly a known one, and members of lists without a valid code."""
    if problem := _doubt(parameter):
        out.issue(Code.UNKNOWN_COLUMN, problem, parameter.line, field=parameter.name[:60], table=ACTIONS)
    for value in parameter.values if parameter.is_list else ():
        several = form == POLICY_FILE and len(value.split()) > 1
        if several or lacks_code(parameter.name, value):
            problem = (
                f"{quoted(value)} of the list {parameter.name} is no cipher suite and no group that is known"
            )
            out.issue(Code.BAD_VALUE, problem, parameter.line, field=parameter.name[:60], table=ACTIONS)


def _doubt(parameter: PolicyParameter) -> str | None:
    """Return why a parameter is doubtful: its name or its value may be damaged."""
    name, words = parameter.name, [word for value in parameter.values for word in value.upper().split()]
    known, text = attls_defaults().names, quoted(" ".join(words))
    problem = None
    if near := nearly_parameter(name):
        problem = f"is unknown, and nearly the same as {near}"
    elif name.upper() not in known:
        begins = any(other.startswith(name.upper()) for other in known)
        if " " in name or begins or len(words) != 1:
            problem = f"with the value {text} is unknown"
    elif name.upper().endswith("PARMS"):
        problem = "is a statement"
    elif len(words) != 1 and not parameter.is_list and _has_one_word(name):
        problem = f"has the value {text}, which is not one word"
    elif _PROTOCOL.fullmatch(name) and words not in (["ON"], ["OFF"]):
        problem = f"is {text}, which is neither On nor Off"
    if problem is None and not known.keys().isdisjoint(words):
        problem = "has a value that contains the name of another one"
    return problem and f"the parameter {quoted(name)} {problem}"


def _report_misplaced(action: PolicyAction, parameter: PolicyParameter, out: ReportRows) -> None:
    """Report a parameter that is in another statement than the one that has it."""
    known = attls_defaults().parameter(action.scope, parameter.name)
    section = known.section if known else _SECTIONS.get(parameter.name.upper())
    if action.scope in SCOPES and section and parameter.section.upper() != section.upper():
        where = parameter.section or "the action itself"
        problem = f"the parameter {quoted(parameter.name)} is in {where} and belongs into {section}: "
        problem += "a line between may be missing or at another place"
        out.issue(Code.BAD_VALUE, problem, parameter.line, field=parameter.name[:60], table=ACTIONS)


def _report_repeated(parameter: PolicyParameter, out: ReportRows) -> None:
    """Report members that a list has twice."""
    codes = [member_code(parameter.name, value) or value.upper() for value in parameter.values]
    for value, code in zip(parameter.values, codes, strict=True):
        if parameter.is_list and codes.count(code) > 1:
            problem = f"{quoted(value)} is twice in the list {parameter.name}"
            out.issue(Code.BAD_VALUE, problem, parameter.line, field=parameter.name[:60], table=ACTIONS)
            return


def _has_one_word(name: str) -> bool:
    return attls_defaults().has_default(name) or name.upper() in _REQUIRED


def _members(parameter: PolicyParameter) -> Iterator[tuple[int, str]]:
    if parameter.is_list:
        yield from enumerate(parameter.values, 1)
    else:
        yield 0, parameter.values[0] if parameter.values else ""


def _setting(action: PolicyAction, parameter: PolicyParameter) -> str:
    """Return whether a report shows a value that differs from the default."""
    name = parameter.name.upper()
    if name in _REQUIRED or _CIPHERS.fullmatch(name):
        return "set"
    lists = action.scope == CONNECTION and parameter.section.upper() == "TTLSSIGNATUREPARMS"
    known = attls_defaults().parameter(ENVIRONMENT if lists else action.scope, name)
    if known is None:
        return "set" if action.scope == CONNECTION and not lists else "unknown"
    default = _default_values(known, action)
    if known.is_list:
        codes = [member_code(name, value) or value for value in parameter.values]
        return "as default" if codes == default else "set"
    return "as default" if [value.upper() for value in parameter.values] == _upper(default) else "set"


def _upper(values: Iterable[str]) -> list[str]:
    return [value.upper() for value in values]


_OF_TLS_1_3 = frozenset({"0023", "0024", "0025", "0029", "0030"})


def _default_values(known: AttlsParameter, action: PolicyAction) -> list[str]:
    """Return the default of a parameter, which can depend on other parameters of the action."""
    name, values = known.name, list(known.default)
    if known.tls_1_3 and action.value("TLSv1.3").upper() == "ON":
        values += known.tls_1_3
    if name == "GSK_SESSION_TICKET_SERVER_TIMEOUT":
        shared = action.value("GSK_SYSPLEX_SESSION_TICKET_CACHE").upper() == "ON"
        return [attls_defaults().sysplex_ticket_timeout] if shared else values
    if name == "ClientKeyShareGroups":
        curves = next((each for each in action.parameters if each.name.upper() == "CLIENTECURVES"), None)
        codes = [member_code("CLIENTECURVES", text) for text in curves.values] if curves else []
        return [code for code in codes if code in _OF_TLS_1_3][:1] or values
    return values


def _uncoded(action: PolicyAction) -> Iterator[PolicyParameter]:
    coded = {parameter.name.upper() for parameter in action.parameters}
    for known in attls_defaults().parameters:
        if action.scope in known.scopes and known.name.upper() not in coded:
            values = _default_values(known, action)
            yield PolicyParameter(known.name, known.section, values, action.line, known.is_list)


@dataclass(slots=True)
class PolicyRows:
    """Writes the rows of one policy: each action once, and folded names that are equal with an issue."""

    form: str
    out: ReportRows
    _rules: dict[str, tuple[str, int]] = field(default_factory=dict)
    _actions: dict[tuple[str, str], PolicyAction] = field(default_factory=dict)

    def add_rule(self, rule: PolicyRule) -> None:
        """Write a rule."""
        name, line = self._rules.setdefault(rule.name.upper(), (rule.name, rule.line))
        if line != rule.line:
            same = "has the same name as" if name == rule.name else f"differs only in case from {name} in"
            text = f"the rule {quoted(rule.name)} {same} the one in line {line}"
            self.out.issue(Code.REPORT_REPEATED, text, rule.line, 1, table=RULES)
        write_rule(rule, self.form, self.out)

    def add_action(self, action: PolicyAction) -> None:
        """Write an action unless the same was written before: a report repeats it for each rule."""
        first = self._actions.setdefault((action.scope, action.name), action)
        if first is action:
            write_action(action, self.form, self.out)
        elif first.contents() != action.contents():
            text = f"the {action.scope} action {quoted(action.name)} has other parameters than in line "
            text += f"{first.line}; the first ones are used"
            self.out.issue(Code.REPORT_REPEATED, text, action.line, 1, table=ACTIONS)


def ctime(text: str) -> datetime:
    """Return the time in the form of the C library, which is local time; raises ValueError.

    >>> ctime("Tue Mar  3 09:41:07 2026")
    datetime.datetime(2026, 3, 3, 9, 41, 7)
    """
    return datetime.strptime(" ".join(text.split()), "%a %b %d %H:%M:%S %Y")  # noqa: DTZ007 - local time
