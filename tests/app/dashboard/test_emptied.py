"""A section without rows says whether the filters leave none, and where the nearest rows are."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.conftest import Open, fine, words
from tests.app.dashboard.page_helpers import data_of, sql

from zscope.app.dashboard.emptied import Emptied, draw_emptied, emptied, nearest_day
from zscope.app.dashboard.filter_bar import with_period
from zscope.app.dashboard.filter_choices import Choices
from zscope.app.dashboard.period import Period
from zscope.app.shared.filters import Filters

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIRST, LAST = date(2026, 3, 1), date(2026, 3, 31)
OFFERED = Choices((), (), (), (), None, None, FIRST, LAST, LAST)


def on_days(*filled: int) -> Callable[[Filters], bool]:
    """Whether a period of days contains one of these days of March."""

    def has_rows(filters: Filters) -> bool:
        begin, end = filters.first_day, filters.last_day
        assert begin is not None
        assert end is not None
        assert FIRST <= begin <= end <= LAST
        return any(begin <= date(2026, 3, day) <= end for day in filled)

    return has_rows


@pytest.mark.parametrize(
    ("period", "filled", "nearest"),
    [
        ((date(2026, 3, 10), date(2026, 3, 12)), (3, 15), 15),
        ((date(2026, 3, 10), date(2026, 3, 12)), (9, 15), 9),
        ((date(2026, 3, 10), date(2026, 3, 12)), (8, 14), 14),
        ((date(2026, 3, 10), date(2026, 3, 12)), (1,), 1),
        ((date(2026, 3, 10), date(2026, 3, 12)), (31,), 31),
        ((date(2026, 3, 10), date(2026, 3, 12)), (), None),
        ((date(1999, 1, 1), date(1999, 1, 1)), (1, 4), 1),
        ((date(1999, 1, 1), date(1999, 1, 1)), (17, 20), 17),
        ((date(2030, 1, 1), date(2030, 1, 1)), (17, 20), 20),
        ((FIRST, LAST), (), None),
    ],
)  # fmt: skip
def test_the_nearest_day_has_rows_and_no_nearer_day_has(
    period: tuple[date, date], filled: tuple[int, ...], nearest: int | None
) -> None:
    filters = with_period(Filters(), Period(days=period), OFFERED)
    found = nearest_day(filters, OFFERED, on_days(*filled))
    assert found == (None if nearest is None else date(2026, 3, nearest))


def test_the_rest_of_the_day_is_near_to_a_period_of_moments() -> None:
    begin = datetime(2026, 3, 10, 9, tzinfo=UTC)
    filters = Filters(begin, begin + timedelta(hours=1))
    assert nearest_day(filters, OFFERED, on_days(10, 11)) == date(2026, 3, 10)


def test_only_the_days_on_the_way_are_asked_for() -> None:
    asked: list[Filters] = []

    def has_rows(filters: Filters) -> bool:
        asked.append(filters)
        return False

    years = replace(OFFERED, first_day=date(2016, 1, 1))
    assert nearest_day(with_period(Filters(), Period(days=(FIRST,)), years), years, has_rows) is None
    assert len(asked) < 30


def test_a_period_without_rows_names_the_nearest_day_and_leads_there(open_page: Open, world: Path) -> None:
    filled = [day for (day,) in sql(world, "SELECT DISTINCT day FROM handshake_hour")]
    day = min(filled) - timedelta(days=3)
    page = open_page("handshakes", world, {"period": day.isoformat()})
    nearest = min(filled)
    said = {info.value.replace("\\", "") for info in page.info}
    assert f"No rows on {day}. Nearest data: {nearest}." in said
    assert all(text.startswith("No rows on") for text in said)
    assert not page.code
    next(button for button in page.button if button.label == f"Show {nearest}").click().run()
    fine(page)
    assert page.query_params == {"period": nearest.isoformat()}
    assert page.metric


def test_what_is_not_loaded_is_no_matter_of_filters(open_page: Open, only_rmf: Path) -> None:
    page = open_page("handshakes", only_rmf, {"system": "SYSB", "period": "1999-01-01"})
    assert "Handshakes come from zERT connection detail records" in words(page)
    assert "No rows" not in words(page)
    assert "zscope ingest" in words(page)


def test_the_filter_that_leaves_no_rows_is_named(open_page: Open, world: Path) -> None:
    page = open_page("handshakes", world, {"system": "CLI1", "job": "NOBODY"})
    assert "No rows for these filters: system CLI1; job NOBODY. Without the filter job there are rows." in [
        info.value.replace("\\", "") for info in page.info
    ]


def read(world: Path, filters: Filters, statement: str) -> Emptied | None:
    """Return why a statement about handshakes has no rows."""
    data = data_of(world, filters)
    data.rows(
        statement.replace("{where}", data.where(("system", "server_port"), "hour_utc", "handshakes > 0"))
    )
    return emptied(data)


def test_statements_of_a_page_are_asked_again_without_their_filters(world: Path) -> None:
    nowhere = Filters(systems=("NOWHERE",))
    found = read(world, nowhere, "SELECT system FROM handshake_hour {where}")
    assert found == Emptied(
        "No rows for these filters: system NOWHERE. Without the filter system there are rows."
    )
    # Totals over nothing are a row of nulls and zeros.
    assert found == read(world, nowhere, "SELECT sum(handshakes), count(*) FROM handshake_hour {where}")
    assert read(world, nowhere, "SELECT system FROM handshake_hour {where} AND false") is None
    assert read(world, nowhere, "SELECT system FROM handshake_hour WHERE system = 'NOWHERE'") is None
    assert read(world, Filters(systems=("CLI1",)), "SELECT system FROM handshake_hour {where}") is None


def test_what_cannot_be_asked_again_is_not_told(world: Path) -> None:
    statement = "SELECT system FROM handshake_hour WHERE system = 'NOWHERE'"
    for filters, told in ((Filters(), False), (Filters(systems=("NOWHERE",)), None)):
        data = data_of(world, filters)
        data.rows(statement)
        assert draw_emptied(data, "handshakes") is told


def test_the_period_before_is_not_what_a_section_shows(world: Path) -> None:
    data = data_of(world, Filters(systems=("NOWHERE",)))
    replace(data, filters=Filters(systems=("ELSEWHERE",))).metric("handshake_mix", [])
    assert emptied(data) is None
    data.metric("handshake_mix", [])
    assert emptied(data) is not None


def test_rows_of_benchmark_runs_only_are_said_to_be_left_out(world: Path) -> None:
    [(system, hour)] = sql(world, """
        SELECT system, hour_utc FROM left_out_hour SEMI JOIN tls_hour USING (system, hour_utc)
        ORDER BY ALL LIMIT 1
    """)  # fmt: skip
    filters = Filters(hour, hour + timedelta(hours=1), systems=(system,))
    data = data_of(world, filters)
    data.metric("tls_posture", [])
    found = emptied(data)
    assert found is not None
    assert found.words.startswith("All hours with such rows have benchmark runs")
    counted = data_of(world, replace(filters, with_runs=True))
    counted.metric("tls_posture", [])
    assert emptied(counted) is None
