"""Published results, their methods and the recommended settings, as tables.

The declarations are the TOML files in `published/`. They contain figures as printed, which this module never
changes; values computed from printed figures have separate columns. The rules that compare a published result
with measurements (`fillings.toml`) are separate from the published figures, because they change with what
zscope can measure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.schemas.declared import TomlFile
from zscope.schemas.errors import DeclarationError
from zscope.schemas.published_columns import (
    CHOICES,
    FILLING_SCHEMA,
    METHOD_SCHEMA,
    PRACTICE_SCHEMA,
    RESULT_SCHEMA,
    TAG_COLUMNS,
)

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

FILLING_KEYS = frozenset(
    {"filled_by", "both_tags", "assumed_tags", "free_tags", "run_kinds", "payload_bytes", "percent_of"}
)
"""Keys of a declared result that belong to its comparison rule and not to what was published."""
_RULE_KEYS = frozenset({"from", "measure", "also", "captures", "obstacle", "level"})
_NEEDED = {
    "runs": {"measure", "captures"},
    "metric": {"measure", "captures"},
    "inputs": {"captures"},
    "nothing": {"obstacle"},
}
"""The keys that a rule needs, by the origin of its measurements."""
_WORKLOAD = re.compile(r"(?:CRR|RR|STR)\d+\([^()]*\)")


def filling(
    file: str, key: str, result: Mapping[str, Any], rules: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the row of `reference_filling` for one declared result; `file` and `key` are for errors."""

    def wrong(problem: str) -> DeclarationError:
        return DeclarationError(file, key, problem)

    name = result.get("filled_by")
    if name is None:
        raise wrong("'filled_by' is missing")
    if name not in rules:
        raise wrong(f"filled_by names {name!r}, which is not declared in fillings.toml")
    rule = _checked(str(name), rules[name])
    kinds = _texts(result, "run_kinds", wrong)
    for kind in kinds:
        if kind not in CHOICES["workload_kinds"]:
            raise wrong(f"run_kinds {kind!r} is not a kind of workload")
    own_kinds = "run_kinds" in result
    least, most = _payload(result, wrong)
    return {
        "id": key,
        "rule": name,
        "filled_from": rule["from"],
        # Loaded inputs are measured under the metric of the result, unless the rule names another one.
        "measure": rule.get("measure", result.get("metric") if rule["from"] == "inputs" else None),
        "also_measures": list(rule.get("also", ())),
        "both_tags": _filling_tags(result, "both_tags", wrong),
        "assumed_tags": _filling_tags(result, "assumed_tags", wrong),
        "free_tags": _texts(result, "free_tags", wrong),
        "run_kinds": kinds if own_kinds else list(result.get("workload_kinds", ())),
        # Where other kinds are allowed, the document names no workload that a run could have.
        "workloads": [] if own_kinds else _WORKLOAD.findall(result.get("workload") or ""),
        "percent_of": _level(result, wrong),
        "least_payload_bytes": least,
        "most_payload_bytes": most,
        "captures": rule.get("captures"),
        "level": rule.get("level"),
        "obstacle": rule.get("obstacle"),
    }


def _checked(name: str, rule: Mapping[str, Any]) -> Mapping[str, Any]:
    """Validate the keys of a rule."""

    def wrong(problem: str) -> DeclarationError:
        return DeclarationError("fillings.toml", name, problem)

    for key, value in rule.items():
        if key not in _RULE_KEYS:
            raise wrong(f"{key!r} is not a key of a rule")
        if key == "also":
            _texts(rule, key, wrong)
        elif not isinstance(value, str) or not value:
            raise wrong(f"{key} is {value!r}, which is not a text")
    source = rule.get("from")
    if source not in _NEEDED:
        raise wrong(f"from {source!r} is not one of {', '.join(sorted(_NEEDED))}")
    for key in sorted(_NEEDED[source]):
        if key not in rule:
            raise wrong(f"{key!r} is missing, which a rule from {source} needs")
    for key, only in (("level", "inputs"), ("also", "runs"), ("obstacle", "nothing")):
        if key in rule and source != only:
            raise wrong(f"{key!r} is not allowed in a rule from {source}")
    return rule


def _level(result: Mapping[str, Any], wrong: Callable[[str], DeclarationError]) -> float | None:
    """Return the published level of which a published difference is a part."""
    level = result.get("percent_of")
    if level is not None and (not isinstance(level, (int, float)) or level <= 0):
        raise wrong(f"percent_of {level!r} is not a level")
    return level


def _payload(
    result: Mapping[str, Any], wrong: Callable[[str], DeclarationError]
) -> tuple[int | None, int | None]:
    """Return the least and the most bytes of a payload; None where any payload fits."""
    match result.get("payload_bytes"):
        case None:
            return None, None
        case [int(least), int(most)] if least <= most:
            return least, most
        case other:
            raise wrong(f"payload_bytes {other!r} is not the least and the most number of bytes")


