-- The setting that can make more handshakes of a rule, port or system resumed ones, as far as the data show it.
--
-- A setting that switches resumption off goes first. Of the others, a time-out, a size or a count can be raised only up
-- to its limit, and only where the data do not show another cause: if most full handshakes of a server came from clients
-- that offered no session, no setting of the server changes that. GSKSRVR counts only servers that use its caches. So
-- nothing shows that the cache of a client is too small, and its size is recommended only if it is 0.

WITH lever AS (
    FROM (VALUES
        (1, 'server', 'TLSv1.3', 'GSK_SESSION_TICKET_SERVER_ENABLE', 'On', []),
        (2, 'server', 'TLSv1.3', 'GSK_SESSION_TICKET_SERVER_COUNT', 'more', []),
        (3, 'server', 'TLSv1.3', 'GSK_SESSION_TICKET_SERVER_TIMEOUT', 'longer', ['unknown', 'expired']),
        (4, 'server', 'TLSv1.3', 'ticket cache time-out', 'longer', ['expired']),
        (5, 'server', 'TLSv1.3', 'ticket cache size', 'larger', ['not in the cache']),
        (6, 'server', 'TLSv1.3', 'GSK_SYSPLEX_SESSION_TICKET_CACHE', 'On', ['unknown']),
        (1, 'server', 'TLSv1.2 and older', 'GSK_V3_SESSION_TIMEOUT', 'longer', ['unknown', 'expired']),
        (2, 'server', 'TLSv1.2 and older', 'GSK_V3_SIDCACHE_SIZE', 'larger', ['unknown']),
        (3, 'server', 'TLSv1.2 and older', 'session ID cache time-out', 'longer', ['expired']),
        (4, 'server', 'TLSv1.2 and older', 'session ID cache size', 'larger', ['not in the cache']),
        (5, 'server', 'TLSv1.2 and older', 'GSK_SYSPLEX_SIDCACHE', 'On', ['unknown']),
        (1, 'client', 'TLSv1.3', 'GSK_SESSION_TICKET_CLIENT_ENABLE', 'On', []),
        (2, 'client', 'TLSv1.3', 'GSK_V3_SESSION_TIMEOUT', 'longer', ['unknown']),
        (1, 'client', 'TLSv1.2 and older', 'GSK_V3_SESSION_TIMEOUT', 'longer', ['unknown']),
        (2, 'client', 'TLSv1.2 and older', 'GSK_V3_SIDCACHE_SIZE', 'larger', [])
    ) AS of_setting (rank, side, versions, parameter, change, causes)
),

every_use AS MATERIALIZED (
    SELECT * FROM tls_use
),

-- What a rule sets; a policy without a system counts for each system that has no such rule of its own.
in_force AS MATERIALIZED (
    SELECT
        u.system,
        p.rule_name,
        p.parameter,
        p.parameter_value,
        p.set_in
    FROM every_use AS u
    INNER JOIN rule_parameter AS p ON u.rule_name = p.rule_name AND u.system = coalesce(p.system, u.system)
    WHERE u.shared_by = 'rule'
    QUALIFY dense_rank() OVER (PARTITION BY u.system, p.rule_name ORDER BY p.system IS NULL) = 1
),

-- The side of most handshakes, of each port and of the system.
side_of AS (
    SELECT
        system,
        server_port,
        grouping(server_port) = 1 AS of_system,
        sum(handshakes) FILTER (WHERE handshake_role = 'client') > 0.5 * sum(handshakes) AS is_client
    FROM handshake_hour
    GROUP BY GROUPING SETS ((system), (system, server_port))
),

used AS MATERIALIZED (
    SELECT
        u.system,
        u.shared_by,
        u.rule_name,
        u.server_port,
        CASE
            WHEN coalesce(upper(r.parameter_value) = 'CLIENT', s.is_client, false) THEN 'client' ELSE 'server'
        END AS side,
        if(u.full_tls13 > 0.5 * u.full_handshakes, 'TLSv1.3', 'TLSv1.2 and older') AS versions,
        if(versions = 'TLSv1.3', 'GSK_SYSPLEX_SESSION_TICKET_CACHE', 'GSK_SYSPLEX_SIDCACHE') AS sharing
    FROM every_use AS u
    LEFT JOIN in_force AS r ON u.system = r.system AND u.rule_name = r.rule_name AND r.parameter = 'HANDSHAKEROLE'
    LEFT JOIN side_of AS s
        ON
            u.system = s.system
            AND s.of_system = (u.shared_by <> 'port')
            AND u.server_port IS NOT DISTINCT FROM s.server_port
    WHERE u.shared_by <> 'client network'
),

-- The cause is known of a server that uses the counted caches, or whose policy is not known.
caused AS MATERIALIZED (
    SELECT
        u.* EXCLUDE (shared_versions),
        c.* EXCLUDE (system, versions)
    FROM (
        SELECT
            u.*,
            CASE
                WHEN u.side = 'server' AND (upper(p.parameter_value) = 'ON' OR k.rule_name IS NULL) THEN u.versions
            END AS shared_versions
        FROM used AS u
        LEFT JOIN in_force AS p ON u.system = p.system AND u.rule_name = p.rule_name AND u.sharing = p.parameter
        LEFT JOIN (SELECT DISTINCT system, rule_name FROM in_force) AS k
            ON u.system = k.system AND u.rule_name = k.rule_name
    ) AS u
    LEFT JOIN full_handshake_cause AS c ON u.system = c.system AND u.shared_versions = c.versions
),

