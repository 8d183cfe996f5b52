"""`zscope publish iceberg`, and publication by the commands that change a store."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from tests.pipelines.iceberg.reading import (
    in_catalogue_of_store,
    read_by_hint,
    tables_in,
)
from tests.pipelines.iceberg.scenes import add_load

from zscope.pipelines.iceberg import publish as publish_module

Run = Callable[..., Result]
SAMPLE = Path(__file__).resolve().parents[4] / "sample-data"


@pytest.fixture
def store(dump_store: Path, tmp_path: Path) -> Path:
    """A copy of the store with the sample dump."""
    return Path(shutil.copytree(dump_store, tmp_path / "store"))


def same_rows(store: Path, target: Path) -> bool:
    """Whether pyiceberg reads in all published tables what SQL returns for the store."""
    tables = tables_in(target)
    assert tables
    return read_by_hint(target) == in_catalogue_of_store(store, tables)


@pytest.mark.deep
def test_all_tables_of_the_sample_are_published(run: Run, store: Path) -> None:
    result = run("publish", "iceberg", "--store", store, "--format", "json")
    assert result.exit_code == 0
    target = store.with_name("store-iceberg")
    rows = {row["table"]: row for row in json.loads(result.stdout)}
    assert rows["smf119_zert_detail"]["rows"] == 980
    assert rows["smf119_zert_detail"]["status"] == "published"
    assert Path(rows["smf119_zert_detail"]["metadata"]).is_file()
    assert rows["record_digest"]["status"] == "internal"
    assert f"{target}: {len(rows) - 1} of {len(rows) - 1} tables have changed up to commit" in result.stderr
    assert "record_digest is not published: it only recognises records" in result.stderr
    assert set(tables_in(target)) == rows.keys() - {"record_digest"}
    assert same_rows(store, target)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A store with two tables."""
    add_load(tmp_path / "store")
    return tmp_path / "store"


def test_publishing_again_changes_nothing_until_it_is_requested(run: Run, small: Path) -> None:
    run("publish", "iceberg", "--store", small)
    again = run("publish", "iceberg", "--store", small, "--format", "json")
    assert {row["status"] for row in json.loads(again.stdout)} == {"unchanged"}
    rebuilt = run("publish", "iceberg", "--store", small, "--rebuild", "--format", "json", "-q")
    assert {row["status"] for row in json.loads(rebuilt.stdout)} == {"published"}
    assert rebuilt.stderr == ""
    assert same_rows(small, small.with_name("store-iceberg"))


@pytest.mark.deep
def test_commands_that_change_a_store_publish_if_set(run: Run, small: Path) -> None:
    (small / "zscope.toml").write_text("[publish]\niceberg = true\n")
    target = small.with_name("store-iceberg")
    loaded = run("ingest", SAMPLE / "reports" / "netstat.SYSA.2026-03-02.txt", "--store", small)
    assert f"{target}: " in loaded.stderr
    assert "netstat_ttls" in tables_in(target)
    assert same_rows(small, target)
    assert f"{target}: " in run("loads", "remove", 1, "--store", small).stderr
    assert read_by_hint(target)["smf119_zert_detail"] == (0, 0)
    assert f"{target}: " in run("store", "compact", "--store", small).stderr
    assert f"{target}: " in run("store", "expire", "--keep", "1d", "--store", small).stderr
    assert {table for table, (rows, _) in read_by_hint(target).items() if rows} == {"issue"}, "without a day"


def test_a_failed_publication_after_a_load_is_a_warning(run: Run, small: Path) -> None:
    (small / "zscope.toml").write_text('[publish]\niceberg = "tables"\n')
    result = run("store", "compact", "--store", small)
    assert result.exit_code == 4
    assert "the change is committed, but its Iceberg tables are not published: " in result.stderr
    assert f"{small / 'tables'}: inside the store" in result.stderr


def test_without_the_library(run: Run, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish_module, "find_spec", lambda _: None)
    result = run("publish", "iceberg", "--store", small)
    assert result.exit_code == 12
    assert 'pip install "zscope[iceberg]"' in result.stderr
    assert not small.with_name("store-iceberg").exists()


def test_a_target_must_be_outside_of_the_store_and_empty(run: Run, small: Path, tmp_path: Path) -> None:
    inside = run("publish", "iceberg", "--store", small, "--target", small / "data" / "tables")
    assert (inside.exit_code, "inside the store" in inside.stderr) == (12, True)
    foreign = run("publish", "iceberg", "--store", small, "--target", tmp_path)
    assert (foreign.exit_code, "contains files that zscope did not publish" in foreign.stderr) == (12, True)
    (tmp_path / "file").touch()
    file = run("publish", "iceberg", "--store", small, "--target", tmp_path / "file")
    assert (file.exit_code, "this is a file; choose a folder" in file.stderr) == (12, True)
    deep = run("publish", "iceberg", "--store", small, "--target", tmp_path / "no" / "folder")
    assert (deep.exit_code, "No such file or directory" in deep.stderr) == (12, True)
    assert not list(small.rglob("*.metadata.json"))
