"""The columns of the Partition Data report, and which of them its rows have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from zscope.parsers.text.rmf.cells import (
    COUNT,
    CPU_COUNT,
    CPU_TYPE,
    HUNDREDTHS,
    SPAN,
    TENTHS,
    Cell,
    Column,
    HeadingUnreadable,
    Layout,
    Place,
    Shape,
    layout_of,
)
from zscope.parsers.text.rmf.figures import Kind

DEDICATED = "DED"
_LETTER = Shape(re.compile(r"[A-Z]", re.ASCII))
_WEIGHT = Shape(re.compile(rf"\d{{1,5}}|{DEDICATED}|-+", re.ASCII))
_CAPPING = Shape(re.compile(r"[YN] [YN] [YN]|YES|NO|-+", re.ASCII))
COLUMNS = (
    Column("partition_name", "NAME", COUNT),
    Column("partition_status", "S", _LETTER),
    Column("weight", "WGT", _WEIGHT),
    Column("defined_capacity_msu", "DEF", COUNT),
    Column("actual_msu_per_hour", "ACT", COUNT),
    Column("capping", "DEF", _CAPPING, 2),
    Column("wlm_capping_pct", "WLM%", TENTHS),
    Column("logical_cpus", "NUM", CPU_COUNT, -1),
    Column("cpu_type_name", "TYPE", CPU_TYPE, -1),
    Column("effective_ms", "EFFECTIVE", SPAN, 2),
    Column("dispatch_ms", "TOTAL", SPAN, 4),
    Column("logical_effective_pct", "EFFECTIVE", HUNDREDTHS),
    Column("logical_total_pct", "TOTAL", HUNDREDTHS),
    Column("physical_management_pct", "LPAR MGMT", HUNDREDTHS),
    Column("physical_effective_pct", "EFFECTIVE", HUNDREDTHS),
    Column("physical_total_pct", "TOTAL", HUNDREDTHS),
)
_BOOST = "BT"
"""Stands somewhere between the others and is empty in most rows."""

_CAPACITY = ("defined_capacity_msu", "actual_msu_per_hour")
_FIGURES = frozenset(column.name for column in COLUMNS[2:])
_SPANS = frozenset({"effective_ms", "dispatch_ms"})
_PHYSICAL_PCT = frozenset({"physical_management_pct", "physical_effective_pct", "physical_total_pct"})
_OF_MACHINE = frozenset({"dispatch_ms", "physical_management_pct", "physical_total_pct"})

PARTITION = Kind(_FIGURES - {"weight", *_CAPACITY, "capping", "wlm_capping_pct"}, _FIGURES, (_CAPACITY,))
DEACTIVATED = Kind(frozenset(), _FIGURES)
PHYSICAL = Kind(_OF_MACHINE, _OF_MACHINE | _SPANS | _PHYSICAL_PCT)
TOTAL = Kind(_SPANS | _PHYSICAL_PCT, _SPANS | _PHYSICAL_PCT | {"weight"})


@dataclass(frozen=True, slots=True)
class PartitionLayout:
    """The columns as a report has them."""

    name: Place
    status: Place
    boost: Place | None
    figures: Layout
    """The columns right of the status."""


@lru_cache(maxsize=64)
def partition_layout(text: str) -> PartitionLayout:
    """The columns by their heading line; raises HeadingUnreadable."""
    layout = layout_of(text, COLUMNS)
    name, status = layout.place("partition_name"), layout.place("partition_status")
    boost = next((place for place in layout.places if place.heading == _BOOST), None)
    figures = tuple(place for place in layout.places if place not in {name, status, boost})
    if name is None or status is None or not figures:
        raise HeadingUnreadable(text.strip())
    return PartitionLayout(name, status, boost, Layout(figures, layout.missing))


def spans_among(cells: Iterable[Cell]) -> list[Cell]:
    """The dispatch times: no other cell looks like them."""
    return [cell for cell in cells if SPAN.usual.fullmatch(cell.text)]


def is_letter(cell: Cell) -> bool:
    """Whether the cell may be a status."""
    return _LETTER.usual.fullmatch(cell.text) is not None
