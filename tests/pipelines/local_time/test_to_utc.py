"""Local times to UTC: every zone against the standard library, and dumps that go through a change."""

from __future__ import annotations

import io
import random
import zoneinfo
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zscope.parsers.issues import Code, Issue, Issues
from zscope.parsers.smf.framing import Framing
from zscope.parsers.smf.record_writer import plain_records
from zscope.parsers.smf.walker import SMALLEST_WINDOW, FrameReader, Window
from zscope.parsers.text.coding import code_page
from zscope.parsers.zones import zone_of
from zscope.pipelines.local_time.timelines import timeline_of
from zscope.pipelines.local_time.to_utc import Clocks
from zscope.pipelines.settings import Zones
from zscope.schemas.arrow import LOCAL
from zscope.schemas.arrow import UTC as UTC_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - counts local times as well
MICROSECOND = timedelta(microseconds=1)
MINUTE = timedelta(minutes=1)
ALL_ZONES = sorted(zoneinfo.available_timezones() - {"localtime"})
BERLIN, HOWE, LA = "Europe/Berlin", "Australia/Lord_Howe", "America/Los_Angeles"
AUTUMN = {BERLIN: datetime(2026, 10, 25, 1, tzinfo=UTC), HOWE: datetime(2026, 4, 4, 15, tzinfo=UTC)}
"""Moments at which clocks are set back: by an hour, and by half an hour."""


class Written(NamedTuple):
    """A record and when it was written."""

    system: str
    moment: datetime
    local: datetime


class Dump(NamedTuple):
    """What was made of a dump."""

    moments: list[datetime | None]
    issues: list[Issue]
    clocks: Clocks


def by_clock(system: str, moment: datetime, zone: str) -> Written:
    return Written(system, moment, moment.astimezone(zone_of(zone)).replace(tzinfo=None))


def at(text: str) -> datetime:
    """A local time."""
    return datetime.fromisoformat(text)


def micro(time: datetime) -> int:
    return (time.replace(tzinfo=None) - EPOCH) // MICROSECOND


def windows(records: Sequence[Written], data: bytes | None = None, padding: int = 500) -> list[Window]:
    """The records as a dump, each long enough that there are several windows."""
    columns = {
        "system": pa.array([record.system for record in records]).dictionary_encode(),
        "written_local": pa.array([micro(record.local) for record in records], pa.int64()).view(LOCAL),
    }
    whole = data if data is not None else b"".join(plain_records(30, columns, len(records), bytes(padding)))
    reader = FrameReader(io.BytesIO(whole), Framing.RDW, Issues(), window=SMALLEST_WINDOW)
    return list(reader)


def convert(clocks: Clocks, records: Sequence[Written], numbers: Iterable[int]) -> list[datetime | None]:
    chosen = list(numbers)
    found = clocks.to_utc(
        pa.array([records[number - 1].system for number in chosen], pa.string()).dictionary_encode(),
        pa.array([micro(records[number - 1].local) for number in chosen], pa.int64()).view(LOCAL),
        pa.array(chosen, pa.uint64()),
    )
    assert found.type == UTC_TYPE
    return list(found.to_pylist())


def load(records: Sequence[Written], zones: Zones, *, ask_early: bool = False) -> Dump:
    """Convert all records: at the end and in no order, or window by window."""
    issues = Issues()
    clocks = Clocks(zones, issues, "dump", code_page())
    moments: dict[int, datetime | None] = {}
    for window in windows(records):
        clocks.observe(window)
        if ask_early:
            numbers = range(window.first_record, window.first_record + len(window.starts))
            moments |= zip(numbers, convert(clocks, records, numbers), strict=True)
    if not ask_early:
        shuffled = list(range(1, len(records) + 1))
        random.Random(1).shuffle(shuffled)
        moments |= zip(shuffled, convert(clocks, records, shuffled), strict=True)
    clocks.report()
    return Dump([moments[number] for number in sorted(moments)], list(issues), clocks)


