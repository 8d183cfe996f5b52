"""Days are those of the clocks of the systems: in all zones, and when clocks change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import groupby, pairwise
from typing import Any

import pytest
from tests.dumps import generated
from tests.marking import deep_except
from tests.pipelines.stores import EVERYTHING, load

from zscope.parsers import read
from zscope.parsers.zones import zone_of
from zscope.pipelines.python_store import Store
from zscope.pipelines.settings import Settings
from zscope.samples import Recipe, RecordKind
from zscope.samples.dump.recipe import named_systems

DETAIL = "smf119_zert_detail"
MIX = {RecordKind.ZERT_DETAIL: 0.3, RecordKind.RMF_CPU: 0.7}
"""There are fewer CPU intervals, so the rest are connections, too."""
SYSTEMS = ("SYSA", "SYSB")
_STEP = timedelta(minutes=30)
_RECORDS_PER_STEP = 4


@dataclass(frozen=True)
class DaysOfZone:
    """Some days in a time zone."""

    zone: str
    first: date
    days: int = 3

    def midnight(self, day: date) -> datetime:
        return datetime.combine(day, time(), self.clock).astimezone(UTC)

    @property
    def clock(self) -> tzinfo:
        return zone_of(self.zone)

    def every_day(self) -> list[date]:
        return [self.first + timedelta(days=number) for number in range(self.days)]

    def parts(self) -> Iterator[tuple[date, datetime, datetime, timedelta]]:
        """Yield the parts of each day with one offset of the clock: day, start, end, offset."""
        for day in self.every_day():
            start, end = self.midnight(day), self.midnight(day + timedelta(days=1))
            moments = [start + number * _STEP for number in range((end - start) // _STEP)]
            parts = groupby(moments, lambda moment: moment.astimezone(self.clock).utcoffset())
            begins = [(next(of_part), offset) for offset, of_part in parts]
            for (begin, offset), (until, _) in pairwise([*begins, (end, None)]):
                assert offset is not None
                yield day, begin, until, offset


WORLDS = {
    "an hour of UTC belongs to two days": DaysOfZone("+05:30", date(2026, 3, 2)),
    "autumn in New York": DaysOfZone("America/New_York", date(2026, 10, 31)),
    "five hours behind": DaysOfZone("-05:00", date(2026, 3, 2)),
    "spring in New York": DaysOfZone("America/New_York", date(2026, 3, 7)),
    "spring in Berlin": DaysOfZone("Europe/Berlin", date(2026, 3, 28)),
    "autumn in Berlin": DaysOfZone("Europe/Berlin", date(2026, 10, 24)),
}


@dataclass(frozen=True)
class LoadedDays:
    """A store with the records of these days, and what they contain."""

    days: DaysOfZone
    store: Store
    handshakes: Mapping[tuple[str, date], int]
    ended: Mapping[tuple[str, date], int]
    """Connections that ended."""
    intervals: Mapping[tuple[str, date], int]
    """CPU intervals that began."""

    def metric(self, name: str, **options: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - options of metrics
        rows: list[dict[str, Any]] = self.store.metric(name, **options).to_arrow_table().to_pylist()
        return rows


@pytest.fixture(
    scope="module",
    params=deep_except(["an hour of UTC belongs to two days", "autumn in New York"], list(WORLDS)),
)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedDays]:
    days, folder = WORLDS[request.param], tmp_path_factory.mktemp("days")
    handshakes: Counter[tuple[str, date]] = Counter()
    ended: Counter[tuple[str, date]] = Counter()
    intervals: Counter[tuple[str, date]] = Counter()
    for number, (day, begin, until, offset) in enumerate(days.parts()):
        # All connections of a dump begin and end in its time.
        recipe = Recipe(
            records=_RECORDS_PER_STEP * ((until - begin) // _STEP),
            seed=number,
            mix=MIX,
            start=begin,
            end=until,
            interval_minutes=_STEP // timedelta(minutes=1),
            systems=named_systems(*SYSTEMS, utc_offset_minutes=offset // timedelta(minutes=1)),
        )
        path = folder / f"{number}.smf"
        path.write_bytes(generated(recipe))
        tables = read(path, [DETAIL, "smf70_interval"]).tables
        for row in tables["smf70_interval"].to_pylist():
            intervals[row["system"], day] += 1
        for system, count, is_end in counted(tables[DETAIL].to_pylist()):
            handshakes[system, day] += count
            ended[system, day] += is_end
    how = replace(EVERYTHING, settings=Settings().merge([days.zone]))
    load(folder / "store", *sorted(folder.glob("*.smf")), how=how)
    with Store(folder / "store") as store:
        yield LoadedDays(days, store, handshakes, ended, intervals)


def counted(rows: list[dict[str, Any]]) -> Iterator[tuple[str, int, bool]]:
    """Yield of each connection its system, its handshakes, and whether it ended."""

    def connection(row: dict[str, Any]) -> tuple[Any, ...]:
        return row["system"], row["stack"], row["connection_id"], row["start_utc"]

    ordered = sorted(rows, key=lambda row: (connection(row), row["event_type"], row["written_local"]))
    for key, of_connection in groupby(ordered, connection):
        records = [row for row in of_connection if row["event_type"] in {1, 2, 3, 4}]
        shown = [
            (row["security_protocols_flags"] & 128 or (row["handshake_type"] or 0) > 0)
            and tuple(row[name] for name in ("handshake_type", "session_id", "tls_version", "cipher"))
            for row in records
        ]
        sessions = [session for session, _ in groupby(shown) if session]
        yield key[0], len(sessions), any(row["event_type"] in {3, 4} for row in records)


def test_handshakes_of_each_local_day_are_those_of_its_records(loaded: LoadedDays) -> None:
    rows = loaded.metric("handshake_mix", by="system,day")
    assert {(row["system"], row["day"]): row["handshakes"] for row in rows} == loaded.handshakes


def test_a_period_of_local_days_has_the_rows_of_these_days(loaded: LoadedDays) -> None:
    for day in loaded.days.every_day():
        rows = loaded.metric("handshake_mix", by="system", from_=day, to=day.isoformat())
        assert {row["system"]: row["handshakes"] for row in rows} == {
            system: loaded.handshakes[system, day] for system in SYSTEMS
        }
    last = loaded.metric("handshake_mix", by="all", from_=loaded.days.every_day()[1])
    assert last[0]["handshakes"] == sum(
        count for (_, day), count in loaded.handshakes.items() if day > loaded.days.first
    )


def test_the_hours_of_a_local_day_add_up_to_it(loaded: LoadedDays) -> None:
    rows = loaded.metric("handshake_mix", by="system,day,hour_utc")
    sums: Counter[tuple[str, date]] = Counter()
    for row in rows:
        sums[row["system"], row["day"]] += row["handshakes"]
        begin = loaded.days.midnight(row["day"]) - timedelta(hours=1)
        assert begin < row["hour_utc"] < loaded.days.midnight(row["day"] + timedelta(days=1))
    assert sums == loaded.handshakes


def test_the_day_of_a_table_is_the_day_of_a_metric(loaded: LoadedDays) -> None:
    found = loaded.store.sql(
        f"SELECT system, day, count(*) FROM {DETAIL} WHERE event_type IN (3, 4) GROUP BY ALL"
    )
    assert {tuple(row[:2]): row[2] for row in found.fetchall()} == loaded.ended


def test_connections_by_hours_of_utc_are_on_the_day_in_which_the_hour_begins(loaded: LoadedDays) -> None:
    found = loaded.store.sql(f"SELECT system, end_utc FROM {DETAIL} WHERE event_type IN (3, 4)").fetchall()
    hours = ((system, end.astimezone(UTC).replace(minute=0, second=0)) for system, end in found)
    days = Counter((system, hour.astimezone(loaded.days.clock).date()) for system, hour in hours)
    assert (days == loaded.ended) is (loaded.days.zone != "+05:30")
    rows = loaded.metric("tls_posture", by="system,day")
    assert {(row["system"], row["day"]): row["connections"] for row in rows} == days


def test_a_day_of_23_or_25_hours_is_one_day(loaded: LoadedDays) -> None:
    for day in loaded.days.every_day():
        rows = loaded.metric("cpu_interval", from_=day, to=day)
        assert Counter(row["system"] for row in rows) == {
            system: loaded.intervals[system, day] for system in SYSTEMS
        }
        length = loaded.days.midnight(day + timedelta(days=1)) - loaded.days.midnight(day)
        assert min(row["interval_start_utc"] for row in rows) == loaded.days.midnight(day)
        assert loaded.intervals["SYSA", day] == length // _STEP


def test_metrics_with_a_period_as_parameters_use_local_days(loaded: LoadedDays) -> None:
    day = loaded.days.every_day()[1]
    rows = loaded.metric("peak_load", from_=day, to=day, where="measure = 'CPU time'")
    assert {row["system"]: row["intervals"] for row in rows} == {
        system: loaded.intervals[system, day] for system in SYSTEMS
    }
