"""The page about everything at a glance."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import duckdb
import pyarrow.compute as pc
import pytest
from tests.app.conftest import Run, deep
from tests.app.dashboard.conftest import MARKUP, Open, fine, words
from tests.app.dashboard.page_helpers import data_of
from tests.pipelines.metrics.statement_stores import SUBJECTS
from tests.sample_stores import SAMPLE

from zscope.app.dashboard.amounts import amount
from zscope.app.dashboard.drawing import plain
from zscope.app.dashboard.pages.overview.overview_figures import unprotected
from zscope.app.dashboard.pages.overview.overview_page import STATEMENT_PAGES
from zscope.app.dashboard.table_roles import data_kinds
from zscope.app.report.report_page import STATEMENT_SECTIONS
from zscope.app.shared.filters import Filters
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.store.parquet_files import data_tables

if TYPE_CHECKING:
    from pathlib import Path


def _asked(store: Path, sql: str) -> tuple[object, ...]:
    with duckdb.connect(str(store / "zscope.duckdb"), read_only=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        row = connection.execute(sql).fetchone()
    assert row is not None
    return row


def _cpu_us(world: Path, system: str, counted_by: str) -> float:
    """CPU time per connection outside of runs, or per transaction, from the rows of the metric."""
    supplied = counted_by == "supplied count"
    of_runs = "" if supplied else "AND run IS NULL"
    rows = data_of(world, Filters(systems=(system,))).metric(
        "cpu_per_transaction", where=f"counted_by = '{counted_by}' AND job_name IS NULL {of_runs}"
    )
    count = "own_transactions" if supplied else "matched_connections"
    rows = rows.filter(pc.field(count).is_valid())
    cpu_s, transactions = pc.sum(rows["matched_cpu_s"]).as_py(), pc.sum(rows[count]).as_py()
    return float(1e6 * cpu_s / transactions)


def test_a_statement_of_every_subject_leads_to_its_evidence_on_a_page_and_in_the_report() -> None:
    assert STATEMENT_PAGES.keys() == STATEMENT_SECTIONS.keys() == {*SUBJECTS}


def test_big_numbers_are_those_of_the_metrics(drawn_page: Open, world: Path) -> None:
    page = drawn_page("overview", world)
    shown = {metric.label: metric.value for metric in page.metric}
    [resumed] = _asked(world, """
        SELECT 100 * sum(resumed_handshakes) / sum(full_handshakes + resumed_handshakes)
        FROM handshake_mix
    """)  # fmt: skip
    [tls13] = _asked(
        world,
        """
        SELECT 100 * sum(connections) FILTER (protocol = 'TLSv1.3') / sum(connections)
        FROM covered_tls_hour WHERE source = 'zERT summary' AND protocol ^@ 'TLS'
    """,
    )
    [unprotected] = _asked(
        world,
        "SELECT 100 * sum(unprotected_connections) / sum(connections) FROM tls_posture "
        "WHERE source = 'zERT summary'",
    )
    assert shown["Resumption rate"] == f"{resumed:.1f} %"
    assert shown["TLSv1.3, of TLS connections"] == f"{tls13:.1f} %"
    assert shown["Unprotected connections"] == f"{unprotected:.1f} %"
    assert shown["LPAR CPU per connection, CLI1"] == amount(_cpu_us(world, "CLI1", "connections ended"), "us")
    assert len(page.get("vega_lite_chart")) == 2


def test_its_sentences_are_those_of_the_command(drawn_page: Open, run: Run, world: Path) -> None:
    page = drawn_page("overview", world)
    said = json.loads(run("summary", "--store", world, "--json").stdout)
    assert {each["subject"] for each in said} == {*SUBJECTS}
    for each in said:
        assert plain(each["sentence"], 2000) in words(page)
    links = [link.proto.page for link in page.main.get("page_link")]
    assert links == [name for name, _ in STATEMENT_PAGES.values()]


def test_its_sentences_and_links_follow_the_filters(drawn_page: Open, world: Path) -> None:
    page = drawn_page("overview", world, {"system": "CLI1", "port": "443"})
    bare, every = _asked(world, """
        SELECT sum(unprotected_connections)::BIGINT, sum(connections)::BIGINT
        FROM tls_posture WHERE system = 'CLI1' AND server_port = 443 AND source = 'zERT summary'
    """)  # fmt: skip
    assert f"{bare:,} of {every:,} connections" in words(page).replace("\\", "")
    for link in page.main.get("page_link"):
        assert parse_qs(link.proto.query_string).items() >= {"system": ["CLI1"], "port": ["443"]}.items()


def test_a_chosen_period_is_compared_with_the_one_before(drawn_page: Open, world: Path) -> None:
    page = drawn_page("overview", world, {"period": ["2026-03-09", "2026-03-09"]})
    assert "records of single connections" in words(page)
    assert "of 7 days" not in words(page)


@pytest.mark.deep
def test_each_figure_has_a_trend_and_a_published_result(drawn_page: Open, recorded: Path) -> None:
    page = drawn_page("overview", recorded)
    assert all(len(metric.proto.chart_data) > 10 for metric in page.metric)
    assert page.metric[0].delta.endswith("points below published")
    assert "more than 95 %" in words(page)
    assert "Transactions counted by: connections ended" in words(page)


def test_transactions_can_be_counted_in_another_way(open_page: Open, world: Path) -> None:
    page = open_page("overview", world)
    page.button_group(key="overview_counted_by").set_value("supplied count").run()
    fine(page)
    cpu = _cpu_us(world, "SRV1", "supplied count")
    assert f"CPU per transaction, SRV1: {cpu:,.0f} µs" in [f"{m.label}: {m.value}" for m in page.metric]


def test_filters_of_the_address_narrow_it(drawn_page: Open, world: Path) -> None:
    page = drawn_page("overview", world, {"system": "CLI1", "port": "443"})
    shown = {metric.label: metric.value for metric in page.metric}
    [resumed] = _asked(world, """
        SELECT 100 * sum(resumed_handshakes) / sum(full_handshakes + resumed_handshakes)
        FROM handshake_mix WHERE system = 'CLI1' AND server_port = 443
    """)  # fmt: skip
    assert shown["Resumption rate"] == f"{resumed:.1f} %"
    assert [label for label in shown if label.startswith("LPAR")] == ["LPAR CPU per connection, CLI1"]
    assert "Not filtered by port" in words(page)


def test_findings_come_with_their_remedy_the_worst_first(drawn_page: Open, world: Path) -> None:
    page = drawn_page("overview", world)
    table = page.table[0].value
    kinds, worst = _asked(
        world, "SELECT count(DISTINCT id), count(*) FILTER (severity = 'high') FROM finding"
    )
    assert len(table) == kinds
    assert table["Severity"].iloc[0] == "▲\N{NO-BREAK SPACE}high"
    assert table["Places"].iloc[0] == f"{worst}"
    assert table["Remedy"].str.len().min() > 20


def test_sources_have_counts_and_their_newest_data(drawn_page: Open, world: Path) -> None:
    page = drawn_page("overview", world)
    rows = page.dataframe[-1].value.set_index("source")
    [records] = _asked(
        world, "SELECT sum(records) FROM load_kind WHERE record_type = 119 AND record_subtype = 11"
    )
    [stored] = _asked(
        world,
        """
        SELECT (SELECT count(*) FROM smf119_zert_detail) + (SELECT count(*) FROM smf119_zert_dn)
            + (SELECT count(*) FROM smf119_zert_ssh) + (SELECT count(*) FROM smf119_zert_ipsec)
    """,
    )
    detail = rows.loc["zERT detail (SMF 119-11)"]
    assert (detail["records"], detail["rows"]) == (records, stored)
    assert rows["behind_s"].min() == 0
    [newest] = _asked(
        world, "SELECT max(interval_start_utc + to_milliseconds(interval_ms)) FROM cpu_interval"
    )
    assert abs((rows.loc["CPU (SMF 70-1)"]["newest"] - newest).total_seconds()) < 120
    assert "More than a day older than the newest data" in page.warning[0].value


def test_every_table_belongs_to_one_source() -> None:
    for table in data_tables():
        assert sum(table in kind.tables for kind in data_kinds()) == 1, table


def test_an_empty_store_shows_how_to_start(drawn_page: Open, empty: Path) -> None:
    page = drawn_page("overview", empty)
    for command in ("zscope ingest", "zscope demo", "zscope generate world"):
        assert command in page.code[0].value
    assert len(page.code[0].value.splitlines()) == 3
    assert not page.metric


@pytest.mark.deep
@pytest.mark.parametrize("store", ["only_rmf", *deep("only_netstat")])
def test_figures_of_missing_sources_are_not_available(
    drawn_page: Open, store: str, request: pytest.FixtureRequest
) -> None:
    page = drawn_page("overview", request.getfixturevalue(store))
    assert page.metric[0].value == "n/a"
    assert "zscope ingest SMF.DUMP" in words(page)
    assert len(page.get("vega_lite_chart")) == 1


@pytest.mark.deep
def test_zert_alone_is_enough_for_the_shares(drawn_page: Open, only_zert: Path) -> None:
    page = drawn_page("overview", only_zert)
    values = [metric.value for metric in page.metric]
    assert len(values) == 4
    assert [value == "n/a" for value in values] == [False, False, False, True]


@pytest.mark.deep
def test_names_of_data_are_never_markup(drawn_page: Open, hostile: Path) -> None:
    page = drawn_page("overview", hostile, {"job": MARKUP})
    places = " ".join(page.table[0].value["Most connections at"])
    assert plain(MARKUP) in places
    assert MARKUP not in places
    assert MARKUP not in words(page)


@pytest.mark.deep
def test_without_a_time_zone_local_times_are_shown(open_page: Open, tmp_path: Path) -> None:
    ingest(
        tmp_path / "store",
        [SAMPLE / "reports" / "netstat.SYSA.2026-03-02.txt"],
        IngestOptions(selection=row_selection(None)),
    )
    page = open_page("overview", tmp_path / "store")
    assert "all times are local times" in words(page)
    assert page.dataframe[-1].value["newest"].iloc[0].isoformat() == "2026-03-02T11:46:58+00:00"


@pytest.mark.parametrize(("days", "apart"), [(31, timedelta(hours=1)), (32, timedelta(days=1))])
def test_a_trend_has_hours_up_to_a_month(days: int, apart: timedelta, world: Path) -> None:
    end = datetime(2026, 3, 18, tzinfo=UTC)
    figure, _ = unprotected(data_of(world, Filters(begin=end - timedelta(days=days), end=end)))
    times = figure.trend["time_utc"].to_pylist()
    assert min(after - before for before, after in pairwise(times)) == apart
