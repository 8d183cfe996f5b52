"""What changed between two periods in the TLS CPU cost."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from tests.pipelines.estimate.measured import changed, replicates

from zscope.pipelines.estimate.intervals import SystemIntervals, selected
from zscope.pipelines.estimate.periods import PeriodComparison, TlsChange, compare_periods
from zscope.samples.space_truth import space_intervals
from zscope.samples.space_worlds import SPACE_WORLDS

USUAL = SPACE_WORLDS["usual"]
"""Handshakes in the stack, and ten times as much work of applications as TLS."""


def period(seed: int, *, world: str = "usual", spaces: bool = True, **parameters: float) -> SystemIntervals:
    intervals = space_intervals(msgspec.structs.replace(SPACE_WORLDS[world], **parameters), seed)
    return SystemIntervals(**intervals.measured(spaces=spaces))


def of(compared: PeriodComparison, item: str) -> TlsChange:
    return next(change for change in compared.changes if change.item == item)


def verdicts(count: int, **parameters: float) -> list[str]:
    pairs = ((period(seed), period(1000 + seed, **parameters)) for seed in range(count))  # type: ignore[arg-type]
    return [of(compare_periods(*pair), "per connection").verdict for pair in pairs]


def test_more_resumption_is_a_change_that_is_seen() -> None:
    assert verdicts(3, mean_logit=1.2) == ["less"] * 3


def test_more_connections_are_no_change_per_connection() -> None:
    compared = compare_periods(period(1), period(2, rate=52.0))
    assert of(compared, "per connection").verdict == "not distinguishable"
    assert of(compared, "number").low > 0


@pytest.mark.deep
def test_verdicts_of_a_change_are_rare_without_one_and_usual_with_one() -> None:
    """`make bench-coverage` has 100 pairs of each change."""
    assert sum(verdict != "not distinguishable" for verdict in verdicts(30)) <= 4
    assert verdicts(20, full_us=1200.0).count("more") >= 16
    assert verdicts(20, mean_logit=1.2).count("less") >= 18


def test_the_parts_of_the_change_add_up() -> None:
    compared = compare_periods(
        period(1, world="all in the stack"), period(2, world="all in the stack", full_us=800.0)
    )
    change = {item: of(compared, item) for item in ("TLS", "per connection", "costs", "resumption", "number")}
    value = {item: each.value or 0.0 for item, each in change.items()}
    assert compared.before is not None
    assert compared.after is not None
    assert compared.after - compared.before == pytest.approx(value["TLS"])
    assert value["costs"] + value["resumption"] == pytest.approx(value["per connection"])
    assert value["per connection"] + value["number"] == pytest.approx(value["TLS"])
    assert change["TLS"].low == pytest.approx(change["per connection"].low + change["number"].low)
    assert change["TLS"].high == pytest.approx(change["per connection"].high + change["number"].high)
    assert value["costs"] < 0


def test_the_stack_needs_no_condition_and_other_cpu_time_does() -> None:
    for spaces, world, measured_in, status in (
        (True, "usual", "stack", "estimate"),
        (True, "all in the caller", "address spaces with TLS", "conditional"),
        (False, "usual", "LPAR", "conditional"),
    ):
        compared = compare_periods(*(period(seed, world=world, spaces=spaces) for seed in (1, 2)))
        assert (compared.measured_in, compared.status.kind) == (measured_in, status)
        assert ("if the servers do as much per connection as before" in compared.status.why) == (
            status == "conditional"
        )


def test_a_price_of_which_only_the_range_is_known_leaves_the_change_in_all_without_a_value() -> None:
    compared = compare_periods(period(1, spaces=False), period(2, spaces=False))
    assert (compared.before, compared.after, of(compared, "TLS").value) == (None, None, None)
    assert of(compared, "TLS").low < of(compared, "TLS").high


def test_smallest_visible_change() -> None:
    """A change of this size is seen 80 times in 100; the interval says how far a seen one can be off."""
    change = of(compare_periods(period(1), period(2)), "per connection")
    assert change.value is not None
    half = change.high - change.value
    assert half < (change.smallest_visible or 0.0) < 1.6 * half


def test_periods_far_apart_are_compared_like_neighbours() -> None:
    before, after = period(1), period(2)
    year = np.timedelta64(52 * 7, "D")
    neighbours = compare_periods(
        before, replace(after, start_local=after.start_local + np.timedelta64(14, "D"))
    )
    apart = compare_periods(before, replace(after, start_local=after.start_local + year))
    assert apart == neighbours


@pytest.mark.parametrize("seconds", [-20, -1, 30])
def test_seconds_of_difference_do_not_matter(seconds: int) -> None:
    """Intervals begin a little before or after the quarter hour."""
    before, after = period(1), period(2)
    after = replace(after, start_local=after.start_local + np.timedelta64(14, "D"))
    late = [
        replace(each, start_local=each.start_local + np.timedelta64(seconds, "s")) for each in (before, after)
    ]
    assert compare_periods(late[0], late[1]) == compare_periods(before, after)


def test_conditions_of_both_periods_count() -> None:
    short, whole = (next(replicates(changed("AR 0.8", days=days), 1)) for days in (3, 14))
    compared = compare_periods(short, whole)
    assert compared.status.kind == "conditional"
    assert "3 days" in compared.status.why


def test_without_two_kinds_of_handshakes_costs_and_resumption_are_not_apart() -> None:
    old, new = (
        replace(
            each,
            full_handshakes=each.full_handshakes + each.resumed_handshakes,
            resumed_handshakes=np.zeros(len(each.seconds)),
            kinds_known=False,
        )
        for each in (period(1), period(2))
    )
    compared = compare_periods(old, new)
    assert [change.item for change in compared.changes] == ["TLS", "per connection", "number"]
    assert "cannot be told apart" in compared.status.why


def test_refused_periods_have_no_change() -> None:
    good, bad = (next(replicates(changed(name), 1)) for name in ("AR 0.8", "at the limit"))
    for compared in (compare_periods(good, bad), compare_periods(bad, good)):
        assert compared.status.kind == "not enough data"
        assert not compared.changes


def test_address_spaces_of_one_period_alone_are_not_used() -> None:
    compared = compare_periods(period(1, spaces=False), period(2))
    assert compared.measured_in == "LPAR"


def test_periods_of_which_the_data_cover_too_little_are_not_compared() -> None:
    whole = period(1)
    rows = np.arange(len(whole.seconds)) % 96
    partly = replace(whole, full_handshakes=np.where(rows < 50, np.nan, whole.full_handshakes))
    for compared in (compare_periods(partly, whole), compare_periods(whole, partly)):
        assert compared.status.kind == "not enough data"
        assert not compared.changes
    assert compare_periods(whole, selected(whole, np.ones(len(rows), bool))).changes
