"""The price with other numbers of handshakes and bytes, computed by hand."""

from __future__ import annotations

from itertools import product

import pytest

from zscope.pipelines.estimate.what_if import PriceRange, changed_price

FULL, RESUMED, HANDSHAKES, BULK = "full handshakes", "resumed handshakes", "handshakes", "bulk data"
# The sums are known better than their parts.
PARTS = {
    FULL: PriceRange(20, 10, 30), RESUMED: PriceRange(10, 0, 25), HANDSHAKES: PriceRange(30, 24, 36),
    BULK: PriceRange(10, 2, 20), "TLS": PriceRange(40, 32, 46),
}  # fmt: skip
ONLY_RANGES = {name: PriceRange(None, each.low, each.high) for name, each in PARTS.items()}
WITHOUT_KINDS = {name: PARTS[name] for name in (HANDSHAKES, BULK, "TLS")}


@pytest.mark.parametrize("parts", [PARTS, ONLY_RANGES, WITHOUT_KINDS])
@pytest.mark.parametrize("factor", [0.0, 1.0, 2.5])
def test_as_much_of_everything_is_as_much_of_the_price(parts: dict[str, PriceRange], factor: float) -> None:
    today = parts["TLS"]
    value = None if today.value is None else factor * today.value
    assert changed_price(parts, factor, factor, factor) == PriceRange(
        value, factor * today.low, factor * today.high
    )


@pytest.mark.parametrize(
    ("factors", "low", "value", "high"),
    [
        # Of the parts 10 + 0 + 0, of the handshakes 0 x 24, of TLS nothing; 30 + 0 + 0, 1 x 36, 1 x 46.
        ((1, 0, 0), 10, 20, 30),
        # 0 + 0 + 2; 0 + 25 + 20, 1 x 36 + 20, 1 x 46.
        ((0, 1, 1), 2, 20, 45),
        # 10 + 0 + 4, 24 + 2 x 2, 1 x 32; 30 + 25 + 40, 36 + 40, 2 x 46.
        ((1, 1, 2), 32, 50, 76),
        # 20 + 0 + 2, 24 + 2, 1 x 32; 60 + 25 + 20, 2 x 36 + 20, 2 x 46.
        ((2, 1, 1), 32, 60, 92),
    ],
)
def test_the_narrowest_bounds_count(
    factors: tuple[float, float, float], low: float, value: float, high: float
) -> None:
    assert changed_price(PARTS, *factors) == PriceRange(value, low, high)
    assert changed_price(ONLY_RANGES, *factors) == PriceRange(None, low, high)


def test_a_part_that_is_known_better_does_not_change_the_price_of_today() -> None:
    parts = PARTS | {FULL: PriceRange(36, 35, 40)}
    assert changed_price(parts, 1, 1, 1) == PARTS["TLS"]
    assert changed_price(parts, 1, 1, 2).low == 35 + 4


def test_every_price_within_the_ranges_of_today_is_within_the_range_then() -> None:
    within = [
        (full, resumed, bulk)
        for full, resumed, bulk in product(range(10, 31), range(26), range(2, 21))
        if 24 <= full + resumed <= 36 and 32 <= full + resumed + bulk <= 46
    ]
    assert len(within) > 1_000
    for factors in product((0.0, 0.5, 1.0, 3.0), repeat=3):
        then = changed_price(PARTS, *factors)
        prices = [sum(f * s for f, s in zip(factors, each, strict=True)) for each in within]
        assert then.low <= min(prices)
        assert max(prices) <= then.high


def test_without_prices_of_full_and_resumed_handshakes_both_have_one_factor() -> None:
    assert changed_price(WITHOUT_KINDS, 2, 2, 1) == PriceRange(70, 50, 92)
    one_value = WITHOUT_KINDS | {HANDSHAKES: PriceRange(None, 24, 36)}
    assert changed_price(one_value, 2, 2, 1).value is None
