"""Parts of documents that programs write, between two marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_between(document: Path, begin: str, end: str, text: str) -> None:
    """Replace the text between two marks of a document."""
    before, _, rest = document.read_text(encoding="utf-8").partition(begin)
    _, mark, after = rest.partition(end)
    if not mark:
        raise ValueError(f"{document}: a mark is missing: {begin.strip()}, {end.strip()}")
    document.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
