-- CPU time of a full handshake, a resumed one and a megabyte on a system, with its range or interval.
--
-- The costs of cost_estimate, one row for each system.

SELECT
    system::VARCHAR AS system,
    any_value(status) FILTER (WHERE item = 'mean handshake')::VARCHAR AS status,
    any_value(value) FILTER (WHERE item = 'full handshake')::DOUBLE AS full_us,
    any_value(low) FILTER (WHERE item = 'full handshake')::DOUBLE AS full_low_us,
    any_value(high) FILTER (WHERE item = 'full handshake')::DOUBLE AS full_high_us,
    any_value(value) FILTER (WHERE item = 'resumed handshake')::DOUBLE AS resumed_us,
    any_value(low) FILTER (WHERE item = 'resumed handshake')::DOUBLE AS resumed_low_us,
    any_value(high) FILTER (WHERE item = 'resumed handshake')::DOUBLE AS resumed_high_us,
    any_value(value) FILTER (WHERE item = 'mean handshake')::DOUBLE AS mean_us,
    any_value(low) FILTER (WHERE item = 'mean handshake')::DOUBLE AS mean_low_us,
    any_value(high) FILTER (WHERE item = 'mean handshake')::DOUBLE AS mean_high_us,
    any_value(value) FILTER (WHERE item = 'megabyte')::DOUBLE AS mb_us,
    any_value(low) FILTER (WHERE item = 'megabyte')::DOUBLE AS mb_low_us,
    any_value(high) FILTER (WHERE item = 'megabyte')::DOUBLE AS mb_high_us,
    any_value(status) FILTER (WHERE item = 'full less resumed')::VARCHAR AS difference_status,
    any_value(value) FILTER (WHERE item = 'full less resumed')::DOUBLE AS difference_us,
    any_value(low) FILTER (WHERE item = 'full less resumed')::DOUBLE AS difference_low_us,
    any_value(high) FILTER (WHERE item = 'full less resumed')::DOUBLE AS difference_high_us,
    any_value(why) FILTER (WHERE item = 'mean handshake')::VARCHAR AS why,
    any_value(why) FILTER (WHERE item = 'full less resumed')::VARCHAR AS difference_why,
    any_value(charged_to)::VARCHAR AS charged_to,
    any_value(cpu_source)::VARCHAR AS cpu_source,
    any_value(handshake_source)::VARCHAR AS handshake_source,
    any_value(interval_s)::BIGINT AS interval_s,
    any_value(intervals)::BIGINT AS intervals,
    any_value(days)::BIGINT AS days,
    any_value(covered_pct)::DOUBLE AS covered_pct,
    any_value(first_local)::TIMESTAMP AS first_local,
    any_value(last_local)::TIMESTAMP AS last_local,
    any_value(handshakes_per_day)::DOUBLE AS handshakes_per_day,
    any_value(full_handshakes_per_day)::DOUBLE AS full_handshakes_per_day,
    any_value(resumed_handshakes_per_day)::DOUBLE AS resumed_handshakes_per_day,
    any_value(megabytes_per_day)::DOUBLE AS megabytes_per_day,
    any_value(cpu_s_per_day)::DOUBLE AS cpu_s_per_day,
    any_value(time_effects_pct)::DOUBLE AS time_effects_pct,
    any_value(tls_pct)::DOUBLE AS tls_pct,
    any_value(outlier_pct)::DOUBLE AS outlier_pct,
    any_value(residual_autocorrelation)::DOUBLE AS residual_autocorrelation
FROM cost_estimate
WHERE unit = 'us'
GROUP BY system
ORDER BY system
