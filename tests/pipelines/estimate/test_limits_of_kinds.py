"""Which limits of a kind of world the benchmark of coverage says are missed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zscope.samples.space_worlds import SpaceKind

if TYPE_CHECKING:
    from types import ModuleType

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
KIND = SpaceKind(reference=(0.5, 1.5))
ALL = "SMF 30 and plain"
HELD = {
    "LPAR TLS": 1.0, "SMF 30 TLS": 1.0,
    f"{ALL} TLS": 1.0, f"{ALL} handshakes": 1.0, f"{ALL} bulk data": 1.0,
    f"{ALL} low": 0.5, f"{ALL} high": 1.6,
    f"{ALL} not enough data": 0.0, f"{ALL} wrong": 0.0,
}  # fmt: skip
"""A replicate that meets all limits."""
REFUSED = {f"{ALL} not enough data": 1.0}


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    for name in ("estimate.kinds", "estimate.replicates", "estimate", "figures"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import estimate.kinds

    return estimate.kinds


def missed(kinds: ModuleType, kind: SpaceKind, rows: list[dict[str, float]]) -> list[str]:
    found: list[str] = kinds.missed_limits(kind, kinds.Summary(rows))
    return found


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({f"{ALL} TLS": 0.0}, ["TLS holds 90 < 95"]),
        ({f"{ALL} handshakes": 0.0}, ["handshakes holds 90 < 95"]),
        ({f"{ALL} bulk data": 0.0}, ["bulk data holds 90 < 95"]),
        ({"LPAR TLS": 0.0, "SMF 30 TLS": 0.0}, ["LPAR holds 90 < 95", "SMF 30 holds 90 < 95"]),
        ({f"{ALL} wrong": 1.0}, [f"{ALL}: wrong estimate"]),
        ({"LPAR wrong": 1.0}, ["LPAR: wrong estimate"]),
        (REFUSED, ["10 % not enough data"]),
    ],
)
def test_one_of_ten_replicates_is_wrong(
    kinds: ModuleType, changes: dict[str, float], expected: list[str]
) -> None:
    rows = [HELD] * 9 + [HELD | changes]
    assert missed(kinds, KIND, rows) == expected
    tolerant = SpaceKind(reference=(0.5, 1.5), least_held_pct=90)
    assert missed(kinds, tolerant, rows) == [each for each in expected if "holds" not in each]


def test_a_range_is_compared_with_the_reference(kinds: ModuleType) -> None:
    assert missed(kinds, KIND, [HELD | {f"{ALL} low": 0.35, f"{ALL} high": 1.49}]) == []
    assert missed(kinds, KIND, [HELD | {f"{ALL} low": 0.3, f"{ALL} high": 1.5}]) == ["width 1.20 > 1.15"]
    assert missed(kinds, SpaceKind(), [HELD | {f"{ALL} high": 9.0}]) == []


def test_nothing_may_be_estimated_of_a_system_at_its_limit(kinds: ModuleType) -> None:
    refused = SpaceKind(is_refused=True)
    assert missed(kinds, refused, [REFUSED] * 4) == []
    assert missed(kinds, refused, [REFUSED] * 3 + [HELD]) == ["25 % answered"]
