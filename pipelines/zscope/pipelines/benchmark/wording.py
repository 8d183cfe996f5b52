"""Texts about verdicts that the command line and the dashboard share."""

from __future__ import annotations

from collections import Counter
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VERDICTS = ("agrees", "differs", "direction only", "not comparable", "no data")
DIRECTIONS = ("agrees", "within noise", "contradicts")
SYNTHETIC_MEASUREMENT = "SYNTHETIC: the measured data is synthetic"
_SUGGESTIONS = 3
"""Ids suggested for an unknown one."""


def verdict_summary(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Count verdicts, and those that depend on generated data, in one or two sentences.

    >>> row = {"verdict": "agrees", "direction_matches": None, "synthetic": False, "measured": "16 %"}
    >>> verdict_summary([row])
    ['1 published results: 1 agrees, 0 differs, 0 direction only, 0 not comparable, 0 no data']
    """
    verdicts = Counter(row["verdict"] for row in rows)
    directions = Counter(row["direction_matches"] for row in rows)
    counted = [f"{verdicts[name]} {name}" for name in VERDICTS]
    if verdicts["direction only"]:
        counted[VERDICTS.index("direction only")] += (
            f" ({', '.join(f'{directions[name]} {name}' for name in DIRECTIONS)})"
        )
    sentences = [f"{len(rows)} published results: {', '.join(counted)}"]
    if synthetic := sum(bool(row["synthetic"] and row["measured"]) for row in rows):
        sentences.append(
            f"SYNTHETIC: {synthetic} of them were computed from synthetic data; agreement proves the "
            "arithmetic, not the published figure"
        )
    return sentences


def closest_ids(unknown: str, ids: Sequence[str]) -> str:
    """Suggest ids for an unknown one: those that contain it, or that are spelled like it.

    >>> closest_ids("version", ["tls13-version", "mq-interval"])
    'did you mean tls13-version?'
    """
    text = unknown.strip().lower()
    containing = [name for name in ids if text and text in name]
    close = containing or get_close_matches(text, ids, _SUGGESTIONS, 0.5)
    if not close:
        return "zscope benchmark lists all results"
    more = (
        f", or another of the {len(containing)} ids that contain it" if len(containing) > _SUGGESTIONS else ""
    )
    return f"did you mean {' or '.join(close[:_SUGGESTIONS])}{more}?"
