"""Channels of charts are objects: for each one that is a text, Altair takes several milliseconds."""

from __future__ import annotations

import re
from pathlib import Path

PAGES = Path(__file__).resolve().parents[2] / "app" / "zscope" / "app" / "dashboard"
AS_TEXT = re.compile(r"""(?<![\w.])["']?(?:x|y|x2|y2|detail|text)["']?\s*[=:]\s*f?["'][^"'\n]*:[QNTO]["']""")


def test_no_channel_is_a_text() -> None:
    paths = sorted(PAGES.rglob("*.py"))
    assert paths
    found = [
        f"{path.name}: {line.strip()}"
        for path in paths
        for line in path.read_text(encoding="utf-8").splitlines()
        if AS_TEXT.search(line)
    ]
    assert found == []
