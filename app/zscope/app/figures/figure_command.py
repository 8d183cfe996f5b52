"""The command that prints the rows of a figure, for a reader who checks them or needs them in a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.app.shared.shown_statements import command_line
from zscope.pipelines.metrics import metric

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
    return command_line([*words, *options_of(filters, found, found.where)])


def options_of(filters: Filters, found: FigureRows, where: str = "") -> list[str]:
    """Return the options for a condition, the period and the systems, as far as they narrow the rows."""
    definition = metric(found.figure.metric)
    by_system = "system" in definition.filters or any(each.name == "system" for each in definition.columns)
    systems = () if "system" in found.ignored else filters.systems
    conditions = [where] if where else []
    if systems and not by_system:
        # Rows with a list of systems have no option for one.
        conditions += filters.conditions(("systems",))
    words = ["--where", " AND ".join(conditions)] if conditions else []
    if "period" not in found.ignored:
        words += filters.options()
    return words + [word for system in systems if by_system for word in ("--system", system)]
