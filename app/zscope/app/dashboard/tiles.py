"""Tiles: a figure with its title, and the command that prints the figure.

The question mark of a tile shows the command with the filters of the page, so that a reader can check the
figure or take it into a script.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zscope.app.dashboard.drawing import clean
from zscope.pipelines.metrics import metric

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from zscope.app.dashboard.page_data import PageData
    from zscope.app.shared.filters import Filters

FROM = "` of the rows of `"
"""Between the expression and the command in the help of a tile."""
_LONGEST = 4000


@dataclass(frozen=True, slots=True)
class MetricFigure:
    """A figure from the rows of a metric that match the filters."""

    metric: str
    expression: str
    """An SQL expression over these rows."""
    by: tuple[str, ...] = ("all",)
    """Columns that the rows are grouped by; empty for the finest rows."""
    where: str = ""

    def source(self, filters: Filters) -> tuple[str, str]:
        """Return the expression, and the command that prints the rows."""
        definition = metric(self.metric)
        columns = {column.name for column in definition.columns if column.in_file}
        conditions = filters.without_period().conditions(columns)
        words = ["zscope", "metrics", self.metric]
        if self.by:
            words += ["--by", ",".join(self.by)]
        if definition.clock or definition.period:
            words += filters.options()
        if where := " AND ".join([*conditions, *([f"({self.where})"] if self.where else [])]):
            words += ["--where", where]
        return self.expression, shlex.join(words)


@dataclass(frozen=True, slots=True)
class StatementFigure:
    """A figure from one row of a statement, whatever the filters."""

    statement: str
    expression: str

    def source(self, _: Filters) -> tuple[str, str]:
        """Return the column, and the command that prints the row."""
        return self.expression, shlex.join(["zscope", "sql", " ".join(self.statement.split())])


Figure = MetricFigure | StatementFigure


def tile(
    place: DeltaGenerator,
    data: PageData,
    title: str,
    shown: str,
    figure: Figure | None,
    explanation: str = "",
    **options: Any,  # noqa: ANN401 - those of Streamlit
) -> None:
    """Draw a figure with its title.

    `figure` is None if no command prints it: for simulated values, and for those of one connection.
    """
    parts = [explanation] if explanation else []
    if figure is not None:
        expression, command = (clean(text, _LONGEST) for text in figure.source(data.filters))
        # A name with a grave accent would end the code.
        if "`" not in expression + command:
            parts.append(f"`{expression}{FROM}{command}`")
    place.metric(title, shown, help="\n\n".join(parts) or None, border=True, **options)
