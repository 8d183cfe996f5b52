"""Tables of the flood model: both modes side by side, curves, and published figures next to modelled ones."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from zscope.pipelines.flood.figures import FIGURES
from zscope.pipelines.flood.parameters import MOST_SAMPLES, NUMBERS, USUAL_SAMPLES, Flood, FloodError, Mode
from zscope.pipelines.flood.published import modelled_figures, published_figures
from zscope.pipelines.flood.reproduce import remarks, reproduce, sensitivity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from zscope.pipelines.flood.figures import Comparison
    from zscope.pipelines.flood.published import PublishedTest
    from zscope.pipelines.flood.reproduce import ChangedParameter, Reproduction
    from zscope.pipelines.flood.trace import Trace


MODEL = "model"
"""Basis of every figure in these tables."""
_COMPARED = pa.schema(
    [
        ("figure", pa.string()),
        ("unit", pa.string()),
        ("blocking", pa.float64()),
        ("non_blocking", pa.float64()),
        ("change_pct", pa.float64()),
        ("basis", pa.string()),
        ("meaning", pa.string()),
    ]
)
_REPRODUCED = pa.schema(
    [
        ("part", pa.string()),
        ("test", pa.string()),
        ("name", pa.string()),
        ("unit", pa.string()),
        ("value", pa.float64()),
        ("text", pa.string()),
        ("basis", pa.string()),
        ("published", pa.float64()),
        ("difference", pa.float64()),
        ("difference_pct", pa.float64()),
        ("parameter", pa.string()),
        ("set_to", pa.string()),
        ("unchanged", pa.float64()),
        ("change", pa.float64()),
        ("change_pct", pa.float64()),
    ]
)
_UNITS = {number.name: number.unit for number in NUMBERS}


def comparison_table(comparison: Comparison) -> pa.Table:
    """Return a row for each figure: before PJ48040, with it, and the change."""
    return pa.Table.from_pylist(
        [
            {
                "figure": figure.name,
                "unit": figure.unit,
                "blocking": comparison.value(figure.name, Mode.BLOCKING),
                "non_blocking": comparison.value(figure.name, Mode.NON_BLOCKING),
                "change_pct": comparison.change_pct(figure.name),
                "basis": MODEL,
                "meaning": figure.meaning,
            }
            for figure in FIGURES
        ],
        _COMPARED,
    )


def reproduction_table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Return rows about published tests as a table."""
    return pa.Table.from_pylist(list(rows), _REPRODUCED)


def reproduction_rows(test: PublishedTest) -> Iterator[dict[str, Any]]:
    """Yield all rows about one test: remarks, parameters, figures, and the effect of each parameter."""
    result = reproduce(test)
    for remark in remarks(result):
        yield {"part": "remark", "test": test.name, "text": remark, "basis": MODEL}
    yield from parameter_rows(result)
    yield from figure_rows(result)
    yield from sensitivity_rows(result, *sensitivity(replace(result.flood, sessions=test.tried_sessions)))


def parameter_rows(result: Reproduction) -> Iterator[dict[str, Any]]:
    """Yield the parameters of a test: published, assumed, or determined."""
    for field in fields(Flood):
        value = getattr(result.flood, field.name)
        number = not isinstance(value, (bool, str))
        yield {
            "part": "parameter",
            "test": result.test.name,
            "name": field.name,
            "unit": _UNITS.get(field.name, ""),
            "value": value if number else None,
            "text": None if number else shown(value),
            "basis": result.test.basis(field.name),
        }


def figure_rows(result: Reproduction) -> Iterator[dict[str, Any]]:
    """Yield the published figures and those of the model."""
    values = modelled_figures(result.comparison)
    for name in result.test.figures:
        figure, value = published_figures()[name], values[name]
        yield {
            "part": "figure",
            "test": result.test.name,
            "name": name,
            "unit": figure.unit,
            "value": value,
            "text": f"{figure.result}: {figure.as_printed}"
            + ("" if name in result.test.aims else "; not an aim of the search"),
            "basis": MODEL,
            "published": figure.value,
            "difference": None if value is None else value - figure.value,
            "difference_pct": result.difference_pct(name),
        }


def sensitivity_rows(
    result: Reproduction, unchanged: Mapping[str, float | None], changes: list[ChangedParameter]
) -> Iterator[dict[str, Any]]:
    """Yield the effect of each changed parameter on each figure."""
    for changed in changes:
        for name in result.test.figures:
            before, after = unchanged[name], changed.figures[name]
            change = None if before is None or after is None else after - before
            yield {
                "part": "sensitivity",
                "test": result.test.name,
                "name": name,
                "unit": published_figures()[name].unit,
                "value": after,
                "basis": MODEL,
                "parameter": changed.parameter,
                "set_to": changed.value,
                "unchanged": before,
                "change": change,
                "change_pct": 100 * change / before if change is not None and before else None,
            }


def shown(value: object) -> str:
    """Format a parameter that is not a number."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def curve_table(traces: Iterable[Trace], samples: int = USUAL_SAMPLES) -> pa.Table:
    """Return the curves, sampled at the same times for every mode."""
    if not 1 <= samples <= MOST_SAMPLES:
        raise FloodError(f"samples: {samples} is not between 1 and {MOST_SAMPLES:,}")
    simulated = list(traces)
    times = np.linspace(0, max(trace.elapsed_s for trace in simulated), samples + 1)
    return pa.concat_tables(
        pa.table(
            {
                "mode": pa.array([str(trace.mode)] * len(times), pa.string()),
                "since_start_s": times,
                "ecbs_in_use": trace.ecbs.at(times),
                "threads_in_use": trace.threads.at(times),
                "sessions_started": trace.completed.at(times),
                "waiting": trace.waiting.at(times),
                "basis": pa.array(["model"] * len(times), pa.string()),
            }
        )
        for trace in simulated
    )
