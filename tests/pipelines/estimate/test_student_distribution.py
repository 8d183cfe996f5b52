"""Quantiles of Student's t distribution, compared with exact formulas and published tables."""

from __future__ import annotations

from math import pi, sqrt, tan
from statistics import NormalDist

import pytest

from zscope.pipelines.estimate.student_distribution import (
    LEAST_QUANTILE,
    MOST_FREEDOM,
    MOST_QUANTILE,
    student,
)

QUANTILES = (0.8, 0.9, 0.95, 0.975, 0.99, 0.995)
PUBLISHED = {
    1: (1.37638, 3.07768, 6.31375, 12.7062, 31.8205, 63.6567),
    2: (1.06066, 1.88562, 2.91999, 4.30265, 6.96456, 9.92484),
    3: (0.97847, 1.63774, 2.35336, 3.18245, 4.54070, 5.84091),
    4: (0.94096, 1.53321, 2.13185, 2.77645, 3.74695, 4.60409),
    5: (0.91954, 1.47588, 2.01505, 2.57058, 3.36493, 4.03214),
    6: (0.90570, 1.43976, 1.94318, 2.44691, 3.14267, 3.70743),
    10: (0.87906, 1.37218, 1.81246, 2.22814, 2.76377, 3.16927),
    30: (0.85377, 1.31042, 1.69726, 2.04227, 2.45726, 2.75000),
    100: (0.84523, 1.29007, 1.66023, 1.98397, 2.36422, 2.62589),
}


@pytest.mark.parametrize("freedom", PUBLISHED)
def test_quantiles_are_those_of_published_tables(freedom: int) -> None:
    quantiles = [student(quantile, freedom) for quantile in QUANTILES]
    assert quantiles == pytest.approx(PUBLISHED[freedom], rel=1e-5)


@pytest.mark.parametrize("quantile", [LEAST_QUANTILE, 0.6, 0.8, 0.975, 0.995, MOST_QUANTILE])
def test_one_and_two_degrees_of_freedom_have_exact_formulas(quantile: float) -> None:
    upper = 2 * quantile - 1
    assert student(quantile, 1) == pytest.approx(tan(pi * upper / 2), rel=1e-6, abs=1e-12)
    assert student(quantile, 2) == pytest.approx(upper * sqrt(2 / (1 - upper**2)), rel=1e-6, abs=1e-12)


def test_many_degrees_of_freedom_are_the_normal_distribution() -> None:
    quantiles = [student(quantile, MOST_FREEDOM) for quantile in QUANTILES]
    assert quantiles == pytest.approx([NormalDist().inv_cdf(quantile) for quantile in QUANTILES], rel=1e-5)


def test_quantiles_decrease_with_the_degrees_of_freedom() -> None:
    """Welch's degrees of freedom are no whole numbers."""
    quantiles = [student(0.975, freedom / 4) for freedom in range(4, 60)]
    assert quantiles == sorted(quantiles, reverse=True)
    assert len(set(quantiles)) == len(quantiles)


@pytest.mark.parametrize(
    ("quantile", "freedom"),
    [(0.49, 5), (0.9996, 5), (0.975, 0.99), (0.975, 0), (0.975, 1.1e6), (0.975, float("nan"))],
)
def test_other_quantiles_and_degrees_of_freedom_are_refused(quantile: float, freedom: float) -> None:
    with pytest.raises(ValueError, match="not between"):
        student(quantile, freedom)
