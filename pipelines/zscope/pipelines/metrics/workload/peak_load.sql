-- One measure of the load of a system over its CPU intervals: percentiles, and the interval with the peak.
--
-- Rates are averages of intervals, so the peak of a second is higher. Each interval counts once, whatever its
-- length. Handshakes are those of intervals that zERT covers as a whole.

WITH interval_amount AS (
    SELECT
        s.system,
        s.interval_start_utc,
        s.interval_end_utc,
        s.interval_ms,
        unnest(
            [
                {'measure': 'CPU time', 'unit': 's/s', 'amount': s.cpu_s},
                {'measure': 'zIIP time', 'unit': 's/s', 'amount': s.ziip_s},
                {
                    'measure': 'handshakes',
                    'unit': '1/s',
                    'amount': (
                        h.full_handshakes + h.resumed_handshakes + h.failed_handshakes + h.unknown_handshakes
                    )::DOUBLE
                },
                {'measure': 'full handshakes', 'unit': '1/s', 'amount': h.full_handshakes::DOUBLE}
            ],
            recursive := true
        )
    FROM cpu_slot AS s
    LEFT JOIN handshake_interval AS h ON s.system = h.system AND s.interval_start_utc = h.interval_start_utc
    WHERE
        s.passed_over IS NULL
        AND s.interval_ms > 0
        AND s.interval_start_utc >= coalesce(getvariable('peak_from')::TIMESTAMPTZ, '-infinity'::TIMESTAMPTZ)
        AND s.interval_start_utc < coalesce(getvariable('peak_to')::TIMESTAMPTZ, 'infinity'::TIMESTAMPTZ)
),

interval_value AS (
    SELECT
        *,
        1000 * amount / interval_ms AS value
    FROM interval_amount
)

SELECT
    system::VARCHAR AS system,
    measure::VARCHAR AS measure,
    any_value(unit)::VARCHAR AS unit,
    count(value)::BIGINT AS intervals,
    (100 * sum(interval_ms) FILTER (WHERE value IS NOT NULL) / sum(interval_ms))::DOUBLE AS covered_pct,
    (sum(value * interval_ms) / sum(interval_ms) FILTER (WHERE value IS NOT NULL))::DOUBLE AS mean,
    quantile_cont(value, 0.5)::DOUBLE AS p50,
    quantile_cont(value, 0.9)::DOUBLE AS p90,
    quantile_cont(value, 0.95)::DOUBLE AS p95,
    quantile_cont(value, 0.99)::DOUBLE AS p99,
    max(value)::DOUBLE AS peak,
    arg_max(interval_start_utc, (value, -epoch_us(interval_start_utc)))
        FILTER (WHERE value IS NOT NULL)::TIMESTAMPTZ AS peak_start_utc,
    arg_max(interval_end_utc, (value, -epoch_us(interval_start_utc)))
        FILTER (WHERE value IS NOT NULL)::TIMESTAMPTZ AS peak_end_utc
FROM interval_value
GROUP BY system, measure
HAVING count(value) > 0
ORDER BY system, measure
