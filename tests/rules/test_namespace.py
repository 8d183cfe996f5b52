"""House rules for source files: where they lie, how they are named, how they begin, how long they get."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
ROOTS = ("schemas", "parsers", "pipelines", "app")
MODULES = sorted(
    path.relative_to(CHECKOUT).as_posix() for root in ROOTS for path in (CHECKOUT / root).rglob("*.py")
)
# Python files outside the source roots are read by people too.
OTHERS = sorted(
    path.relative_to(CHECKOUT).as_posix()
    for folder in ("tests", "benchmarks", ".ci")
    for path in (CHECKOUT / folder).rglob("*.py")
)
MOST_LINES = 300


@pytest.mark.parametrize("root", ROOTS)
def test_namespace_has_no_init(root: str) -> None:
    """With a ``zscope/__init__.py`` in one root, the packages of the other three could not be imported."""
    assert not (CHECKOUT / root / "zscope" / "__init__.py").exists()


@pytest.mark.parametrize("root", ROOTS)
def test_root_holds_exactly_its_package(root: str) -> None:
    inside = {path.name for path in (CHECKOUT / root / "zscope").iterdir() if path.name != "__pycache__"}
    assert inside == {root}


@pytest.mark.parametrize("root", ROOTS)
def test_package_is_typed(root: str) -> None:
    """Without ``py.typed`` a type checker ignores the annotations of an installed zscope."""
    assert (CHECKOUT / root / "zscope" / root / "py.typed").is_file()


@pytest.mark.parametrize("module", [module for module in MODULES if "/zscope/" in module])
def test_package_has_an_init(module: str) -> None:
    """Below the namespace every folder is a regular package: import-linter sees only those."""
    folder = Path(module).parent
    assert (CHECKOUT / folder / "__init__.py").is_file(), f"add {folder}/__init__.py"


@pytest.mark.parametrize("module", [*MODULES, *OTHERS])
def test_module_has_a_docstring(module: str) -> None:
    source = (CHECKOUT / module).read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(source)), f"{module}: say in one sentence what this module is for"


@pytest.mark.parametrize("module", MODULES)
def test_module_is_short(module: str) -> None:
    lines = len((CHECKOUT / module).read_text(encoding="utf-8").splitlines())
    assert lines <= MOST_LINES, f"{module} has {lines} lines: split it by subject"


@pytest.mark.parametrize("module", [*MODULES, *OTHERS])
def test_module_is_named_by_subject(module: str) -> None:
    assert Path(module).stem not in {"utils", "util", "helpers", "misc", "common"}
