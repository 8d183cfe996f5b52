"""The costs of TLS of a system whose costs are known, and every status."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.pipelines.estimate.measured import changed, replicates

from zscope.pipelines.estimate.costs import ITEMS, estimate_costs
from zscope.pipelines.estimate.intervals import selected
from zscope.pipelines.estimate.regression import Estimate
from zscope.pipelines.estimate.stated_costs import PARTS, at_equal_load
from zscope.pipelines.estimate.statuses import sentences
from zscope.samples.cost_truth import FULL_US, MB_US, RESUMED_US

if TYPE_CHECKING:
    from zscope.pipelines.estimate.costs import SystemEstimate
    from zscope.pipelines.estimate.intervals import Flags, Numbers, SystemIntervals

QUIET = {"noise": 0.001}
TRUTH = {
    "full handshake": FULL_US,
    "resumed handshake": RESUMED_US,
    "full less resumed": FULL_US - RESUMED_US,
    "megabyte": MB_US,
}


def one(name: str, *, tls_share: float | None = None, **changes: float) -> SystemIntervals:
    return next(replicates(changed(name, **changes), 1, tls_share=tls_share))


def codes(result: SystemEstimate, item: str = "") -> list[str]:
    status = result.cost(item).status if item else result.status
    return [reason.code for reason in status.reasons]


def moving(result: SystemEstimate, weights: list[float] | Numbers) -> float:
    """The weighted sum of what moves with full handshakes, resumed ones and megabytes."""
    assert result.fitted is not None
    return float(np.asarray(weights) @ result.fitted.levels.coefficients)


@pytest.mark.parametrize("tls_share", [None, 0.1])
@pytest.mark.parametrize("days", [3, 14])
def test_known_costs(tls_share: float | None, days: int) -> None:
    """Without noise the upper end is the truth, and the lower end what is for certain."""
    result = estimate_costs(one("AR 0.8", tls_share=tls_share, days=days, **QUIET))
    for item, truth in TRUTH.items():
        cost = result.cost(item)
        assert cost.high == pytest.approx(truth, rel=0.02)
        certain = FULL_US - RESUMED_US if tls_share and item.startswith("full") else 0.0
        assert cost.low == pytest.approx(certain, rel=0.02)


def test_price_is_that_of_the_work() -> None:
    intervals = one("AR 0.8", **QUIET)
    counts = (intervals.full_handshakes.sum(), intervals.resumed_handshakes.sum(), intervals.tls_mb.sum())
    truth = [
        cost * count / 1e6 / 14 for cost, count in zip((FULL_US, RESUMED_US, MB_US), counts, strict=True)
    ]
    result = estimate_costs(intervals)
    for part, counted in PARTS.items():
        expected = float(np.dot(counted, truth))
        assert result.cost(part, "s/day").high == pytest.approx(expected, rel=0.02)
        share = result.cost(part, "% of LPAR").high
        assert share == pytest.approx(100 * expected * 14 / intervals.cpu_s.sum(), rel=0.02)


def test_share_of_the_busiest_four_hours() -> None:
    intervals = one("AR 0.8", **QUIET)
    sums = [intervals.cpu_s[at : at + 16].sum() for at in range(len(intervals.cpu_s) - 15)]
    peak = slice(int(np.argmax(sums)), int(np.argmax(sums)) + 16)
    tls = (
        FULL_US * intervals.full_handshakes[peak]
        + RESUMED_US * intervals.resumed_handshakes[peak]
        + MB_US * intervals.tls_mb[peak]
    )
    high = estimate_costs(intervals).cost("TLS", "% of peak").high
    assert high == pytest.approx(100 * tls.sum() / 1e6 / max(sums), rel=0.02)


@pytest.mark.parametrize("tls_share", [None, 0.1])
def test_parts_add_up(tls_share: float | None) -> None:
    result = estimate_costs(one("AR 0.8", tls_share=tls_share, **QUIET))
    for unit in ("s/day", "% of LPAR", "% of peak"):
        high = {part: result.cost(part, unit).high or 0 for part in PARTS}
        assert high["handshakes"] == pytest.approx(
            high["full handshakes"] + high["resumed handshakes"], rel=0.01
        )
        assert high["TLS"] == pytest.approx(high["handshakes"] + high["bulk data"], rel=0.01)


def test_order_does_not_matter() -> None:
    intervals = one("curve, weekends")
    shuffled = selected(intervals, np.random.default_rng(1).permutation(len(intervals.seconds)))
    assert estimate_costs(shuffled).costs == estimate_costs(intervals).costs


def test_with_gaps() -> None:
    intervals = one("curve, weekends", **QUIET, other=0)
    rng = np.random.default_rng(1)
    kept = rng.random(len(intervals.seconds)) > 0.03
    for start in rng.integers(0, 1300, 8):
        kept[start : start + 30] = False
    result = estimate_costs(selected(intervals, kept))
    assert result.steps == kept.sum()
    for item, truth in TRUTH.items():
        assert result.cost(item).high == pytest.approx(truth, rel=0.02)


def test_other_work_on_the_same_curve_is_taken_out() -> None:
    result = estimate_costs(one("curve, 3 times"))
    mean = 0.4 * FULL_US + 0.6 * RESUMED_US
    assert moving(result, [0.4, 0.6, 0.0]) == pytest.approx(mean, rel=0.2)


def test_work_that_is_busier_on_busy_days_is_taken_out() -> None:
    """Over three months little noise is left to hide it."""
    result = estimate_costs(one("curve, day height", days=90, noise=0.1))
    assert moving(result, [0, 1, 0]) == pytest.approx(RESUMED_US, rel=0.05)


@pytest.mark.deep
def test_handshakes_counted_in_a_neighbouring_interval() -> None:
    """Two months have little noise left to hide that 5 % of them are counted one interval early."""
    found = [
        estimate_costs(intervals).cost("full less resumed").value or 0.0
        for intervals in replicates(changed("counted early", days=60, noise=0.02, other=0), 4)
    ]
    assert np.mean(found) == pytest.approx(FULL_US - RESUMED_US, rel=0.03)


def test_lpar_cpu_has_ranges_and_the_difference_on_a_condition() -> None:
    result = estimate_costs(one("curve, r 0.95"))
    assert result.status.kind == "estimate"
    for item in ("full handshake", "resumed handshake", "mean handshake", "megabyte"):
        assert codes(result, item) == ["range_of_lpar"]
        cost = result.cost(item)
        assert (cost.status.kind, cost.value, cost.low) == ("range", None, 0)
        assert cost.status.why.startswith("the upper end can ")
        assert "load SMF 30 intervals" in cost.status.why
    difference = result.cost("full less resumed")
    assert codes(result, "full less resumed") == ["equal_load"]
    assert difference.status.kind == "conditional"
    assert difference.low == 0
    assert difference.high == difference.conditional_high


def test_work_that_follows_the_handshakes_is_inside_the_range() -> None:
    result = estimate_costs(one("shock, r 0.95"))
    full = result.cost("full handshake")
    assert full.high is not None
    assert FULL_US < moving(result, [1, 0, 0]) < full.high


def test_address_spaces_narrow_the_range() -> None:
    wide, narrow = (estimate_costs(one("shock, r 0.95", tls_share=share)) for share in (None, 0.1))
    at_most = [
        cost.high - cost.low
        for cost in (wide.cost("full handshake"), narrow.cost("full handshake"))
        if cost.high and cost.low is not None
    ]
    assert at_most[1] < at_most[0] / 4
    assert codes(narrow, "full handshake") == ["range_of_spaces"]


def refused(result: SystemEstimate) -> str:
    """The reason, after a check that nothing is said but that."""
    assert result.status.kind == "not enough data"
    assert [(cost.item, cost.unit) for cost in result.costs] == list(ITEMS)
    for cost in result.costs:
        assert cost.value is None
        assert cost.low is None
        assert cost.high is None
        assert cost.status.why == result.status.why
    (code,) = codes(result)
    return code


def test_refused_for_few_intervals() -> None:
    intervals = one("AR 0.8", days=1)
    result = estimate_costs(selected(intervals, np.arange(87)))
    assert refused(result) == "few_intervals"
    assert result.status.why == "87 intervals of 15 minutes can be used, 88 are needed; load more days"
    assert estimate_costs(selected(intervals, np.arange(88))).status.kind == "conditional"
    assert refused(estimate_costs(selected(intervals, np.arange(0)))) == "few_intervals"


def test_refused_for_gaps() -> None:
    every_third = selected(one("AR 0.8"), np.arange(0, 1344, 3))
    assert refused(estimate_costs(every_third)) == "few_intervals"


def test_refused_for_lengths() -> None:
    intervals = one("AR 0.8")
    assert refused(estimate_costs(replace(intervals, seconds=intervals.seconds + 100))) == "odd_lengths"


def test_refused_without_handshakes() -> None:
    intervals = one("AR 0.8")
    nothing = np.zeros_like(intervals.full_handshakes)
    assert (
        refused(estimate_costs(replace(intervals, full_handshakes=nothing, resumed_handshakes=nothing)))
        == "no_handshake"
    )


def test_refused_for_constant_cpu() -> None:
    intervals = one("AR 0.8")
    assert (
        refused(estimate_costs(replace(intervals, cpu_s=np.full_like(intervals.cpu_s, 100))))
        == "constant_cpu"
    )


def test_refused_at_the_limit() -> None:
    intervals = one("at the limit")
    assert refused(estimate_costs(intervals)) == "at_limit"
    assert estimate_costs(replace(intervals, busy_share=None)).status.kind == "estimate"


def test_refused_below_zero() -> None:
    intervals = one("AR 0.8")
    other_way = 2 * intervals.cpu_s.mean() - intervals.cpu_s
    assert refused(estimate_costs(replace(intervals, cpu_s=other_way))) == "below_zero"


def test_refused_if_bytes_are_collinear_with_handshakes() -> None:
    intervals = one("AR 0.8")
    together = replace(
        intervals, full_handshakes=intervals.resumed_handshakes, tls_mb=0.1 * intervals.resumed_handshakes
    )
    assert refused(estimate_costs(together)) == "handshakes_follow_bytes"


def test_exactly_the_same_mix() -> None:
    intervals = one("AR 0.8")
    result = estimate_costs(replace(intervals, full_handshakes=0.5 * intervals.resumed_handshakes))
    assert codes(result, "full handshake") == codes(result, "full less resumed") == ["same_mix"]
    assert result.cost("mean handshake").high is not None
    assert result.cost("handshakes", "s/day").high is not None
    assert result.cost("full handshakes", "s/day").high is None


def test_kinds_that_are_not_counted_apart() -> None:
    """As from zERT summaries: the mean handshake has a cost."""
    intervals = one("AR 0.8")
    both = intervals.full_handshakes + intervals.resumed_handshakes
    result = estimate_costs(
        replace(intervals, full_handshakes=both, resumed_handshakes=0 * both, kinds_known=False)
    )
    assert codes(result, "full handshake") == codes(result, "full less resumed") == ["kinds_not_counted"]
    known = estimate_costs(intervals)
    for cost in ("mean handshake", "us"), ("TLS", "s/day"):
        assert result.cost(*cost).high == pytest.approx(known.cost(*cost).high, rel=0.15)
        assert result.cost(*cost).low == 0
    assert result.per_day
    assert known.per_day
    assert result.per_day.full_handshakes is None
    assert result.per_day.handshakes == pytest.approx(known.per_day.handshakes)


def test_nearly_the_same_mix() -> None:
    results = [estimate_costs(intervals) for intervals in replicates(changed("constant mix"), 10)]
    assert [codes(result, "full less resumed") for result in results] == [["same_mix"]] * 10
    assert all(result.cost("mean handshake").high for result in results)


def test_one_kind_of_handshakes() -> None:
    intervals = one("AR 0.8")
    full_only = replace(
        intervals,
        cpu_s=1 + intervals.full_handshakes / 1000,
        resumed_handshakes=np.zeros_like(intervals.full_handshakes),
    )
    result = estimate_costs(full_only)
    assert codes(result, "full less resumed") == ["one_kind"]
    assert result.cost("mean handshake").high == pytest.approx(1000, rel=0.01)


def test_no_megabytes() -> None:
    intervals = one("AR 0.8")
    result = estimate_costs(replace(intervals, tls_mb=np.zeros_like(intervals.full_handshakes)))
    assert codes(result, "megabyte") == ["no_megabyte"]
    assert result.cost("full handshake").high is not None
    bulk = result.cost("bulk data", "s/day")
    assert (bulk.status.kind, bulk.value, bulk.high) == ("estimate", 0, 0)


def test_short() -> None:
    for days in (1, 3, 6):
        assert codes(estimate_costs(one("AR 0.8", days=days)), "full less resumed") == ["equal_load", "short"]
    assert codes(estimate_costs(one("AR 0.8", days=7)), "full less resumed") == ["equal_load"]


def test_one_day_has_a_range_on_a_condition() -> None:
    for share in (None, 0.1):
        result = estimate_costs(one("AR 0.8", days=1, tls_share=share))
        full = result.cost("full handshake")
        source = "range_of_lpar" if share is None else "range_of_spaces"
        assert codes(result, "full handshake") == [source, "short"]
        assert full.status.kind == "range"
        assert full.value is None
        assert "less than a week" in full.status.why


def test_work_of_the_servers_that_follows_the_handshakes_is_inside_the_range() -> None:
    """Half of the other work is in the servers."""
    for intervals in replicates(changed("shock, 3 times"), 4, tls_share=0.5):
        full = estimate_costs(intervals).cost("full handshake")
        assert (full.status.kind, full.value) == ("range", None)
        assert full.low is not None
        assert full.high is not None
        assert full.low <= FULL_US <= full.high


@pytest.mark.deep
def test_no_cost_is_below_zero() -> None:
    """Noise of thirty times the CPU time of TLS can make an estimate negative, but no cost is."""
    found = [estimate_costs(each) for each in replicates(changed("iid", noise=30), 12)]
    assert min(moving(result, [0.4, 0.6, 0]) for result in found if result.fitted) < 0
    costs = [result.cost("mean handshake") for result in found]
    assert min(cost.low for cost in costs if cost.low is not None) == 0


def test_outliers() -> None:
    intervals = one("AR 0.8", noise_ar=0)
    cpu_s = intervals.cpu_s + 30 * intervals.cpu_s.std() * (np.random.default_rng(1).random(1344) < 0.12)
    result = estimate_costs(replace(intervals, cpu_s=cpu_s))
    assert codes(result) == ["outliers"]
    assert result.cost("full less resumed").status.kind == "conditional"


def test_residuals_that_are_autocorrelated() -> None:
    """Noise of two intervals in turn, with jumps that are clipped when the model is fitted."""
    intervals = one("AR 0.8", noise=0.05)
    jumps = np.repeat(np.random.default_rng(1).standard_cauchy(1344 // 6), 6)
    result = estimate_costs(replace(intervals, cpu_s=intervals.cpu_s + 20 * jumps))
    assert "residual_autocorrelated" in codes(result)


def without_handshakes(intervals: SystemIntervals, unknown: Flags) -> SystemIntervals:
    """Return the same intervals, of which some have no known handshakes."""
    return replace(
        intervals,
        full_handshakes=np.where(unknown, np.nan, intervals.full_handshakes),
        resumed_handshakes=np.where(unknown, np.nan, intervals.resumed_handshakes),
        tls_mb=np.where(unknown, np.nan, intervals.tls_mb),
    )


@pytest.mark.parametrize(
    ("hours", "status", "codes_of_price"),
    [(2, "range", ["range_of_lpar"]), (3, "range", ["range_of_lpar", "partly_covered"]),
     (13, "not enough data", ["not_covered"])],
)  # fmt: skip
def test_hours_that_are_not_covered(hours: int, status: str, codes_of_price: list[str]) -> None:
    """The same hours of each day: 92, 88 and 46 % of the time are covered."""
    intervals = one("AR 0.8")
    result = estimate_costs(without_handshakes(intervals, np.arange(1344) % 96 < 4 * hours))
    assert result.covered_share == pytest.approx(1 - hours / 24)
    price = result.cost("TLS", "s/day")
    assert price.status.kind == status
    assert [reason.code for reason in price.status.reasons] == codes_of_price
    assert (price.high is None) == (status == "not enough data")
    assert result.cost("mean handshake").high is not None


def test_no_interval_is_covered() -> None:
    result = estimate_costs(without_handshakes(one("AR 0.8"), np.full(1344, True)))
    assert codes(result) == ["not_covered"]
    assert result.covered_share == 0


def test_hours_of_some_days_that_are_not_covered_count_as_those_of_other_days() -> None:
    """Without weights, leaving out the busiest hours of five of ten workdays would lower the price."""
    intervals = one("AR 0.8")
    step = np.arange(1344)
    is_peak = (step % 96 >= 36) & (step % 96 < 48)
    busier = replace(
        intervals, full_handshakes=np.where(is_peak, 9.0, 1.0) * intervals.full_handshakes.mean()
    )
    whole = estimate_costs(busier)
    partly = estimate_costs(without_handshakes(busier, is_peak & (step < 5 * 96)))
    assert whole.per_day is not None
    assert partly.per_day is not None
    assert partly.per_day.full_handshakes == pytest.approx(whole.per_day.full_handshakes)
    assert partly.steps == 1344 - 5 * 12


def test_a_difference_below_nothing_has_no_value_and_without_an_upper_end_no_range() -> None:
    seen = at_equal_load(Estimate(5.0, -20.0, 10.0), ())
    assert (seen.status.kind, seen.value, seen.low, seen.high) == ("conditional", 5, 0, 10)
    none_seen = at_equal_load(Estimate(-5.0, -20.0, 10.0), ())
    assert (none_seen.status.kind, none_seen.value, none_seen.low, none_seen.high) == ("range", None, 0, 10)
    below = at_equal_load(Estimate(-15.0, -20.0, -10.0), ())
    assert (below.status.kind, below.value, below.high) == ("not enough data", None, None)


def test_every_status_has_a_test() -> None:
    """Each sentence of the table is reached by a test of this folder."""
    reached = {
        *("odd_lengths", "few_intervals", "no_handshake", "constant_cpu", "at_limit", "below_zero"),
        *("handshakes_follow_bytes", "same_mix", "kinds_not_counted", "one_kind", "no_megabyte"),
        *("short", "outliers", "residual_autocorrelated", "partly_covered", "not_covered"),
        *("clocks_differ", "intervals_apart", "clocks_apart"),
        *("range_of_lpar", "range_of_spaces", "equal_load", "none_at_equal_load"),
        *("value", "charged_to_stack", "bytes_in_stack", "narrow_range"),
        *("change_in_stack", "change_in_spaces", "change_in_lpar", "parts_not_apart"),
        *("of_job", "small_job", "job_not_recorded", "jobs_alike"),
    }
    assert set(sentences()) == reached
