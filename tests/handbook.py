"""Parts of the handbook: the text below a heading of a page, and the blocks of code in it."""

from __future__ import annotations

import re
from pathlib import Path

HANDBOOK = Path(__file__).resolve().parents[1] / "docs"
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def section(page: str, heading: str) -> str:
    """Return the text of a page below a heading, with the headings below it.

    >>> section("start.md", "Upgrade").splitlines()[0][:8]
    'Releases'
    """
    text = (HANDBOOK / page).read_text(encoding="utf-8")
    # Lines that begin with # in blocks of code are no headings.
    hidden = _FENCED.sub(lambda block: re.sub("[^\n]", " ", block[0]), text)
    [begin] = re.finditer(rf"^(#+) {re.escape(heading)}\n", hidden, re.MULTILINE)
    end = re.compile(rf"^#{{1,{len(begin[1])}}} ", re.MULTILINE).search(hidden, begin.end())
    return text[begin.end() : end.start() if end else None].strip() + "\n"


def blocks(text: str, language: str) -> list[str]:
    """Return the blocks of code in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
