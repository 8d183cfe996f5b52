-- CPU use of one server of a z/VM system in one run, or of all servers of a link together.
--
-- CPU is percent of one engine: 100 x TCPU / duration. CPU times and lengths of the periods of a run are
-- added up. Patterns select the virtual machines of a server. A system without a virtual machine for SSL uses
-- no TLS, so the CPU of its SSL servers is 0. Without one for TCPIP or RSCS there is no link, so the pattern
-- is wrong and their CPU is not known.

WITH pattern AS (
    SELECT
        server,
        unnest(regexp_extract_all(upper(names), '[^,\s]+')) AS pattern
    FROM (
        VALUES
        ('SSL', coalesce(getvariable('zvm_ssl_names')::VARCHAR, 'SSL*')),
        ('TCPIP', coalesce(getvariable('zvm_tcpip_names')::VARCHAR, 'TCPIP*')),
        ('RSCS', coalesce(getvariable('zvm_rscs_names')::VARCHAR, 'RSCS*'))
    ) AS role (server, names)
),

-- A period that was loaded from several files comes from the first of them. Rows without a time are counted:
-- the second row of a virtual machine belongs to a second period.
listed AS (
    SELECT
        m.run,
        u.system,
        u.interval_start_local AS start_local,
        u.interval_start_utc AS start_utc,
        CASE
            WHEN u.interval_start_local IS NULL
                THEN
                    row_number() OVER (
                        PARTITION BY m.run, u.system, upper(u.userid), u.interval_start_local
                        ORDER BY u.load_id, u.file, u.line_no
                    )
        END AS turn,
        u.period_s,
        upper(u.userid) AS userid,
        u.tcpu_s
    FROM zvm_user AS u
    INNER JOIN measured_run AS m
        ON
            u.file = m.file
            AND u.system IS NOT DISTINCT FROM m.system
            AND u.run IS NOT DISTINCT FROM m.told_run
            AND u.interval_start_utc IS NOT DISTINCT FROM m.moment_utc
            AND u.interval_start_local IS NOT DISTINCT FROM m.period_local
    QUALIFY
        u.interval_start_local IS NULL
        OR rank() OVER (
            PARTITION BY m.run, u.system, upper(u.userid), u.interval_start_local, u.period_s
            ORDER BY u.load_id, u.file
        ) = 1
),

-- One file can also contain it twice.
used AS (
    SELECT DISTINCT * FROM listed
),

measured AS (
    SELECT
        run,
        system,
        min(start_utc) AS begin_utc,
        count(*) AS periods,
        sum(period_s) AS period_s
    FROM (
        SELECT
            run,
            system,
            min(start_utc) AS start_utc,
            max(period_s) AS period_s
        FROM used
        GROUP BY run, system, start_local, turn, CASE WHEN start_local IS NOT NULL THEN period_s END
    ) AS period
    GROUP BY run, system
),

taken AS (
    SELECT DISTINCT
        u.*,
        p.server
    FROM used AS u
    INNER JOIN pattern AS p ON u.userid GLOB p.pattern
),

-- A virtual machine counts once in the total of all servers, even if two patterns match it.
added AS (
    SELECT
        run,
        system,
        server,
        string_agg(DISTINCT userid, ', ' ORDER BY userid) AS userids,
        sum(tcpu_s) AS tcpu_s
    FROM (SELECT * FROM taken UNION SELECT * REPLACE ('combined' AS server) FROM taken) AS one
    GROUP BY run, system, server
),

of_server AS (
    SELECT
        m.*,
        s.server,
        a.userids,
        CASE WHEN s.server = 'SSL' AND a.userids IS NULL THEN 0 ELSE a.tcpu_s END AS tcpu_s
    FROM measured AS m
    CROSS JOIN (VALUES ('SSL'), ('TCPIP'), ('RSCS'), ('combined')) AS s (server)
    LEFT JOIN added AS a
        ON m.run = a.run AND m.system IS NOT DISTINCT FROM a.system AND s.server = a.server
),

whole AS (
    SELECT * REPLACE (
        CASE
            WHEN server <> 'combined' OR count(tcpu_s) OVER (PARTITION BY run, system) = 4 THEN tcpu_s
        END AS tcpu_s
    )
    FROM of_server
)

SELECT
    run::VARCHAR AS run,
    system::VARCHAR AS system,
    server::VARCHAR AS server,
    begin_utc::TIMESTAMPTZ AS begin_utc,
    userids::VARCHAR AS userids,
    periods::BIGINT AS periods,
    period_s::DOUBLE AS period_s,
    tcpu_s::DOUBLE AS tcpu_s,
    (100 * tcpu_s / nullif(period_s, 0))::DOUBLE AS busy_pct,
    CASE
        WHEN tcpu_s IS NOT NULL THEN NULL
        WHEN server = 'combined' THEN 'the CPU time of a server is not known'
        WHEN userids IS NULL THEN 'no virtual machine has such a name'
        ELSE 'no CPU time is recorded'
    END::VARCHAR AS lacking
FROM whole
