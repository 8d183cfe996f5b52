"""Damage to inputs: what captures and editors make of lines, and changes of words and bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

Lines = Sequence[str]
Spoiler = Callable[[Lines, "random.Random"], list[str]]
"""Damages a report."""
Change = Callable[[str, "random.Random"], Iterable[str]]
"""What a line becomes: no line, another one, or several."""
_WORDS = re.compile(r"\S+|\s+")


def on_some(share: float, change: Change) -> Spoiler:
    """Change a share of the lines."""

    def spoiled(lines: Lines, luck: random.Random) -> list[str]:
        return [out for line in lines for out in (change(line, luck) if luck.random() < share else (line,))]

    return spoiled


def cut(line: str, luck: random.Random) -> Iterable[str]:
    """Lose the end of a line."""
    yield line[: luck.randrange(len(line) + 1)]


def lost(line: str, luck: random.Random) -> Iterable[str]:  # noqa: ARG001 - as all changes
    """Lose a line."""
    return ()


def doubled(line: str, luck: random.Random) -> Iterable[str]:  # noqa: ARG001
    """Write a line twice."""
    return line, line


def in_capitals(line: str, luck: random.Random) -> Iterable[str]:  # noqa: ARG001
    """Write a line in capitals."""
    yield line.upper()


def shifted(least: int, most: int) -> Change:
    """Move a line to the right, by a number of blanks between these."""

    def change(line: str, luck: random.Random) -> Iterable[str]:
        yield " " * luck.randint(least, most) + line

    return change


def garbled(letters: int) -> Change:
    """Replace some letters of a line by any others."""

    def change(line: str, luck: random.Random) -> Iterable[str]:
        at = luck.randrange(len(line) + 1)
        others = "".join(chr(luck.randrange(1, 0x2FF)) for _ in range(letters))
        yield line[:at] + others + line[at + letters :]

    return change


def followed_by(*noise: str) -> Change:
    """Write other lines behind a line."""
    return lambda line, _: (line, *noise)


def end_lost(lines: Lines, luck: random.Random) -> list[str]:
    """Lose the end of a report."""
    return list(lines[: luck.randrange(len(lines))])


def shuffled(lines: Lines, luck: random.Random) -> list[str]:
    """Write the lines in any order."""
    return luck.sample(lines, len(lines))


def wrapped(lines: Iterable[str], width: int) -> list[str]:
    """Return each line wrapped at this width; blank lines are unchanged."""
    return [line[at : at + width] for line in lines for at in range(0, max(len(line), 1), width)]


def interrupted(luck: random.Random, lines: Iterable[str], noise: Lines, share: float = 0.2) -> list[str]:
    """Insert a line of noise before some of the lines, or before all if `share` is 1."""
    return [out for line in lines for out in ([luck.choice(noise)] * (luck.random() < share) + [line])]


def words_changed(text: str, luck: random.Random) -> str:
    """Return a text with some words replaced, repeated, removed, cut or moved."""
    words = _WORDS.findall(text)
    for _ in range(luck.randint(1, 6)):
        at, other = luck.randrange(len(words)), luck.randrange(len(words))
        match luck.randrange(7):
            case 0:
                words[at] = words[other]
            case 1:
                words[at] = ""
            case 2:
                words[at] = words[at][: luck.randrange(len(words[at]) + 1)]
            case 3:
                words[at], words[other] = words[other], words[at]
            case 4:
                words[at] += chr(luck.choice((*range(32, 127), 0, 9, 133, 255, 0x2028)))
            case 5:
                words[at] = luck.choice(
                    ("{", "}", "#", ":", "0", "-1", "9" * 30, "RC:", "..", "All", "\n", "Ref")
                )
            case _:
                words = words[: max(1, at)]
    return "".join(words)


def patched(data: bytes, at: int, new: bytes) -> bytes:
    """Return data with other bytes at a place."""
    return data[:at] + new + data[at + len(new) :]
