"""The price with other numbers of handshakes and bytes, computed by hand."""

from __future__ import annotations

import pytest

from zscope.pipelines.estimate.what_if import KnownSum, PriceRange

# Errors of 3 and 4 with a sum of 5 are uncorrelated.
UNCORRELATED = KnownSum(PriceRange(10, 7, 13), PriceRange(20, 16, 24), PriceRange(30, 25, 35))
# With a correlation of -1, errors of 4 and 4 cancel out.
NEGATIVE = KnownSum(PriceRange(10, 6, 14), PriceRange(20, 16, 24), PriceRange(30, 30, 30))
ONLY_RANGES = KnownSum(PriceRange(None, 0, 6), PriceRange(None, 2, 6), PriceRange(None, 1, 10))


@pytest.mark.parametrize("known", [UNCORRELATED, NEGATIVE, ONLY_RANGES])
def test_the_same_amounts_give_the_known_sum(known: KnownSum) -> None:
    added = known.added(known.first, known.second)
    assert added.value == known.both.value
    assert (added.low, added.high) == pytest.approx((known.both.low, known.both.high))


def test_one_part_alone_has_its_own_range() -> None:
    alone = UNCORRELATED.added(UNCORRELATED.first.times(2), UNCORRELATED.second.times(0))
    assert alone == PriceRange(20, 14, 26)


def test_negatively_correlated_errors_cancel_out_only_in_the_known_proportion() -> None:
    assert NEGATIVE.added(NEGATIVE.first.times(3), NEGATIVE.second) == PriceRange(50, 42, 58)


def test_a_price_is_never_below_zero() -> None:
    wide = KnownSum(PriceRange(1, 0, 9), PriceRange(1, 0, 9), PriceRange(2, 0, 18))
    assert wide.added(wide.first, wide.second.times(2)).low == 0


def test_ranges_without_an_estimate_grow_in_proportion() -> None:
    assert ONLY_RANGES.added(ONLY_RANGES.first.times(2), ONLY_RANGES.second.times(2)) == PriceRange(
        None, 2, 20
    )
