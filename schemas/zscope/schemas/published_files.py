"""What the files of published results can contain: classes made from the columns of their tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec
import pyarrow as pa
from msgspec import field

from zscope.schemas.declared import Declared, WrongValueError
from zscope.schemas.published_columns import (
    CHOICES,
    METHOD_SCHEMA,
    PRACTICE_SCHEMA,
    RESULT_SCHEMA,
    TAG_COLUMNS,
)

Tags = Mapping[str, str | bool | int | float]
_COMPUTED = frozenset({"author", "published", "recomputed_pct", "recomputed_matches"})
"""Columns that are computed and cannot be declared."""
_TYPES = {pa.string(): str, pa.bool_(): bool, pa.float64(): float}
"""Types of declared values by the type of the column."""
_WORKED = tuple[dict[Literal["name", "given", "gives", "printed"], Any], ...]
"""Worked examples: inputs and outputs differ from method to method."""
_NEEDED = {
    "runs": ("measure", "captures"),
    "metric": ("measure", "captures"),
    "inputs": ("captures",),
    "nothing": ("obstacle",),
}
"""The keys that a rule needs, by the origin of its measurements."""
_ONLY = {"level": "inputs", "also": "runs", "obstacle": "nothing"}
"""The only origin of measurements with which a key is allowed."""


class PublishedDocument(Declared, frozen=True):
    """A document with published results."""

    title: str
    author: str
    published: str | None = None


class FillingRule(Declared, frozen=True):
    """What several published results can be compared with."""

    source: Literal["runs", "metric", "inputs", "nothing"] = field(name="from")
    measure: str | None = None
    also: tuple[str, ...] = ()
    captures: str | None = None
    obstacle: str | None = None
    level: str | None = None

    def __post_init__(self) -> None:
        for key in _NEEDED[self.source]:
            if not getattr(self, key):
                raise WrongValueError(key, f"is missing, which a rule from {self.source} needs")
        for key, only in _ONLY.items():
            if getattr(self, key) and self.source != only:
                raise WrongValueError(key, f"is not allowed in a rule from {self.source}")


_FillingKey = tuple[str, Any, Any]
_FILLING: tuple[_FillingKey, ...] = (
    ("filled_by", str, msgspec.NODEFAULT),
    ("both_tags", Tags, {}),
    ("assumed_tags", Tags, {}),
    ("free_tags", tuple[str, ...], ()),
    ("run_kinds", tuple[Literal["RR", "CRR", "STR"], ...] | None, None),
    ("payload_bytes", tuple[int, ...] | None, None),
    ("percent_of", float | None, None),
)
"""Keys of a result that belong to the rule of its comparison and not to what was published."""


def _class(
    name: str, schema: pa.Schema, further: Iterable[_FillingKey] = (), *, optional: bool = False
) -> type[msgspec.Struct]:
    """Return the class of the keys of a row. With `optional`, a file can omit each of them."""
    keys = [*(_key(column) for column in schema if column.name not in _COMPUTED), *further]
    if optional:
        keys = [(key, kind | None, None) for key, kind, _ in keys]
    return msgspec.defstruct(name, keys, bases=(Declared,), frozen=True, kw_only=True, module=__name__)


def _key(column: pa.Field) -> _FillingKey:
    """Name, type and default of a column."""
    if column.name == "worked":
        return column.name, _WORKED, msgspec.NODEFAULT
    if column.name == "environment":
        return column.name, str, msgspec.NODEFAULT
    if column.name in TAG_COLUMNS:
        return column.name, Tags, {}
    words = tuple(sorted(CHOICES.get(column.name, ())))
    of_list = pa.types.is_list(column.type)
    kind: Any = Literal[words] if words else str if of_list else _TYPES[column.type]
    if of_list:
        return column.name, tuple[kind, ...], ()
    if column.nullable:
        return column.name, kind | None, None
    return column.name, kind, False if column.name == "derived" else msgspec.NODEFAULT


RESULT = _class("RESULT", RESULT_SCHEMA, _FILLING)
"""A published result: what was published, and how it is compared."""
PARTS_OF_RESULT = _class("PARTS_OF_RESULT", RESULT_SCHEMA, _FILLING, optional=True)
"""What a group of results, or all of a file, have in common."""
METHOD = _class("METHOD", METHOD_SCHEMA)
PRACTICE = _class("PRACTICE", PRACTICE_SCHEMA)
