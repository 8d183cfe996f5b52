"""RMF reports have local times only: the offset that SMF 70 records state gives them UTC without a zone."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from tests.dumps import generated
from tests.pipelines.ingest.in_turn import InTurn
from tests.pipelines.local_time.test_repeated_hours import REPORT_TABLES
from tests.pipelines.stores import EVERYTHING, load

from zscope.parsers import read
from zscope.parsers.issues import Code
from zscope.pipelines.ingest import ingest
from zscope.pipelines.ingest.parallel_load import BulkEngine
from zscope.pipelines.local_time.recorded_offsets import LoadsByEnd
from zscope.pipelines.local_time.rmf_by_smf70 import stated_zone
from zscope.pipelines.local_time.unzoned_rows import unzoned_query
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.commits import Load, LoadOffset
from zscope.samples import Recipe, RecordKind
from zscope.samples.dump.recipe import named_systems
from zscope.samples.reports.files import listing
from zscope.samples.reports.rmf import TABLES_NEEDED, rmf_rows

if TYPE_CHECKING:
    from zscope.pipelines.ingest.options_and_outcomes import FileOutcome

HOUR = timedelta(hours=1)
WINTER = datetime(2026, 3, 2, 9, tzinfo=UTC)
AUTUMN = datetime(2026, 10, 25, 0, tzinfo=UTC)
"""02:00 in Berlin for the first time."""


def dump_at(path: Path, start: datetime, offset_h: int, hours: int = 1) -> Path:
    """The SMF 70 records of four intervals for each hour."""
    recipe = Recipe(
        records=4 * hours, mix={RecordKind.RMF_CPU: 1.0}, start=start, end=start + hours * HOUR,
        systems=named_systems("SYSA", utc_offset_minutes=60 * offset_h),
    )  # fmt: skip
    path.write_bytes(generated(recipe))
    return path


def report_of(path: Path, dump: Path) -> Path:
    path.write_bytes(listing(rmf_rows(read(dump, TABLES_NEEDED).tables)))
    return path


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return dump_at(tmp_path / "smf.bin", WINTER, 1)


@pytest.fixture
def report(tmp_path: Path, dump: Path) -> Path:
    return report_of(tmp_path / "a-report.txt", dump)


def starts(store: Path, table: str) -> set[datetime | None]:
    with open_reader(store) as connection:
        rows = connection.execute(f"SELECT interval_start_utc FROM {table}").fetchall()
    return {start and start.astimezone(UTC) for (start,) in rows}


def unzoned(store: Path) -> list[str]:
    """The systems that the notes of metrics name."""
    with open_reader(store) as connection:
        rows = connection.execute(unzoned_query(["cpu_interval"])).fetchall()
    return [system for system, *_ in rows]


def without_zone(outcome: FileOutcome) -> list[str]:
    return [issue.text for issue in outcome.issues if issue.code is Code.NO_TIME_ZONE]


RIGHT = {WINTER + number * HOUR / 4 for number in range(4)}


def test_reports_have_the_offset_of_earlier_records(tmp_path: Path, dump: Path, report: Path) -> None:
    store = tmp_path / "store"
    load(store, dump)
    [outcome] = load(store, report).outcomes
    assert without_zone(outcome) == []
    for table in REPORT_TABLES:
        assert starts(store, table) == RIGHT
    assert unzoned(store) == []
    with open_reader(store) as connection:
        clock = "SELECT DISTINCT zone, offset_s FROM system_clock WHERE load_id = 2"
        assert connection.execute(clock).fetchall() == [("+01:00", 3600)]


@pytest.mark.parametrize("report_first", [True, False])
def test_the_order_of_files_does_not_matter(
    tmp_path: Path, dump: Path, report: Path, report_first: bool
) -> None:
    files = [report, dump] if report_first else [dump, report]
    outcomes = load(tmp_path / "store", *files).outcomes
    assert [outcome.file for outcome in outcomes] == [str(dump), str(report)]
    assert [bool(without_zone(outcome)) for outcome in outcomes] == [True, False]
    assert starts(tmp_path / "store", "rmf_cpu") == RIGHT


def test_many_files_at_once_have_the_same_offset(tmp_path: Path, dump: Path, report: Path) -> None:
    """The tasks of a bulk load write all rows to files, before the dump is loaded."""
    ingest(tmp_path / "store", [report, dump], EVERYTHING, BulkEngine(InTurn()))
    for table in REPORT_TABLES:
        assert starts(tmp_path / "store", table) == RIGHT


def test_a_member_of_an_archive_uses_the_records_before_it(tmp_path: Path, dump: Path, report: Path) -> None:
    """An archive is read once, so a member does not wait for those after it."""
    for name, members, expected in (("a.zip", [dump, report], RIGHT), ("b.zip", [report, dump], {None})):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for member in members:
                archive.write(member, member.name)
        load(tmp_path / f"store-{name}", tmp_path / name)
        assert starts(tmp_path / f"store-{name}", "rmf_cpu") == expected


def test_reports_with_many_rows_are_converted_in_their_files(
    tmp_path: Path, dump: Path, report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zscope.pipelines.ingest.decoding.FEW_ROWS_BYTES", 0)
    load(tmp_path / "store", dump, report)
    for table in REPORT_TABLES:
        assert starts(tmp_path / "store", table) == RIGHT


def test_records_of_another_day_or_system_say_nothing(tmp_path: Path, dump: Path, report: Path) -> None:
    other_day = dump_at(tmp_path / "other-day.bin", WINTER + 72 * HOUR, 1)
    text = report.read_bytes()
    [*_, outcome] = load(tmp_path / "store", other_day, report).outcomes
    assert len(without_zone(outcome)) == 1
    assert starts(tmp_path / "store", "rmf_cpu") == {None}
    assert unzoned(tmp_path / "store") == ["SYSA"]
    report.write_bytes(text.replace(b"SYSA", b"SYSX"))
    [*_, outcome] = load(tmp_path / "other", dump, report).outcomes
    assert len(without_zone(outcome)) == 1
    assert starts(tmp_path / "other", "rmf_cpu") == {None}


def test_a_configured_zone_has_priority(tmp_path: Path, dump: Path, report: Path) -> None:
    how = replace(EVERYTHING, settings=Settings().merge(["+02:00"]))
    outcomes = load(tmp_path / "store", dump, report, how=how).outcomes
    assert starts(tmp_path / "store", "rmf_cpu") == {start - HOUR for start in RIGHT}
    assert {issue.code for outcome in outcomes for issue in outcome.issues} >= {Code.ZONE_CONFLICT}


def test_one_of_two_hours_is_not_decided_by_records_of_the_other(tmp_path: Path) -> None:
    """The report is of the second hour; the records are of the first, which has the same local times."""
    first = dump_at(tmp_path / "first.bin", AUTUMN, 2)
    second = dump_at(tmp_path / "second.bin", AUTUMN + HOUR, 1)
    report = report_of(tmp_path / "report.txt", second)
    [*_, outcome] = load(tmp_path / "store", first, report).outcomes
    assert len(without_zone(outcome)) == 1
    assert starts(tmp_path / "store", "rmf_cpu") == {None}


# The offset for a period


def loaded(number: int, *offsets: tuple[datetime, datetime, int]) -> Load:
    """A load with offsets that SMF 70 records state, in hours."""
    first, last = min(begin for begin, *_ in offsets), max(end for _, end, _ in offsets)
    spans = (
        LoadOffset("SYSA", "smf70_interval", begin.isoformat(), end.isoformat(), 3600 * hours)
        for begin, end, hours in offsets
    )
    return Load(
        number, "dump", (), "smf", "rdw", "everything", "", 0, None, "2026-03-03T00:00:00", 0.0,
        first_local=first.isoformat(), last_local=last.isoformat(), offsets=tuple(spans),
    )  # fmt: skip


def at(text: str) -> datetime:
    """A local time."""
    return datetime.fromisoformat(text)


NOON, EVENING = at("2026-03-02T12:00"), at("2026-03-02T20:00")


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        pytest.param(NOON, EVENING - HOUR / 4, "-05:00", id="the same period"),
        pytest.param(NOON - HOUR, NOON, "-05:00", id="the first record is written at the end"),
        pytest.param(NOON - 2 * HOUR, NOON, None, id="begins before the records"),
        pytest.param(NOON, EVENING, None, id="ends after the records"),
        pytest.param(EVENING + 2 * HOUR, EVENING + 3 * HOUR, None, id="after the records"),
    ],
)
def test_the_records_have_to_cover_the_report(first: datetime, last: datetime, expected: str | None) -> None:
    loads = LoadsByEnd([loaded(1, (NOON, EVENING, -5))])
    assert stated_zone("SYSA", (first, last), loads) == expected
    assert stated_zone("SYSB", (first, last), loads) is None


def test_several_loads_cover_a_report_together() -> None:
    days = [at("2026-03-02"), at("2026-03-03"), at("2026-03-04")]
    period = (days[0], days[2] + 20 * HOUR)
    parts = [loaded(number, (day, day + 24 * HOUR, 1)) for number, day in enumerate(days)]
    assert stated_zone("SYSA", period, LoadsByEnd(parts)) == "+01:00"
    assert stated_zone("SYSA", period, LoadsByEnd(reversed(parts))) == "+01:00"
    late = loaded(3, (days[2] + 25 * HOUR, days[2] + 26 * HOUR, 2))
    assert stated_zone("SYSA", period, LoadsByEnd([*parts, late])) == "+01:00"
    other = loaded(3, (days[2] + 21 * HOUR, days[2] + 26 * HOUR, 2))
    assert stated_zone("SYSA", period, LoadsByEnd([*parts, other])) is None


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Sydney"])
@pytest.mark.parametrize("which", [0, 1])
def test_no_report_of_a_repeated_hour_has_an_offset(zone: str, which: int) -> None:
    """Whichever of the two hours the records are of, the report can be of the other one."""
    clock = ZoneInfo(zone)
    moments = [datetime(2026, 1, 1, tzinfo=UTC) + number * HOUR for number in range(24 * 364)]
    offsets = [moment.astimezone(clock).utcoffset() for moment in moments]
    [change] = [
        number for number, (one, other) in enumerate(pairwise(offsets), 1)
        if one and other and other < one
    ]  # fmt: skip
    hour = moments[change + which - 1].astimezone(clock)
    offset = hour.utcoffset()
    assert offset is not None
    local = hour.replace(tzinfo=None)
    stated = loaded(1, (local, local + HOUR, offset // HOUR))
    assert stated_zone("SYSA", (local, local + HOUR / 2), LoadsByEnd([stated])) is None
    week = timedelta(days=7)
    stated = loaded(1, (local + week, local + week + HOUR, offset // HOUR))
    assert stated_zone("SYSA", (local + week, local + week + HOUR / 2), LoadsByEnd([stated]))


def test_nothing_is_decided_without_a_tz_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zscope.pipelines.local_time.rmf_by_smf70.available_timezones", set)
    assert stated_zone("SYSA", (NOON, NOON), LoadsByEnd([loaded(1, (NOON, EVENING, 1))])) is None
