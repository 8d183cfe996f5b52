"""Published results, their methods and the recommended settings, as tables.

The declarations are the TOML files in `published/`. They contain figures as printed, which this module never
changes; values computed from printed figures have separate columns. The rules that compare a published result
with measurements (`fillings.toml`) are separate from the published figures, because they change with what
zscope can measure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from zscope.schemas.declared import TomlFile
from zscope.schemas.published_columns import (
    FILLING_SCHEMA,
    METHOD_SCHEMA,
    PRACTICE_SCHEMA,
    RESULT_SCHEMA,
    TAG_COLUMNS,
)
from zscope.schemas.published_files import (
    METHOD,
    PARTS_OF_RESULT,
    PRACTICE,
    RESULT,
    FillingRule,
    PublishedDocument,
    Tags,
)

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from zscope.schemas.errors import DeclarationError
    from zscope.schemas.toml_lines import KeyPath

_WORKLOAD = re.compile(r"(?:CRR|RR|STR)\d+\([^()]*\)")


@dataclass(frozen=True, slots=True)
class _PublishedEntry:
    """One declared row with its place."""

    file: TomlFile
    path: KeyPath
    values: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The id of the row."""
        return str(self.values["id"])

    def error(self, problem: str, *below: str | int) -> DeclarationError:
        return self.file.error((*self.path, *below), problem)


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
    documents = TomlFile.read(folder / "documents.toml").typed(dict[str, PublishedDocument])
    environments = _environments(TomlFile.read(folder / "environments.toml"))
    results = [
        entry
        for file in sorted(folder.iterdir(), key=lambda f: f.name)
        if file.name.startswith("results_") and file.name.endswith(".toml")
        for entry in _results(TomlFile.read(file))
    ]
    rules = TomlFile.read(folder / "fillings.toml").typed(dict[str, FillingRule])
    methods = list(_entries(TomlFile.read(folder / "methods.toml"), "method", METHOD))
    practices = list(_entries(TomlFile.read(folder / "practices.toml"), "practice", PRACTICE))
    rows = {
        "reference_result": [_result(entry, documents, environments) for entry in results],
        "reference_filling": [_filling(entry, rules) for entry in results],
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


def _entries(file: TomlFile, array: str, declared: type[msgspec.Struct]) -> Iterator[_PublishedEntry]:
    """The entries of a file in which they are a list."""
    listed = file.typed(dict[str, tuple[dict[str, Any], ...]]).get(array, ())
    for number, values in enumerate(listed):
        path = (array, number)
        yield _PublishedEntry(file, path, msgspec.structs.asdict(file.typed(declared, values, path)))


def _results(file: TomlFile) -> Iterator[_PublishedEntry]:
    """The results of a file; each inherits the values of its group and of the file."""
    shared = _without_empty_texts(file.content, "group")
    file.typed(PARTS_OF_RESULT, shared)
    for number, group in enumerate(file.content.get("group", ())):
        of_group = _without_empty_texts(group, "results")
        file.typed(PARTS_OF_RESULT, of_group, ("group", number))
        common = shared | {key: value for key, value in group.items() if key != "results"}
        for position, values in enumerate(group.get("results", ())):
            path = ("group", number, "results", position)
            declared = file.typed(RESULT, _without_empty_texts(common | values), path)
            yield _PublishedEntry(file, path, msgspec.structs.asdict(declared))


def _without_empty_texts(values: Mapping[str, Any], *left_out: str) -> dict[str, Any]:
    """Return values without some keys; an empty text removes the value of the group or file."""
    return {key: value for key, value in values.items() if value != "" and key not in left_out}


def _environments(file: TomlFile) -> Mapping[str, Tags]:
    """The measured systems; one that is declared `like` another must come after it."""
    known: dict[str, Tags] = {}
    for key, values in file.typed(dict[str, Tags]).items():
        like = values.get("like")
        if like is not None and like not in known:
            raise file.error((key, "like"), f"is like {like!r}, which is not declared before it")
        own = {name: value for name, value in values.items() if name != "like"}
        known[key] = {**known.get(str(like), {}), **own}
    return known


def _result(
    entry: _PublishedEntry, documents: Mapping[str, PublishedDocument], environments: Mapping[str, Tags]
) -> dict[str, Any]:
    """A row with the environment expanded and the computed columns."""
    name = entry.values["environment"]
    if name not in environments:
        raise entry.error(f"environment {name!r} is not declared in environments.toml", "environment")
    expanded = _PublishedEntry(entry.file, entry.path, {**entry.values, "environment": environments[name]})
    row = _row(expanded, RESULT_SCHEMA, documents)
    _check_figures(entry, row)
    return row | _recomputed(row)


def _filling(entry: _PublishedEntry, rules: Mapping[str, FillingRule]) -> dict[str, Any]:
    """Return the row of `reference_filling` for one result."""
    result = entry.values
    name, kinds = result["filled_by"], result["run_kinds"]
    if name not in rules:
        raise entry.error(f"filled_by names {name!r}, which is not declared in fillings.toml", "filled_by")
    rule = rules[name]
    least, most = _payload(entry)
    return {
        "id": entry.key,
        "rule": name,
        "filled_from": rule.source,
        # Loaded inputs are measured under the metric of the result, unless the rule names another one.
        "measure": rule.measure or (result["metric"] if rule.source == "inputs" else None),
        "also_measures": list(rule.also),
        "both_tags": tag_texts(result["both_tags"]),
        "assumed_tags": tag_texts(result["assumed_tags"]),
        "free_tags": list(result["free_tags"]),
        "run_kinds": list(result["workload_kinds"] if kinds is None else kinds),
        # Where other kinds are allowed, the document names no workload that a run could have.
        "workloads": [] if kinds is not None else _WORKLOAD.findall(result["workload"] or ""),
        "percent_of": _level(entry),
        "least_payload_bytes": least,
        "most_payload_bytes": most,
        "captures": rule.captures,
        "level": rule.level,
        "obstacle": rule.obstacle,
    }


def _level(entry: _PublishedEntry) -> float | None:
    """Return the published level of which a published difference is a part."""
    level: float | None = entry.values["percent_of"]
    if level is not None and level <= 0:
        raise entry.error(f"percent_of {level!r} is not a level", "percent_of")
    return level


def _payload(entry: _PublishedEntry) -> tuple[int | None, int | None]:
    """Return the least and the most bytes of a payload; None where any payload fits."""
    match entry.values["payload_bytes"]:
        case None:
            return None, None
        case (int(least), int(most)) if least <= most:
            return least, most
        case other:
            problem = f"payload_bytes {[*other]!r} is not the least and the most number of bytes"
            raise entry.error(problem, "payload_bytes")


def tag_texts(values: Mapping[str, Any]) -> list[str]:
    """Return a table as texts for searching and comparing; booleans are written as on and off.

    >>> tag_texts({"fips": True, "mtu": 9000})
    ['fips=on', 'mtu=9000']
    """
    words = {True: "on", False: "off"}
    return [f"{key}={words[v] if isinstance(v, bool) else v}" for key, v in values.items()]


def _unique(entries: Iterable[_PublishedEntry]) -> frozenset[str]:
    seen: set[str] = set()
    for entry in entries:
        if entry.key in seen:
            raise entry.error("is declared twice", "id")
        seen.add(entry.key)
    return frozenset(seen)


def _resolve(entries: Iterable[_PublishedEntry], column: str, known: frozenset[str]) -> None:
    for entry in entries:
        named = entry.values[column] or ()
        for key in [named] if isinstance(named, str) else named:
            if key not in known:
                raise entry.error(f"{column} names {key!r}, which is not declared", column)


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
    entry: _PublishedEntry, schema: pa.Schema, documents: Mapping[str, PublishedDocument]
) -> dict[str, Any]:
    """The entry as a row of its table."""
    name = entry.values["document"]
    if name not in documents:
        raise entry.error(f"document {name!r} is not declared in documents.toml", "document")
    row = {name: _cell(name, entry.values[name]) for name in schema.names if name in entry.values}
    document = documents[name]
    return row | {"document": document.title, "author": document.author, "published": document.published}


def _cell(column: str, value: Any) -> object:  # noqa: ANN401 - a value of TOML
    """The value of a column: tags as texts, and the examples of a method as JSON."""
    if column in TAG_COLUMNS:
        return tag_texts(value)
    if column == "worked":
        return json.dumps(value)
    return list(value) if isinstance(value, tuple) else value
