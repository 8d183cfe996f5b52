"""The page about resumption."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import pytest
from tests.app.conftest import deep
from tests.app.dashboard.conftest import MARKUP, Open, fine, words
from tests.app.dashboard.page_helpers import data_of
from tests.sample_stores import WORLD

from zscope.app.dashboard.pages.resumption.resumption_queries import (
    by_bound,
    by_estimate,
    cache_use,
    fill,
    misses,
    over_time,
    resets,
    saving,
    side_by_side,
    why_sources_differ,
    without_estimate,
)
from zscope.app.shared.filters import Filters
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from zscope.app.dashboard.time_axis import Span


@pytest.fixture(scope="module")
def query_rows(recorded: Path) -> Callable[[str], list[dict[str, Any]]]:
    """Rows of a statement on a day in which each connection has records."""
    data = data_of(recorded)
    return lambda sql: data.rows(sql).to_pylist()


def test_numbers_are_those_of_the_records(
    drawn_page: Open, recorded: Path, query_rows: Callable[[str], list[dict[str, Any]]]
) -> None:
    [zert] = query_rows("""
        SELECT
            100.0 * count(*) FILTER (kind = 'resumed') / count(*) AS pct,
            100.0 * count(*) FILTER (kind = 'resumed' AND starts_with(handshake_role, 'server'))
            / count(*) FILTER (starts_with(handshake_role, 'server')) AS servers_pct
        FROM handshake WHERE kind IN ('full', 'resumed')
    """)
    [gsk] = query_rows("""
        SELECT 100.0 * sum(hits) FILTER (basis = 'between displays')
            / sum(lookups) FILTER (basis = 'between displays') AS hit_rate,
            100.0 * sum(hits) FILTER (basis = 'between displays')
            / sum(hits + added) FILTER (basis = 'between displays') AS pct,
            count(*) FILTER (is_reset) AS resets
        FROM gsk_cache_delta
    """)
    page = drawn_page("resumption", recorded)
    assert {metric.label: metric.value for metric in page.metric}.items() >= {
        "Resumed handshakes": f"{zert['pct']:.1f} %",
        "Servers only, zERT": f"{zert['servers_pct']:.1f} %",
        "Servers only, GSKSRVR": f"{gsk['pct']:.1f} %",
        "Cache hit rate": f"{gsk['hit_rate']:.1f} %",
        "Counter resets": str(gsk["resets"]),
    }.items()
    assert len(page.get("vega_lite_chart")) == 8
    assert "Why the two can differ" in words(page)
    assert "more than 95" in words(page)


def test_sources_are_compared_over_the_same_times(recorded: Path) -> None:
    data = data_of(recorded)
    rows = {
        (row["source"], row["system"], row["versions"]): row
        for row in side_by_side(data, "server").to_pylist()
    }
    counts = [rows[source, "SRV1", "TLSv1.3"]["resumed_handshakes"] for source in ("zERT", "GSKSRVR")]
    assert counts[0] == counts[1] > 10
    assert {row["counted"] for row in rows.values()} == {"times that both cover"}
    assert rows["zERT", "SRV1", "TLSv1.3"]["published_pct"] == 95
    assert rows["zERT", "SRV1", "TLSv1.2 and older"]["published_pct"] is None
    assert len(why_sources_differ(data)) == 2
    clients = side_by_side(data, "client").to_pylist()
    assert {(row["source"], row["counted"]) for row in clients} == {("zERT", "all times")}


def test_a_chosen_port_narrows_the_rates(
    drawn_page: Open, recorded: Path, query_rows: Callable[[str], list[dict[str, Any]]]
) -> None:
    [busiest, *_] = query_rows("""
        SELECT server_port AS port, count_if(kind = 'resumed') AS resumed, count_if(kind = 'full') AS others,
            count_if(kind = 'resumed' AND starts_with(handshake_role, 'server')) AS by_servers
        FROM handshake GROUP BY ALL HAVING resumed > 0 ORDER BY resumed + others DESC
    """)
    page = drawn_page("resumption", recorded, {"port": str(busiest["port"])})
    share = 100 * busiest["resumed"] / (busiest["resumed"] + busiest["others"])
    assert page.metric[0].value == f"{share:.1f} %"
    assert page.metric[0].value != drawn_page("resumption", recorded).metric[0].value
    data = data_of(recorded, Filters(ports=(busiest["port"],)))
    for rows in (side_by_side(data, "server"), over_time(data, "server", "hour_utc"),
                 over_time(data, "server", "day")):  # fmt: skip
        assert sum(rows["resumed_handshakes"].to_pylist()) == busiest["by_servers"]
    assert "GSKSRVR knows no stack, port or job" in words(page)


def test_hours_and_days_have_the_same_handshakes(recorded: Path) -> None:
    def of_zert(by: Span) -> int:
        rows = over_time(data_of(recorded), "server", by).to_pylist()
        return sum(
            row["full_handshakes"] + row["resumed_handshakes"] for row in rows if row["source"] == "zERT"
        )

    assert of_zert("hour_utc") == of_zert("day") > 0


def test_misses_and_hits_are_all_look_ups(recorded: Path) -> None:
    use = cache_use(data_of(recorded))
    assert set(use["counted"].to_pylist()) == {"in the period"}
    missed = sum(misses(use)["missed"].to_pylist())
    assert missed + sum(use["hits"].to_pylist()) == sum(use["lookups"].to_pylist())


@pytest.mark.deep
def test_a_cache_with_one_display_is_shown_since_its_reset(tmp_path: Path) -> None:
    last = row_selection("gsk_cache_stats", begin=date(2026, 3, 17), end=date(2026, 3, 17))
    ingest(tmp_path, [WORLD], IngestOptions(selection=last, settings=Settings().merge(["+01:00"])))
    use = cache_use(data_of(tmp_path))
    assert use.num_rows == 4
    assert set(use["counted"].to_pylist()) == {"since the reset before the first display"}


def test_fill_is_that_of_the_newest_display(
    recorded: Path, query_rows: Callable[[str], list[dict[str, Any]]]
) -> None:
    rows = {(row["system"], row["cache"]): row for row in fill(data_of(recorded)).to_pylist()}
    shown = rows["SRV1", "session ids"]
    [expected] = query_rows("""
        SELECT max(taken_utc) AS newest, max(entries) AS most FROM (
            SELECT taken_utc, coalesce(sum(entry_count), 0) AS entries FROM gsk_cache_status
            WHERE system = 'SRV1' AND cache = 'session-id' GROUP BY taken_utc
        )
    """)
    assert (shown["taken_utc"], shown["most_entries"]) == (expected["newest"], expected["most"])
    assert (shown["maximum_mb"], shown["timeout_min"]) == (64, 60)
    assert shown["used_pct"] == pytest.approx(100 * shown["used_mb"] / 64)


def test_resets_are_shown_with_the_lost_time(drawn_page: Open, recorded: Path) -> None:
    rows = resets(data_of(recorded)).to_pylist()
    assert [(row["system"], row["uncounted_s"]) for row in rows] == [("SRV2", 12600.0)] * 2
    assert "Hours whose counts are lost 7.0" in words(drawn_page("resumption", recorded))


def test_the_slider_sets_the_rate_and_the_address_contains_it(open_page: Open, recorded: Path) -> None:
    page = open_page("resumption", recorded, {"resumption_target": "70"})
    assert page.slider(key="resumption_target").value == 70
    page.slider(key="resumption_target").set_value(83).run()
    fine(page)
    assert "at 83 %" in words(page)
    assert "at 70 %" not in words(page)


def test_a_rate_that_is_not_possible_is_ignored(drawn_page: Open, recorded: Path) -> None:
    page = drawn_page("resumption", recorded, {"resumption_target": "7; DROP TABLE x"})
    assert page.slider(key="resumption_target").value == 95


def test_saving_grows_with_the_rate(recorded: Path) -> None:
    data = data_of(recorded)
    low, between, high = (by_estimate(saving(data, rate)).to_pylist() for rate in (80, 83, 90))
    assert [row["system"] for row in between] == ["CLI1", "CLI2", "SRV1", "SRV2"]
    for first, row, last in zip(low, between, high, strict=True):
        for end in ("saving_low_s_per_day", "saving_high_s_per_day"):
            assert row[end] == pytest.approx(first[end] + 0.3 * (last[end] - first[end]))
        # With SMF 30, the servers' own work can be in it: SRV1 has a range without a value.
        if row["system"] == "SRV1":
            assert row["saving_s_per_day"] is None
            assert 0 < row["saving_low_s_per_day"] < row["saving_high_s_per_day"]
            continue
        expected = first["saving_s_per_day"] + 0.3 * (last["saving_s_per_day"] - first["saving_s_per_day"])
        assert row["saving_s_per_day"] == pytest.approx(expected)
        assert row["saving_low_s_per_day"] < row["saving_s_per_day"] < row["saving_high_s_per_day"]
    assert by_bound(saving(data, 83)).num_rows == 4
    assert without_estimate(saving(data, 83)).num_rows == 0


def test_refusals_of_the_estimate_are_shown_with_their_reason(drawn_page: Open, world: Path) -> None:
    rows = without_estimate(saving(data_of(world), 95)).to_pylist()
    assert rows
    assert all(row["why"] for row in rows)
    page = drawn_page("resumption", world)
    assert "No figure for these systems" in words(page)
    assert "zERT summaries do not count full and resumed handshakes apart" in words(page)


def test_a_system_and_a_role_narrow_it(drawn_page: Open, recorded: Path) -> None:
    page = drawn_page("resumption", recorded, {"system": "CLI1"})
    assert "No rows for these filters: system CLI1." in words(page).replace("\\", "")
    page = drawn_page("resumption", recorded, {"role": "client"})
    assert page.button_group(key="resumption_side").value == "client"
    assert "the chosen role hides them" in words(page)


def test_a_port_filter_has_no_effect(drawn_page: Open, recorded: Path) -> None:
    assert "Not filtered by port" in words(drawn_page("resumption", recorded, {"port": "443"}))


@pytest.mark.parametrize("store", ["empty", *deep("only_rmf", "only_netstat")])
def test_without_data_the_page_shows_what_to_load(
    drawn_page: Open, store: str, request: pytest.FixtureRequest
) -> None:
    shown = words(drawn_page("resumption", request.getfixturevalue(store)))
    assert "There are no full or resumed handshakes" in shown
    assert "There is no data about session caches" in shown
    assert "Savings cannot be calculated" in shown
    assert shown.count("zscope ingest") == 3


@pytest.mark.deep
def test_zert_alone_is_enough_for_the_rate(drawn_page: Open, only_zert: Path) -> None:
    page = drawn_page("resumption", only_zert)
    assert {metric.label: metric.value for metric in page.metric}["Cache hit rate"] == "n/a"
    assert "There is no data about session caches" in words(page)
    assert "Savings cannot be calculated" in words(page)


@pytest.mark.deep
def test_names_of_data_are_never_markup(drawn_page: Open, hostile: Path) -> None:
    assert MARKUP not in words(drawn_page("resumption", hostile))
