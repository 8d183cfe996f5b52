-- One measured quantity of a capture of MQ, z/VM or z/TPF, in the terms of the published results.
--
-- Tags describe the configuration: those from the capture itself (message size, cipher, sessions), and those
-- of its benchmark run for everything else. The values are those of the metrics of each system.

WITH run_tagged AS (
    SELECT
        name,
        list_sort(list_distinct(flatten(list(tags)))) AS tags,
        bool_or(synthetic) AS synthetic
    FROM run
    GROUP BY name
),

mq AS (
    SELECT
        v.measure,
        v.unit,
        v.value,
        v.n,
        v.deviation,
        v.formula,
        a.measured_utc,
        a.system,
        a.run,
        a.message,
        a.cipher,
        a.sslrkeyc,
        a.channel_pairs
    FROM mq_round_trip_average AS a
    CROSS JOIN LATERAL (
        VALUES
        (
            'round_trip', 'us', a.round_trip_us, a.measurements, a.round_trip_deviation,
            'average of ' || a.round_trips || ' round trips in ' || a.measurements || ' measurements'
        ),
        (
            'cpu_per_round_trip', 'CPU us', a.cpu_us, a.cpu_measurements, a.cpu_deviation,
            'average of ' || a.cpu_measurements || ' measurements'
        ),
        (
            'tcp_sends_per_message', 'sends', a.tcp_sends_per_message, a.tcp_sends_measurements, NULL,
            'average of ' || a.tcp_sends_measurements || ' measurements'
        ),
        (
            'messages_per_negotiation',
            'messages',
            -- A queue manager treats values up to 32768 as 32768.
            CASE
                WHEN a.sslrkeyc > 0 THEN greatest(a.sslrkeyc, 32768) / nullif(a.channel_message_bytes, 0)
            END,
            1,
            NULL,
            greatest(a.sslrkeyc, 32768)
            || format(' / {:.6g} bytes of a message on the channel', a.channel_message_bytes)
        )
    ) AS v (measure, unit, value, n, deviation, formula)
    UNION ALL BY NAME
    SELECT
        v.measure,
        'ms' AS unit,
        v.value,
        1 AS n,
        v.formula,
        c.system,
        c.run,
        c.steady_run AS other_runs,
        c.message,
        c.cipher,
        c.sslrkeyc,
        c.channel_pairs,
        CASE
            WHEN NOT c.bytes_told
                THEN 'the bytes of a message on the channel are not recorded; its size is used instead'
        END AS remarks
    FROM (
        SELECT
            *,
            format(
                '({:.6g} - {:.6g}) us x {:.6g} messages', renewing_us, steady_us, messages_per_negotiation
            ) AS both_pairs
        FROM mq_negotiation_cost
    ) AS c
    CROSS JOIN LATERAL (
        VALUES
        (
            'elapsed_per_negotiation',
            c.per_negotiation_us / 1000,
            c.both_pairs || ' / ' || c.channel_pairs || ' channel pairs / 1000'
        ),
        ('elapsed_negotiating', c.total_us / 1000, c.both_pairs || ' / 1000')
    ) AS v (measure, value, formula)
),

mq_tagged AS (
    SELECT
        * EXCLUDE (message, cipher, sslrkeyc, channel_pairs),
        [
            'message=' || message,
            'cipher=' || cipher,
            'sslrkeyc=' || sslrkeyc,
            'channel_pairs=' || channel_pairs
        ] AS own_tags
    FROM mq
),

