-- Share of resumed handshakes per day, with a 95 % confidence interval, and the share in the peak hour.
--
-- A few clients open most connections, and each of them resumes all or nothing, so handshakes are not
-- independent. The client networks are the sample: the share is the ratio of sums R = sum(r) / sum(n) over K
-- networks, and its variance, by linearization, is K / (K - 1) x sum((r - R n)^2) / sum(n)^2. The half width
-- is its root times Student's t. The degrees of freedom are those of the effective number of networks, sum(n)^2
-- / sum(n^2), less one: if one network has nearly all handshakes, the others say little about it. With fewer
-- than three there is no interval. An interval of single handshakes (binomial) would be too narrow.
--
-- Hours with benchmark runs are left out.

WITH counted AS (
    SELECT
        n.*,
        n.full_handshakes + n.resumed_handshakes AS handshakes
    FROM resumption_network_day AS n
    ANTI JOIN left_out_hour AS l ON n.system = l.system AND n.hour_utc = l.hour_utc
),

network AS (
    SELECT
        day,
        system,
        side,
        versions,
        network,
        sum(resumed_handshakes) AS resumed,
        sum(handshakes) AS handshakes
    FROM counted
    GROUP BY ALL
),

share AS (
    SELECT
        *,
        sum(resumed) OVER of_day / sum(handshakes) OVER of_day AS ratio
    FROM network
    WINDOW of_day AS (PARTITION BY day, system, side, versions)
),

of_day AS (
    SELECT
        day,
        system,
        side,
        versions,
        count(*) AS networks,
        sum(handshakes) AS handshakes,
        sum(resumed) AS resumed,
        any_value(ratio) AS ratio,
        sum(handshakes) ** 2 / sum(handshakes ** 2) AS effective_networks,
        CASE
            WHEN effective_networks >= 3
                THEN
                    student_t(effective_networks - 1) * sqrt(count(*) / (count(*) - 1)
                    * sum((resumed - ratio * handshakes) ** 2)) / sum(handshakes)
        END AS half
    FROM share
    GROUP BY ALL
),

of_hour AS (
    SELECT
        day,
        system,
        side,
        versions,
        hour_utc,
        sum(handshakes) AS handshakes,
        sum(resumed_handshakes) AS resumed
    FROM counted
    GROUP BY ALL
),

peak AS (
    SELECT *
    FROM of_hour
    QUALIFY row_number() OVER (PARTITION BY day, system, side, versions ORDER BY handshakes DESC, hour_utc) = 1
)

SELECT
    d.day::DATE AS day,
    d.system::VARCHAR AS system,
    d.side::VARCHAR AS side,
    d.versions::VARCHAR AS versions,
    (d.handshakes - d.resumed)::BIGINT AS full_handshakes,
    d.resumed::BIGINT AS resumed_handshakes,
    (100 * d.ratio)::DOUBLE AS resumed_pct,
    -- GREATEST and LEAST ignore NULL.
    CASE WHEN d.half IS NOT NULL THEN 100 * greatest(0, d.ratio - d.half) END::DOUBLE AS low_pct,
    CASE WHEN d.half IS NOT NULL THEN 100 * least(1, d.ratio + d.half) END::DOUBLE AS high_pct,
    d.networks::BIGINT AS networks,
    d.effective_networks::DOUBLE AS effective_networks,
    p.hour_utc::TIMESTAMPTZ AS peak_hour_utc,
    p.handshakes::BIGINT AS peak_handshakes,
    (100.0 * p.resumed / p.handshakes)::DOUBLE AS peak_resumed_pct,
    'zERT detail' AS source,
    (100 * c.covered_hours / nullif(c.hours, 0))::DOUBLE AS covered_pct
FROM of_day AS d
INNER JOIN peak AS p
    ON d.day = p.day AND d.system = p.system AND d.side = p.side AND d.versions = p.versions
LEFT JOIN covered_day AS c ON c.source = '119-11' AND d.system = c.system AND d.day = c.day
ORDER BY d.day, d.system, d.side, d.versions
