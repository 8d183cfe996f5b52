"""The page that follows the data through the pipelines names every module that they pass, and no other."""

from __future__ import annotations

import re
from pathlib import Path

PIPELINES = Path(__file__).resolve().parents[2] / "pipelines"
MODULES = PIPELINES / "zscope" / "pipelines"


def named() -> set[str]:
    text = (PIPELINES / "README.md").read_text(encoding="utf-8")
    return {name for name in re.findall(r"`([^`]+)`", text) if "/" in name or name.endswith(".py")}


def test_every_named_module_and_folder_exists() -> None:
    others = {"parsers/", "zscope/pipelines/"}
    assert not [name for name in named() - others if not (MODULES / name).exists()]


def test_every_module_of_a_load_and_of_the_store_is_named() -> None:
    passed = {
        f"{folder}/{path.name}"
        for folder in ("ingest", "store")
        for path in (MODULES / folder).glob("*.py")
        if path.name != "__init__.py"
    }
    assert not passed - named()
