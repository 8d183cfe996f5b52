"""The page about MQ channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.conftest import Open, fine, words

if TYPE_CHECKING:
    from pathlib import Path


def test_round_trips_tasks_and_published_results_are_shown(drawn_page: Open, systems: Path) -> None:
    page = drawn_page("mq_channels", systems)
    said = words(page)
    for title in (
        "What does a cipher add to a round trip of MQ?",
        "What negotiating the secret key costs",
        "SSL tasks over time",
        "Key resets",
        "contradict themselves",
    ):
        assert title in said
    assert len(page.get("vega_lite_chart")) == 5


def test_negotiations_have_their_published_results(drawn_page: Open, systems: Path) -> None:
    page = drawn_page("mq_channels", systems)
    grids = [frame.value for frame in page.dataframe]
    [result] = [grid for grid in grids if "per_negotiation_us" in grid.columns]
    rsa = result[result["cipher"] == "TLS_RSA_WITH_AES_256_CBC_SHA256"].set_index("message")
    # In ms: the largest are above 1,000 µs.
    assert round(rsa.loc["8KB", "per_negotiation_us"], 1) == 3.6
    assert round(rsa.loc["8KB", "total_us"], 1) == 7.2
    assert "3.6 ms" in rsa.loc["8KB", "published"]


@pytest.mark.deep
def test_resets_follow_the_chosen_number_of_bytes(open_page: Open, systems: Path) -> None:
    page = open_page("mq_channels", systems)

    def resets(sslrkeyc: int) -> int:
        page.number_input(key="mq_sslrkeyc").set_value(sslrkeyc).run()
        fine(page)
        [result] = [frame.value for frame in page.dataframe if "estimated_resets" in frame.value.columns]
        return int(result["estimated_resets"].sum())

    assert resets(0) == 0
    assert resets(1_048_576) > 2 * resets(10_485_760) > 0


def test_without_data_the_page_shows_what_to_load(drawn_page: Open, empty: Path) -> None:
    page = drawn_page("mq_channels", empty)
    assert "It needs measured round trips of MQ" in words(page)
    assert "SMF 115 subtype 231" in words(page)
    assert not page.number_input
