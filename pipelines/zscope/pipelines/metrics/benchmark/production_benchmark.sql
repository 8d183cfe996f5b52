-- What production shows about a published result: the closest figure of a system, and how its conditions differ.
--
-- Only runs that differ in one thing measure a published result. Production has all kinds of handshakes at once, so its
-- figure is never a verdict.

WITH closest AS (
    FROM (VALUES
        (
            'tls31-resumption-tls12-cpu',
            'a resumed handshake takes {} of the CPU time of a full one',
            'There, a whole connection with its data was measured, full or resumed; here, the handshake alone, in all versions '
            || 'and cipher suites that the system uses.'
        ),
        (
            'tls31-resumption-tls13-cpu',
            'a resumed handshake takes {} of the CPU time of a full one',
            'There, a whole connection with its data was measured, full or resumed; here, the handshake alone, in all versions '
            || 'and cipher suites that the system uses.'
        ),
        (
            'tls31-sysplex-tickets-hit',
            '{} of the TLSv1.3 handshakes of servers are resumed',
            'There, every client offered a ticket, and all systems of the sysplex shared them; here, all clients count.'
        ),
        (
            'tls31-tls13-vs-tls12-cpu',
            '{} of the full handshakes use TLSv1.3',
            'Their costs are not known apart here; the share is of handshakes that have moved to it.'
        ),
        (
            'tls31-ecdhe-vs-dhe-cpu',
            '{} of the full handshakes use DHE key exchange',
            'Their costs are not known apart here; the share is of handshakes that could move.'
        ),
        (
            'tls31-ecdhe-vs-rsa-kx-cpu',
            '{} of the full handshakes use RSA key exchange',
            'Their costs are not known apart here; the share is of handshakes that could move.'
        )
    ) AS of_result (id, phrase, conditions)
),

handshakes AS (
    SELECT
        system,
        sum(handshakes) FILTER (kind = 'full') AS full_handshakes,
        coalesce(sum(handshakes) FILTER (kind = 'full' AND tls_version = 'TLSv1.3'), 0) AS full_tls13,
        coalesce(sum(handshakes) FILTER (kind = 'full' AND key_exchange LIKE 'DHE%'), 0) AS full_dhe,
        coalesce(sum(handshakes) FILTER (kind = 'full' AND key_exchange = 'RSA'), 0) AS full_rsa,
        sum(handshakes) FILTER (
            kind IN ('full', 'resumed') AND tls_version = 'TLSv1.3' AND handshake_role LIKE 'server%'
        ) AS server_tls13,
        coalesce(
            sum(handshakes) FILTER (
                kind = 'resumed' AND tls_version = 'TLSv1.3' AND handshake_role LIKE 'server%'
            ),
            0
        ) AS resumed_server_tls13,
        min(day) AS first_day,
        max(day) AS last_day
    FROM handshake_hour
    GROUP BY system
),

covered AS (
    SELECT
        c.system,
        100 * sum(c.covered_hours) / nullif(sum(c.hours), 0) AS covered_pct
    FROM covered_day AS c
    SEMI JOIN handshake_hour AS h ON c.system = h.system AND c.day = h.day
    WHERE c.source = '119-11'
    GROUP BY c.system
),

counted AS (
    SELECT
        h.system,
        c.covered_pct,
        h.first_day,
        h.last_day,
        unnest([
            {'id': 'tls31-sysplex-tickets-hit', 'part': h.resumed_server_tls13, 'whole': h.server_tls13},
            {'id': 'tls31-tls13-vs-tls12-cpu', 'part': h.full_tls13, 'whole': h.full_handshakes},
            {'id': 'tls31-ecdhe-vs-dhe-cpu', 'part': h.full_dhe, 'whole': h.full_handshakes},
            {'id': 'tls31-ecdhe-vs-rsa-kx-cpu', 'part': h.full_rsa, 'whole': h.full_handshakes}
        ], recursive := true)
    FROM handshakes AS h
    LEFT JOIN covered AS c ON h.system = c.system
),

-- A share of the cost has both ends if that of a full handshake is known to be more than nothing.
cost AS (
    SELECT
        system,
        unnest(['tls31-resumption-tls12-cpu', 'tls31-resumption-tls13-cpu']) AS id,
        if(difference_status = status, status, 'conditional') AS status,
        if(full_low_us > 0, 100 * resumed_us / full_us, NULL) AS share_pct,
        if(full_low_us > 0, 100 * resumed_low_us / full_high_us, NULL) AS low_pct,
        if(full_low_us > 0, 100 * resumed_high_us / full_low_us, NULL) AS high_pct,
        handshake_source,
        covered_pct,
        first_local::DATE AS first_day,
        last_local::DATE AS last_day
    FROM handshake_cost
    WHERE full_high_us > 0
),

here AS (
    SELECT
        id,
        system,
        100.0 * part / whole AS value,
        NULL AS low,
        NULL AS high,
        format('{} ({:,} of {:,})', percent_text(100.0 * part / whole), part::BIGINT, whole::BIGINT) AS words,
        'counted' AS status,
        'zERT detail' AS source,
        covered_pct,
        first_day,
        last_day
    FROM counted
    -- A result about a version or key exchange that is not used does not concern the system.
    WHERE whole > 0 AND (part > 0 OR id = 'tls31-sysplex-tickets-hit')
    UNION ALL BY NAME
    SELECT
        id,
        system,
        share_pct AS value,
        low_pct AS low,
        high_pct AS high,
        CASE
            WHEN low_pct IS NULL THEN 'an unknown share (that of a full one is not distinguishable from 0)'
            WHEN share_pct IS NULL THEN format('{} to {} %', number_text(low_pct), number_text(high_pct))
            ELSE format('{} % ({} to {} %)', number_text(share_pct), number_text(low_pct), number_text(high_pct))
        END AS words,
        if(low_pct IS NULL, 'not enough data', status) AS status,
        handshake_source AS source,
        covered_pct,
        first_day,
        last_day
    FROM cost
)

SELECT
    h.id::VARCHAR AS id,
    h.system::VARCHAR AS system,
    trim(replace(c.phrase, '{}', ''))::VARCHAR AS quantity,
    h.value::DOUBLE AS value,
    h.low::DOUBLE AS low,
    h.high::DOUBLE AS high,
    '%' AS unit,
    h.status::VARCHAR AS status,
    h.source::VARCHAR AS source,
    h.covered_pct::DOUBLE AS covered_pct,
    h.first_day::DATE AS first_day,
    h.last_day::DATE AS last_day,
    r.as_printed::VARCHAR AS as_printed,
    r.value::DOUBLE AS published_value,
    r.baseline::VARCHAR AS baseline,
    r.candidate::VARCHAR AS candidate,
    c.conditions::VARCHAR AS conditions,
    format(
        '{}: {}{}. Published by IBM: {}. {}',
        h.system,
        format(c.phrase, h.words),
        coalesce('; ' || incomplete_text(h.covered_pct), ''),
        concat(
            r.candidate,
            if(r.metric = 'cpu_per_tran', ' took ', ': '),
            r.as_printed,
            CASE r.direction WHEN 'increase' THEN ' more' WHEN 'decrease' THEN ' less' END,
            if(r.metric = 'cpu_per_tran', ' CPU time per transaction', ' of handshakes'),
            ' than ' || r.baseline
        ),
        c.conditions
    )::VARCHAR AS sentence
FROM here AS h
INNER JOIN closest AS c ON h.id = c.id
INNER JOIN reference_result AS r ON h.id = r.id
ORDER BY h.id, h.system
