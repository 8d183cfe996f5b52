"""HTML by which results are shown in notebooks; all texts from data are escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an HTML table; the texts of cells are escaped.

    >>> html_table(["job_name"], [["<b>"]])
    '<table><tr><th>job_name</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """
    lines = [("th", header), *(("td", row) for row in rows)]
    cells = ("".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts) for tag, texts in lines)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
