"""The regressions of the CPU time of address spaces on what their connections do.

A cost is a weighted sum of those of a full handshake, a resumed one and a megabyte. The larger jobs have
costs of their own: with one cost for all, each job would be noise of the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from zscope.pipelines.estimate.intervals import FEWEST_WITH, JOB_COLUMNS, LEAST_SHARE_OF_JOB
from zscope.pipelines.estimate.regression import Prewhitening, is_collinear, regress
from zscope.pipelines.estimate.statuses import Reason, reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from zscope.pipelines.estimate.intervals import Grid, Numbers
    from zscope.pipelines.estimate.regression import Regression, WeightedSum

FULL, RESUMED, MB = range(3)
CPU = JOB_COLUMNS.index("cpu_s")
_FEWEST_PLAIN = 5 / 900
"""Mean number per second from which connections without TLS are a column: five in 15 minutes."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class SpaceFit:
    """The regression of the CPU time of some address spaces, or of the LPAR."""

    regression: Regression
    """Its first coefficients are those of a full handshake, a resumed one and a megabyte."""
    plain_at: int | None = None
    """Which coefficient is that of a connection without TLS."""
    plain_mb_at: int | None = None
    """Which coefficient is that of a megabyte without TLS."""

    def of(self, weights: Numbers, *, less_plain: float = 0.0) -> WeightedSum:
        """Return a weighted sum of costs, less this share of what as many connections without TLS cost."""
        all_weights = np.zeros(len(self.regression.coefficients))
        all_weights[:3] = weights
        if self.plain_at is not None:
            all_weights[self.plain_at] = -less_plain * (weights[FULL] + weights[RESUMED])
        if self.plain_mb_at is not None:
            all_weights[self.plain_mb_at] = -less_plain * weights[MB]
        return self.regression.sum(all_weights)


@dataclass(frozen=True)
class SumOfFits:
    """The regressions of several address spaces of the same steps."""

    fits: tuple[SpaceFit, ...]
    shares: tuple[Numbers, ...]
    """Of each, the shares of the full handshakes, the resumed ones and the megabytes that are its own."""

    @classmethod
    def of_one(cls, fit: SpaceFit) -> SumOfFits:
        """Return a single regression with all of them."""
        return cls((fit,), (np.ones(3),))

    def of(self, weights: Numbers) -> WeightedSum:
        """Return a weighted sum of costs: the sum over the address spaces."""
        sums = (fit.of(weights * shares) for fit, shares in zip(self.fits, self.shares, strict=True))
        return reduce(add, sums)

    @property
    def noise(self) -> float:
        """The standard deviation of what moves without a known reason, if it moves in all of them at once."""
        return sum(fit.regression.noise for fit in self.fits)


def known_controls(grid: Grid) -> dict[str, Numbers]:
    """Return what else the address spaces do for connections and datagrams, where that is known."""
    controls = {"datagrams": grid.datagrams}
    if grid.plain is not None and grid.plain.mean() >= _FEWEST_PLAIN:
        controls |= {"plain": grid.plain, "plain_mb": grid.plain_mb}
    return {name: control for name, control in controls.items() if control is not None}


@dataclass(frozen=True)
class SpaceRegression:
    """The regression of CPU time on counts of TLS and on what else is known of the connections."""

    regression: Regression
    """Its first coefficients are those of the counts of TLS, followed by those of `controls`."""
    controls: tuple[str, ...]

    def costs(self, basis: Numbers) -> SpaceFit:
        """Return what a full handshake, a resumed one and a megabyte cost.

        These are the rows of `basis`; its columns are the counts of TLS.
        """
        whole = np.zeros((3 + len(self.controls), len(self.regression.coefficients)))
        whole[:3, : basis.shape[1]] = basis
        whole[3:, basis.shape[1] :] = np.eye(len(self.controls))
        at = {name: 3 + number for number, name in enumerate(self.controls)}
        return SpaceFit(self.regression.of(whole), at.get("plain"), at.get("plain_mb"))


def fit_spaces(
    prewhitening: Prewhitening, tls: Numbers, controls: Mapping[str, Numbers], cpu_us: Numbers
) -> SpaceRegression:
    """Return the regression; controls that are collinear are left out."""
    columns = tls
    used: list[str] = []
    for name, control in controls.items():
        more = np.column_stack([columns, control])
        if not is_collinear(prewhitening, more):
            used.append(name)
            columns = more
    return SpaceRegression(regress(prewhitening, columns, cpu_us), tuple(used))


