"""What a declaration says about a metric: its columns, how its rows are put together, what it reads.

Two sorts. Where every column is a dimension, says how it is put together, or follows from others, the metric
is combinable: its file gives the finest rows, and any grouping of them is a form of it. Where a column can
not be put together, as a fitted value, its rows stand as the file gives them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Combine = Literal["sum", "min", "max"]
Kind = Literal["metric", "step"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a metric."""

    name: str
    type: str
    """The DuckDB type as DESCRIBE shows it."""
    meaning: str
    unit: str = ""
    dimension: bool = False
    """Whether rows can be grouped by it."""
    apart: bool = False
    """Whether rows that differ in it must never be put together, as those of sources that overlap."""
    combine: Combine | None = None
    """How the values of rows that are put together become one."""
    source: str = ""
    """The expression over combined columns that gives it; `from` in the declaration."""

    @property
    def in_file(self) -> bool:
        """Whether the file of the metric gives it."""
        return not self.source


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a user may set: a variable of DuckDB that the statement reads, with its default there."""

    name: str
    type: str
    default: str
    """As an expression in SQL."""
    meaning: str


@dataclass(frozen=True)
class Metric:
    """A declared metric, or a step that several metrics share."""

    name: str
    kind: Kind
    title: str
    question: str
    inputs: tuple[str, ...]
    """The tables, metrics and steps that its file names."""
    grain: tuple[str, ...]
    """The columns that tell its rows apart."""
    columns: tuple[Column, ...]
    sql: str
    """The content of its file."""
    keep: bool = False
    """Whether it is small and stands behind many others: then it is worth computing once for a question."""
    looks_around: bool = False
    """Whether a row depends on what was recorded long before or after it, so that no day may be left out."""
    clock: str = ""
    """The column that a period applies to."""
    period: tuple[str, ...] = ()
    """In place of a clock, the two parameters that a period sets: where it is not rows that are chosen but
    what they are calculated from.
    """
    formula: str = ""
    sources: str = ""
    limits: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    """Published results it is held against."""
    parameters: tuple[Parameter, ...] = ()

    @property
    def meaning(self) -> str:
        """What a row stands for: the first sentence of its file."""
        return self.sql.partition("\n")[0].removeprefix("-- ")

    @cached_property
    def dimensions(self) -> tuple[Column, ...]:
        """What rows can be grouped by."""
        return tuple(column for column in self.columns if column.dimension)

    @property
    def measures(self) -> tuple[Column, ...]:
        """What is put together when rows are grouped."""
        return tuple(column for column in self.columns if column.combine)

    @property
    def derived(self) -> tuple[Column, ...]:
        """What follows from columns that were put together."""
        return tuple(column for column in self.columns if column.source)

    @cached_property
    def combinable(self) -> bool:
        """Whether its rows can be grouped in other ways."""
        return all(column.dimension or column.combine or column.source for column in self.columns)

    @cached_property
    def view_columns(self) -> tuple[Column, ...]:
        """The columns of the view."""
        if not self.combinable:
            return self.columns
        by_name = {column.name: column for column in self.dimensions}
        return (*(by_name[name] for name in self.grain), *self.measures, *self.derived)
