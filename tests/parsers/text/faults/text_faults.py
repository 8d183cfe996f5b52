"""Faults of whole texts: cuts inside a word, lines dropped, doubled, exchanged, joined, wrong letters."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from enum import StrEnum
from string import ascii_lowercase, ascii_uppercase

_INSIDE_WORD = re.compile(r"(?<=\w)(?=\w)", re.ASCII)
_LETTER = re.compile(r"[A-Za-z0-9]")


class FaultKind(StrEnum):
    """What happens to a text."""

    FRONT = "cut at its front"
    """Everything before a place inside a word is missing."""
    END = "cut at its end"
    """Everything from a place inside a word on is missing."""
    DROPPED = "line dropped"
    DOUBLED = "line doubled"
    EXCHANGED = "line exchanged with the next one"
    JOINED = "line joined with the next one"
    LETTER = "letter changed"
    """A letter becomes another one; a digit becomes a letter."""


CUTS = (FaultKind.FRONT, FaultKind.END)
LINE_FAULTS = tuple(kind for kind in FaultKind if kind not in CUTS)


@dataclass(frozen=True, slots=True)
class TextFault:
    """A fault and its place."""

    kind: FaultKind
    line: int
    """From 1."""
    column: int = 0
    """From 0: what precedes the cut, or the letter."""
    letter: str = ""

    def applied(self, text: str) -> str:
        """Return the text with the fault."""
        lines = text.split("\n")
        at = self.line - 1
        match self.kind:
            case FaultKind.FRONT:
                lines[: self.line] = [lines[at][self.column :]]
            case FaultKind.END:
                lines[at:] = [lines[at][: self.column]]
            case FaultKind.DROPPED:
                del lines[at]
            case FaultKind.DOUBLED:
                lines.insert(at, lines[at])
            case FaultKind.EXCHANGED:
                lines[at], lines[at + 1] = lines[at + 1], lines[at]
            case FaultKind.JOINED:
                lines[at : at + 2] = [lines[at].removesuffix("\r") + lines[at + 1]]
            case FaultKind.LETTER:
                lines[at] = lines[at][: self.column] + self.letter + lines[at][self.column + 1 :]
        return "\n".join(lines)

    def moved(self, line: int) -> int:
        """Return the number that a line of the text has after the fault."""
        match self.kind:
            case FaultKind.FRONT:
                return max(1, line - self.line + 1)
            case FaultKind.END:
                return min(line, self.line)
            case FaultKind.DROPPED | FaultKind.JOINED:
                return line - (line > self.line)
            case FaultKind.DOUBLED:
                return line + (line > self.line)
            case FaultKind.EXCHANGED if line in {self.line, self.line + 1}:
                return 2 * self.line + 1 - line
        return line

    def keeps(self, line: int) -> bool:
        """Return whether a cut text still has a line, at least in part."""
        if self.kind is FaultKind.FRONT:
            return line >= self.line
        return self.kind is not FaultKind.END or line <= self.line

    def __str__(self) -> str:
        place = f"line {self.line}" + (f", column {self.column + 1}" if self.column else "")
        return f"{place}: {self.kind}" + (f" to {self.letter}" if self.letter else "")


def cuts(text: str, number: int, seed: str) -> list[TextFault]:
    """Return cuts inside words: so many at the front, and so many at the end."""
    chosen = random.Random(f"cuts {seed}")
    places = [
        (line, match.start())
        for line, content in enumerate(text.split("\n"), 1)
        for match in _INSIDE_WORD.finditer(content)
    ]
    return [TextFault(kind, *chosen.choice(places)) for kind in CUTS for _ in range(number if places else 0)]


def line_faults(text: str, number: int, seed: str) -> list[TextFault]:
    """Return faults of lines that are not blank, of all kinds in turn."""
    chosen = random.Random(f"lines {seed}")
    lines = text.split("\n")
    filled = [at for at, line in enumerate(lines[:-1]) if line.strip() and lines[at + 1].strip()]
    return [_line_fault(chosen, lines, filled, LINE_FAULTS[at % len(LINE_FAULTS)]) for at in range(number)]


def _line_fault(chosen: random.Random, lines: list[str], filled: list[int], kind: FaultKind) -> TextFault:
    at = chosen.choice(filled)
    letters = list(_LETTER.finditer(lines[at]))
    if kind is not FaultKind.LETTER or not letters:
        return TextFault(kind if kind is not FaultKind.LETTER else FaultKind.DROPPED, at + 1)
    place = chosen.choice(letters)
    same_case = ascii_lowercase if place[0].islower() else ascii_uppercase
    letter = chosen.choice(same_case.replace(place[0], ""))
    return TextFault(kind, at + 1, place.start(), letter)