def full_by_job(grid: Grid, prewhitening: Prewhitening, basis: Numbers) -> tuple[Numbers, Numbers]:
    """Return the counts of TLS with the full handshakes of the larger jobs apart, and their basis.

    Full handshakes of jobs cost different amounts, by key exchange and certificate. With one cost for all,
    each job would be noise of the others. The cost of a full handshake is the mean over the jobs.
    """
    tls = grid.tls @ basis
    larger = grid.shares_of_jobs >= LEAST_SHARE_OF_JOB
    if grid.jobs is None or not larger.any():
        return tls, basis
    full = grid.jobs[:, larger, 0]
    full = np.column_stack([full, np.maximum(grid.full - full.sum(axis=1), 0)])
    full = full[:, np.count_nonzero(full > ROUNDING * full.max(), axis=0) >= FEWEST_WITH]
    apart = np.hstack([full, grid.tls[:, 1:] @ basis[1:, 1:]])
    if len(prewhitening.rows) < prewhitening.steps_needed(apart.shape[1]) or is_collinear(
        prewhitening, apart
    ):
        return tls, basis
    shares = grid.mean(full)
    whole = np.zeros((3, apart.shape[1]))
    whole[FULL, : full.shape[1]] = shares / shares.sum()
    whole[1:, full.shape[1] :] = basis[1:, 1:]
    return apart, whole


def separate_costs(
    prewhitening: Prewhitening, columns: Numbers, *, kinds_known: bool = True
) -> tuple[Numbers | None, Reason | None]:
    """Return which costs can be estimated apart from full handshakes, resumed ones and megabytes.

    These are the rows of the array, its columns are the costs. It is None if even handshakes and megabytes
    are collinear, or if hardly any step has a handshake. The reason says why full and resumed handshakes are
    not apart.
    """
    present = np.count_nonzero(columns, axis=0) >= FEWEST_WITH
    if not (present[FULL] or present[RESUMED]):
        return None, reason("no_handshake")
    basis = np.eye(3)[:, present]
    only_mean = None if present[FULL] and present[RESUMED] else reason("one_kind")
    if not kinds_known:
        only_mean = reason("kinds_not_counted")
    elif is_collinear(prewhitening, columns @ basis):
        only_mean = reason("same_mix")
    if only_mean and only_mean.code != "one_kind":
        # Both kinds of handshakes get the same cost.
        basis = np.array([[1.0, 0], [1, 0], [0, 1]])[:, [True, bool(present[MB])]]
        if is_collinear(prewhitening, columns @ basis):
            return None, only_mean
    return basis, only_mean


def job_grid(grid: Grid, at: int) -> Grid:
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


@dataclass(frozen=True)
class OwnFit:
    """The regression of the CPU time of the address spaces of a job on its own connections."""

    grid: Grid
    """The steps, with the counts of the job."""
    basis: Numbers
    only_mean: Reason | None
    """Why full and resumed handshakes have no costs of their own."""
    spaces: SpaceFit

    @property
    def tls(self) -> Numbers:
        """The columns of the counts that have costs."""
        return self.grid.tls @ self.basis


def own_fits(grid: Grid, prewhitening: Prewhitening, jobs: Iterable[int]) -> Iterator[tuple[int, OwnFit]]:
    """Yield the regressions of those of the jobs whose handshakes and megabytes have costs of their own."""
    for at in jobs:
        job = job_grid(grid, at)
        basis, only_mean = separate_costs(prewhitening, job.tls)
        if basis is not None and job.tls_spaces_us is not None:
            spaces = fit_spaces(prewhitening, job.tls @ basis, known_controls(job), job.tls_spaces_us)
            yield at, OwnFit(job, basis, only_mean, spaces.costs(basis))


def of_others(grid: Grid, own: Iterable[OwnFit]) -> Numbers:
    """Return the counts of TLS without those of these jobs; a column is zero if nearly nothing is left."""
    left = grid.tls - sum((fit.grid.tls for fit in own), np.zeros((len(grid.step), 3)))
    left = np.where(left > ROUNDING * grid.tls.max(axis=0), left, 0)
    return np.asarray(left * (np.count_nonzero(left, axis=0) >= FEWEST_WITH))
