"""What becomes of checks: the parts of the SQL of `finding` and `best_practice_check`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import dedent, indent
from typing import Any

from zscope.schemas.ddl import literal

Rule = Mapping[str, Any]

SEVERITIES = ("high", "medium", "low", "info")
"""The worst first."""
_UNION = "\nUNION ALL\n"
_FINDING = {"id", "of", "severity", "condition", "what", "remedy"}
_PRACTICE = {"id", "capture"}
_EVIDENCE = {"seen", "judged"}
_STATED = {"tag", "good"}


class RuleError(Exception):
    """A check that does not hold together: which, and what is wrong with it."""


def finding_counts(rules: Sequence[Rule]) -> dict[str, str]:
    """How many connections meet the condition of each finding about connections."""
    counts = [
        f"{literal(rule['id'])}: count(*) FILTER ({rule['condition']})"
        for rule in _checked(rules)
        if rule["of"] == "connection"
    ]
    return {"counts": ",\n".join(counts)}


def findings(rules: Sequence[Rule]) -> dict[str, str]:
    """The SELECT of each finding."""
    selects = [
        _of_connections(rule) if rule["of"] == "connection" else _of_certificates(rule)
        for rule in _checked(rules)
    ]
    return {"findings": _UNION.join(selects)}


def _checked(rules: Sequence[Rule]) -> Sequence[Rule]:
    for rule in rules:
        _only(rule, _FINDING)
        if rule["severity"] not in SEVERITIES or rule["of"] not in {"connection", "certificate"}:
            raise RuleError(f"{rule['id']}: severity {rule['severity']!r} of {rule['of']!r}")
    return rules


def _of_connections(rule: Rule) -> str:
    return (
        f"SELECT\n    {literal(rule['id'])} AS id, {literal(rule['severity'])} AS severity,\n"
        f"    {literal(rule['what'])} AS what,\n"
        "    system, server_port, job_name, NULL AS certificate, NULL AS serial, NULL AS issuer_dn,\n"
        f"    found[{literal(rule['id'])}] AS connections, found[{literal(rule['id'])}] AS in_detail,\n"
        f"    'connection_posture' AS rows_of, {literal(_condition(rule))} AS condition,\n"
        f"    {literal(rule['remedy'])} AS remedy\n"
        f"FROM finding_count\nWHERE found[{literal(rule['id'])}] > 0"
    )


def _of_certificates(rule: Rule) -> str:
    return (
        f"SELECT\n    {literal(rule['id'])} AS id, {literal(rule['severity'])} AS severity,\n"
        f"    {literal(rule['what'])} AS what,\n"
        "    system, server_port, job_name,\n"
        "    concat_ws(', ', min(subject_dn), 'serial ' || serial, 'issuer ' || issuer_dn) AS certificate,\n"
        "    serial, issuer_dn,\n"
        "    sum(connections) AS connections, sum(detail_connections) AS in_detail,\n"
        f"    'certificate_seen' AS rows_of, {literal(_condition(rule))} AS condition,\n"
        f"    {literal(rule['remedy'])} AS remedy\n"
        f"FROM certificate\nWHERE {rule['condition']}\n"
        "GROUP BY system, server_port, job_name, serial, issuer_dn"
    )


def _condition(rule: Rule) -> str:
    return f"({rule['condition']})"


def practice_parts(rules: Sequence[Rule]) -> dict[str, str]:
    """The rules as rows, and the SELECT of each that has evidence."""
    for rule in rules:
        evidence = _EVIDENCE if "seen" in rule else set()
        stated = _STATED if "tag" in rule else set()
        _only(rule, _PRACTICE | evidence | stated)
    rows = [
        f"({position}, {literal(rule['id'])}, {literal(rule['capture'])}, "
        f"{literal(rule.get('tag', ''))}, {_texts(rule.get('good', []))})"
        for position, rule in enumerate(rules)
    ]
    selects = [_observed(rule) for rule in rules if "seen" in rule]
    return {"rules": ",\n".join(rows), "observed": _UNION.join(selects)}


def _observed(rule: Rule) -> str:
    seen, judged = (dedent(rule[key]).strip() for key in ("seen", "judged"))
    query = literal(f"SELECT * FROM ({_one_line(seen)}) WHERE system ")
    return (
        f"SELECT\n    {literal(rule['id'])} AS practice, system, status, evidence,\n"
        f"    {query}\n"
        "    || coalesce('= ''' || replace(system, '''', '''''') || '''', 'IS NULL') AS evidence_query\n"
        "FROM (\n    WITH seen AS (\n" + indent(seen, " " * 8) + "\n    )\n" + indent(judged, " " * 4) + "\n)"
    )


def _one_line(sql: str) -> str:
    """A statement in one line, for a cell of a table; comments would end it."""
    return " ".join(line.strip() for line in sql.splitlines() if not line.strip().startswith("--"))


def _texts(values: Sequence[str]) -> str:
    return f"[{', '.join(map(literal, values))}]::VARCHAR[]"


def _only(rule: Rule, keys: set[str]) -> None:
    if set(rule) != keys:
        differing = ", ".join(sorted(set(rule) ^ keys))
        raise RuleError(f"{rule.get('id', 'a rule without id')}: missing or not understood: {differing}")