valued AS (
    SELECT
        u.*,
        l.rank,
        l.parameter,
        l.change,
        l.causes,
        d.section,
        d.most,
        f.set_in,
        CASE
            WHEN d.section <> 'GSKSRVR' THEN f.parameter_value
            WHEN l.change = 'longer' THEN format('{:.0f} minutes', u.timeout_min)
            ELSE format('{:.0f} MB', u.maximum_size_mb)
        END AS value_today,
        upper(coalesce(f.parameter_value, d.default_value)) AS value,
        CASE
            WHEN d.section <> 'GSKSRVR' THEN try_cast(value AS DOUBLE)
            WHEN l.change = 'longer' THEN u.timeout_min
            ELSE u.maximum_size_mb
        END AS number
    FROM caused AS u
    INNER JOIN lever AS l ON u.side = l.side AND u.versions = l.versions
    INNER JOIN attls_parameter AS d ON l.parameter = d.parameter
    LEFT JOIN in_force AS f ON u.system = f.system AND u.rule_name = f.rule_name AND upper(l.parameter) = f.parameter
),

judged AS (
    SELECT
        *,
        number IS NOT DISTINCT FROM 0 OR (value = 'OFF' AND causes = []) AS is_off,
        is_off OR (
            list_contains(causes, coalesce(cause, 'unknown'))
            AND CASE
                WHEN change = 'On' THEN value = 'OFF'
                -- The time-out of the sysplex cache is the shorter one.
                WHEN section <> 'GSKSRVR' AND change = 'longer' AND number > 60 * timeout_min THEN false
                ELSE coalesce(number < most, true)
            END
        ) AS is_open
    FROM valued
),

chosen AS (
    SELECT *
    FROM judged
    WHERE is_open
    QUALIFY row_number() OVER (
        PARTITION BY system, shared_by, rule_name, server_port ORDER BY is_off DESC, rank
    ) = 1
),

-- What the caches of servers in the store found of the sessions that clients offered: of this system, or of others.
found AS (
    SELECT
        versions,
        format(
            'GSKSRVR of {} found {} of the sessions that clients offered with {}, and {} of its full handshakes came '
            || 'from clients that offered none, which can be this system or others',
            string_agg(DISTINCT system, ', ' ORDER BY system),
            percent_text(100 * sum(hits) / nullif(sum(lookups), 0)),
            versions,
            percent_text(100 * sum(none_offered) / nullif(sum(full_handshakes), 0))
        ) AS words
    FROM full_handshake_cause
    GROUP BY versions
),

network AS (
    SELECT
        system,
        client_network,
        full_handshakes,
        sum(full_handshakes) OVER (PARTITION BY system) AS of_system
    FROM every_use
    WHERE shared_by = 'client network'
    QUALIFY
        row_number() OVER (PARTITION BY system ORDER BY full_handshakes DESC, client_network) = 1
        AND client_network IS NOT NULL
)

SELECT
    u.system::VARCHAR AS system,
    u.shared_by::VARCHAR AS shared_by,
    u.rule_name::VARCHAR AS rule_name,
    u.server_port::BIGINT AS server_port,
    u.side::VARCHAR AS side,
    u.versions::VARCHAR AS versions,
    c.section::VARCHAR AS statement,
    c.parameter::VARCHAR AS parameter,
    CASE
        WHEN c.parameter IS NULL AND u.side = 'client' THEN 'servers that resume sessions'
        WHEN c.parameter IS NULL THEN 'clients that offer a session'
        WHEN c.change = 'On' OR c.most IS NULL THEN c.change
        ELSE format('{}, up to {}', c.change, c.most)
    END::VARCHAR AS recommended,
    c.value_today::VARCHAR AS value_today,
    c.set_in::VARCHAR AS set_in,
    concat_ws(
        '; ',
        CASE
            WHEN c.is_off THEN 'with this setting every handshake is a full one'
            WHEN u.cause IS NOT NULL
                THEN full_causes_text(u.full_handshakes, u.versions, u.none_offered, u.expired, u.not_found)
            WHEN u.side = 'client'
                THEN coalesce(f.words, 'whether the servers resume the sessions that are offered is not in the data')
            ELSE 'whether sessions are missing or clients offer none is not known: load GSKSRVR statistics of the caches'
        END,
        CASE
            WHEN c.parameter IS NULL AND u.side = 'server'
                THEN format(
                    'in zERT details the network {} has {:,} of {:,} full handshakes of the system',
                    n.client_network,
                    n.full_handshakes,
                    n.of_system::BIGINT
                )
        END
    )::VARCHAR AS why_full,
    (c.is_off OR (c.parameter IS NOT NULL AND u.cause IS NOT NULL))::BOOLEAN AS is_limit
FROM caused AS u
LEFT JOIN chosen AS c
    ON
        u.system = c.system
        AND u.shared_by = c.shared_by
        AND u.rule_name IS NOT DISTINCT FROM c.rule_name
        AND u.server_port IS NOT DISTINCT FROM c.server_port
LEFT JOIN found AS f ON u.versions = f.versions
LEFT JOIN network AS n ON u.system = n.system
