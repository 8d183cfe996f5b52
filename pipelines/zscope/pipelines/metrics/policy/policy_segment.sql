-- A range of addresses or ports in which the same AT-TLS rules match.
--
-- The conditions of all rules divide the addresses and ports into segments. A value is in the segment with the
-- highest `low_key` that is not above its own key, so that a connection needs one comparison for each of its
-- addresses and ports, however many rules there are. A segment that begins after a value has `~` at its end.

WITH conditions AS (
    SELECT
        policy_no,
        place,
        unnest(['local address', 'remote address', 'local port', 'remote port']) AS dimension,
        unnest([local_addresses, remote_addresses, local_ports, remote_ports]) AS ranges
    FROM policy_rule
),

parts AS (
    SELECT
        policy_no,
        place,
        dimension,
        unnest(string_split(coalesce(ranges, 'all'), ', ')) AS part
    FROM conditions
),

bounds AS (
    SELECT
        policy_no,
        place,
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

edges AS (
    SELECT DISTINCT policy_no, dimension, '' AS low_key
    FROM bounds
    UNION
    SELECT policy_no, dimension, low_key
    FROM bounds
    UNION
    SELECT policy_no, dimension, high_key || '~'
    FROM bounds
),

matching AS (
    SELECT
        e.policy_no,
        e.dimension,
        e.low_key,
        b.place,
        bool_or(b.low_key <= e.low_key AND b.high_key >= e.low_key) AS is_matched
    FROM edges AS e
    JOIN bounds AS b ON e.policy_no = b.policy_no AND e.dimension = b.dimension
    GROUP BY e.policy_no, e.dimension, e.low_key, b.place
)

SELECT
    policy_no::BIGINT AS policy_no,
    dimension::VARCHAR AS dimension,
    low_key::VARCHAR AS low_key,
    (row_number() OVER (ORDER BY policy_no, dimension, low_key))::BIGINT AS segment_no,
    string_agg(if(is_matched, '1', '0'), '' ORDER BY place)::VARCHAR AS matched_rules
FROM matching
GROUP BY policy_no, dimension, low_key
