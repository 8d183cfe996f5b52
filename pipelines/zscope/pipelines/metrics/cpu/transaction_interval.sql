-- The transactions and bytes of a job in one interval of its system, counted in one way.
--
-- A connection or count that spans several intervals is apportioned over them by time; separate columns have
-- the apportioned part and the connections that ended. Each way of counting has its own rows, because they
-- count the same work. Supplied counts have no job.

SELECT
    counted_by,
    system,
    interval_start_utc,
    interval_ms,
    job_name,
    sum(transactions)::DOUBLE AS transactions,
    sum(apportioned_transactions)::DOUBLE AS apportioned_transactions,
    sum(ended_connections)::BIGINT AS ended_connections,
    sum(in_bytes)::DOUBLE AS in_bytes,
    sum(out_bytes)::DOUBLE AS out_bytes,
    sum(tls_bytes)::DOUBLE AS tls_bytes,
    sum(apportioned_bytes)::DOUBLE AS apportioned_bytes,
    -- The part of the interval that supplied counts cover.
    sum(covered_ms)::DOUBLE AS covered_ms,
    sum(response_us_sum)::DOUBLE AS response_us_sum,
    sum(response_n)::DOUBLE AS response_n
FROM (
    SELECT * EXCLUDE (day, plain_connections)
    FROM transaction_day
    UNION ALL BY NAME
    SELECT
        counted_by,
        system,
        interval_start_utc,
        interval_ms,
        job_name,
        sum(transactions)::DOUBLE AS transactions,
        sum(transactions) FILTER (WHERE spans > 1)::DOUBLE AS apportioned_transactions,
        count(*) FILTER (WHERE ended AND counted_by <> 'supplied count')::BIGINT AS ended_connections,
        sum(in_bytes)::DOUBLE AS in_bytes,
        sum(out_bytes)::DOUBLE AS out_bytes,
        sum(tls_bytes)::DOUBLE AS tls_bytes,
        sum(coalesce(in_bytes, 0) + coalesce(out_bytes, 0)) FILTER (WHERE spans > 1)::DOUBLE AS apportioned_bytes,
        sum(duration_ms * share) FILTER (WHERE counted_by = 'supplied count')::DOUBLE AS covered_ms,
        sum(transactions * response_us)::DOUBLE AS response_us_sum,
        sum(transactions) FILTER (WHERE response_us IS NOT NULL)::DOUBLE AS response_n
    FROM open_activity_interval
    GROUP BY counted_by, system, interval_start_utc, interval_ms, job_name
)
GROUP BY counted_by, system, interval_start_utc, interval_ms, job_name
