"""The comparison of both modes as rows, and what was published beside what the model gives."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.pipelines.flood.figures import FIGURES
from zscope.pipelines.flood.parameters import NUMBERS, Flood, Mode
from zscope.pipelines.flood.published import modelled, published_figures
from zscope.pipelines.flood.remarks import remarks
from zscope.pipelines.flood.reproduce import reproduce
from zscope.pipelines.flood.sensitivity import sensitivity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from zscope.pipelines.flood.attempts import Attempt
    from zscope.pipelines.flood.figures import Comparison
    from zscope.pipelines.flood.reproduce import Reproduction
    from zscope.pipelines.flood.sensitivity import Changed

MODEL = "model"
"""The basis of every figure that comes out of here."""
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


def compared(comparison: Comparison) -> pa.Table:
    """A row for each figure: before PJ48040, with it, and the change."""
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


def reproduced(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Rows about published tests as a table."""
    return pa.Table.from_pylist(list(rows), _REPRODUCED)


def about(attempt: Attempt) -> Iterator[dict[str, Any]]:
    """All about one test: what is to be known, parameters, figures, and what each parameter does to them."""
    found = reproduce(attempt)
    for remark in remarks(found):
        yield {"part": "remark", "test": attempt.name, "text": remark, "basis": MODEL}
    yield from parameter_rows(found)
    yield from figure_rows(found)
    yield from sensitivity_rows(found, *sensitivity(replace(found.flood, sessions=attempt.tried_sessions)))


def parameter_rows(found: Reproduction) -> Iterator[dict[str, Any]]:
    """The parameters of a test: published, assumed, or found."""
    for field in fields(Flood):
        value = getattr(found.flood, field.name)
        number = not isinstance(value, (bool, str))
        yield {
            "part": "parameter",
            "test": found.attempt.name,
            "name": field.name,
            "unit": _UNITS.get(field.name, ""),
            "value": value if number else None,
            "text": None if number else shown(value),
            "basis": found.attempt.basis(field.name),
        }


def figure_rows(found: Reproduction) -> Iterator[dict[str, Any]]:
    """The published figures and what the model makes of them."""
    came = modelled(found.comparison)
    for name in found.attempt.figures:
        figure, value = published_figures()[name], came[name]
        yield {
            "part": "figure",
            "test": found.attempt.name,
            "name": name,
            "unit": figure.unit,
            "value": value,
            "text": f"{figure.result}: {figure.as_printed}"
            + ("" if name in found.attempt.aims else "; the search did not aim at it"),
            "basis": MODEL,
            "published": figure.value,
            "difference": None if value is None else value - figure.value,
            "difference_pct": found.difference_pct(name),
        }


def sensitivity_rows(
    found: Reproduction, unchanged: Mapping[str, float | None], changes: list[Changed]
) -> Iterator[dict[str, Any]]:
    """What each changed parameter does to each figure."""
    for changed in changes:
        for name in found.attempt.figures:
            before, after = unchanged[name], changed.figures[name]
            change = None if before is None or after is None else after - before
            yield {
                "part": "sensitivity",
                "test": found.attempt.name,
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
    """A parameter that is no number, in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
