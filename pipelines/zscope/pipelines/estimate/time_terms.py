"""What the calendar explains: the level of each day, and the daily curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from zscope.pipelines.estimate.intervals import Numbers, Whole

HARMONICS, MANY_HARMONICS = 12, 24
"""Sines and cosines of 24 hours and its fractions: down to two hours, or to one if there are many days."""
MANY_DAYS = 28
"""From so many days on there is little noise left to hide a small error."""
WEEK_DAYS = 7
_SHORT = 1.5
_ALIKE = 1e-9


def is_short(step: Whole, steps_of_day: int) -> bool:
    """Return whether the steps are about one day: there is no daily curve, as nothing repeats."""
    return bool(step[-1] - step[0] < _SHORT * steps_of_day)


class TimeTerms:
    """Removes from columns what the calendar explains: the level of each day and the daily curve.

    The level of each calendar day takes in weekdays, growth, and changes of the system from one day to the
    next. The daily curve is one for workdays and one for weekends, if a week was seen. With `profile`, the
    usual course of the load over the day, each day also has a height of its own: on a busy day other work has
    a higher curve too. Of a single day, a cubic curve is removed instead.
    """

    def __init__(self, step: Whole, steps_of_day: int, profile: Numbers | None = None) -> None:
        day = step // steps_of_day
        self._profile: Numbers | None = None
        if is_short(step, steps_of_day):
            self._starts = np.zeros(1, np.int64)
            place = 2 * (step - step[0]) / max(int(step[-1] - step[0]), 1) - 1
            curves = np.stack([place, place**2, place**3], axis=1)
        else:
            self._starts = np.flatnonzero(np.diff(day, prepend=-1))
            number = MANY_HARMONICS if len(self._starts) >= MANY_DAYS else HARMONICS
            curves = _harmonics(step, steps_of_day, number)
            weekend = day % WEEK_DAYS >= 5
            if len(self._starts) >= WEEK_DAYS and weekend.any() and not weekend.all():
                curves = np.concatenate([curves * weekend[:, None], curves * ~weekend[:, None]], axis=1)
        self._sizes = np.diff(self._starts, append=len(step))
        self.count = len(self._starts)
        """Number of terms that are removed."""
        if profile is not None and len(self._starts) > 1:
            self._profile = self._unit_length(self._without_days(profile))
            self.count *= 2
        curves = self._without_days(curves)
        vectors, values, _ = np.linalg.svd(curves.T @ curves)
        kept = values > _ALIKE * values[0]
        self._curves = curves @ (vectors[:, kept] / np.sqrt(values[kept]))
        self.count += int(kept.sum())

    def __call__(self, columns: Numbers) -> Numbers:
        """Return what is left of one or several columns."""
        left = self._without_days(columns)
        return np.asarray(left - self._curves @ (self._curves.T @ left))

    def _without_days(self, columns: Numbers) -> Numbers:
        """Return columns less the level of each day, and less the profile at its height."""
        wide = columns.ndim > 1
        sizes = self._sizes[:, None] if wide else self._sizes
        left = columns - self._of_rows(np.add.reduceat(columns, self._starts) / sizes)
        if self._profile is not None:
            profile = self._profile[:, None] if wide else self._profile
            left = left - profile * self._of_rows(np.add.reduceat(left * profile, self._starts))
        return np.asarray(left)

    def _unit_length(self, profile: Numbers) -> Numbers:
        length = self._of_rows(np.sqrt(np.add.reduceat(profile**2, self._starts)))
        return np.divide(profile, length, out=np.zeros_like(profile), where=length > _ALIKE)

    def _of_rows(self, of_days: Numbers) -> Numbers:
        return np.repeat(of_days, self._sizes, axis=0)


def _harmonics(step: Whole, steps_of_day: int, number: int) -> Numbers:
    most = min(number, steps_of_day // 2 - 1)
    angle = 2 * np.pi * np.outer(np.arange(steps_of_day), np.arange(1, most + 1)) / steps_of_day
    waves = np.concatenate([np.cos(angle), np.sin(angle)], axis=1)
    return np.asarray(waves[step % steps_of_day])
