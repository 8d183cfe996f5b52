-- One kind of data of one system: how many records or reports are loaded, and the time that they reach to.
--
-- The kind is declared with each record and report. Records at the begin and end of a dump (types 2 and 3) are not
-- counted. A time is in UTC as the file has it, or else by the offset of the clock of its system; of several files, all
-- have to be known.

WITH counted AS (
    SELECT
        {{kind}} AS data_kind,
        load_id,
        system,
        records,
        first_local,
        last_local,
        first_utc,
        last_utc
    FROM load_kind
    WHERE
        load_id IN (SELECT l.load_id FROM load AS l WHERE l.status IN ('loaded', 'incomplete'))
        AND coalesce(record_type, 0) NOT IN (2, 3)
),

timed AS (
    SELECT
        c.* EXCLUDE (first_utc, last_utc),
        coalesce(c.first_utc, make_timestamptz(epoch_us(c.first_local) - 1000000 * a.offset_s)) AS first_utc,
        coalesce(c.last_utc, make_timestamptz(epoch_us(c.last_local) - 1000000 * b.offset_s)) AS last_utc
    FROM counted AS c
    ASOF LEFT JOIN clock_offset AS a ON c.system = a.system AND c.first_local >= a.from_local
    ASOF LEFT JOIN clock_offset AS b ON c.system = b.system AND c.last_local >= b.from_local
),

reached AS (
    SELECT
        data_kind,
        system,
        sum(records) AS records,
        count(DISTINCT load_id) AS files,
        min(first_local) AS first_local,
        max(last_local) AS last_local,
        if(bool_and(first_local IS NULL OR first_utc IS NOT NULL), min(first_utc), NULL) AS first_utc,
        if(bool_and(last_local IS NULL OR last_utc IS NOT NULL), max(last_utc), NULL) AS last_utc
    FROM timed
    GROUP BY data_kind, system
)

SELECT
    data_kind::VARCHAR AS data_kind,
    system::VARCHAR AS system,
    records::BIGINT AS records,
    files::BIGINT AS files,
    first_local::TIMESTAMP AS first_local,
    last_local::TIMESTAMP AS last_local,
    first_utc::TIMESTAMPTZ AS first_utc,
    last_utc::TIMESTAMPTZ AS last_utc,
    (epoch(max(last_utc) OVER ()) - epoch(last_utc))::DOUBLE / 3600 AS hours_behind
FROM reached
ORDER BY data_kind, system
