"""The filter bar: what is chosen is in the address, what is not touched is nowhere."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest
from tests.app.dashboard.conftest import LONGEST_S, SETTINGS, Open, draw_page, fine, words
from tests.app.dashboard.page_helpers import sql
from tests.sample_stores import SAMPLE

from zscope.app.dashboard.filter_choices import Choices, ClockOffset
from zscope.app.dashboard.period import ALL, read_period
from zscope.app.dashboard.registry import area_of, registered_pages
from zscope.app.shared.dashboard_server import STORE
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection

PAGE = "handshakes"


@pytest.mark.deep
def test_new_data_arrives_on_a_page_with_an_untouched_period(open_page: Open, tmp_path: Path) -> None:
    store = tmp_path / "store"
    how = IngestOptions(selection=row_selection("70,119"), settings=SETTINGS)
    ingest(
        store,
        [SAMPLE / "reports" / "rmf-cpu.SYSB.txt"],
        IngestOptions(selection=row_selection(None), settings=SETTINGS),
    )
    page = open_page(PAGE, store)
    assert not page.metric
    ingest(store, [SAMPLE / "smf-sample.bin"], how)
    page.run()
    fine(page)
    assert page.metric[0].value == open_page(PAGE, store).metric[0].value
    assert page.date_input(key="period").value == ()
    assert page.query_params == {}


def test_a_chosen_period_stays_when_new_data_arrives(open_page: Open, world: Path) -> None:
    page = open_page(PAGE, world)
    page.date_input(key="period").set_value((date(2026, 3, 9), date(2026, 3, 10))).run()
    fine(page)
    assert page.query_params == {"period": ["2026-03-09", "2026-03-10"]}
    page.date_input(key="period").set_value(()).run()
    assert page.query_params == {}


def test_what_is_chosen_is_in_the_address(open_page: Open, world: Path) -> None:
    page = open_page(PAGE, world)
    page.multiselect(key="system").set_value(["CLI1"]).run()
    page.multiselect(key="role").set_value(["client", "server"]).run()
    fine(page)
    assert page.query_params == {"system": "CLI1", "role": ["client", "server"]}


def test_an_address_that_changes_wins_over_what_was_chosen(open_page: Open, world: Path) -> None:
    """Back, Forward, and links between pages change the address of a session."""
    page = open_page(PAGE, world, {"system": "CLI1"})
    narrowed = page.metric[0].value
    page.query_params = {}
    page.run()
    assert page.multiselect(key="system").value == []
    assert page.metric[0].value != narrowed
    page.query_params = {"system": "CLI1"}
    page.run()
    assert page.multiselect(key="system").value == ["CLI1"]
    assert page.metric[0].value == narrowed


def test_hours_with_benchmark_runs_count_if_the_reader_says_so(open_page: Open, world: Path) -> None:
    def tiles(page: AppTest) -> list[str]:
        return [tile.value for tile in page.metric]

    page = open_page("posture", world)
    without = tiles(page)
    page.toggle(key="runs").set_value(True).run()
    fine(page)
    assert page.query_params == {"runs": "with"}
    counted = tiles(page)
    assert counted != without
    assert tiles(open_page("posture", world, {"runs": "with"})) == counted
    page.toggle(key="runs").set_value(False).run()
    assert page.query_params == {}
    assert tiles(page) == without


def test_a_store_without_runs_has_no_switch_for_them(open_page: Open, recorded: Path) -> None:
    page = open_page(PAGE, recorded, {"runs": "with"})
    assert not page.toggle
    assert page.query_params == {}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"port": "x"}, "x is no port, not applied"),
        ({"port": "99999"}, "99999 is no port, not applied"),
        ({"role": "<b>"}, r"\<b\> is no role, not applied"),
        ({"period": "tomorrow"}, "tomorrow is no period, not applied"),
        ({"period": "2026-02-30"}, r"2026\-02\-30 is no period, not applied"),
        ({"period": "9999-12-31"}, r"9999\-12\-31 is no period, not applied"),
        ({"runs": "some"}, "some is no choice of runs, not applied"),
    ],
)  # fmt: skip
def test_what_no_record_can_have_is_not_applied_and_stays_until_it_is_removed(
    asked: dict[str, str], said: str, open_page: Open, drawn_page: Open, world: Path
) -> None:
    page = open_page(PAGE, world, asked)
    assert page.query_params == asked
    whole = drawn_page(PAGE, world).metric[0].value
    assert page.metric[0].value == whole
    page.multiselect(key="system").set_value(["CLI1"]).run()
    [refused, chosen] = [chip for chip in page.button if str(chip.key).startswith("remove-")]
    assert (refused.label, chosen.label) == (said, "System CLI1")
    refused.click().run()
    fine(page)
    assert page.query_params == {"system": "CLI1"}
    assert page.metric[0].value != whole


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"system": ["NOWHERE"]}, "System NOWHERE: not in the data"),
        ({"port": ["9", "443"]}, "Port 9: not in the data"),
        ({"job": ["*"]}, r"Job \*: not in the data"),
    ],
)  # fmt: skip
def test_what_the_data_do_not_have_is_applied_and_can_be_removed(
    asked: dict[str, list[str]], said: str, open_page: Open, world: Path
) -> None:
    [(name, values)] = asked.items()
    page = open_page(PAGE, world, asked)
    assert page.multiselect(key=name).value == values
    unknown, *known = [chip for chip in page.button if str(chip.key).startswith("remove-")]
    assert unknown.label == said
    assert [chip.label for chip in known] == [f"Port {value}" for value in values[1:]]
    assert bool(page.metric) == bool(known)
    unknown.click().run()
    fine(page)
    assert page.query_params == ({name: values[1]} if known else {})
    assert page.metric


def test_more_values_than_the_bar_has_room_for_are_counted(open_page: Open, world: Path) -> None:
    page = open_page(PAGE, world, {"port": [str(port) for port in range(1, 8)]})
    assert len([chip for chip in page.button if str(chip.key).startswith("remove-")]) == 4
    assert "and 3 more" in words(page)


def test_a_period_that_the_data_do_not_reach_leads_to_the_nearest_day(open_page: Open, world: Path) -> None:
    page = open_page(PAGE, world, {"period": ["1999-01-01", "1999-01-02"]})
    assert page.query_params == {"period": ["1999-01-01", "1999-01-02"]}
    assert not page.metric
    [(first,)] = sql(world, """
        SELECT min(day) FROM (SELECT day FROM handshake_hour UNION ALL SELECT day FROM cpu_interval)
    """)  # fmt: skip
    beside = page.button(key="nearest-day")
    assert beside.label == f"No data in this period: show {first}"
    beside.click().run()
    fine(page)
    assert page.query_params == {"period": first.isoformat()}
    assert [button for button in page.button if button.key == "nearest-day"] == []


def test_a_page_without_a_bar_says_which_filters_it_keeps(open_page: Open, world: Path) -> None:
    page = open_page("compare", world, {"system": "CLI1"})
    assert "This page shows all data. Kept for other pages: system CLI1." in words(page)
    assert page.query_params == {"system": "CLI1"}
    assert "Kept for other pages" not in words(open_page("compare", world))


def test_a_period_is_cut_to_the_days_of_the_store(open_page: Open, world: Path) -> None:
    page = open_page(PAGE, world, {"period": ["1999-01-01", "2026-03-09"]})
    chosen = page.date_input(key="period").value
    assert isinstance(chosen, tuple)
    assert min(chosen) > date(2026, 1, 1)
    assert max(chosen) == date(2026, 3, 9)


def test_a_relative_period_stays_in_the_address_as_words(open_page: Open, world: Path) -> None:
    page = open_page("ciphers", world, {"period": "last day"})
    chosen = page.date_input(key="period").value
    assert isinstance(chosen, tuple)
    [newest] = [day.isoformat() for day in chosen]
    assert page.query_params == {"period": "last day"}
    of_day = open_page("ciphers", world, {"period": newest})
    drawn = [chart.proto.alt for chart in page.get("vega_lite_chart")]
    assert drawn == [chart.proto.alt for chart in of_day.get("vega_lite_chart")] != []
    page.date_input(key="period").set_value(()).run()
    assert page.query_params == {}


def test_moments_in_an_address_narrow_within_a_day(open_page: Open, recorded: Path) -> None:
    page = open_page(PAGE, recorded, {"period": ["2026-03-09T10:00", "2026-03-09T14:00"]})
    of_day = open_page(PAGE, recorded, {"period": "2026-03-09"})
    part, whole = (int(of.metric[0].value.replace(",", "")) for of in (page, of_day))
    assert 0 < part < whole
    assert page.query_params == {"period": ["2026-03-09T10:00", "2026-03-09T14:00"]}


def test_a_chosen_day_is_a_day_of_the_clock_of_the_systems(open_page: Open, recorded: Path) -> None:
    """The clocks of the systems are an hour ahead of UTC."""

    def handshakes(begin: str, end: str) -> int:
        between = f"event_utc >= TIMESTAMPTZ '{begin}' AND event_utc < TIMESTAMPTZ '{end}'"
        [(count,)] = sql(recorded, f"SELECT count(*) FROM handshake WHERE {between}")
        return int(count)

    local = handshakes("2026-03-08 23:00:00Z", "2026-03-09 23:00:00Z")
    assert local != handshakes("2026-03-09 00:00:00Z", "2026-03-10 00:00:00Z")
    page = open_page(PAGE, recorded, {"period": "2026-03-09"})
    assert page.metric[0].value == f"{local:,}"


OFFSETS = tuple(
    ClockOffset(system, datetime.fromisoformat(start), seconds)
    for system, start, seconds in (
        ("EAST", "1900-01-01", 3600.0),
        ("EAST", "2026-03-29T03:00", 7200.0),
        ("WEST", "1900-01-01", -18_000.0),
    )
)  # fmt: skip
OFFERED = Choices(
    (), (), (), (), datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 10, 22, tzinfo=UTC),
    date(2026, 3, 1), date(2026, 3, 10), date(2026, 3, 10), OFFSETS,
)  # fmt: skip


def test_a_day_begins_when_it_begins_on_each_clock() -> None:
    day = date(2026, 3, 9)
    east, west = datetime(2026, 3, 8, 23, tzinfo=UTC), datetime(2026, 3, 9, 5, tzinfo=UTC)
    assert OFFERED.midnights(day) == (east, west)
    assert OFFERED.midnights(day, ("WEST",)) == (west, west)
    changed = datetime(2026, 3, 29, 22, tzinfo=UTC)
    assert OFFERED.midnights(date(2026, 3, 30), ("EAST",)) == (changed, changed)
    unknown = datetime(2026, 3, 9, tzinfo=UTC)
    assert OFFERED.midnights(day, ("NONE",)) == (unknown, unknown)


def test_systems_have_one_clock_only_if_it_never_changes() -> None:
    assert OFFERED.zone(("WEST",)) == timezone(timedelta(hours=-5))
    assert OFFERED.zone(("EAST",)) == OFFERED.zone() == UTC


@pytest.mark.parametrize(
    ("asked", "words", "days"),
    [
        (["same day last week"], "same day last week", ["2026-03-03"]),
        (["last week"], "last week", ["2026-03-04", "2026-03-10"]),
        (["2026-02-01", "2026-03-02"], "", ["2026-03-01", "2026-03-02"]),
        (["2026-03-02", "2026-03-01"], "", ["2026-03-01", "2026-03-02"]),
        (["2026-03-09T10:00", "2026-03-09T14:30"], "2026-03-09 10:00 to 14:30 UTC", []),
        (["1999-01-01"], "", ["1999-01-01"]), ([], ALL, []),
        (["2026-03-11T10:00", "2026-03-12T10:00"], "2026-03-11 10:00 to 2026-03-12 10:00 UTC", []),
    ],
)  # fmt: skip
def test_the_period_of_an_address(asked: list[str], words: str, days: list[str]) -> None:
    period = read_period(asked, OFFERED)
    assert period is not None
    assert (period.words, [day.isoformat() for day in period.days]) == (words, days)


@pytest.mark.parametrize("asked", ["tomorrow", "2026-3-9", "2026-03-09T25:00", "99999-01-01"])
def test_what_is_no_day_is_no_period(asked: str) -> None:
    assert read_period([asked], OFFERED) is None


@pytest.mark.parametrize("name", [PAGE, "compare"])
def test_links_to_the_pages_of_an_area_carry_the_filters(name: str, open_page: Open, world: Path) -> None:
    page = open_page(name, world, {"system": "CLI1", "port": ["443"]})
    links = {link.proto.page: parse_qs(link.proto.query_string) for link in page.get("page_link")}
    [opened] = (each for each in registered_pages() if each.name == name)
    others = {each.name for each in area_of(opened)} - {name}
    assert others
    assert {
        title
        for title, query in links.items()
        if query.items() >= {"system": ["CLI1"], "port": ["443"]}.items()
    } >= others
    assert page.query_params["system"] == "CLI1"


def test_filters_of_an_address_wait_for_a_store(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, world: Path
) -> None:
    store = tmp_path / "store"
    monkeypatch.setenv(STORE, str(store))
    page = AppTest.from_function(draw_page, args=(PAGE,), default_timeout=LONGEST_S)
    page.query_params["system"] = "CLI1"
    page.run()
    assert [error.value for error in page.error] == ["The store cannot be read."]
    store.symlink_to(world)
    page.run()
    fine(page)
    assert page.multiselect(key="system").value == ["CLI1"]
