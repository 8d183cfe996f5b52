"""Rules for source files: where they are, how they are named, and how they depend on each other."""

from __future__ import annotations

import runpy
from collections import Counter
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
STRUCTURE = runpy.run_path(str(CHECKOUT / "benchmarks" / "structure.py"))
"""The functions of `make structure`."""
_KNOWN: dict[str, Path] = STRUCTURE["modules"](CHECKOUT)
MOST_FILES = STRUCTURE["LARGE_FOLDER"]
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


def test_modules_are_named_by_subject() -> None:
    general = {"utils", "util", "helpers", "misc", "common"}
    assert [module for module in (*MODULES, *OTHERS) if Path(module).stem in general] == []


def test_class_names_are_unique() -> None:
    """A name that occurs once can be searched for, and says in every import what it is."""
    repeated = STRUCTURE["class_names"](_KNOWN)
    assert not repeated, "rename these classes:\n" + "\n".join(
        f"{name}: {', '.join(where)}" for name, where in repeated.items()
    )


def test_there_is_no_import_cycle() -> None:
    """Imports for type checkers and inside functions count too: a cycle means two halves of one subject."""
    imported = {name: STRUCTURE["imports"](name, path, _KNOWN) for name, path in _KNOWN.items()}
    cycles = STRUCTURE["cycles"](imported)
    assert not cycles, "these modules import each other:\n" + "\n".join(map(", ".join, cycles))


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
