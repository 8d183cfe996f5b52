"""The sentences of `zscope summary`: their numbers are those of the metrics, and missing data is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from zscope.pipelines.quantities import number, percent
from zscope.pipelines.summary import conclusions

if TYPE_CHECKING:
    from click.testing import Result
    from tests.app.conftest import Run


def rows_of(run: Run, store: Path, statement: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(run("sql", statement, "--store", store, "--json").stdout)
    return rows


def test_the_numbers_are_those_of_the_metrics(run: Run, demo: tuple[Path, Result]) -> None:
    store, _ = demo
    result = run("summary", "--store", store, "--json")
    assert result.exit_code == 0
    sentences = {row["about"]: row["sentence"] for row in json.loads(result.stdout)}
    [price] = rows_of(
        run,
        store,
        "SELECT high_cpu_s_per_day AS high FROM tls_price WHERE shared_by = 'system' AND part = 'TLS' "
        "ORDER BY high DESC NULLS LAST LIMIT 1",
    )
    assert f"at most {number(price['high'], 3)} CPU seconds a day" in sentences["price"]
    posture = rows_of(
        run,
        store,
        "SELECT source, sum(connections) AS n, sum(unprotected_connections) AS bare, "
        "sum(old_version_connections) AS old, sum(covered_hours) AS covered, sum(hours) AS hours "
        "FROM tls_posture GROUP BY source ORDER BY n DESC",
    )
    assert [row["source"] for row in posture] == ["zERT summary", "zERT detail"]
    for row, records in zip(posture, ["zERT summaries", "zERT details"], strict=True):
        share, covered = percent(100 * row["bare"] / row["n"]), percent(100 * row["covered"] / row["hours"])
        counted = (
            f"{row['bare']:,} of {row['n']:,} connections ({share}) in {records} ({covered} of the hours)"
        )
        assert counted in sentences["exposure"]
        assert f"{row['old']:,} use SSL, TLSv1.0 or TLSv1.1" in sentences["exposure"]
    [soon] = rows_of(
        run, store, "SELECT count(*) AS n FROM certificate_inventory WHERE days_left BETWEEN 0 AND 90"
    )
    assert sentences["certificates"].startswith(f"{soon['n']} certificates end within 90 days after the data")
    assert "TTLSGskAdvancedParms, GSK_V3_SESSION_TIMEOUT" in sentences["saving"]


@pytest.mark.parametrize(
    ("others", "end"),
    [
        ([], ""),
        ([("SYSD", 40.0)], "; at most 40 on SYSD"),
        ([("SYSD", 40.0), ("SYSE", 30.0)], "; at most 40 on SYSD and 30 on SYSE"),
        ([(f"SYS{n}", 40.0 - n) for n in range(4)], "; at most 40 on each of 4 other systems"),
    ],
)
def test_each_system_has_its_price_or_its_upper_bound(others: list[tuple[str, float]], end: str) -> None:
    rows = [
        price("SYSA", "estimate", 300.0),
        price("SYSB", "conditional", 400.0),
        price("SYSC", "conditional", 350.0),
        *(price(system, "conditional", most) for system, most in others),
    ]
    given = {"tls_price": rows}
    [first, *_] = conclusions(lambda metric, _: given.get(metric, []))
    assert first.sentence == (
        "TLS costs 200 CPU seconds a day (100 to 300) on SYSA, at least 100 and at most 400 CPU seconds a "
        f"day on SYSB and at least 100 and at most 350 CPU seconds a day on SYSC{end}."
    )


def price(system: str, status: str, most: float) -> dict[str, Any]:
    return {
        "system": system, "shared_by": "system", "status": status, "cpu_s_per_day": 200.0,
        "low_cpu_s_per_day": 100.0, "high_cpu_s_per_day": most, "lpar_pct": None, "high_lpar_pct": None,
    }  # fmt: skip


@pytest.mark.deep
def test_a_store_without_tls_says_what_to_load(run: Run, dump: Path, tmp_path: Path) -> None:
    run("ingest", dump, "--store", tmp_path / "store", "--select", "119(2)", "--timezone", "+00:00")
    lines = run("summary", "--store", tmp_path / "store").stdout
    assert "What TLS costs is not known" in lines
    assert "load zERT summaries or details (SMF 119-12 or 119-11)" in lines


@pytest.mark.parametrize(
    ("rule", "place"),
    [
        ("CICS~1", "under rule CICS~1 of SYSA"),
        ("no rule", "in connections of SYSA that no known rule matches"),
    ],
)
def test_the_saving_names_its_rule(rule: str, place: str) -> None:
    advice = {
        "change": "resume 95.0 % of the handshakes, not 35.8 %", "rule_name": rule, "system": "SYSA",
        "saving_s_per_day": 1.05, "saving_high_s_per_day": None, "value_today": None,
        "statement": "TTLSGskAdvancedParms", "parameter": "GSK_V3_SESSION_TIMEOUT", "recommended": "longer",
    }  # fmt: skip
    rows: dict[str, list[dict[str, Any]]] = {"tls_advice": [advice]}
    sentences = {each.about: each.sentence for each in conclusions(lambda metric, _: rows.get(metric, []))}
    assert sentences["saving"] == (
        f"The largest saving: resume 95.0 % of the handshakes, not 35.8 % {place}, which saves 1.05 CPU "
        "seconds a day; statement TTLSGskAdvancedParms, GSK_V3_SESSION_TIMEOUT: longer."
    )


def test_changes_against_the_period_before_are_named() -> None:
    """The periods of the sample data have no weeks before them."""
    rows: dict[str, list[dict[str, Any]]] = {
        "period_comparison": [
            change("connections", "all", 100, 150, 50.0, 100.0, 100.0),
            change("handshake", "resumed", 40, 90, 125.0, 40.0, 60.0),
            change("protocol", "TLSv1.3", 10, 15, 50.0, 10.0, 10.4),
            change("AT-TLS policy", "rule R: changed", 0, 1, None, None, None),
        ],
    }
    [*_, last] = conclusions(lambda metric, _: rows.get(metric, []))
    assert last.sentence == (
        "In the last seven days of the data, against the seven before, changed: connections +50.0 % and "
        "resumed handshakes +20.0 points. 1 setting of the AT-TLS policy changed."
    )


def change(subject: str, value: str, *numbers: float | None) -> dict[str, Any]:
    names = ("earlier", "later", "change_pct", "earlier_pct", "later_pct")
    return {"subject": subject, "value": value, **dict(zip(names, numbers, strict=True))}
