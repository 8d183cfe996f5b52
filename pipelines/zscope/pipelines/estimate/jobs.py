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

from zscope.pipelines.estimate.attribution import SpacesAttribution, fit_spaces, known_controls, tls_load
from zscope.pipelines.estimate.costs import separate_costs, too_few
from zscope.pipelines.estimate.intervals import (
    DAY_S,
    FEWEST_WITH,
    JOB_COLUMNS,
    LEAST_SHARE_OF_JOB,
    logarithm,
    selected,
)
from zscope.pipelines.estimate.regression import Prewhitening, is_collinear
from zscope.pipelines.estimate.stated_costs import FittedCosts, TlsCost, prices, refused_cost
from zscope.pipelines.estimate.statuses import Reason, reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zscope.pipelines.estimate.costs import FittedSystem
    from zscope.pipelines.estimate.intervals import Grid

_LEAST_RECORDED = 0.8
"""Share of the time for which the CPU time of a job has to be known."""
_CPU = JOB_COLUMNS.index("cpu_s")
_ROUNDING = 1e-9


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
    recorded = float(np.isfinite(grid.jobs[:, at, _CPU]).mean())
    if recorded < _LEAST_RECORDED:
        return reason("job_not_recorded", recorded_pct=100 * recorded, needed_pct=100 * _LEAST_RECORDED)
    return None


def _fitted_jobs(system: FittedSystem, own: list[int]) -> dict[int, FittedCosts | Reason]:
    """Return the regressions of the jobs with columns of their own, or why there are none."""
    grid, prewhitening = _recorded(system, own)
    jobs = {at: _of_job(grid, at) for at in own}
    separate = {at: separate_costs(prewhitening, job.tls) for at, job in jobs.items()}
    bases = {at: basis for at, (basis, _) in separate.items() if basis is not None}
    others = grid.tls - sum(jobs[at].tls for at in bases)
    with_others = np.count_nonzero(others > _ROUNDING * grid.tls, axis=0) >= FEWEST_WITH
    tls = np.hstack([*(jobs[at].tls @ basis for at, basis in bases.items()), others[:, with_others]])
    if len(prewhitening.rows) < (needed := prewhitening.steps_needed(tls.shape[1])):
        return dict.fromkeys(own, too_few(grid, len(prewhitening.rows), needed))
    if is_collinear(prewhitening, tls):
        return dict.fromkeys(own, reason("jobs_alike"))
    assert grid.stack_us is not None
    stack = fit_spaces(prewhitening, tls, known_controls(grid), grid.stack_us)
    fits: dict[int, FittedCosts | Reason] = dict.fromkeys(own, reason("handshakes_follow_bytes"))
    first = 0
    for at, basis in bases.items():
        job = jobs[at]
        in_stack = np.zeros((3, tls.shape[1]))
        in_stack[:, first : first + basis.shape[1]] = basis
        first += basis.shape[1]
        assert job.tls_spaces_us is not None
        spaces = fit_spaces(prewhitening, job.tls @ basis, known_controls(job), job.tls_spaces_us)
        only_mean = separate[at][1]
        attribution = SpacesAttribution(
            stack.costs(in_stack), spaces.costs(basis), tls_load(job, prewhitening), only_mean is None
        )
        fitted = FittedCosts(job, attribution, job.mean(job.tls), only_mean, system.clocks)
        fits[at] = fitted.below_zero or _with_kinds(fitted)
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


def _recorded(system: FittedSystem, own: list[int]) -> tuple[Grid, Prewhitening]:
    """Return the steps in which the CPU time of all these jobs is known."""
    grid = system.grid
    assert grid.jobs is not None
    recorded = np.asarray(np.isfinite(grid.jobs[:, own, _CPU]).all(axis=1))
    if recorded.all():
        return grid, system.prewhitening
    grid = selected(grid, recorded)
    return grid, Prewhitening(grid.step, grid.steps_of_day, logarithm(grid.full + grid.resumed))


def _of_job(grid: Grid, at: int) -> Grid:
    """Return the steps with the counts of a job and the CPU time of its address spaces."""
    assert grid.jobs is not None
    full, resumed, mb, plain, plain_mb, cpu_s = grid.jobs[:, at].T
    return replace(
        grid,
        full=full,
        resumed=resumed,
        mb=mb,
        plain=plain,
        plain_mb=plain_mb,
        datagrams=None,
        tls_spaces_us=1e6 * cpu_s,
    )
