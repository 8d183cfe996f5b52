-- A range of addresses or ports in which the same AT-TLS rules match.
--
-- The conditions of all rules divide the addresses and ports into segments. A value is in the segment with the
-- highest `low_key` that is not above its own key, so that a connection needs one comparison for each of its
-- addresses and ports, however many rules there are. A segment that begins after a value has `~` at its end.

WITH rule_condition AS (
    SELECT
        policy_no,
        place,
        unnest(['local address', 'remote address', 'local port', 'remote port']) AS dimension,
        coalesce(unnest([local_addresses, remote_addresses, local_ports, remote_ports]), 'all') AS ranges
    FROM policy_rule
),

-- Many rules can have the same large group of addresses: it is divided once.
-- Materialized, so that a row has the same number in every place that reads it.
condition AS MATERIALIZED (
    SELECT
        policy_no,
        dimension,
        ranges,
        row_number() OVER () AS condition_no
    FROM (SELECT DISTINCT policy_no, dimension, ranges FROM rule_condition)
),

parts AS (
    SELECT
        condition_no,
        policy_no,
        dimension,
        unnest(string_split(ranges, ', ')) AS part
    FROM condition
),

bounds AS (
    SELECT
        condition_no,
        policy_no,
        dimension,
        CASE
            WHEN part = 'all' THEN ''
            WHEN dimension LIKE '%port' THEN port_key(split_part(part, '-', 1))
            ELSE ip_key(split_part(part, '-', 1))
        END AS low_key,
        CASE
            WHEN part = 'all' THEN '~'
            WHEN dimension LIKE '%port' THEN port_key(coalesce(nullif(split_part(part, '-', 2), ''), part))
            ELSE ip_key(coalesce(nullif(split_part(part, '-', 2), ''), part))
        END AS high_key
    FROM parts
),

-- How many ranges of a condition begin at a key, less those that end before it.
change AS (
    SELECT
        condition_no,
        policy_no,
        dimension,
        low_key,
        sum(ranges) AS ranges
    FROM (
        SELECT condition_no, policy_no, dimension, low_key, 1 AS ranges
        FROM bounds
        UNION ALL
        SELECT condition_no, policy_no, dimension, high_key || '~', -1
        FROM bounds
    )
    GROUP BY ALL
),

edges AS (
    SELECT policy_no, dimension, low_key
    FROM change
    UNION
    SELECT policy_no, dimension, ''
    FROM condition
),

matching AS (
    SELECT
        e.policy_no,
        e.dimension,
        e.low_key,
        c.condition_no,
        sum(coalesce(g.ranges, 0)) OVER (PARTITION BY c.condition_no ORDER BY e.low_key) > 0 AS is_matched
    FROM edges AS e
    JOIN condition AS c ON e.policy_no = c.policy_no AND e.dimension = c.dimension
    LEFT JOIN change AS g ON c.condition_no = g.condition_no AND e.low_key = g.low_key
)

SELECT
    m.policy_no::BIGINT AS policy_no,
    m.dimension::VARCHAR AS dimension,
    m.low_key::VARCHAR AS low_key,
    (row_number() OVER (ORDER BY m.policy_no, m.dimension, m.low_key))::BIGINT AS segment_no,
    string_agg(if(m.is_matched, '1', '0'), '' ORDER BY r.place)::VARCHAR AS matched_rules
FROM matching AS m
JOIN condition AS c ON m.condition_no = c.condition_no
JOIN rule_condition AS r ON c.policy_no = r.policy_no AND c.dimension = r.dimension AND c.ranges = r.ranges
GROUP BY m.policy_no, m.dimension, m.low_key
