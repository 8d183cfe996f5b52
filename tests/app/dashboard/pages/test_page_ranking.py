"""The page with the rankings of ports and jobs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import pytest
from tests.app.dashboard.conftest import Open, words
from tests.app.dashboard.page_helpers import choose, data_of, listed, sql, table

from zscope.app.dashboard.pages.ranking import (
    Ranked,
    RankedBy,
    compared_periods,
    connections_by_source,
    ranking,
)
from zscope.app.shared.filters import Filters

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "ranking"
SUMMARY = "zERT summary"
DAY = Filters(datetime(2026, 3, 11, tzinfo=UTC), datetime(2026, 3, 12, tzinfo=UTC))


def test_the_source_with_most_connections_is_chosen(drawn_page: Open, world: Path) -> None:
    page = drawn_page(PAGE, world)
    assert page.selectbox(key="ranking_source").value == next(iter(connections_by_source(data_of(world))))
    shown = table(page, "ranking")
    assert list(shown["connections"]) == sorted(shown["connections"], reverse=True)
    assert shown["share_pct"].sum() == pytest.approx(100)


@pytest.mark.parametrize("with_runs", [False, True])
@pytest.mark.parametrize("by", ["server_port", "job_name"])
def test_counts_and_trends_are_those_of_the_source(by: Ranked, with_runs: bool, world: Path) -> None:
    rows = ranking(data_of(world, Filters(with_runs=with_runs)), by, SUMMARY).to_pylist()
    in_run = (
        "EXISTS (FROM run AS r WHERE r.system = t.system AND r.from_utc < t.hour_utc + INTERVAL 1 HOUR "
        "AND r.to_utc > t.hour_utc)"
    )
    counted = dict(
        sql(
            world,
            f"SELECT {by}, sum(connections)::BIGINT FROM tls_hour AS t WHERE source = '{SUMMARY}' "
            f"AND ({with_runs} OR NOT {in_run}) GROUP BY 1 HAVING sum(connections) > 0",
        )
    )
    assert (with_runs, 5001 in counted or "BENCHSRV" in counted) in {(True, True), (False, False)}
    assert {row[by]: row["connections"] for row in rows} == counted
    for row in rows:
        assert sum(row["trend"]) == row["connections"]


def test_a_chosen_day_is_compared_with_the_day_before(world: Path) -> None:
    data = data_of(world, DAY)
    periods = compared_periods(data, SUMMARY)
    assert periods
    assert periods.before == datetime(2026, 3, 10, tzinfo=UTC)
    [row] = [row for row in ranking(data, "server_port", SUMMARY).to_pylist() if row["server_port"] == 443]
    # Both days have connections in all hours, so the change per hour is that of the sums.
    [(later, earlier)] = sql(
        world,
        "SELECT sum(connections) FILTER (hour_utc >= '2026-03-11'), "
        "sum(connections) FILTER (hour_utc < '2026-03-11') FROM tls_hour "
        f"WHERE source = '{SUMMARY}' AND server_port = 443 "
        "AND hour_utc >= '2026-03-10' AND hour_utc < '2026-03-12'",
    )
    assert row["connections"] == later
    assert row["change_pct"] == pytest.approx(100 * (float(later) / float(earlier) - 1))


def test_cpu_time_is_that_of_the_price_over_all_systems(world: Path) -> None:
    rows = {row["job_name"]: row for row in ranking(data_of(world), "job_name", SUMMARY).to_pylist()}
    priced = sql(
        world,
        "SELECT job_name, sum(high_cpu_s_per_day) FROM tls_price "
        "WHERE shared_by = 'job' AND part = 'TLS' AND high_cpu_s_per_day IS NOT NULL GROUP BY 1",
    )
    assert priced
    for job, high in priced:
        assert rows[job]["high_cpu_s_per_day"] == pytest.approx(high)


@pytest.mark.parametrize("by", ["bytes", "CPU time", "change"])
def test_the_greatest_of_the_chosen_figure_is_first(by: RankedBy, world: Path) -> None:
    column = {"bytes": "bytes", "CPU time": "high_cpu_s_per_day", "change": "change_pct"}[by]
    values = ranking(data_of(world), "job_name", SUMMARY, by)[column].to_pylist()
    known = [value for value in values if value is not None]
    assert known == sorted(known, reverse=True)
    assert values[: len(known)] == known


def test_a_row_shows_its_connections_and_the_way_to_all(open_page: Open, world: Path) -> None:
    page = open_page(PAGE, world, {"system": "CLI1", "ranking_by": "CPU time"})
    port = int(table(page, "ranking")["server_port"].iloc[0])
    choose(page, "ranking-")
    assert f"Connections of port {port}" in words(page)
    shown = listed(page, "connection_id")
    assert set(shown["server_port"]) == {port}
    assert set(shown["system"]) == {"CLI1"}
    [link] = [link for link in page.get("page_link") if link.proto.page == "connections"]
    assert parse_qs(link.proto.query_string) == {"system": ["CLI1"], "port": [str(port)]}


@pytest.mark.deep
def test_without_connections_it_names_what_to_load(drawn_page: Open, only_rmf: Path) -> None:
    assert "There are no connections" in words(drawn_page(PAGE, only_rmf))
