"""The columns of the tables of published results, and the allowed words of some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from zscope.schemas.described_columns import described

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        _texts("baseline_tags", "key=value: how the baseline differs from the candidate."),
        _texts("candidate_tags", "key=value: how the candidate differs from the baseline."),
        _texts("condition_tags", "key=value: what is the same for both."),
        _text("kind", "How much is published, and so what a measurement can be compared with."),
        _text("value_kind", "What value, low and high are; absolute is the candidate's value."),
        _text("as_printed", "The figures as published, side by side; words where there are none."),
        _maybe("quantifier", "Word that qualifies the figure: up to, about, average."),
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
    "quantifier": frozenset({"up to", "at most", "more than", "about", "average", "range"}),
    "direction": frozenset({"increase", "decrease", "no_change", "comparable", "improved"}),
    "workload_kinds": frozenset({"RR", "CRR", "STR"}),
    "filled_from": frozenset({"runs", "metric", "inputs", "nothing"}),
    "observe_status": frozenset({"published", "unconfirmed"}),
}
"""Allowed words by column."""
