-- Results of one check on one system, by severity.

SELECT
    kind,
    id,
    severity,
    result,
    system,
    1::BIGINT AS results,
    connections::BIGINT AS connections
FROM check_result
