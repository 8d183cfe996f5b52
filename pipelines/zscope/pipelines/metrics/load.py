"""Reading the declarations: each metric is a TOML file and an SQL file of its name, found by looking."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any

from zscope.pipelines.metrics.checks import filled
from zscope.pipelines.metrics.model import Column, Metric, Parameter

_REQUIRED = {"kind", "title", "question", "inputs", "grain", "column"}
_KEYS = _REQUIRED | {
    "keep",
    "looks_around",
    "clock",
    "period",
    "formula",
    "sources",
    "limits",
    "references",
    "parameter",
}
_COLUMN_KEYS = {"name", "type", "meaning", "unit", "dimension", "apart", "combine", "from"}
_KINDS = {"metric", "step"}
_COMBINE = {"sum", "min", "max"}
_BEGIN_AND_END = 2
_MOMENT = "TIMESTAMP WITH TIME ZONE"


class DeclarationError(Exception):
    """A declaration that does not hold together: which file, and what is wrong with it."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name}.toml: {problem}")


@cache
def declared() -> Mapping[str, Metric]:
    """Every metric and step by its name, each behind those it reads.

    >>> list(declared()).index("cpu_interval") < list(declared()).index("cpu_per_transaction")
    True
    """
    folder = files("zscope.pipelines.metrics") / "declared"
    return MappingProxyType(load(folder))


def load(folder: Traversable) -> dict[str, Metric]:
    """The metrics of a folder, in an order in which their views can be made."""
    found = {
        name: parse(name, file.read_text(encoding="utf-8"), (folder / f"{name}.sql"))
        for name, file in sorted((f.name.removesuffix(".toml"), f) for f in _declarations(folder))
    }
    needs = {name: [other for other in metric.inputs if other in found] for name, metric in found.items()}
    try:
        order = list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        around = " -> ".join(error.args[1])
        raise DeclarationError(error.args[1][0], f"reads itself by way of others: {around}") from error
    return {name: found[name] for name in order}


def _declarations(folder: Traversable) -> Iterator[Traversable]:
    return (file for file in folder.iterdir() if file.name.endswith(".toml"))


def parse(name: str, text: str, sql: Traversable) -> Metric:
    """One declaration, checked as far as it can be without running it."""
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DeclarationError(name, str(error)) from error
    _only(name, "declaration", told, _KEYS, _REQUIRED)
    if told["kind"] not in _KINDS:
        raise DeclarationError(name, f"kind is {told['kind']!r}, not one of {', '.join(sorted(_KINDS))}")
    if not sql.is_file():
        raise DeclarationError(name, f"there is no {name}.sql beside it")
    metric = Metric(
        name=name,
        kind=told["kind"],
        title=told["title"],
        question=told["question"],
        inputs=tuple(told["inputs"]),
        grain=tuple(told["grain"]),
        columns=tuple(_column(name, column) for column in told["column"]),
        sql=filled(name, sql.read_text(encoding="utf-8").rstrip()),
        keep=told.get("keep", False),
        looks_around=told.get("looks_around", False),
        clock=told.get("clock", ""),
        period=tuple(told.get("period", ())),
        formula=told.get("formula", "").strip(),
        sources=told.get("sources", "").strip(),
        limits=tuple(told.get("limits", ())),
        references=tuple(told.get("references", ())),
        parameters=tuple(_parameter(name, parameter) for parameter in told.get("parameter", ())),
    )
    _check(metric)
    return metric


def _column(name: str, told: Mapping[str, Any]) -> Column:
    _only(name, f"column {told.get('name', '?')}", told, _COLUMN_KEYS, {"name", "type", "meaning"})
    combine = told.get("combine")
    if combine is not None and combine not in _COMBINE:
        raise DeclarationError(name, f"column {told['name']}: combine is {combine!r}")
    column = Column(
        name=told["name"],
        type=told["type"],
        meaning=told["meaning"],
        unit=told.get("unit", ""),
        dimension=told.get("dimension", False),
        apart=told.get("apart", False),
        combine=combine,
        source=told.get("from", ""),
    )
    if column.apart and not column.dimension:
        raise DeclarationError(name, f"column {column.name}: only a dimension keeps rows apart")
    if column.dimension + bool(column.combine) + bool(column.source) > 1:
        raise DeclarationError(name, f"column {column.name}: only one of dimension, combine, from")
    return column


def _parameter(name: str, told: Mapping[str, Any]) -> Parameter:
    keys = {"name", "type", "default", "meaning"}
    _only(name, f"parameter {told.get('name', '?')}", told, keys, keys)
    return Parameter(**told)


def _check(metric: Metric) -> None:
    names = [column.name for column in metric.columns]
    if doubled := _doubled(names):
        raise DeclarationError(metric.name, f"column {doubled} is declared twice")
    if strange := set(metric.grain) - set(names):
        raise DeclarationError(metric.name, f"grain: no column {', '.join(sorted(strange))}")
    if metric.clock and (metric.clock, _MOMENT) not in [(c.name, c.type) for c in metric.columns]:
        raise DeclarationError(metric.name, f"clock: no column {metric.clock} of type {_MOMENT}")
    if metric.period and (metric.clock or len(metric.period) != _BEGIN_AND_END):
        raise DeclarationError(metric.name, "period: two parameters are needed, and no clock beside them")
    if metric.derived and not metric.combinable:
        raise DeclarationError(metric.name, "only where all columns can be combined may one have `from`")
    if metric.combinable and set(metric.grain) - {column.name for column in metric.dimensions}:
        raise DeclarationError(metric.name, "the grain of a combinable metric is made of dimensions")
    if not metric.sql.startswith("-- "):
        raise DeclarationError(metric.name, f"{metric.name}.sql does not begin with what a row stands for")


def _doubled(names: Iterable[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return ""


def _only(name: str, where: str, told: Mapping[str, Any], keys: set[str], required: set[str]) -> None:
    if strange := sorted(set(told) - keys):
        raise DeclarationError(name, f"{where}: unknown key {', '.join(strange)}")
    if missing := sorted(required - set(told)):
        raise DeclarationError(name, f"{where}: {', '.join(missing)} is missing")
