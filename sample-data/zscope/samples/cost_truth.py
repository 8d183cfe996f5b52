"""Worlds with known costs of TLS: intervals of handshakes, megabytes, CPU time of TLS and of other work.

They exist to test the estimate of the TLS CPU cost. All worlds have the same costs; they differ in how the
other work of a system is related to its handshakes. Sizes of other work and noise are in units of the
standard deviation of the CPU time of TLS.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zscope.samples.simulated_series import (
    DAY,
    INTERVAL_S,
    MONDAY,
    Series,
    autoregressive,
    disturbances,
    standardized,
)

FULL_US, RESUMED_US, MB_US = 1000.0, 300.0, 2000.0
"""What a full handshake, a resumed one and a megabyte cost."""
BASE_US = 300_000.0
"""Constant CPU time of other work per second."""
_LOAD_SD, _BYTES_SD = 0.3, 0.3
_MB_PER_HANDSHAKE = 0.05
_MEAN_LOGIT = 0.4


@dataclass(frozen=True)
class CostWorld:
    """The parameters of a world."""

    days: int = 14
    load_ar: float = 0.8
    """Autocorrelation of the load, the mix and the bytes of a handshake at lag 1."""
    noise_ar: float = 0.8
    white: float = 0.0
    """Share of the variance of the noise that is not autocorrelated."""
    noise: float = 1.0
    curve: float = 0.0
    """Standard deviation of the daily curve of the logarithm of the load."""
    weekend: float = 0.0
    """How much lower the logarithm of the load is at weekends."""
    other: float = 0.0
    """Size of other work with a daily curve."""
    curve_correlation: float = 0.0
    """Correlation of that curve with the one of the load."""
    height_sd: float = 0.0
    """Standard deviation of the height of both curves from day to day."""
    shock: float = 0.0
    """Size of other work that is correlated with the random part of the load."""
    shock_correlation: float = 0.0
    bend: float = 0.0
    """How much that work also grows with the square of the load."""
    rate: float = 40.0
    """Handshakes per second."""
    mix_sd: float = 0.5
    """Standard deviation of the logit of the resumed share."""
    mix_follows_load: float = 0.0
    shifts: int = 0
    """Changes of the level by twice the standard deviation of the CPU time of TLS."""
    batch: float = 0.0
    """Size of a batch window in most nights."""
    spikes: float = 0.0
    """Share of intervals with spikes."""
    early: float = 0.0
    """Share of the handshakes that are counted in the interval before."""
    limit: float = 1.0
    """Quantile of the CPU time at which the system has its limit."""
    full_us: float = FULL_US


@dataclass(frozen=True)
class CostIntervals:
    """Intervals of a number of replicates of a world; rates per second."""

    full: Series
    resumed: Series
    mb: Series
    tls_us: Series
    """CPU time of TLS."""
    other_us: Series
    """CPU time of all other work."""
    busy: Series
    """CPU time as a share of the capacity of the system."""
    truth: tuple[float, float, float]
    """What a full handshake, a resumed one and a megabyte cost, in microseconds."""

    @property
    def cpu_us(self) -> Series:
        """CPU time of the system."""
        return self.tls_us + self.other_us

    def measured(self, replicate: int, other_share: float | None = None) -> dict[str, Any]:
        """Return the intervals of one replicate with the names of the step cost_interval.

        With `other_share`, the CPU time of address spaces with TLS is known: that of TLS is in the stack, and
        this share of the other work in the servers.
        """
        count = self.full.shape[1]
        tls_us, other_us = self.tls_us[replicate], self.other_us[replicate]
        return {
            "start_local": MONDAY + np.arange(count) * np.timedelta64(INTERVAL_S, "s"),
            "seconds": np.full(count, float(INTERVAL_S)),
            "cpu_s": (tls_us + other_us) * INTERVAL_S / 1e6,
            "full_handshakes": self.full[replicate] * INTERVAL_S,
            "resumed_handshakes": self.resumed[replicate] * INTERVAL_S,
            "tls_mb": self.mb[replicate] * INTERVAL_S,
            "tls_spaces_cpu_s": None
            if other_share is None
            else (tls_us + other_share * other_us) * INTERVAL_S / 1e6,
            "stack_cpu_s": None if other_share is None else tls_us * INTERVAL_S / 1e6,
            "busy_share": self.busy[replicate],
        }


_OFFICE = CostWorld(curve=0.5)
_CORRELATED = replace(_OFFICE, other=1, curve_correlation=0.5)
_SHOCK = replace(_CORRELATED, shock=1, shock_correlation=0.95)
WORLDS = {
    "iid": CostWorld(load_ar=0, noise_ar=0),
    "AR 0.8": CostWorld(),
    "AR 0.95": CostWorld(load_ar=0.95, noise_ar=0.95),
    "AR 0.95 + white": CostWorld(noise_ar=0.95, white=0.5),
    "curve, r 0": replace(_OFFICE, other=1),
    "curve, r 0.5": _CORRELATED,
    "curve, r 0.95": replace(_OFFICE, other=1, curve_correlation=0.95),
    "curve, 3 times": replace(_OFFICE, other=3, curve_correlation=0.95),
    "curve, weekends": replace(_OFFICE, other=1, curve_correlation=0.95, weekend=1),
    "curve, day height": replace(_OFFICE, other=3, curve_correlation=0.95, height_sd=0.15, weekend=1),
    "level shifts": replace(_CORRELATED, shifts=4),
    "batch and spikes": replace(_CORRELATED, batch=5, spikes=0.01),
    "few handshakes": replace(_CORRELATED, rate=0.05),
    "counted early": replace(_CORRELATED, early=0.05),
    "constant mix": replace(_CORRELATED, mix_sd=0.03),
    "shock, r 0.5": replace(_SHOCK, shock_correlation=0.5),
    "shock, r 0.95": _SHOCK,
    "shock, 3 times": replace(_SHOCK, shock=3),
    "shock, mix follows": replace(_SHOCK, mix_follows_load=0.5),
    "shock, bent": replace(_SHOCK, bend=0.5, mix_follows_load=0.5),
    "at the limit": replace(_CORRELATED, limit=0.9),
    "opposite, r -0.2": replace(_SHOCK, shock_correlation=-0.2),
    "opposite, r -0.5": replace(_SHOCK, shock_correlation=-0.5),
}


def cost_intervals(world: CostWorld, replicates: int, seed: int) -> CostIntervals:
    """Return the intervals of some replicates of a world, one in each row."""
    rng = np.random.default_rng(seed)
    count = world.days * DAY
    shape = (replicates, count)
    tls_curve, own_curve = _daily_curves(count)
    weekend = (np.arange(count) // DAY % 7 >= 5).astype(float)
    height = np.repeat(1 + world.height_sd * rng.standard_normal((replicates, world.days)), DAY, axis=1)

    random_load = autoregressive(rng, shape, world.load_ar)
    log_load = world.curve * tls_curve * height - world.weekend * weekend + _LOAD_SD * random_load
    handshakes = world.rate * np.exp(log_load - log_load.var() / 2)
    logit = _MEAN_LOGIT + world.mix_sd * autoregressive(rng, shape, world.load_ar)
    logit += world.mix_follows_load * standardized(log_load)
    resumed_share = 1 / (1 + np.exp(-logit))
    full = rng.poisson(handshakes * (1 - resumed_share) * INTERVAL_S) / INTERVAL_S
    resumed = rng.poisson(handshakes * resumed_share * INTERVAL_S) / INTERVAL_S
    size = np.exp(_BYTES_SD * autoregressive(rng, shape, world.load_ar))
    mb = _MB_PER_HANDSHAKE * size * (full + resumed)
    # Other work has the same size, whatever a handshake costs.
    unit = (FULL_US * full + RESUMED_US * resumed + MB_US * mb).std()

    persistent = autoregressive(rng, shape, world.noise_ar)
    noise = np.sqrt(1 - world.white) * persistent + np.sqrt(world.white) * rng.standard_normal(shape)
    own = autoregressive(rng, shape, world.noise_ar)
    on_curve = world.curve_correlation * (tls_curve * height - (2 * weekend if world.weekend else 0))
    on_curve += np.sqrt(1 - world.curve_correlation**2) * own_curve
    on_load = world.shock_correlation * (random_load + world.bend * (random_load**2 - 1))
    on_load += np.sqrt(1 - world.shock_correlation**2) * own
    other = BASE_US + unit * (world.noise * noise + world.other * on_curve + world.shock * on_load)
    other += unit * disturbances(rng, shape, shifts=world.shifts, batch=world.batch, spikes=world.spikes)

    tls = world.full_us * full + RESUMED_US * resumed + MB_US * mb
    most = np.quantile(tls + other, world.limit) if world.limit < 1 else 2 * (tls + other).max()
    other = np.minimum(tls + other, most) - tls
    if world.early:
        full, resumed = (
            (1 - world.early) * rate + world.early * np.roll(rate, -1, axis=1) for rate in (full, resumed)
        )
    return CostIntervals(
        full, resumed, mb, tls, other, (tls + other) / most, (world.full_us, RESUMED_US, MB_US)
    )


def _daily_curves(count: int) -> tuple[Series, Series]:
    """Return the daily curve of an office with its steep ramps, and one that is not correlated with it."""
    hour = np.arange(count) % DAY * 24 / DAY
    working = 1 / (1 + np.exp(-(hour - 8) / 0.4)) - 1 / (1 + np.exp(-(hour - 17.5) / 0.7))
    office = working - 0.25 * np.exp(-(((hour - 12.5) / 0.6) ** 2)) + 0.1 * np.sin(2 * np.pi * hour / 24)
    office = standardized(office)
    night = (
        np.exp(-(((hour - 1.5) / 1.2) ** 2)) + 0.7 * np.exp(-(((hour - 20) / 1.5) ** 2)) + 0.3 * (hour > 22)
    )
    night = standardized(night)
    return office, standardized(night - (night * office).mean() * office)
