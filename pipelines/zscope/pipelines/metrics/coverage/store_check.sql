-- All files of the store: how old the oldest comparison with a checksum is, and which tables have damaged files.
--
-- A store without a file has no row. Until every file was compared once, the oldest check is not known.

WITH counted AS (
    SELECT
        count(*) AS files,
        count(*) FILTER (WHERE checked_utc IS NULL AND problem IS NULL) AS never_checked_files,
        min(checked_utc) AS oldest_check_utc,
        max(checked_utc) AS newest_check_utc,
        count(problem) AS damaged_files,
        string_agg(DISTINCT table_name, ', ' ORDER BY table_name) FILTER (WHERE problem IS NOT NULL) AS damaged_tables
    FROM stored_file
    HAVING count(*) > 0
)

SELECT
    CASE
        WHEN damaged_files > 0 THEN 'damaged'
        WHEN never_checked_files > 0 THEN 'never checked'
        ELSE 'unchanged'
    END::VARCHAR AS verdict,
    files::BIGINT AS files,
    never_checked_files::BIGINT AS never_checked_files,
    if(never_checked_files = 0, oldest_check_utc, NULL)::TIMESTAMPTZ AS oldest_check_utc,
    newest_check_utc::TIMESTAMPTZ AS newest_check_utc,
    damaged_files::BIGINT AS damaged_files,
    damaged_tables::VARCHAR AS damaged_tables
FROM counted
