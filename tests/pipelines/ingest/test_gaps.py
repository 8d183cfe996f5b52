"""Missing intervals: those that are lost are found, and those that never were are not made up."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zscope.parsers import read
from zscope.parsers.zones import zone_of
from zscope.pipelines.ingest.gaps import GAP_SCHEMA, INTERVAL_COLUMNS, INTERVAL_TABLES, find_gaps
from zscope.pipelines.settings import Zones
from zscope.schemas.arrow import LOCAL, table_schema

QUARTER = timedelta(minutes=15)
NOON = datetime.fromisoformat("2026-03-02T12:00")
Interval = tuple[str | None, datetime | None, timedelta | None]


def rows(intervals: list[Interval]) -> pa.Table:
    return pa.table(
        {
            "system": pa.array([system for system, _, _ in intervals], pa.string()).dictionary_encode(),
            "interval_start_local": pa.array([start for _, start, _ in intervals], LOCAL),
            "interval_ms": pa.array(
                [
                    None if length is None else length // timedelta(milliseconds=1)
                    for _, _, length in intervals
                ],
                pa.uint64(),
            ),
        }
    )


def gaps(intervals: list[Interval], zones: Zones | None = None) -> list[tuple[str, datetime, datetime, int]]:
    shuffled = random.Random(1).sample(intervals, len(intervals))
    found = find_gaps(rows(shuffled), "smf70_interval", zones or Zones())
    assert found.schema == GAP_SCHEMA
    return [(r["system"], r["from_local"], r["to_local"], r["missing_intervals"]) for r in found.to_pylist()]


def quarters(count: int, system: str = "SYSA", begin: datetime = NOON) -> list[Interval]:
    return [(system, begin + number * QUARTER, QUARTER) for number in range(count)]


def clock(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def test_consecutive_intervals_have_no_gap() -> None:
    assert gaps(quarters(20) + quarters(20, "SYSB")) == []


def test_missing_intervals_of_each_system() -> None:
    one, other = quarters(12), quarters(12, "SYSB")
    del one[8], one[3:5], other[6]
    assert gaps(one + other) == [
        ("SYSA", clock(45), clock(75), 2),
        ("SYSA", clock(120), clock(135), 1),
        ("SYSB", clock(90), clock(105), 1),
    ]


def test_gap_row_has_all_columns() -> None:
    lost = quarters(5)
    del lost[2]
    assert find_gaps(rows(lost), "rmf_interval", Zones()).to_pylist() == [
        {
            "system": "SYSA",
            "source": "rmf_interval",
            "from_local": clock(30),
            "to_local": clock(45),
            "missing_intervals": 1,
            "interval_ms": 900_000,
        }
    ]


def test_repeated_intervals_do_not_change_gaps() -> None:
    lost = quarters(8)
    del lost[4]
    assert gaps(lost * 3) == [("SYSA", clock(60), clock(75), 1)]


@pytest.mark.parametrize("times", [1, 2])
def test_restart_between_two_short_intervals_is_not_a_gap(times: int) -> None:
    before = [*quarters(4), ("SYSA", clock(60), timedelta(minutes=7))]
    after = [("SYSA", clock(111), timedelta(minutes=9)), *quarters(4, begin=clock(120))]
    assert gaps((before + after) * times) == []


def test_crash_before_a_short_interval_is_not_a_gap() -> None:
    after = [("SYSA", clock(111), timedelta(minutes=9)), *quarters(4, begin=clock(120))]
    assert gaps(quarters(4) + after) == []


def test_short_interval_does_not_hide_other_gaps() -> None:
    lost = quarters(12)
    del lost[8]
    lost[3:4] = [("SYSA", clock(45), timedelta(minutes=5)), ("SYSA", clock(50), timedelta(minutes=10))]
    assert gaps(lost) == [("SYSA", clock(120), clock(135), 1)]


def test_drift_by_seconds_is_not_a_gap() -> None:
    drift = random.Random(5)
    drifting: list[Interval] = [
        (s, (start or NOON) + timedelta(seconds=drift.uniform(0, 20)), QUARTER - timedelta(milliseconds=400))
        for s, start, _ in quarters(40)
    ]
    assert gaps(drifting) == []


def test_change_of_the_interval_length_is_not_a_gap() -> None:
    hours: list[Interval] = [("SYSA", clock(60 + 60 * number), timedelta(hours=1)) for number in range(5)]
    assert gaps(quarters(4) + hours) == []


def by_clock(zone: str, begin: datetime, count: int) -> list[Interval]:
    moments = [begin + number * QUARTER for number in range(count)]
    return [("SYSA", moment.astimezone(zone_of(zone)).replace(tzinfo=None), QUARTER) for moment in moments]


SPRING = datetime(2026, 3, 28, 20, tzinfo=UTC)
AUTUMN = datetime(2026, 10, 24, 20, tzinfo=UTC)


@pytest.mark.parametrize("begin", [SPRING, AUTUMN])
def test_clock_change_is_not_a_gap(begin: datetime) -> None:
    assert gaps(by_clock("Europe/Berlin", begin, 60), Zones({}, "Europe/Berlin")) == []


def test_without_a_zone_the_skipped_hour_is_a_gap() -> None:
    [(_, begin, end, missing)] = gaps(by_clock("Europe/Berlin", SPRING, 60))
    assert (begin.hour, end.hour, missing) == (2, 3, 4)


@pytest.mark.parametrize(("begin", "after"), [(SPRING, 0), (SPRING, 40), (AUTUMN, 0), (AUTUMN, 40)])
def test_gap_on_the_day_of_a_clock_change(begin: datetime, after: int) -> None:
    intervals = by_clock("Europe/Berlin", begin, 60)
    lost = intervals[after + 3]
    kept = [*intervals[: after + 3], *intervals[after + 4 :]]
    next_start = intervals[after + 4][1]
    assert gaps(kept, Zones({}, "Europe/Berlin")) == [("SYSA", lost[1], next_start, 1)]


def test_no_gap_in_the_repeated_hour() -> None:
    """One interval of it is lost, of one of the two passes: nobody can tell that from the local times."""
    intervals = by_clock("Europe/Berlin", AUTUMN, 60)
    twice = [at for at, (_, start, _) in enumerate(intervals) if start and (start.hour, start.day) == (2, 25)]
    assert len(twice) == 8
    del intervals[twice[3]]
    assert gaps(intervals, Zones({}, "Europe/Berlin")) == []


def test_invalid_intervals_are_ignored() -> None:
    strange: list[Interval] = [
        (None, clock(1), QUARTER),
        ("SYSA", None, QUARTER),
        ("SYSA", clock(-900), None),
        ("SYSA", clock(-900), timedelta(0)),
        ("SYSA", clock(-9000), timedelta(days=4_000)),
    ]
    assert gaps(quarters(8) + strange) == []
    ends = pa.array([-(1 << 63), (1 << 63) - 1], pa.int64()).view(LOCAL)
    table = pa.table(
        {"system": ["SYSA"] * 2, "interval_start_local": ends, "interval_ms": [1 << 40, 900_000]}
    )
    assert find_gaps(table, "smf70_interval", Zones({}, "Europe/Berlin")).num_rows == 0


@pytest.mark.parametrize("count", [0, 1])
def test_one_interval_has_no_gap(count: int) -> None:
    assert gaps(quarters(count), Zones({}, "Europe/Berlin")) == []


@given(st.integers(2, 60), st.data())
def test_removed_intervals_are_found(count: int, data: Any) -> None:  # noqa: ANN401 - hypothesis' own
    """All but the ends, whose absence nothing shows."""
    taken = data.draw(st.sets(st.integers(1, count - 2))) if count > 2 else set()
    zone = data.draw(st.sampled_from([None, "Europe/Berlin", "Asia/Tokyo"]))
    left = [interval for at, interval in enumerate(quarters(count)) if at not in taken]
    found = gaps(left, Zones({}, zone))
    missing = {clock(15 * at) for at in taken}
    told = {
        begin + number * QUARTER for _, begin, end, n in found for number in range((end - begin) // QUARTER)
    }
    assert told == missing
    assert sum(n for *_, n in found) == len(taken)


@pytest.mark.parametrize("table", INTERVAL_TABLES)
def test_interval_tables_have_the_required_columns(table: str) -> None:
    assert set(INTERVAL_COLUMNS) <= set(table_schema(table).names)


def test_the_sample_dump_with_and_without_a_record() -> None:
    wanted = f"smf70_interval[{','.join(INTERVAL_COLUMNS)}]"
    whole = read("sample-data/smf-sample.bin", wanted)["smf70_interval"]
    assert find_gaps(whole, "smf70_interval", Zones({}, "+01:00")).num_rows == 0
    place = whole.num_rows // 2
    lost = whole.slice(place, 1).to_pylist()[0]
    rest = pa.concat_tables([whole.slice(0, place), whole.slice(place + 1)])
    [gap] = find_gaps(rest, "smf70_interval", Zones()).to_pylist()
    assert (gap["system"], gap["from_local"]) == (lost["system"], lost["interval_start_local"])
    assert (gap["missing_intervals"], gap["interval_ms"]) == (1, lost["interval_ms"])


@pytest.mark.parametrize(("pause_ms", "expected"), [(450_000, 1), (449_999, 0)])
def test_a_pause_of_half_an_interval_is_a_gap(pause_ms: int, expected: int) -> None:
    begin = clock(60) + timedelta(milliseconds=pause_ms)
    assert gaps(quarters(4) + quarters(4, begin=begin)) == [("SYSA", clock(60), begin, 1)][:expected]
