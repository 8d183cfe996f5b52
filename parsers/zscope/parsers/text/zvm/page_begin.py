"""How the first line of a page of Performance Toolkit looks."""

from __future__ import annotations

import re

PAGE_BEGIN = re.compile(r"[01+-]? {0,8}FCX(?P<number>\d{3})(?![A-Z0-9_-])", re.ASCII | re.IGNORECASE)
"""The number of a report at the begin of a page."""
_MORE = re.compile(
    r" +Run +\d{4}|(?: .{0,60})? CPU +\S{1,12} +(?:SER|SN) +\S|(?: .{0,60})? Interval +\d\d:\d\d"
    r"| .{0,120}\bPerf\. Monitor\b",
    re.ASCII | re.IGNORECASE,
)
"""Only a heading has this after the number; texts about reports also begin lines with report numbers."""
STAMP = r"(?:(?P<day>\d{4}[/-]\d\d[/-]\d\d) +)?(?P<clock>\d\d:\d\d:\d\d)(?!\S)"
RUN = re.compile(rf" Run +{STAMP}(?: {{1,40}}(?P<title>[A-Z][A-Z0-9]{{0,7}})\b)?", re.ASCII | re.IGNORECASE)
"""The time at which a listing was printed; a screen has none."""


def begins_page(text: str) -> bool:
    """Return whether a page of a report begins with this line.

    >>> begins_page("1FCX112  Run 2026/03/02 14:20:11         USER")
    True
    >>> begins_page("FCX112 shows the CPU seconds of each virtual machine")
    False
    """
    match = PAGE_BEGIN.match(text)
    return match is not None and _MORE.match(text, match.end()) is not None
