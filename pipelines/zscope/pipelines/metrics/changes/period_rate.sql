-- A quantity of a system in two periods: its rate in both, the change, and how much of a change is noise.
--
-- The noise is how blocks of the periods differ from the rates: days, or parts of four hours if a period is short. Where
-- the blocks of both periods are pairs, such as two Mondays, it is how the pairs differ from the change.

WITH block AS (
    SELECT
        system,
        counted,
        quantity,
        period,
        any_value(is_paired) AS is_paired,
        any_value(in_days) AS in_days,
        block,
        sum(amount) AS amount,
        sum(per) AS per,
        sum(sum(amount)) OVER of_period / nullif(sum(sum(per)) OVER of_period, 0) AS rate,
        avg(sum(per)) OVER of_period AS mean_per,
        count(*) OVER of_period AS blocks
    FROM period_amount
    GROUP BY system, counted, quantity, period, block
    WINDOW of_period AS (PARTITION BY system, counted, quantity, period)
),

deviation AS MATERIALIZED (
    SELECT
        *,
        (amount - rate * per) / nullif(mean_per, 0) AS deviation
    FROM block
),

-- Of pairs, the difference of their deviations.
noise AS (
    SELECT
        system,
        counted,
        quantity,
        any_value(is_paired) AS is_paired,
        any_value(in_days) AS in_days,
        any_value(rate) FILTER (period = 'earlier') AS earlier,
        any_value(rate) FILTER (period = 'later') AS later,
        any_value(blocks) FILTER (period = 'earlier') AS earlier_blocks,
        any_value(blocks) FILTER (period = 'later') AS later_blocks,
        sum(deviation ** 2) FILTER (period = 'earlier') AS earlier_squares,
        sum(deviation ** 2) FILTER (period = 'later') AS later_squares
    FROM deviation
    GROUP BY system, counted, quantity
),

pair AS (
    SELECT
        system,
        quantity,
        sum(difference ** 2) AS squares
    FROM (
        SELECT
            system,
            quantity,
            block,
            sum(if(period = 'later', deviation, -deviation)) AS difference
        FROM deviation
        WHERE is_paired
        GROUP BY system, quantity, block
    )
    GROUP BY system, quantity
),

spread AS (
    SELECT
        n.*,
        least(n.earlier_blocks, n.later_blocks) AS blocks,
        sqrt(if(
            n.is_paired,
            p.squares / nullif(n.later_blocks * (n.later_blocks - 1), 0),
            n.earlier_squares / nullif(n.earlier_blocks * (n.earlier_blocks - 1), 0)
            + n.later_squares / nullif(n.later_blocks * (n.later_blocks - 1), 0)
        )) AS standard_error
    FROM noise AS n
    LEFT JOIN pair AS p ON n.system = p.system AND n.quantity = p.quantity
)

SELECT
    system::VARCHAR AS system,
    counted::VARCHAR AS counted,
    quantity::VARCHAR AS quantity,
    earlier::DOUBLE AS earlier,
    later::DOUBLE AS later,
    (later - earlier)::DOUBLE AS change,
    standard_error::DOUBLE AS standard_error,
    blocks::BIGINT AS blocks,
    in_days::BOOLEAN AS in_days
FROM spread
