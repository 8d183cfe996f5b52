"""Suggest known names for an unknown one."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def suggestion(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return a question with similar names, or `otherwise` if there are none.

    >>> suggestion("smf70_cpus", ["smf70_cpu"], "zscope fields lists all tables")
    'did you mean smf70_cpu?'
    >>> suggestion("SMF70_CPU", ["smf70_cpu", "smf70_cpus"], "zscope fields lists all tables")
    'did you mean smf70_cpu?'
    >>> suggestion("kangaroo", ["smf70_cpu"], "zscope fields lists all tables")
    'zscope fields lists all tables'
    """
    # SMF119_ZERT_DETAIL is no different name: z/OS writes names in upper case.
    lower = {each.lower(): each for each in known}
    same = lower.get(name.lower())
    near = [same] if same else [lower[each] for each in get_close_matches(name.lower(), lower, n=3)]
    return f"did you mean {' or '.join(near)}?" if near else otherwise
