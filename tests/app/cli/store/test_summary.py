"""`zscope summary` prints the statements that are shown first, each with a command for its evidence."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.pipelines.metrics.advice_rules import faults_of
from tests.pipelines.metrics.statement_rules import advice_order

from zscope.app.report.report_sections import report_sections
from zscope.pipelines.quantities import number

if TYPE_CHECKING:
    from click.testing import Result
    from tests.app.conftest import Run


def rows_of(run: Run, store: Path, statement: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(run("sql", statement, "--store", store, "--json").stdout)
    return rows


def statements_of(run: Run, store: Path, *options: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(run("summary", *options, "--store", store, "--json").stdout)
    return rows


def test_each_statement_has_a_command_that_prints_its_evidence(run: Run, demo: tuple[Path, Result]) -> None:
    store, _ = demo
    said = statements_of(run, store)
    assert {row["subject"] for row in said} == {
        "price", "saving", "exposure", "old versions", "certificates", "change", "coverage", "runs"
    }  # fmt: skip
    for row in said:
        words = shlex.split(row["evidence"])
        evidence = json.loads(run(*words[1:], "--store", store, "--json").stdout)
        assert evidence or row["status"] == "not enough data", row["sentence"]


def test_a_pipe_gets_sentences_and_a_named_format_rows(run: Run, demo: tuple[Path, Result]) -> None:
    store, _ = demo
    said = statements_of(run, store)
    text = run("summary", "--store", store).stdout
    assert len(text.split("\n\n")) == len(said)
    assert " ".join(text.split("\n\n")[0].splitlines()[:-1]) == said[0]["sentence"]
    assert run("summary", "--store", store, "--csv").stdout.startswith("place,subject,")


def test_full_has_every_statement_and_a_pipe_says_how_many_are_missing(
    run: Run, demo: tuple[Path, Result]
) -> None:
    store, _ = demo
    every = rows_of(run, store, "FROM statement")
    full = run("summary", "--full", "--store", store).stdout
    assert len(full.split("\n\n")) == len(every) > len(statements_of(run, store))
    assert "more statement" not in full
    first = run("summary", "--store", store).stdout
    missing = re.findall(r"^(\d+) more statements?: zscope metrics statement", first, re.MULTILINE)
    assert sum(map(int, missing)) == len(every) - len(statements_of(run, store))


def test_options_choose_the_data_of_the_statements(run: Run, demo: tuple[Path, Result]) -> None:
    """The days of a filter are those of the evidence; where it does not apply, the statement says so."""
    store, _ = demo
    options = ("--system", "SRV2", "--from", "2026-03-10", "--to", "2026-03-11")
    said = {row["subject"]: row for row in statements_of(run, store, *options)}
    [posture] = rows_of(
        run,
        store,
        "SELECT sum(connections)::BIGINT AS n FROM posture_hour WHERE system = 'SRV2' AND "
        "hour_utc BETWEEN TIMESTAMPTZ '2026-03-09 23:00:00+00' AND TIMESTAMPTZ '2026-03-11 22:00:00+00'",
    )
    assert f" of {posture['n']:,} connections (" in said["exposure"]["sentence"]
    assert said["exposure"]["not_filtered_by"] is None
    assert said["price"]["not_filtered_by"] == "period"
    assert said["price"]["system"] == "SRV2"


def test_the_advice_is_the_first_row_of_its_evidence(run: Run, demo: tuple[Path, Result]) -> None:
    """Its numbers are those of the row, and the reasons those of the session caches of the system."""
    store, _ = demo
    [saving] = [row for row in statements_of(run, store) if row["subject"] == "saving"]
    words = shlex.split(saving["evidence"])
    assert words[0] == "zscope"
    evidence: list[dict[str, Any]] = json.loads(run(*words[1:], "--store", store, "--json").stdout)
    first = evidence[0]
    assert advice_order(first) == max(map(advice_order, evidence))
    assert saving["sentence"] == (
        "No change worth making is known from these data: of the last seven days, zERT details of CLI1, "
        "CLI2, SRV1, SRV2 cover fewer hours than the 8 that advice needs; the largest known saving is less "
        f"than 1 % of the TLS CPU cost. {first['sentence']}."
    )
    assert first["all_cost_pct"] < 1 < first["cost_pct"]
    assert f" to {number(first['saving_high_s_per_day'], 3)}), if " in first["sentence"]


def test_advice_of_a_quarter_of_an_hour_states_no_saving(run: Run, demo: tuple[Path, Result]) -> None:
    store, _ = demo
    rows = rows_of(run, store, "FROM tls_advice WHERE system = 'SRV2'")
    reason = "zERT details cover 0.25 of the 147 hours of the last seven days, and at least 8 are needed"
    withheld = [row for row in rows if row["why"] == reason]
    assert withheld
    assert all(row["sentence"].endswith(f"what it saves is not known: {reason}") for row in withheld)
    assert all(row["saving_high_s_per_day"] is None for row in rows)


def test_why_handshakes_are_full_has_the_counts_of_the_session_caches(
    run: Run, demo: tuple[Path, Result]
) -> None:
    store, _ = demo
    [first] = rows_of(
        run,
        store,
        "SELECT system, recommended, why_full FROM tls_advice "
        "WHERE shared_by = 'rule' AND basis = 'estimate' ORDER BY upper_s_per_day DESC LIMIT 1",
    )
    assert first["recommended"] == "clients that offer a session"
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
        f"of {cache['added']:,} full handshakes that GSKSRVR counted with TLSv1.2 and older, "
        f"{none_offered:.0f} % came from clients that offered no session, "
        f"{100 * cache['expired'] / cache['added']:.0f} % had an expired session"
    ) in first["why_full"]


def test_no_advice_raises_a_setting_beyond_its_limit(run: Run, demo: tuple[Path, Result]) -> None:
    """None of it states a saving without a cost, either."""
    store, _ = demo
    rows = rows_of(run, store, "FROM tls_advice")
    assert any(row["parameter"] and row["recommended"] for row in rows)
    assert list(faults_of(rows)) == []


def test_the_report_lists_each_change_once_and_the_best_one_first(
    run: Run, demo: tuple[Path, Result]
) -> None:
    store, _ = demo
    [section] = [each for each in report_sections() if each.id == "advice"]
    listed = [
        row
        for figure in section.figures
        for row in rows_of(
            run,
            store,
            "SELECT system, rule_name, server_port, change, sentence FROM tls_advice "
            f"WHERE {figure.where} ORDER BY {figure.order}",
        )
    ]
    named = [(row["system"], row["rule_name"], row["server_port"], row["change"]) for row in listed]
    assert (None, None) in {(rule, port) for _, rule, port, _ in named}, "no connection without a known rule"
    assert len(set(named)) == len(named) > 5
    assert listed[0]["sentence"] in run("summary", "--store", store).stdout.replace("\n", " ")


@pytest.mark.deep
def test_a_store_without_tls_says_what_to_load(run: Run, dump: Path, tmp_path: Path) -> None:
    run("ingest", dump, "--store", tmp_path / "store", "--select", "119(2)", "--timezone", "+00:00")
    text = " ".join(run("summary", "--store", tmp_path / "store").stdout.split())
    assert "What TLS costs is not known" in text
    assert "load zERT summaries or details (SMF 119-12 or 119-11)" in text
