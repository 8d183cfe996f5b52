"""The conditions of a rule in a pasearch report: addresses, ports and times."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.attls.policy import (
    ANY,
    RULES,
    AddressRange,
    PolicyRule,
    PortRange,
    address_range,
    port_range,
    without_summary,
)
from zscope.parsers.text.report_rows import quoted

if TYPE_CHECKING:
    from zscope.parsers.text.report_rows import ReportRows

_SIDES = {"LOCAL ADDRESS": "local", "REMOTE ADDRESS": "remote"}
_OF_SIDE = frozenset({"FROMADDR", "TOADDR", "PREFIX", "RANGE"})
_PORTS = {"LOCALPORTFROM": "local", "REMOTEPORTFROM": "remote"}
_PORT_ENDS = {"LOCALPORTTO": "local", "REMOTEPORTTO": "remote"}
_MASKS = {"FIRST TO LAST", "LAST TO FIRST", "MONTH OF YR MASK", "DAY OF WEEK MASK"}
_DATES = {"START DATE TIME", "END DATE TIME", "START DATE TIME UTC", "END DATE TIME UTC"}
_CLOCKS = {
    "FR TIMEOFDAY": "00:00",
    "FR TIMEOFDAY UTC": "00:00",
    "TO TIMEOFDAY": "24:00",
    "TO TIMEOFDAY UTC": "24:00",
}
_REMARK = re.compile(r" *\([^()]*\)$")
_HEADINGS = frozenset({"TIME PERIODS", "TTLS CONDITION SUMMARY"})
"""Labels of groups of conditions."""


@dataclass(slots=True)
class ConditionReader:
    """Collects the conditions of one rule."""

    out: ReportRows
    _side: str = ""
    """The side whose address is printed."""
    _low: str = ""
    _low_line: int = 0
    _is_range: bool = False
    """Whether an end of the address must follow."""
    _port: str = ""
    _port_line: int = 0
    _times: list[str] = field(default_factory=list)
    _clocks: dict[str, str] = field(default_factory=dict)
    _zone: str = ""

    def take(self, rule: PolicyRule, label: str, value: str, line: int) -> bool:
        """Read a label; return False if it is no condition."""
        key = label.upper()
        if key in _SIDES:
            self._finish_address(rule)
            self._side = _SIDES[key]
            if value:
                self._begin_address(rule, value, line)
        elif key in _OF_SIDE and not self._side:
            text = f"{label} {quoted(value)} follows neither Local Address nor Remote Address"
            self._bad(rule, text, line, "addresses")
            rule.extra[label] = value
        elif key == "FROMADDR":
            self._finish_address(rule)
            self._begin_address(rule, value, line)
            self._is_range = True
        elif key in _OF_SIDE:
            self._end_address(rule, key, value, line)
        elif key in _PORTS:
            self._report_open_port(rule)
            self._port, self._port_line = value, line
            self._port_side(rule, _PORTS[key])
        elif key in _PORT_ENDS:
            self._end_port(rule, _PORT_ENDS[key], value, line)
        elif key in _MASKS | _DATES | _CLOCKS.keys() or key == "TIMEZONE":
            self._take_time(label, key, value)
        else:
            return key in _HEADINGS and not value
        return True

    def finish(self, rule: PolicyRule) -> None:
        """Complete the conditions of the rule."""
        self._finish_address(rule)
        self._report_open_port(rule)
        several = False
        for side, ranges in rule.addresses.items():
            rule.addresses[side] = without_summary([*dict.fromkeys(ranges)])
            several = several or len({*ranges}) > 1
        several = several or any(len({*ranges}) > 1 for ranges in rule.ports.values())
        all_ranges = [
            each for group in (rule.addresses, rule.ports) for ranges in group.values() for each in ranges
        ]
        wide = any(each.low != each.high for each in all_ranges)
        rule.ranges_from = "summary" if wide and not several else "configured" if all_ranges else None
        hours = [self._clocks.get(key, usual) for key, usual in _CLOCKS.items()]
        if hours != list(_CLOCKS.values()):
            self._times += [f"{label} {value}" for label, value in self._clocks.items()]
        if self._times:
            rule.time_condition = "; ".join([*self._times, *([self._zone] if self._zone else [])])

    def _report_open_port(self, rule: PolicyRule) -> None:
        if self._port:
            self._bad(rule, "the port has no end of its range", self._port_line, "port")

    def _begin_address(self, rule: PolicyRule, value: str, line: int) -> None:
        self._low, self._low_line, self._is_range = value, line, False
        rule.lines.setdefault(f"{self._side}_addresses", line)

    def _end_address(self, rule: PolicyRule, key: str, value: str, line: int) -> None:
        low, self._low = self._low, ""
        if value.upper() in ANY or not value:
            if low.upper() not in ANY and low:
                self._bad(rule, f"{quoted(value)} is no end of a range", line, f"{self._side}_addresses")
            return
        if key == "RANGE":
            first, _, last = value.partition("-")
            self._add(rule, first, last, "", line)
        elif low.upper() in ANY:
            self._bad(rule, f"{quoted(low)} is no start of a range", line, f"{self._side}_addresses")
        else:
            self._add(rule, low, "" if key == "PREFIX" else value, value if key == "PREFIX" else "", line)

    def _finish_address(self, rule: PolicyRule) -> None:
        """Add an address without an end, unless it is any or the begin of a range."""
        low, self._low = self._low, ""
        if low and self._is_range:
            problem = f"FromAddr {quoted(low)} has no end of its range"
            self._bad(rule, problem, self._low_line, f"{self._side}_addresses")
        elif low and low.upper() not in ANY:
            self._add(rule, low, "", "", self._low_line)

    def _add(self, rule: PolicyRule, low: str, high: str, prefix: str, line: int) -> None:
        try:
            found: AddressRange = address_range(low, high, prefix)
        except ValueError:
            text = f"{quoted(low)} to {quoted(high or '/' + prefix)} is no range of addresses"
            self._bad(rule, text, line, f"{self._side}_addresses")
            return
        rule.addresses.setdefault(self._side, []).append(found)

    def _port_side(self, rule: PolicyRule, side: str) -> None:
        rule.lines.setdefault(f"{side}_ports", self._port_line)

    def _end_port(self, rule: PolicyRule, side: str, value: str, line: int) -> None:
        low, self._port = self._port, ""
        try:
            found: PortRange = port_range(low, value)
        except ValueError:
            self._bad(rule, f"{quoted(low)} to {quoted(value)} is no range of ports", line, f"{side}_ports")
            return
        if found != PortRange(0, 0):
            rule.ports.setdefault(side, []).append(found)

    def _take_time(self, label: str, key: str, value: str) -> None:
        plain = _REMARK.sub("", value)
        if key == "TIMEZONE":
            self._zone = plain
        elif key in _MASKS:
            if plain.strip("1"):
                self._times.append(f"{label} {plain}")
        elif key in _DATES:
            if plain and plain.upper() != "NONE":
                self._times.append(f"{label} {plain}")
        elif plain:
            self._clocks[key] = plain

    def _bad(self, rule: PolicyRule, problem: str, line: int, column: str) -> None:
        rule.impossible.add(column)
        text = f"{problem}: the conditions of the rule {quoted(rule.name)} are incomplete"
        self.out.issue(Code.BAD_VALUE, text, line, field=column, table=RULES)
