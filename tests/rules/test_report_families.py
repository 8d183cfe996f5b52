"""A family of reports is one folder: it knows no other one, and the modules beside the folders know none."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TEXT = Path(__file__).resolve().parents[2] / "parsers" / "zscope" / "parsers" / "text"
PACKAGE = "zscope.parsers.text"
FOLDERS = sorted(path.parent.name for path in TEXT.glob("*/__init__.py"))


def imported(path: Path) -> set[str]:
    """Return the modules that a file imports at any place."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return modules


def folders_in(modules: set[str]) -> set[str]:
    """Return the folders of families with one of these modules."""
    return {name for name in FOLDERS for module in modules if f"{module}.".startswith(f"{PACKAGE}.{name}.")}


@pytest.mark.parametrize("path", sorted(TEXT.glob("*.py")), ids=lambda path: path.stem)
def test_the_modules_around_the_families_import_none(path: Path) -> None:
    assert folders_in(imported(path)) == set()


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_family_imports_another(folder: str) -> None:
    modules = set().union(*(imported(path) for path in (TEXT / folder).rglob("*.py")))
    assert folders_in(modules) == {folder}


def test_each_folder_declares_its_families() -> None:
    assert len(FOLDERS) >= 7
    assert [name for name in FOLDERS if not (TEXT / name / f"{name}_family.py").is_file()] == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_declaration_imports_no_grammar_before_a_report_is_read(folder: str) -> None:
    tree = ast.parse((TEXT / folder / f"{folder}_family.py").read_text(encoding="utf-8"))
    at_import = [node.module for node in tree.body if isinstance(node, ast.ImportFrom) and node.module]
    allowed = {
        "attls": {"message_lines"},
        "netstat": {"plain_rows"},
        "rmf": {"page_title"},
        "zvm": {"page_begin"},
    }.get(folder, set())
    inside = {module.rpartition(".")[2] for module in at_import if module.startswith(f"{PACKAGE}.{folder}.")}
    assert inside <= allowed
