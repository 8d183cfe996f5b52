-- How far the data cover an hour of a system and a source, and how that is known.

SELECT
    system,
    source,
    day,
    hour_utc,
    hour_local,
    CASE WHEN hours_with_loss > 0 THEN why END::VARCHAR AS loss,
    why,
    records,
    hours,
    covered_hours,
    hours_with_loss,
    hours_not_recorded,
    hours_not_known
FROM coverage_hour
