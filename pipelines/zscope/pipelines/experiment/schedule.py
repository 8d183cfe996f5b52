"""The schedule of an experiment: which arm each quarter hour has, drawn by lot, and its file."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec
import pyarrow as pa

from zscope.pipelines.experiment.arms import Arm
from zscope.schemas.allowed import shortened
from zscope.schemas.arrow import TEXT
from zscope.schemas.arrow import UTC as UTC_TYPE
from zscope.schemas.described_columns import described
from zscope.schemas.errors import Error

QUARTER = timedelta(minutes=15)
MARGIN = timedelta(seconds=10)
"""Time at both ends of a quarter hour without test connections, as clocks and intervals differ a little."""
DAY = timedelta(days=1)
LONGEST_DAYS = 7
MOST_QUARTERS = LONGEST_DAYS * DAY // QUARTER
_ARMS = tuple(Arm)
SCHEDULE_SCHEMA = pa.schema(
    [
        described("block", pa.int64(), "Number of the 90 minutes, from 1.", required=True),
        described("arm", TEXT, "What the test connections do.", required=True),
        described("start_utc", UTC_TYPE, "When the test connections begin.", required=True),
        described("end_utc", UTC_TYPE, "When they end.", required=True),
        described("what", TEXT, "The arm in words.", required=True),
    ]
)


class ScheduleError(Error):
    """A schedule cannot be drawn or read; the message contains the reason."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The test connections of one quarter hour."""

    arm: Arm
    start: datetime
    end: datetime


class _ScheduleLine(msgspec.Struct):
    """What a line of a file must contain; other keys are for people."""

    arm: Arm
    start_utc: datetime
    end_utc: datetime


def usual_seed(start: datetime) -> int:
    """Return the seed of a schedule for which the user names none: another one for each start.

    >>> usual_seed(datetime(2026, 12, 2, tzinfo=UTC))
    1995744
    """
    return int(start.timestamp()) // int(QUARTER.total_seconds())


def draw(start: datetime, quarters: int, seed: int) -> list[Slot]:
    """Return a schedule: each 90 minutes contain every arm once, in random order.

    A rest of less than 90 minutes at the end contains the first arms of its order.

    >>> for slot in draw(datetime(2026, 12, 2, tzinfo=UTC), 2, 1):
    ...     print(slot.arm, slot.start.time(), slot.end.time())
    plain 00:00:10 00:14:50
    tls-bytes 00:15:10 00:29:50
    """
    start = start.astimezone(UTC)
    if start.timestamp() % QUARTER.total_seconds():
        raise ScheduleError(
            f"{start:%H:%M:%S} UTC is not the start of a quarter hour, as SMF intervals begin at minute 0, "
            "15, 30 and 45"
        )
    generator = random.Random(seed)
    slots: list[Slot] = []
    while len(slots) < quarters:
        for arm in generator.sample(_ARMS, len(_ARMS)):
            begin = start + len(slots) * QUARTER
            slots.append(Slot(arm, begin + MARGIN, begin + QUARTER - MARGIN))
    return slots[:quarters]


def schedule_table(slots: Sequence[Slot]) -> pa.Table:
    """Return a schedule as rows."""
    rows = [
        {
            "block": number // len(_ARMS) + 1,
            "arm": str(slot.arm),
            "start_utc": slot.start,
            "end_utc": slot.end,
            "what": slot.arm.meaning,
        }
        for number, slot in enumerate(slots)
    ]
    return pa.Table.from_pylist(rows, SCHEDULE_SCHEMA)


def parse_schedule(lines: Iterable[str]) -> list[Slot]:
    """Return the schedule of a file of JSON lines; raise ScheduleError with the number of the line.

    A schedule that overlaps itself, or that is longer than a week, is refused: a client that follows it
    would make more connections than intended.

    >>> parse_schedule(['{"arm": "any"}'])
    Traceback (most recent call last):
    ...
    zscope.pipelines.experiment.schedule.ScheduleError: line 1: Invalid enum value 'any' - at `$.arm`
    """
    slots: list[Slot] = []
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            line = msgspec.json.decode(text, type=_ScheduleLine)
        except msgspec.MsgspecError as error:
            raise ScheduleError(f"line {number}: {error}") from error
        slots.append(_checked(line, slots[-1] if slots else None, number))
        if len(slots) > MOST_QUARTERS or slots[-1].end - slots[0].start > LONGEST_DAYS * DAY:
            raise ScheduleError(f"line {number}: a schedule is not longer than {LONGEST_DAYS} days")
    if not slots:
        raise ScheduleError("the schedule is empty; zscope experiment plan --format jsonl writes one")
    return slots


def _checked(line: _ScheduleLine, before: Slot | None, number: int) -> Slot:
    for name, time in (("start_utc", line.start_utc), ("end_utc", line.end_utc)):
        if time.tzinfo is None:
            raise ScheduleError(
                f"line {number}: {name}: {shortened(time.isoformat())} has no offset from UTC"
            )
    slot = Slot(line.arm, line.start_utc.astimezone(UTC), line.end_utc.astimezone(UTC))
    if not timedelta(0) < slot.end - slot.start <= QUARTER:
        raise ScheduleError(f"line {number}: end_utc is not within 15 minutes after start_utc")
    if before is not None and slot.start < before.end:
        raise ScheduleError(f"line {number}: begins before the line above ends")
    return slot
