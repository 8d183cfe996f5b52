"""Write pasearch reports from the rows of a policy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from zscope.parsers.text.attls.policy import CONNECTION, ENVIRONMENT, GROUP, SCOPES

Row = Mapping[str, Any]

_TITLES = {GROUP: "TTLS Group", ENVIRONMENT: "TTLS Environment", CONNECTION: "TTLS Connection"}
_VALUE, _RIGHT, _RIGHT_VALUE, _ACTION_VALUE, _GSK_VALUE = 24, 42, 61, 32, 48
_NESTED = frozenset({"TTLSGskOcspParms", "TTLSGskHttpCdpParms", "TTLSGskLdapParms"})
_WIDTH = 79


def pasearch_lines(
    rules: Sequence[Row], actions: Sequence[Row], *, stack: str = "TCPIP", release: str = "3.1",
    taken: datetime | None = None, indent_gsk: int = 5,
) -> list[str]:  # fmt: skip
    """Return the lines of a report of one TCP/IP stack, whose actions are printed again for each rule.

    Rows of actions are those of `tls_action`. Actions that no rule names come at the end.
    """
    by_name: dict[tuple[str, str], list[Row]] = {}
    for row in actions:
        by_name.setdefault((row["action_scope"], row["action_name"]), []).append(row)
    taken = taken or datetime(2026, 3, 3, 9, 41, 7)  # noqa: DTZ001 - local time
    instance = next((rule.get("instance_id") for rule in rules if rule.get("instance_id")), 1772527267)
    lines = [
        "",
        _pair(f"TCP/IP pasearch CS {release}", "", _RIGHT, "Image Name", stack, 54),
        _two("  Date:", f"{taken:%m/%d/%Y}", "Time", f"{taken:%H:%M:%S}", 49),
        f"{'  TTLS Instance Id:':<{_VALUE}}{instance}",
    ]
    shown: set[tuple[str, str]] = set()
    for rule in rules:
        lines += ["", *_rule(rule)]
        for scope in SCOPES:
            name = rule.get(f"{scope}_action")
            if name is not None and (scope, name) in by_name:
                shown.add((scope, name))
                lines += ["", *_action(by_name[scope, name], indent_gsk)]
    for key, rows in by_name.items():
        if key not in shown:
            lines += ["", *_action(rows, indent_gsk)]
    return [f"{line:<{_WIDTH}}" for line in lines]


def _pair(left: str, value: str, column: int, label: str, right: str, at: int) -> str:
    text = f"{left} {value}".rstrip()
    return f"{f'{text:<{column}}{label}:':<{at}}{right}".rstrip()


def _two(left: str, value: str, label: str, right: str, at: int = _RIGHT_VALUE) -> str:
    text = f"{left:<{_VALUE}}{value}"
    return f"{f'{text:<{_RIGHT}}{label}:':<{at}}{right}".rstrip()


def _one(label: str, value: object, indent: int = 2) -> str:
    return f"{' ' * indent + label + ':':<{_VALUE}}{value}".rstrip()


def _rule(rule: Row) -> Iterator[str]:
    names = [(scope, rule[f"{scope}_action"]) for scope in SCOPES if rule.get(f"{scope}_action")]
    yield _one("policyRule", rule["rule_name"], 0)
    yield _one("Rule Type", "TTLS")
    yield _two("  Version:", "3", "Status", rule.get("status") or "Active")
    priority = rule.get("rule_priority")
    yield _two("  Weight:", "" if priority is None else str(priority), "ForLoadDist", "False")
    yield _two("  Priority:", "" if priority is None else str(priority), "Sequence Actions", "Don't Care")
    yield _one("No. Policy Action", len(names))
    for number, (scope, name) in enumerate(names):
        yield _one("policyAction", name)
        yield _one("ActionType", _TITLES[scope], 3)
        yield _one("Action Sequence", number, 3)
    yield _one("Time Periods", "")
    yield _one("First to Last", "1" * 31, 3)
    yield _one("Last to First", "1" * 31, 3)
    yield _one("Month of Yr Mask", "1" * 12, 3)
    week = json.loads(rule.get("extra") or "{}").get("Day of Week Mask") or "1" * 7
    yield _one("Day of Week Mask", f"{week} (Sunday - Saturday)", 3)
    yield _one("Start Date Time", "None", 3)
    yield _one("End Date Time", "None", 3)
    yield _two("   Fr TimeOfDay:", "00:00", "To TimeOfDay", "24:00")
    yield _one("TimeZone", "Local", 3)
    yield _two("  TTLS Condition Summary:", "", "NegativeIndicator", "Off")
    for title, side in (("Local Address", "local"), ("Remote Address", "remote")):
        yield _one(title, "", 3)
        yield from _addresses(rule.get(f"{side}_addresses"))
    for title, side in (("LocalPort", "local"), ("RemotePort", "remote")):
        for low, high in _ranges(rule.get(f"{side}_ports")) or [("0", "0")]:
            yield _two(f"   {title}From:", low, f"{title}To", high)
    yield _two("   JobName:", rule.get("job_name") or "", "UserId", rule.get("user_id") or "")
    yield _one("ServiceDirection", rule["direction"], 3)
    yield from _times(rule, 2)


def _ranges(text: str | None) -> list[tuple[str, str]]:
    parts = [part.partition("-") for part in (text or "").split(", ") if part]
    return [(low, high or low) for low, _, high in parts]


def _addresses(text: str | None) -> Iterator[str]:
    if not text:
        yield _one("FromAddr", "All", 4)
        yield _one("ToAddr", "All", 4)
    for low, high in _ranges(text):
        yield _one("FromAddr", low, 4)
        yield _one("ToAddr", high, 4)


def _times(row: Row, indent: int) -> Iterator[str]:
    for label, column in (("Policy created", "created"), ("Policy updated", "updated")):
        when: datetime | None = row.get(f"policy_{column}_local")
        if when is not None:
            stamp = f"{when:%a %b} {when.day:2} {when:%H:%M:%S %Y}"
            yield _one(label, stamp, indent)


def _action(rows: Sequence[Row], indent_gsk: int) -> Iterator[str]:
    scope = rows[0]["action_scope"]
    yield f"{'  TTLS Action:':<{_ACTION_VALUE}}{rows[0]['action_name']}"
    yield f"{'    Version:':<{_ACTION_VALUE}}3"
    yield f"{'    Status:':<{_ACTION_VALUE}}Active"
    yield f"{'    Scope:':<{_ACTION_VALUE}}{scope.capitalize()}"
    section, parameter = "", ""
    for row in _in_order(rows):
        own = row.get("section") or ""
        if own != section:
            section = own
            if section:
                yield f"{' ' * (5 if section in _NESTED else 4)}{section}:"
        indent = 4 if not own else 6 if own in _NESTED else 5
        name, value = row["parameter"], row.get("parameter_value") or ""
        if row["member_no"] > 0:
            if row["member_no"] == 1 or name != parameter:
                yield f"{' ' * indent}{name}:"
            code, _, rest = value.partition(" ")
            yield f"{' ' * (indent + 1)}{code}  {rest}".rstrip()
        elif name.startswith("GSK_"):
            yield f"{' ' * indent_gsk + name + ':':<{_GSK_VALUE}}{value}"
        else:
            label = f"{' ' * indent}{name}:"
            gap = "" if len(label) < _ACTION_VALUE else " "
            yield f"{label:<{_ACTION_VALUE}}{gap}{value}".rstrip()
        parameter = name


def _in_order(rows: Iterable[Row]) -> list[Row]:
    """Return the rows with those of a section together, those of the action itself first."""
    sections: dict[str, list[Row]] = {"": []}
    for row in rows:
        sections.setdefault(row.get("section") or "", []).append(row)
    return [row for group in sections.values() for row in group]
