"""The metrics: each is an SQL file and a declaration, from which views, documents and commands are generated.

The file macros.sql contains the expressions that several metrics share.
"""

from __future__ import annotations

from functools import cache

from zscope.pipelines.metrics.declarations import (
    DIGEST_COLUMN,
    Metric,
    MetricColumn,
    MetricParameter,
    declared,
)
from zscope.pipelines.metrics.metric_statements import (
    MetricQueryError,
    MetricSelection,
    macros_sql,
    no_rows_sql,
    statement,
    view_sql,
)

RUNS = "run"
"""The table of the benchmark runs. It comes from runs.toml, not from loaded data."""

__all__ = [
    "DIGEST_COLUMN",
    "RUNS",
    "Metric",
    "MetricColumn",
    "MetricParameter",
    "MetricQueryError",
    "MetricSelection",
    "declared",
    "macros_sql",
    "metric",
    "metric_names",
    "needed",
    "no_rows_sql",
    "settable",
    "statement",
    "steps_of_computed",
    "stored_names",
    "view_sql",
]


def metric(name: str) -> Metric:
    """Return a metric or step by its name.

    >>> metric("cpu_interval").grain
    ('system', 'interval_start_local', 'interval_start_utc')
    """
    return declared()[name]


def metric_names() -> tuple[str, ...]:
    """Return the names of the metrics in alphabetical order, without the steps they share."""
    return tuple(sorted(name for name, declaration in declared().items() if declaration.kind == "metric"))


def needed(name: str, *, stored: bool = False) -> tuple[str, ...]:
    """Return every table, metric and step that one depends on, each after those it reads, itself last.

    With `stored`, leave out what is only read by other stored steps.

    >>> needed("cpu_slot", stored=True)
    ('cpu_by_source', 'cpu_slot')
    """
    names: dict[str, None] = {}

    def visit(dependency: str) -> None:
        if dependency in names:
            return  # most steps are read by several others
        if dependency in declared() and not (stored and dependency != name and declared()[dependency].stored):
            for other in declared()[dependency].inputs:
                visit(other)
        names.setdefault(dependency)

    visit(name)
    return tuple(names)


def settable(name: str) -> dict[str, tuple[str, MetricParameter]]:
    """Return the parameters of a metric by name, each with the metric or step that declares it.

    >>> settable("finding")["as_of"][0]
    'certificate_seen'
    """
    metrics = (declared()[dependency] for dependency in needed(name) if dependency in declared())
    without = declared()[name].without_parameters if name in declared() else ()
    return {
        parameter.name: (owner.name, parameter)
        for owner in metrics
        for parameter in owner.parameters
        if parameter.name not in without
    }


@cache
def stored_names() -> tuple[str, ...]:
    """Return the steps and metrics whose rows a store keeps, each after those it reads.

    >>> names = stored_names()
    >>> names.index("cpu_slot") < names.index("transaction_day"), "handshake_hour" in names
    (True, False)
    """
    return tuple(name for name, declaration in declared().items() if declaration.stored)


@cache
def steps_of_computed() -> tuple[str, ...]:
    """Return the stored steps that those computed in Python read, with themselves."""
    computed = [name for name, declaration in declared().items() if declaration.computed_by]
    below = {step for name in computed for step in needed(name)}
    return tuple(name for name in stored_names() if name in below)
