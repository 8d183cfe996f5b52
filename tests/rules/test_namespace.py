"""Rules for source files: where they are, how they are named, and how they depend on each other."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "schemas": "schemas",
    "parsers": "parsers",
    "pipelines": "pipelines",
    "sample-data": "samples",
    "app": "app",
}
"""Source roots and the package in each."""
TOP_MODULES = {"app": {"api.py", "__main__.py", "py.typed"}}
"""Modules directly in the namespace: `zscope.api` and `python -m zscope`; `py.typed` is for them."""
MODULES = sorted(
    path.relative_to(CHECKOUT).as_posix()
    for root in PACKAGES
    for path in (CHECKOUT / root / "zscope").rglob("*.py")
)
# Python files outside the source roots are read by people too.
OTHERS = sorted(
    path.relative_to(CHECKOUT).as_posix()
    for folder in ("tests", "benchmarks", ".ci")
    for path in (CHECKOUT / folder).rglob("*.py")
)
MOST_FILES = 25
LARGE_FOLDERS = (
    "schemas/zscope/schemas/layouts",
    "schemas/zscope/schemas/codes",
    "schemas/zscope/schemas/reports",
    "schemas/zscope/schemas/reference",
    "app/zscope/app/cli/commands",
)
"""Folders with a file for each record type, code table, report, document or command."""


@pytest.mark.parametrize("root", PACKAGES)
def test_namespace_has_no_init(root: str) -> None:
    """With a `zscope/__init__.py` in one root, the packages of the other roots could not be imported."""
    assert not (CHECKOUT / root / "zscope" / "__init__.py").exists()


@pytest.mark.parametrize(("root", "package"), PACKAGES.items())
def test_root_contains_exactly_its_package(root: str, package: str) -> None:
    names = {path.name for path in (CHECKOUT / root / "zscope").iterdir() if path.name != "__pycache__"}
    assert names == {package} | TOP_MODULES.get(root, set())


@pytest.mark.parametrize(("root", "package"), PACKAGES.items())
def test_package_is_typed(root: str, package: str) -> None:
    """Without `py.typed` a type checker ignores the annotations of an installed zscope."""
    assert (CHECKOUT / root / "zscope" / package / "py.typed").is_file()


def test_packages_have_an_init() -> None:
    """Below the namespace every folder is a regular package: import-linter sees only those."""
    folders = {Path(module).parent for module in MODULES if module.count("/") > 2}
    assert [folder for folder in sorted(folders) if not (CHECKOUT / folder / "__init__.py").is_file()] == []


def test_modules_have_a_docstring() -> None:
    """One sentence that describes what the module is for."""
    assert [module for module in (*MODULES, *OTHERS) if not ast.get_docstring(_parsed(module))] == []


def test_modules_are_named_by_subject() -> None:
    general = {"utils", "util", "helpers", "misc", "common"}
    assert [module for module in (*MODULES, *OTHERS) if Path(module).stem in general] == []


def test_class_names_are_unique() -> None:
    """A name that occurs once can be searched for, and says in every import what it is."""
    modules = defaultdict(list)
    for module in MODULES:
        for node in ast.walk(_parsed(module)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(module)
    repeated = [f"{name}: {', '.join(where)}" for name, where in sorted(modules.items()) if len(where) > 1]
    assert not repeated, "rename these classes:\n" + "\n".join(repeated)


def test_there_is_no_import_cycle() -> None:
    """Imports for type checkers and inside functions count too: a cycle means two halves of one subject."""
    cycles = _cycles(_imports())
    assert not cycles, "these modules import each other:\n" + "\n".join(cycles)


def test_folders_are_small() -> None:
    """Data files outside the packages, and files next to tests that are no Python, are test data."""
    counts: Counter[tuple[str, str]] = Counter()
    for root in PACKAGES:
        for path in (CHECKOUT / root / "zscope").rglob("*.*"):
            kind = "SQL and TOML" if path.suffix in {".sql", ".toml"} else path.suffix
            counts[path.parent.relative_to(CHECKOUT).as_posix(), kind] += path.is_file()
    for module in OTHERS:
        counts[Path(module).parent.as_posix(), ".py"] += 1
    large = [
        f"{folder}: {count} files ({kind})"
        for (folder, kind), count in sorted(counts.items())
        if count > MOST_FILES and folder not in LARGE_FOLDERS and "__pycache__" not in folder
    ]
    assert not large, f"more than {MOST_FILES} files of a kind in a folder; sort them by subject:\n" + (
        "\n".join(large)
    )


@cache
def _parsed(module: str) -> ast.Module:
    return ast.parse((CHECKOUT / module).read_text(encoding="utf-8"))


def _imports() -> dict[str, set[str]]:
    """Return the modules that each module of zscope imports anywhere in its text."""
    names = {_dotted(module): module for module in MODULES}
    imported: dict[str, set[str]] = {}
    for name, module in names.items():
        targets: set[str] = set()
        for node in ast.walk(_parsed(module)):
            if isinstance(node, ast.Import):
                targets.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                inside = {f"{node.module}.{alias.name}" for alias in node.names}
                submodules = inside & names.keys()
                targets |= submodules
                if len(submodules) < len(inside):
                    targets.add(node.module)
        imported[name] = targets & names.keys() - {name}
    return imported


def _dotted(module: str) -> str:
    parts = Path(module).with_suffix("").parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _cycles(imported: dict[str, set[str]]) -> list[str]:
    """Describe one cycle for each group of modules that import each other."""
    cycles = []
    done: set[str] = set()
    for start in sorted(imported):
        if start in done:
            continue
        path = _path_back(start, imported)
        if path:
            cycles.append(" -> ".join(path))
            done.update(path)
    return cycles


def _path_back(start: str, imported: dict[str, set[str]]) -> list[str]:
    """Return the shortest way from a module along imports back to itself; empty if there is none."""
    ways = {target: [start, target] for target in sorted(imported[start])}
    waiting = list(ways)
    for name in waiting:
        if start in imported[name]:
            return [*ways[name], start]
        for target in sorted(imported[name] - ways.keys()):
            ways[target] = [*ways[name], target]
            waiting.append(target)
    return []
