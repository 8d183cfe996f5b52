"""How much of the CPU time that moves with TLS is TLS alone: a range, and a value on a condition.

A regression shows what moves with TLS. In the address space of a server that is TLS and whatever the server
does for a connection, and no statistics of ordinary intervals separate the two. What they do show:

- The address spaces of the TCP/IP stacks run no application. What moves there with handshakes, less the
  set-up of a connection as connections without TLS show it, is TLS: a lower end. So is what a full handshake
  costs more there than a resumed one.
- What moves in all address spaces with TLS, or in the whole LPAR, is an upper end, unless other work falls
  when handshakes rise.
- If handshakes are charged to the stack, what they cost there is a value, on that condition. The same is true
  of bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from zscope.pipelines.estimate.intervals import FEWEST_WITH, LEAST_SHARE_OF_JOB
from zscope.pipelines.estimate.regression import Prewhitening, is_collinear, regress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zscope.pipelines.estimate.intervals import Grid, Numbers
    from zscope.pipelines.estimate.regression import Regression, WeightedSum

FULL, RESUMED, MB = range(3)
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
_FEWEST_PLAIN = 5 / 900
"""Mean number per second from which connections without TLS are a column: five in 15 minutes."""
_ROUNDING = 1e-9
_HANDSHAKES, _BYTES = np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])


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
    jobs: SpaceFit
    load: TlsLoad
    kinds_apart: bool
    """Whether full and resumed handshakes have costs of their own."""

    def ends(self, weights: Numbers, upper: float = 0.975) -> tuple[float, float]:
        """Return the lower and the upper end of a weighted sum of costs."""
        noise = self.stack.regression.noise
        less = self.load.given_way(noise, GIVES_WAY_IN_SPACES, weights)
        more = self.load.given_way(noise + self.jobs.regression.noise, GIVES_WAY_IN_SPACES, weights)
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
    jobs_us = grid.tls_spaces_us - grid.stack_us
    by_job, basis_by_job = _full_by_job(grid, prewhitening, basis) if kinds_apart else (tls, basis)
    return SpacesAttribution(
        fit_spaces(prewhitening, by_job, controls, grid.stack_us).costs(basis_by_job),
        fit_spaces(prewhitening, tls, controls, jobs_us).costs(basis),
        load,
        kinds_apart,
    )


def _full_by_job(grid: Grid, prewhitening: Prewhitening, basis: Numbers) -> tuple[Numbers, Numbers]:
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
    full = full[:, np.count_nonzero(full > _ROUNDING * full.max(), axis=0) >= FEWEST_WITH]
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


def tls_load(grid: Grid, prewhitening: Prewhitening) -> TlsLoad:
    """Return how much the connections with TLS do, and how much that varies."""
    return TlsLoad(grid.mean(grid.tls), float(prewhitening.all_effects(grid.full + grid.resumed).std()))


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
