"""`zscope issues`: places, filters and formats."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from zscope.app.cli.commands.issues import COLUMNS, SEVERITIES
from zscope.parsers.issues import ISSUE_SCHEMA, Severity
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.settings import Settings

Run = Callable[..., Result]
Listed = Callable[..., list[dict[str, str]]]

IN_CUT = ["section-longer", "truncated", "trailer-missing"]
SAMPLE = Path(__file__).resolve().parents[4] / "sample-data"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a good dump and one whose end is missing; only to be read."""
    folder = tmp_path_factory.mktemp("issues")
    whole = (SAMPLE / "smf-sample.bin").read_bytes()
    (folder / "cut.smf").write_bytes(whole[:-10])
    ingest(
        folder / "store",
        [SAMPLE / "smf-sample.bin", folder / "cut.smf"],
        IngestOptions(selection=row_selection(None), settings=Settings().merge(["+01:00"])),
    )
    return folder / "store"


@pytest.fixture
def listed(run: Run, store: Path) -> Listed:
    """Run `zscope issues` and read what it prints."""

    def start(*arguments: object) -> list[dict[str, str]]:
        result = run("issues", "--store", store, *arguments, "--format", "csv")
        assert result.exit_code == 0
        return list(csv.DictReader(io.StringIO(result.stdout)))

    return start


def test_every_issue_is_listed_with_its_load_and_place(listed: Listed) -> None:
    issues = listed()
    assert tuple(issues[0]) == COLUMNS
    assert [(row["load_id"], row["code"]) for row in issues] == [
        ("1", "section-longer"), ("2", "section-longer"), ("2", "truncated"), ("2", "trailer-missing"),
    ]  # fmt: skip
    [cut] = [row for row in issues if row["code"] == "truncated"]
    assert cut["file"].endswith("cut.smf")
    assert cut["severity"] == "warning"
    assert int(cut["byte_offset"]) > 0


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        (["--load", 1], ["section-longer"]),
        (["--load", 1, "--load", 2], ["section-longer", *IN_CUT]),
        (["--file", "cut"], IN_CUT),
        (["--code", "truncated"], ["truncated"]),
        (["--code", "truncated", "--code", "section-longer", "--load", 2], ["section-longer", "truncated"]),
        (["--severity", "warning"], ["truncated"]),
        (["--severity", "note", "--file", "sample"], ["section-longer"]),
        (["--severity", "refused"], []),
        (["--file", "' OR true --"], []),
    ],
)
def test_options_select_issues(arguments: list[object], codes: list[str], listed: Listed) -> None:
    assert [row["code"] for row in listed(*arguments)] == codes


def test_no_issues_is_a_message(run: Run, store: Path) -> None:
    result = run("issues", "--store", store, "--load", 99, "--format", "json")
    assert (result.exit_code, result.stdout) == (0, "[]\n")
    assert result.stderr == "no issue matches\n"


def test_places_are_numbers_in_json(run: Run, store: Path) -> None:
    rows = json.loads(run("issues", "--store", store, "--code", "truncated", "--format", "json").stdout)
    assert isinstance(rows[0]["byte_offset"], int)
    assert rows[0]["line_no"] is None


def test_every_column_of_an_issue_is_printed() -> None:
    assert set(COLUMNS) == {"load_id", *ISSUE_SCHEMA.names}
    assert tuple(severity.name.lower() for severity in Severity) == SEVERITIES
