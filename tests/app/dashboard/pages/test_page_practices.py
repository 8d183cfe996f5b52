"""The page about best practices."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.conftest import MARKUP, Open, words
from tests.app.dashboard.page_helpers import data_of

from zscope.app.dashboard.pages.practices import MARKS, NO_SYSTEM, evidence, practice_checks

if TYPE_CHECKING:
    from pathlib import Path

LABELS = {"pass": "✓ In effect", "fail": "✕ Not in effect", "unknown": "? Not known"}


def test_counts_are_those_of_the_metric(drawn_page: Open, world: Path) -> None:
    rows = (
        data_of(world)
        .rows("SELECT status, count(*) AS n FROM best_practice_check GROUP BY status")
        .to_pylist()
    )
    expected = Counter({row["status"]: row["n"] for row in rows})
    page = drawn_page("practices", world)
    assert {metric.label: metric.value for metric in page.metric} == {
        LABELS[status]: str(expected[status]) for status in LABELS
    }
    assert "Posture and certificates" in words(page)


def test_a_status_has_a_shape_and_a_word(world: Path) -> None:
    result = practice_checks(data_of(world))
    assert len(result.practices) == 20
    assert set(result.rows["shown"].to_pylist()) == set(MARKS.values())
    assert set(result.systems) == {"CLI1", "CLI2", "SRV1", "SRV2"}


def test_every_status_of_every_system_can_be_read(drawn_page: Open, world: Path) -> None:
    """In a picture, words overprinted and names of systems vanished; a table has a column for each."""
    page = drawn_page("practices", world)
    shown = page.dataframe[0].value
    checks = practice_checks(data_of(world))
    assert list(shown.columns) == ["setting", *checks.systems, NO_SYSTEM]
    assert shown["setting"].tolist() == list(checks.practices.values())
    cells = [cell[0] for name in shown.columns[1:] for cell in shown[name] if cell is not None]
    assert Counter(cells) == Counter(checks.rows["shown"].to_pylist())


def test_each_statement_of_evidence_gives_rows(world: Path) -> None:
    data = data_of(world)
    statements = {row["evidence_query"] for row in practice_checks(data).rows.to_pylist()} - {None}
    assert len(statements) > 10
    assert all(evidence(data, statement).num_rows for statement in statements)


def test_one_is_chosen_by_the_address(drawn_page: Open, world: Path) -> None:
    page = drawn_page("practices", world, {"practices_setting": "ecdhe"})
    assert page.selectbox(key="practices_choice").value == "ecdhe"
    assert "ECDHE cipher suites, not DHE" in page.header[-1].value.replace("\\", "")
    assert "Remedy" in words(page)
    mine = page.dataframe[-2].value
    assert set(mine["practice"]) == {"ecdhe"}
    assert "SELECT" in page.code[-1].value


def test_an_unknown_setting_shows_what_to_capture(open_page: Open, world: Path) -> None:
    page = open_page("practices", world)
    page.selectbox(key="practices_choice").set_value("qdiostg").run()
    assert [error.message for error in page.exception] == []
    [row] = page.dataframe[-1].value.to_dict("records")
    assert (row["system"], row["status"]) == (NO_SYSTEM, "unknown")
    assert "QDIOSTG" in row["capture"]
    assert "There are no rows as evidence" in words(page)


def test_an_empty_store_knows_none(drawn_page: Open, empty: Path) -> None:
    page = drawn_page("practices", empty)
    assert [metric.value for metric in page.metric] == ["0", "0", "20"]
    assert "Nothing is loaded" in words(page)
    assert "zscope ingest" in words(page)


@pytest.mark.parametrize("store", ["only_rmf", "only_netstat", "only_zert"])
def test_one_source_is_enough(drawn_page: Open, store: str, request: pytest.FixtureRequest) -> None:
    path = request.getfixturevalue(store)
    page = drawn_page("practices", path)
    expected = practice_checks(data_of(path)).counts
    assert [metric.value for metric in page.metric] == [str(expected[status]) for status in LABELS]
    assert expected["unknown"] > 0


@pytest.mark.deep
def test_names_of_data_are_never_markup(drawn_page: Open, hostile: Path) -> None:
    assert len(practice_checks(data_of(hostile)).practices) == 20
    for name in ("icsf-audit", "heappools64", "ecdhe"):
        page = drawn_page("practices", hostile, {"practices_setting": name})
        assert MARKUP not in words(page)
        assert "<script>" not in words(page)
