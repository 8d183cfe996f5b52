-- One flood of TLS sessions on z/TPF: its ECBs and rate of session starts, compared with another flood.
--
-- Published methods ztpf-ecb-seconds and ztpf-throughput. The baseline is the flood that ztpf_baseline names,
-- else the first of a run with the tag pj48040=off, else the first of all. Among those with the tag, one with
-- the same number of sessions is preferred, then one on the same system.

WITH tagged AS (
    SELECT
        name,
        bool_or(list_contains(tags, 'pj48040=off')) AS is_off,
        max(try_cast(
            list_filter(tags, lambda tag : starts_with(tag, 'sessions='))[1].substr(length('sessions=') + 1)
            AS BIGINT
        )) AS sessions,
        bool_or(synthetic) AS synthetic
    FROM run
    GROUP BY name
),

series AS (
    SELECT
        s.series,
        s.system,
        any_value(s.run) AS run,
        min(s.sample_utc) AS begin_utc,
        max(s.sample_utc) AS end_utc,
        count(*) AS samples,
        coalesce(max(s.sessions_requested), any_value(t.sessions)) AS sessions,
        max(100 * s.threads_starting / nullif(s.worker_threads, 0)) AS starting_share_pct,
        coalesce(any_value(t.is_off), false) AS is_off,
        any_value(t.synthetic) AS synthetic
    FROM ztpf_sample AS s
    LEFT JOIN tagged AS t ON s.run = t.name
    GROUP BY s.series, s.system
),

flood AS (
    SELECT
        s.*,
        e.* EXCLUDE (series, system, samples, gaps, gap_s, lacking),
        e.excess_ecb_seconds / nullif(s.sessions, 0) AS ecb_seconds_per_session,
        r.starts_per_s,
        coalesce(e.gaps, r.gaps, 0) AS gaps,
        coalesce(e.gap_s, r.gap_s, 0) AS gap_s,
        e.lacking AS lacking_use,
        r.lacking AS lacking_rate
    FROM series AS s
    LEFT JOIN ztpf_ecb_use AS e ON s.series = e.series AND s.system IS NOT DISTINCT FROM e.system
    LEFT JOIN ztpf_start_rate AS r ON s.series = r.series AND s.system IS NOT DISTINCT FROM r.system
),

parameters AS (
    SELECT
        nullif(trim(getvariable('ztpf_baseline')::VARCHAR), '') AS named,
        coalesce(bool_or(is_off), false) AS any_off
    FROM flood
),

-- A flood with the tag pj48040=off is a baseline, and is not compared itself.
eligible AS (
    SELECT f.*
    FROM flood AS f
    CROSS JOIN parameters AS a
    WHERE CASE WHEN a.named IS NOT NULL THEN f.series = a.named ELSE f.is_off OR NOT a.any_off END
),

compared AS (
    SELECT f.*
    FROM flood AS f
    CROSS JOIN parameters AS a
    WHERE a.named IS NOT NULL OR NOT f.is_off
),

chosen AS (
    SELECT
        c.series,
        c.system,
        b.series AS against,
        b.system AS against_system
    FROM compared AS c
    CROSS JOIN eligible AS b
    QUALIFY
        row_number() OVER (
            PARTITION BY c.series, c.system
            ORDER BY
                (b.is_off AND c.sessions IS NOT DISTINCT FROM b.sessions) DESC,
                c.system IS NOT DISTINCT FROM b.system DESC,
                b.begin_utc,
                b.series,
                b.system
        ) = 1
)

SELECT
    c.series::VARCHAR AS series,
    c.system::VARCHAR AS system,
    c.run::VARCHAR AS run,
    c.begin_utc::TIMESTAMPTZ AS begin_utc,
    c.end_utc::TIMESTAMPTZ AS end_utc,
    c.samples::BIGINT AS samples,
    c.baseline_ecbs::DOUBLE AS baseline_ecbs,
    c.peak_ecbs::DOUBLE AS peak_ecbs,
    c.peak_at_s::DOUBLE AS peak_at_s,
    c.threshold_ecbs::DOUBLE AS threshold_ecbs,
    c.duration_s::DOUBLE AS duration_s,
    c.ecb_seconds::DOUBLE AS ecb_seconds,
    c.excess_ecb_seconds::DOUBLE AS excess_ecb_seconds,
    c.sessions::BIGINT AS sessions,
    c.ecb_seconds_per_session::DOUBLE AS ecb_seconds_per_session,
    c.starts_per_s::DOUBLE AS starts_per_s,
    c.starting_share_pct::DOUBLE AS starting_share_pct,
    c.gaps::BIGINT AS gaps,
    c.gap_s::DOUBLE AS gap_s,
    b.series::VARCHAR AS against,
    change_pct(b.starts_per_s, c.starts_per_s)::DOUBLE AS throughput_gain_pct,
    (b.starts_per_s / nullif(c.starts_per_s, 0))::DOUBLE AS elapsed_ratio,
    change_pct(b.peak_ecbs, c.peak_ecbs)::DOUBLE AS peak_change_pct,
    change_pct(b.duration_s, c.duration_s)::DOUBLE AS duration_change_pct,
    change_pct(b.ecb_seconds, c.ecb_seconds)::DOUBLE AS ecb_seconds_change_pct,
    change_pct(b.excess_ecb_seconds, c.excess_ecb_seconds)::DOUBLE AS excess_change_pct,
    c.synthetic::BOOLEAN AS synthetic,
    joined(
        without_nulls([
            c.lacking_use,
            c.lacking_rate,
            CASE WHEN c.gaps > 0 THEN 'time without samples is in no duration and no ECB seconds' END,
            CASE
                WHEN p.series IS NULL AND (SELECT named FROM parameters) IS NOT NULL
                    THEN 'no series has the name that ztpf_baseline gives'
            END,
            CASE
                WHEN b.sessions <> c.sessions
                    THEN 'other number of sessions: ' || b.sessions || ' and ' || c.sessions
            END,
            CASE
                WHEN b.synthetic <> c.synthetic THEN 'one was measured, the other generated'
            END
        ]),
        '; '
    )::VARCHAR AS remarks
FROM flood AS c
LEFT JOIN chosen AS p ON c.series = p.series AND c.system IS NOT DISTINCT FROM p.system
LEFT JOIN flood AS b
    ON
        p.against = b.series
        AND p.against_system IS NOT DISTINCT FROM b.system
        -- A flood is not compared with itself.
        AND (b.series <> c.series OR b.system IS DISTINCT FROM c.system)
ORDER BY c.begin_utc, c.series, c.system
