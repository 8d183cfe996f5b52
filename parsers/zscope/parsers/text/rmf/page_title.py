"""Titles of RMF pages: lines of spaced letters, also with a wrong, missing or extra character."""

from __future__ import annotations

import re
from functools import lru_cache

from zscope.parsers.text.spelling import edit_distance

CPU_TITLE, PARTITION_TITLE, CRYPTO_TITLE = "CPU ACTIVITY", "PARTITION DATA REPORT", "CRYPTO HARDWARE ACTIVITY"
WORKLOAD_TITLE = "WORKLOAD ACTIVITY"
TITLES_READ = (CPU_TITLE, PARTITION_TITLE, CRYPTO_TITLE, WORKLOAD_TITLE)

_SHORTEST_TITLE = 9
"""A shorter prefix of a known title is not accepted; screens cut titles at their width."""
_MOST_WRONG = 2
"""Characters in which a damaged title differs; the titles of any two reports differ in three or more."""
_MOST_WRONG_CUT = 1
_LONGEST_LINE = 300
_TITLE = re.compile(r"\s*([A-Z](?: {1,3}[A-Z])*)(?=\s|$)", re.ASCII)
_WHOLE_TITLE = re.compile(r" *[A-Z](?: {1,3}[A-Z]){6,80}(?: +PAGE +\d+)?$", re.ASCII)
_SHORT_WORDS = re.compile(r"(?<!\S)\S{1,3}(?: {1,7}\S{1,3}){5}(?!\S)")
"""Part of a title, which has words of one letter; damage can join two of them."""
_FEWEST_WORDS = 6
_GAP = re.compile(r" {8,}")
_PAGE_NUMBER = re.compile(r" +\S{3,6} +\d+$", re.ASCII)


@lru_cache(maxsize=64)
def title_of(text: str) -> str:
    """Return the title in a line of spaced letters.

    >>> title_of("          C P U  A C T I V I T Y")
    'CPU ACTIVITY'
    """
    match = _TITLE.match(text)
    words = re.split(r" {2,}", match[1]) if match else []
    title = " ".join("".join(word.split()) for word in words)
    known_titles = (
        known for known in TITLES_READ if known.startswith(title) and len(title) >= _SHORTEST_TITLE
    )
    return next(known_titles, title)


def title_end(text: str) -> int:
    """Return where the spaced letters of a title end."""
    match = _TITLE.match(text)
    return match.end() if match else 0


@lru_cache(maxsize=64)
def damaged_title(text: str) -> str | None:
    """Return the known title that a line nearly is; None if the line is a title, or far from any.

    >>> damaged_title("   C P U  A CXT I V I T Y")
    'CPU ACTIVITY'
    >>> damaged_title("   C P U  A C T I V I T Y") is None, damaged_title("  S C M   A C T I V I T Y") is None
    (True, True)
    """
    if len(text) > _LONGEST_LINE or len(text.split()) < _FEWEST_WORDS or not _SHORT_WORDS.search(text):
        return None
    if title_of(text) in TITLES_READ and _WHOLE_TITLE.match(text):
        return None
    for part in _GAP.split(text.strip()):
        letters = "".join(_PAGE_NUMBER.sub("", part).split())
        for title in TITLES_READ:
            if _nearly_is(letters, title.replace(" ", "")):
                return title
    return None


def _nearly_is(letters: str, title: str) -> bool:
    """Return whether the letters are the title or a cut title, except for a few characters."""
    if abs(len(letters) - len(title)) <= _MOST_WRONG and edit_distance(letters, title) <= _MOST_WRONG:
        return True
    lengths = range(max(_SHORTEST_TITLE, len(letters) - _MOST_WRONG_CUT), len(letters) + _MOST_WRONG_CUT + 1)
    return any(n < len(title) and edit_distance(letters, title[:n]) <= _MOST_WRONG_CUT for n in lengths)
