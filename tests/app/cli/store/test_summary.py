"""The sentences of `zscope summary`: their numbers are those of the metrics, and missing data is named."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from zscope.app.report.section_declarations import report_declaration
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
    [unprotected] = rows_of(
        run,
        store,
        "SELECT system, job_name, server_port, max(unprotected_connections) AS n FROM tls_posture "
        "WHERE source = 'zERT summary' GROUP BY ALL ORDER BY n DESC LIMIT 1",
    )
    assert (
        f"the largest part ({unprotected['n']:,}) of job {unprotected['job_name']} on port "
        f"{unprotected['server_port']} of {unprotected['system']}"
    ) in sentences["exposure"]


def test_the_advice_is_the_first_row_of_its_evidence(run: Run, demo: tuple[Path, Result]) -> None:
    """Its numbers are those of the row, and the reasons those of the session caches of the system."""
    store, _ = demo
    [saving] = [
        row
        for row in json.loads(run("summary", "--store", store, "--json").stdout)
        if row["about"] == "saving"
    ]
    words = shlex.split(saving["evidence"])
    assert words[0] == "zscope"
    evidence: list[dict[str, Any]] = json.loads(run(*words[1:], "--store", store, "--json").stdout)
    first = evidence[0]
    assert first["saving_high_s_per_day"] == max(row["upper_s_per_day"] or 0 for row in evidence)
    assert saving["sentence"].startswith(
        f"Of the changes under AT-TLS rules, this one can save most: {first['sentence']}."
    )
    assert f"at most {number(first['saving_high_s_per_day'], 3)} CPU seconds a day, if " in first["sentence"]
    [cache] = rows_of(
        run,
        store,
        "SELECT sum(added) AS added, sum(lookups - hits) AS missed, sum(missed_expired) AS expired "
        f"FROM gsk_cache_delta AS g WHERE system = '{first['system']}' AND cache = 'session ids' "
        "AND basis = 'between displays' AND NOT EXISTS (SELECT 1 FROM run AS r WHERE g.system = r.system "
        "AND g.interval_start_utc < r.to_utc AND g.interval_end_utc > r.from_utc)",
    )
    none_offered = 100 * (cache["added"] - cache["missed"]) / cache["added"]
    assert none_offered > 90
    assert (
        "It takes clients that offer a session: no setting here is known to help. "
        f"Of {cache['added']:,} full handshakes that GSKSRVR counted with TLSv1.2 and older, "
        f"{none_offered:.0f} % came from clients that offered no session, "
        f"{100 * cache['expired'] / cache['added']:.0f} % had an expired session"
    ) in saving["sentence"]


def test_no_advice_raises_a_setting_beyond_its_limit(run: Run, demo: tuple[Path, Result]) -> None:
    store, _ = demo
    numbers = rows_of(
        run,
        store,
        "SELECT a.parameter, a.value_today, p.most FROM tls_advice AS a JOIN attls_parameter AS p "
        "USING (parameter) WHERE p.most IS NOT NULL AND try_cast(a.value_today AS BIGINT) IS NOT NULL",
    )
    assert numbers
    assert [row for row in numbers if int(row["value_today"]) >= row["most"]] == []


def test_the_report_lists_each_change_once_and_the_best_one_first(
    run: Run, demo: tuple[Path, Result]
) -> None:
    store, _ = demo
    [section] = [each for each in report_declaration().sections if each.id == "advice"]
    listed = [
        row
        for part in section.parts
        for row in rows_of(
            run,
            store,
            "SELECT system, rule_name, change, sentence FROM tls_advice "
            f"WHERE {part.where} ORDER BY {part.order}",
        )
    ]
    named = [(row["system"], row["rule_name"], row["change"]) for row in listed]
    assert None in {rule for _, rule, _ in named}, "no connection without a known rule"
    assert len(set(named)) == len(named) > 5
    assert listed[0]["sentence"] in run("summary", "--store", store).stdout.replace("\n", " ")


@pytest.mark.parametrize(
    ("others", "end"),
    [
        ([], ""),
        ([("SYSD", 5.0, 40.0)], "; 5 to 40 on SYSD"),
        ([("SYSD", 0.0, 40.0), ("SYSE", 5.0, 30.0)], "; at most 40 on SYSD and 5 to 30 on SYSE"),
        ([(f"SYS{n}", 9.0 - n, 40.0 - n) for n in range(4)], "; 6 to 40 on each of 4 other systems"),
        ([(f"SYS{n}", 3.0 - n, 40.0 - n) for n in range(4)], "; at most 40 on each of 4 other systems"),
    ],
)
def test_each_system_has_its_price_or_its_range(others: list[tuple[str, float, float]], end: str) -> None:
    rows = [
        price("SYSA", "estimate", 300.0),
        price("SYSB", "conditional", 400.0),
        price("SYSC", "conditional", 350.0),
        *(price(system, "conditional", most, least) for system, least, most in others),
    ]
    given = {"tls_price": rows}
    [first, *_] = conclusions(lambda metric, _: given.get(metric, []))
    assert first.sentence == (
        "TLS costs 200 CPU seconds a day (100 to 300) on SYSA, at least 100 and at most 400 CPU seconds a "
        f"day on SYSB and at least 100 and at most 350 CPU seconds a day on SYSC{end}."
    )


def price(system: str, status: str, most: float, least: float = 100.0) -> dict[str, Any]:
    return {
        "system": system, "shared_by": "system", "status": status, "cpu_s_per_day": 200.0,
        "low_cpu_s_per_day": least, "high_cpu_s_per_day": most, "lpar_pct": None, "high_lpar_pct": None,
    }  # fmt: skip


@pytest.mark.deep
def test_a_store_without_tls_says_what_to_load(run: Run, dump: Path, tmp_path: Path) -> None:
    run("ingest", dump, "--store", tmp_path / "store", "--select", "119(2)", "--timezone", "+00:00")
    lines = run("summary", "--store", tmp_path / "store").stdout
    assert "What TLS costs is not known" in lines
    assert "load zERT summaries or details (SMF 119-12 or 119-11)" in lines


def test_shares_of_filtered_parts_are_no_missing_price() -> None:
    rows = [
        {"system": "SYSA", "shared_by": "port", "sentence": f"SYSA, port {port}: at most 5 CPU seconds"}
        for port in range(5)
    ]
    [first, *_] = conclusions(lambda metric, _: rows if metric == "tls_price" else [], of_parts=True)
    assert first.sentence == (
        "Only a system has a price of its own; a job or a port has a share of it, not both together. "
        "Of these: SYSA, port 0: at most 5 CPU seconds; SYSA, port 1: at most 5 CPU seconds; "
        "SYSA, port 2: at most 5 CPU seconds; and 2 more rows."
    )
    [first, *_] = conclusions(lambda *_: [], of_parts=True)
    assert first.sentence == (
        "No price of TLS matches the filters. "
        "Only a system has a price of its own; a job or a port has a share of it, not both together."
    )


@pytest.mark.parametrize(
    ("row", "end"),
    [
        (
            {
                "parameter": "GSK_V3_SESSION_TIMEOUT",
                "value_today": "600",
                "recommended": "longer, up to 9",
            },
            " What can be set: TTLSGskAdvancedParms, GSK_V3_SESSION_TIMEOUT (today 600): longer, up to 9.",
        ),
        (
            {"parameter": "GSK_V3_SIDCACHE_SIZE", "recommended": "larger", "why_full": "load GSKSRVR"},
            " What can be set: TTLSGskAdvancedParms, GSK_V3_SIDCACHE_SIZE: larger. Load GSKSRVR.",
        ),
        (
            {"recommended": "clients that offer a session", "shared_by": "port"},
            " It takes clients that offer a session: no setting here is known to help.",
        ),
    ],
)
def test_the_saving_names_its_setting(row: dict[str, str], end: str) -> None:
    advice = {
        "shared_by": "rule", "sentence": "SYSA, rule CICS~1: saves 50.2 to 100 CPU seconds a day, if true",
        "statement": "TTLSGskAdvancedParms", "parameter": None, "value_today": None, "why_full": None, **row,
    }  # fmt: skip
    rows: dict[str, list[dict[str, Any]]] = {"tls_advice": [advice]}
    sentences = {each.about: each.sentence for each in conclusions(lambda metric, _: rows.get(metric, []))}
    of = {"rule": "under AT-TLS rules", "port": "on ports"}[advice["shared_by"] or ""]
    assert sentences["saving"] == (
        f"Of the changes {of}, this one can save most: "
        f"SYSA, rule CICS~1: saves 50.2 to 100 CPU seconds a day, if true.{end}"
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


LOST = "SYSB: complete records of 30 % of the earlier period; at least 50 % are needed"


@pytest.mark.parametrize(
    ("change_pct", "text"),
    [
        (50.0, f"changed: connections +50.0 %. Not compared: {LOST}."),
        (None, f"what changed is not known: {LOST}."),
    ],
)
def test_what_is_not_compared_is_said_with_its_reason(change_pct: float | None, text: str) -> None:
    rows = [
        change("connections", "all", 100, 150, change_pct, 100.0, 100.0) | {"why": LOST},
        change("handshake", "resumed", 40, 40, None, 40.0, 40.5) | {"why": LOST},
    ]
    [*_, last] = conclusions(lambda metric, _: rows if metric == "period_comparison" else [])
    assert last.sentence == f"In the last seven days of the data, against the seven before, {text}"


def change(subject: str, value: str, *numbers: float | None) -> dict[str, Any]:
    names = ("earlier", "later", "change_pct", "earlier_pct", "later_pct")
    return {"subject": subject, "value": value, **dict(zip(names, numbers, strict=True)), "why": None}
