"""The schedule of an experiment: its order, its times and its file."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from zscope.pipelines.experiment.arms import Arm
from zscope.pipelines.experiment.schedule import ScheduleError, draw, parse_schedule

START = datetime(2026, 12, 2, tzinfo=UTC)
LINE = '{{"arm": "full", "start_utc": "{}", "end_utc": "{}"}}'


def test_each_90_minutes_have_every_arm_once_in_random_order() -> None:
    slots = draw(START, 96, 1)
    blocks = [[slot.arm for slot in slots[first : first + 6]] for first in range(0, 96, 6)]
    assert all(Counter(block) == dict.fromkeys(Arm, 1) for block in blocks)
    assert len({tuple(block) for block in blocks}) > 10
    # No arm has the same place in all blocks.
    assert all(len(set(places)) > 2 for places in zip(*blocks, strict=True))


def test_test_connections_keep_ten_seconds_from_both_ends_of_a_quarter_hour() -> None:
    for number, slot in enumerate(draw(START, 96, 1)):
        begin = START + number * timedelta(minutes=15)
        assert slot.start == begin + timedelta(seconds=10)
        assert slot.end == begin + timedelta(minutes=14, seconds=50)


def test_the_seed_determines_the_order() -> None:
    assert draw(START, 96, 3) == draw(START, 96, 3) != draw(START, 96, 4)


def test_a_start_within_a_quarter_hour_is_refused() -> None:
    with pytest.raises(ScheduleError, match="00:05:00 UTC is not the start of a quarter hour"):
        draw(START + timedelta(minutes=5), 6, 1)


def test_times_of_a_file_can_have_any_offset() -> None:
    [slot] = parse_schedule(["", LINE.format("2026-12-02T01:00:10+01:00", "2026-12-02T01:14:50+01:00")])
    assert (slot.arm, slot.start, slot.end) == (
        Arm.FULL, START + timedelta(seconds=10), START + timedelta(minutes=14, seconds=50),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([], "the schedule is empty"),
        (["{"], "line 1: "),
        (['{"arm": "full"}'], "line 1: Object missing required field `start_utc`"),
        ([LINE.format("2026-12-02T00:00:10", "2026-12-02T00:14:50Z")], "line 1: start_utc: .* no offset"),
        ([LINE.format("2026-12-02T00:00:00Z", "2026-12-02T00:15:01Z")], "line 1: end_utc is not within 15"),
        ([LINE.format("2026-12-02T00:00:00Z", "2026-12-02T00:00:00Z")], "line 1: end_utc is not within 15"),
        ([LINE.format("2026-12-02T00:00:10Z", "2026-12-02T00:14:50Z")] * 2, "line 2: begins before"),
        (
            [
                LINE.format("2026-12-02T00:00:10Z", "2026-12-02T00:14:50Z"),
                LINE.format("2026-12-09T00:00:10Z", "2026-12-09T00:14:50Z"),
            ],
            "line 2: a schedule is not longer than 7 days",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(lines: list[str], problem: str) -> None:
    with pytest.raises(ScheduleError, match=problem):
        parse_schedule(lines)
