"""The values of a store that the filter bar offers: systems, stacks, ports, jobs, and the days with data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from zscope.app.dashboard.page_data import StoreQueries

MOST_OFFERED = 1000
"""Of jobs and ports only the busiest are offered: a store can have very many."""
_VALUES = """
    SELECT system, stack, server_port, job_name, hour_utc, handshakes AS weight FROM handshake_hour
    UNION ALL BY NAME
    SELECT system, stack, server_port, job_name, hour_utc, connections AS weight FROM tls_hour
    WHERE source = reported_by
    UNION ALL BY NAME
    SELECT system, interval_start_utc AS hour_utc, 0 AS weight FROM cpu_interval
"""
_OFFSETS = "SELECT system, from_local, offset_s FROM clock_offset ORDER BY system, from_local"


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """What the clock of a system is ahead of UTC from a time on."""

    system: str
    from_local: datetime
    offset_s: float


@dataclass(frozen=True, slots=True)
class Choices:
    """The values in the store: systems and stacks by name, ports and jobs with the busiest first."""

    systems: tuple[str, ...]
    stacks: tuple[str, ...]
    ports: tuple[int, ...]
    jobs: tuple[str, ...]
    first_utc: datetime | None
    last_utc: datetime | None
    first_day: date | None
    """Days are local days of the systems."""
    last_day: date | None
    newest_day: date | None
    """The last day with handshakes or connections of production; without any, that of all data."""
    offsets: tuple[ClockOffset, ...] = ()
    """Those of each system in the order of time."""
    has_runs: bool = False
    """Whether hours with benchmark runs are left out of shares and rates."""
    end_utc: datetime | None = None
    """The end of the data, as the report states it."""

    def midnights(self, day: date, systems: Collection[str] = ()) -> tuple[datetime, datetime]:
        """Return the moments at which a day begins on the first and the last of some systems, or of all."""
        local = datetime.combine(day, time())
        seconds = {
            offset.system: offset.offset_s
            for offset in self.offsets
            if offset.from_local <= local and (not systems or offset.system in systems)
        }
        begins = [local - timedelta(seconds=offset) for offset in seconds.values()] or [local]
        return min(begins).replace(tzinfo=UTC), max(begins).replace(tzinfo=UTC)

    def zone(self, systems: Collection[str] = ()) -> timezone:
        """Return the clock that some systems, or all, have at all times; UTC if they have several."""
        seconds = {offset.offset_s for offset in self.offsets if not systems or offset.system in systems}
        return timezone(timedelta(seconds=seconds.pop())) if len(seconds) == 1 else UTC


def choices(queries: StoreQueries, version: str) -> Choices:
    """Return the values that the filter bar offers for a store."""
    [row] = queries.rows(version, f"""
        WITH seen AS MATERIALIZED ({_VALUES}),
        counted AS (
            SELECT unnest([
                struct_pack(kind := 'system', value := system), struct_pack(kind := 'stack', value := stack),
                struct_pack(kind := 'port', value := server_port::VARCHAR),
                struct_pack(kind := 'job', value := job_name)
            ], recursive := true), weight FROM seen
        ),
        ranked AS (
            SELECT kind, value, sum(weight) AS weight FROM counted WHERE value <> '' GROUP BY kind, value
            QUALIFY row_number() OVER (PARTITION BY kind ORDER BY sum(weight) DESC, value) <= {MOST_OFFERED}
        ),
        each_hour AS (
            SELECT s.system, s.hour_utc, max(if(l.system IS NULL, s.weight, 0)) AS weight
            FROM seen AS s LEFT JOIN run_hour AS l ON s.system = l.system AND s.hour_utc = l.hour_utc
            GROUP BY ALL
        ),
        placed AS (
            SELECT local_day(h.hour_utc, o.offset_s) AS day, h.weight
            FROM each_hour AS h ASOF LEFT JOIN clock_offset AS o
                ON h.system = o.system AND h.hour_utc >= o.from_utc
        )
        SELECT
            list(value ORDER BY value) FILTER (WHERE kind = 'system') AS systems,
            list(value ORDER BY value) FILTER (WHERE kind = 'stack') AS stacks,
            list(TRY_CAST(value AS BIGINT) ORDER BY weight DESC, value) FILTER (WHERE kind = 'port') AS ports,
            list(value ORDER BY weight DESC, value) FILTER (WHERE kind = 'job') AS jobs,
            (SELECT min(hour_utc) FROM seen) AS first_utc,
            (SELECT max(hour_utc) FROM seen) AS last_utc,
            coalesce(
                (SELECT last_utc FROM end_of_data), (SELECT max(hour_utc) FROM seen) + INTERVAL 1 HOUR
            ) AS end_utc,
            (SELECT min(day) FROM placed) AS first_day,
            (SELECT max(day) FROM placed) AS last_day,
            (SELECT coalesce(max(day) FILTER (weight > 0), max(day)) FROM placed) AS newest_day,
            EXISTS (FROM run_hour) AS has_runs
        FROM ranked
    """).to_pylist()  # fmt: skip
    return Choices(
        systems=tuple(row["systems"] or ()),
        stacks=tuple(row["stacks"] or ()),
        ports=tuple(row["ports"] or ()),
        jobs=tuple(row["jobs"] or ()),
        first_utc=row["first_utc"],
        last_utc=row["last_utc"],
        end_utc=row["end_utc"],
        first_day=row["first_day"],
        last_day=row["last_day"],
        newest_day=row["newest_day"],
        has_runs=row["has_runs"],
        offsets=tuple(ClockOffset(**offset) for offset in queries.rows(version, _OFFSETS).to_pylist()),
    )
