"""The page about resumption."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, Literal

import pytest
from tests.app.dashboard.conftest import MARKUP, WORLD, Open, fine, words

from zscope.app.dashboard.answers import Answers, Data
from zscope.app.dashboard.filters import Filters
from zscope.app.dashboard.queries.resumption import over_time, side_by_side, why_sources_differ
from zscope.app.dashboard.queries.resumption_saving import by_bound, by_fit, refused, saving
from zscope.app.dashboard.queries.session_caches import cache_use, fill, misses, resets
from zscope.pipelines.ingest import How, choose, ingest
from zscope.pipelines.settings import Settings


def _data(store: Path, filters: Filters | None = None) -> Data:
    answers = Answers(store)
    return Data(answers, answers.version(), filters or Filters())


@pytest.fixture(scope="module")
def asked(world: Path) -> Callable[[str], list[dict[str, Any]]]:
    """Rows of a statement on the small world."""
    data = _data(world)
    return lambda sql: data.rows(sql).to_pylist()


@pytest.fixture(scope="module")
def one_day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The second day of two systems of the small world: the runs of a benchmark, too short for a fit."""
    store = tmp_path_factory.mktemp("few") / "store"
    some = choose(None, ["CLI1", "SRV1"], date(2026, 3, 10), date(2026, 3, 10))
    ingest(store, [WORLD], How(some, settings=Settings().merge(["+01:00"])))
    return store


def test_numbers_are_those_of_the_records(
    open_page: Open, world: Path, asked: Callable[[str], list[dict[str, Any]]]
) -> None:
    [zert] = asked("""
        SELECT 100.0 * count(*) FILTER (kind = 'abbreviated') / count(*) AS pct FROM handshake
        WHERE starts_with(handshake_role, 'server') AND kind IN ('full', 'abbreviated')
    """)
    [gsk] = asked("""
        SELECT 100.0 * sum(hits) / sum(lookups) AS hit_rate, 100.0 * sum(hits) / sum(hits + added) AS pct,
            count(*) FILTER (is_reset) AS resets
        FROM gsk_cache_delta WHERE basis = 'between displays' OR is_reset
    """)
    page = open_page("resumption", world)
    assert {metric.label: metric.value for metric in page.metric} == {
        "Resumed by zERT": f"{zert['pct']:.1f} %",
        "Resumed by GSKSRVR": f"{gsk['pct']:.1f} %",
        "Hit rate of the caches": f"{gsk['hit_rate']:.1f} %",
        "Resets of the counters": str(gsk["resets"]),
    }
    assert len(page.get("vega_lite_chart")) == 8
    assert "Why the two can differ" in words(page)
    assert "more than 95" in words(page)


def test_sources_stand_side_by_side_over_the_same_times(world: Path) -> None:
    data = _data(world)
    rows = {
        (row["source"], row["system"], row["versions"]): row
        for row in side_by_side(data, "server").to_pylist()
    }
    assert rows["zERT", "SRV1", "TLSv1.3"]["resumed_handshakes"] == 207
    assert rows["GSKSRVR", "SRV1", "TLSv1.3"]["resumed_handshakes"] == 207
    assert {row["counted"] for row in rows.values()} == {"times of which both tell"}
    assert rows["zERT", "SRV1", "TLSv1.3"]["published_pct"] == 95
    assert rows["zERT", "SRV1", "TLSv1.2 and older"]["published_pct"] is None
    assert len(why_sources_differ(data)) == 2
    clients = side_by_side(data, "client").to_pylist()
    assert {(row["source"], row["counted"]) for row in clients} == {("zERT", "all times")}


def test_hours_and_days_have_the_same_handshakes(world: Path) -> None:
    def of_zert(by: Literal["hour_utc", "day"]) -> int:
        rows = over_time(_data(world), "server", by).to_pylist()
        return sum(
            row["full_handshakes"] + row["resumed_handshakes"] for row in rows if row["source"] == "zERT"
        )

    assert of_zert("hour_utc") == of_zert("day") > 0


def test_misses_and_hits_are_all_look_ups(world: Path) -> None:
    use = cache_use(_data(world))
    assert set(use["counted"].to_pylist()) == {"in the period"}
    missed = sum(misses(use)["missed"].to_pylist())
    assert missed + sum(use["hits"].to_pylist()) == sum(use["lookups"].to_pylist())


def test_a_cache_with_one_display_is_shown_since_its_reset(tmp_path: Path) -> None:
    last = choose("gsk_cache_stats", begin=date(2026, 3, 11), end=date(2026, 3, 11))
    ingest(tmp_path, [WORLD], How(last, settings=Settings().merge(["+01:00"])))
    use = cache_use(_data(tmp_path))
    assert use.num_rows == 4
    assert set(use["counted"].to_pylist()) == {"since the reset before the first display"}


