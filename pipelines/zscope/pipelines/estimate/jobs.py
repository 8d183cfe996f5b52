"""Estimate what TLS costs per job, from its own connections.

What handshakes and bytes of a job cost in the TCP/IP stacks comes from one regression of the CPU time of the
stacks, in which each larger job has columns of its own and the others have common ones. What moves with them
in the address spaces of the job comes from a regression of their CPU time, with the connections of the job
without TLS as controls. Both together say about the job what those of all jobs say about the system
(`attribution`). The regressions of jobs have more coefficients than that of the system, so the ranges of all
jobs together are wider than its range.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from zscope.pipelines.estimate.address_spaces import (
    CPU,
    SumOfFits,
    fit_spaces,
    known_controls,
    of_others,
    own_fits,
)
from zscope.pipelines.estimate.attribution import SpacesAttribution, tls_load
from zscope.pipelines.estimate.costs import FEWEST_STEPS, too_few
from zscope.pipelines.estimate.intervals import DAY_S, FEWEST_WITH, LEAST_SHARE_OF_JOB, logarithm, selected
from zscope.pipelines.estimate.regression import Prewhitening, is_collinear
from zscope.pipelines.estimate.stated_costs import FittedCosts, TlsCost, prices, refused_cost
from zscope.pipelines.estimate.statuses import Reason, reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zscope.pipelines.estimate.costs import FittedSystem
    from zscope.pipelines.estimate.intervals import Grid

_LEAST_RECORDED = 0.8
"""Share of the time for which the CPU time of a job has to be known."""


@dataclass(frozen=True)
class JobEstimate:
    """What TLS costs in a job."""

    name: str
    handshakes_per_day: float
    costs: tuple[TlsCost, ...]
    """The parts of its price; only that of all TLS, with the reason, if nothing is estimated."""
    fitted: FittedCosts | None = None


def estimate_jobs(system: FittedSystem, names: Sequence[str]) -> Iterator[JobEstimate]:
    """Yield what TLS costs in each job, from the steps of a system whose price is estimated.

    `names` are those of the jobs in its grid. Without the CPU time of address spaces, there is nothing.
    """
    grid = system.grid
    if grid.jobs is None or grid.stack_us is None:
        return
    shares = grid.shares_of_jobs
    handshakes_per_day = shares * float(grid.mean(grid.full + grid.resumed)) * DAY_S
    refused = {at: why for at in range(len(names)) if (why := _refusal(grid, at, shares[at]))}
    fits: dict[int, FittedCosts | Reason] = {**refused}
    if own := [at for at in range(len(names)) if at not in refused]:
        fits |= _fitted_jobs(system, own)
    for at, name in enumerate(names):
        found = fits[at]
        if isinstance(found, FittedCosts):
            costs = tuple(prices(found, (reason("of_job"), *system.conditions)))
            yield JobEstimate(name, handshakes_per_day[at], costs, found)
        else:
            yield JobEstimate(name, handshakes_per_day[at], (refused_cost("TLS", "s/day", found),))


def _refusal(grid: Grid, at: int, share: float) -> Reason | None:
    """Return why a job has no price of its own."""
    assert grid.jobs is not None
    if share < LEAST_SHARE_OF_JOB:
        return reason("small_job", share_pct=100 * share, needed_pct=100 * LEAST_SHARE_OF_JOB)
    if np.count_nonzero(grid.jobs[:, at, :2].sum(axis=1)) < FEWEST_WITH:
        return reason("no_handshake")
    recorded = float(np.isfinite(grid.jobs[:, at, CPU]).mean())
    if recorded < _LEAST_RECORDED:
        return reason("job_not_recorded", recorded_pct=100 * recorded, needed_pct=100 * _LEAST_RECORDED)
    return None


def _fitted_jobs(system: FittedSystem, jobs: list[int]) -> dict[int, FittedCosts | Reason]:
    """Return the regressions of the jobs with columns of their own, or why there are none."""
    grid, prewhitening = _recorded(system, jobs)
    if prewhitening is None:
        return dict.fromkeys(jobs, too_few(grid, len(grid.step), FEWEST_STEPS))
    if len(prewhitening.rows) < (needed := prewhitening.steps_needed(3 * len(jobs))):
        return dict.fromkeys(jobs, too_few(grid, len(prewhitening.rows), needed))
    own = system.attribution.own if isinstance(system.attribution, SpacesAttribution) else {}
    if grid is not system.grid:
        own = dict(own_fits(grid, prewhitening, jobs))
    others = of_others(grid, own.values())
    tls = np.hstack([*(fit.tls for fit in own.values()), others[:, others.any(axis=0)]])
    if is_collinear(prewhitening, tls):
        return dict.fromkeys(jobs, reason("jobs_alike"))
    assert grid.stack_us is not None
    stack = fit_spaces(prewhitening, tls, known_controls(grid), grid.stack_us)
    fits: dict[int, FittedCosts | Reason] = dict.fromkeys(jobs, reason("handshakes_follow_bytes"))
    first = 0
    for at, fit in own.items():
        in_stack = np.zeros((3, tls.shape[1]))
        in_stack[:, first : first + fit.basis.shape[1]] = fit.basis
        first += fit.basis.shape[1]
        attribution = SpacesAttribution(
            stack.costs(in_stack),
            SumOfFits.of_one(fit.spaces),
            tls_load(fit.grid, prewhitening),
            fit.only_mean is None,
        )
        costs = FittedCosts(fit.grid, attribution, attribution.load.rates, fit.only_mean, system.clocks)
        fits[at] = costs.below_zero or _with_kinds(costs)
    return fits


def _with_kinds(fitted: FittedCosts) -> FittedCosts:
    """Return the costs, with only the mean of both kinds of handshakes if the error of their difference is
    larger than a handshake.
    """
    attribution = fitted.attribution
    assert isinstance(attribution, SpacesAttribution)
    difference = attribution.moving(np.array([1.0, -1.0, 0.0]))
    if difference.high() - difference.value <= attribution.moving(fitted.mean_handshake).high():
        return fitted
    return replace(fitted, only_mean=fitted.only_mean or reason("same_mix"))


def _recorded(system: FittedSystem, jobs: list[int]) -> tuple[Grid, Prewhitening | None]:
    """Return the steps in which the CPU time of all these jobs is known; None if these are too few."""
    grid = system.grid
    assert grid.jobs is not None
    recorded = np.asarray(np.isfinite(grid.jobs[:, jobs, CPU]).all(axis=1))
    if recorded.all():
        return grid, system.prewhitening
    grid = selected(grid, recorded)
    if len(grid.step) < FEWEST_STEPS:
        return grid, None
    return grid, Prewhitening(grid.step, grid.steps_of_day, logarithm(grid.full + grid.resumed))
