"""The regression: its degrees of freedom, and the width of an interval that follows from them."""

from __future__ import annotations

import numpy as np
import pytest

from zscope.pipelines.estimate.regression import Prewhitening, regress
from zscope.pipelines.estimate.student_distribution import student

STEPS_OF_DAY = 96


@pytest.mark.parametrize(("days", "blocks"), [(3, 12), (14, 14)])
def test_freedom_is_the_number_of_blocks_less_the_coefficients(days: int, blocks: int) -> None:
    random = np.random.default_rng(1)
    step = np.arange(days * STEPS_OF_DAY)
    columns = random.uniform(1, 2, (len(step), 2))
    cpu_us = columns @ np.array([100.0, 10.0]) + random.normal(0, 1, len(step))
    regression = regress(Prewhitening(step, STEPS_OF_DAY, columns[:, 0]), columns, cpu_us)
    assert regression.freedom == blocks - 2
    half = student(0.975, blocks - 2) * regression.error(np.array([1.0, 0.0]))
    found = regression.estimate(np.array([1.0, 0.0]))
    assert (found.high - found.value, found.value - found.low) == pytest.approx((half, half))
