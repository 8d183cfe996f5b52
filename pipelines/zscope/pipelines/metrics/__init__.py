"""The metrics: each an SQL file and a declaration, which views, documents and commands are made from."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

from zscope.pipelines.metrics.load import DeclarationError, declared
from zscope.pipelines.metrics.model import Column, Metric, Parameter
from zscope.pipelines.metrics.statement import AskedWronglyError, Selection, statement, view_sql

RUNS = "run"
"""The table of the benchmark runs, which is not of the data."""

__all__ = [
    "RUNS",
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
    "settable",
    "statement",
    "summary_names",
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


def settable(name: str) -> dict[str, tuple[str, Parameter]]:
    """What can be set for one, by name, with who declares it: itself, or a step or metric it rests on.

    >>> settable("handshake_cost")["cost_replicates"][0]
    'handshake_cost_fit'
    """
    below = (declared()[one] for one in needed(name) if one in declared())
    return {parameter.name: (one.name, parameter) for one in below for parameter in one.parameters}


@cache
def summary_names() -> tuple[str, ...]:
    """The steps a store can keep the rows of: few rows, that change with its data and with nothing else.

    What rests on runs changes when they are named, what has parameters with what a user sets.

    >>> "handshake_hour" in summary_names(), "benchmark_pair" in summary_names()
    (True, False)
    """
    return tuple(name for name, found in declared().items() if found.keep and _rests_on_data_alone(name))


def _rests_on_data_alone(name: str) -> bool:
    return RUNS not in needed(name) and not settable(name)


@cache
def metrics_digest() -> str:
    """A short name for the declarations as they are now: a catalogue with another one has other views."""
    texts = (
        f"{name} {found.keep}\n{view_sql(found)}\n{found.view_columns}" for name, found in declared().items()
    )
    return sha256("\n".join(texts).encode()).hexdigest()[:16]
