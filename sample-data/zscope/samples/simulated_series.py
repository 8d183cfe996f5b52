"""The series by interval of which simulated worlds consist: their time, random loads and noise."""

from __future__ import annotations

from typing import Any

import numpy as np

Series = np.ndarray[Any, np.dtype[np.float64]]

MONDAY = np.datetime64("2026-03-02T00:00:00")
"""Start of the first interval."""
INTERVAL_S = 900
DAY = 86_400 // INTERVAL_S
"""Intervals of a day."""
_WARM_UP = 200
_NEGLIGIBLE = 1e-20
_STEP, _SPIKE = 2.0, 10.0


def autoregressive(random: np.random.Generator, shape: tuple[int, ...], coefficient: float) -> Series:
    """Return series of order 1 and variance 1; the last number of the shape is their length.

    After a step of the loop, each value contains the innovations of twice as many intervals before it, each
    with its power of the coefficient. So few steps replace a loop over all intervals.
    """
    *replicates, count = shape
    values = random.standard_normal((count + _WARM_UP, *replicates)) * np.sqrt(1 - coefficient**2)
    power, lag = coefficient, 1
    while abs(power) > _NEGLIGIBLE and lag < len(values):
        values[lag:] += power * values[:-lag]
        power, lag = power * power, 2 * lag
    return np.ascontiguousarray(values[_WARM_UP:].T)


def disturbances(
    random: np.random.Generator,
    shape: tuple[int, int],
    *,
    shifts: int = 0,
    batch: float = 0.0,
    spikes: float = 0.0,
) -> Series:
    """Return work that is not regular, of replicates of whole days.

    These are a number of shifts of the level, a batch window of this size in most nights, and spikes in this
    share of the intervals.
    """
    replicates, count = shape
    extra = np.zeros(shape)
    if shifts:
        at = random.integers(count // 10, count - count // 10, (replicates, shifts))
        step = _STEP * random.choice([-1, 1], (replicates, shifts))
        extra += (step[:, :, None] * (np.arange(count) >= at[:, :, None])).sum(axis=1)
    if batch:
        nights = (replicates, count // DAY)
        size = batch * (random.random(nights) < 0.6) * random.lognormal(0, 0.5, nights)
        hour = np.arange(count) % DAY * 24 / DAY
        extra += np.repeat(size, DAY, axis=1) * ((hour >= 1) & (hour < 2.5))
    if spikes:
        extra += _SPIKE * (random.random(shape) < spikes)
    return extra


def standardized(values: Series) -> Series:
    """Return values with a mean of 0 and a standard deviation of 1, along the last axis."""
    centered = values - values.mean(axis=-1, keepdims=True)
    return np.asarray(centered / values.std(axis=-1, keepdims=True))
