"""`zscope validate`: results, exit codes and pages."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from zscope.app.cli.exits import ExitCode
from zscope.app.cli.main import program
from zscope.app.cli.validating import report_validation
from zscope.pipelines.quality import VALIDATION_SCHEMA

Run = Callable[..., Result]
DISPLAYS = Path("sample-data/reports/syslog.txt")
STATUS = "gsk_cache_status"
pytestmark = pytest.mark.usefixtures("validation_here")


def zscope(*arguments: object) -> Result:
    return CliRunner().invoke(program, [str(a) for a in arguments], prog_name="zscope")


def rows_of(result: Result) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(result.stdout)
    return rows


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A store with some rows of the displays of the sample data, validated once."""
    store = tmp_path_factory.mktemp("clean") / "store"
    assert zscope("ingest", DISPLAYS, "--select", STATUS, "--store", store).exit_code in {0, 4}
    return store, zscope("validate", "--store", store, "--all", "--format", "json")


def test_clean_data_exits_with_0(clean: tuple[Path, Result]) -> None:
    store, result = clean
    assert result.exit_code == 0, result.output
    rows = rows_of(result)
    assert list(rows[0]) == VALIDATION_SCHEMA.names
    assert {row["outcome"] for row in rows} == {"passed"}
    assert {row["load_ids"][0] for row in rows} == {1}
    assert f"{len(rows)} of {len(rows)} expectations are met" in result.stderr
    assert f"pages: {store / 'data-docs' / 'index.html'}" in result.stderr
    assert (store / "data-docs" / "index.html").is_file()


def test_the_results_are_in_the_store(clean: tuple[Path, Result]) -> None:
    store, result = clean
    statement = "SELECT expectation, outcome FROM validation ORDER BY expectation"
    stored = rows_of(zscope("sql", "--store", store, "--format", "json", statement))
    shown = sorted(rows_of(result), key=lambda row: str(row["expectation"]))
    assert stored == [{name: row[name] for name in ("expectation", "outcome")} for row in shown]


def test_validated_loads_are_not_validated_again(clean: tuple[Path, Result]) -> None:
    store, _ = clean
    result = zscope("validate", "--store", store, "--format", "json")
    assert (result.exit_code, rows_of(result)) == (0, [])
    assert "all loads are validated already" in result.stderr


@pytest.fixture(scope="module")
def spoiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A store with a display whose counters do not add up, and only a part of it validated."""
    folder = tmp_path_factory.mktemp("spoiled")
    text = DISPLAYS.read_text(encoding="utf-8")
    at = text.index("Failed full dataspace:")
    end = text.index("\n", at)
    display = folder / DISPLAYS.name
    display.write_text(text[: end - 1] + "7" + text[end:], encoding="utf-8")
    store = folder / "store"
    assert zscope("ingest", display, "--store", store).exit_code == 4
    return store, zscope("validate", "--store", store, "--table", "gsk_cache_stats", "--format", "json")


def test_a_fault_exits_with_8_and_only_it_is_printed(spoiled: tuple[Path, Result]) -> None:
    _, result = spoiled
    assert result.exit_code == 8, result.output
    rows = rows_of(result)
    assert "gsk_cache_stats.add-sum" in {row["expectation"] for row in rows}
    assert {row["outcome"] for row in rows} == {"failed"}
    assert "expectations are met: " in result.stderr
    example = json.loads(next(r["examples"] for r in rows if r["expectation"] == "gsk_cache_stats.add-sum"))
    assert example[0]["load_id"] == 1
    assert example[0]["line_no"] > 0


def test_a_part_does_not_count_as_validated(spoiled: tuple[Path, Result]) -> None:
    store, _ = spoiled
    statement = "SELECT DISTINCT whole_loads FROM validation"
    assert rows_of(zscope("sql", "--store", store, "--format", "json", statement)) == [{"whole_loads": False}]


def test_other_files_in_the_page_folder_are_not_replaced(
    spoiled: tuple[Path, Result], tmp_path: Path
) -> None:
    store = tmp_path / "store"
    shutil.copytree(spoiled[0], store)
    (store / "data-docs" / ".zscope-data-docs").unlink()
    result = zscope("validate", "--store", store, "--table", STATUS)
    assert result.exit_code == 12
    assert "the folder has other content" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--table", "gsk_cache_stat"), "there is no table gsk_cache_stat; did you mean gsk_cache_stats"),
        (("--load", "9"), "there is no load 9"),
        (("--from", "yesterday"), "does not match the format"),
    ],
)
def test_unknown_loads_and_tables_are_refused(
    run: Run, spoiled: tuple[Path, Result], arguments: tuple[str, ...], message: str
) -> None:
    result = run("validate", "--store", spoiled[0], *arguments)
    assert result.exit_code == 12
    assert message in result.stderr


def test_no_results_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report_validation(tmp_path, VALIDATION_SCHEMA.empty_table()) is ExitCode.OK
    assert capsys.readouterr().err == "there are no rows to validate\n"


def test_a_slice_without_rows_is_reported(clean: tuple[Path, Result]) -> None:
    result = zscope("validate", "--store", clean[0], "--system", "NONE", "--format", "json")
    assert (result.exit_code, rows_of(result)) == (0, [])
    assert "there are no rows to validate" in result.stderr
