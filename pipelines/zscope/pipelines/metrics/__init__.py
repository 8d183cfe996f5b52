"""The metrics: each an SQL file and a declaration, which views, documents and commands are made from."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

from zscope.pipelines.metrics.load import DeclarationError, declared
from zscope.pipelines.metrics.model import Column, Metric, Parameter
from zscope.pipelines.metrics.statement import AskedWronglyError, Selection, statement, view_sql

__all__ = [
    "AskedWronglyError",
    "Column",
    "DeclarationError",
    "Metric",
    "Parameter",
    "Selection",
    "declared",
    "metric",
    "metric_names",
    "metrics_digest",
    "needed",
    "statement",
    "view_sql",
]


def metric(name: str) -> Metric:
    """A metric or step by its name.

    >>> metric("cpu_interval").grain
    ('system', 'interval_start_local', 'interval_start_utc')
    """
    return declared()[name]


def metric_names() -> tuple[str, ...]:
    """The metrics, without the steps they share, in the order of their names."""
    return tuple(sorted(name for name, found in declared().items() if found.kind == "metric"))


def needed(name: str) -> tuple[str, ...]:
    """Every table, metric and step that one rests on, each behind those it reads; itself is the last."""
    found: dict[str, None] = {}

    def visit(one: str) -> None:
        if one in declared():
            for other in declared()[one].inputs:
                visit(other)
        found.setdefault(one)

    visit(name)
    return tuple(found)


@cache
def metrics_digest() -> str:
    """A short name for the declarations as they are now: a catalogue with another one has other views."""
    texts = (f"{name}\n{view_sql(found)}\n{found.view_columns}" for name, found in declared().items())
    return sha256("\n".join(texts).encode()).hexdigest()[:16]
