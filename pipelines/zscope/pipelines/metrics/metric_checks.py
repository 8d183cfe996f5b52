"""The checks of `zscope check`: findings and recommended settings, declared as data that becomes SQL.

A check is one block of a `.checks.toml` file next to its metric. The SQL files of the metrics `finding_day`,
`finding_count`, `finding` and `best_practice_check` have lines in double braces for the SQL that is generated
from all blocks. So a new check is one edit, and the views stay plain SELECT statements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from textwrap import dedent, indent
from typing import Literal, get_args

from zscope.schemas.data_kinds import kind_of_data
from zscope.schemas.declared import Declared, TomlFile, WrongValueError
from zscope.schemas.sql_text import literal

FindingSeverity = Literal["high", "medium", "low", "info"]
SEVERITIES = get_args(FindingSeverity)
"""The worst first."""
_FOLDER = files("zscope.pipelines.metrics") / "posture"
_UNION = "\nUNION ALL\n"


class FindingRule(Declared, frozen=True):
    """A finding."""

    id: str
    of: Literal["connection", "certificate"]
    severity: FindingSeverity
    condition: str
    """SQL about a row of connection_posture and of posture_group, or about one of certificate_seen."""
    what: str
    remedy: str


class FindingsFile(Declared, frozen=True):
    """The file of the findings."""

    finding: tuple[FindingRule, ...]


class PracticeRule(Declared, frozen=True):
    """How a recommended setting is checked."""

    id: str
    capture: str
    """What to check or to load."""
    seen: str = ""
    """The statement of the evidence; empty if nothing in a store can show the setting."""
    judged: str = ""
    """The statement that judges the evidence."""
    tag: str = ""
    """The tag of benchmark runs that states how it was set in a run."""

    def __post_init__(self) -> None:
        if bool(self.seen) != bool(self.judged):
            missing, other = ("judged", "seen") if self.seen else ("seen", "judged")
            raise WrongValueError(missing, f"is missing; a rule with {other} needs it")


class PracticesFile(Declared, frozen=True):
    """The file of the recommended settings."""

    rule: tuple[PracticeRule, ...]


@cache
def finding_rules() -> tuple[FindingRule, ...]:
    """Return the findings, in the order of their file.

    >>> finding_rules()[0].id
    'not-encrypted'
    """
    return TomlFile.read(_FOLDER / "finding.checks.toml").typed(FindingsFile).finding


@cache
def practice_rules() -> tuple[PracticeRule, ...]:
    """Return how recommended settings are checked, in the order of their file."""
    return TomlFile.read(_FOLDER / "best_practice_check.checks.toml").typed(PracticesFile).rule


def filled(metric: str, sql: str) -> str:
    """Return the SQL of a metric with the SQL that declarations supply, or unchanged if there is none.

    >>> filled("handshake_mix", "SELECT 1")
    'SELECT 1'
    """
    if metric not in _PARTS:
        return sql
    for name, text in _PARTS[metric]().items():
        place = "{{" + name + "}}"
        [line] = [line for line in sql.splitlines() if line.strip().startswith(place)]
        margin = line[: line.index(place)]
        sql = sql.replace(place, indent(text, margin).lstrip())
    return sql


def finding_counts() -> dict[str, str]:
    """Count the connections that meet the condition of each finding about connections."""
    counts = [
        f"{literal(rule.id)}: coalesce(sum(connections) FILTER ({rule.condition}), 0)::BIGINT"
        for rule in _about_connections()
    ]
    return {"counts": ",\n".join(counts)}


def finding_sums() -> dict[str, str]:
    """Add up the connections of each finding over days."""
    sums = [
        f"{literal(rule.id)}: sum(connections_by_id[{literal(rule.id)}])::BIGINT"
        for rule in _about_connections()
    ]
    return {"sums": ",\n".join(sums)}


def _about_connections() -> list[FindingRule]:
    return [rule for rule in finding_rules() if rule.of == "connection"]


def findings() -> dict[str, str]:
    """Return the SELECT of each finding."""
    selects = [
        _of_connections(rule) if rule.of == "connection" else _of_certificates(rule)
        for rule in finding_rules()
    ]
    return {"findings": _UNION.join(selects)}


def _of_connections(rule: FindingRule) -> str:
    count = f"connections_by_id[{literal(rule.id)}]"
    return (
        f"SELECT\n    {literal(rule.id)} AS id, {literal(rule.severity)} AS severity,\n"
        f"    {literal(rule.what)} AS what,\n"
        "    source, system, server_port, job_name, NULL AS certificate, NULL AS serial, NULL AS issuer_dn,\n"
        f"    {count} AS connections,\n"
        "    if(source = 'zERT detail', 'connection_posture', 'posture_group') AS rows_of,\n"
        f"    {literal('(' + rule.condition + ')')} AS condition,\n"
        f"    {literal(rule.remedy)} AS remedy\n"
        f"FROM counted\nWHERE {count} > 0"
    )


def _of_certificates(rule: FindingRule) -> str:
    return (
        f"SELECT\n    {literal(rule.id)} AS id, {literal(rule.severity)} AS severity,\n"
        f"    {literal(rule.what)} AS what,\n"
        "    arg_max(source, added_connections) AS source, system, server_port, job_name,\n"
        "    concat_ws(', ', min(subject_dn), 'serial ' || serial, 'issuer ' || issuer_dn) AS certificate,\n"
        "    serial, issuer_dn,\n"
        "    sum(added_connections) AS connections,\n"
        f"    'certificate_seen' AS rows_of, {literal('(' + rule.condition + ')')} AS condition,\n"
        f"    {literal(rule.remedy)} AS remedy\n"
        f"FROM certificate\nWHERE {rule.condition}\n"
        "GROUP BY system, server_port, job_name, serial, issuer_dn"
    )


def practice_parts() -> dict[str, str]:
    """Return the rules as rows, and the SELECT of each that has evidence."""
    rows = [
        f"({position}, {literal(rule.id)}, {literal(rule.capture)}, {literal(rule.tag)})"
        for position, rule in enumerate(practice_rules())
    ]
    selects = [_observed(rule) for rule in practice_rules() if rule.seen]
    return {"rules": ",\n".join(rows), "observed": _UNION.join(selects)}


def _observed(rule: PracticeRule) -> str:
    seen, judged = (dedent(text).strip() for text in (rule.seen, rule.judged))
    query = literal(f"SELECT * FROM ({_one_line(seen)}) WHERE system ")
    return (
        f"SELECT\n    {literal(rule.id)} AS practice, system, status, evidence,\n"
        f"    {query}\n"
        "    || coalesce('= ''' || replace(system, '''', '''''') || '''', 'IS NULL') AS evidence_query\n"
        "FROM (\n    WITH seen AS (\n" + indent(seen, " " * 8) + "\n    )\n" + indent(judged, " " * 4) + "\n)"
    )


def _one_line(sql: str) -> str:
    """A statement in one line, for a cell of a table; comments would end it."""
    return " ".join(line.strip() for line in sql.splitlines() if not line.strip().startswith("--"))


_PARTS: Mapping[str, Callable[[], Mapping[str, str]]] = {
    "finding_day": finding_counts,
    "finding_count": finding_sums,
    "finding": findings,
    "best_practice_check": practice_parts,
    "loaded_data": lambda: {"kind": kind_of_data()},
}
"""Metrics with checks or kinds of data, and what turns these into SQL."""
