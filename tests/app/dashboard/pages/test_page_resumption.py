"""The page about resumption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.app.conftest import deep
from tests.app.dashboard.conftest import MARKUP, Open, fine, words
from tests.app.dashboard.page_helpers import data_of, titles

from zscope.app.dashboard.pages.resumption.saving import by_bound, by_estimate, saving, without_estimate
from zscope.app.figures.figure_declarations import declared_figures
from zscope.app.figures.figure_rows import figure_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


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
    assert titles(page) >= {"Why do handshakes not resume?", "Do zERT and GSKSRVR agree?"}


def _rows(store: Path, figure: str) -> list[dict[str, Any]]:
    return list(figure_rows(data_of(store), declared_figures()[figure], {}).rows)


def test_sources_are_compared_over_the_same_times(recorded: Path) -> None:
    rows = {
        (row["source"], row["system"], row["versions"]): row for row in _rows(recorded, "resumed-by-source")
    }
    counts = [rows[source, "SRV1", "TLSv1.3"]["resumed_handshakes"] for source in ("zERT", "GSKSRVR")]
    assert counts[0] == counts[1] > 10
    assert rows["zERT", "SRV1", "TLSv1.3"]["published_pct"] == 95
    assert rows["zERT", "SRV1", "TLSv1.2 and older"]["published_pct"] is None
    assert len({row["why_sources_differ"] for row in rows.values()}) == 2


def test_reasons_are_all_handshakes_of_the_caches(
    recorded: Path, query_rows: Callable[[str], list[dict[str, Any]]]
) -> None:
    [all_of_them] = query_rows("""
        SELECT sum(hits) AS resumed, sum(added) - sum(lookups) + sum(hits) AS not_offered,
            sum(missed_expired) AS expired, sum(missed_not_found) AS not_found
        FROM gsk_cache_delta WHERE basis = 'between displays'
    """)
    rows = _rows(recorded, "resumption-reasons")
    assert {name: sum(row[name] for row in rows) for name in all_of_them} == all_of_them
    assert all_of_them["not_offered"] > all_of_them["expired"] > 0


def test_misses_and_hits_are_all_look_ups(recorded: Path) -> None:
    rows = _rows(recorded, "caches")
    found = ("hits", "missed_expired", "missed_not_found", "missed_not_authorized")
    assert rows
    for row in rows:
        assert sum(row[name] for name in found) == row["lookups"]


def test_fill_is_that_of_the_newest_display(
    recorded: Path, query_rows: Callable[[str], list[dict[str, Any]]]
) -> None:
    rows = {(row["system"], row["cache"]): row for row in _rows(recorded, "cache-fill")}
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


def test_resets_are_shown_with_the_lost_time(recorded: Path) -> None:
    rows = _rows(recorded, "cache-resets")
    assert [(row["system"], row["hours_not_counted"]) for row in rows] == [("SRV2", 3.5)] * 2


def test_networks_that_never_resume_are_named(
    recorded: Path, query_rows: Callable[[str], list[dict[str, Any]]]
) -> None:
    [expected] = query_rows("""
        SELECT count(*) AS networks FROM tls_use WHERE shared_by = 'client network'
            AND client_network IS NOT NULL AND resumed_handshakes = 0 AND full_handshakes > 0
    """)
    assert len(_rows(recorded, "networks-without-resumption")) == expected["networks"]


@pytest.mark.parametrize("store", ["empty", *deep("only_rmf", "only_netstat")])
def test_without_data_the_page_shows_what_to_load(
    drawn_page: Open, store: str, request: pytest.FixtureRequest
) -> None:
    shown = words(drawn_page("resumption", request.getfixturevalue(store)))
    assert "Handshakes come from zERT connection detail records" in shown
    assert "What session caches find is in displays of GSKSRVR" in shown
    assert "Savings cannot be calculated" in shown


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


def test_a_port_filter_has_no_effect(drawn_page: Open, recorded: Path) -> None:
    assert "Not filtered by port" in words(drawn_page("resumption", recorded, {"port": "443"}))


@pytest.mark.deep
def test_zert_alone_is_enough_for_the_rate(drawn_page: Open, only_zert: Path) -> None:
    page = drawn_page("resumption", only_zert)
    assert {metric.label: metric.value for metric in page.metric}["Cache hit rate"] == "n/a"
    assert "What session caches find is in displays of GSKSRVR" in words(page)
    assert "Savings cannot be calculated" in words(page)


@pytest.mark.deep
def test_names_of_data_are_never_markup(drawn_page: Open, hostile: Path) -> None:
    assert MARKUP not in words(drawn_page("resumption", hostile))
