"""The Python examples of docs/scale.md about Iceberg tables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.pipelines.iceberg import reading
from tests.pipelines.iceberg.scenes import DETAIL, add_load

from zscope.pipelines.iceberg.publish import publish_iceberg

if TYPE_CHECKING:
    import pytest

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "scale.md"


def test_the_examples_read_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_load(tmp_path / "zscope-store")
    publish_iceberg(tmp_path / "zscope-store")
    monkeypatch.chdir(tmp_path)
    section = DOCUMENT.read_text(encoding="utf-8").partition("\n## Iceberg tables\n")[2].partition("\n## ")[0]
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL):
        exec(block, names)
    assert names["names"] == reading.tables_in(tmp_path / "zscope-store-iceberg")
    rows, ciphers = names["rows"], names["ciphers"]
    assert rows.num_rows > 0  # type: ignore[attr-defined] # an Arrow table
    whole = reading.in_store(tmp_path / "zscope-store")[DETAIL][0]
    assert ciphers["len"].sum() == whole  # type: ignore[index] # a frame
