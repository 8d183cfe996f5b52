"""What can be chosen in the filter bar."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Answers

_MOST = 1000
"""Of jobs and ports there can be as many as users; the busiest are offered."""
_SEEN = """
    SELECT system, stack, server_port, job_name, hour_utc, handshakes AS weight FROM handshake_hour
    UNION ALL BY NAME
    SELECT system, stack, server_port, job_name, hour_utc, connections AS weight FROM tls_hour
    WHERE source = told_by
    UNION ALL BY NAME
    SELECT system, interval_start_utc AS hour_utc, 0 AS weight FROM cpu_interval
"""


@dataclass(frozen=True, slots=True)
class Choices:
    """The values that the data has: systems and stacks by name, ports and jobs the busiest first."""

    systems: tuple[str, ...]
    stacks: tuple[str, ...]
    ports: tuple[int, ...]
    jobs: tuple[str, ...]
    first_utc: datetime | None
    last_utc: datetime | None


def choices(answers: Answers, version: str) -> Choices:
    """All that can be chosen of a store."""
    [found] = answers.rows(version, f"""
        WITH seen AS MATERIALIZED ({_SEEN}),
        counted AS (
            SELECT unnest([
                struct_pack(kind := 'system', value := system), struct_pack(kind := 'stack', value := stack),
                struct_pack(kind := 'port', value := server_port::VARCHAR),
                struct_pack(kind := 'job', value := job_name)
            ], recursive := true), weight FROM seen
        ),
        ranked AS (
            SELECT kind, value, sum(weight) AS weight FROM counted WHERE value <> '' GROUP BY kind, value
            QUALIFY row_number() OVER (PARTITION BY kind ORDER BY sum(weight) DESC, value) <= {_MOST}
        )
        SELECT
            list(value ORDER BY value) FILTER (WHERE kind = 'system') AS systems,
            list(value ORDER BY value) FILTER (WHERE kind = 'stack') AS stacks,
            list(TRY_CAST(value AS BIGINT) ORDER BY weight DESC, value) FILTER (WHERE kind = 'port') AS ports,
            list(value ORDER BY weight DESC, value) FILTER (WHERE kind = 'job') AS jobs,
            (SELECT min(hour_utc) FROM seen) AS first_utc,
            (SELECT max(hour_utc) FROM seen) AS last_utc
        FROM ranked
    """).to_pylist()  # fmt: skip
    return Choices(
        systems=tuple(found["systems"] or ()),
        stacks=tuple(found["stacks"] or ()),
        ports=tuple(found["ports"] or ()),
        jobs=tuple(found["jobs"] or ()),
        first_utc=found["first_utc"],
        last_utc=found["last_utc"],
    )
