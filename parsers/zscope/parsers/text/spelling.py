"""Compare words that may have a wrong, missing or extra character with known ones."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

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
    near = [] if word in candidates else _near(word, candidates)
    return near[0] if len(near) == 1 else None


def _near(word: str, known: Iterable[str]) -> list[str]:
    return [
        other
        for other in known
        if len(other) >= _SHORTEST and abs(len(other) - len(word)) <= 1 and edit_distance(word, other) == 1
    ]


def misspelt(names: Sequence[str], known: Collection[str], missing: Mapping[str, str]) -> dict[int, str]:
    """Return the positions of unknown column names that resemble those of a missing column, each with it.

    `missing` has the columns by their names. One character differs, or the first name is only the end of the
    other, because the line was cut.

    >>> misspelt(["STEM", "CPD_PCT", "NOTE"], ["CPU_PCT", "NOTE"], {"CPU_PCT": "cpu_pct", "SYSTEM": "system"})
    {0: 'system', 1: 'cpu_pct'}
    """
    found: dict[int, str] = {}
    for at, name in enumerate(names):
        if not name or name in known:
            continue
        cut = [other for other in missing if at == 0 and other.endswith(name)]
        columns = {missing[other] for other in [*_near(name, missing), *cut]}
        if len(columns) == 1:
            found[at] = columns.pop()
    return found


def misspelt_text(name: str, known: str) -> str:
    """Return the message about a column name that resembles a missing one."""
    return (
        f"the column {name!r} is not known, and {known} is missing; the values are stored in `extra`: "
        f"correct the name if it is misspelt"
    )
