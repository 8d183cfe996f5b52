"""Clocks of counts and CPU time that differ: recognised, said in words, and not seen where they agree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec import structs
from tests.pipelines.estimate.measured import changed, replicates

from zscope.pipelines.estimate.clocks import moved
from zscope.pipelines.estimate.costs import estimate_costs
from zscope.pipelines.estimate.intervals import SystemIntervals, on_grid, selected
from zscope.pipelines.estimate.periods import compare_periods
from zscope.samples.cost_truth import WORLDS
from zscope.samples.space_truth import space_intervals
from zscope.samples.space_worlds import SPACE_WORLDS, SpaceWorld

if TYPE_CHECKING:
    from zscope.pipelines.estimate.costs import SystemEstimate

STACK = SPACE_WORLDS["all in the stack"]
NARROW = 1.3
"""Upper end of the range, as a ratio to the truth, in worlds without applications."""
SEEDS = 20


def measured(world: SpaceWorld, seed: int, *, spaces: bool = True) -> SystemIntervals:
    return SystemIntervals(**space_intervals(world, seed).measured(spaces=spaces))


def minutes(result: SystemEstimate) -> int:
    assert result.fitted is not None
    return result.fitted.clocks.minutes


def agree(result: SystemEstimate) -> bool:
    return result.fitted is None or not result.fitted.clocks.differ


def holds(result: SystemEstimate, truth: float) -> bool:
    cost = result.cost("TLS", "s/day")
    return cost.low is not None and cost.high is not None and cost.low <= truth <= cost.high


@pytest.mark.parametrize("ahead", [1, 2, 5, -3])
@pytest.mark.parametrize("name", ["usual", "all in the stack", "all in the caller"])
def test_clocks_that_differ_are_recognised(name: str, ahead: int) -> None:
    world = structs.replace(SPACE_WORLDS[name], clock_minutes=ahead)
    result = estimate_costs(measured(world, seed=7))
    assert minutes(result) == ahead
    assert holds(result, space_intervals(world, 7).tls_s_per_day)
    words = f"the clocks of SMF 119 and SMF 30 differ by about {abs(ahead)} minute{'s' * (abs(ahead) > 1)}:"
    for cost in result.costs:
        assert cost.value is None
        assert cost.conditional_low is None
        assert words in cost.status.why
        assert cost.status.kind == "range"


def test_the_upper_end_is_as_high_as_with_clocks_that_agree() -> None:
    """Without moved counts, the upper end of clocks five minutes apart is below the truth."""
    ratios = []
    for ahead in (0, 5):
        world = structs.replace(STACK, clock_minutes=ahead)
        high = estimate_costs(measured(world, seed=3)).cost("TLS", "s/day").high or 0.0
        ratios.append(high / space_intervals(world, 3).tls_s_per_day)
    assert ratios[1] == pytest.approx(ratios[0], rel=0.05)
    assert 1 < ratios[1] < NARROW


def test_from_the_lpar_alone() -> None:
    result = estimate_costs(
        measured(structs.replace(SPACE_WORLDS["usual"], clock_minutes=5), seed=3, spaces=False)
    )
    assert minutes(result) == pytest.approx(5, abs=1)
    assert "the clocks of SMF 119 and SMF 70 differ by about" in result.status.why
    difference = result.cost("full less resumed")
    assert (difference.value, difference.low) == (None, 0)


@pytest.mark.parametrize("late", [3, 7])
def test_intervals_of_smf_30_that_begin_between_those_of_smf_70(late: int) -> None:
    """Their CPU time is apportioned, which has no direction in time."""
    world = structs.replace(STACK, spaces_late_minutes=late)
    result = estimate_costs(measured(world, seed=3))
    assert minutes(result) == 0
    assert holds(result, space_intervals(world, 3).tls_s_per_day)
    assert "the intervals of SMF 30 begin some minutes before or after those of SMF 70" in result.status.why


@pytest.mark.parametrize("ahead", [14, -14, 20])
def test_a_difference_of_an_interval_is_refused(ahead: int) -> None:
    result = estimate_costs(measured(structs.replace(STACK, clock_minutes=ahead), seed=3))
    assert [reason.code for reason in result.status.reasons] == ["clocks_apart"]
    assert "differ by 14 minutes or more" in result.status.why
    assert {cost.high for cost in result.costs} == {None}


@pytest.mark.parametrize("spaces", [True, False])
def test_clocks_that_agree_with_gaps(spaces: bool) -> None:
    intervals = measured(SPACE_WORLDS["usual"], 1, spaces=spaces)
    kept = np.random.default_rng(1).random(len(intervals.seconds)) > 0.03
    assert agree(estimate_costs(selected(intervals, kept)))


def test_work_after_a_connection_is_no_difference_of_clocks() -> None:
    """The CPU time of the stack is that of the counts; the servers work five minutes later."""
    intervals = measured(SPACE_WORLDS["all in the caller"], 1)
    assert intervals.stack_cpu_s is not None
    assert intervals.tls_spaces_cpu_s is not None

    def later(cpu_s: np.ndarray) -> np.ndarray:
        return np.asarray((2 * cpu_s + np.r_[cpu_s[1:], cpu_s[-1:]]) / 3)

    stack_s, jobs_s = intervals.stack_cpu_s, intervals.tls_spaces_cpu_s - intervals.stack_cpu_s
    both = replace(intervals, stack_cpu_s=later(stack_s), tls_spaces_cpu_s=later(stack_s + jobs_s))
    assert minutes(estimate_costs(both)) == pytest.approx(5, abs=1)
    assert agree(estimate_costs(replace(intervals, tls_spaces_cpu_s=stack_s + later(jobs_s))))


def test_some_handshakes_counted_early_are_no_difference_of_clocks() -> None:
    """Bytes are counted in time, so the weights of the neighbours differ from count to count."""
    for intervals in replicates(changed("counted early", days=28, noise=0.02, other=0), 3):
        assert agree(estimate_costs(intervals))


def test_two_days_with_another_clock_are_no_difference_of_clocks() -> None:
    agreeing, other = (measured(structs.replace(STACK, clock_minutes=ahead), 1) for ahead in (0, 14))
    rows = np.isin(np.arange(len(agreeing.seconds)) // 96, (8, 9))
    columns = ("full_handshakes", "resumed_handshakes", "tls_mb", "plain_connections", "plain_mb")
    mixed = {name: np.where(rows, getattr(other, name), getattr(agreeing, name)) for name in columns}
    assert agree(estimate_costs(replace(agreeing, **mixed)))


def test_a_small_gain_is_no_difference_of_clocks() -> None:
    """In this week it is one of chance, although most days have it."""
    assert agree(estimate_costs(measured(SPACE_WORLDS["7 days"], 1007, spaces=False)))


def test_moved_counts_are_as_many_and_never_below_zero() -> None:
    grid = on_grid(measured(SPACE_WORLDS["usual"], 1))
    by_some = moved(grid, np.array([-0.1, 0.8, 0.3]))
    assert by_some.full.sum() == pytest.approx(grid.full.sum(), rel=0.001)
    assert by_some.full[5] == pytest.approx(-0.1 * grid.full[4] + 0.8 * grid.full[5] + 0.3 * grid.full[6])
    assert by_some.cpu_us is grid.cpu_us
    rare = replace(grid, full=np.where(np.arange(len(grid.full)) == 9, 1.0, 0.0))
    assert moved(rare, np.array([-0.1, 0.8, 0.3])).full[8:11].tolist() == pytest.approx([0.3, 0.8, 0.0])


def test_at_a_gap_a_count_stands_for_its_neighbour() -> None:
    intervals = measured(SPACE_WORLDS["usual"], 1)
    grid = on_grid(selected(intervals, np.delete(np.arange(len(intervals.seconds)), 10)))
    by_some = moved(grid, np.array([0.25, 0.75, 0.0]))
    assert by_some.mb[9] == pytest.approx(0.25 * grid.mb[8] + 0.75 * grid.mb[9])
    assert by_some.mb[10] == pytest.approx(grid.mb[10])


@pytest.mark.parametrize("name", ["all in the stack", "all in the caller"])
def test_periods_of_which_one_has_clocks_that_differ(name: str) -> None:
    """The change of what a connection costs is that of the same periods with clocks that agree."""
    before, *after = (
        measured(structs.replace(SPACE_WORLDS[name], clock_minutes=ahead), seed)
        for seed, ahead in ((1, 0), (2, 0), (2, 5))
    )
    agreeing, differing = (compare_periods(before, each) for each in after)
    changes = [each.change("per connection") for each in (agreeing, differing)]
    assert changes[0] is not None
    assert changes[1] is not None
    assert changes[1].value == pytest.approx(changes[0].value, abs=0.25 * (changes[0].smallest_visible or 0))
    assert "differ by about 5 minutes" in differing.status.why
    assert differing.before is None


@pytest.mark.deep
@pytest.mark.parametrize("ahead", [1, 2, 5, -3])
@pytest.mark.parametrize("name", ["usual", "half and half", "noise lasts", "caller, application 1 ms"])
def test_differences_are_recognised_in_most_worlds(name: str, ahead: int) -> None:
    world = structs.replace(SPACE_WORLDS[name], clock_minutes=ahead)
    results = [estimate_costs(measured(world, seed)) for seed in range(SEEDS)]
    assert sum(minutes(result) == ahead for result in results) >= (0.8 if ahead == 1 else 0.9) * SEEDS
    truths = [space_intervals(world, seed).tls_s_per_day for seed in range(SEEDS)]
    assert sum(map(holds, results, truths)) >= 0.95 * SEEDS


@pytest.mark.deep
@pytest.mark.parametrize("spaces", [True, False])
def test_none_is_seen_where_clocks_agree(spaces: bool) -> None:
    worlds = [
        world
        for world in SPACE_WORLDS.values()
        if world.days <= 14 and not world.clock_minutes and not world.spaces_late_minutes
    ]
    results = [estimate_costs(measured(world, seed, spaces=spaces)) for world in worlds for seed in (1, 2)]
    assert sum(map(agree, results)) >= 0.98 * len(results)


@pytest.mark.deep
@pytest.mark.parametrize("share", [None, 0.1, 0.5])
def test_none_is_seen_with_other_work(share: float | None) -> None:
    """Daily curves, batch, spikes, shifts of the level, and work that follows the connections."""
    names = [name for name in WORLDS if name != "at the limit"]
    results = [
        estimate_costs(each) for name in names for each in replicates(changed(name), 3, tls_share=share)
    ]
    assert sum(map(agree, results)) >= 0.98 * len(results)
