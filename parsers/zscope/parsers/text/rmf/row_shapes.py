"""Rows of the same shape: what is where in them is found once, and then taken from each row at once.

The shape of a line is the line with a nine for each digit. No pattern of a row tells digits apart, so that
lines of the same shape have their figures in the same places.
"""

from __future__ import annotations

from operator import getitem, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from zscope.parsers.text.report_rows import extra_text, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zscope.parsers.text.captured_report import Line
    from zscope.parsers.text.report_rows import ColumnValues
    from zscope.parsers.text.rmf.table_layout import RowFigures

SHAPES_KEPT = 4096
"""So many shapes of lines are remembered, with what is where in them."""
_ANY_DIGIT = "9"
_SHAPE = str.maketrans("012345678", _ANY_DIGIT * 9)
_NOTHING = slice(0)


def shape_of(text: str) -> str:
    """Return the shape of a line.

    >>> shape_of(" 0    CP     100.00")
    ' 9    CP     999.99'
    """
    return text.translate(_SHAPE)


def shapes_of(lines: Sequence[Line]) -> list[str]:
    """Return the shapes of lines: of all at once, which is fast, unless a record contains a line feed."""
    shapes = shape_of("\n".join([line.text for line in lines])).split("\n")
    return shapes if len(shapes) == len(lines) else [shape_of(line.text) for line in lines]


class RowShape(NamedTuple):
    """What the rows of one shape have in common, and where they differ."""

    same: dict[str, Any]
    """The values that all of them have: what is not printed, and texts without digits."""
    names: tuple[str, ...]
    """The columns whose values differ."""
    texts: Callable[[str], tuple[str, ...]]
    """Returns their texts in a line."""
    values: tuple[ColumnValues, ...]
    """The values of such texts."""

    def row_in(self, text: str) -> dict[str, Any] | None:
        """Return the typed values of a row of this shape; None if one is invalid."""
        row = self.same.copy()
        try:
            row.update(zip(self.names, map(getitem, self.values, self.texts(text)), strict=True))
        except ValueError:
            return None
        return row


def row_shape(table: str, figures: RowFigures) -> RowShape | None:
    """Return the shape of rows, from the figures in the shape of a row; None if its rows are read one by one:
    they have a problem, or unknown columns.
    """
    if figures.problem is not None or figures.extra:
        return None
    printed = {name: text for name, text in figures.values.items() if name not in figures.known}
    differing = [name for name, text in printed.items() if _ANY_DIGIT in text]
    try:
        alike = {
            name: values_of(table, name)[text] for name, text in printed.items() if name not in differing
        }
    except ValueError:
        return None
    same = {"extra": extra_text(figures.all_extra()), **alike, **figures.known}
    # With the last two, the texts are a tuple if there is only one.
    texts = itemgetter(*(figures.spans[name] for name in differing), _NOTHING, _NOTHING)
    return RowShape(same, tuple(differing), texts, tuple(values_of(table, name) for name in differing))
