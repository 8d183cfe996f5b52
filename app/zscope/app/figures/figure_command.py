"""The command that prints the rows of a figure, for a reader who checks them or needs them in a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.app.shared.shown_statements import command_line

if TYPE_CHECKING:
    from zscope.app.figures.figure_rows import FigureRows
    from zscope.app.shared.filters import Filters


def command_of(filters: Filters, found: FigureRows) -> str:
    """Return the command that prints the rows, if there is one for the filters and the figure."""
    figure = found.figure
    if (
        not figure.metric
        or figure.select
        or figure.having
        or {*filters.chosen()} - {"system", *found.ignored}
    ):
        return ""
    words = ["zscope", "metrics", figure.metric]
    if found.by is not None:
        words += ["--by", ",".join(found.by)]
    if found.where:
        words += ["--where", found.where]
    if "period" not in found.ignored:
        words += filters.options()
    if "system" not in found.ignored:
        words += [word for system in filters.systems for word in ("--system", system)]
    return command_line(words)
