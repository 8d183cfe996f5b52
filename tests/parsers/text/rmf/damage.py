"""Damage to the pages of a listing: in transfer, in an editor, on a screen."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.parsers.damaging import wrapped

Pages = list[list[str]]
Damage = Callable[[random.Random, Pages], Pages]


def on_one_line(change: Callable[[random.Random, str], list[str]], first: int = 1) -> Damage:
    """Damage one line of one page, at the earliest its line `first`, counted from 0."""

    def damaged(chance: random.Random, pages: Pages) -> Pages:
        copy = [list(page) for page in pages]
        page = chance.choice(copy)
        at = chance.randrange(min(first, len(page) - 1), len(page))
        page[at : at + 1] = change(chance, page[at])
        return copy

    return damaged


def all_wrapped(narrowest: int) -> Damage:
    """Wrap all lines at one width, which is at least `narrowest`."""

    def damaged(chance: random.Random, pages: Pages) -> Pages:
        width = chance.choice([72, 80, 100, chance.randrange(narrowest, 131)])
        return [wrapped(page, width) for page in pages]

    return damaged


def one_word_lost(of: Callable[[str], list[str]]) -> Damage:
    """Remove one of these words of a line; the text after it moves to the left."""

    def changed(chance: random.Random, line: str) -> list[str]:
        words = of(line)
        return [line.replace(f" {chance.choice(words)} ", " ", 1) if words else line]

    return on_one_line(changed)


def one_line_cut(first: int = 1) -> Damage:
    """Cut the end of one line."""
    return on_one_line(lambda chance, line: [line[: chance.randrange(len(line) + 1)]], first)


def _all_cut(chance: random.Random, pages: Pages) -> Pages:
    width = chance.randrange(20, 132)
    return [[line[:width] for line in page] for page in pages]


def _shifted(chance: random.Random, line: str) -> list[str]:
    return [line[1:] if line.startswith(" ") and chance.random() < 0.5 else f" {line}"]


DAMAGES: dict[str, Damage] = {
    "cut": _all_cut,
    "one line shifted": on_one_line(_shifted),
    "one line lost": on_one_line(lambda _, __: []),
    "one line twice": on_one_line(lambda _, line: [line, line]),
    "blanks squeezed": on_one_line(lambda _, line: [" ".join(line.split())]),
    "prompt": on_one_line(lambda _, line: ["IBMUSER:/u/ibmuser: >ls -l  x", line, "", "READY"]),
}
"""Damage that every table must withstand."""


def harmless(pages: Pages) -> tuple[Pages, Pages]:
    """Pages with all lines but the first shifted, and pages in capitals."""
    moved = [[page[0], *(f" {line}" for line in page[1:])] for page in pages]
    return moved, [[line.upper() for line in page] for page in pages]
