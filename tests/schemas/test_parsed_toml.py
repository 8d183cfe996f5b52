"""What TOML files contain is kept beside the compiled modules, and used only for exactly the same text."""

from __future__ import annotations

import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

from zscope.schemas import parsed_toml as module
from zscope.schemas.parsed_toml import parsed_toml

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "number = 1\nlist = ['a', 2.5, true]\n[inner]\ntext = 'b'\n"


@pytest.fixture(autouse=True)
def _written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were parsed."""
    texts: list[str] = []

    def loads(text: str) -> dict[str, object]:
        texts.append(text)
        return tomllib.loads(text)

    monkeypatch.setattr(module, "tomllib", type("Parser", (), {"loads": staticmethod(loads)}))
    return texts


def _kept(folder: Path) -> Path:
    [kept] = (folder / "__pycache__").iterdir()
    return kept


def test_same_text_is_parsed_once(tmp_path: Path, parsed: list[str]) -> None:
    contents = [parsed_toml(tmp_path / "a.toml", TEXT) for _ in range(3)]
    assert contents == [tomllib.loads(TEXT)] * 3
    assert parsed == [TEXT]


def test_other_text_is_parsed_again(tmp_path: Path, parsed: list[str]) -> None:
    parsed_toml(tmp_path / "a.toml", TEXT)
    other = TEXT.replace("1", "3")
    assert parsed_toml(tmp_path / "a.toml", other)["number"] == 3
    assert parsed_toml(tmp_path / "a.toml", other)["number"] == 3
    assert parsed == [TEXT, other]


def test_every_damage_of_what_is_kept_is_noticed(tmp_path: Path) -> None:
    parsed_toml(tmp_path / "a.toml", TEXT)
    kept = _kept(tmp_path)
    whole = kept.read_bytes()
    damaged = [whole[:at] for at in range(len(whole))]
    damaged += [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(len(whole))]
    for data in damaged:
        kept.write_bytes(data)
        assert parsed_toml(tmp_path / "a.toml", TEXT) == tomllib.loads(TEXT)


def test_nothing_is_kept_where_python_writes_no_compiled_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    parsed_toml(tmp_path / "a.toml", TEXT)
    assert list(tmp_path.iterdir()) == []


def test_folder_that_cannot_be_written_is_no_problem(tmp_path: Path) -> None:
    (tmp_path / "__pycache__").write_text("a file")
    assert parsed_toml(tmp_path / "a.toml", TEXT) == tomllib.loads(TEXT)


def test_dates_are_parsed_each_time(tmp_path: Path) -> None:
    text = "day = 2026-03-02\n"
    assert parsed_toml(tmp_path / "a.toml", text) == tomllib.loads(text)
    assert list(tmp_path.iterdir()) == []
