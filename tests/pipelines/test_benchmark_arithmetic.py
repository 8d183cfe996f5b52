"""The check of the arithmetic against the verdict, and the texts about verdicts."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from zscope.pipelines.benchmark.arithmetic import ArithmeticMismatchError, Explanation
from zscope.pipelines.benchmark.wording import closest_ids, verdict_summary

CHANGE: dict[str, Any] = {
    "part": "change", "role": "client", "value": 16.0, "low": 15.0, "high": 17.0, "synthetic": None,
}  # fmt: skip
CHECK = CHANGE | {"part": "check"}


def explanation(*lines: dict[str, Any]) -> Explanation:
    return Explanation("x", pa.Table.from_pylist(lines))


def test_equal_numbers_pass_the_check() -> None:
    assert explanation(CHANGE, CHECK).check() == ["client"]


def test_ends_that_the_verdict_does_not_have_are_not_compared() -> None:
    assert explanation(CHANGE, CHECK | {"low": None, "high": None}).check() == ["client"]


@pytest.mark.parametrize("change", [CHANGE, CHANGE | {"low": None}])
def test_a_different_number_fails_the_check(change: dict[str, Any]) -> None:
    with pytest.raises(
        ArithmeticMismatchError, match=r"the low of client is (15\.0|None), but benchmark has 14"
    ):
        explanation(change, CHECK | {"low": 14.0}).check()


def test_the_error_names_the_data_that_the_calculation_starts_with() -> None:
    measure = CHANGE | {"part": "measure"}
    with pytest.raises(ArithmeticMismatchError, match="from the loaded captures the value"):
        explanation(measure, CHANGE, CHECK | {"value": 1.0}).check()


def test_every_line_is_in_one_table() -> None:
    parts = ["published", "interval", "interval", "sum", "change", "verdict"]
    tables = explanation(*(CHANGE | {"part": part} for part in parts)).tables
    assert [line["part"] for line in tables["intervals"]] == ["interval", "interval", "sum"]
    assert sum(map(len, tables.values())) == len(parts)


def test_directions_and_generated_data_are_counted() -> None:
    row = {"verdict": "direction only", "direction_matches": "agrees", "synthetic": True, "measured": "1 %"}
    counted, synthetic = verdict_summary([row, row])
    assert "2 direction only (2 agrees, 0 within noise, 0 contradicts)" in counted
    assert synthetic.startswith("SYNTHETIC: 2 of them")


def test_an_id_that_resembles_no_other_gets_no_suggestion() -> None:
    assert closest_ids("\u00a7", ["tls13-version"]) == "zscope benchmark lists all results"
