"""Time effects: the level of each day, and the daily curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from zscope.pipelines.estimate.intervals import Numbers, Whole

HARMONICS, MANY_HARMONICS = 12, 24
"""Number of harmonics of 24 hours: down to a period of two hours, or of one hour if there are many days."""
MANY_DAYS = 28
"""From here on, what 12 harmonics leave of the daily curve would be larger than the standard error."""
WEEK_DAYS = 7
_SHORT_DAYS = 1.5
_NEARLY_ZERO = 1e-9


def is_short(step: Whole, steps_of_day: int) -> bool:
    """Return whether the steps cover about one day: a daily curve cannot be estimated from it."""
    return bool(step[-1] - step[0] < _SHORT_DAYS * steps_of_day)


class TimeEffects:
    """Removes the level of each day and the daily curve from columns.

    The level of each calendar day includes weekdays, growth, and changes of the system from one day to the
    next. There is one daily curve, or one for workdays and one for weekends if there is a week of data. With
    `profile`, the daily curve of the load, its height on each day is removed as well: on a busy day other
    work has a higher curve too. From about one day, a cubic curve is removed instead.
    """

    def __init__(self, step: Whole, steps_of_day: int, profile: Numbers | None = None) -> None:
        day = step // steps_of_day
        self._profile: Numbers | None = None
        if is_short(step, steps_of_day):
            self._starts = np.zeros(1, np.int64)
            time = 2 * (step - step[0]) / max(int(step[-1] - step[0]), 1) - 1
            curves = np.stack([time, time**2, time**3], axis=1)
        else:
            self._starts = np.flatnonzero(np.diff(day, prepend=-1))
            number = MANY_HARMONICS if len(self._starts) >= MANY_DAYS else HARMONICS
            curves = _harmonics(step, steps_of_day, number)
            weekend = day % WEEK_DAYS >= 5
            if len(self._starts) >= WEEK_DAYS and weekend.any() and not weekend.all():
                curves = np.concatenate([curves * weekend[:, None], curves * ~weekend[:, None]], axis=1)
        self._sizes = np.diff(self._starts, append=len(step))
        self.count = len(self._starts)
        """Number of parameters of the time effects."""
        if profile is not None and len(self._starts) > 1:
            self._profile = self._unit_length(self._without_days(profile))
            self.count *= 2
        curves = self._without_days(curves)
        values, vectors = np.linalg.eigh(curves.T @ curves)
        kept = values > _NEARLY_ZERO * values[-1]
        self._curves = curves @ (vectors[:, kept] / np.sqrt(values[kept]))
        self.count += int(kept.sum())

    def __call__(self, columns: Numbers) -> Numbers:
        """Return one or several columns without time effects."""
        residuals = self._without_days(columns)
        return np.asarray(residuals - self._curves @ (self._curves.T @ residuals))

    def _without_days(self, columns: Numbers) -> Numbers:
        """Return columns without the level of each day and without the height of the profile."""
        wide = columns.ndim > 1
        sizes = self._sizes[:, None] if wide else self._sizes
        residuals = columns - self._repeat(np.add.reduceat(columns, self._starts) / sizes)
        if self._profile is not None:
            profile = self._profile[:, None] if wide else self._profile
            heights = np.add.reduceat(residuals * profile, self._starts)
            residuals = residuals - profile * self._repeat(heights)
        return np.asarray(residuals)

    def _unit_length(self, profile: Numbers) -> Numbers:
        length = self._repeat(np.sqrt(np.add.reduceat(profile**2, self._starts)))
        return np.divide(profile, length, out=np.zeros_like(profile), where=length > _NEARLY_ZERO)

    def _repeat(self, of_days: Numbers) -> Numbers:
        """Return the value of each step from those of the days."""
        return np.repeat(of_days, self._sizes, axis=0)


def _harmonics(step: Whole, steps_of_day: int, number: int) -> Numbers:
    most = min(number, steps_of_day // 2 - 1)
    angle = 2 * np.pi * np.outer(np.arange(steps_of_day), np.arange(1, most + 1)) / steps_of_day
    waves = np.concatenate([np.cos(angle), np.sin(angle)], axis=1)
    return np.asarray(waves[step % steps_of_day])
