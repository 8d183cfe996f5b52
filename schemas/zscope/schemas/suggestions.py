"""Suggest known names for an unknown one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def suggestion(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return a question with similar names, or `otherwise` if there are none.

    >>> suggestion("smf70_cpus", ["smf70_cpu"], "zscope fields lists all tables")
    'did you mean smf70_cpu?'
    >>> suggestion("SMF70_CPU", ["smf70_cpu", "smf70_cpus"], "zscope fields lists all tables")
    'did you mean smf70_cpu?'
    >>> suggestion("smf70_cpi", ["smf70_cpu", "smf70_cca", "smf70_cpus"], "")
    'did you mean smf70_cpu, smf70_cpus or smf70_cca?'
    >>> suggestion("kangaroo", ["smf70_cpu"], "zscope fields lists all tables")
    'zscope fields lists all tables'
    """
    from difflib import get_close_matches  # only messages need it

    # SMF119_ZERT_DETAIL is no different name: z/OS writes names in upper case.
    lower = {each.lower(): each for each in known}
    same = lower.get(name.lower())
    near = [same] if same else [lower[each] for each in get_close_matches(name.lower(), lower, n=3)]
    if not near:
        return otherwise
    *others, last = near
    return f"did you mean {', '.join(others)}{' or ' if others else ''}{last}?"


def with_suggestion(message: str, name: str, known: Iterable[str]) -> str:
    """Return a message that already has all known names, and similar ones after it if there are any.

    >>> with_suggestion("no column 'prt'; there is: port, job", "prt", ["port", "job"])
    "no column 'prt'; there is: port, job; did you mean port?"
    """
    hint = suggestion(name, known, "")
    return f"{message}; {hint}" if hint else message
