"""Published results, their methods and the recommended settings, as tables.

The declarations are the TOML files in `published/`. They contain figures as printed, which this module never
changes; values computed from printed figures have separate columns. The rules that compare a published result
with measurements (`fillings.toml`) are separate from the published figures, because they change with what
zscope can measure. Ratios (`ratios.toml`) are computed from
the published values. The columns of the tables are first, with the allowed words of some of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import pyarrow as pa
from msgspec import field

from zscope.schemas.declared import Declared, TomlFile, WrongValueError
from zscope.schemas.described_columns import described

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from zscope.schemas.errors import DeclarationError
    from zscope.schemas.toml_lines import KeyPath


_TEXTS = pa.list_(pa.string())


def _text(name: str, meaning: str) -> pa.Field:
    return described(name, pa.string(), meaning, required=True)


def _maybe(name: str, meaning: str) -> pa.Field:
    """A text that can be null."""
    return described(name, pa.string(), meaning)


def _texts(name: str, meaning: str) -> pa.Field:
    """A list is never null but empty, so conditions on it need no second case."""
    return described(name, _TEXTS, meaning, required=True)


def _flag(name: str, meaning: str, *, required: bool = False) -> pa.Field:
    return described(name, pa.bool_(), meaning, required=required)


def _number(name: str, meaning: str, unit: str = "") -> pa.Field:
    return described(name, pa.float64(), meaning, unit=unit)


_PLACE = described(
    "place", pa.int64(), "Its place among all results, in the order of the document.", required=True
)
_AREA = _text("area", "Product and part of it that was measured.")
_SOURCE = (
    _text("document", "Title of the document."),
    _text("author", "Who wrote it."),
    _maybe("published", "When, as the document writes it; null where it does not say."),
    _text("section", "Section of the document, by number or title."),
)
_CONFLICT = _maybe("conflict", "Contradictions within or between documents, uncorrected.")

RESULT_SCHEMA = pa.schema(
    [
        _text("id", "Name of the result."),
        _PLACE,
        _AREA,
        *_SOURCE,
        _maybe("figure", "Figure, chart or table of the section."),
        _text("metric", "What was measured."),
        _maybe("method", "Method that makes own measurements comparable, if one is published."),
        _maybe("workload", "Workload as the document names it."),
        _texts("workload_kinds", "RR, CRR, STR; interactive is taken for RR, streaming for STR."),
        _text("side", "Measured end: n/a if there is none, unspecified if the document does not name it."),
        _maybe("subject", "The measured server on z/VM."),
        _maybe("baseline", "What it is compared with; null for a single figure."),
        _text("candidate", "What is compared, or what the figure measures."),
        _maybe("baseline_in_title", "The baseline as a title names it; null if as in baseline."),
        _maybe("candidate_in_title", "The candidate as a title names it; null if as in candidate."),
        _maybe("scope", "What both have in common, as a title names it; null if nothing needs a name."),
        _texts("baseline_tags", "key=value: how the baseline differs from the candidate."),
        _texts("candidate_tags", "key=value: how the candidate differs from the baseline."),
        _texts("condition_tags", "key=value: what is the same for both."),
        _text("kind", "How much is published, and so what a measurement can be compared with."),
        _text("value_kind", "What value, low and high are; absolute is the candidate's value."),
        _text("as_printed", "The figures as published, side by side; words where there are none."),
        _maybe("quantifier", "Word that qualifies the figure: up to, about, average, becomes."),
        _number("value", "The figure in unit; less is negative for a change; null for words and ranges."),
        _number("low", "Lower bound in unit; null if open."),
        _number("high", "Upper bound in unit; null if open."),
        _maybe("unit", "Unit of value, low and high."),
        _maybe("direction", "Direction in which the candidate differs from the baseline."),
        _number("baseline_value", "Value of the baseline, if both are published; in level_unit."),
        _number("candidate_value", "Value of the candidate, if both are published; in level_unit."),
        _number("delta", "Published difference of the two values, in level_unit."),
        _maybe(
            "level_unit", "Unit of baseline_value, candidate_value, delta; for CPU/tx see method rscs-etr."
        ),
        _number("recomputed_pct", "Change from baseline_value to candidate_value, computed here.", "pct"),
        _flag("recomputed_matches", "Whether that rounds to the published percent; null where none is."),
        _number("recomputed_low", "Least change between values that round to the two printed ones.", "pct"),
        _number("recomputed_high", "Most change between values that round to the two printed ones.", "pct"),
        _number(
            "rounding", "How far what was measured can be from value, low and high by rounding; in unit."
        ),
        _texts("product_of", "Ids of the results whose values are the factors of a derived figure."),
        _number("recomputed_value", "The value unrounded, by its method from published inputs; in unit."),
        _flag("derived", "Whether the figure is computed from published ones.", required=True),
        _maybe("note", "Further remarks."),
        _CONFLICT,
        _texts("conflicts_with", "Ids of the results it is in conflict with."),
        _texts("environment", "key=value: the measured systems, as far as the document describes them."),
    ],
    {"meaning": "One row per published result: what was compared, the figure as printed, its source."},
)

FILLING_SCHEMA = pa.schema(
    [
        _text("id", "Name of the result."),
        _text("rule", "Name of the rule for the comparison; several results share one."),
        _text(
            "filled_from",
            "runs: a pair of runs; metric: a metric of the store; inputs: tables that other captures fill; "
            "nothing: no input of zscope contains the measured value.",
        ),
        _maybe("measure", "What is compared: a measure of run_comparison or input_measure, or the metric."),
        _texts("also_measures", "Other measures of run_comparison that must have the same outcome."),
        _texts("both_tags", "key=value: tags that both runs need besides those of the result."),
        _texts("assumed_tags", "key=value: tags that a run may omit but not contradict."),
        _texts("free_tags", "Keys in which the runs may differ besides those that the result varies."),
        _texts("run_kinds", "Kinds of workload that the runs may have; empty for any."),
        _texts("workloads", "Workloads of the document, of which the runs need one; empty for any."),
        _number(
            "percent_of",
            "Published level, in the unit of the result, to which a published difference is relative.",
        ),
        described(
            "least_payload_bytes",
            pa.int64(),
            "Least bytes of the larger of request and reply; null for any.",
            unit="bytes",
        ),
        described("most_payload_bytes", pa.int64(), "Most bytes of the larger of the two.", unit="bytes"),
        _maybe("captures", "Inputs that must be loaded."),
        _maybe("level", "Why the value cannot be compared with that of another machine; null where it can."),
        _maybe("obstacle", "Why no input contains the published value; null where one does."),
    ],
    {"meaning": "One row per published result: what it can be compared with, and what the comparison needs."},
)

RATIO_SCHEMA = pa.schema(
    [
        _text("id", "Name of the ratio."),
        _text("title", "What is divided by what."),
        _text(
            "of_result",
            "Id of the result above the line; if it is a change, the ratio is that of the change.",
        ),
        _maybe("to_result", "Id of the result below the line; null for a change."),
        _texts("varies", "Keys of the tags in which the two measurements may differ."),
        _number("unit_factor", "Unit of the result above the line, in that of the one below."),
        _number("value", "The ratio of the two published values; null for a bound that has none."),
        _number("low", "Least ratio of values that round to the printed ones; null for a change."),
        _number("high", "Most ratio of values that round to the printed ones; null for a change."),
    ],
    {"meaning": "One row per ratio of published results that does not depend on the machine."},
)

METHOD_SCHEMA = pa.schema(
    [
        _text("id", "Name of the method."),
        _AREA,
        *_SOURCE,
        _text("purpose", "What it gives."),
        _texts("inputs", "Required measurements with their units."),
        _texts("formula", "The steps, or the rules of a grammar."),
        _text("worked", "JSON: examples with inputs, computed and printed values."),
        _maybe("note", "Further remarks."),
        _CONFLICT,
    ],
    {"meaning": "One row per method of the published results, with worked examples."},
)

PRACTICE_SCHEMA = pa.schema(
    [
        _text("id", "Name of the practice."),
        _AREA,
        *_SOURCE,
        _maybe("also", "Another document that recommends it."),
        _text("setting", "What is recommended."),
        _text("effect", "What it does."),
        _text("observe", "Where its use can be observed."),
        _text("observe_status", "Whether that place is published or unconfirmed."),
        _maybe("observe_note", "Limits of that observation."),
        _CONFLICT,
        _texts("results", "Ids of related published results."),
    ],
    {"meaning": "One row per setting that the documents recommend."},
)

TAG_COLUMNS = frozenset({"baseline_tags", "candidate_tags", "condition_tags", "environment"})
"""Lists of key=value, declared as tables."""

CHOICES: Mapping[str, frozenset[str]] = {
    "side": frozenset({"client", "server", "both", "sender", "receiver", "n/a", "unspecified"}),
    "kind": frozenset({"percent_change", "absolute", "bound", "qualitative"}),
    "value_kind": frozenset({"percent_change", "percent_share", "absolute", "difference", "direction"}),
    "quantifier": frozenset({"up to", "at most", "more than", "about", "average", "range", "becomes"}),
    "direction": frozenset({"increase", "decrease", "no_change", "comparable", "improved"}),
    "workload_kinds": frozenset({"RR", "CRR", "STR"}),
    "filled_from": frozenset({"runs", "metric", "inputs", "nothing"}),
    "observe_status": frozenset({"published", "unconfirmed"}),
}
"""Allowed words by column."""


_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_COUNTED = frozenset({"sends", "messages", "ECBs"})
"""Units of whole numbers, which are exact unless the document says about."""
_ABOUT = "about"
_Ends = tuple[Decimal, Decimal]
_WORKLOAD = re.compile(r"(?:CRR|RR|STR)\d+\([^()]*\)")
_Tags = Mapping[str, str | bool | int | float]
_COMPUTED = frozenset(
    {
        "place", "author", "published", "recomputed_pct", "recomputed_matches", "recomputed_low",
        "recomputed_high", "rounding",
    }
)  # fmt: skip
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


class _PublishedDocument(Declared, frozen=True):
    """A document with published results."""

    title: str
    author: str
    published: str | None = None


class _FillingRule(Declared, frozen=True):
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


class _PublishedRatio(Declared, frozen=True):
    """Two published results whose ratio does not depend on the machine."""

    id: str
    title: str
    of: str
    to: str | None = None
    varies: tuple[str, ...] = ()


class _RatioFile(Declared, frozen=True):
    """All ratios."""

    ratio: tuple[_PublishedRatio, ...]


_FillingKey = tuple[str, Any, Any]
_FILLING: tuple[_FillingKey, ...] = (
    ("filled_by", str, msgspec.NODEFAULT),
    ("both_tags", _Tags, {}),
    ("assumed_tags", _Tags, {}),
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
        return column.name, _Tags, {}
    words = tuple(sorted(CHOICES.get(column.name, ())))
    of_list = pa.types.is_list(column.type)
    kind: Any = Literal[words] if words else str if of_list else _TYPES[column.type]
    if of_list:
        return column.name, tuple[kind, ...], ()
    if column.nullable:
        return column.name, kind | None, None
    return column.name, kind, False if column.name == "derived" else msgspec.NODEFAULT


_RESULT = _class("RESULT", RESULT_SCHEMA, _FILLING)
"""A published result: what was published, and how it is compared."""
_PARTS_OF_RESULT = _class("PARTS_OF_RESULT", RESULT_SCHEMA, _FILLING, optional=True)
"""What a group of results, or all of a file, have in common."""
_METHOD = _class("METHOD", METHOD_SCHEMA)
_PRACTICE = _class("PRACTICE", PRACTICE_SCHEMA)


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
    "reference_ratio": RATIO_SCHEMA,
    "reference_method": METHOD_SCHEMA,
    "best_practice": PRACTICE_SCHEMA,
}
"""The columns of the tables of published results."""


@cache
def published_tables() -> Mapping[str, pa.Table]:
    """Return the tables of published results by name.

    >>> [(name, table.num_rows) for name, table in published_tables().items()][1:4]
    [('reference_filling', 126), ('reference_ratio', 10), ('reference_method', 8)]
    """
    return read_published(files("zscope.schemas") / "published")


def read_published(folder: Traversable) -> Mapping[str, pa.Table]:
    """Read every declaration in a folder and check that all names they refer to are declared."""
    documents = TomlFile.read(folder / "documents.toml").typed(dict[str, _PublishedDocument])
    environments = _environments(TomlFile.read(folder / "environments.toml"))
    results = [
        entry
        for file in sorted(folder.iterdir(), key=lambda f: f.name)
        if file.name.startswith("results_") and file.name.endswith(".toml")
        for entry in _results(TomlFile.read(file))
    ]
    rules = TomlFile.read(folder / "fillings.toml").typed(dict[str, _FillingRule])
    methods = list(_entries(TomlFile.read(folder / "methods.toml"), "method", _METHOD))
    practices = list(_entries(TomlFile.read(folder / "practices.toml"), "practice", _PRACTICE))
    ids = _unique(results)
    _resolve(results, "product_of", ids)
    by_id = {entry.key: entry for entry in results}
    rows = {
        "reference_result": [
            {"place": place, **_result(entry, documents, environments, by_id)}
            for place, entry in enumerate(results, 1)
        ],
        "reference_filling": [_filling(entry, rules) for entry in results],
        "reference_ratio": list(_ratios(TomlFile.read(folder / "ratios.toml"), by_id)),
        "reference_method": [_row(entry, METHOD_SCHEMA, documents) for entry in methods],
        "best_practice": [_row(entry, PRACTICE_SCHEMA, documents) for entry in practices],
    }
    tables = {name: pa.Table.from_pylist(rows[name], schema) for name, schema in PUBLISHED_SCHEMAS.items()}
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
    file.typed(_PARTS_OF_RESULT, shared)
    for number, group in enumerate(file.content.get("group", ())):
        of_group = _without_empty_texts(group, "results")
        file.typed(_PARTS_OF_RESULT, of_group, ("group", number))
        common = shared | {key: value for key, value in group.items() if key != "results"}
        for position, values in enumerate(group.get("results", ())):
            path = ("group", number, "results", position)
            declared = file.typed(_RESULT, _without_empty_texts(common | values), path)
            yield _PublishedEntry(file, path, msgspec.structs.asdict(declared))


def _without_empty_texts(values: Mapping[str, Any], *left_out: str) -> dict[str, Any]:
    """Return values without some keys; an empty text removes the value of the group or file."""
    return {key: value for key, value in values.items() if value != "" and key not in left_out}


def _environments(file: TomlFile) -> Mapping[str, _Tags]:
    """The measured systems; one that is declared `like` another must come after it."""
    known: dict[str, _Tags] = {}
    for key, values in file.typed(dict[str, _Tags]).items():
        like = values.get("like")
        if like is not None and like not in known:
            raise file.error((key, "like"), f"is like {like!r}, which is not declared before it")
        own = {name: value for name, value in values.items() if name != "like"}
        known[key] = {**known.get(str(like), {}), **own}
    return known


def _result(
    entry: _PublishedEntry,
    documents: Mapping[str, _PublishedDocument],
    environments: Mapping[str, _Tags],
    by_id: Mapping[str, _PublishedEntry],
) -> dict[str, Any]:
    """A row with the environment expanded and the computed columns."""
    name = entry.values["environment"]
    if name not in environments:
        raise entry.error(f"environment {name!r} is not declared in environments.toml", "environment")
    expanded = _PublishedEntry(entry.file, entry.path, {**entry.values, "environment": environments[name]})
    row = _row(expanded, RESULT_SCHEMA, documents)
    _check_figures(entry, row)
    factors = [by_id[name].values for name in entry.values["product_of"]] or [entry.values]
    return row | _rounding(row) | _recomputed(row) | _recomputed_ends(factors)


def _filling(entry: _PublishedEntry, rules: Mapping[str, _FillingRule]) -> dict[str, Any]:
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


_UNIT_SIZES = {"us": 1.0, "ms": 1000.0}
_PERCENT = 100.0


def _ratios(file: TomlFile, by_id: Mapping[str, _PublishedEntry]) -> Iterator[dict[str, Any]]:
    """Yield the rows of `reference_ratio`."""
    for number, declared in enumerate(file.typed(_RatioFile).ratio):
        for key, name in (("of", declared.of), ("to", declared.to)):
            if name is not None and name not in by_id:
                raise file.error(("ratio", number, key), f"{key} names {name!r}, which is not declared")
        above = by_id[declared.of].values
        row = {
            "id": declared.id,
            "title": declared.title,
            "of_result": declared.of,
            "to_result": declared.to,
            "varies": list(declared.varies),
        }
        if declared.to is None:
            yield row | {"value": 1 + above["value"] / _PERCENT}
            continue
        below = by_id[declared.to].values
        factor = _UNIT_SIZES[above["unit"]] / _UNIT_SIZES[below["unit"]]
        halves = [
            float(half_digit(each["value"], each["unit"], each["as_printed"], each["quantifier"]))
            for each in (above, below)
        ]
        yield row | {
            "unit_factor": factor,
            "value": factor * above["value"] / below["value"],
            "low": factor * (above["value"] - halves[0]) / (below["value"] + halves[1]),
            "high": factor * (above["value"] + halves[0]) / (below["value"] - halves[1]),
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


def _rounding(row: Mapping[str, Any]) -> dict[str, Any]:
    """How far the published figure can be from what was measured; the coarsest of its two bounds."""
    figures = [row[name] for name in ("value", "low", "high") if row[name] is not None]
    halves = [half_digit(figure, row["unit"], row["as_printed"], row["quantifier"]) for figure in figures]
    return {"rounding": float(max(halves))} if halves and not row["derived"] else {}


def half_digit(figure: float, unit: str | None, as_printed: str, quantifier: str | None) -> Decimal:
    """Return how far a printed figure can be from what was measured: half of its last digit.

    Figures with `about` are rounded to the last digit that is not zero: they can be a whole unit of that
    digit away, but not more than half of the figure. Counts are exact.

    >>> half_digit(6.0, "ms", "7.2 to 6.0 ms", None), half_digit(5, "pct", "approximately 5 %", "about")
    (Decimal('0.05'), Decimal('1'))
    >>> half_digit(2500, "ECBs", "about 2500", "about"), half_digit(100, "ECBs", "about 100", "about")
    (Decimal('1E+2'), Decimal('50'))
    >>> half_digit(3, "sends", "2 to 3", None)
    Decimal('0')
    """
    printed = [text for text in _NUMBER.findall(as_printed) if float(text) == abs(figure)]
    number = Decimal(max(printed, key=len, default=f"{abs(figure):g}"))
    if quantifier == _ABOUT:
        return min(Decimal(1).scaleb(int(number.normalize().as_tuple().exponent)), number / 2)
    if unit in _COUNTED:
        return Decimal(0)
    return Decimal(1).scaleb(int(number.as_tuple().exponent)) / 2


def _recomputed_ends(factors: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The least and the most percent change between values that round to the printed ones."""
    baseline, candidate = (_product(factors, side) for side in ("baseline_value", "candidate_value"))
    if baseline is None or candidate is None or baseline[0] <= 0:
        return {}
    low, high = candidate[0] / baseline[1], candidate[1] / baseline[0]
    return {"recomputed_low": float(100 * (low - 1)), "recomputed_high": float(100 * (high - 1))}


def _product(factors: Sequence[Mapping[str, Any]], side: str) -> _Ends | None:
    """The least and the most that printed values can stand for, multiplied."""
    low = high = Decimal(1)
    for row in factors:
        if row[side] is None:
            return None
        half = half_digit(row[side], row["level_unit"], row["as_printed"], row["quantifier"])
        low *= Decimal(str(row[side])) - half
        high *= Decimal(str(row[side])) + half
    return low, high


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
    entry: _PublishedEntry, schema: pa.Schema, documents: Mapping[str, _PublishedDocument]
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
