"""How often results contain the truth, in a few worlds; `make bench-coverage` has all of them."""

from __future__ import annotations

from itertools import product

import pytest
from tests.pipelines.estimate.measured import changed

from zscope.pipelines.estimate.costs import estimate_costs
from zscope.pipelines.estimate.intervals import SystemIntervals
from zscope.samples.cost_truth import cost_intervals

UNITS = {"full handshake": "us", "full less resumed": "us", "TLS": "s/day"}
REPLICATES = 100
LEAST = 87
"""With a true coverage of 95 %, so few or fewer are one case in 1,000."""


def holding(name: str, days: int, tls_share: float | None) -> dict[str, int]:
    """The number of replicates in which each result contains the truth."""
    world = cost_intervals(changed(name, days=days), REPLICATES, seed=5)
    full, resumed, _ = world.truth
    found = dict.fromkeys(UNITS, 0)
    for row in range(REPLICATES):
        truth = {
            "full handshake": full,
            "full less resumed": full - resumed,
            "TLS": world.tls_us[row].mean() * 86_400 / 1e6,
        }
        result = estimate_costs(SystemIntervals(**world.measured(row, tls_share)))
        for item, unit in UNITS.items():
            cost = result.cost(item, unit)
            # Of three days, some have no costs of full and resumed handshakes, which is no wrong result.
            found[item] += cost.low is None or cost.high is None or cost.low <= truth[item] <= cost.high
    return found


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "days", "tls_share"),
    [
        *product(
            ("AR 0.95", "curve, day height", "batch and spikes", "shock, mix follows"), (3,), (None, 0.1)
        ),
        ("AR 0.95", 14, 0.1),
        ("curve, day height", 14, None),
        ("batch and spikes", 14, None),
        ("shock, mix follows", 14, 0.1),
    ],
)
def test_results_contain_the_truth(name: str, days: int, tls_share: float | None) -> None:
    assert min(holding(name, days, tls_share).values()) >= LEAST
