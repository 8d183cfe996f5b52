"""What the head of a report says about the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.app.figures.figure_rows import plain_rows

if TYPE_CHECKING:
    from zscope.app.figures.figure_data import FigureData
    from zscope.app.figures.figure_rows import Row


def store_facts(data: FigureData) -> Row:
    """Return how much is loaded, from when to when, and whether it is synthetic."""
    systems = data.filters.conditions(("system",)) if data.filters.systems else []
    only = f"AND {' AND '.join(systems)}" if systems else ""
    table = data.rows(f"""
        WITH stored AS (FROM load WHERE status IN ('loaded', 'incomplete')),
        timed AS (
            SELECT k.first_local, k.last_local,
                (min(k.first_local - to_seconds(a.offset_s)) AT TIME ZONE 'UTC') AS first_utc,
                (max(k.last_local - to_seconds(b.offset_s)) AT TIME ZONE 'UTC') AS last_utc
            FROM (
                FROM load_kind SEMI JOIN stored USING (load_id)
                WHERE coalesce(record_type, 0) NOT IN (2, 3) AND first_local IS NOT NULL {only}
            ) AS k
            LEFT JOIN system_clock AS a ON a.load_id = k.load_id AND a.system = k.system
                AND k.first_local >= a.from_local AND k.first_local < a.to_local
            LEFT JOIN system_clock AS b ON b.load_id = k.load_id AND b.system = k.system
                AND k.last_local >= b.from_local AND k.last_local < b.to_local
            GROUP BY ALL
        )
        SELECT (SELECT count(*) FROM stored) AS loads,
            (SELECT coalesce(sum(rows), 0)::BIGINT FROM stored) AS rows,
            (SELECT max(started_utc) FROM stored) AS last_load_utc,
            (SELECT coalesce(bool_or(synthetic), false) FROM run) AS synthetic,
            (
                SELECT string_agg(DISTINCT system, ', ' ORDER BY system)
                FROM load_kind SEMI JOIN stored USING (load_id) WHERE system IS NOT NULL {only}
            ) AS systems,
            min(first_local) AS first_local, max(last_local) AS last_local, min(first_utc) AS first_utc,
            max(last_utc) AS last_utc,
            coalesce(bool_and(first_utc IS NOT NULL), false) AS in_utc
        FROM timed
    """)
    [ends] = data.found("end_of_data", "SELECT max(last_utc) AS last_utc FROM found").to_pylist()
    facts = plain_rows(table)[0]
    return facts | {"last_utc": ends["last_utc"] or facts["last_utc"]}
