"""Writes cache status as GSKSRVR shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zscope.parsers.text.gsksrvr.heading import Cache, Display
from zscope.parsers.text.gsksrvr.heading_write import heading_lines
from zscope.parsers.text.gsksrvr.status import DATA_SPACE


def status_lines(
    rows: Sequence[Mapping[str, Any]], *, sizes: bool = True, split_heading: bool = True
) -> list[str]:
    """The display of one cache; `sizes` is false for the form before z/OS 3.1.

    >>> status_lines([{"cache": "ticket", "row_kind": "data-space", "used_mb": 3, "maximum_mb": 20}])[-1]
    '*DSPACE*           3/20                   N/A'
    """
    cache = Cache(rows[0]["cache"])
    heading = heading_lines(cache, Display.STATUS, split=split_heading)
    return [*heading, _line("User", "Count", "Max size", sizes), *(_row(row, sizes) for row in rows)]


def _row(row: Mapping[str, Any], sizes: bool) -> str:
    if row["row_kind"] == "data-space":
        return _line(DATA_SPACE, f"{row['used_mb']}/{row['maximum_mb']}", "N/A", sizes)
    return _line(row["user_id"], row["entry_count"], row.get("max_entry_bytes"), sizes)


def _line(user: str, count: object, size: object, sizes: bool) -> str:
    line = f"{user:<8}{_shown(count):>15}"
    return f"{line}{_shown(size):>22}" if sizes else line


def _shown(value: object) -> str:
    return "N/A" if value is None else str(value)
