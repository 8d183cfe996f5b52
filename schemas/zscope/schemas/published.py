"""Published measurements, the methods behind them and the settings they recommend, as tables.

The declarations are the TOML files in `published/`. Figures stand there as they were printed; nothing here
changes one. What can be computed from printed figures gets a column of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import pyarrow as pa

from zscope.schemas.load import LayoutError, read_toml
from zscope.schemas.published_columns import (
    CHOICES,
    FILLING_SCHEMA,
    METHOD_SCHEMA,
    PRACTICE_SCHEMA,
    RESULT_SCHEMA,
    TAG_COLUMNS,
)
from zscope.schemas.published_filling import FILLING_KEYS, filling, tag_texts

_COMPUTED = frozenset({"author", "published", "recomputed_pct", "recomputed_matches"})
"""Columns that no entry may state."""
_EXAMPLE = ("name", "given", "gives", "printed")
_TYPES = {pa.string(): (str,), pa.bool_(): (bool,), pa.float64(): (int, float)}
"""What may stand in a declaration for a type of column."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """One declared row and where it stands."""

    file: str
    key: str
    values: Mapping[str, Any]

    def error(self, problem: str) -> LayoutError:
        return LayoutError(self.file, self.key, problem)


@cache
def published_tables() -> Mapping[str, pa.Table]:
    """`reference_result`, `reference_filling`, `reference_method` and `best_practice`.

    >>> [table.num_rows for table in published_tables().values()]
    [126, 126, 8, 20]
    """
    return read_published(files("zscope.schemas") / "published")


def read_published(folder: Traversable) -> Mapping[str, pa.Table]:
    """Read every declaration in a folder, and see that what they name is there."""
    documents = {entry.key: entry for entry in _keyed(folder / "documents.toml")}
    environments = _environments(folder / "environments.toml")
    results = [
        entry
        for file in sorted(folder.iterdir(), key=lambda f: f.name)
        if file.name.startswith("results_") and file.name.endswith(".toml")
        for entry in _results(file)
    ]
    rules = {entry.key: entry.values for entry in _keyed(folder / "fillings.toml")}
    methods = list(_entries(folder / "methods.toml", "method"))
    practices = list(_entries(folder / "practices.toml", "practice"))
    tables = {
        "reference_result": pa.Table.from_pylist(
            [_result(entry, documents, environments) for entry in results], RESULT_SCHEMA
        ),
        "reference_filling": pa.Table.from_pylist(
            [filling(entry.file, entry.key, entry.values, rules) for entry in results], FILLING_SCHEMA
        ),
        "reference_method": pa.Table.from_pylist(
            [_row(entry, METHOD_SCHEMA, documents) for entry in methods], METHOD_SCHEMA
        ),
        "best_practice": pa.Table.from_pylist(
            [_row(entry, PRACTICE_SCHEMA, documents) for entry in practices], PRACTICE_SCHEMA
        ),
    }
    ids = _unique(results)
    _unique(practices)
    _resolve(results, "method", _unique(methods))
    _resolve(results, "conflicts_with", ids)
    _resolve(practices, "results", ids)
    return tables


def _keyed(file: Traversable) -> Iterator[_Entry]:
    """The entries of a file in which each is a table under its own name."""
    for key, values in read_toml(file).items():
        if not isinstance(values, dict):
            raise LayoutError(file.name, key, "is no table")
        yield _Entry(file.name, key, values)


def _entries(file: Traversable, array: str) -> Iterator[_Entry]:
    """The entries of a file in which they are a list, each with its id."""
    for number, values in enumerate(read_toml(file).get(array, ()), start=1):
        yield _Entry(file.name, str(values.get("id", f"{array} {number}")), values)


def _results(file: Traversable) -> Iterator[_Entry]:
    """The results of a file: each has its own values, those of its group, and those of the file."""
    content = read_toml(file)
    shared = {key: value for key, value in content.items() if key != "group"}
    for number, group in enumerate(content.get("group", ()), start=1):
        common = shared | {key: value for key, value in group.items() if key != "results"}
        for place, values in enumerate(group.get("results", ()), start=1):
            key = str(values.get("id", f"group {number}, result {place}"))
            yield _Entry(file.name, key, common | values)


def _environments(file: Traversable) -> Mapping[str, Mapping[str, Any]]:
    """What is known of each measured system; one that is like another has to stand behind it."""
    known: dict[str, Mapping[str, Any]] = {}
    for entry in _keyed(file):
        like = entry.values.get("like")
        if like is not None and like not in known:
            raise entry.error(f"is like {like!r}, which is not declared before it")
        own = {key: value for key, value in entry.values.items() if key != "like"}
        known[entry.key] = {**known.get(str(like), {}), **own}
    return known


def _result(
    entry: _Entry, documents: Mapping[str, _Entry], environments: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """A row with the environment written out, and with what can be computed."""
    name = str(entry.values.get("environment"))
    if name not in environments:
        raise entry.error(f"environment {name!r} is not declared in environments.toml")
    published = {key: value for key, value in entry.values.items() if key not in FILLING_KEYS}
    written_out = _Entry(entry.file, entry.key, {**published, "environment": environments[name]})
    row = _row(written_out, RESULT_SCHEMA, documents)
    _check_figures(entry, row)
    return row | _recomputed(row)


def _unique(entries: Iterable[_Entry]) -> frozenset[str]:
    seen: set[str] = set()
    for entry in entries:
        if entry.key in seen:
            raise entry.error("is declared twice")
        seen.add(entry.key)
    return frozenset(seen)


def _resolve(entries: Iterable[_Entry], column: str, known: frozenset[str]) -> None:
    for entry in entries:
        named = entry.values.get(column) or ()
        for key in [named] if isinstance(named, str) else named:
            if key not in known:
                raise entry.error(f"{column} names {key!r}, which is not declared")


def _check_figures(entry: _Entry, row: Mapping[str, Any]) -> None:
    """A figure has a unit, and the ends of a bound are in order; only words do without a figure."""
    if all(row[name] is None for name in ("value", "low", "high")):
        if row["kind"] != "qualitative":
            raise entry.error("has no figure and is not qualitative")
    elif row["unit"] is None:
        raise entry.error("has a figure without a unit")
    if (row["baseline_value"] is None) != (row["candidate_value"] is None):
        raise entry.error("has one of baseline_value and candidate_value only")
    if row["candidate_value"] is not None and row["level_unit"] is None:
        raise entry.error("has values without a level_unit")
    if row["low"] is not None and row["high"] is not None and row["low"] > row["high"]:
        raise entry.error("low is above high")


def _recomputed(row: Mapping[str, Any]) -> dict[str, Any]:
    """The percent between the two printed values, and whether the printed percent is that, rounded."""
    baseline, candidate, value = row["baseline_value"], row["candidate_value"], row["value"]
    if candidate is None or not baseline:
        return {}
    before = Decimal(str(baseline))
    exact = 100 * (Decimal(str(candidate)) - before) / before
    found: dict[str, Any] = {"recomputed_pct": float(exact.quantize(Decimal("0.01"), ROUND_HALF_UP))}
    if row["value_kind"] == "percent_change" and value is not None:
        printed = Decimal(str(value))
        found["recomputed_matches"] = exact.quantize(printed, ROUND_HALF_UP) == printed
    return found


def _row(entry: _Entry, schema: pa.Schema, documents: Mapping[str, _Entry]) -> dict[str, Any]:
    """The entry as a row of its table."""
    stated = set(schema.names) - _COMPUTED
    for key in entry.values:
        if key not in stated:
            raise entry.error(f"{key!r} is no column that can be stated")
    document = documents.get(str(entry.values.get("document")))
    if document is None:
        raise entry.error(f"document {entry.values.get('document')!r} is not declared in documents.toml")
    row = {name: _cell(entry, schema.field(name)) for name in stated}
    for column, key in (("document", "title"), ("author", "author"), ("published", "published")):
        row[column] = document.values.get(key)
    for field in schema:
        if not field.nullable and row.get(field.name) is None:
            raise entry.error(f"{field.name!r} is missing")
    return row


def _cell(entry: _Entry, field: pa.Field) -> object:
    """The value of a column; an empty text takes back what the group or file says, and means nothing."""
    value = entry.values.get(field.name)
    if field.name == "worked":
        return _worked(entry, value or [])
    if pa.types.is_list(field.type):
        value = _tags(entry, field.name, value or {}) if field.name in TAG_COLUMNS else value or []
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise entry.error(f"{field.name} is no list of texts")
        _choose(entry, field.name, value)
        return value
    if value is None and field.name == "derived":
        return False
    if value is None or value == "":
        return None
    if type(value) not in _TYPES[field.type]:
        raise entry.error(f"{field.name} is {value!r}, which is no {field.type}")
    if isinstance(value, str):
        _choose(entry, field.name, [value])
    return value


def _worked(entry: _Entry, examples: object) -> str:
    """The examples of a method as JSON: what goes in and comes out differs from method to method."""
    if not isinstance(examples, list) or not examples:
        raise entry.error("worked is no list of examples")
    for example in examples:
        for part in example:
            if part not in _EXAMPLE:
                raise entry.error(f"worked has {part!r}, which is none of {', '.join(_EXAMPLE)}")
    return json.dumps(examples)


def _choose(entry: _Entry, column: str, words: Iterable[str]) -> None:
    for word in words:
        if word not in CHOICES.get(column, {word}):
            raise entry.error(f"{column} {word!r} is none of {', '.join(sorted(CHOICES[column]))}")


def _tags(entry: _Entry, column: str, values: object) -> list[str]:
    if not isinstance(values, Mapping):
        raise entry.error(f"{column} is no table")
    return tag_texts(values)
