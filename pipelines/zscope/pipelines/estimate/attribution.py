"""How much of the CPU time that moves with TLS is TLS alone: a range, and a value on a condition.

A regression shows what moves with TLS. In the address space of a server that is TLS and whatever the server
does for a connection, and no statistics of ordinary intervals separate the two. What they do show:

- The address spaces of the TCP/IP stacks run no application. What moves there with handshakes, less the
  set-up of a connection as connections without TLS show it, is TLS: a lower end. So is what a full handshake
  costs more there than a resumed one.
- What moves in all address spaces with TLS, or in the whole LPAR, is an upper end, if the other work is not
  lower in intervals with more handshakes.
- If handshakes are charged to the stack, what they cost there is a value, on that condition. The same is true
  of bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from zscope.pipelines.estimate.address_spaces import (
    CPU,
    FULL,
    MB,
    RESUMED,
    OwnFit,
    SpaceFit,
    SumOfFits,
    fit_spaces,
    full_by_job,
    known_controls,
    of_others,
    own_fits,
    separate_costs,
)
from zscope.pipelines.estimate.intervals import LEAST_SHARE_OF_JOB

if TYPE_CHECKING:
    from zscope.pipelines.estimate.intervals import Grid, Numbers
    from zscope.pipelines.estimate.regression import Prewhitening, WeightedSum

ChargedTo = Literal["stack", "caller", "not known"]

GIVES_WAY_IN_LPAR, GIVES_WAY_IN_SPACES = 0.3, 0.1
"""The upper end allows for other work that falls when handshakes rise, down to this correlation."""
_LEAST_SET_UP, _MOST_SET_UP = 2 / 3, 3 / 2
"""What the set-up and the bytes of a connection with TLS cost in the stack, relative to one without."""
_MOST_IN_STACK = 0.1
"""Share of full less resumed in the callers that the stack has at most if handshakes are charged to them."""
_FOR_CERTAIN = 0.995
"""Quantile that shows bytes in the stack. With 0.975, one system in thirty whose jobs encrypt them would have
some there."""
_HANDSHAKES, _BYTES = np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class TlsLoad:
    """How much a system does, and how much that varies."""

    rates: Numbers
    """Mean full handshakes, resumed handshakes and megabytes per second."""
    handshakes_sd: float
    """Standard deviation of the handshakes per second, without time effects."""

    def given_way(self, noise: float, correlation: float, weights: Numbers) -> float:
        """Return by how much a weighted sum is too low if other work falls when handshakes rise."""
        of_handshake = correlation * noise / max(self.handshakes_sd, 1e-300)
        handshakes = max(weights[FULL] + weights[RESUMED], weights[FULL])
        if handshakes <= 0 and self.rates[MB] > 0:
            handshakes = weights[MB] * (self.rates[FULL] + self.rates[RESUMED]) / self.rates[MB]
        return float(of_handshake * handshakes)


@dataclass(frozen=True)
class Value:
    """A cost that is known on conditions."""

    sum: WeightedSum
    conditions: tuple[str, ...]
    """Codes of their sentences."""


@dataclass(frozen=True)
class LparAttribution:
    """What the CPU time of the LPAR says: an upper end."""

    fit: SpaceFit
    load: TlsLoad
    charged_to = None

    def ends(self, weights: Numbers, upper: float = 0.975) -> tuple[float, float]:
        """Return the lower and the upper end of a weighted sum of costs."""
        more = self.load.given_way(self.fit.regression.noise, GIVES_WAY_IN_LPAR, weights)
        return 0.0, self.fit.of(weights).high(upper) + more

    def value(self, weights: Numbers) -> Value | None:
        """Return nothing: what moves with TLS in an LPAR contains applications."""
        del weights
        return None


@dataclass(frozen=True)
class SpacesAttribution:
    """What the CPU time of the stacks and of the jobs with TLS says."""

    stack: SpaceFit
    jobs: SumOfFits
    load: TlsLoad
    kinds_apart: bool
    """Whether full and resumed handshakes have costs of their own."""
    own: Mapping[int, OwnFit] = field(default_factory=dict)
    """Those of the regressions of a system that are of one job each, by the number of the job."""

    def ends(self, weights: Numbers, upper: float = 0.975) -> tuple[float, float]:
        """Return the lower and the upper end of a weighted sum of costs."""
        noise = self.stack.regression.noise
        less = self.load.given_way(noise, GIVES_WAY_IN_SPACES, weights)
        more = self.load.given_way(noise + self.jobs.noise, GIVES_WAY_IN_SPACES, weights)
        low = 0.0
        if self.kinds_apart:
            low = max(low, self.stack.of(_full_less_resumed(weights)).low() - less)
        if self.stack.plain_at is not None:
            low = max(low, self.stack.of(weights, less_plain=_MOST_SET_UP).low() - less)
        high = self.moving(weights, less_plain=_LEAST_SET_UP)
        return low, high.high(upper) + more

    def moving(self, weights: Numbers, *, less_plain: float = 0.0) -> WeightedSum:
        """Return what moves in all address spaces, less this share of what connections without TLS cost in
        the stack.
        """
        return self.stack.of(weights, less_plain=less_plain) + self.jobs.of(weights)

    @property
    def charged_to(self) -> ChargedTo:
        """Where handshakes are charged: full less resumed is the work with the private key."""
        if not self.kinds_apart:
            return "not known"
        weights = _full_less_resumed(self.load.rates)
        in_stack, in_jobs = self.stack.of(weights), self.jobs.of(weights)
        if in_stack.low() > 0 and in_jobs.low() <= 0:
            return "stack"
        if in_jobs.low() > 0 >= in_stack.low() and in_stack.high() <= _MOST_IN_STACK * in_jobs.value:
            return "caller"
        return "not known"

    def value(self, weights: Numbers) -> Value | None:
        """Return a weighted sum of costs with its conditions, if the data do not contradict them."""
        if self.stack.plain_at is None:
            return None
        in_stack = {
            "charged_to_stack": (weights * _HANDSHAKES, self.charged_to == "stack"),
            "bytes_in_stack": (weights * _BYTES, self._bytes_are_in_stack),
        }
        conditions = {code: is_true for code, (part, is_true) in in_stack.items() if part.any()}
        if not all(conditions.values()):
            return None
        return Value(self.stack.of(weights, less_plain=1.0), tuple(conditions))

    @property
    def _bytes_are_in_stack(self) -> bool:
        of_bytes = self.load.rates * _BYTES
        in_stack = self.stack.of(of_bytes, less_plain=1.0)
        return in_stack.low(_FOR_CERTAIN) > 0 >= self.jobs.of(of_bytes).low()


Attribution = LparAttribution | SpacesAttribution


def _full_less_resumed(weights: Numbers) -> Numbers:
    return np.array([weights[FULL], -weights[FULL], 0.0])


def attribute(grid: Grid, prewhitening: Prewhitening, basis: Numbers, *, kinds_apart: bool) -> Attribution:
    """Return what the CPU time of a system says about TLS.

    The rows of `basis` are full handshakes, resumed handshakes and megabytes, its columns the costs that are
    estimated.
    """
    load, controls = tls_load(grid, prewhitening), known_controls(grid)
    tls = grid.tls @ basis
    if grid.stack_us is None or grid.tls_spaces_us is None:
        return LparAttribution(fit_spaces(prewhitening, tls, controls, grid.cpu_us).costs(basis), load)
    by_job, basis_by_job = full_by_job(grid, prewhitening, basis) if kinds_apart else (tls, basis)
    stack = fit_spaces(prewhitening, by_job, controls, grid.stack_us).costs(basis_by_job)
    own = dict(own_fits(grid, prewhitening, _recorded_jobs(grid)))
    jobs = _sum_of_jobs(grid, prewhitening, own, grid.tls_spaces_us - grid.stack_us)
    if jobs is None:
        jobs_us = grid.tls_spaces_us - grid.stack_us
        jobs = SumOfFits.of_one(fit_spaces(prewhitening, tls, controls, jobs_us).costs(basis))
    return SpacesAttribution(stack, jobs, load, kinds_apart, own)


def _recorded_jobs(grid: Grid) -> list[int]:
    """Return the larger jobs of which the CPU time is known in each step."""
    if grid.jobs is None:
        return []
    recorded = np.isfinite(grid.jobs[:, :, CPU]).all(axis=0)
    return [int(at) for at in np.flatnonzero(recorded & (grid.shares_of_jobs >= LEAST_SHARE_OF_JOB))]


def _sum_of_jobs(
    grid: Grid, prewhitening: Prewhitening, own: Mapping[int, OwnFit], jobs_us: Numbers
) -> SumOfFits | None:
    """Return the regressions of the larger jobs, and one of the others together; None if there are none."""
    if not own:
        return None
    fits = [fit.spaces for fit in own.values()]
    amounts = [fit.grid.tls for fit in own.values()]
    others = of_others(grid, own.values())
    if others.any():
        basis, _ = separate_costs(prewhitening, others)
        if basis is None:
            return None
        of_own_us = sum(fit.grid.tls_spaces_us for fit in own.values() if fit.grid.tls_spaces_us is not None)
        rest = fit_spaces(prewhitening, others @ basis, known_controls(grid), jobs_us - of_own_us)
        fits.append(rest.costs(basis))
        amounts.append(others)
    rates = grid.mean(grid.tls)
    shares = (grid.mean(amount) / np.where(rates > 0, rates, 1) for amount in amounts)
    return SumOfFits(tuple(fits), tuple(shares))


def tls_load(grid: Grid, prewhitening: Prewhitening) -> TlsLoad:
    """Return how much the connections with TLS do, and how much that varies."""
    return TlsLoad(grid.mean(grid.tls), float(prewhitening.all_effects(grid.full + grid.resumed).std()))
