-- How many TLS sessions one z/TPF series started per second.
--
-- Published method ztpf-throughput. The rate is 0.9 times all starts of the series, divided by the time from
-- 5 % to 95 % of them, so that time before and after the flood does not count. The counter is assumed to grow
-- evenly between two samples, except in a gap (a stretch longer than three times the median), in which the
-- time of a crossing is not known.

WITH stretch AS (
    SELECT
        series,
        system,
        since_start_us AS from_us,
        tls_starts_completed AS done_1,
        lead(tls_starts_completed) OVER in_time AS done_2,
        lead(since_start_us) OVER in_time - since_start_us AS lasts_us
    FROM ztpf_sample
    WHERE tls_starts_completed IS NOT NULL
    WINDOW in_time AS (PARTITION BY series, system ORDER BY since_start_us)
),

whole AS (
    SELECT
        series,
        system,
        count(*) AS samples,
        arg_min(done_1, from_us) AS first_done,
        arg_max(done_1, from_us) - first_done AS starts,
        coalesce(bool_or(done_2 < done_1), false) AS falls,
        median(lasts_us) AS usual_us
    FROM stretch
    GROUP BY series, system
),

crossing AS (
    SELECT
        w.series,
        w.system,
        c.place,
        CASE
            WHEN s.lasts_us <= 3 * w.usual_us
                THEN
                    s.from_us
                    + s.lasts_us * (w.first_done + c.part * w.starts - s.done_1) / (s.done_2 - s.done_1)
        END AS at_us
    FROM whole AS w
    CROSS JOIN (VALUES ('begin', 0.05::DOUBLE), ('end', 0.95::DOUBLE)) AS c (place, part)
    INNER JOIN stretch AS s
        ON
            w.series = s.series
            AND w.system IS NOT DISTINCT FROM s.system
            AND s.done_1 < w.first_done + c.part * w.starts
            AND s.done_2 >= w.first_done + c.part * w.starts
    WHERE w.starts > 0 AND NOT w.falls
),

crossed AS (
    SELECT
        series,
        system,
        (max(at_us) FILTER (WHERE place = 'end') - max(at_us) FILTER (WHERE place = 'begin'))
        / 0.9e6 AS lasts_s
    FROM crossing
    GROUP BY series, system
),

gap AS (
    SELECT
        s.series,
        s.system,
        count(*) AS gaps,
        sum(s.lasts_us) / 1e6 AS gap_s
    FROM stretch AS s
    INNER JOIN whole AS w ON s.series = w.series AND s.system IS NOT DISTINCT FROM w.system
    WHERE s.lasts_us > 3 * w.usual_us
    GROUP BY s.series, s.system
)

SELECT
    w.series::VARCHAR AS series,
    w.system::VARCHAR AS system,
    w.samples::BIGINT AS samples,
    CASE WHEN NOT w.falls AND w.samples > 1 THEN w.starts END::DOUBLE AS starts,
    (w.starts / nullif(c.lasts_s, 0))::DOUBLE AS starts_per_s,
    coalesce(g.gaps, 0)::BIGINT AS gaps,
    coalesce(g.gap_s, 0)::DOUBLE AS gap_s,
    CASE
        WHEN w.falls THEN 'the counter of session starts falls'
        WHEN w.samples = 1 THEN 'a single sample of session starts'
        WHEN w.starts = 0 THEN 'no session start was completed'
        WHEN c.lasts_s IS NULL THEN '5 % or 95 % of the session starts lie in a gap'
    END::VARCHAR AS lacking
FROM whole AS w
LEFT JOIN crossed AS c ON w.series = c.series AND w.system IS NOT DISTINCT FROM c.system
LEFT JOIN gap AS g ON w.series = g.series AND w.system IS NOT DISTINCT FROM g.system
