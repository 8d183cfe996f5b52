"""What changed between two periods in the price of TLS."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.pipelines.estimate.measured import changed, replicates

from zscope.pipelines.estimate.costs import LEAST_COVERED, estimate_costs
from zscope.pipelines.estimate.periods import TlsChange, compare_periods
from zscope.samples.cost_truth import FULL_US

SEEDS = 20
CHEAPER_US = 0.8 * FULL_US


def changes(
    name: str, item: str, *, tls_share: float | None = None, count: int = SEEDS, **after: float
) -> list[TlsChange]:
    """The change of one cost in pairs of periods."""
    pairs = zip(
        replicates(changed(name), count, tls_share=tls_share),
        replicates(changed(name, **after), count, seed=2, tls_share=tls_share),
        strict=True,
    )
    both = [compare_periods(estimate_costs(old), estimate_costs(new)) for old, new in pairs]
    return [next(change for change in found.changes if change.item == item) for found in both]


def holding(found: list[TlsChange], truth: float) -> int:
    return sum(change.low <= truth <= change.high for change in found)


@pytest.mark.deep
@pytest.mark.parametrize("item", ["full handshake", "full less resumed"])
def test_a_change_is_seen_with_address_spaces(item: str) -> None:
    found = changes("shock, r 0.95", item, tls_share=0.1, full_us=CHEAPER_US)
    assert all(change.status.kind == "estimate" and change.high < 0 for change in found)
    assert holding(found, CHEAPER_US - FULL_US) >= 0.8 * SEEDS
    assert all(change.smallest_visible < 100 for change in found)


@pytest.mark.deep
def test_no_change_is_seen_where_there_is_none() -> None:
    found = changes("shock, r 0.95", "full handshake", tls_share=0.1)
    assert holding(found, 0) >= 0.9 * SEEDS


@pytest.mark.deep
def test_other_work_that_follows_more_than_before_is_no_change() -> None:
    found = changes("shock, r 0.95", "TLS", tls_share=0.1, shock=1.5)
    assert holding(found, 0) == SEEDS
    codes = {reason.code for change in found for reason in change.status.reasons}
    assert "control_changed" in codes


@pytest.mark.deep
def test_lpar_cpu_needs_a_condition() -> None:
    found = changes("AR 0.8", "full handshake", full_us=CHEAPER_US)
    assert {reason.code for change in found for reason in change.status.reasons} == {"same_correlation"}
    assert {change.status.kind for change in found} == {"conditional"}
    assert holding(found, CHEAPER_US - FULL_US) >= 0.8 * SEEDS
    difference = changes("AR 0.8", "full less resumed", count=1)
    assert difference[0].status.kind == "conditional"


def test_control_that_has_not_changed() -> None:
    (change,) = changes("AR 0.8", "full handshake", tls_share=0.1, count=1)
    assert [reason.code for reason in change.status.reasons] == ["control_unchanged"]


def test_smallest_visible_change() -> None:
    """A change of this size is seen 80 times in 100; the interval says how far a seen one can be off."""
    (change,) = changes("AR 0.8", "full handshake", count=1)
    half = change.high - change.value
    assert half < change.smallest_visible < 1.6 * half


def test_conditions_of_both_periods_count() -> None:
    pairs = [estimate_costs(next(replicates(changed("AR 0.8", days=days), 1))) for days in (3, 14)]
    assert {change.status.kind for change in compare_periods(*pairs).changes} == {"conditional"}


def test_refused_periods_have_no_change() -> None:
    good, bad = (estimate_costs(next(replicates(changed(name), 1))) for name in ("AR 0.8", "at the limit"))
    for compared in (compare_periods(good, bad), compare_periods(bad, good)):
        assert compared.status == bad.status
        assert not compared.changes


def test_periods_with_different_sources_are_not_compared() -> None:
    lpar, spaces = (
        estimate_costs(next(replicates(changed("shock, r 0.95"), 1, tls_share=share)))
        for share in (None, 0.1)
    )
    for compared in (compare_periods(lpar, spaces), compare_periods(spaces, lpar)):
        assert [reason.code for reason in compared.status.reasons] == ["other_source"]
        assert compared.status.kind == "not enough data"
        assert not compared.changes
    assert compare_periods(lpar, lpar).changes


def test_periods_of_which_the_data_cover_too_little_are_not_compared() -> None:
    whole = estimate_costs(next(replicates(changed("AR 0.8"), 1)))
    for partly in (replace(whole, covered_share=0.49), replace(whole, covered_share=0.51)):
        for compared in (compare_periods(whole, partly), compare_periods(partly, whole)):
            is_refused = partly.covered_share < LEAST_COVERED
            assert [reason.code for reason in compared.status.reasons] == ["not_covered"] * is_refused
            assert bool(compared.changes) != is_refused


def test_parts_of_the_change_add_up() -> None:
    before, after = (
        estimate_costs(
            next(replicates(changed("AR 0.8", noise=0.001, rate=rate, full_us=full_us), 1, seed=seed))
        )
        for seed, rate, full_us in ((1, 40, FULL_US), (2, 60, CHEAPER_US))
    )
    split = compare_periods(before, after).split
    assert split is not None
    assert before.fitted is not None
    assert after.fitted is not None
    prices = [fitted.moving("TLS") or 0.0 for fitted in (before.fitted, after.fitted)]
    assert split.costs + split.number + split.mix == pytest.approx(prices[1] - prices[0])
    full = np.mean([before.fitted.rates[0], after.fitted.rates[0]])
    assert split.costs == pytest.approx((CHEAPER_US - FULL_US) * full * 86_400 / 1e6, rel=0.05)
    assert split.number > 0
