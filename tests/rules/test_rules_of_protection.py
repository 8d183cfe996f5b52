"""A rule about the quality of protection is defined once: in macros.sql, or in the metric that declares it.

Screens, report, checks and findings read the columns of metrics. The patterns here find what a second
definition of a rule looks like; the lines below them are copies that once existed, and must be found.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
METRICS = ROOT / "pipelines/zscope/pipelines/metrics"
DEFINITIONS = {"macros.sql", "tls_posture.toml", "protocol_distribution.sql"}
"""The files of metrics that define rules; `tls_posture` defines sums of its own columns."""
OLD = r"""["'](?:SSLv[23]|TLSv1\.[012])["']"""
RULES = {
    "short key": (
        r"bits[\"'\])]*\s*[<>]=?\s*[1-9a-z]",
        r"[\"'](?:RSA|DSA|Diffie-Hellman|elliptic curve)[\"']\s*:\s*\d",
    ),
    "weak suite": (
        r"[\"'](?:3DES|RC4|RC2|DES)[\"']",
        r"[\"']_?EXPORT_?[\"']",
        r"=\s*[\"'](?:anon|signalling)[\"']",
        r"<>\s*[\"']signalling[\"']",
        r"encryption\W*\s*=\s*[\"']NULL[\"']",
    ),
    "forward secrecy": (r"\bpfs[\"')\]]*\s*(?:==?|!=|<>)\s*[\"'](?:yes|no)\b",),
    "old version": (
        r"version\w*\s*(?:NOT )?(?:IN \(|[<>=]+)\s*(?:512|76[89]|77[0-2]|0x030)",
        rf"{OLD},\s*{OLD}",
        r"\bssl(?:_\w+)?\b.{1,25}\btls10_tls11(?:_\w+)?\b(?=.*(?:> 0|AS old|of_tls=))",
    ),
    "share of TLSv1.3": (r"FILTER \((?:WHERE )?protocol = 'TLSv1\.3'", r"TLS\|SSL"),
    "expiry class": (
        r"[\"']<= \d+ days[\"'],\s*[\"']<= \d+ days[\"'][,)]",
        r"days(?:_left)?\s*[<>]=?\s*[1-9]\d",
        r"less_equal\(days",
        r"seconds_left\s*[<>]",
        r"not_after\w*\s*[<>]=?\s*\w*as_of",
    ),
    "complete coverage": (r"covered_pct\s*[<>]=?\s*\d", r"_hours >= 0\.9\d* \*"),
    "published comparison": (r"FROM reference_result WHERE id = '",),
}
COPIES = {
    "short key": (
        '_SHORTEST = {"RSA": 2048, "DSA": 2048, "Diffie-Hellman": 2048, "elliptic curve": 224}',
        "coalesce(has_session AND server_cert_key_type_code = 2 AND server_cert_key_bits < 2048, false)",
        "WHEN bool_or(key_type = 'RSA' AND key_bits >= 2048) THEN 'pass'",
        'if shortest and row["key_bits"] and row["key_bits"] < shortest:',
    ),
    "weak suite": (
        '_WEAK_ENCRYPTION = ("3DES", "RC4", "DES", "RC2")',
        "coalesce(has_session AND has_suite AND contains(key_exchange, 'EXPORT'), false)::BOOLEAN",
        """if suite.get("authentication") == "anon":""",
        "s.code IS NOT NULL AND s.protocol <> 'signalling' AS has_suite",
        """if encryption == "NULL":""",
    ),
    "forward secrecy": (
        """WITHOUT_PFS_SQL = f"{_SIGNAL_SQL} AND pfs = 'no'\"""",
        """return suite.get("pfs") == "no" and suite.get("cipher") not in _SIGNALS""",
    ),
    "old version": (
        "coalesce(has_session AND tls_version_code IN (769, 770), false)::BOOLEAN AS is_tls10_tls11,",
        "WHERE ttls_status = 3 AND tls_version >= 768",
        "WHEN tls_version IN ('TLSv1.2', 'TLSv1.1', 'TLSv1.0', 'SSLv3', 'SSLv2') THEN 'TLSv1.2 and older'",
        'Weakness("old version", ("ssl", "tls10_tls11"), of_tls=True),',
        "sum(ssl_connections)::BIGINT + sum(tls10_tls11_connections)::BIGINT AS old,",
        'having = "unprotected_connections + ssl_connections + tls10_tls11_connections > 0"',
    ),
    "share of TLSv1.3": (
        "coalesce(sum(connections) FILTER (protocol = 'TLSv1.3'), 0)",
        '_TLS = re.compile(r"TLS|SSL", re.IGNORECASE)',
    ),
    "expiry class": (
        "count(*) FILTER (expiry IN ('<= 30 days', '<= 60 days', '<= 90 days'))",
        '_EXPIRING = ("<= 30 days", "<= 60 days", "<= 90 days")',
        "soon = pc.and_kleene(pc.less_equal(days, 90), pc.invert(pc.or_(expired, since)))",
        "WHEN seconds_left <= 30 * 86400 THEN '<= 30 days'",
        "count_if(not_after_utc < as_of_utc)::BIGINT AS expired,",
    ),
    "complete coverage": (
        "WHEN covered_pct < 95 THEN 'which cover ' || round(covered_pct)::BIGINT || ' % of the hours'",
        "WHEN coalesce(detail_hours >= 0.95 * summary_hours, false) THEN 'zERT detail'",
    ),
    "published comparison": (
        "SELECT max(value) AS pct FROM reference_result WHERE id = 'tls31-sysplex-tickets-hit'",
    ),
}


def checked_files() -> list[Path]:
    """The files of the app and of the pipelines that could repeat a rule, without its definition."""
    return [
        path
        for folder in (ROOT / "app", ROOT / "pipelines")
        for path in sorted(folder.rglob("*"))
        if path.suffix in {".py", ".sql", ".toml"} and path.name not in DEFINITIONS
    ]


def repeats(rule: str, line: str) -> bool:
    """Whether a line repeats a rule; comments and meanings explain rules, they do not repeat them."""
    code = re.sub(r"^\s*(?:--|#).*", "", line)
    return any(re.search(pattern, code) for pattern in RULES[rule])


@pytest.mark.parametrize("rule", list(RULES))
def test_rule_has_one_definition(rule: str) -> None:
    second = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in checked_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if repeats(rule, line)
    ]
    assert second == []


@pytest.mark.parametrize(("rule", "line"), [(rule, line) for rule, lines in COPIES.items() for line in lines])
def test_copies_that_existed_are_found(rule: str, line: str) -> None:
    assert repeats(rule, line)


def test_all_rules_are_searched_in_screens_report_and_metrics() -> None:
    assert set(COPIES) == set(RULES)
    names = {path.name for path in checked_files()}
    assert {
        "ciphers.py",
        "certificates.py",
        "sections.toml",
        "exposure_statement.sql",
        "connection_posture.sql",
    } <= names
    assert {path.name for path in METRICS.rglob("*")} >= DEFINITIONS
