"""The page with the rankings of ports and jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from tests.app.dashboard.conftest import Open, words
from tests.app.dashboard.page_helpers import listed, sql, titles

from zscope.app.dashboard.pages.ranking import RANKINGS, Ranked
from zscope.app.figures.figure_declarations import declared_figures

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "ranking"


@pytest.mark.parametrize("by", get_args(Ranked))
def test_connections_are_those_of_the_source_with_the_most(drawn_page: Open, by: Ranked, world: Path) -> None:
    page = drawn_page(PAGE, world, {"ranking_of": {"server_port": "Server port", "job_name": "Job name"}[by]})
    shown = listed(page, by, "connections", "tls13_pct")
    counted = sql(
        world,
        f"SELECT {by}, sum(connections)::BIGINT FROM covered_tls_hour WHERE source = 'zERT summary' "
        "GROUP BY 1 HAVING sum(connections) > 0",
    )
    assert set(shown["source"]) == {"zERT summary"}
    assert dict(zip(shown[by], shown["connections"], strict=True)).items() >= dict(counted).items()
    assert list(shown["connections"]) == sorted(shown["connections"], reverse=True)
    assert shown["connections_pct"].sum() == pytest.approx(100)
    questions = {
        card.title or declared_figures()[card.figure].question for row in RANKINGS[by] for card in row
    }
    assert titles(page) >= questions - {""}


@pytest.mark.deep
def test_it_says_what_changed(drawn_page: Open, world: Path) -> None:
    page = drawn_page(PAGE, world)
    assert "What changed against the period before?" in titles(page)
    assert len(listed(page, "subject", "change_pct")) > 0


@pytest.mark.deep
def test_without_connections_it_names_what_to_load(drawn_page: Open, only_rmf: Path) -> None:
    assert "Connections come from zERT records" in words(drawn_page(PAGE, only_rmf))
