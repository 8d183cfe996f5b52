"""The page about MQ channels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.app.dashboard.conftest import Open, fine, words

from zscope.app.dashboard.answers import Answers, Data
from zscope.app.dashboard.filters import Filters
from zscope.app.dashboard.queries import mq
from zscope.app.dashboard.queries.mq import tasks_over_time

if TYPE_CHECKING:
    import pytest


def test_round_trips_tasks_and_published_results_are_shown(open_page: Open, systems: Path) -> None:
    page = open_page("mq_channels", systems)
    said = words(page)
    for title in (
        "What a cipher adds",
        "What negotiating",
        "Tasks of the channel initiator",
        "Resets of the",
    ):
        assert title in said
    assert len(page.get("vega_lite_chart")) >= 3
    assert "Where the source contradicts itself" in " ".join(each.label for each in page.expander)
    assert "ms is what both channel pairs take" in said


def test_negotiations_stand_beside_what_was_published(open_page: Open, systems: Path) -> None:
    page = open_page("mq_channels", systems)
    grids = [frame.value for frame in page.dataframe]
    [found] = [grid for grid in grids if "per_negotiation_ms" in grid.columns]
    rsa = found[found["cipher"] == "TLS_RSA_WITH_AES_256_CBC_SHA256"].set_index("message")
    assert round(rsa.loc["8KB", "per_negotiation_ms"], 1) == 3.6
    assert round(rsa.loc["8KB", "total_ms"], 1) == 7.2
    assert "3.6 ms" in rsa.loc["8KB", "published"]


def test_resets_follow_the_chosen_number_of_bytes(open_page: Open, systems: Path) -> None:
    def resets(sslrkeyc: int) -> int:
        page = open_page("mq_channels", systems)
        page.number_input(key="mq_sslrkeyc").set_value(sslrkeyc).run()
        fine(page)
        [found] = [frame.value for frame in page.dataframe if "estimated_resets" in frame.value.columns]
        return int(found["estimated_resets"].sum())

    assert resets(0) == 0
    assert resets(1_048_576) > 2 * resets(10_485_760) > 0


def test_without_data_it_says_what_would_bring_them(open_page: Open, empty: Path) -> None:
    page = open_page("mq_channels", empty)
    assert "Nothing of MQ channels" in words(page)
    assert "0 of" in words(page)
    assert not page.number_input


def test_tasks_are_drawn_by_interval_where_these_can_be_told_apart(
    systems: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = Answers(systems)
    data = Data(answers, answers.version(), Filters())
    column, found = tasks_over_time(data)
    assert (column, len(set(found[column].to_pylist()))) == ("interval_end_utc", 14)
    monkeypatch.setattr(mq, "_MOST_POINTS", 10)
    column, found = tasks_over_time(data)
    assert (column, len(set(found[column].to_pylist()))) == ("day_utc", 1)
