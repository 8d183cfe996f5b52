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
    >>> suggestion("kangaroo", ["smf70_cpu"], "zscope fields lists all tables")
    'zscope fields lists all tables'
    """
    near = get_close_matches(name, list(known), n=3)
    return f"did you mean {' or '.join(near)}?" if near else otherwise
