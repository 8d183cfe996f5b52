-- The transactions and bytes of a job in one interval, of the connections within one day, counted in one way.
--
-- A connection that spans several intervals is apportioned over them by time; separate columns have the
-- apportioned part and the connections that ended. Each way of counting has its own rows, because they count
-- the same work.

SELECT
    day,
    counted_by,
    system,
    interval_start_utc,
    interval_ms,
    job_name,
    sum(transactions)::DOUBLE AS transactions,
    sum(transactions) FILTER (WHERE spans > 1)::DOUBLE AS apportioned_transactions,
    count(*) FILTER (WHERE ended AND counted_by <> 'supplied count')::BIGINT AS ended_connections,
    count(*) FILTER (WHERE began AND NOT is_tls)::BIGINT AS plain_connections,
    sum(in_bytes)::DOUBLE AS in_bytes,
    sum(out_bytes)::DOUBLE AS out_bytes,
    sum(tls_bytes)::DOUBLE AS tls_bytes,
    sum(coalesce(in_bytes, 0) + coalesce(out_bytes, 0)) FILTER (WHERE spans > 1)::DOUBLE AS apportioned_bytes
FROM settled_amount_interval
GROUP BY day, counted_by, system, interval_start_utc, interval_ms, job_name
