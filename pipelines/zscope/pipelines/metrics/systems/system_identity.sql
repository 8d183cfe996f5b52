-- One z/OS system: the sysplex and the LPAR that its newest records or RMF reports name.

WITH zos_system AS (
    SELECT DISTINCT system
    FROM load_kind
    WHERE
        system IS NOT NULL
        AND (record_type IS NOT NULL OR regexp_matches(report, '^(RMF|NETSTAT|GSKSRVR|AT-TLS)'))
),

member AS (
    SELECT system, sysplex, written_local FROM smf70_interval
    UNION ALL
    SELECT system, sysplex, written_local FROM smf72_service_class_period
    UNION ALL
    SELECT system, sysplex, written_local FROM smf30_interval
    UNION ALL
    SELECT system, sysplex, written_local FROM smf119_stack_statistics
    UNION ALL
    SELECT system, sysplex, written_local FROM smf119_zert_summary
    UNION ALL
    SELECT system, sysplex, written_local FROM smf119_zert_detail
    UNION ALL
    SELECT system, sysplex, written_local FROM smf119_tcp_term
),

newest_interval AS (
    SELECT
        system,
        interval_start_local,
        partition_number
    FROM smf70_interval
    QUALIFY row_number() OVER (PARTITION BY system ORDER BY interval_start_local DESC) = 1
),

-- An SMF 70 record describes all partitions of the machine, and contains the number of its own.
hosted AS (
    SELECT
        i.system,
        p.partition_name,
        i.interval_start_local
    FROM newest_interval AS i
    INNER JOIN smf70_partition AS p
        ON
            i.system = p.system AND i.interval_start_local = p.interval_start_local
            AND i.partition_number = p.partition_number
    UNION ALL
    SELECT system, partition_name, interval_start_local FROM rmf_interval
)

SELECT
    z.system::VARCHAR AS system,
    m.sysplex::VARCHAR AS sysplex,
    h.lpar::VARCHAR AS lpar
FROM zos_system AS z
LEFT JOIN (
    SELECT
        system,
        arg_max(sysplex, written_local) AS sysplex
    FROM member
    WHERE sysplex <> ''
    GROUP BY system
) AS m ON z.system = m.system
LEFT JOIN (
    SELECT
        system,
        arg_max(partition_name, interval_start_local) AS lpar
    FROM hosted
    WHERE partition_name <> ''
    GROUP BY system
) AS h ON z.system = h.system