zvm AS (
    SELECT
        v.measure,
        v.subject,
        v.unit,
        v.value,
        1 AS n,
        v.formula,
        z.system,
        z.run,
        z.begin_utc AS measured_utc,
        []::VARCHAR[] AS own_tags,
        CASE WHEN v.unit <> 'bits' THEN z.remarks END AS remarks
    FROM zvm_cpu_per_tx AS z
    LEFT JOIN run_tagged AS r ON z.run = r.name
    CROSS JOIN LATERAL (
        VALUES
        (
            'cpu_per_tran',
            CASE z.server WHEN 'combined' THEN 'servers combined' ELSE z.server || ' server' END,
            'CPU/tx',
            z.cpu_per_tx,
            format('100 x {:.6g} s of CPU / {:.6g} s / {:.6g}', z.tcpu_s, z.period_s, z.etr)
        ),
        (
            'throughput_etr',
            'ETR',
            'transactions/s (scaled)',
            CASE WHEN z.server = 'combined' THEN z.etr END,
            'bytes per second of path ' || z.chpids || ' over the scaling constant'
        ),
        (
            'cipher_strength',
            NULL,
            'bits',
            CASE
                WHEN z.server = 'combined'
                    THEN try_cast(regexp_extract(
                        list_filter(r.tags, lambda t : starts_with(t, 'cipher='))[1], 'AES_(\d+)', 1
                    ) AS DOUBLE)
            END,
            'bits of the key in the name of the cipher'
        )
    ) AS v (measure, subject, unit, value, formula)
),

ztpf AS (
    SELECT
        v.measure,
        v.unit,
        v.value,
        1 AS n,
        v.formula,
        f.system,
        f.run,
        f.series,
        f.begin_utc AS measured_utc,
        without_nulls(['sessions=' || f.sessions]) AS own_tags,
        CASE WHEN f.gaps > 0 THEN format('{:.6g} s are without samples', f.gap_s) END AS remarks
    FROM ztpf_flood AS f
    CROSS JOIN LATERAL (
        VALUES
        ('throughput', 'starts/s', f.starts_per_s, 'TLS session starts per second of the flood'),
        ('ecbs_in_use', 'ECBs', f.peak_ecbs, 'the most of ' || f.samples || ' samples'),
        (
            'duration_of_high_ecb_use', 's', f.duration_s,
            format('seconds with {:.6g} ECBs or more', f.threshold_ecbs)
        ),
        -- Above the baseline, as the total grows with the time sampled before and after the flood.
        (
            'ecb_seconds', 'ECB*s', f.excess_ecb_seconds,
            format('ECBs in use above {:.6g}, summed over the time', f.baseline_ecbs)
        ),
        (
            'share_of_worker_threads_for_session_starts', 'pct', f.starting_share_pct,
            '100 x the most threads that start sessions / worker threads'
        )
    ) AS v (measure, unit, value, formula)
),

measured AS (
    SELECT * FROM mq_tagged
    UNION ALL BY NAME
    SELECT * FROM zvm
    UNION ALL BY NAME
    SELECT * FROM ztpf
),

tagged AS (
    SELECT
        m.*,
        -- Tags of the capture have priority over tags of the run.
        list_concat(
            m.own_tags,
            list_filter(
                coalesce(r.tags, []),
                lambda t :
                    NOT list_contains(tag_keys(m.own_tags), tag_key(t))
            )
        ) AS tags,
        -- Captures do not show whether they were generated; their runs do, or other runs on their systems.
        coalesce(
            r.synthetic, m.system IN (SELECT s.system FROM run AS s WHERE s.synthetic), false
        )
        OR list_has_any(
            string_split(coalesce(m.other_runs, ''), ', '),
            coalesce((SELECT list(s.name) FROM run_tagged AS s WHERE s.synthetic), [])
        ) AS synthetic,
        m.deviation / sqrt(m.n) * student_t(m.n - 1) AS log_half
    FROM measured AS m
    LEFT JOIN run_tagged AS r ON m.run = r.name
    WHERE m.value IS NOT NULL
)

SELECT
    row_number() OVER (ORDER BY measure, subject, tags, system, run, series)::BIGINT AS measure_no,
    measure::VARCHAR AS measure,
    subject::VARCHAR AS subject,
    system::VARCHAR AS system,
    run::VARCHAR AS run,
    series::VARCHAR AS series,
    tags::VARCHAR[] AS tags,
    value::DOUBLE AS value,
    unit::VARCHAR AS unit,
    n::BIGINT AS n,
    (value * exp(-log_half))::DOUBLE AS low,
    (value * exp(log_half))::DOUBLE AS high,
    formula::VARCHAR AS formula,
    measured_utc::TIMESTAMPTZ AS measured_utc,
    synthetic::BOOLEAN AS synthetic,
    remarks::VARCHAR AS remarks
FROM tagged
ORDER BY measure_no
