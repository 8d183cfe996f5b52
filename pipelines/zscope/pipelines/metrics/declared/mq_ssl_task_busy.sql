-- The tasks of one kind of an MQ channel initiator in one interval: how busy, and what a request takes.
--
-- Elapsed time is that of requests and with the wait for work makes up the interval, exactly so in units of the
-- TOD clock. CPU time can be more than elapsed time where a task has next to nothing to do, and stays as it is.
--
-- An interval may be loaded as records, as CSV and as JSON of the formatter, and twice where files overlap.
-- Rows that tell the same count once: those of records first, then JSON, then CSV.

WITH told AS (
    SELECT
        *,
        -- Compared as a whole, what is not told is alike as well.
        row(
            system, queue_manager, written_local, task_type, task_number, requests, cpu_us, elapsed_us,
            wait_us
        ) AS told
    FROM mq_task
),

printed AS (
    SELECT
        *,
        -- Within one file, rows that are alike are different tasks.
        row_number() OVER (PARTITION BY load_id, file, told ORDER BY line_no) AS place
    FROM told
    WHERE source <> 'smf'
),

printed_once AS (
    SELECT *
    FROM printed
    QUALIFY row_number() OVER (PARTITION BY told, place ORDER BY source DESC, load_id, file) = 1
),

recorded AS (
    SELECT told, count(*) AS times
    FROM told
    WHERE source = 'smf' AND (system, queue_manager, written_local) IN (
        SELECT (p.system, p.queue_manager, p.written_local) FROM printed_once AS p
    )
    GROUP BY told
),

once AS (
    SELECT * EXCLUDE (told)
    FROM told
    WHERE source = 'smf'
    UNION ALL BY NAME
    SELECT p.* EXCLUDE (told, place)
    FROM printed_once AS p
    LEFT JOIN recorded AS r ON p.told = r.told
    WHERE p.place > coalesce(r.times, 0)
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
    -- In huge integers: what older releases leave in a block of an idle task may be any number.
    coalesce(
        elapsed_tod::HUGEINT + wait_tod::HUGEINT <> interval_tod::HUGEINT,
        abs(elapsed_us::HUGEINT + wait_us::HUGEINT - interval_us::HUGEINT) > 1
    )::BIGINT AS not_adding_up,
    try_cast(longest_us AS BIGINT) AS longest_us
FROM once
