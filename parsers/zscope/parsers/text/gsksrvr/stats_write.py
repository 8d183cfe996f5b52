"""Writes cache statistics as GSKSRVR shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from zscope.parsers.text.gsksrvr.heading import Cache, Display
from zscope.parsers.text.gsksrvr.heading_write import heading_lines
from zscope.parsers.text.gsksrvr.stats_lines import BLOCKS, USUAL_WIDTH
from zscope.parsers.text.gsksrvr.stats_places import HEADER, Place, places_of

_SECTION_END = " "
_VALUE_COLUMN = 21
_NEW_SECTION = "cache_size_mb"
"""The header has two parts; this one begins the second."""


def stats_lines(
    rows: Sequence[Mapping[str, Any]], *, split_heading: bool = True, reset: bool = False
) -> list[str]:
    """A display for each row, one after another; what is None is left out.

    `reset` writes the reply to RESET STATS, which shows the counters once more.
    """
    return [line for row in rows for line in _display(row, split_heading, reset)]


def _display(row: Mapping[str, Any], split_heading: bool, reset: bool) -> Iterator[str]:
    cache = Cache(row["cache"])
    yield from heading_lines(cache, Display.STATISTICS, split=split_heading, reset=reset)
    yield _SECTION_END
    for place in places_of(cache).places(HEADER):
        if place.column == _NEW_SECTION:
            yield _SECTION_END
        if (value := row.get(place.column)) is not None:
            yield f"{place.label + ':':<{_VALUE_COLUMN}}{_header_value(place, value, row.get('time_zone'))}"
    for block in BLOCKS:
        counters = [line for place in places_of(cache).places(block) if (line := _counter(place, row))]
        if counters:
            yield _SECTION_END
            yield f"{block}{'Count':>{USUAL_WIDTH - len(block)}}"
            yield f"{'-' * len(block)}{'-----':>{USUAL_WIDTH - len(block)}}"
            yield from counters


def _header_value(place: Place, value: object, zone: str | None) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y/%m/%d %H:%M:%S} {zone or ''}".rstrip()
    return f"{value}M" if place.column.endswith("_mb") else str(value)


def _counter(place: Place, row: Mapping[str, Any]) -> str:
    value = row.get(place.column)
    percentage = place.column.endswith("_pct")
    if percentage and value is None and row.get(place.column.replace("success_pct", "requested")) == 0:
        value = 0.0  # a share of nothing; readers must not take it
    if value is None:
        return ""
    label = f"{place.label}:"
    number = f"{value:.3f}%" if percentage else str(value)
    return f"{label}{number:>{USUAL_WIDTH - len(label)}}"
