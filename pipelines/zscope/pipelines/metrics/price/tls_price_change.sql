-- Change of the CPU time for TLS after a change of the policy, release, capacity or cipher suites, and its parts.
--
-- The changes are those of cost_change, with a verdict and a sentence about each. The sentence is about a connection
-- at equal load: the number of connections moves as the users do, which is no effect of the change.

WITH part AS (
    SELECT
        system,
        changed_utc,
        changed,
        any_value(value) FILTER (WHERE item = 'per connection') AS per_connection,
        any_value(low) FILTER (WHERE item = 'per connection') AS per_connection_low,
        any_value(high) FILTER (WHERE item = 'per connection') AS per_connection_high,
        any_value(value) FILTER (WHERE item = 'costs') AS by_costs,
        any_value(value) FILTER (WHERE item = 'resumption') AS by_resumption,
        any_value(value) FILTER (WHERE item = 'number') AS by_number,
        any_value(low) FILTER (WHERE item = 'number') AS number_low,
        any_value(high) FILTER (WHERE item = 'number') AS number_high
    FROM cost_change
    GROUP BY ALL
),

judged AS (
    SELECT
        c.*,
        p.* EXCLUDE (system, changed_utc, changed),
        CASE
            WHEN c.item IS NULL THEN 'not known'
            WHEN c.high < 0 THEN 'less'
            WHEN c.low > 0 THEN 'more'
            ELSE 'not distinguishable'
        END AS verdict,
        CASE
            WHEN p.per_connection_high < 0 THEN 'less'
            WHEN p.per_connection_low > 0 THEN 'more'
        END AS per_connection_change,
        nullif(
            concat_ws(
                ' and ',
                CASE
                    WHEN p.by_costs <= 0
                        THEN format('{} less because a handshake costs less', number_text(abs(p.by_costs)))
                    WHEN p.by_costs > 0
                        THEN format('{} more because a handshake costs more', number_text(p.by_costs))
                END,
                CASE
                    WHEN p.by_resumption <= 0
                        THEN format('{} less because more are resumed', number_text(abs(p.by_resumption)))
                    WHEN p.by_resumption > 0
                        THEN format('{} more because fewer are resumed', number_text(p.by_resumption))
                END
            ),
            ''
        ) AS of_parts,
        CASE
            WHEN p.number_low >= 0 AND p.number_high > 0
                THEN format(
                    'more connections cost {} to {} more',
                    number_text(p.number_low),
                    number_text(p.number_high)
                )
            WHEN p.number_high <= 0 AND p.number_low < 0
                THEN format(
                    'fewer connections cost {} to {} less',
                    number_text(abs(p.number_high)),
                    number_text(abs(p.number_low))
                )
            WHEN p.number_low < 0
                THEN format(
                    'other numbers of connections and bytes cost between {} less and {} more',
                    number_text(abs(p.number_low)),
                    number_text(p.number_high)
                )
        END AS of_number
    FROM cost_change AS c
    INNER JOIN part AS p
        ON
            c.system IS NOT DISTINCT FROM p.system
            AND c.changed_utc IS NOT DISTINCT FROM p.changed_utc
            AND c.changed IS NOT DISTINCT FROM p.changed
)

SELECT
    system::VARCHAR AS system,
    changed_utc::TIMESTAMPTZ AS changed_utc,
    changed::VARCHAR AS changed,
    change::VARCHAR AS change,
    item::VARCHAR AS item,
    unit::VARCHAR AS unit,
    CASE WHEN item IS NULL OR item IN ('TLS', 'per connection') THEN verdict END::VARCHAR AS verdict,
    status::VARCHAR AS status,
    value::DOUBLE AS value,
    low::DOUBLE AS low,
    high::DOUBLE AS high,
    smallest_visible::DOUBLE AS smallest_visible,
    before::DOUBLE AS before,
    after::DOUBLE AS after,
    cpu_source::VARCHAR AS cpu_source,
    covered_pct::DOUBLE AS covered_pct,
    CASE WHEN item = 'TLS' THEN by_costs END::DOUBLE AS by_costs,
    CASE WHEN item = 'TLS' THEN by_number END::DOUBLE AS by_number,
    CASE WHEN item = 'TLS' THEN by_resumption END::DOUBLE AS by_mix,
    CASE
        WHEN item IS NULL THEN format('{} of {}: not known whether TLS costs something else', changed, system)
        WHEN item = 'TLS'
            THEN concat(
                system,
                CASE
                    WHEN per_connection_change IS NULL THEN ': no change of TLS per connection can be seen'
                    ELSE concat(
                        format(
                            ': TLS costs {} s/day {} at equal load since the change ({} to {})',
                            number_text(abs(per_connection)),
                            per_connection_change,
                            number_text(least(abs(per_connection_low), abs(per_connection_high))),
                            number_text(greatest(abs(per_connection_low), abs(per_connection_high)))
                        ),
                        ', of which ' || of_parts,
                        -- Only in the address space of a stack is no work of servers.
                        if(
                            cpu_source = 'stack',
                            NULL,
                            ', if the servers do as much per connection as before, and as many clients are new'
                        )
                    )
                END,
                format('; one below {} s/day would not have been seen', number_text(smallest_visible)),
                '; ' || of_number,
                '; in all ',
                change_range_text(low, high),
                '; ' || incomplete_text(covered_pct) || ' of a period'
            )
    END::VARCHAR AS sentence,
    why::VARCHAR AS why
FROM judged
ORDER BY
    system, changed_utc, changed,
    list_position(['TLS', 'per connection', 'costs', 'resumption', 'number'], item)
