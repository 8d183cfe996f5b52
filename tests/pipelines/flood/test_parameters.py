"""The parameters of a flood and their limits."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from tests.pipelines.flood.conftest import plain

from zscope.pipelines.flood.parameters import NUMBERS, Arrivals, Flood, FloodError, Network, Order


def test_every_number_has_bounds_and_a_meaning() -> None:
    of_words = {"arrivals", "network", "order", "ecb_in_queue"}
    assert {number.name for number in NUMBERS} == {field.name for field in fields(Flood)} - of_words
    for number in NUMBERS:
        assert number.low <= getattr(Flood(), number.name) <= number.high
        assert number.meaning


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sessions": 0}, r"sessions: 0 is not between 1 and 200000 sessions"),
        ({"sessions": 200_001}, "sessions"),
        ({"sessions": 2.0}, r"sessions: 2.0 is not a whole number"),
        ({"sessions": True}, "not a whole number"),
        ({"burst_s": -1.0}, r"burst_s: -1 is not between 0 and 3600 s"),
        ({"burst_s": "1"}, r"burst_s: '1' is not a number"),
        ({"cpu_ms": 0.0}, "cpu_ms: 0 is not between"),
        ({"cpu_ms": float("nan")}, "cpu_ms: nan is not between"),
        ({"network_ms": float("inf")}, "network_ms: inf is not between"),
        ({"share": 0.0}, "share"),
        ({"share": 1.1}, "share: 1.1 is not between 0.01 and 1$"),
        ({"sessions": 200_000, "flows": 20}, r"200,000 sessions of 20 flows .* may be 1,000,000 at most"),
        ({"background_per_s": 10_000.0, "background_ms": 1.0}, "may be 900 here"),
    ],
)
def test_invalid_parameters_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FloodError, match=message):
        plain(**changes)


@pytest.mark.parametrize(
    ("workers", "share", "starters"),
    [(4, 0.5, 2), (5, 0.5, 2), (1, 0.5, 1), (1, 0.01, 1), (100, 0.29, 29), (4, 1.0, 4), (3, 0.34, 1)],
)
def test_the_number_of_starting_threads_is_limited_but_at_least_one(
    workers: int, share: float, starters: int
) -> None:
    flood = plain(daemons=3, workers=workers, share=share)
    assert flood.starters_of_daemon == starters
    assert flood.starters == 3 * starters
    assert flood.threads == 3 * workers


def test_choices_have_the_documented_names() -> None:
    assert [*Arrivals, *Network, *Order] == ["even", "poisson", "constant", "exponential", "begun", "arrival"]