def _filling_tags(result: Mapping[str, Any], key: str, wrong: Callable[[str], DeclarationError]) -> list[str]:
    values = result.get(key, {})
    if not isinstance(values, Mapping):
        raise wrong(f"{key} is not a table")
    return tag_texts(values)


def _texts(result: Mapping[str, Any], key: str, wrong: Callable[[str], DeclarationError]) -> list[str]:
    values = result.get(key, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise wrong(f"{key} is not a list of texts")
    return values


def tag_texts(values: Mapping[str, Any]) -> list[str]:
    """Return a table as texts for searching and comparing; booleans are written as on and off.

    >>> tag_texts({"fips": True, "mtu": 9000})
    ['fips=on', 'mtu=9000']
    """
    words = {True: "on", False: "off"}
    return [f"{key}={words[v] if isinstance(v, bool) else v}" for key, v in values.items()]


_COMPUTED = frozenset({"author", "published", "recomputed_pct", "recomputed_matches"})
"""Columns that are computed and cannot be declared."""
_EXAMPLE = ("name", "given", "gives", "printed")
_TYPES = {pa.string(): (str,), pa.bool_(): (bool,), pa.float64(): (int, float)}
"""Python types of declared values by the type of the column."""


@dataclass(frozen=True, slots=True)
class _PublishedEntry:
    """One declared row with its file and key."""

    file: str
    key: str
    values: Mapping[str, Any]

    def error(self, problem: str) -> DeclarationError:
        return DeclarationError(self.file, self.key, problem)


PUBLISHED_SCHEMAS: Mapping[str, pa.Schema] = {
    "reference_result": RESULT_SCHEMA,
    "reference_filling": FILLING_SCHEMA,
    "reference_method": METHOD_SCHEMA,
    "best_practice": PRACTICE_SCHEMA,
}
"""The columns of the tables of published results."""


@cache
def published_tables() -> Mapping[str, pa.Table]:
    """Return the tables `reference_result`, `reference_filling`, `reference_method` and `best_practice`.

    >>> [table.num_rows for table in published_tables().values()]
    [126, 126, 8, 20]
    """
    return read_published(files("zscope.schemas") / "published")


def read_published(folder: Traversable) -> Mapping[str, pa.Table]:
    """Read every declaration in a folder and check that all names they refer to are declared."""
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
    rows = {
        "reference_result": [_result(entry, documents, environments) for entry in results],
        "reference_filling": [filling(entry.file, entry.key, entry.values, rules) for entry in results],
        "reference_method": [_row(entry, METHOD_SCHEMA, documents) for entry in methods],
        "best_practice": [_row(entry, PRACTICE_SCHEMA, documents) for entry in practices],
    }
    tables = {name: pa.Table.from_pylist(rows[name], schema) for name, schema in PUBLISHED_SCHEMAS.items()}
    ids = _unique(results)
    _unique(practices)
    _resolve(results, "method", _unique(methods))
    _resolve(results, "conflicts_with", ids)
    _resolve(practices, "results", ids)
    return tables


def _keyed(file: Traversable) -> Iterator[_PublishedEntry]:
    """The entries of a file in which each is a table under its own name."""
    for key, values in TomlFile.read(file).content.items():
        if not isinstance(values, dict):
            raise DeclarationError(file.name, key, "is not a table")
        yield _PublishedEntry(file.name, key, values)


def _entries(file: Traversable, array: str) -> Iterator[_PublishedEntry]:
    """The entries of a file in which they are a list, each with its id."""
    for number, values in enumerate(TomlFile.read(file).content.get(array, ()), start=1):
        yield _PublishedEntry(file.name, str(values.get("id", f"{array} {number}")), values)


def _results(file: Traversable) -> Iterator[_PublishedEntry]:
    """The results of a file; each inherits the values of its group and of the file."""
    content = TomlFile.read(file).content
    shared = {key: value for key, value in content.items() if key != "group"}
    for number, group in enumerate(content.get("group", ()), start=1):
        common = shared | {key: value for key, value in group.items() if key != "results"}
        for place, values in enumerate(group.get("results", ()), start=1):
            key = str(values.get("id", f"group {number}, result {place}"))
            yield _PublishedEntry(file.name, key, common | values)


def _environments(file: Traversable) -> Mapping[str, Mapping[str, Any]]:
    """The measured systems; one that is declared `like` another must come after it."""
    known: dict[str, Mapping[str, Any]] = {}
    for entry in _keyed(file):
        like = entry.values.get("like")
        if like is not None and like not in known:
            raise entry.error(f"is like {like!r}, which is not declared before it")
        own = {key: value for key, value in entry.values.items() if key != "like"}
        known[entry.key] = {**known.get(str(like), {}), **own}
    return known


def _result(
    entry: _PublishedEntry,
    documents: Mapping[str, _PublishedEntry],
    environments: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """A row with the environment expanded and the computed columns."""
    name = str(entry.values.get("environment"))
    if name not in environments:
        raise entry.error(f"environment {name!r} is not declared in environments.toml")
    published = {key: value for key, value in entry.values.items() if key not in FILLING_KEYS}
    expanded = _PublishedEntry(entry.file, entry.key, {**published, "environment": environments[name]})
    row = _row(expanded, RESULT_SCHEMA, documents)
    _check_figures(entry, row)
    return row | _recomputed(row)


def _unique(entries: Iterable[_PublishedEntry]) -> frozenset[str]:
    seen: set[str] = set()
    for entry in entries:
        if entry.key in seen:
            raise entry.error("is declared twice")
        seen.add(entry.key)
    return frozenset(seen)


def _resolve(entries: Iterable[_PublishedEntry], column: str, known: frozenset[str]) -> None:
    for entry in entries:
        named = entry.values.get(column) or ()
        for key in [named] if isinstance(named, str) else named:
            if key not in known:
                raise entry.error(f"{column} names {key!r}, which is not declared")


def _check_figures(entry: _PublishedEntry, row: Mapping[str, Any]) -> None:
    """Check that figures have a unit and bounds are in order; only qualitative results have no figure."""
    if all(row[name] is None for name in ("value", "low", "high")):
        if row["kind"] != "qualitative":
            raise entry.error("has no figure and is not qualitative")
    elif row["unit"] is None:
        raise entry.error("has a figure without a unit")
    if (row["baseline_value"] is None) != (row["candidate_value"] is None):
        raise entry.error("has only one of baseline_value and candidate_value")
    if row["candidate_value"] is not None and row["level_unit"] is None:
        raise entry.error("has values without a level_unit")
    if row["low"] is not None and row["high"] is not None and row["low"] > row["high"]:
        raise entry.error("low is above high")


def _recomputed(row: Mapping[str, Any]) -> dict[str, Any]:
    """The percent change between the printed values, and whether it rounds to the printed percent."""
    baseline, candidate, value = row["baseline_value"], row["candidate_value"], row["value"]
    if candidate is None or not baseline:
        return {}
    before = Decimal(str(baseline))
    exact = 100 * (Decimal(str(candidate)) - before) / before
    computed: dict[str, Any] = {"recomputed_pct": float(exact.quantize(Decimal("0.01"), ROUND_HALF_UP))}
    if row["value_kind"] == "percent_change" and value is not None:
        printed = Decimal(str(value))
        computed["recomputed_matches"] = exact.quantize(printed, ROUND_HALF_UP) == printed
    return computed


def _row(
    entry: _PublishedEntry, schema: pa.Schema, documents: Mapping[str, _PublishedEntry]
) -> dict[str, Any]:
    """The entry as a row of its table."""
    declared = set(schema.names) - _COMPUTED
    for key in entry.values:
        if key not in declared:
            raise entry.error(f"{key!r} is not a column that can be declared")
    document = documents.get(str(entry.values.get("document")))
    if document is None:
        raise entry.error(f"document {entry.values.get('document')!r} is not declared in documents.toml")
    row = {name: _cell(entry, schema.field(name)) for name in declared}
    for column, key in (("document", "title"), ("author", "author"), ("published", "published")):
        row[column] = document.values.get(key)
    for field in schema:
        if not field.nullable and row.get(field.name) is None:
            raise entry.error(f"{field.name!r} is missing")
    return row


def _cell(entry: _PublishedEntry, field: pa.Field) -> object:
    """The value of a column; an empty text removes the value of the group or file."""
    value = entry.values.get(field.name)
    if field.name == "worked":
        return _worked(entry, value or [])
    if pa.types.is_list(field.type):
        value = _tags(entry, field.name, value or {}) if field.name in TAG_COLUMNS else value or []
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise entry.error(f"{field.name} is not a list of texts")
        _choose(entry, field.name, value)
        return value
    if value is None and field.name == "derived":
        return False
    if value is None or value == "":
        return None
    if type(value) not in _TYPES[field.type]:
        raise entry.error(f"{field.name} is {value!r}, which is not of type {field.type}")
    if isinstance(value, str):
        _choose(entry, field.name, [value])
    return value


def _worked(entry: _PublishedEntry, examples: object) -> str:
    """The examples of a method as JSON: inputs and outputs differ from method to method."""
    if not isinstance(examples, list) or not examples:
        raise entry.error("worked is not a list of examples")
    for example in examples:
        for part in example:
            if part not in _EXAMPLE:
                raise entry.error(f"worked has {part!r}, which is not one of {', '.join(_EXAMPLE)}")
    return json.dumps(examples)


def _choose(entry: _PublishedEntry, column: str, words: Iterable[str]) -> None:
    for word in words:
        if word not in CHOICES.get(column, {word}):
            raise entry.error(f"{column} {word!r} is not one of {', '.join(sorted(CHOICES[column]))}")


def _tags(entry: _PublishedEntry, column: str, values: object) -> list[str]:
    if not isinstance(values, Mapping):
        raise entry.error(f"{column} is not a table")
    return tag_texts(values)
