"""Comparisons of simulated periods see no change where there is none, and more resumption where there is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from zscope.samples.space_worlds import SPACE_WORLDS

if TYPE_CHECKING:
    from types import ModuleType

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
WORLD = SPACE_WORLDS["usual"]


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    for name in ("estimate.period_pairs", "estimate"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import estimate.period_pairs

    return estimate.period_pairs


def test_weeks_without_a_change_show_none(pairs: ModuleType) -> None:
    judged: list[dict[str, float]] = [
        pairs.judged(pairs.simulated_pair(WORLD, None, seed)) for seed in range(1, 5)
    ]
    assert [row["known"] for row in judged] == [1, 1, 1, 1]
    assert sum(row["any change"] for row in judged) == 0


@pytest.mark.parametrize("days", [7, 1])
def test_more_resumption_is_seen_and_its_saving_is_in_the_range(pairs: ModuleType, days: int) -> None:
    world = msgspec.structs.replace(WORLD, mean_logit=pairs.LOGIT_OF_40_PCT)
    for seed in (1, 2):
        pair: Any = pairs.simulated_pair(world, pairs.LOGIT_OF_70_PCT, seed)
        row = pairs.judged(pair, days)
        assert (row["more resumed"], row["saving in range"]) == (1, 1)
        differences, causes = pairs.compared(pair, days)
        [resumed] = [each for each in differences if each["quantity"] == "resumed handshakes"]
        assert "most of it on port 443 of job WEB1" in resumed["sentence"]
        [by_job] = [each for each in causes if each["cause"] == "job and port"]
        assert by_job["by_rate"] + by_job["by_mix"] == pytest.approx(resumed["change"])
