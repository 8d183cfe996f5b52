"""The prepared catalogue of an empty store: when it is used, built again, written and deleted."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from zscope.pipelines.store import empty_catalogue as module
from zscope.pipelines.store.empty_catalogue import prepared

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = b"a catalogue"


def build() -> bytes:
    """Stand for the building of a catalogue."""
    return CONTENT


def must_not_build() -> bytes:
    """Fail where a prepared catalogue must be used."""
    raise AssertionError("the catalogue was built again")


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use another folder for compiled modules, and allow writing them."""
    folder = tmp_path / "compiled"
    monkeypatch.setattr(sys, "pycache_prefix", str(folder))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return folder


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_catalogue_is_built_once(compiled: Path) -> None:
    assert prepared(build) == CONTENT
    assert files(compiled) == [module._path()]
    assert prepared(must_not_build) == CONTENT


@pytest.mark.parametrize("damage", [b"", b"a catalogue", b"short", b"b" * 40])
@pytest.mark.usefixtures("compiled")
def test_a_damaged_file_is_built_again(damage: bytes) -> None:
    module._path().parent.mkdir(parents=True)
    module._path().write_bytes(damage)
    assert prepared(build) == CONTENT
    assert prepared(must_not_build) == CONTENT


def test_another_version_of_the_declarations_has_another_file(
    compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(build)
    monkeypatch.setattr(module, "digest_of_declarations", lambda: "of other declarations")
    assert prepared(lambda: b"another") == b"another"
    assert files(compiled) == [module._path()], "the file of the former version is deleted"


def test_nothing_is_written_if_python_writes_no_compiled_modules(
    compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert prepared(build) == CONTENT
    assert files(compiled) == []


def test_a_folder_that_cannot_be_written_to_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "file"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert prepared(build) == CONTENT


def test_the_compiled_module_is_not_deleted(compiled: Path) -> None:
    module_file = module._path().with_name(f"prepared.{sys.implementation.cache_tag}.pyc")
    module_file.parent.mkdir(parents=True)
    module_file.write_bytes(b"compiled")
    prepared(build)
    assert module_file in files(compiled)
