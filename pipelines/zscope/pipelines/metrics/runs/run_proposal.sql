-- Successive minutes that look like one side of a benchmark run: their connections are alike.
--
-- The handshakes in zERT records are counted by minute and side of a system. A minute is steady if it has at
-- least run_least_connections of them and run_alike_pct of them have the same version, cipher and kind of
-- handshake. Successive steady minutes belong together if these are the same, the bytes per connection are
-- the same within run_bytes_pct, and the number of connections within a factor of 1.5; at least
-- run_least_minutes of them are proposed as a run. Sides that are alike and overlap in time get the same
-- name.

WITH by_kind AS (
    SELECT
        system,
        CASE WHEN handshake_role LIKE 'server%' THEN 'server' ELSE handshake_role END AS role,
        minute_of(epoch_us(event_utc)) AS minute_no,
        tls_version,
        cipher,
        kind,
        count(*) AS connections,
        sum(in_bytes) AS in_bytes,
        sum(out_bytes) AS out_bytes
    FROM handshake
    WHERE event_utc IS NOT NULL AND kind IN ('full', 'resumed')
    GROUP BY ALL
),

steady AS (
    SELECT
        *,
        100 * connections / sum(connections) OVER in_minute AS alike_pct,
        in_bytes / connections AS in_each,
        out_bytes / connections AS out_each
    FROM by_kind
    WHERE role IN ('client', 'server')
    WINDOW in_minute AS (PARTITION BY system, role, minute_no)
    QUALIFY
        alike_pct >= coalesce(getvariable('run_alike_pct'), 95)
        AND connections >= coalesce(getvariable('run_least_connections'), 10)
),

beginning AS (
    SELECT
        *,
        coalesce(
            minute_no > 1 + lag(minute_no) OVER before
            OR (tls_version, cipher, kind) IS DISTINCT FROM lag((tls_version, cipher, kind)) OVER before
            OR abs(in_each - lag(in_each) OVER before)
            > coalesce(getvariable('run_bytes_pct'), 10) / 100 * lag(in_each) OVER before
            OR abs(out_each - lag(out_each) OVER before)
            > coalesce(getvariable('run_bytes_pct'), 10) / 100 * lag(out_each) OVER before
            OR connections
            NOT BETWEEN lag(connections) OVER before / 1.5 AND lag(connections) OVER before * 1.5,
            true
        ) AS begins
    FROM steady
    WINDOW before AS (PARTITION BY system, role ORDER BY minute_no)
),

numbered AS (
    SELECT
        *,
        sum(begins::INTEGER) OVER (PARTITION BY system, role ORDER BY minute_no) AS stretch_no
    FROM beginning
),

stretch AS (
    SELECT
        system,
        role,
        tls_version,
        cipher,
        kind,
        min(minute_no) AS first_minute,
        max(minute_no) + 1 AS end_minute,
        count(*) AS minutes,
        sum(connections) AS connections,
        min(alike_pct) AS alike_pct,
        sum(in_bytes) / sum(connections) AS in_each,
        sum(out_bytes) / sum(connections) AS out_each
    FROM numbered
    GROUP BY system, role, tls_version, cipher, kind, stretch_no
    HAVING count(*) >= coalesce(getvariable('run_least_minutes'), 5)
),

-- Sides of one run begin and end within a minute or so of each other, and overlap.
together AS (
    SELECT
        *,
        coalesce(
            first_minute >= max(end_minute) OVER (
                PARTITION BY tls_version, cipher, kind ORDER BY first_minute, system, role
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ),
            true
        ) AS begins
    FROM stretch
),

numbered_together AS (
    SELECT
        *,
        sum(begins::INTEGER) OVER (
            PARTITION BY tls_version, cipher, kind ORDER BY first_minute, system, role
        ) AS run_no
    FROM together
),

named AS (
    SELECT
        *,
        strftime(
            make_timestamp(
                60000000 * min(first_minute) OVER (PARTITION BY tls_version, cipher, kind, run_no)
            ),
            '%Y%m%d-%H%M'
        ) AS stamp,
        row_number() OVER (
            PARTITION BY tls_version, cipher, kind, run_no, system, role ORDER BY first_minute
        ) AS part_no
    FROM numbered_together
)

SELECT
    (
        concat_ws('-', n.tls_version, n.cipher, n.kind, n.stamp)
        || CASE WHEN n.part_no > 1 THEN '-' || n.part_no ELSE '' END
    )::VARCHAR AS name,
    n.system::VARCHAR AS system,
    n.role::VARCHAR AS role,
    make_timestamptz(60000000 * n.first_minute) AS from_utc,
    make_timestamptz(60000000 * n.end_minute) AS to_utc,
    n.minutes::BIGINT AS minutes,
    n.connections::BIGINT AS connections,
    (n.connections / (60 * n.minutes))::DOUBLE AS connections_per_s,
    n.alike_pct::DOUBLE AS alike_pct,
    n.in_each::DOUBLE AS in_bytes_each,
    n.out_each::DOUBLE AS out_bytes_each,
    without_nulls([
        'cipher=' || n.cipher,
        -- zERT records that a session was resumed, but not how.
        CASE
            WHEN n.kind = 'full' THEN 'resumption=none'
            WHEN n.tls_version = 'TLSv1.3' THEN 'resumption=ticket'
        END,
        'version=' || n.tls_version
    ])::VARCHAR[] AS tags,
    (
        SELECT min(r.name)
        FROM run AS r
        WHERE
            r.system = n.system
            AND epoch_us(r.from_utc) < 60000000 * n.end_minute
            AND epoch_us(r.to_utc) > 60000000 * n.first_minute
    )::VARCHAR AS known_as
FROM named AS n
ORDER BY from_utc, name, system, role
