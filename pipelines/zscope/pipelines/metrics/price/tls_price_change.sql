-- Change of the CPU time for TLS after a change of the policy, release, capacity or cipher suites.
--
-- The changes are those of cost_change, with a sentence about each.

SELECT
    system::VARCHAR AS system,
    changed_utc::TIMESTAMPTZ AS changed_utc,
    changed::VARCHAR AS changed,
    change::VARCHAR AS change,
    item::VARCHAR AS item,
    unit::VARCHAR AS unit,
    CASE
        WHEN item IS NULL THEN 'not known'
        WHEN high < 0 THEN 'less'
        WHEN low > 0 THEN 'more'
        ELSE 'not distinguishable'
    END::VARCHAR AS verdict,
    status::VARCHAR AS status,
    value::DOUBLE AS value,
    low::DOUBLE AS low,
    high::DOUBLE AS high,
    smallest_visible::DOUBLE AS smallest_visible,
    before::DOUBLE AS before,
    after::DOUBLE AS after,
    covered_pct::DOUBLE AS covered_pct,
    by_costs::DOUBLE AS by_costs,
    by_number::DOUBLE AS by_number,
    by_mix::DOUBLE AS by_mix,
    concat(
        CASE
            WHEN item IS NULL THEN format('{} of {}: not known whether TLS costs something else', changed, system)
            WHEN high < 0
                THEN format(
                    '{}: {} costs {:.1f} {} less since the change ({:.1f} to {:.1f})',
                    system, item, -value, unit, -high, -low
                )
            WHEN low > 0
                THEN format(
                    '{}: {} costs {:.1f} {} more since the change ({:.1f} to {:.1f})',
                    system, item, value, unit, low, high
                )
            ELSE format(
                '{}: no change of {} can be seen; one below {:.1f} {} would not have been seen',
                system, item, smallest_visible, unit
            )
        END,
        if(status = 'conditional' AND (low > 0 OR high < 0), ' (conditional)', NULL),
        CASE
            WHEN item IS NOT NULL AND covered_pct < 95
                THEN format('; the data cover {} % of the time of a period', number_text(covered_pct))
        END
    )::VARCHAR AS sentence,
    why::VARCHAR AS why
FROM cost_change
ORDER BY system, changed_utc, changed, unit DESC, item
