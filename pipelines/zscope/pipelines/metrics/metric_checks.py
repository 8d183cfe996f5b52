"""The checks of `zscope check`: findings and recommended settings, declared as data that becomes SQL.

A check is one block of a `.checks.toml` file next to its metric. The SQL files of the metrics `finding_day`,
`finding_count`, `finding` and `best_practice_check` have lines in double braces for the SQL that is generated
from all blocks. So a new check is one edit, and the views stay plain SELECT statements.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from textwrap import dedent, indent
from typing import Any

from zscope.schemas.arrow import literal
from zscope.schemas.errors import DeclarationError

Rule = Mapping[str, Any]

SEVERITIES = ("high", "medium", "low", "info")
"""The worst first."""
_FINDING_KEYS = {"id", "of", "severity", "condition", "what", "remedy"}
_PRACTICE_KEYS = {"id", "capture"}
_EVIDENCE_KEYS = {"seen", "judged"}
_STATED_KEYS = {"tag", "good"}
_FINDINGS_FILE = "checks.toml"
_UNION = "\nUNION ALL\n"


def rules(metric: str) -> tuple[Rule, ...]:
    """Return the checks of a metric, in the order of its file.

    >>> rules("finding")[0]["id"]
    'not-encrypted'
    """
    file, _ = _PARTS[metric]
    path = files("zscope.pipelines.metrics") / "posture" / f"{file}.checks.toml"
    content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    [blocks] = content.values()
    return tuple(blocks)


def filled(metric: str, sql: str) -> str:
    """Return the SQL of a metric with the SQL of its checks, or unchanged if it has none.

    >>> filled("handshake_mix", "SELECT 1")
    'SELECT 1'
    """
    if metric not in _PARTS:
        return sql
    _, parts = _PARTS[metric]
    for name, text in parts(rules(metric)).items():
        place = "{{" + name + "}}"
        [line] = [line for line in sql.splitlines() if line.strip().startswith(place)]
        margin = line[: line.index(place)]
        sql = sql.replace(place, indent(text, margin).lstrip())
    return sql


def finding_counts(rules: Sequence[Rule]) -> dict[str, str]:
    """Count the connections that meet the condition of each finding about connections."""
    counts = [
        f"{literal(rule['id'])}: count(*) FILTER ({rule['condition']})" for rule in _of_connection(rules)
    ]
    return {"counts": ",\n".join(counts)}


def finding_sums(rules: Sequence[Rule]) -> dict[str, str]:
    """Add up the connections of each finding over days."""
    sums = [
        f"{literal(rule['id'])}: sum(connections_by_id[{literal(rule['id'])}])::BIGINT"
        for rule in _of_connection(rules)
    ]
    return {"sums": ",\n".join(sums)}


def _of_connection(rules: Sequence[Rule]) -> list[Rule]:
    return [rule for rule in _checked(rules) if rule["of"] == "connection"]


def findings(rules: Sequence[Rule]) -> dict[str, str]:
    """Return the SELECT of each finding."""
    selects = [
        _of_connections(rule) if rule["of"] == "connection" else _of_certificates(rule)
        for rule in _checked(rules)
    ]
    return {"findings": _UNION.join(selects)}


def _checked(rules: Sequence[Rule]) -> Sequence[Rule]:
    for rule in rules:
        _check_keys(rule, _FINDING_KEYS)
        if rule["severity"] not in SEVERITIES or rule["of"] not in {"connection", "certificate"}:
            problem = f"severity {rule['severity']!r} of {rule['of']!r}"
            raise DeclarationError(_FINDINGS_FILE, str(rule["id"]), problem)
    return rules


def _of_connections(rule: Rule) -> str:
    count = f"connections_by_id[{literal(rule['id'])}]"
    return (
        f"SELECT\n    {literal(rule['id'])} AS id, {literal(rule['severity'])} AS severity,\n"
        f"    {literal(rule['what'])} AS what,\n"
        "    system, server_port, job_name, NULL AS certificate, NULL AS serial, NULL AS issuer_dn,\n"
        f"    {count} AS connections, {count} AS in_detail,\n"
        f"    'connection_posture' AS rows_of, {literal('(' + rule['condition'] + ')')} AS condition,\n"
        f"    {literal(rule['remedy'])} AS remedy\n"
        f"FROM finding_count\nWHERE {count} > 0"
    )


def _of_certificates(rule: Rule) -> str:
    return (
        f"SELECT\n    {literal(rule['id'])} AS id, {literal(rule['severity'])} AS severity,\n"
        f"    {literal(rule['what'])} AS what,\n"
        "    system, server_port, job_name,\n"
        "    concat_ws(', ', min(subject_dn), 'serial ' || serial, 'issuer ' || issuer_dn) AS certificate,\n"
        "    serial, issuer_dn,\n"
        "    sum(connections) AS connections, sum(detail_connections) AS in_detail,\n"
        f"    'certificate_seen' AS rows_of, {literal('(' + rule['condition'] + ')')} AS condition,\n"
        f"    {literal(rule['remedy'])} AS remedy\n"
        f"FROM certificate\nWHERE {rule['condition']}\n"
        "GROUP BY system, server_port, job_name, serial, issuer_dn"
    )


def practice_parts(rules: Sequence[Rule]) -> dict[str, str]:
    """Return the rules as rows, and the SELECT of each that has evidence."""
    for rule in rules:
        evidence = _EVIDENCE_KEYS if "seen" in rule else set()
        stated = _STATED_KEYS if "tag" in rule else set()
        _check_keys(rule, _PRACTICE_KEYS | evidence | stated)
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


def _check_keys(rule: Rule, keys: set[str]) -> None:
    if set(rule) != keys:
        differing = ", ".join(sorted(set(rule) ^ keys))
        name = str(rule.get("id", "a rule without an id"))
        raise DeclarationError(_FINDINGS_FILE, name, f"missing or unknown keys: {differing}")


_PARTS: Mapping[str, tuple[str, Callable[[Sequence[Rule]], Mapping[str, str]]]] = {
    "finding_day": ("finding", finding_counts),
    "finding_count": ("finding", finding_sums),
    "finding": ("finding", findings),
    "best_practice_check": ("best_practice_check", practice_parts),
}
"""Metrics with checks: the file of the checks, and the function that turns its blocks into SQL."""