def every(step: timedelta, begin: datetime, end: datetime) -> list[datetime]:
    return [begin + step * number for number in range((end - begin) // step)]


# Any time of any zone


def in_the_library(local: datetime, zone: tzinfo) -> tuple[datetime, datetime]:
    return tuple(local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))  # type: ignore[return-value]


@given(
    st.sampled_from(ALL_ZONES),
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(-3 * 3600, 3 * 3600)), min_size=1, max_size=50),
    st.lists(st.datetimes(at("1900-01-02"), at("2100-12-30")), max_size=20),
)
def test_times_of_any_zone_are_those_of_the_standard_library(
    zone: str, near: list[tuple[int, int]], anywhere: list[datetime]
) -> None:
    timeline = timeline_of(zone)
    shown = np.concatenate([timeline.begins, timeline.ends]).tolist()
    times = [
        *anywhere,
        *(EPOCH + timedelta(seconds=shown[at % len(shown)] // 10**6 + s) for at, s in near if shown),
    ]
    clocks = Clocks(Zones({}, zone), Issues(), "dump", code_page())
    got = clocks.to_utc(
        pa.array(["SYSA"] * len(times), pa.string()),
        pa.array(list(map(micro, times)), pa.int64()).view(LOCAL),
    )
    for local, moment in zip(times, got.to_pylist(), strict=True):
        first, second = in_the_library(local, ZoneInfo(zone))
        # In a span that the clock skips, the library's later reading is the earlier moment.
        assert moment == (None if first < second else first), (zone, local)


def test_null_without_a_zone_or_time() -> None:
    clocks = Clocks(Zones({"SYSA": BERLIN, "SYSB": "-05:30"}), Issues(), "dump", code_page())
    noon = micro(at("2026-03-02T12:00"))
    got = clocks.to_utc(
        pa.array(["SYSA", "SYSB", "SYSC", None, "SYSA"]).dictionary_encode(),
        pa.array([noon, noon, noon, noon, None], pa.int64()).view(LOCAL),
        pa.array([1, 2, 3, 4, 5], pa.uint64()),
    )
    assert got.to_pylist() == [
        datetime(2026, 3, 2, 11, tzinfo=UTC), datetime(2026, 3, 2, 17, 30, tzinfo=UTC), None, None, None,
    ]  # fmt: skip


def test_reports_that_mark_the_second_hour_have_utc() -> None:
    """Rows of a system without a mark stay ambiguous, and in spring a mark means nothing."""
    issues = Issues()
    clocks = Clocks(Zones({}, BERLIN), issues, "rmf.txt", code_page())
    autumn, spring = at("2026-10-25T02:15"), at("2026-03-29T02:15")
    rows = [("SYSA", autumn, None), ("SYSA", autumn, True), ("SYSB", autumn, None), ("SYSA", spring, True)]
    got = clocks.to_utc(
        pa.array([system for system, *_ in rows]),
        pa.array([micro(local) for _, local, _ in rows], pa.int64()).view(LOCAL),
        second_hour=pa.array([second for *_, second in rows], pa.bool_()),
    )
    assert got.to_pylist() == [
        datetime(2026, 10, 25, 0, 15, tzinfo=UTC),
        datetime(2026, 10, 25, 1, 15, tzinfo=UTC),
        None,
        datetime(2026, 3, 29, 1, 15, tzinfo=UTC),
    ]
    clocks.report()
    assert Code.AMBIGUOUS_TIME in {issue.code for issue in issues}


@pytest.mark.parametrize("rows", [0, 3])
def test_no_zones_and_no_rows(rows: int) -> None:
    clocks = Clocks(Zones(), Issues(), "dump", code_page())
    got = clocks.to_utc(
        pa.array(["A"] * rows, pa.string()).dictionary_encode(), pa.array([0] * rows, pa.int64()).view(LOCAL)
    )
    assert got.to_pylist() == [None] * rows


@pytest.mark.parametrize("zone", [BERLIN, "+01:00"])
def test_extreme_times_do_not_overflow(zone: str) -> None:
    """They are no times of a record, but a damaged file or a strange report may have them."""
    ends = [-(1 << 63), (1 << 63) - 1]
    far = [micro(at("0001-01-01")), micro(at("9999-12-31")), micro(at("2155-06-01"))]
    clocks = Clocks(Zones({}, zone), Issues(), "dump", code_page())
    got = clocks.to_utc(pa.array(["SYSA"] * 5), pa.array([*ends, *far], pa.int64()).view(LOCAL)).cast(
        pa.int64()
    )
    assert got.to_pylist()[:2] == [None, None]
    differences = [local - utc for local, utc in zip(far, got.to_pylist()[2:], strict=True)]
    assert all(0 < difference <= 2 * 3600 * 10**6 for difference in differences)


# A clock that is set back


def going_through(
    zone: str, system: str, rng: random.Random, step: timedelta, lateness: timedelta
) -> list[tuple[datetime, Written]]:
    """Records from three hours before a change to three hours behind it, and when they come."""
    moment = AUTUMN[zone] - timedelta(hours=3)
    found = []
    while moment < AUTUMN[zone] + timedelta(hours=3):
        comes = moment + lateness * rng.random()
        found.append((comes, by_clock(system, moment, zone)))
        moment += timedelta(milliseconds=10 * rng.randrange(1, step // timedelta(milliseconds=5)))
    return found


@pytest.mark.parametrize("ask_early", [False, True])
@pytest.mark.parametrize("lateness", [timedelta(0), timedelta(minutes=3)])
def test_two_systems_of_different_zones_and_one_without(lateness: timedelta, ask_early: bool) -> None:
    rng = random.Random(3)
    step = timedelta(seconds=20)
    zones = Zones({"SYSA": BERLIN, "SYSB": LA})
    coming = going_through(BERLIN, "SYSA", rng, step, lateness)
    for system, zone in (("SYSB", LA), ("SYSC", BERLIN)):
        others = going_through(BERLIN, system, rng, step, lateness)
        coming += [(comes, by_clock(system, record.moment, zone)) for comes, record in others]
    records = [record for _, record in sorted(coming)]
    dump = load(records, zones, ask_early=ask_early)
    assert dump.moments == [record.moment if record.system != "SYSC" else None for record in records]
    assert dump.issues == []
    twice = [record for record in records if record.system == "SYSA" and record.local.hour == 2]
    assert len({record.moment.hour for record in twice}) == 2


@given(st.sampled_from([BERLIN, HOWE]), st.integers(0, 1 << 30), st.integers(5, 300), st.integers(0, 180))
def test_late_records_are_converted_correctly(zone: str, seed: int, step: int, lateness: int) -> None:
    coming = going_through(
        zone, "SYSA", random.Random(seed), timedelta(seconds=step), timedelta(seconds=lateness)
    )
    records = [record for _, record in sorted(coming)]
    dump = load(records, Zones({}, zone))
    assert dump.moments == [record.moment for record in records]
    assert dump.issues == []


def test_change_of_the_base_offset() -> None:
    """Pyongyang went back by half an hour for good."""
    zone, change = "Asia/Pyongyang", datetime(2015, 8, 14, 15, tzinfo=UTC)
    moments = every(MINUTE, change - timedelta(hours=2), change + timedelta(hours=2))
    records = [by_clock("SYSA", moment, zone) for moment in moments]
    assert len({record.local for record in records}) == len(records) - 30
    assert load(records, Zones({}, zone)).moments == moments


def test_late_record_of_the_first_pass_in_the_second() -> None:
    change = AUTUMN[BERLIN]
    seconds = [-7200, -3600, -1800, -60, -1, 2, 60, -30, 61, -10, 100, 1800, 3599, 3700]
    records = [by_clock("SYSA", change + timedelta(seconds=s), BERLIN) for s in seconds]
    assert load(records, Zones({}, BERLIN)).moments == [record.moment for record in records]


def test_system_with_few_records() -> None:
    minutes = [-95, -61, -35, -5, 10, 50, 75]
    records = [by_clock("SYSA", AUTUMN[BERLIN] + m * MINUTE, BERLIN) for m in minutes]
    assert load(records, Zones({}, BERLIN)).moments == [record.moment for record in records]


@pytest.mark.parametrize(("hours", "known"), [(20, True), (30, False)])
def test_records_more_than_a_day_before_the_hour_do_not_count(hours: int, known: bool) -> None:
    moments = [AUTUMN[BERLIN] - timedelta(hours=hours), AUTUMN[BERLIN] - 20 * MINUTE]
    dump = load([by_clock("SYSA", moment, BERLIN) for moment in moments], Zones({}, BERLIN))
    assert dump.moments == (moments if known else [moments[0], None])


@pytest.mark.parametrize("ask_early", [False, True])
def test_the_same_dump_twice_in_one_file(ask_early: bool) -> None:
    moments = every(MINUTE, AUTUMN[BERLIN] - timedelta(hours=4), AUTUMN[BERLIN] + timedelta(hours=4))
    records = [by_clock("SYSA", moment, BERLIN) for moment in moments * 2]
    dump = load(records, Zones({}, BERLIN), ask_early=ask_early)
    assert dump.moments == moments * 2
    assert dump.issues == []


def test_each_ambiguous_hour_is_an_issue_of_its_own() -> None:
    changes = [datetime(year, 10, day, 1, tzinfo=UTC) for year, day in ((2024, 27), (2025, 26))]
    moments = [change + minute * MINUTE for change in changes for minute in (10, 20, 30)]
    dump = load([by_clock("SYSA", moment, BERLIN) for moment in moments], Zones({}, BERLIN))
    assert dump.moments == [None] * 6
    assert [issue.text.split(" local time")[0] for issue in dump.issues] == [
        "3 records of SYSA between 2024-10-27 02:00 and 2024-10-27 03:00",
        "3 records of SYSA between 2025-10-26 02:00 and 2025-10-26 03:00",
    ]


def test_years_of_changes_in_one_file() -> None:
    moments = every(7 * MINUTE, datetime(2024, 10, 26, tzinfo=UTC), datetime(2024, 10, 28, tzinfo=UTC))
    moments += every(7 * MINUTE, datetime(2025, 10, 25, tzinfo=UTC), datetime(2025, 10, 27, tzinfo=UTC))
    records = [by_clock("SYSA", moment, BERLIN) for moment in moments]
    assert load(records, Zones({}, BERLIN)).moments == moments


# A dump that begins inside


def inside(begin: int, end: int) -> list[Written]:
    """Records of each minute, as many minutes from the change on."""
    return [by_clock("SYSA", AUTUMN[BERLIN] + m * MINUTE, BERLIN) for m in range(begin, end)]


@pytest.mark.parametrize(("begin", "end"), [(-50, -10), (10, 50)])
def test_dump_inside_the_hour_is_ambiguous_with_one_issue_per_system(begin: int, end: int) -> None:
    records = [record for pair in zip(inside(begin, end), inside(begin, end), strict=True) for record in pair]
    records = [record._replace(system=f"SYS{at % 2}") for at, record in enumerate(records)]
    dump = load(records, Zones({}, BERLIN))
    assert dump.moments == [None] * 80
    assert [(issue.code, issue.severity.name, issue.record_no) for issue in dump.issues] == [
        (Code.AMBIGUOUS_TIME, "NOTE", 1), (Code.AMBIGUOUS_TIME, "NOTE", 2),
    ]  # fmt: skip
    assert "40 records of SYS0 between 2026-10-25 02:00 and 2026-10-25 03:00" in dump.issues[0].text
    assert dump.issues[0].text.endswith(
        "with --timezone SYS0=+02:00 for the first hour, or with --timezone SYS0=+01:00 for the second"
    )


@pytest.mark.parametrize(("begin", "end"), [(-50, 30), (-50, 200), (10, 61), (10, 400)])
def test_later_records_determine_the_pass_of_earlier_ones(begin: int, end: int) -> None:
    records = inside(begin, end)
    dump = load(records, Zones({}, BERLIN))
    assert dump.moments == [record.moment for record in records]
    assert dump.issues == []


def test_rows_converted_too_early_stay_null() -> None:
    records = inside(-50, 20)
    issues = Issues()
    clocks = Clocks(Zones({}, BERLIN), issues, "dump", code_page())
    first, rest = windows(records[:30]), windows(records)
    clocks.observe(first[0])
    assert convert(clocks, records, range(1, 31)) == [None] * 30
    behind = rest[0].from_offset(int(rest[0].offsets[30]))
    assert behind is not None
    clocks.observe(behind)
    assert convert(clocks, records, range(1, 71)) == [None] * 50 + [record.moment for record in records[50:]]
    clocks.report()
    assert [issue.text[:10] for issue in issues] == ["50 records"]


def test_header_and_trailer_of_a_dump_are_ignored() -> None:
    """The program that makes the dump writes them, here soon after the records."""
    records = inside(-50, -10)
    made = {
        "system": pa.array(["SYSA"]).dictionary_encode(),
        "written_local": pa.array([micro(at("2026-10-25T03:05"))]).view(LOCAL),
    }
    columns = {
        "system": pa.array(["SYSA"] * len(records)).dictionary_encode(),
        "written_local": pa.array([micro(record.local) for record in records]).view(LOCAL),
    }
    parts = (plain_records(2, made, 1), plain_records(30, columns, len(records)), plain_records(3, made, 1))
    clocks = Clocks(Zones({}, BERLIN), Issues(), "dump", code_page())
    for window in windows([], b"".join(record for part in parts for record in part)):
        clocks.observe(window)
    trailer = Written("SYSA", datetime(2026, 10, 25, 2, 5, tzinfo=UTC), at("2026-10-25T03:05"))
    everything = [trailer, *records, trailer]
    got = convert(clocks, everything, range(1, len(everything) + 1))
    assert got == [trailer.moment, *[None] * len(records), trailer.moment]


# Clocks that do not do what their zone says


def test_skipped_times_are_those_of_a_clock_set_late() -> None:
    change = datetime(2026, 3, 29, 1, tzinfo=UTC)
    moments = every(MINUTE, change - timedelta(hours=1), change + timedelta(hours=1))
    records = [by_clock("SYSA", moment, BERLIN) for moment in moments]
    assert load(records, Zones({}, BERLIN)).issues == []
    # Set eight minutes late: till then the clock shows winter time.
    late = [
        record._replace(local=record.local - timedelta(hours=1))
        if timedelta(0) <= record.moment - change < 8 * MINUTE
        else record
        for record in records
    ]
    dump = load(late, Zones({}, BERLIN))
    assert dump.moments == moments
    [issue] = dump.issues
    assert (issue.code, issue.severity.name) == (Code.CLOCK_DIFFERS, "WARNING")
    assert issue.text.startswith("8 times of SYSA between 2026-03-29 02:00 and 2026-03-29 03:00 local time")


def test_clock_that_is_never_set_back_is_an_issue() -> None:
    moments = every(MINUTE, AUTUMN[BERLIN] - timedelta(hours=4), AUTUMN[BERLIN] + timedelta(hours=4))
    records = [by_clock("SYSA", moment, "+02:00") for moment in moments]
    [issue] = load(records, Zones({}, BERLIN)).issues
    assert issue.code is Code.CLOCK_DIFFERS
    assert "was not set back between 2026-10-25 02:00 and 2026-10-25 03:00" in issue.text
    assert load(records, Zones({}, "+02:00"))[:2] == (moments, [])


def test_reports_in_the_repeated_hour_are_ambiguous() -> None:
    issues = Issues()
    clocks = Clocks(Zones({}, BERLIN), issues, "dump", code_page())
    times = [at("2026-10-25T01:59"), at("2026-10-25T02:30"), at("2026-10-25T03:00")]
    spring = at("2026-03-29T02:30")
    got = clocks.to_utc(
        pa.array(["SYSA"] * 4), pa.array([micro(time) for time in (*times, spring)]).view(LOCAL)
    )
    assert got.to_pylist() == [
        datetime(2026, 10, 24, 23, 59, tzinfo=UTC), None, datetime(2026, 10, 25, 2, tzinfo=UTC),
        datetime(2026, 3, 29, 1, 30, tzinfo=UTC),
    ]  # fmt: skip
    clocks.report()
    told = {issue.code: issue.text.split(" between")[0] for issue in issues}
    assert told == {Code.AMBIGUOUS_TIME: "1 row of SYSA", Code.CLOCK_DIFFERS: "1 time of SYSA"}


# Damage


@given(st.integers(0, 1 << 30))
def test_headers_of_any_content_are_accepted(seed: int) -> None:
    rng = random.Random(seed)
    dates = [b"\1\x26\x29\x8f", b"\0\0\0\x1f", b"\1\x99\x36\x5f", b"\0\0\0\0", b"\xff" * 4, b"\1\x25\x36\x6f"]
    names = [b"\xe2\xe8\xe2\xc1", b"\0\0\0\0", b"\x40" * 4, rng.randbytes(4)]
    whole = b""
    for _ in range(400):
        time = rng.choice(
            [rng.randrange(8_640_000), rng.randrange(1 << 32), 720_000 + rng.randrange(720_000)]
        )
        head = (
            bytes([0x5E, rng.randrange(256)])
            + time.to_bytes(4, "big")
            + rng.choice(dates)
            + rng.choice(names)
        )
        whole += b"\0\x20\0\0" + head + rng.randbytes(14)
    issues = Issues()
    clocks = Clocks(Zones({"SYSA": BERLIN}, HOWE), issues, "dump", code_page())
    for window in windows([], whole):
        clocks.observe(window)
        count = len(window.starts)
        got = clocks.to_utc(
            pa.array(["SYSA"] * count),
            pa.array([micro(at("2026-10-25T02:00")) + step * 10**7 for step in range(count)]).view(LOCAL),
            pa.array(range(window.first_record, window.first_record + count), pa.uint64()),
        )
        assert len(got) == count
    clocks.report()
    assert {issue.code for issue in issues} <= {Code.AMBIGUOUS_TIME, Code.CLOCK_DIFFERS}


def test_unordered_records_use_little_memory_and_are_ambiguous() -> None:
    minutes = [-1, -61] * 15_000 + [-30]
    records = [by_clock("SYSA", AUTUMN[BERLIN] + (60 + m) * MINUTE, BERLIN) for m in minutes]
    dump = load(records, Zones({}, BERLIN))
    assert dump.moments[-1] is None
    assert {issue.code for issue in dump.issues} == {Code.AMBIGUOUS_TIME}
