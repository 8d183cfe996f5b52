"""The views of metrics and steps in the catalogue."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from zscope.pipelines.metrics import declared, metric_names, needed, steps_of_computed, view_sql
from zscope.pipelines.metrics.narrowing import is_event_table
from zscope.schemas.sql_text import relations_named

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from zscope.pipelines.metrics.declarations import Metric


def creating_views(view: Callable[[Metric], str] | None = None) -> Iterator[str]:
    """Return the statements that create the views of all metrics and steps, in the order to run them.

    When a view is created, DuckDB plans all views below it, which takes seconds for all together. Therefore
    they are created over empty tables with the declared columns, the upper views first, and each table is
    then replaced by its view. With `view`, that function returns the statements of the views.
    """
    view = view or catalogue_view_sql
    metrics = tuple(declared().values())
    for metric in metrics:
        yield f"CREATE TABLE {metric.name} ({columns_sql(metric)})"
    for metric in reversed(metrics):
        yield f"DROP TABLE {metric.name}"
        yield f"CREATE VIEW {metric.name} AS {view(metric)}"


def columns_sql(metric: Metric) -> str:
    """Return the columns of a view as a statement that creates a table declares them."""
    return ", ".join(f"{column.name} {column.type}" for column in metric.view_columns)


_MANY_READINGS = 200
"""Steps and tables below a view from which on DuckDB takes longer to plan it than to compute it."""


@cache
def whole_views() -> tuple[str, ...]:
    """Return the metrics whose views have the SQL of all steps below them.

    DuckDB plans a view again wherever it is read, and takes more than the sum for several layers of views.
    Rows of events stay in views: what is read twice DuckDB may keep in memory, and of events there are
    millions. Steps stay as they are, too: each such view is written again by every load.
    """
    return tuple(
        name
        for name in metric_names()
        if _readings(name) > _MANY_READINGS and not any(map(is_event_table, needed(name, stored=True)))
    )


def catalogue_view_sql(metric: Metric, read: Collection[str] | None = None) -> str:
    """Return the statement of a view of the catalogue.

    It reads the steps in `read` from their views and contains the SQL of all other steps. The default is the
    steps whose rows a small store keeps, so that the view does not change until a store keeps all of them.
    """
    if metric.name not in whole_views():
        return view_sql(metric)
    read = steps_of_computed() if read is None else read
    found: dict[str, None] = {}

    def visit(step: str) -> None:
        for name in declared()[step].inputs:
            if name in declared() and name not in read and name not in found:
                visit(name)
                found[name] = None

    visit(metric.name)
    listed = ",\n".join(f"{step} AS (\n{view_sql(declared()[step])}\n)" for step in found)
    return f"WITH {listed}\nSELECT * FROM (\n{view_sql(metric)}\n)"


@cache
def _readings(name: str) -> int:
    """How many steps and tables DuckDB plans for a view, with stored rows where they can be."""
    metric = declared()[name]
    return 1 + sum(
        _readings(read) if read in declared() and not declared()[read].stored else 1
        for read in relations_named(metric.sql)
        if read in metric.inputs
    )
