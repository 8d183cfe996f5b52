-- The share of the cycles of processors that CPACF takes, by system, type of processor and interval.
--
-- A share is the sum of the cycles of CPACF over the sum of all cycles of the same processors, never an average of
-- shares. Processors of different types have different speeds and are never added up. Records whose counters were
-- lost, and first records of subtype 2, are counted as such and not used; processors without known counters of CPACF
-- count for busy time and cycles per instruction only.

WITH used AS (
    SELECT
        *,
        epoch_us(interval_end_utc) - epoch_us(interval_start_utc) AS length_us,
        state NOT IN ('counters were lost', 'no record before', 'no basic counters') AS has_cycles,
        state = 'counted' AS has_crypto
    FROM processor_interval
)

SELECT
    system::VARCHAR AS system,
    cpu_type::VARCHAR AS cpu_type,
    ('SMF 113-' || record_subtype)::VARCHAR AS source,
    interval_start_utc::TIMESTAMPTZ AS interval_start_utc,
    interval_end_utc::TIMESTAMPTZ AS interval_end_utc,
    count(*)::BIGINT AS records,
    count(*) FILTER (WHERE has_crypto)::BIGINT AS counted_records,
    count(*) FILTER (WHERE state = 'counters were lost')::BIGINT AS lost_records,
    count(*) FILTER (WHERE state = 'no record before')::BIGINT AS first_records,
    count(*) FILTER (WHERE state = 'crypto counters are not collected')::BIGINT AS uncollected_records,
    count(*) FILTER (WHERE state IN ('crypto counters of an unknown version', 'no basic counters'))::BIGINT
    AS unknown_records,
    (sum(length_us) / 1e6)::DOUBLE AS processor_s,
    (sum(length_us) FILTER (WHERE has_crypto) / 1e6)::DOUBLE AS counted_processor_s,
    (sum(cycles / cpu_speed) FILTER (WHERE has_cycles) / 1e6)::DOUBLE AS busy_s,
    (sum(cycles) FILTER (WHERE has_cycles))::DOUBLE AS cycles,
    (sum(instructions) FILTER (WHERE has_cycles))::DOUBLE AS instructions,
    (sum(cycles) FILTER (WHERE has_crypto))::DOUBLE AS crypto_base_cycles,
    (sum(prng_cycles + sha_cycles + dea_cycles + aes_cycles + coalesce(ecc_cycles, 0)) FILTER (WHERE has_crypto))::DOUBLE
    AS crypto_cycles,
    (
        sum((prng_cycles + sha_cycles + dea_cycles + aes_cycles + coalesce(ecc_cycles, 0)) / cpu_speed)
            FILTER (WHERE has_crypto) / 1e6
    )::DOUBLE AS crypto_s,
    (sum(prng_calls + sha_calls + dea_calls + aes_calls + coalesce(ecc_calls, 0)) FILTER (WHERE has_crypto))::DOUBLE
    AS crypto_calls,
    (sum(blocked_calls) FILTER (WHERE has_crypto))::DOUBLE AS blocked_calls,
    (sum(blocked_cycles) FILTER (WHERE has_crypto))::DOUBLE AS blocked_cycles,
    (sum(aes_calls) FILTER (WHERE has_crypto))::DOUBLE AS aes_calls,
    (sum(aes_cycles) FILTER (WHERE has_crypto))::DOUBLE AS aes_cycles,
    (sum(sha_calls) FILTER (WHERE has_crypto))::DOUBLE AS sha_calls,
    (sum(sha_cycles) FILTER (WHERE has_crypto))::DOUBLE AS sha_cycles,
    (sum(dea_calls) FILTER (WHERE has_crypto))::DOUBLE AS dea_calls,
    (sum(dea_cycles) FILTER (WHERE has_crypto))::DOUBLE AS dea_cycles,
    (sum(ecc_calls) FILTER (WHERE has_crypto))::DOUBLE AS ecc_calls,
    (sum(ecc_cycles) FILTER (WHERE has_crypto))::DOUBLE AS ecc_cycles,
    (sum(cycles) FILTER (WHERE has_crypto AND ecc_cycles IS NOT NULL))::DOUBLE AS ecc_base_cycles,
    (sum(prng_calls) FILTER (WHERE has_crypto))::DOUBLE AS prng_calls,
    (sum(prng_cycles) FILTER (WHERE has_crypto))::DOUBLE AS prng_cycles,
    (sum(one_thread_cycles) FILTER (WHERE has_cycles))::DOUBLE AS one_thread_cycles,
    (sum(two_thread_cycles) FILTER (WHERE has_cycles))::DOUBLE AS two_thread_cycles
FROM used
GROUP BY system, cpu_type, record_subtype, interval_start_utc, interval_end_utc
ORDER BY system, cpu_type, source, interval_start_utc, interval_end_utc
