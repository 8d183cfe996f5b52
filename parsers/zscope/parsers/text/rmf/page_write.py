"""Write the pages of RMF listings: page heading, blocks of labels, tables that continue on further pages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any

Row = Mapping[str, Any]
"""Values by column as in the tables; None and missing values are printed as no value."""

RELEASES = ("V1R13", "V2R1", "V2R2", "V2R3", "V2R4", "V2R5", "V3R1")
NEWEST = RELEASES[-1]
_LONGEST_IN_MINUTES_MS = 100 * 60_000


@dataclass(frozen=True, slots=True)
class RmfPrintForm:
    """How a listing is printed; what depends on the release follows from the level in the row."""

    multithreading: bool = False
    """Print the columns that multithreading adds to each processor."""
    page_lines: int = 60
    repeated_headings: bool = True
    """Print column headings on each page of a table, not only on its first."""
    page_numbers: bool = True
    start_and_end: bool = False
    """Print START and END, as for durations, instead of DATE and TIME."""
    midnight_as_24: bool = False
    """Print an end at midnight as 24.00.00, not as 00.00.00 of the next day."""
    further_left: int = 0
    """How many columns further left than usual the heading is."""
    boost_first: bool = False
    """Print the column BT before the status of a partition, not after it."""


def knows_boost(interval: Row) -> bool:
    """Return whether the release of the report prints boosts."""
    version = re.fullmatch(r"V(\d+)R(\d+)", interval.get("report_level") or NEWEST)
    return version is None or (int(version[1]), int(version[2])) >= (2, 4)


def page_heading(title: str, interval: Row, form: RmfPrintForm, page: int) -> list[str]:
    """Return the lines at the top of a page: title, page number, two lines of heading."""
    start: datetime = interval["interval_start_local"]
    end: datetime | None = interval.get("interval_end_local")
    level = interval.get("report_level") or NEWEST
    cycle = interval.get("cycle_length_ms")
    if form.start_and_end and end:
        times = f"START {_moment(start)}", f"END   {_moment(end, as_24=form.midnight_as_24)}"
    else:
        times = f"DATE {start:%m/%d/%Y}", f"TIME {start:%H.%M.%S}"
    length = interval.get("interval_ms")
    first = {
        13: f"z/OS {interval.get('zos_level') or level}",
        38: f"SYSPLEX {interval['sysplex']}"
        if interval.get("sysplex")
        else f"SYSTEM ID {interval['system']}",
        65: times[0],
        92: "" if length is None else f"INTERVAL {_length(length)}",
    }
    second = {
        # The heading of a report about a sysplex that has a single system; its place is ours.
        13: f"SYSTEM ID {interval['system']}" if interval.get("sysplex") and interval.get("system") else "",
        38: f"RPT VERSION {level} RMF",
        65: times[1],
        92: "" if cycle is None else f"CYCLE {cycle / 1000:.3f} SECONDS",
    }
    number = f"PAGE{page:>5}".rjust(131) if form.page_numbers else ""
    lines = (place_texts(line)[form.further_left :] for line in (first, second))
    return [_spaced(title).center(132).rstrip(), number, *lines]


def paged(
    title: str,
    interval: Row,
    form: RmfPrintForm,
    page: int,
    block: Sequence[str],
    table: Sequence[Sequence[str]],
) -> list[list[str]]:
    """Return the pages of a report: a block of lines, then a table that continues on further pages.

    `table` has the column headings first, then the rows, each with its lines.
    """
    headings, *rows = table
    pages = [[*page_heading(title, interval, form, page), *block, *headings]]
    for row in rows:
        if len(pages[-1]) + len(row) > form.page_lines:
            again = headings if form.repeated_headings else ()
            pages.append([*page_heading(title, interval, form, page + len(pages)), *again])
        pages[-1].extend(row)
    return pages


def place_texts(texts: Mapping[int, str]) -> str:
    """Return a line with texts at these columns, from 1.

    >>> place_texts({3: "A", 6: "B"})
    '  A  B'
    """
    line = ""
    for column, text in sorted(texts.items()):
        if text:
            line = f"{line.ljust(column - 1)}{text}"
    return line


def right_aligned(texts: Mapping[int, str]) -> dict[int, str]:
    """Return the first columns of texts that end at these columns."""
    return {end - len(text) + 1: text for end, text in texts.items() if text}


def _spaced(title: str) -> str:
    """Return a title with a blank between its letters.

    >>> _spaced("CPU ACTIVITY")
    'C P U  A C T I V I T Y'
    """
    return "  ".join(" ".join(word) for word in title.split())


def _moment(when: datetime, *, as_24: bool = False) -> str:
    if as_24 and when.time() == time.min:
        return f"{when - timedelta(days=1):%m/%d/%Y}-24.00.00"
    return f"{when:%m/%d/%Y-%H.%M.%S}"


def _length(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    if milliseconds < _LONGEST_IN_MINUTES_MS:
        return f"{minutes:02}.{seconds:02}.{rest:03}"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}.{minutes:02}.{seconds:02}"
