-- One setting of a side of a benchmark run that its data show, compared with the tag of runs.toml.
--
-- Records and displays count if they were written or taken in the run, intervals if at least four fifths of
-- them lie in it. A value is a setting of the run if at least 95 % of the records that show the setting have
-- it: runs begin and end, and other work can be on the system. Fewer than ten TLS connections show nothing, nor
-- fewer than a tenth of the transactions supplied for a CRR run. Each source has a row of its own.

WITH side AS (
    SELECT
        name,
        system,
        role,
        from_utc,
        to_utc,
        tags,
        -- Each transaction of CRR has a connection.
        CASE WHEN workload_kind = 'CRR' THEN transactions END AS expected_connections
    FROM run
    WHERE role <> 'tls-test'
),

-- Runs are short compared with a store: a join with a small table of minutes excludes records far from all
-- runs.
side_minute AS (
    SELECT DISTINCT
        system,
        unnest(minutes_of(epoch_us(from_utc), epoch_us(to_utc) + 1)) AS minute_no
    FROM side
),

connection_record AS (
    SELECT
        system,
        written_utc AS seen_utc,
        release,
        NULL AS version,
        NULL AS cipher,
        NULL AS kind,
        NULL AS fips,
        NULL AS role
    FROM smf119_tcp_term
    WHERE (system, minute_of(epoch_us(written_utc))) IN (SELECT (system, minute_no) FROM side_minute)
    UNION ALL
    SELECT
        d.system,
        d.written_utc AS seen_utc,
        d.release,
        version.text AS version,
        nullif(d.cipher, '') AS cipher,
        handshake_kind(kind.text, d.handshake_type) AS kind,
        CASE WHEN version.text IS NOT NULL THEN CASE WHEN d.fips_mode = 0 THEN 'off' WHEN d.fips_mode > 0 THEN 'on' END END
            AS fips,
        CASE WHEN role.text LIKE 'server%' THEN 'server' WHEN role.text LIKE 'client%' THEN 'client' END AS role
    FROM smf119_zert_detail AS d
    LEFT JOIN code_tls_version AS version ON d.tls_version = version.code
    LEFT JOIN code_handshake_type AS kind ON d.handshake_type = kind.code
    LEFT JOIN code_handshake_role AS role ON d.handshake_role = role.code
    WHERE (d.system, minute_of(epoch_us(d.written_utc))) IN (SELECT (system, minute_no) FROM side_minute)
),

record_of_run AS (
    SELECT
        s.name,
        s.role AS side_role,
        r.*
    FROM side AS s
    INNER JOIN connection_record AS r
        ON
            s.system = r.system
            AND r.seen_utc BETWEEN s.from_utc AND s.to_utc
            -- Client and server can be on one system.
            AND s.role = coalesce(r.role, s.role)
),

display_of_run AS (
    SELECT
        s.name,
        s.role AS side_role,
        t.system,
        CASE WHEN upper(t.fips_140) = 'OFF' THEN 'off' WHEN t.fips_140 <> '' THEN 'on' END AS fips,
        nullif(t.key_share_name, '') AS key_share,
        -- Several codes are offers, of which the display does not show the chosen one.
        CASE WHEN len(codes) = 1 THEN codes[1] END AS signature
    FROM side AS s
    INNER JOIN (
        SELECT *, list_distinct(regexp_extract_all(signature_pairs, '\b[0-9A-F]{4}\b')) AS codes FROM netstat_ttls
    ) AS t
        ON
            s.system = t.system
            AND t.taken_utc BETWEEN s.from_utc AND s.to_utc
            AND s.role = coalesce(
                nullif(regexp_extract(lower(t.ttls_handshake_role), '^(client|server)'), ''), s.role
            )
),

interface_of_run AS (
    SELECT
        s.name,
        s.role AS side_role,
        s.system,
        CASE i.chpid_type WHEN 'IQD' THEN 'HiperSockets' ELSE i.chpid_type END AS interface
    FROM side AS s
    INNER JOIN netstat_devlink AS i ON s.system = i.system AND i.taken_utc BETWEEN s.from_utc AND s.to_utc
    WHERE upper(i.interface_status) = 'READY' AND i.chpid_type <> ''
),

cpc_of_run AS (
    SELECT
        s.name,
        s.role AS side_role,
        s.system,
        m.cpc
    FROM side AS s
    INNER JOIN smf70_interval AS i
        ON
            s.system = i.system
            AND epoch_us(i.interval_end_utc) > epoch_us(s.from_utc)
            AND epoch_us(i.interval_end_utc) - 1000 * i.interval_ms < epoch_us(s.to_utc)
    INNER JOIN (
        VALUES
        ('2964', 'z13'), ('2965', 'z13'), ('3906', 'z14'), ('3907', 'z14'), ('8561', 'z15'), ('8562', 'z15'),
        ('3931', 'z16'), ('3932', 'z16'), ('9175', 'z17')
    ) AS m (machine_type, cpc) ON trim(i.machine_type) = m.machine_type
),

