"""Compare words that may have a wrong, missing or extra character with known ones."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHORTEST = 3
"""Words that are shorter are not corrected."""


@lru_cache(maxsize=10_000)  # the reports of a rule have the same words as those of every other rule
def edit_distance(one: str, other: str) -> int:
    """Return how many characters must be replaced, added or removed to get from one text to the other.

    >>> edit_distance("PARTITION", "PAXTITON")
    2
    """
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        above, row[0] = row[0], number
        for at, expected in enumerate(other, 1):
            above, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, above + (letter != expected))
    return row[-1]


def nearly(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that differs in one character; None if the word is known, or not one does.

    >>> nearly("CRYPTX", ["CPU", "CRYPTO"]), nearly("CPU", ["CPU", "CPX"]), nearly("CHAN", ["CPU"])
    ('CRYPTO', None, None)
    """
    candidates = [*known]
    if word in candidates:
        return None
    near = [
        other
        for other in candidates
        if len(other) >= _SHORTEST and abs(len(other) - len(word)) <= 1 and edit_distance(word, other) == 1
    ]
    return near[0] if len(near) == 1 else None