def test_fill_is_that_of_the_newest_display(
    world: Path, asked: Callable[[str], list[dict[str, Any]]]
) -> None:
    rows = {(row["system"], row["cache"]): row for row in fill(_data(world)).to_pylist()}
    shown = rows["SRV1", "session ids"]
    [told] = asked("""
        SELECT max(taken_utc) AS newest, max(entries) AS most FROM (
            SELECT taken_utc, coalesce(sum(entry_count), 0) AS entries FROM gsk_cache_status
            WHERE system = 'SRV1' AND cache = 'session-id' GROUP BY taken_utc
        )
    """)
    assert (shown["taken_utc"], shown["most_entries"]) == (told["newest"], told["most"])
    assert (shown["maximum_mb"], shown["timeout_min"]) == (64, 60)
    assert shown["used_pct"] == pytest.approx(100 * shown["used_mb"] / 64)


def test_resets_are_told_with_what_is_lost(open_page: Open, world: Path) -> None:
    rows = resets(_data(world)).to_pylist()
    assert [(row["system"], row["uncounted_s"]) for row in rows] == [("SRV2", 12600.0)] * 2
    assert "of 7.0 hours before them nothing is known" in words(open_page("resumption", world))


def test_the_slider_asks_for_a_rate_and_the_address_holds_it(open_page: Open, world: Path) -> None:
    page = open_page("resumption", world, {"resumption_target": "70"})
    assert page.slider(key="resumption_target").value == 70
    page.slider(key="resumption_target").set_value(83).run()
    fine(page)
    assert "at 83 %" in words(page)
    assert "at 70 %" not in words(page)


def test_a_rate_that_is_not_possible_is_ignored(open_page: Open, world: Path) -> None:
    page = open_page("resumption", world, {"resumption_target": "7; DROP TABLE x"})
    assert page.slider(key="resumption_target").value == 95


def test_saving_grows_with_the_rate(world: Path) -> None:
    data = _data(world)
    low, between, high = (by_fit(saving(data, rate)).to_pylist() for rate in (80, 83, 90))
    assert [row["system"] for row in between] == ["CLI1", "CLI2", "SRV1", "SRV2"]
    for first, row, last in zip(low, between, high, strict=True):
        expected = first["saving_s_per_day"] + 0.3 * (last["saving_s_per_day"] - first["saving_s_per_day"])
        assert row["saving_s_per_day"] == pytest.approx(expected)
        assert row["saving_low_s_per_day"] < row["saving_s_per_day"] < row["saving_high_s_per_day"]
    assert by_bound(saving(data, 83)).num_rows == 4
    assert refused(saving(data, 83)).num_rows == 0


def test_refusals_of_the_fit_are_shown_with_their_reason(open_page: Open, one_day: Path) -> None:
    rows = refused(saving(_data(one_day), 95)).to_pylist()
    assert rows
    assert all(row["why"] for row in rows)
    page = open_page("resumption", one_day)
    assert f"No figure for {len(rows)} systems" in words(page)
    assert "handshake\\_cost" in words(page)


def test_a_system_and_a_role_narrow_it(open_page: Open, world: Path) -> None:
    page = open_page("resumption", world, {"system": "CLI1"})
    assert "Nothing about session caches" in words(page)
    page = open_page("resumption", world, {"role": "client"})
    assert page.button_group(key="resumption_side").value == "client"
    assert "the role that is chosen leaves nothing" in words(page)


def test_a_port_is_said_to_have_no_effect(open_page: Open, world: Path) -> None:
    assert "Not narrowed by port" in words(open_page("resumption", world, {"port": "443"}))


@pytest.mark.parametrize("store", ["empty", "only_rmf", "only_netstat"])
def test_without_data_it_says_what_would_bring_it(
    open_page: Open, store: str, request: pytest.FixtureRequest
) -> None:
    shown = words(open_page("resumption", request.getfixturevalue(store)))
    assert "No resumed or full handshakes" in shown
    assert "Nothing about session caches" in shown
    assert "No saving can be worked out" in shown
    assert shown.count("zscope ingest") == 3


def test_zert_alone_is_enough_for_the_rate(open_page: Open, only_zert: Path) -> None:
    page = open_page("resumption", only_zert)
    assert {metric.label: metric.value for metric in page.metric}["Hit rate of the caches"] == "n/a"
    assert "Nothing about session caches" in words(page)
    assert "No saving can be worked out" in words(page)


def test_names_of_data_are_never_markup(open_page: Open, hostile: Path) -> None:
    assert MARKUP not in words(open_page("resumption", hostile))
