"""The TLS CPU cost with other numbers of handshakes and bytes: its estimate with a range.

A price is the sum of its parts, each proportional to a number of handshakes or megabytes. The parts and their
sums have ranges that do not follow from each other: the range of a sum is usually narrower than the sum of
the ranges. Each gives bounds of the changed price: the parts, each times its factor, and a sum, times the
least and the greatest factor of its parts. The narrowest of these bounds count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FULL, _RESUMED, _HANDSHAKES, _BULK = "full handshakes", "resumed handshakes", "handshakes", "bulk data"
_PARTS_OF = {_HANDSHAKES: (_FULL, _RESUMED), "TLS": (_FULL, _RESUMED, _BULK)}
_SUMS = ((_FULL, _RESUMED, _BULK), (_HANDSHAKES, _BULK), ("TLS",))
"""Parts of `tls_price` that make up the whole price."""


@dataclass(frozen=True, slots=True)
class PriceRange:
    """CPU time of a part of the price, or of all of it."""

    value: float | None
    """The estimate; None if only the range is known."""
    low: float
    high: float


def changed_price(parts: Mapping[str, PriceRange], full: float, resumed: float, bulk: float) -> PriceRange:
    """Return the price with these multiples of full handshakes, resumed ones and bulk data.

    `parts` are parts of `tls_price`. Without full and resumed handshakes among them, both have one factor.
    """
    factors = {_FULL: full, _RESUMED: resumed, _BULK: bulk}
    values, lows, highs = [], [], []
    # Bounds of a part can be narrower than those of the whole, which stay those of today if nothing changes.
    for names in _SUMS if len({*factors.values()}) > 1 else _SUMS[-1:]:
        if not parts.keys() >= {*names}:
            continue
        known = [(parts[name], [factors[part] for part in _PARTS_OF.get(name, (name,))]) for name in names]
        lows.append(sum(part.low * min(of_part) for part, of_part in known))
        highs.append(sum(part.high * max(of_part) for part, of_part in known))
        values.append(_sum_of_values(known))
    # The parts of the whole price add up, so any sum of which all values are known is the value.
    value = next((each for each in values if each is not None), None)
    return PriceRange(value, max(lows), min(highs))


def _sum_of_values(known: Sequence[tuple[PriceRange, Sequence[float]]]) -> float | None:
    """The sum of the values, each with its factor; None if one is not known, or has several factors."""
    values = [part.value * factors[0] for part, factors in known if part.value is not None]
    return sum(values) if len(values) == len(known) and all(len({*each}) == 1 for _, each in known) else None
