"""What TLS costs per job: worlds of three jobs, of which 60, 30 and 10 % of the connections are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from tests.marking import deep_except

from zscope.pipelines.estimate.costs import estimate_costs
from zscope.pipelines.estimate.intervals import JOB_COLUMNS, SystemIntervals, on_grid, selected
from zscope.pipelines.estimate.jobs import estimate_jobs
from zscope.samples.space_truth import space_intervals
from zscope.samples.space_worlds import SPACE_WORLDS, SpaceWorld

if TYPE_CHECKING:
    from zscope.pipelines.estimate.intervals import Numbers
    from zscope.pipelines.estimate.jobs import JobEstimate
    from zscope.pipelines.estimate.stated_costs import TlsCost

NAMES = ("WEB1", "CICS1", "MQ1")
SEED, SEEDS = 7, 12
CPU = JOB_COLUMNS.index("cpu_s")
STACK = SPACE_WORLDS["all in the stack"]


def measured(world: SpaceWorld = STACK, seed: int = SEED) -> tuple[SystemIntervals, tuple[float, ...]]:
    """The intervals of a world, and what TLS costs in each of its jobs."""
    intervals = space_intervals(world, seed)
    return SystemIntervals(**intervals.measured(), jobs=intervals.jobs), intervals.jobs_s_per_day


def jobs_of(intervals: SystemIntervals) -> Numbers:
    assert intervals.jobs is not None
    return intervals.jobs.copy()


def estimated(intervals: SystemIntervals, names: tuple[str, ...] = NAMES) -> list[JobEstimate]:
    fitted = estimate_costs(intervals).fitted
    assert fitted is not None
    return list(estimate_jobs(fitted, names))


def price(job: JobEstimate, part: str = "TLS") -> TlsCost:
    return next(cost for cost in job.costs if (cost.item, cost.unit) == (part, "s/day"))


def ends(cost: TlsCost) -> tuple[float, float]:
    assert cost.low is not None
    assert cost.high is not None
    return cost.low, cost.high


def codes(job: JobEstimate) -> list[str]:
    return [reason.code for reason in price(job).status.reasons]


def test_each_job_has_the_range_of_its_own_connections() -> None:
    """A full handshake of the third job costs five times as much as one of the first."""
    intervals, truths = measured(SPACE_WORLDS["stack, full costs 0.6, 1 and 3"])
    for job, truth in zip(estimated(intervals), truths, strict=True):
        low, high = ends(price(job))
        assert low <= truth <= high
        assert high < 1.5 * truth
        assert low > 0.5 * truth
        assert "of_job" in codes(job)
        assert job.fitted is not None
        assert job.fitted.attribution.charged_to == "stack"


def test_the_parts_and_the_connections_of_a_job_are_its_own() -> None:
    intervals, truths = measured()
    [first, _, third] = estimated(intervals)
    assert {(cost.item, cost.unit) for cost in first.costs} == {
        (part, unit)
        for part in ("full handshakes", "resumed handshakes", "handshakes", "bulk data", "TLS")
        for unit in ("s/day", "% of LPAR", "% of peak")
    }
    assert first.handshakes_per_day == pytest.approx(6 * third.handshakes_per_day, rel=0.1)
    assert sum(ends(price(first, part))[0] for part in ("handshakes", "bulk data")) <= truths[0]
    assert sum(ends(price(first, part))[1] for part in ("handshakes", "bulk data")) >= truths[0]
    value = price(first).value
    assert value is not None
    assert value == pytest.approx(truths[0], rel=0.15)
    # Its share of the CPU time of the LPAR, not of that of the job.
    cpu_s_per_day = 96 * intervals.cpu_s.mean()
    [of_lpar] = [cost for cost in first.costs if (cost.item, cost.unit) == ("TLS", "% of LPAR")]
    assert of_lpar.value == pytest.approx(100 * value / cpu_s_per_day, rel=1e-6)


def test_what_a_server_does_for_connections_is_in_the_range_of_its_job_alone() -> None:
    """In the first job, applications do 20 ms for a connection; in the others nothing."""
    quiet, truths = measured()
    jobs = jobs_of(quiet)
    work_s = 20e-3 * (jobs[:, 0, 0] + jobs[:, 0, 1] + jobs[:, 0, 3])
    jobs[:, 0, CPU] += work_s
    assert quiet.tls_spaces_cpu_s is not None
    busy = replace(quiet, jobs=jobs, tls_spaces_cpu_s=quiet.tls_spaces_cpu_s + work_s)
    before, after = estimated(quiet), estimated(busy)
    assert ends(price(after[0]))[0] <= truths[0]
    assert ends(price(after[0]))[1] > 5 * truths[0]
    for quiet_job, busy_job in zip(before[1:], after[1:], strict=True):
        assert ends(price(busy_job)) == pytest.approx(ends(price(quiet_job)), rel=0.05)


def test_connections_without_tls_of_a_job_are_a_control() -> None:
    """They do work of their own in its address spaces, at times of their own."""
    intervals, truths = measured(SPACE_WORLDS["stack, plain load follows"])
    jobs = jobs_of(intervals)
    jobs[:, 0, CPU] += 5e-3 * jobs[:, 0, 3]
    with_control = ends(price(estimated(replace(intervals, jobs=jobs))[0]))
    jobs[:, 0, 3:5] = 0
    without = ends(price(estimated(replace(intervals, jobs=jobs))[0]))
    assert with_control[0] <= truths[0] <= with_control[1]
    assert without[1] > 1.2 * with_control[1]


def test_a_small_job_and_one_without_records_have_the_reason() -> None:
    intervals, truths = measured()
    jobs = jobs_of(intervals)
    jobs[::4, 1, CPU] = np.nan
    jobs[:, 2] *= 0.3
    [first, second, third] = estimated(replace(intervals, jobs=jobs))
    assert ends(price(first))[0] <= truths[0] <= ends(price(first))[1]
    assert codes(second) == ["job_not_recorded"]
    assert "SMF 30 has the CPU time of the job for 75 % of the time" in price(second).status.why
    assert codes(third) == ["small_job"]
    assert third.costs == (price(third),)
    assert third.fitted is None


def test_a_job_that_runs_once_has_no_price_and_the_system_has_one() -> None:
    """It has many connections, in five intervals; another one uses no CPU time that SMF 30 could measure."""
    intervals, truths = measured()
    jobs = jobs_of(intervals)
    once = np.zeros(len(jobs), bool)
    once[300:305] = True
    jobs[~once, 2, :CPU] = 0
    jobs[once, 2, :CPU] *= 300
    jobs[:, 1, CPU] = 0
    counts = {"full_handshakes": 0, "resumed_handshakes": 1, "tls_mb": 2}
    changed = replace(
        intervals, jobs=jobs, **{name: jobs[:, :, at].sum(axis=1) for name, at in counts.items()}
    )
    first, second, third = estimated(changed)
    assert codes(third) == ["no_handshake"]
    for job, truth in zip((first, second), truths, strict=False):
        assert ends(price(job))[0] <= truth
    assert ends(estimate_costs(changed).cost("TLS", "s/day"))[1] > 0


def test_intervals_without_the_cpu_time_of_a_job_are_left_out() -> None:
    intervals, _ = measured()
    lost = np.zeros(len(intervals.seconds), bool)
    lost[200:230] = True
    jobs = jobs_of(intervals)
    jobs[lost, 1, CPU] = np.nan
    found = estimated(replace(intervals, jobs=jobs))
    expected = estimated(selected(intervals, ~lost))
    for job, same in zip(found, expected, strict=True):
        assert job.fitted is not None
        assert len(job.fitted.grid.step) == len(lost) - 30
        assert ends(price(job)) == pytest.approx(ends(price(same)), rel=0.02)


def test_jobs_whose_records_are_of_different_times_have_no_price() -> None:
    """Each of six jobs has records for five sixths of the time, and there is no interval with all of them."""
    intervals, _ = measured()
    jobs = np.repeat(jobs_of(intervals), 2, axis=1) / 2
    for at in range(6):
        jobs[at::6, at, CPU] = np.nan
    found = estimated(replace(intervals, jobs=jobs), tuple(f"JOB{number}" for number in range(6)))
    assert [codes(job) for job in found] == [["few_intervals"]] * 6
    assert "0 intervals of 15 minutes can be used, 88 are needed" in price(found[0]).status.why


def test_jobs_that_follow_each_other_cannot_be_told_apart() -> None:
    intervals, _ = measured()
    jobs = jobs_of(intervals)[:, :1] * np.array([0.5, 0.5])[None, :, None]
    assert {tuple(codes(job)) for job in estimated(replace(intervals, jobs=jobs), NAMES[:2])} == {
        ("jobs_alike",)
    }


def test_each_job_needs_more_intervals() -> None:
    """Two days are enough for a system, and not for eighteen jobs of the same size."""
    intervals, _ = measured(msgspec.structs.replace(STACK, days=2))
    jobs = np.repeat(jobs_of(intervals).mean(axis=1, keepdims=True), 18, axis=1) / 6
    jobs *= np.random.default_rng(1).uniform(0.8, 1.2, jobs.shape)
    names = tuple(f"JOB{number}" for number in range(18))
    assert {tuple(codes(job)) for job in estimated(replace(intervals, jobs=jobs), names)} == {
        ("few_intervals",)
    }


def test_without_the_cpu_time_of_the_stack_no_job_has_a_price() -> None:
    intervals, _ = measured()
    assert estimated(replace(intervals, stack_cpu_s=None, tls_spaces_cpu_s=None)) == []
    assert estimated(replace(intervals, jobs=None)) == []


def test_counts_of_jobs_are_moved_with_those_of_the_system() -> None:
    intervals, truths = measured(SPACE_WORLDS["stack, clock 5 minutes ahead"])
    for job, truth in zip(estimated(intervals), truths, strict=True):
        low, high = ends(price(job))
        assert low <= truth <= high
        assert "clocks_differ" in codes(job)
        assert price(job).value is None


def test_short_intervals_of_jobs_are_added_up() -> None:
    intervals, _ = measured()
    start = intervals.start_local[:, None] + np.arange(3) * np.timedelta64(300, "s")
    nothing = np.zeros(start.size)
    short = SystemIntervals(
        start.ravel(),
        nothing + 300.0,
        nothing,
        nothing,
        nothing,
        nothing,
        jobs=np.repeat(jobs_of(intervals), 3, 0) / 3,
    )
    found, expected = on_grid(short).jobs, on_grid(intervals).jobs
    assert found is not None
    assert found == pytest.approx(expected)
    assert found == pytest.approx(jobs_of(intervals) / 900)


def test_full_handshakes_of_jobs_have_costs_of_their_own_in_the_price_of_the_system() -> None:
    """Without them, the third job is noise of the others, and the value is too low."""
    world = SPACE_WORLDS["stack, full costs 0.6, 1 and 3"]
    intervals = space_intervals(world, SEED)
    by_job = SystemIntervals(**intervals.measured(), jobs=intervals.jobs)
    widths = []
    for each in (by_job, replace(by_job, jobs=None)):
        cost = estimate_costs(each).cost("TLS", "s/day")
        low, high = ends(cost)
        assert low <= intervals.tls_s_per_day <= high
        widths.append(high - low)
    assert widths[0] < 0.85 * widths[1]
    value = estimate_costs(by_job).cost("full handshake").value
    mean_us = world.full_us * np.array(world.relative_full) @ intervals.jobs[:, :, 0].sum(axis=0)
    assert value == pytest.approx(mean_us / intervals.jobs[:, :, 0].sum(), rel=0.08)


def test_address_spaces_of_jobs_are_apart_in_the_price_of_the_system() -> None:
    """Other work in all of them is noise of each, but the loads of the jobs differ."""
    intervals = space_intervals(SPACE_WORLDS["30 % of other work inside"], SEED)
    by_job = SystemIntervals(**intervals.measured(), jobs=intervals.jobs)
    low, high = ends(estimate_costs(by_job).cost("TLS", "s/day"))
    together = ends(estimate_costs(replace(by_job, jobs=None)).cost("TLS", "s/day"))
    assert low <= intervals.tls_s_per_day <= high < 0.95 * together[1]


def test_the_price_of_a_system_contains_jobs_that_have_none_of_their_own() -> None:
    """The third job has no records of its own, but its address space is one of those with TLS."""
    intervals, truths = measured(SPACE_WORLDS["all in the caller"])
    jobs = jobs_of(intervals)
    jobs[:, 2, CPU] = np.nan
    low, high = ends(estimate_costs(replace(intervals, jobs=jobs)).cost("TLS", "s/day"))
    assert low <= sum(truths) <= high
    _, without_third = ends(estimate_costs(replace(intervals, jobs=jobs[:, :2])).cost("TLS", "s/day"))
    assert high == pytest.approx(without_third, rel=0.001)


def test_jobs_that_follow_each_other_have_one_cost_in_the_price_of_the_system() -> None:
    intervals, _ = measured()
    halves = jobs_of(intervals).sum(axis=1, keepdims=True) * np.array([0.5, 0.5])[None, :, None]
    alike, without = (
        estimate_costs(replace(intervals, jobs=jobs)).cost("TLS", "s/day") for jobs in (halves, None)
    )
    assert ends(alike) == pytest.approx(ends(without), rel=0.05)


KINDS = (
    *("all in the stack", "all in the caller", "usual", "usual, logon 10 ms", "stack, application 5 ms"),
    *("half and half", "stack, full costs 0.6, 1 and 3", "full costs 0.6, 1 and 3", "rare plain", "7 days"),
    *("intervals of SMF 30 begin 7 minutes later", "10 % of the intervals lost"),
)


@pytest.mark.parametrize("name", deep_except(["usual"], KINDS))
def test_the_range_of_each_job_holds(name: str) -> None:
    held = []
    for seed in range(SEEDS):
        intervals, truths = measured(SPACE_WORLDS[name], seed)
        for job, truth in zip(estimated(intervals), truths, strict=True):
            low, high = ends(price(job))
            held.append(low <= truth <= high)
    assert sum(held) >= 0.95 * len(held)
