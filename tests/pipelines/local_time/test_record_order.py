"""The passes of a span do not depend on how the records are dealt out, only on their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zscope.pipelines.local_time.record_order import Passes

if TYPE_CHECKING:
    from collections.abc import Sequence

MINUTE_US = 60_000_000
HOUR_US = 60 * MINUTE_US


def passes_of(minutes: Sequence[float], size: int) -> tuple[list[int], tuple[int, int]]:
    """The passes of records, observed so many at a time, around a span that begins at zero."""
    passes = observed(minutes, size)
    unknown = passes.unknown()
    return passes.of(np.arange(1, len(minutes) + 1)).tolist(), unknown


def observed(minutes: Sequence[float], size: int) -> Passes:
    times = np.array([int(minute * MINUTE_US) for minute in minutes], np.int64)
    numbers = np.arange(1, len(times) + 1)
    passes = Passes(0, HOUR_US)
    for begin in range(0, len(times), size):
        passes.observe(numbers[begin : begin + size], times[begin : begin + size])
    return passes


@given(
    st.lists(
        st.floats(-90, 119) | st.sampled_from([-1.0, 0.0, 30.0, 55.0, 59.0, 60.0]), min_size=1, max_size=60
    ),
    st.integers(1, 60),
)
def test_passes_do_not_depend_on_the_split_into_windows(minutes: list[float], size: int) -> None:
    assert passes_of(minutes, size) == passes_of(minutes, 1)
    assert observed(minutes, size).not_set_back == observed(minutes, 1).not_set_back


def test_a_late_record_alone_in_its_window() -> None:
    together = [-10.0, 30.0, 59.0, 1.0, 2.0, 58.0, 3.0]
    assert passes_of(together, 1)[0] == passes_of(together, 7)[0] == [1, 1, 1, 2, 2, 1, 2]


@pytest.mark.parametrize(("minute", "passes"), [(57.5, [1, 1, 2, 1]), (56.5, [1, 1, 2, 2])])
def test_a_record_of_the_first_pass_is_late_by_five_minutes_at_most(minute: float, passes: list[int]) -> None:
    # The clock was set back two minutes before: 57.5 is 4.5 minutes late, 56.5 would be 5.5 minutes late.
    assert passes_of([-10.0, 59.0, 2.0, minute], 1)[0] == passes
    assert passes_of([-10.0, 59.0, 2.0, minute], 4)[0] == passes


def test_records_only_inside_the_hour_are_counted() -> None:
    assert passes_of([10, 20, 30], 3) == ([0, 0, 0], (3, 1))


def test_second_dump_that_begins_before_the_hour() -> None:
    assert passes_of([-10, 50, 10, 50, 80, -10, 20, 40], 8)[0] == [1, 1, 2, 2, 2, 1, 1, 1]


def test_second_dump_that_begins_inside_the_hour() -> None:
    begun_again = [-10, 50, 10, 50, 80, 20, 40]
    assert passes_of(begun_again, 7) == ([1, 1, 2, 2, 2, 0, 0], (2, 6))
    assert passes_of([*begun_again, 2], 8)[0] == [1, 1, 2, 2, 2, 1, 1, 2]
    assert passes_of([*begun_again, 59, 61], 9)[0] == [1, 1, 2, 2, 2, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("minutes", "told"),
    [
        ([-10, 10, 30, 50, 70, 90], True),
        # Set back five minutes late.
        ([-10, 10, 30, 50, 64, 5, 20, 40, 60, 90], False),
        # Nothing was written for longer than the second pass lasts.
        ([-10, 10, 70, 90], False),
        ([-10, 90], False),
        # The dump ends before anything can be said.
        ([-10, 10, 30, 50, 70, 85], False),
    ],
)
def test_clock_not_set_back_differs_from_a_system_without_records(minutes: list[int], told: bool) -> None:
    assert observed(minutes, len(minutes)).not_set_back is told
