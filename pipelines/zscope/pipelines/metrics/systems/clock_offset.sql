-- The offset of the clock of a system from UTC, from a moment on.
--
-- For each load and system it is that of the configured time zone, else the one that SMF 70 or 72 records state,
-- else the one that the times of other records show. The first offset of a system also applies to all time before, from 1900 on.

WITH loaded AS (
    SELECT
        load_id,
        system,
        min(first_local) AS first_local,
        max(last_local) AS last_local
    FROM load_kind
    GROUP BY load_id, system
),

recorded AS (
    SELECT
        load_id,
        system,
        from_local,
        offset_s
    FROM load_offset
    QUALIFY source = first_value(source) OVER (
        PARTITION BY load_id, system ORDER BY NOT starts_with(source, 'smf7'), source
    )
),

every_load AS (
    SELECT
        l.load_id,
        l.system,
        greatest(c.from_local, l.first_local) AS from_local,
        c.offset_s
    FROM loaded AS l
    INNER JOIN system_clock AS c
        ON
            l.load_id = c.load_id
            AND l.system = c.system
            AND c.from_local <= l.last_local
            AND c.to_local >= l.first_local
    UNION ALL
    SELECT r.*
    FROM recorded AS r
    ANTI JOIN system_clock AS c ON r.load_id = c.load_id AND r.system = c.system
),

in_order AS (
    SELECT
        *,
        day_begin(from_local, offset_s) AS moment_utc,
        lag(offset_s) OVER (PARTITION BY system ORDER BY moment_utc, load_id, from_local) AS offset_before
    FROM every_load
)

SELECT
    system::VARCHAR AS system,
    if(offset_before IS NULL, TIMESTAMPTZ '1900-01-01 00:00:00+00', moment_utc)::TIMESTAMPTZ AS from_utc,
    if(offset_before IS NULL, TIMESTAMP '1900-01-01 00:00:00', from_local)::TIMESTAMP AS from_local,
    offset_s::BIGINT AS offset_s
FROM in_order
WHERE offset_s IS DISTINCT FROM offset_before
ORDER BY system, from_utc
