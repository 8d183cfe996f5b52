"""Facts that stand in several files and have to agree; each message says how to repair the difference."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CHECKOUT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
MAKEFILE = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
LOCKS = ("bootstrap", "build", "container", "dashboard", "docs", "runtime", "test")


def _declared(lock: str) -> list[Requirement]:
    """What pyproject.toml asks for in the environment that ``requirements/<lock>.txt`` pins."""
    runtime = PROJECT["project"]["dependencies"]
    groups, extras = PROJECT["dependency-groups"], PROJECT["project"]["optional-dependencies"]
    lists: dict[str, list[str]] = {
        "bootstrap": groups["bootstrap"],
        "build": groups["build"],
        "container": runtime + extras["dashboard"] + extras["quality"] + extras["iceberg"] + extras["otlp"],
        "dashboard": runtime + extras["dashboard"],
        "docs": groups["docs"],
        "runtime": runtime,
        "test": runtime + groups["test"] + extras["dashboard"] + extras["quality"] + extras["otlp"],
    }
    return [Requirement(line) for line in lists[lock]]


def _pins(lock: str) -> dict[str, set[str]]:
    """Package name to pinned versions; one package may have several, for different Python versions."""
    pins: dict[str, set[str]] = {}
    text = (CHECKOUT / "requirements" / f"{lock}.txt").read_text(encoding="utf-8")
    for name, version in re.findall(r"^([a-z0-9-]+)==([^ ;\\\n]+)", text, re.MULTILINE):
        pins.setdefault(name, set()).add(version)
    return pins


def _files() -> list[Path]:
    """Every file that is, or is about to be, under version control."""
    if not (CHECKOUT / ".git").exists():
        pytest.skip("not a git checkout")
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=CHECKOUT,
        capture_output=True,
        check=True,
    )
    paths = (CHECKOUT / os.fsdecode(name) for name in listing.stdout.split(b"\0") if name)
    return [path for path in paths if path.is_file()]


def test_installed_version_is_the_declared_one() -> None:
    declared = PROJECT["project"]["version"]
    assert importlib.metadata.version("zscope") == declared, "the environment is old: make env"


def test_newest_release_in_the_change_log_is_the_declared_version() -> None:
    releases = re.findall(r"^## \[?(\d[^] ]*)", (CHECKOUT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert releases[:1] in ([], [PROJECT["project"]["version"]])


def test_oldest_python_is_the_same_everywhere() -> None:
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert PROJECT["tool"]["mypy"]["python_version"] == oldest
    assert f"sys.version_info < ({oldest.replace('.', ', ')})" in MAKEFILE
    assert f"--python-version {oldest}" in MAKEFILE
    named = [line.rsplit(" ", 1)[1] for line in PROJECT["project"]["classifiers"] if "Python :: 3." in line]
    assert named[0] == oldest


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_satisfies_the_declared_ranges(lock: str) -> None:
    pins = _pins(lock)
    for wanted in _declared(lock):
        versions = pins.get(canonicalize_name(wanted.name), set())
        assert versions, f"{wanted.name} is not in requirements/{lock}.txt: make lock"
        assert all(wanted.specifier.contains(version) for version in versions), f"{wanted}: make lock"


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_has_hashes_and_no_address(lock: str) -> None:
    text = (CHECKOUT / "requirements" / f"{lock}.txt").read_text(encoding="utf-8")
    entries = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert entries
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in text
    assert "index-url" not in text.split("\n", 1)[1]


def test_locks_agree_with_each_other() -> None:
    """What is tested is what gets installed, and both sets go into one environment."""
    test, build = _pins("test"), _pins("build")
    for lock in ("container", "dashboard", "runtime"):
        installed = _pins(lock)
        assert {name: test.get(name) for name in installed} == installed, "make lock"
    assert {name: test[name] for name in build if name in test} == {
        name: versions for name, versions in build.items() if name in test
    }, "make lock"


def test_locked_build_tools_are_the_declared_ones() -> None:
    assert PROJECT["dependency-groups"]["build"] == PROJECT["build-system"]["requires"]


def _is_local(host: str) -> bool:
    """Names and addresses of one's own machine are no secret and turn up in documentation."""
    return "." not in host or host.startswith("127.")


def test_no_file_names_a_package_index() -> None:
    """Which index somebody installs from is their business and may be confidential."""
    variables = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL")
    configured = " ".join(os.environ.get(name, "") for name in variables)
    hosts = {f"{name}.org" for name in ("pypi", "pythonhosted")}
    hosts |= {host for host in re.findall(r"://(?:[^/@\s]*@)?([\w.-]+)", configured) if not _is_local(host)}
    found = [
        f"{path.relative_to(CHECKOUT)}: {host}"
        for path in _files()
        for content in [path.read_bytes()]
        for host in hosts
        if host.encode() in content
    ]
    assert found == []


def test_every_folder_with_python_is_type_checked() -> None:
    folders = {path.relative_to(CHECKOUT).parts[0] for path in _files() if path.suffix == ".py"}
    assert folders == set(PROJECT["tool"]["mypy"]["files"]), "pyproject.toml, [tool.mypy] files"


def test_ci_can_be_started() -> None:
    assert os.access(CHECKOUT / ".ci" / "run", os.X_OK), "chmod +x .ci/run"


def test_every_target_explains_itself() -> None:
    [phony] = re.findall(r"^\.PHONY: ((?:.*\\\n)*.*)", MAKEFILE, re.MULTILINE)
    explained = re.findall(r"^([a-z-]+):.*## \S", MAKEFILE, re.MULTILINE)
    assert sorted(phony.replace("\\\n", " ").split()) == sorted(explained)


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_documents_name_existing_targets(document: str) -> None:
    """``make word`` in code, inline or at the start of a line in a block."""
    text = (CHECKOUT / document).read_text(encoding="utf-8")
    named = re.findall(r"(?:`|^|&& )\$? ?make ([a-z-]+)", text, re.MULTILINE)
    targets = re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE)
    assert named
    assert set(named) <= set(targets)
