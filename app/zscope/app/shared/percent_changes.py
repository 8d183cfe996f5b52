"""How changes in percent are written in sentences."""

from __future__ import annotations

_MOST = 4


def decimals(*changes: float | None) -> int:
    """Return how many decimals a sentence needs, so that no change is written as zero that is none.

    >>> decimals(12.34, -0.4), decimals(0.0163, 0.0161), decimals(0.0, None)
    (1, 2, 1)
    """
    known = [change for change in changes if change]
    return next((count for count in range(1, _MOST) if all(round(each, count) for each in known)), _MOST)
