"""Systems without a time zone, and time zones that the records or other loads contradict."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from tests.pipelines.stores import EVERYTHING, load

from zscope.parsers.issues import Code, Issue, Issues
from zscope.pipelines.local_time.recorded_offsets import LoadsByEnd, RecordedOffsets, ZoneChecks
from zscope.pipelines.settings import Settings, Zones
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.commits import Load, LoadKind
from zscope.schemas.stored import stored_schema

if TYPE_CHECKING:
    from collections.abc import Iterable

BERLIN = ZoneInfo("Europe/Berlin")
HOUR = timedelta(hours=1)
WINTER = datetime(2026, 3, 2, 9, tzinfo=UTC)
CHANGES = [datetime(2026, 3, 29, 1, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC)]
DUMP = Path(__file__).resolve().parents[3] / "sample-data" / "smf-sample.bin"
ZERT, SMF70 = "smf119_zert_detail", "smf70_interval"


def rows_at(table: str, moments: Iterable[datetime], clock: Any) -> pa.RecordBatch:  # noqa: ANN401 - a zone
    """Rows written at moments by a clock with a zone."""
    rows = []
    for moment in moments:
        local = moment.astimezone(clock)
        offset = local.utcoffset()
        assert offset is not None
        values: dict[str, object] = {
            "system": "SYSA", "written_local": local.replace(tzinfo=None),
            "end_utc": moment - timedelta(seconds=1),
            "local_offset_us": offset // timedelta(microseconds=1),
        }  # fmt: skip
        rows.append({name: values.get(name) for name in stored_schema(table).names})
    return pa.RecordBatch.from_pylist(rows, stored_schema(table))


def checked(
    *batches: tuple[str, pa.RecordBatch],
    zone: str | None = None,
    others: Iterable[Load] = (),
    load_id: int = 9,
) -> tuple[Load, list[Issue]]:
    zones, offsets, issues = Zones({"SYSA": zone} if zone else {}), RecordedOffsets(), Issues()
    times = []
    for table, rows in batches:
        offsets.observe(table, rows, zones)
        times += rows["written_local"].to_pylist()
    first, last = min(times).isoformat(), max(times).isoformat()
    kind = LoadKind("SYSA", 119, 11, None, 1, 1, first, last)
    entry = Load(
        load_id, "dump", (), "smf", "rdw", "everything", "", 0, None, "2026-03-03T00:00:00", 0.0,
        first_local=first, last_local=last, kinds=(kind,), zones={"SYSA": zone} if zone else {},
        offsets=offsets.spans(),
    )  # fmt: skip
    ZoneChecks(entry, offsets, LoadsByEnd(others)).report(issues, stored=True)
    return entry, list(issues)


def hours(begin: datetime, count: int) -> list[datetime]:
    return [begin + HOUR * number / 4 for number in range(4 * count)]


@pytest.mark.parametrize(("table", "how"), [(SMF70, "stated in"), (ZERT, "shown by the times in")])
def test_a_missing_zone_is_reported_with_the_option_that_repairs_it(table: str, how: str) -> None:
    _, [issue] = checked((table, rows_at(table, hours(WINTER, 2), BERLIN)))
    assert issue.code is Code.NO_TIME_ZONE
    assert issue.text.startswith("8 rows have no time in UTC, because the time zone of SYSA")
    assert f"the offset {how} {table} is +01:00" in issue.text
    assert issue.text.endswith(
        "zscope loads remove 9, and then ingest the file again with --timezone SYSA=+01:00"
    )


def test_a_fixed_offset_is_not_advised_if_the_clock_was_changed() -> None:
    _, [issue] = checked((SMF70, rows_at(SMF70, hours(CHANGES[0] - 3 * HOUR, 6), BERLIN)))
    assert "+01:00 and +02:00 at different times" in issue.text
    assert issue.text.endswith("--timezone SYSA=ZONE")


def test_another_load_of_the_day_gives_the_zone() -> None:
    other, _ = checked((ZERT, rows_at(ZERT, [WINTER], BERLIN)), zone="Europe/Berlin", load_id=3)
    event = rows_at(ZERT, [WINTER + HOUR], BERLIN)
    without_end = event.set_column(
        event.schema.get_field_index("end_utc"),
        event.schema.field("end_utc"),
        pa.nulls(1, event["end_utc"].type),
    )
    _, [issue] = checked((ZERT, without_end), others=[other])
    assert "the time zone of load 3 is Europe/Berlin" in issue.text
    assert issue.text.endswith("--timezone SYSA=Europe/Berlin")


@pytest.mark.parametrize("table", [SMF70, ZERT])
def test_a_zone_that_the_records_contradict_is_a_conflict(table: str) -> None:
    rows = table, rows_at(table, hours(WINTER, 3), BERLIN)
    assert checked(rows, zone="+01:00")[1] == []
    _, [issue] = checked(rows, zone="+01:15")
    assert issue.code is Code.ZONE_CONFLICT
    assert "the configured time zone +01:15 (+01:15) and the offset" in issue.text
    assert f"in {table} (+01:00) cannot both be true at 2026-03-02 10:00 local time" in issue.text


def test_two_sources_of_a_file_can_contradict_each_other() -> None:
    zert = ZERT, rows_at(ZERT, hours(WINTER, 3), BERLIN)
    _, found = checked(zert, (SMF70, rows_at(SMF70, hours(WINTER + HOUR, 3), UTC)))
    assert [issue.code for issue in found] == [Code.NO_TIME_ZONE, Code.ZONE_CONFLICT]


def test_loads_with_different_zones_are_a_conflict_only_if_their_times_overlap() -> None:
    rows = ZERT, rows_at(ZERT, hours(WINTER, 3), BERLIN)
    other, _ = checked(rows, zone="+02:00", load_id=3)
    _, [issue] = checked(rows, zone="+01:00", others=[other])
    assert "the time zone of load 3 (+02:00)" in issue.text
    later = ZERT, rows_at(ZERT, hours(WINTER + 24 * HOUR, 3), BERLIN)
    assert checked(later, zone="+01:00", others=[other])[1] == []


def test_files_with_one_of_the_two_hours_each_are_no_conflict() -> None:
    """Dumps can be written every hour: at the same local times, one has the one offset, one the other."""
    change = CHANGES[1]
    first = SMF70, rows_at(SMF70, hours(change - HOUR, 1), BERLIN)
    second = SMF70, rows_at(SMF70, hours(change, 1), BERLIN)
    other, issues = checked(first, zone="Europe/Berlin", load_id=3)
    assert issues == []
    assert checked(second, zone="Europe/Berlin", others=[other])[1] == []
    wrong = SMF70, rows_at(SMF70, hours(change, 1), timezone(3 * HOUR))
    _, [issue] = checked(wrong, zone="Europe/Berlin", others=[other])
    assert issue.code is Code.ZONE_CONFLICT


@pytest.mark.parametrize("change", CHANGES)
def test_a_clock_change_is_no_conflict(change: datetime) -> None:
    around = hours(change - 6 * HOUR, 12)
    late = rows_at(SMF70, around, BERLIN)
    kept = [row["local_offset_us"] for row in late.to_pylist()]
    kept = [*kept[:1] * 4, *kept[:-4]]  # the record of an interval states the offset at its start
    index = late.schema.get_field_index("local_offset_us")
    late = late.set_column(index, late.schema.field(index), pa.array(kept, late.schema.field(index).type))
    rows = [(ZERT, rows_at(ZERT, around, BERLIN)), (SMF70, late)]
    assert checked(*rows, zone="Europe/Berlin")[1] == []
    _, [issue] = checked(*rows, zone="+01:00")
    assert issue.code is Code.ZONE_CONFLICT


def test_a_damaged_record_shows_no_offset() -> None:
    good = rows_at(ZERT, hours(WINTER, 50), BERLIN)
    bad = rows_at(ZERT, [WINTER + 10 * HOUR], UTC)
    _, found = checked((ZERT, good), (ZERT, bad), zone="Europe/Berlin")
    assert found == []


@pytest.mark.deep
def test_the_option_that_the_issue_names_repairs_the_store(tmp_path: Path) -> None:
    store = tmp_path / "store"
    report = load(store, DUMP)
    texts = [issue.text for issue in report.issues if issue.code is Code.NO_TIME_ZONE]
    named = [text.rpartition("--timezone ")[2] for text in texts]
    assert named == ["SYSA=+01:00", "SYSB=+01:00"]
    right = replace(EVERYTHING, settings=Settings().merge(named))
    again = load(tmp_path / "right", DUMP, how=right)
    assert not {Code.NO_TIME_ZONE, Code.ZONE_CONFLICT} & {issue.code for issue in again.issues}
    with open_reader(tmp_path / "right") as connection:
        query = "SELECT count(*) FILTER (WHERE written_utc IS NULL), count(*) FROM smf119_zert_detail"
        counts = connection.execute(query).fetchone()
        spans = connection.execute("SELECT DISTINCT system, offset_s FROM load_offset ORDER BY 1").fetchall()
    assert counts is not None
    assert counts[0] == 0 < counts[1]
    assert spans == [("SYSA", 3600), ("SYSB", 3600)]
    wrong = replace(EVERYTHING, settings=Settings().merge(["SYSA=+02:00", "SYSB=+01:00"]))
    conflicts = [i for i in load(tmp_path / "wrong", DUMP, how=wrong).issues if i.code is Code.ZONE_CONFLICT]
    assert [issue.text[:5] for issue in conflicts] == ["SYSA:"]
