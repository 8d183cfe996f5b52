"""The two benchmark runs that a comparison begins with."""

from __future__ import annotations

LARGEST_CHANGE = """
SELECT c.baseline, c.candidate
FROM {found} AS c
INNER JOIN (SELECT name, min(from_utc) AS from_utc, min(workload) AS workload FROM run GROUP BY name) AS b
    ON c.baseline = b.name
INNER JOIN (SELECT name, min(from_utc) AS from_utc, min(workload) AS workload FROM run GROUP BY name) AS a
    ON c.candidate = a.name
WHERE c.measure = 'cpu_per_tran' AND c.change_pct IS NOT NULL
    AND (b.from_utc, c.baseline) < (a.from_utc, c.candidate)
ORDER BY
    upper(replace(b.workload, ' ', '')) IS NOT DISTINCT FROM upper(replace(a.workload, ' ', '')) DESC,
    c.visibility = 'visible change' DESC, c.role = 'both' DESC, abs(ln(1 + c.change_pct / 100)) DESC,
    c.baseline, c.candidate
LIMIT 1
"""
"""The pair of one workload with the largest change in CPU per transaction, the older run as the baseline."""
