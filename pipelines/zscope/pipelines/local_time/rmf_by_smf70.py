"""Give RMF reports the times in UTC that SMF 70 records of the same system know.

Reports have local times only. Without a configured time zone they get the offset that SMF 70 records state,
if it is one for their whole time. In autumn the offset alone does not tell the two hours apart that a clock
shows twice. A report with intervals of both hours goes back by an hour, and its pages are in order. A report
with intervals of one hour does not show which one it is, so its figures are compared with those of records:

- An interval is of the hour whose record has the same CPU use, within the rounding of the report.
- If records of both hours have it, or none has, the interval keeps no time in UTC.

All rows of the file for the same interval have the same time in UTC: those of Crypto Hardware Activity and
Workload Activity as well.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import available_timezones

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.zones import offset_text, zone_of
from zscope.pipelines.local_time.recorded_offsets import AROUND_CHANGE, LONGEST_PAUSE_H, is_stated, span_of
from zscope.pipelines.metrics import declared, macros_sql, needed, view_sql
from zscope.pipelines.store.parquet_files import written_again
from zscope.pipelines.store.tables import table_sql
from zscope.schemas.arrow import LOCAL
from zscope.schemas.arrow import UTC as UTC_TYPE
from zscope.schemas.reports import report_tables
from zscope.schemas.sql_text import literal
from zscope.schemas.stored import stored_schema, utc_clock

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.pipelines.local_time.recorded_offsets import LoadsByEnd, Period
    from zscope.pipelines.local_time.to_utc import ClockChange, Clocks
    from zscope.pipelines.store.commits import State
    from zscope.pipelines.store.folder import Folder
    from zscope.pipelines.store.parquet_files import StagedFile

_MEMORY = "256MB"
_START = "interval_start_local"
_START_UTC = utc_clock(_START)
_USE = "cpu_by_source"
"""The step with the CPU use of each interval from records and from reports."""
_NEAR_US = 450_000_000
"""Half of a quarter of an hour. Offsets of zones are quarters of an hour, those of records also contain leap
seconds.
"""
_COMPARED = f"""
WITH use AS (FROM {_USE})

SELECT
    report.system,
    epoch_us(report.interval_start_local),
    report.interval_ms,
    epoch_us(record.interval_start_utc),
    count(abs(figure.reported - figure.recorded)) > 0 AS has_figures,
    coalesce(bool_and(abs(figure.reported - figure.recorded) <= figure.allowed), false) AS agrees
FROM use AS report
LEFT JOIN use AS record
    ON
        record.source = 'smf70'
        AND report.system = record.system
        AND abs(epoch_us(report.interval_start_local) - epoch_us(record.interval_start_local)) <= 2000000
        AND abs(report.interval_ms - record.interval_ms) <= 2000
