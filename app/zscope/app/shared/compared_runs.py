"""The two benchmark runs that a comparison begins with, and the tags in which two runs differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TAGGED_RUN = """(
    SELECT
        name,
        min(from_utc) AS from_utc,
        upper(replace(min(workload), ' ', '')) AS workload,
        list_sort(list_distinct(list_concat(
            flatten(list(coalesce(tags, []))),
            list(role || ' system=' || system),
            coalesce(list('workload=' || workload) FILTER (WHERE workload IS NOT NULL), [])
        ))) AS tags
    FROM run
    GROUP BY name
)"""
FIRST_PAIR = f"""
SELECT
    c.baseline,
    c.candidate,
    len(differing_tag_keys(b.tags, a.tags, []))
    + keys_on_one_side(tag_keys(list_concat(b.tags, a.tags)), b.tags, a.tags, []) AS differing
FROM {{found}} AS c
INNER JOIN {_TAGGED_RUN} AS b ON c.baseline = b.name
INNER JOIN {_TAGGED_RUN} AS a ON c.candidate = a.name
WHERE c.measure = 'cpu_per_tran' AND c.change_pct IS NOT NULL
    AND (b.from_utc, c.baseline) < (a.from_utc, c.candidate)
ORDER BY
    b.workload IS NOT DISTINCT FROM a.workload DESC, differing = 0, differing,
    c.visibility = 'visible change' DESC, c.role = 'both' DESC, abs(ln(1 + c.change_pct / 100)) DESC,
    c.baseline, c.candidate
LIMIT 1
"""
"""The pair of one workload that differs in the fewest tags, the older run as the baseline.

Of several it is the one with the largest change in CPU per transaction. What many tags change together says
nothing about any of them, and a pair without a difference is a repetition.
"""
DIFFERENCES = f"""
WITH pair AS (
    SELECT
        b.tags AS b_tags,
        a.tags AS a_tags,
        unnest(list_distinct(tag_keys(list_concat(b.tags, a.tags)))) AS key
    FROM {_TAGGED_RUN} AS b, {_TAGGED_RUN} AS a
    WHERE b.name = ? AND a.name = ?
)

SELECT
    key,
    nullif(tag_values(b_tags, key), '') AS baseline_value,
    nullif(tag_values(a_tags, key), '') AS candidate_value
FROM pair
WHERE baseline_value IS DISTINCT FROM candidate_value
ORDER BY key
"""
"""The tags in which a baseline and a candidate differ; a value is null if a run does not have the tag."""


def differences(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the tags in which two runs differ as a sentence.

    >>> differences([{"key": "cipher", "baseline_value": "C030", "candidate_value": None}])
    'The runs differ in cipher: C030 and not stated'
    >>> differences([])
    'The runs have the same tags'
    """
    each = [
        f"{row['key']}: {row['baseline_value'] or 'not stated'} and {row['candidate_value'] or 'not stated'}"
        for row in rows
    ]
    return f"The runs differ in {'; '.join(each)}" if each else "The runs have the same tags"
