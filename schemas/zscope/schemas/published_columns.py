"""The columns of the tables of published results, and the words that some of them are limited to."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

_TEXTS = pa.list_(pa.string())


def _column(
    name: str, arrow: pa.DataType, meaning: str, *, unit: str = "", required: bool = False
) -> pa.Field:
    metadata = {"meaning": meaning} | ({"unit": unit} if unit else {})
    return pa.field(name, arrow, nullable=not required, metadata=metadata)


def _text(name: str, meaning: str) -> pa.Field:
    return _column(name, pa.string(), meaning, required=True)


def _maybe(name: str, meaning: str) -> pa.Field:
    """A text that not every row has."""
    return _column(name, pa.string(), meaning)


def _texts(name: str, meaning: str) -> pa.Field:
    """A list is never null: nothing is an empty list, so conditions on it need no second case."""
    return _column(name, _TEXTS, meaning, required=True)


def _flag(name: str, meaning: str, *, required: bool = False) -> pa.Field:
    return _column(name, pa.bool_(), meaning, required=required)


def _number(name: str, meaning: str, unit: str = "") -> pa.Field:
    return _column(name, pa.float64(), meaning, unit=unit)


_AREA = _text("area", "Product and part of it that was measured.")
_SOURCE = (
    _text("document", "Title of the document."),
    _text("author", "Who wrote it."),
    _maybe("published", "When, as the document writes it; null where it does not say."),
    _text("section", "Section of the document, by number or title."),
)
_CONFLICT = _maybe("conflict", "Where documents contradict themselves or each other; uncorrected.")

RESULT_SCHEMA = pa.schema(
    [
        _text("id", "Name of the result."),
        _AREA,
        *_SOURCE,
        _maybe("figure", "Figure, chart or table of the section."),
        _text("metric", "What was measured."),
        _maybe("method", "Method that makes own measurements comparable, if one is published."),
        _maybe("workload", "Workload as the document names it."),
        _texts("workload_kinds", "RR, CRR, STR; interactive is taken for RR, streaming for STR."),
        _text("side", "End it is about: n/a if it has none, unspecified if that is not told."),
        _maybe("subject", "The server on z/VM that it is about."),
        _maybe("baseline", "What it is compared with; null for a figure that stands alone."),
        _text("candidate", "What is compared, or what the figure is about."),
        _texts("baseline_tags", "key=value: how the baseline is told from the candidate."),
        _texts("candidate_tags", "key=value: how the candidate is told from the baseline."),
        _texts("condition_tags", "key=value: what holds for both."),
        _text("kind", "How much is published, and so what a measurement can be held against."),
        _text("value_kind", "What value, low and high are; absolute is the candidate's value."),
        _text("as_printed", "The figures as published, side by side; words where there are none."),
        _maybe("quantifier", "Word that comes with the figure and limits it: up to, about, average."),
        _number("value", "The figure in unit; less is negative for a change; null for words and ranges."),
        _number("low", "Least that the bound allows, in unit; null if it is open there."),
        _number("high", "Most that the bound allows, in unit; null if it is open there."),
        _maybe("unit", "Unit of value, low and high."),
        _maybe("direction", "Way the candidate differs from the baseline."),
        _number("baseline_value", "Value of the baseline, if both are published; in level_unit."),
        _number("candidate_value", "Value of the candidate, if both are published; in level_unit."),
        _number("delta", "Published difference of the two values, in level_unit."),
        _maybe(
            "level_unit", "Unit of baseline_value, candidate_value, delta; for CPU/tx see method rscs-etr."
        ),
        _number("recomputed_pct", "Change from baseline_value to candidate_value, computed here.", "pct"),
        _flag("recomputed_matches", "Whether that rounds to the published percent; null where none is."),
        _number("recomputed_value", "The value unrounded, by its method from published inputs; in unit."),
        _flag("derived", "Whether the figure is not published but made from published ones.", required=True),
        _maybe("note", "What else is to be known."),
        _CONFLICT,
        _texts("conflicts_with", "Ids of the results it is in conflict with."),
        _texts("environment", "key=value: the systems that were measured, as far as the document tells."),
    ],
    {"meaning": "One row per published result: what was compared, the figure as printed, where it stands."},
)

FILLING_SCHEMA = pa.schema(
    [
        _text("id", "Name of the result."),
        _text("rule", "Name of the rule that fills it; several results share one."),
        _text(
            "filled_from",
            "runs: a pair of runs; metric: a metric of the store; inputs: tables that other captures fill; "
            "nothing: no input of zscope holds what it is about.",
        ),
        _maybe("measure", "What is compared: a measure of run_comparison or input_measure, or the metric."),
        _texts("both_tags", "key=value: what both runs need besides the tags of the result."),
        _texts("assumed_tags", "key=value: what no run may say otherwise, though it need not say it."),
        _texts("free_tags", "Keys in which the runs may differ besides those that the result varies."),
        _texts("run_kinds", "Kinds of workload that the runs may have; empty for any."),
        _texts("workloads", "Workloads that the document names, one of which the runs need; empty for any."),
        _maybe("captures", "What has to be loaded."),
        _maybe(
            "level", "Why a value by itself is no match for that of another machine; null where it is one."
        ),
        _maybe("obstacle", "Why what can be measured is not what was published."),
    ],
    {"meaning": "One row per published result: what it can be held against here, and what that takes."},
)

METHOD_SCHEMA = pa.schema(
    [
        _text("id", "Name of the method."),
        _AREA,
        *_SOURCE,
        _text("purpose", "What it gives."),
        _texts("inputs", "What has to be measured, and in which unit."),
        _texts("formula", "The steps, or the rules of a grammar."),
        _text("worked", "JSON: examples with what is given, what it gives, what is printed."),
        _maybe("note", "What else is to be known."),
        _CONFLICT,
    ],
    {"meaning": "One row per method behind the published results, with worked examples."},
)

PRACTICE_SCHEMA = pa.schema(
    [
        _text("id", "Name of the practice."),
        _AREA,
        *_SOURCE,
        _maybe("also", "Another document that recommends it."),
        _text("setting", "What is recommended."),
        _text("effect", "What it does."),
        _text("observe", "Where it shows whether it is done."),
        _text("observe_status", "Whether that place is published or unconfirmed."),
        _maybe("observe_note", "To what that is limited."),
        _CONFLICT,
        _texts("results", "Ids of published results that bear on it."),
    ],
    {"meaning": "One row per setting that the documents recommend."},
)

TAG_COLUMNS = frozenset({"baseline_tags", "candidate_tags", "condition_tags", "environment"})
"""Lists of key=value, declared as tables."""

CHOICES: Mapping[str, frozenset[str]] = {
    "side": frozenset({"client", "server", "both", "sender", "receiver", "n/a", "unspecified"}),
    "kind": frozenset({"percent_change", "absolute", "bound", "qualitative"}),
    "value_kind": frozenset({"percent_change", "percent_share", "absolute", "difference", "direction"}),
    "quantifier": frozenset({"up to", "at most", "more than", "about", "average", "range"}),
    "direction": frozenset({"increase", "decrease", "no_change", "comparable", "improved"}),
    "workload_kinds": frozenset({"RR", "CRR", "STR"}),
    "filled_from": frozenset({"runs", "metric", "inputs", "nothing"}),
    "observe_status": frozenset({"published", "unconfirmed"}),
}
"""Columns that take certain words only."""
