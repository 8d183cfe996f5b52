"""Write AT-TLS policy files from the rows of a policy; only parameters that are set are coded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from zscope.parsers.text.attls.policy import SCOPES

Row = Mapping[str, Any]

_STATEMENTS = {
    "group": "TTLSGroupAction",
    "environment": "TTLSEnvironmentAction",
    "connection": "TTLSConnectionAction",
}


def policy_file_lines(
    rules: Sequence[Row], actions: Sequence[Row], *, title: Sequence[str] = (), inline: bool = False
) -> list[str]:
    """Return the lines of a policy file.

    The sections of actions are statements of their own to which the actions refer, or, with `inline`,
    statements in the braces of the action.
    """
    lines = [f"# {line}" for line in title]
    by_name: dict[tuple[str, str], list[Row]] = {}
    for row in actions:
        by_name.setdefault((row["action_scope"], row["action_name"]), []).append(row)
    for rule in rules:
        lines += _rule(rule)
    for (scope, name), rows in by_name.items():
        lines += _action(scope, name, rows, inline=inline)
    return lines


def _block(head: str, body: Iterable[str]) -> list[str]:
    return [head, "{", *(f"  {line}" for line in body), "}"]


def _rule(rule: Row) -> Iterator[str]:
    body: list[str] = []
    after: list[str] = []
    for side, title in (("local", "Local"), ("remote", "Remote")):
        for inner, others in (_addresses(rule, side, title), _ports(rule, side, title)):
            body += inner
            after += others
    for keyword, column in _RULE_PARAMETERS.items():
        if rule.get(column) is not None:
            body.append(f"{keyword} {rule[column]}")
    yield from _block(f"TTLSRule {rule['rule_name']}", body)
    yield from after


_RULE_PARAMETERS = {"Jobname": "job_name", "Userid": "user_id", "Direction": "direction"} | {
    "Priority": "rule_priority",
    **{f"{_STATEMENTS[scope]}Ref": f"{scope}_action" for scope in SCOPES},
}


def _addresses(rule: Row, side: str, title: str) -> tuple[list[str], list[str]]:
    """Return the lines of a condition in the rule and the statements to which it refers."""
    found = _parts(rule.get(f"{side}_addresses"))
    if len(found) == 1:
        one = found[0]
        return _block(f"{title}AddrSet", [f"Range {one}"]) if "-" in one else [f"{title}Addr {one}"], []
    if not found:
        return [], []
    name = f"{rule['rule_name']}~{side}"
    inner = [line for each in found for line in _one_address(each)]
    return [f"{title}AddrGroupRef {name}"], _block(f"IpAddrGroup {name}", inner)


def _ports(rule: Row, side: str, title: str) -> tuple[list[str], list[str]]:
    found = _parts(rule.get(f"{side}_ports"))
    if len(found) == 1:
        return _block(f"{title}PortRange", [f"Port {found[0]}"]), []
    if not found:
        return [], []
    name = f"{rule['rule_name']}~{side}"
    inner = [line for each in found for line in _block("PortRange", [f"Port {each}"])]
    return [f"{title}PortGroupRef {name}"], _block(f"PortGroup {name}", inner)


def _parts(text: str | None) -> list[str]:
    return [part for part in (text or "").split(", ") if part]


def _one_address(text: str) -> list[str]:
    return _block("IpAddrSet", [f"Range {text}"]) if "-" in text else _block("IpAddr", [f"Addr {text}"])


def _action(scope: str, name: str, rows: Sequence[Row], *, inline: bool) -> Iterator[str]:
    body: list[str] = []
    after: list[str] = []
    sections: dict[str, list[Row]] = {}
    for row in rows:
        if row["setting"] in {"set", "unknown"}:
            sections.setdefault(row.get("section") or "", []).append(row)
    for section, coded in sections.items():
        lines = [f"{row['parameter']} {row.get('parameter_value') or ''}".rstrip() for row in coded]
        if not section:
            body += lines
        elif inline:
            body += _block(section, lines)
        else:
            body.append(f"{section}Ref {name}~{section}")
            after += _block(f"{section} {name}~{section}", lines)
    yield from _block(f"{_STATEMENTS[scope]} {name}", body)
    yield from after
