"""The Python examples of the handbook about Iceberg tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.handbook import blocks, section
from tests.pipelines.iceberg import reading
from tests.pipelines.iceberg.scenes import DETAIL, add_load

from zscope.pipelines.iceberg.publish import publish_iceberg

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_examples_read_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_load(tmp_path / "zscope-store")
    publish_iceberg(tmp_path / "zscope-store")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks(section("engines.md", "Iceberg tables"), "python"):
        exec(block, names)
    assert names["names"] == reading.tables_in(tmp_path / "zscope-store-iceberg")
    rows, ciphers = names["rows"], names["ciphers"]
    assert rows.num_rows > 0  # type: ignore[attr-defined] # an Arrow table
    whole = reading.in_store(tmp_path / "zscope-store")[DETAIL][0]
    assert ciphers["len"].sum() == whole  # type: ignore[index] # a frame
