"""Opening a store for reading: when its catalogue is used as it is."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest

from zscope.pipelines.store import catalogue_file, open_reader


@pytest.mark.parametrize(
    ("package", "file"),
    [
        ("zscope.schemas", "layouts/smf119_11.toml"),
        ("zscope.pipelines", "metrics/macros.sql"),
        ("zscope.pipelines", "quality/results.py"),
    ],
)
def test_every_declaration_is_in_the_digest(
    package: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(catalogue_file._folder_of(package), copy)
    folder_of = catalogue_file._folder_of
    monkeypatch.setattr(
        catalogue_file, "_folder_of", lambda name: str(copy) if name == package else folder_of(name)
    )
    digest = catalogue_file.digest_of_declarations.__wrapped__
    assert digest() == catalogue_file.digest_of_declarations()
    with (copy / file).open("a", encoding="utf-8") as changed:
        changed.write("\n")
    assert digest() != catalogue_file.digest_of_declarations()


def test_a_text_is_quoted_for_duckdb() -> None:
    text = 'it\'s \\ "here"\n; --'
    assert duckdb.execute(f"SELECT {catalogue_file.quoted(text)}").fetchone() == (text,)


def test_a_connection_uses_all_processors(sample_store: Path) -> None:
    """The file is attached with one thread."""
    setting = "SELECT current_setting('threads')"
    with open_reader(sample_store) as connection, duckdb.connect() as client:
        assert connection.execute(setting).fetchone() == client.execute(setting).fetchone()
