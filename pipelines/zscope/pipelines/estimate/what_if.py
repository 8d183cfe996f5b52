"""The price of TLS with other numbers of handshakes and bytes: its estimate with a range.

A price is the sum of its parts, each proportional to a number of handshakes or megabytes. The bounds of the
parts cannot be added: estimates from the same data are correlated, usually negatively. The correlation is
computed from the ranges of the two parts and of their sum, for lower and upper bounds separately.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True, slots=True)
class PriceRange:
    """CPU time of a part of the price, or of all of it."""

    value: float | None
    """The estimate; None if only the range is known."""
    low: float
    high: float

    def times(self, factor: float) -> PriceRange:
        """Return the price of this many times the handshakes or bytes."""
        value = None if self.value is None else self.value * factor
        return PriceRange(value, self.low * factor, self.high * factor)

    @property
    def below(self) -> float:
        """The distance from the lower bound to the estimate."""
        return 0.0 if self.value is None else self.value - self.low

    @property
    def above(self) -> float:
        """The distance from the estimate to the upper bound."""
        return 0.0 if self.value is None else self.high - self.value


@dataclass(frozen=True, slots=True)
class KnownSum:
    """Two parts and their sum as they were estimated."""

    first: PriceRange
    second: PriceRange
    both: PriceRange

    def added(self, first: PriceRange, second: PriceRange) -> PriceRange:
        """Return the sum of other amounts of the two parts, with the correlation of the known ones."""
        if self.both.value is None or first.value is None or second.value is None:
            return PriceRange(
                None,
                _in_proportion(first.low + second.low, self.both.low, self.first.low + self.second.low),
                _in_proportion(first.high + second.high, self.both.high, self.first.high + self.second.high),
            )
        value = first.value + second.value
        known = (self.first, self.second, self.both)
        below = _distance(first.below, second.below, _correlation(*(each.below for each in known)))
        above = _distance(first.above, second.above, _correlation(*(each.above for each in known)))
        return PriceRange(value, max(0.0, value - below), value + above)


def _in_proportion(added: float, known: float, parts: float) -> float:
    return added * known / parts if parts else 0.0


def _correlation(first: float, second: float, both: float) -> float:
    """Return the correlation of two errors of these sizes whose sum has the size `both`."""
    if not first or not second:
        return 0.0
    return max(-1.0, min(1.0, (both**2 - first**2 - second**2) / (2 * first * second)))


def _distance(first: float, second: float, correlation: float) -> float:
    """Return the size of the sum of two errors with a correlation."""
    return sqrt(max(0.0, first**2 + second**2 + 2 * correlation * first * second))
