"""The guide, the reference and the notebook of the Python interface work as written."""

from __future__ import annotations

import ast
import doctest
import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.app.python.conftest import ROOT

import zscope.api as zs
from zscope.app.python_reference import python_reference

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

GUIDE = ROOT / "docs" / "sql.md"
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.deep
def test_every_example_of_the_guide(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(checkout)
    result = doctest.testfile(str(GUIDE), module_relative=False)
    assert result.attempted >= 20
    assert result.failed == 0


def test_the_examples_of_ranges(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(checkout)
    result = doctest.testfile(str(ROOT / "docs" / "engines.md"), module_relative=False)
    assert result.attempted >= 10
    assert result.failed == 0


def test_the_reference_has_every_public_name() -> None:
    text = python_reference()
    missing = [name for name in zs.__all__ if not name.startswith("__") and f"\n### {name}\n" not in text]
    assert missing == []


@pytest.mark.deep
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_of_a_notebook(
    notebook: Path, demo: tuple[Path, Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(demo[0], tmp_path / "zscope-demo-store")
    monkeypatch.chdir(tmp_path)
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    names: dict[str, object] = {}
    shown = []
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [], "a notebook is stored without outputs"
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(notebook), "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(repr(eval(compile(ast.Expression(last.value), str(notebook), "eval"), names)))
    assert len(shown) >= 4
    assert all(shown)


def test_the_program_starts_as_a_module() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "ZSCOPE_STORE"}
    done = subprocess.run(
        [sys.executable, "-m", "zscope", "--version"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert zs.__version__ in done.stdout
