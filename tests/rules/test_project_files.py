"""What users and contributors see first: workflow, forms, container, addresses, extras."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from zscope.app.docs import files

ROOT = Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
WORKFLOW: dict[str, Any] = yaml.safe_load((GITHUB / "workflows" / "ci.yml").read_text("utf-8"))
CONTAINERFILE = (ROOT / "Containerfile").read_text("utf-8")
FORMS = sorted(path.name for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
MOST_LINES = 4_200
"""Lines that people write below `docs/`: pages, notebook, list of pictures, units; not what is rendered."""
PAGES_WITH_VERSION = ("README.md", "docs/index.md", "docs/start.md")


def made(text: str) -> set[str]:
    """Return the targets of make that a script calls."""
    calls = re.findall(r"^\s*(?:\w+=\S+ )*make (?:-C \S+ )?([a-z-]+)", text, re.MULTILINE)
    return set(calls)


def steps() -> list[dict[str, Any]]:
    return [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]


def test_the_workflow_runs_existing_targets_with_the_python_of_its_machine() -> None:
    runs = [step["run"] for step in steps() if "run" in step]
    targets = set().union(*map(made, runs))
    assert targets <= TARGETS
    assert all("PYTHON=python" in run for run in runs if run.startswith("make "))


def test_the_workflow_runs_what_ci_runs() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    workflow = "\n".join(step.get("run", "") for step in steps())
    assert "test-all" in made(script)
    of_all = {"test", "test-deep"}  # machines run these two side by side
    assert of_all | made(script) - {"test-all", "pytest"} <= made(workflow)


def test_the_workflow_tests_every_python_of_the_classifiers() -> None:
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert WORKFLOW["jobs"]["test"]["strategy"]["matrix"]["python"] == named


def test_the_workflow_uses_actions_of_a_commit() -> None:
    used = [step["uses"] for step in steps() if "uses" in step]
    assert used
    assert [each for each in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", each)] == []


def test_the_workflow_may_only_read() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("form", FORMS)
def test_form_is_complete(form: str) -> None:
    content = yaml.safe_load((GITHUB / "ISSUE_TEMPLATE" / form).read_text("utf-8"))
    fields = [entry for entry in content["body"] if entry["type"] != "markdown"]
    assert all((content["name"], content["description"], fields))
    assert {entry["type"] for entry in fields} <= {"input", "textarea", "dropdown", "checkboxes"}
    ids = [entry["id"] for entry in fields]
    assert len(ids) == len(set(ids))
    assert all(entry["attributes"]["label"] for entry in fields)
    assert any(entry.get("validations", {}).get("required") for entry in fields)


def test_the_forms_ask_for_the_output_of_zscope() -> None:
    assert FORMS == ["bug.yml", "format.yml", "question.yml"]
    texts = "".join((GITHUB / "ISSUE_TEMPLATE" / form).read_text("utf-8") for form in FORMS)
    assert "zscope issues" in texts
    assert "zscope inventory" in texts


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Containerfile, continued lines joined, without comments."""
    lines = "".join(line for line in CONTAINERFILE.splitlines(keepends=True) if not line.startswith("#"))
    joined = re.sub(r"\\\n\s*", "", lines)
    return [(name, rest) for line in joined.splitlines() if line for name, _, rest in [line.partition(" ")]]


def test_the_image_has_a_user_without_rights() -> None:
    users = [rest for name, rest in instructions() if name == "USER"]
    assert users
    assert all(user.partition(":")[0] not in {"0", "root"} for user in users)
    order = [name for name, _ in instructions()]
    assert order.index("USER") > order.index("RUN"), "the packages belong to root"
    assert ("VOLUME", "/data") in instructions()


def test_the_image_is_installed_from_a_lock() -> None:
    [run] = [rest for name, rest in instructions() if name == "RUN"]
    installs = re.findall(r"pip install (.*?)(?= &&|$)", run)
    assert len(installs) == 2
    assert "--require-hashes" in installs[0]
    assert "--no-deps" in installs[1]
    [copied] = [rest.split()[:-1] for name, rest in instructions() if name == "COPY"]
    sent = (ROOT / ".containerignore").read_text("utf-8").splitlines()
    assert [f"!{source}" for source in copied] == [line for line in sent if line.startswith("!")]
    lock = next(source for source in copied if source.startswith("requirements/"))
    names = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / lock).read_text("utf-8"), re.MULTILINE))
    assert {"duckdb", "streamlit", "great-expectations", "pyiceberg"} <= names
    assert "pytest" not in names


def test_extras_are_for_users_and_are_described() -> None:
    extras = set(PROJECT["project"]["optional-dependencies"])
    table = (ROOT / "docs" / "start.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| \+?([\d,]+) \| \+?\d+ \|$", table, re.MULTILINE))
    assert set(rows) == extras
    assert all(int(size.replace(",", "")) > 1 for size in rows.values())
    assert not extras & set(PROJECT["dependency-groups"])


def test_the_published_readme_has_no_relative_links() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(re.findall(r"\]\([^)]+\)", text)) > 10
    for rule in PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    assert re.findall(r"\]\(([^)]+)\)", text) == []
    assert "| Start |" in text


def test_the_metadata_name_no_address_that_does_not_exist() -> None:
    assert "example.com" not in (ROOT / "pyproject.toml").read_text("utf-8")
    assert "urls" not in PROJECT["project"]


def test_the_readme_is_one_page() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 80


def test_the_handbook_has_ten_pages_and_few_lines() -> None:
    pages = sorted(path.name for path in (ROOT / "docs").glob("*.md"))
    assert len(pages) == 11, "ten, and the first page of the site"
    texts = [path for path in (ROOT / "docs").rglob("*.*") if path.suffix not in {".png", ".svg"}]
    written = [path for path in texts if path.relative_to(ROOT).as_posix() not in files()]
    assert sum(len(path.read_text("utf-8").splitlines()) for path in written) <= MOST_LINES


@pytest.mark.parametrize("document", PAGES_WITH_VERSION)
def test_documents_name_the_wheel_of_this_version(document: str) -> None:
    named = set(re.findall(r"zscope-([\d.]+)-py3", (ROOT / document).read_text("utf-8")))
    assert named == {PROJECT["project"]["version"]}