CROSS JOIN LATERAL (
    VALUES
    (report.lpar_busy_pct, record.lpar_busy_pct, busy_rounding_pct()),
    (report.ziip_busy_pct, record.ziip_busy_pct, busy_rounding_pct()),
    (
        report.cpu_s,
        record.cpu_s,
        cpu_rounding_s(report.cpu_s, record.cpu_s, record.cps_online, report.interval_ms)
    ),
    (
        report.ziip_s,
        record.ziip_s,
        cpu_rounding_s(report.ziip_s, record.ziip_s, record.ziips_online, report.interval_ms)
    )
) AS figure (reported, recorded, allowed)
WHERE report.source <> 'smf70'
GROUP BY ALL
"""


def stated_zone(system: str, period: Period, loads: LoadsByEnd) -> str | None:
    """Return the offset that SMF 70 records of other loads state for a period, as a fixed time zone.

    The period has the starts of the first and the last interval of a report. The result is None if the
    records do not cover it, if they state two offsets, or if a clock with this offset can be set back in it:
    then the offset does not tell a report of one of the two hours from a report of the other.
    """
    spans = sorted(
        span
        for load in loads.near(period, AROUND_CHANGE)
        for each in load.offsets
        if each.system == system and is_stated(each.source)
        if (span := span_of(each)).near(period, AROUND_CHANGE)
    )
    if len({span.offset_s for span in spans}) != 1:
        return None
    first, last = period
    pause = timedelta(hours=LONGEST_PAUSE_H)
    reached = first + timedelta(hours=1)  # the record of the first interval is written at its end
    for span in spans:
        if span.begin <= reached:
            reached = max(reached, span.end + pause)
    offset = timedelta(seconds=spans[0].offset_s)
    if last >= reached - pause or _can_be_set_back(offset, (first - offset, last - offset)):
        return None
    return offset_text(spans[0].offset_s)


def _can_be_set_back(offset: timedelta, utc: Period) -> bool:
    """Whether a time zone with an offset sets its clock back in a period, or shortly before or after."""
    first, last = (time.replace(tzinfo=UTC) for time in utc)
    moments = [first - AROUND_CHANGE]
    while moments[-1] < last + AROUND_CHANGE:
        moments.append(min(moments[-1] + timedelta(days=1), last + AROUND_CHANGE))
    names = available_timezones()
    for name in names:
        clock = zone_of(name)
        offsets = [moment.astimezone(clock).utcoffset() or timedelta() for moment in moments]
        if any(after < before and offset in {before, after} for before, after in pairwise(offsets)):
            return True
    return not names  # without the tz database nothing is known


class ReportInterval(NamedTuple):
    """An interval of a report."""

    system: str
    start_us: int
    """Local time."""
    length_ms: int


@cache
def _tables() -> tuple[str, ...]:
    """Return the tables of reports whose rows are of an interval.

    >>> _tables()
    ('rmf_cpu', 'rmf_crypto', 'rmf_interval', 'rmf_partition', 'rmf_workload')
    """
    marked = (name for name in report_tables() if "second_hour" in stored_schema(name).names)
    return tuple(sorted(marked))


@dataclass
class RepeatedHours:
    """The intervals of one file in hours that a clock showed twice."""

    folder: Folder
    state: State
    clocks: Clocks
    awaits_records: bool = False
    """Whether SMF 70 records that are not loaded can tell the hour of an interval; set by `decide`."""
    _rows: Counter[ReportInterval] = field(default_factory=Counter)
    """Number of rows by interval, of those without a time in UTC."""

    def decide(self, staged: list[StagedFile], work: Path, again: str) -> list[StagedFile]:
        """Return the files with the times in UTC that SMF 70 records show.

        `work` is a folder for temporary files, and `again` states how to load the file another time.
        """
        files = [file for file in staged if file.table in _tables()]
        if not files or not self.clocks.has_ambiguous_rows:
            return staged
        with duckdb.connect(
            config={"memory_limit": _MEMORY, "temp_directory": str(work / "spill")}
        ) as connection:
            # DuckDB would draw it on standard output, which is for data.
            connection.execute("SET enable_progress_bar = false")
            self._find(connection, files)
            if not self._rows:
                return staged
            starts = self._starts(connection, files, again)
        if not starts:
            return staged
        for interval in starts:
            self._change(interval).rows -= self._rows[interval]
        return [_with_starts(file, starts) if file in files else file for file in staged]

    def _find(self, connection: duckdb.DuckDBPyConnection, files: list[StagedFile]) -> None:
        for file in files:
            rows = connection.execute(
                f"""
                SELECT system::VARCHAR, epoch_us({_START}), interval_ms, count(*)
                FROM {_parquet(file.path)}
                WHERE {_START_UTC} IS NULL AND {_START} IS NOT NULL AND system IS NOT NULL
                GROUP BY ALL
                """
            ).fetchall()
            for system, start, length, count in rows:
                if length is not None and self.clocks.repeated(system, start):
                    self._rows[ReportInterval(system, start, length)] += count

    def _starts(
        self, connection: duckdb.DuckDBPyConnection, files: list[StagedFile], again: str
    ) -> dict[ReportInterval, int]:
        """Return the start in UTC of the intervals that records decide, and advise about the others."""
        self._make_views(connection, files)
        # By interval with CPU figures in this file: the start in UTC of each record, and whether it agrees.
        recorded: dict[ReportInterval, list[tuple[int, bool]]] = defaultdict(list)
        for system, start, length, moment, has_figures, agrees in connection.execute(_COMPARED).fetchall():
            found = recorded[ReportInterval(system, start, length)]
            if moment is not None and has_figures:
                found.append((moment, agrees))
        starts, missing = {}, {}
        for interval in self._rows.keys() & recorded.keys():
            times = self._change(interval).both_times(interval.start_us)
            found = recorded[interval]
            agreeing = [t for t in times if any(agrees and _near(moment, t) for moment, agrees in found)]
            if len(agreeing) == 1:
                starts[interval] = agreeing[0]
            else:
                missing[interval] = not all(any(_near(moment, t) for moment, _ in found) for t in times)
        self.awaits_records = any(missing.values())
        # An hour has one advice: what can be done comes last and remains.
        for interval in self._rows.keys() - recorded.keys():
            self._change(interval).advice = (
                "SMF 70 records tell which one it was, if the report has CPU Activity or Partition Data of "
                "the same intervals"
            )
        for interval, can_be_loaded in sorted(missing.items(), key=lambda each: each[1]):
            self._change(interval).advice = (
                f"SMF 70 records of both hours tell which one it was: load them, {again}"
                if can_be_loaded
                else "the SMF 70 records of the two hours do not tell which one it was"
            )
        return starts

    def _change(self, interval: ReportInterval) -> ClockChange:
        change = self.clocks.repeated(interval.system, interval.start_us)
        assert change is not None, "other intervals are not counted"
        return change

    def _make_views(self, connection: duckdb.DuckDBPyConnection, files: list[StagedFile]) -> None:
        """Create the steps of the CPU use over the undecided rows, and the records of their days."""
        days = {day for interval in self._rows for day in _days_near(interval.start_us)}
        connection.execute(macros_sql())
        for name in needed(_USE):
            if name in declared():
                sql = view_sql(declared()[name])
            elif name in _tables():
                undecided = (
                    f"SELECT *, CAST({literal(file.day) if file.day else 'NULL'} AS DATE) AS day "
                    f"FROM {_parquet(file.path)} WHERE {_START_UTC} IS NULL"
                    for file in files
                    if file.table == name
                )
                sql = " UNION ALL ".join(undecided) or table_sql(self.folder, self.state, name, [])
            else:
                stored = {file.path: file for day in sorted(days) for file in self.state.files_for(name, day)}
                sql = table_sql(self.folder, self.state, name, stored.values(), days)
            connection.execute(f"CREATE VIEW {name} AS {sql}")


def _near(one: int, other: int) -> bool:
    return abs(one - other) < _NEAR_US


def _days_near(start_us: int) -> list[str]:
    """Return the days of records of an interval: a record is written at its end, or a little later."""
    day = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=start_us)).date()
    return [(day + timedelta(days=distance)).isoformat() for distance in (-1, 0, 1)]


def _with_starts(file: StagedFile, starts: dict[ReportInterval, int]) -> StagedFile:
    """Write a staged file again, with the start in UTC of intervals."""

    def decided(rows: pa.Table) -> pa.Table:
        times = rows[_START_UTC].combine_chunks()
        for interval, start in starts.items():
            same = _rows_of(rows, interval)
            times = pc.if_else(same, pa.scalar(start, pa.int64()).cast(UTC_TYPE), times)
        return rows.set_column(rows.schema.get_field_index(_START_UTC), rows.schema.field(_START_UTC), times)

    return written_again(file, "decided", decided)


def _rows_of(rows: pa.Table, interval: ReportInterval) -> pa.ChunkedArray:
    """Return which rows without a time in UTC are of an interval."""
    same = pc.is_null(rows[_START_UTC])
    same = pc.and_(same, pc.equal(rows["system"].cast(pa.string()), interval.system))
    same = pc.and_(same, pc.equal(rows[_START], pa.scalar(interval.start_us, pa.int64()).cast(LOCAL)))
    same = pc.and_(same, pc.equal(rows["interval_ms"], interval.length_ms))
    return pc.fill_null(same, False)


def _parquet(path: Path) -> str:
    return f"read_parquet({literal(str(path))}, hive_partitioning = false)"
