"""Changes that captures make to the lines of any report."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Sequence


def wrapped(lines: Iterable[str], width: int) -> list[str]:
    """Return each line wrapped at this width; blank lines are unchanged."""
    return [line[at : at + width] for line in lines for at in range(0, max(len(line), 1), width)]


def interrupted(
    chosen: random.Random, lines: Iterable[str], noise: Sequence[str], share: float = 0.2
) -> list[str]:
    """Insert a line of noise before some of the lines, or before all if `share` is 1."""
    return [out for line in lines for out in ([chosen.choice(noise)] * (chosen.random() < share) + [line])]
