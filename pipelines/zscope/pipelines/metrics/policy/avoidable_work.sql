-- Work of TLS that could be avoided or done by the hardware, besides resumption and what is published: connections of one
-- network that could stay open, long RSA keys, and cipher suites that CPACF does not support.
--
-- The network with the most handshakes of a system stands for its clients. What it saves at most is what all its
-- handshakes cost; how many connections can stay open is up to the application. Supplied
-- counts of transactions, divided by the connections of the same intervals, show how many transactions a connection serves.

WITH busiest AS (
    SELECT *
    FROM tls_use
    WHERE
        shared_by = 'client network'
        AND client_network IS NOT NULL
        AND full_handshakes + resumed_handshakes > 0
    QUALIFY
        row_number() OVER (
            PARTITION BY system ORDER BY full_handshakes + resumed_handshakes DESC, client_network
        ) = 1
),

-- SMF 119-2 and zERT details count the same connections. The larger count is used.
counted AS (
    SELECT
        t.system,
        t.counted_by,
        t.interval_start_utc,
        sum(t.transactions) AS transactions
    FROM transaction_interval AS t
    ANTI JOIN run_hour AS r ON t.system = r.system AND time_bucket(INTERVAL 1 HOUR, t.interval_start_utc) = r.hour_utc
    WHERE t.system IN (SELECT b.system FROM busiest AS b)
    GROUP BY t.system, t.counted_by, t.interval_start_utc
),

reuse AS (
    SELECT
        s.system,
        sum(s.transactions) / nullif(sum(c.connections), 0) AS transactions
    FROM counted AS s
    INNER JOIN (
        SELECT
            system,
            interval_start_utc,
            max(transactions) AS connections
        FROM counted
        WHERE counted_by <> 'supplied count'
        GROUP BY system, interval_start_utc
    ) AS c ON s.system = c.system AND s.interval_start_utc = c.interval_start_utc
    WHERE s.counted_by = 'supplied count'
    GROUP BY s.system
),

network AS (
    SELECT
        n.system,
        n.client_network,
        u.transactions AS transactions_of_connection,
        n.full_handshakes / (n.full_handshakes + n.resumed_handshakes) AS full_share,
        c.handshakes_per_day * (n.full_handshakes + n.resumed_handshakes)
        / (s.full_handshakes + s.resumed_handshakes) AS per_day,
        n.full_handshakes + n.resumed_handshakes = s.full_handshakes + s.resumed_handshakes AS is_all,
        c.why,
        coalesce(full_share * c.full_high_us + (1 - full_share) * c.resumed_high_us, c.mean_high_us) AS mean_high_us
    FROM busiest AS n
    INNER JOIN tls_use AS s ON n.system = s.system AND s.shared_by = 'system'
    INNER JOIN handshake_cost AS c ON n.system = c.system
    LEFT JOIN reuse AS u ON n.system = u.system
    WHERE c.handshakes_per_day > 0
),

long_key AS (
    SELECT
        system,
        coalesce(
            nullif(regexp_extract(any_value(subject_dn), 'CN=([^,]+)', 1), ''),
            nullif(any_value(subject_dn), ''),
            'with serial number ' || serial
        ) AS name,
        key_bits,
        sum(connections) AS connections,
        arg_max(
            concat(
                coalesce('job ' || job_name, 'connections whose job is not recorded'),
                ' on ',
                coalesce('port ' || server_port, 'a port that is not recorded')
            ),
            (connections, job_name, server_port)
        ) AS place
    FROM certificate_seen
    WHERE certificate_of = 'server' AND presented_by = 'this system' AND is_long_rsa_key(key_type, key_bits)
    GROUP BY system, serial, issuer_dn, key_bits
),

software_suite AS (
    SELECT
        h.system,
        h.cipher_name AS name,
        sum(h.handshakes) AS handshakes,
        arg_max(
            concat(
                coalesce('job ' || h.job_name, 'connections whose job is not recorded'),
                ' on ',
                coalesce('port ' || h.server_port, 'a port that is not recorded')
            ),
            (h.handshakes, h.job_name, h.server_port)
        ) AS place
    FROM handshake_hour AS h
    INNER JOIN cipher AS c ON h.cipher = c.code
    WHERE
        h.kind IN ('full', 'resumed')
        AND encrypts_in_software(c.encryption)
    GROUP BY h.system, h.cipher_name
)

SELECT
    system::VARCHAR AS system,
    format('keep connections of clients in {} open', client_network)::VARCHAR AS change,
    'connections that serve several requests'::VARCHAR AS recommended,
    NULL::VARCHAR AS statement,
    NULL::VARCHAR AS parameter,
    if(mean_high_us IS NULL, 'not enough data', 'conditional')::VARCHAR AS status,
    client_network::VARCHAR AS client_network,
    per_day::DOUBLE AS handshakes_per_day,
    if(mean_high_us IS NULL, NULL, 0)::DOUBLE AS saving_low_s_per_day,
    (per_day * mean_high_us / 1e6)::DOUBLE AS saving_high_s_per_day,
    if(
        mean_high_us IS NULL,
        why,
        format(
            'about {:,.0f} handshakes a day come from there; at most, if few connections serve all their requests{}',
            round(per_day, 2 - floor(log10(per_day))::INTEGER),
            coalesce(
                format(
                    ', where one of this system serves {} now by supplied counts',
                    if(
                        abs(transactions_of_connection - 1) < 0.05,
                        'one transaction',
                        number_text(transactions_of_connection) || ' transactions'
                    )
                ),
                ''
            )
        )
        || if(is_all, '', '; if handshakes of all client networks cost the same')
    )::VARCHAR AS why
FROM network
UNION ALL
SELECT
    system,
    format('a smaller key than RSA {} for the certificate {}', key_bits, name),
    'RSA 2048 or ECDSA P-256',
    NULL,
    NULL,
    'conditional',
    NULL,
    NULL,
    NULL,
    NULL,
    format('{}, most of {}', counted_text(connections, 'connection') || ' showed it', place)
FROM long_key
UNION ALL
SELECT
    system,
    format('AES-GCM instead of {}', name),
    'suites with AES-GCM first',
    'TTLSCipherParms',
    'V3CipherSuites',
    'conditional',
    NULL,
    NULL,
    NULL,
    NULL,
    format('CPACF does not encrypt so; {} used it, most of {}', counted_text(handshakes, 'handshake'), place)
FROM software_suite
