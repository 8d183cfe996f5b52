"""The page about best practices."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.app.dashboard.conftest import MARKUP, Open, words

from zscope.app.dashboard.answers import Answers, Data
from zscope.app.dashboard.filters import Filters
from zscope.app.dashboard.queries.practices import MARKS, NO_SYSTEM, checks, evidence

LABELS = {"pass": "✓ In force", "fail": "✕ Not in force", "unknown": "? Not known"}


def _data(store: Path) -> Data:
    answers = Answers(store)
    return Data(answers, answers.version(), Filters())


def test_counts_are_those_of_the_metric(open_page: Open, world: Path) -> None:
    rows = (
        _data(world).rows("SELECT status, count(*) AS n FROM best_practice_check GROUP BY status").to_pylist()
    )
    told = Counter({row["status"]: row["n"] for row in rows})
    page = open_page("practices", world)
    assert {metric.label: metric.value for metric in page.metric} == {
        LABELS[status]: str(told[status]) for status in LABELS
    }
    assert len(page.get("vega_lite_chart")) == 1
    assert "Posture and certificates" in words(page)
    assert "20 settings" in words(page)


def test_a_status_has_a_shape_and_a_word(world: Path) -> None:
    found = checks(_data(world))
    assert len(found.practices) == 20
    assert set(found.rows["shown"].to_pylist()) == set(MARKS.values())
    assert set(found.systems) == {"CLI1", "CLI2", "SRV1", "SRV2"}


def test_each_statement_of_evidence_gives_rows(world: Path) -> None:
    data = _data(world)
    statements = {row["evidence_query"] for row in checks(data).rows.to_pylist()} - {None}
    assert len(statements) > 10
    assert all(evidence(data, statement).num_rows for statement in statements)


def test_one_is_chosen_by_the_address(open_page: Open, world: Path) -> None:
    page = open_page("practices", world, {"practices_setting": "ecdhe"})
    assert page.selectbox(key="practices_choice").value == "ecdhe"
    assert "ECDHE cipher suites, not DHE" in page.subheader[-1].value.replace("\\", "")
    assert "Remedy" in words(page)
    mine = page.dataframe[-2].value
    assert set(mine["practice"]) == {"ecdhe"}
    assert "SELECT" in page.code[-1].value


def test_another_can_be_chosen_and_unknown_says_what_to_capture(open_page: Open, world: Path) -> None:
    page = open_page("practices", world)
    page.selectbox(key="practices_choice").set_value("qdiostg").run()
    assert [error.message for error in page.exception] == []
    [row] = page.dataframe[-1].value.to_dict("records")
    assert (row["system"], row["status"]) == (NO_SYSTEM, "unknown")
    assert "QDIOSTG" in row["capture"]
    assert "no rows behind this" in words(page)


def test_an_empty_store_knows_none(open_page: Open, empty: Path) -> None:
    page = open_page("practices", empty)
    assert [metric.value for metric in page.metric] == ["0", "0", "20"]
    assert "Nothing is loaded" in words(page)
    assert "zscope ingest" in words(page)


@pytest.mark.parametrize("store", ["only_rmf", "only_netstat", "only_zert"])
def test_one_source_is_enough(open_page: Open, store: str, request: pytest.FixtureRequest) -> None:
    path = request.getfixturevalue(store)
    page = open_page("practices", path)
    told = checks(_data(path)).counts
    assert [metric.value for metric in page.metric] == [str(told[status]) for status in LABELS]
    assert told["unknown"] > 0


def test_names_of_data_are_never_markup(open_page: Open, hostile: Path) -> None:
    assert len(checks(_data(hostile)).practices) == 20
    for name in ("icsf-audit", "heappools64", "ecdhe"):
        page = open_page("practices", hostile, {"practices_setting": name})
        assert MARKUP not in words(page)
        assert "<script>" not in words(page)
