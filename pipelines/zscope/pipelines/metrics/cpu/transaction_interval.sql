-- The transactions and bytes of a system in one interval, counted in one way.
--
-- A connection or count that spans several intervals is apportioned over them by time; a separate column has
-- the apportioned part. Each way of counting has its own rows, because they count the same work.

SELECT
    counted_by,
    system,
    interval_start_utc,
    interval_ms,
    sum(transactions)::DOUBLE AS transactions,
    sum(apportioned_transactions)::DOUBLE AS apportioned_transactions,
    sum(in_bytes)::DOUBLE AS in_bytes,
    sum(out_bytes)::DOUBLE AS out_bytes,
    sum(apportioned_bytes)::DOUBLE AS apportioned_bytes,
    -- The part of the interval that supplied counts cover.
    sum(covered_ms)::DOUBLE AS covered_ms
FROM (
    SELECT * EXCLUDE (day)
    FROM transaction_day
    UNION ALL BY NAME
    SELECT
        counted_by,
        system,
        interval_start_utc,
        interval_ms,
        sum(transactions)::DOUBLE AS transactions,
        sum(transactions) FILTER (WHERE spans > 1)::DOUBLE AS apportioned_transactions,
        sum(in_bytes)::DOUBLE AS in_bytes,
        sum(out_bytes)::DOUBLE AS out_bytes,
        sum(coalesce(in_bytes, 0) + coalesce(out_bytes, 0)) FILTER (WHERE spans > 1)::DOUBLE AS apportioned_bytes,
        sum(duration_ms * share) FILTER (WHERE counted_by = 'supplied count')::DOUBLE AS covered_ms
    FROM open_activity_interval
    GROUP BY counted_by, system, interval_start_utc, interval_ms
)
GROUP BY counted_by, system, interval_start_utc, interval_ms
