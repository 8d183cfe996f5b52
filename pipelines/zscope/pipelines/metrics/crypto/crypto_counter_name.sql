-- The name of one number of a crypto counter, by the text of macro IFASMFCN or else as it is assumed.

WITH named AS (
    SELECT
        counter_number,
        counter_name,
        file
    FROM counter_name
    WHERE counter_number IS NOT NULL AND load_id = (SELECT max(load_id) FROM counter_name)
    QUALIFY row_number() OVER (PARTITION BY counter_number ORDER BY file DESC, line_no DESC) = 1
)

SELECT
    n.counter_number::BIGINT AS counter_number,
    n.counter_name::VARCHAR AS counter_name,
    'macro' AS name_status,
    n.file::VARCHAR AS name_source,
    f.instruction::VARCHAR AS instruction,
    f.algorithm::VARCHAR AS algorithm,
    f.key_bits::BIGINT AS key_bits,
    coalesce(f.kind, 'unknown')::VARCHAR AS kind,
    f.protected_key::BOOLEAN AS protected_key
FROM named AS n
LEFT JOIN crypto_function AS f ON plain_name(n.counter_name) = plain_name(f.name)
UNION ALL
SELECT
    number::BIGINT AS counter_number,
    name::VARCHAR AS counter_name,
    'assumed' AS name_status,
    'hardware counters (PAI)' AS name_source,
    instruction::VARCHAR AS instruction,
    algorithm::VARCHAR AS algorithm,
    key_bits::BIGINT AS key_bits,
    kind::VARCHAR AS kind,
    protected_key::BOOLEAN AS protected_key
FROM crypto_function
WHERE NOT EXISTS (SELECT 1 FROM named)
