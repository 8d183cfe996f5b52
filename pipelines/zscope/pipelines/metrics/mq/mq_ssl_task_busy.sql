-- Busy time, and time per request, of the tasks of an MQ channel initiator, per kind of task and interval.
--
-- Elapsed time is that of requests. Elapsed time and the wait for work add up to the interval, exactly in
-- units of the TOD clock. CPU time can be more than elapsed time if a task is nearly idle; it is not
-- corrected.
--
-- An interval can be loaded as records, as CSV and as JSON of the formatter, and twice if files overlap.
-- Equal rows count once: rows of records have priority, then JSON, then CSV (macro mq_rows_once).

WITH identified AS (
    SELECT
        *,
        -- Structs are compared as a whole, so that nulls are equal.
        row(
            system, queue_manager, written_local, task_type, task_number, requests, cpu_us, elapsed_us,
            wait_us
        ) AS identity
    FROM mq_task
),

once AS (
    SELECT * FROM mq_rows_once('identified')
)

SELECT
    system::VARCHAR AS system,
    queue_manager::VARCHAR AS queue_manager,
    task_type::VARCHAR AS task_type,
    task_number::BIGINT AS task_number,
    coalesce(interval_end_utc, written_utc)::TIMESTAMPTZ AS interval_end_utc,
    1::BIGINT AS tasks,
    try_cast(requests AS BIGINT) AS requests,
    try_cast(cpu_us AS BIGINT) AS cpu_us,
    try_cast(elapsed_us AS BIGINT) AS elapsed_us,
    try_cast(wait_us AS BIGINT) AS wait_us,
    try_cast(interval_us AS BIGINT) AS interval_us,
    -- As HUGEINT: older releases can leave any number in the block of an idle task.
    coalesce(
        elapsed_tod::HUGEINT + wait_tod::HUGEINT <> interval_tod::HUGEINT,
        abs(elapsed_us::HUGEINT + wait_us::HUGEINT - interval_us::HUGEINT) > 1
    )::BIGINT AS not_adding_up,
    try_cast(longest_us AS BIGINT) AS longest_us
FROM once