-- Adapters that worked in the run; one without operations can be in either mode.
adapter AS (
    SELECT
        system,
        written_utc,
        interval_ms,
        'coprocessor' AS adapter_mode
    FROM smf70_crypto_cca
    WHERE all_operations_count > 0
    UNION ALL
    SELECT
        system,
        written_utc,
        interval_ms,
        'accelerator' AS adapter_mode
    FROM smf70_crypto_accel
    WHERE greatest(*COLUMNS('_?(me|crt)_\d+_count$')) > 0
),

adapter_of_run AS (
    SELECT
        s.name,
        s.role AS side_role,
        s.system,
        a.adapter_mode
    FROM side AS s
    INNER JOIN adapter AS a
        ON
            s.system = a.system
            AND lies_mostly_in(
                epoch_us(a.written_utc) - 1000 * a.interval_ms, epoch_us(a.written_utc),
                epoch_us(s.from_utc), epoch_us(s.to_utc)
            )
),

shown AS (
    SELECT
        r.name, r.side_role, r.system, 'SMF 119' AS source, 'release' AS key,
        -- CS V3R2 is release 3.2.
        nullif(regexp_replace(r.release, '^.*V0?(\d+)R0?(\d+).*$', '\1.\2'), r.release) AS value
    FROM record_of_run AS r
    UNION ALL
    SELECT
        r.name, r.side_role, r.system, 'SMF 119-11' AS source, t.key, t.value
    FROM record_of_run AS r
    CROSS JOIN LATERAL (
        VALUES
        ('version', r.version),
        ('cipher', r.cipher),
        ('fips', r.fips),
        -- zERT records that a TLSv1.2 session was resumed, but not how.
        (
            'resumption',
            CASE
                WHEN r.kind = 'full' THEN 'none'
                WHEN r.kind = 'resumed' THEN CASE WHEN r.version = 'TLSv1.3' THEN 'ticket' ELSE '' END
            END
        )
    ) AS t (key, value)
    UNION ALL
    SELECT
        d.name, d.side_role, d.system, 'NETSTAT TTLS' AS source, t.key, t.value
    FROM display_of_run AS d
    CROSS JOIN LATERAL (
        VALUES ('fips', d.fips), ('key_share', d.key_share), ('signature', d.signature)
    ) AS t (key, value)
    UNION ALL
    SELECT name, side_role, system, 'NETSTAT DEVLINKS' AS source, 'interface' AS key, interface AS value
    FROM interface_of_run
    UNION ALL
    SELECT name, side_role, system, 'SMF 70-1' AS source, 'cpc' AS key, cpc AS value
    FROM cpc_of_run
    UNION ALL
    SELECT name, side_role, system, 'SMF 70-2' AS source, 'adapter_mode' AS key, adapter_mode AS value
    FROM adapter_of_run
),

counted AS (
    SELECT
        name,
        side_role,
        system,
        source,
        key,
        value,
        count(*) AS records,
        sum(count(*)) OVER (PARTITION BY name, side_role, system, source, key) AS all_records
    FROM shown
    WHERE value IS NOT NULL
    GROUP BY name, side_role, system, source, key, value
),

compared AS (
    SELECT
        c.name,
        c.system,
        c.side_role AS role,
        c.key,
        c.value AS observed,
        c.source,
        c.records,
        list_transform(tags_with_key(s.tags, c.key), lambda t : substr(t, len(c.key) + 2)) AS given
    FROM counted AS c
    INNER JOIN side AS s ON c.name = s.name AND c.system = s.system AND c.side_role = s.role
    WHERE
        c.records >= 0.95 * c.all_records
        AND c.value <> ''
        -- A few connections can be those of other work.
        AND (c.source <> 'SMF 119-11' OR c.records >= greatest(10, 0.1 * s.expected_connections))
),

judged AS (
    SELECT
        *,
        CASE
            WHEN len(given) = 0 THEN 'observed'
            WHEN
                len(list_filter(
                    given,
                    lambda g :
                        contains(lower(regexp_replace(g, 'V(\d+)R(\d+)', '\1.\2')), lower(observed))
                        OR (g = 'RSASSA-PSS' AND observed IN ('0804', '0805', '0806'))
                )) > 0
                THEN 'confirmed'
            ELSE 'contradicted'
        END AS status
    FROM compared
)

SELECT
    name::VARCHAR AS name,
    system::VARCHAR AS system,
    role::VARCHAR AS role,
    key::VARCHAR AS key,
    observed::VARCHAR AS observed,
    joined(given, ', ')::VARCHAR AS given,
    source::VARCHAR AS source,
    records::BIGINT AS records,
    status::VARCHAR AS status,
    CASE
        WHEN status = 'contradicted'
            THEN
                'run ' || name || ' has the tag ' || key || '=' || joined(given, ', ') || ', but ' || source
                || ' of ' || system || ' shows ' || observed
    END::VARCHAR AS why
FROM judged
ORDER BY name, system, role, key, source
