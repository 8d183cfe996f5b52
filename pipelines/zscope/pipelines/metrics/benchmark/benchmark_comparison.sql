-- A published result beside its measurement, in numbers that have a place on one axis.
--
-- Every result with a measurement has a row. Changes and shares are in percent. Values of another machine, and
-- counts, are ratios to the published value, so that they have an axis in common. A result without a number agrees
-- with everything on one side of zero, so one of its ends is open (null); what is comparable has both.
--
-- If a document does not state its side and the sides have different verdicts, the value is that of both, and the
-- interval reaches from the side with the least to the side with the most.

-- Materialized: DuckDB plans the statements of a view that it inlines again for each use.
WITH every_verdict AS MATERIALIZED (
    SELECT * FROM benchmark
),

one_value AS (
    SELECT
        *,
        coalesce(measured_value, measured_both_pct) AS here,
        coalesce(measured_low, least(measured_client_pct, measured_server_pct, measured_both_pct)) AS here_low,
        coalesce(measured_high, greatest(measured_client_pct, measured_server_pct, measured_both_pct)) AS here_high,
        coalesce(published_change_pct, published_value) AS there,
        coalesce(getvariable('benchmark_comparable_pct')::DOUBLE, 5) AS comparable_pct,
        CASE
            WHEN verdict = 'other machine' THEN 'ratio'
            WHEN measured_unit <> 'pct' THEN 'ratio'
            WHEN greatest(abs(here), abs(there)) > 250 THEN 'far'
            ELSE 'percent'
        END AS axis,
        -- What one unit of the axis is: of a range of levels, the ratio is to its nearest value.
        CASE
            WHEN verdict = 'other machine' THEN measured_value / nullif(ratio, 0)
            WHEN axis = 'ratio' THEN there
            ELSE 1
        END AS one
    FROM every_verdict
    WHERE measured IS NOT NULL
),

ranged AS (
    SELECT
        *,
        CASE WHEN verdict = 'other machine' THEN 1 ELSE there / one END AS published,
        CASE
            WHEN verdict = 'other machine' THEN 1
            WHEN kind <> 'qualitative' THEN accepted_low / one
            WHEN published_direction = 'increase' OR (published_direction = 'improved' AND measure = 'transaction_rate') THEN 0
            WHEN published_direction IN ('comparable', 'no_change') THEN -comparable_pct
        END AS agrees_low,
        CASE
            WHEN verdict = 'other machine' THEN 1
            WHEN kind <> 'qualitative' THEN accepted_high / one
            WHEN published_direction = 'decrease' OR (published_direction = 'improved' AND measure <> 'transaction_rate') THEN 0
            WHEN published_direction IN ('comparable', 'no_change') AND quantifier IS DISTINCT FROM 'becomes'
                THEN comparable_pct
        END AS agrees_high,
        (agrees_high + agrees_low) / 2 AS middle,
        nullif(agrees_high - agrees_low, 0) / 2 AS half
    FROM one_value
    WHERE here IS NOT NULL
)

SELECT
    id::VARCHAR AS id,
    place::BIGINT AS place,
    area::VARCHAR AS area,
    document::VARCHAR AS document,
    CASE
        WHEN regexp_matches(section, '^[0-9.]+$') THEN concat_ws(' ', section, figure)
        ELSE coalesce(figure, section)
    END::VARCHAR AS part,
    CASE WHEN direction_matches <> 'agrees' THEN direction_matches ELSE verdict END::VARCHAR AS outcome,
    verdict::VARCHAR AS verdict,
    axis::VARCHAR AS axis,
    published::DOUBLE AS published,
    agrees_low::DOUBLE AS agrees_low,
    agrees_high::DOUBLE AS agrees_high,
    (here / one)::DOUBLE AS measured_value,
    (here_low / one)::DOUBLE AS measured_low,
    (here_high / one)::DOUBLE AS measured_high,
    (CASE WHEN verdict IN ('agrees', 'differs') THEN (here / one - middle) / half END)::DOUBLE AS distance,
    (CASE WHEN verdict IN ('agrees', 'differs') THEN (here_low / one - middle) / half END)::DOUBLE AS distance_low,
    (CASE WHEN verdict IN ('agrees', 'differs') THEN (here_high / one - middle) / half END)::DOUBLE AS distance_high,
    (
        CASE
            WHEN quantifier = 'becomes' THEN concat_ws(' ', quantifier, published_direction)
            -- Printed as levels, measured as a change: what change agrees follows from the levels.
            WHEN there IS NULL AND axis <> 'ratio' AND accepted_low < accepted_high
                THEN format('{:.1f} to {:.1f} %', accepted_low, accepted_high)
            WHEN there IS NULL OR verdict = 'other machine' OR axis = 'ratio' THEN split_part(as_printed, ', ', 1)
            ELSE concat_ws(' ', nullif(quantifier, 'range'), format('{:g} %', there))
        END
        || ' → '
        || CASE
            WHEN axis = 'ratio' THEN format('{:.4g} {}', here, CASE measured_unit WHEN 'us' THEN 'µs' ELSE measured_unit END)
            WHEN abs(here) >= 1000 THEN format('{:.0f} %', here)
            ELSE format('{:.1f} %', CASE WHEN round(here, 1) = 0 THEN 0 ELSE here END)
        END
    )::VARCHAR AS words,
    as_printed::VARCHAR AS as_printed,
    measured::VARCHAR AS measured,
    why::VARCHAR AS why,
    synthetic::BOOLEAN AS synthetic
FROM ranged
ORDER BY place
