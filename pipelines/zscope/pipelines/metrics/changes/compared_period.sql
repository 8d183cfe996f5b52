-- Begin and end of each of the two periods that are compared.
--
-- Without parameters, the later period is the last seven days of the data. If the data cover 8 to 14 days, it begins seven
-- days after their start. The earlier period has the same length and begins a whole number of weeks before the later one,
-- so both have the same days of the week and do not overlap.

WITH later AS (
    SELECT
        coalesce(getvariable('later_to')::TIMESTAMPTZ, end_utc) AS to_utc,
        coalesce(
            getvariable('later_from')::TIMESTAMPTZ,
            CASE WHEN begin_utc + INTERVAL 192 HOUR <= to_utc THEN greatest(begin_utc, to_utc - INTERVAL 336 HOUR) + INTERVAL 168 HOUR END,
            to_utc - INTERVAL 168 HOUR
        ) AS from_utc,
        INTERVAL 168 HOUR * ceil(epoch(to_utc - from_utc) / 604800)::BIGINT AS weeks
    FROM end_of_data
),

earlier AS (
    SELECT
        coalesce(
            getvariable('earlier_to')::TIMESTAMPTZ,
            getvariable('earlier_from')::TIMESTAMPTZ + (to_utc - from_utc),
            to_utc - weeks
        ) AS last_utc,
        coalesce(getvariable('earlier_from')::TIMESTAMPTZ, last_utc - (to_utc - from_utc)) AS first_utc
    FROM later
)

SELECT
    'earlier'::VARCHAR AS period,
    first_utc::TIMESTAMPTZ AS from_utc,
    last_utc::TIMESTAMPTZ AS to_utc
FROM earlier
UNION ALL
SELECT
    'later',
    from_utc,
    to_utc
FROM later
