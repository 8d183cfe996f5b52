"""A line of a chart over time does not lead over a time without data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.app.dashboard.conftest import Open


@pytest.mark.parametrize(
    ("name", "store", "query"),
    [
        ("cpu", "world", {}),
        pytest.param("workload", "world", {}, marks=pytest.mark.deep),
    ],
)
def test_lines_over_time_break_off(
    name: str, store: str, query: dict[str, str], drawn_page: Open, request: pytest.FixtureRequest
) -> None:
    page = drawn_page(name, request.getfixturevalue(store), query)
    lines = [
        part
        for chart in page.get("vega_lite_chart")
        for part in parts(json.loads(chart.proto.spec))
        if kind_of(part) in {"line", "area"} and is_over_time(part)
    ]
    assert lines
    assert all("piece" in json.dumps(line["encoding"].get("detail", "")) for line in lines)


def parts(specification: object) -> list[dict[str, Any]]:
    """Return all charts in a chart; a layer has the encoding of the chart around it, too."""
    if isinstance(specification, list):
        return [part for each in specification for part in parts(each)]
    if not isinstance(specification, dict):
        return []
    inner = [specification[key] for key in ("layer", "vconcat", "hconcat", "spec") if key in specification]
    shared = specification.get("encoding", {})
    return [specification] + [
        {**part, "encoding": {**shared, **part.get("encoding", {})}} for each in inner for part in parts(each)
    ]


def is_over_time(part: dict[str, Any]) -> bool:
    """Return whether a chart has an axis of time."""
    encoding = json.dumps(part.get("encoding", {}))
    return "temporal" in encoding


def kind_of(part: dict[str, Any]) -> object:
    """Return the kind of mark of a chart."""
    mark = part.get("mark")
    return mark.get("type") if isinstance(mark, dict) else mark
