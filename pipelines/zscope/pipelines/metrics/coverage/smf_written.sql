-- How many records SMF wrote in the time of a file by its own count, and how many of them the file has.
--
-- A status record (23) counts the records of all types since the one before. The time before the first and after the last
-- of them is not shown, so the numbers can differ by the records of one interval. Headers and trailers of dumps (2, 3) are
-- not from SMF.

WITH status AS (
    SELECT
        system,
        load_id,
        written_local,
        records_written::BIGINT AS records_written,
        epoch_us(written_local - lag(written_local) OVER (PARTITION BY system, load_id ORDER BY written_local)) AS length_us
    FROM (SELECT DISTINCT system, load_id, written_local, records_written FROM smf23_status)
    WHERE written_local IS NOT NULL
),

written AS (
    SELECT
        system,
        load_id,
        count(*) AS status_records,
        median(length_us) AS interval_us,
        sum_of_all(records_written) AS written_records,
        max(records_written) AS most_records
    FROM status
    GROUP BY system, load_id
),

seen AS (
    SELECT
        system,
        load_id,
        min(first_local) AS first_local,
        max(last_local) AS last_local,
        sum(records) AS seen_records
    FROM load_kind
    WHERE record_type IS NOT NULL AND record_type NOT IN (2, 3)
    GROUP BY system, load_id
),

compared AS (
    SELECT
        *,
        epoch_us(last_local - first_local) AS file_us,
        status_records * interval_us AS status_us
    FROM written
    INNER JOIN seen USING (system, load_id)
)

SELECT
    system::VARCHAR AS system,
    load_id::BIGINT AS load_id,
    first_local::TIMESTAMP AS first_local,
    last_local::TIMESTAMP AS last_local,
    CASE
        WHEN written_records IS NULL OR interval_us IS NULL OR abs(file_us - status_us) > 1.5 * interval_us THEN 'not known'
        WHEN seen_records > 1.01 * written_records + most_records THEN 'more than written'
        WHEN seen_records < 0.99 * written_records - most_records THEN 'filtered'
        ELSE 'complete'
    END::VARCHAR AS state,
    written_records::BIGINT AS written_records,
    seen_records::BIGINT AS seen_records,
    (100 * seen_records / nullif(written_records, 0))::DOUBLE AS seen_pct,
    status_records::BIGINT AS status_records,
    (interval_us / 1e6)::DOUBLE AS interval_s,
    CASE
        WHEN written_records IS NULL THEN 'a status record has no number'
        WHEN interval_us IS NULL THEN 'one status record does not show its interval'
        WHEN abs(file_us - status_us) > 1.5 * interval_us
            THEN 'the status records do not cover the time of the file'
    END::VARCHAR AS why
FROM compared
ORDER BY system, first_local, load_id
