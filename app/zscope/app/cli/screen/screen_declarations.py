"""The parts of the screen with the answers, as `screen.toml` declares them.

A part has these keys:

- `heading`, and `command`: the command that prints the rows
- `subject`: the statements that say why there are no rows, if no line has any
- `legend`: whether the heading says what bars show
- `line`: what is read: the `figure` and how many rows are shown `first`; `cells` are the texts of a row, with
  columns of the figure in braces. A line with one cell is a sentence. `below` is a text that can take a line
  of its own. `reason` is the column that says why the amount of a row is not known

Beside columns, texts can have `{name}` and `{amount}` of the row in the picture of the figure, `{bar}` for
the picture, and `{parts}` for the numbers of a picture of shares. `{column:day}` is the day of a time.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Formatter
from typing import TYPE_CHECKING

from msgspec import field

from zscope.app.figures.figure_declarations import declared_figures
from zscope.schemas.declared import Declared, TomlFile, WrongValueError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.app.figures.figure_declarations import FigureDeclaration

NAME, AMOUNT, BAR, PARTS = "name", "amount", "bar", "parts"
_DRAWN = (NAME, AMOUNT, BAR, PARTS)


class ScreenLine(Declared, frozen=True, kw_only=True):
    """Rows of a figure, each of which is a line."""

    figure: str
    first: int
    cells: tuple[str, ...]
    below: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        if self.figure not in declared_figures():
            raise WrongValueError("figure", f"there is no figure {self.figure}")
        known = {*self.declared.selected, *_DRAWN}
        for key, texts in (("cells", self.cells), ("below", (self.below,))):
            if unknown := [name for text in texts for name in names_in(text) if name not in known]:
                raise WrongValueError(key, f"{self.figure} has no column {unknown[0]}")

    @property
    def declared(self) -> FigureDeclaration:
        """The figure."""
        return declared_figures()[self.figure]


class ScreenPart(Declared, frozen=True, kw_only=True):
    """A question with its answers."""

    heading: str
    command: str
    lines: tuple[ScreenLine, ...] = field(name="line")
    subject: str = ""
    legend: bool = False


class ScreenFile(Declared, frozen=True):
    """All parts of the screen."""

    parts: tuple[ScreenPart, ...] = field(name="part")


def names_in(text: str) -> Iterator[str]:
    """Yield the names in braces.

    >>> list(names_in("{old} of {all}, {time:day}"))
    ['old', 'all', 'time']
    """
    return (name for _, name, _, _ in Formatter().parse(text) if name)


@cache
def screen_parts() -> tuple[ScreenPart, ...]:
    """Return the parts in their order.

    >>> screen_parts()[0].command
    'zscope price'
    """
    return TomlFile.read(files("zscope.app.cli.screen") / "screen.toml").typed(ScreenFile).parts
