"""What captures do to the lines of any report."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence


def wrapped(lines: Iterable[str], width: int) -> list[str]:
    """Each line on as many lines of this width as it takes; blank lines stay."""
    return [line[at : at + width] for line in lines for at in range(0, max(len(line), 1), width)]


def interrupted(
    chosen: random.Random, lines: Iterable[str], noise: Sequence[str], share: float = 0.2
) -> list[str]:
    """A line of noise before some of the lines, or before all if `share` is 1."""
    return [out for line in lines for out in ([chosen.choice(noise)] * (chosen.random() < share) + [line])]
