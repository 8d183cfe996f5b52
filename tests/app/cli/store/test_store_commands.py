"""`zscope loads` and `zscope store`."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from tests.pipelines.stores import rewrite_commits
from tests.sample_stores import loaded_sample

from zscope.pipelines.store import open_reader
from zscope.pipelines.store.checksums import last_commit
from zscope.pipelines.store.folder import existing_store

Run = Callable[..., Result]

SAMPLE = Path(__file__).resolve().parents[4] / "sample-data"


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Path:
    """A copy of the store with the sample."""
    return Path(shutil.copytree(loaded_sample(tmp_path_factory), tmp_path / "store"))


@pytest.mark.deep
def test_the_history_of_loads(run: Run, store: Path) -> None:
    rows = json.loads(run("loads", "--store", store, "--format", "json").stdout)
    assert [row["load_id"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert {row["status"] for row in rows} == {"loaded"}
    assert rows[0]["file"].endswith("smf-sample.bin")
    assert rows[0]["records"] == 2402
    assert run("loads", "--refused", "--store", store, "--format", "csv").stdout.count("\n") == 1


def test_a_load_is_removed(run: Run, store: Path) -> None:
    result = run("loads", "remove", 4, 5, "--store", store)
    assert result.exit_code == 0
    assert "load 4 (" in result.stderr
    rows = json.loads(run("loads", "--store", store, "--format", "json").stdout)
    assert [row["load_id"] for row in rows if row["status"] == "removed"] == [4, 5]
    again = run("loads", "remove", 4, "--store", store)
    assert again.exit_code == 12
    assert "load 4: was already removed" in again.stderr


@pytest.mark.deep
def test_a_load_that_skipped_records_is_named(run: Run, store: Path, tmp_path: Path) -> None:
    """A weekly dump left out what the daily one had: without the daily one it is not complete."""
    weekly = tmp_path / "weekly.smf"
    daily = (SAMPLE / "smf-sample.bin").read_bytes()
    weekly.write_bytes(daily[: len(daily) // 2])
    before = _count(store)
    run("ingest", weekly, "--store", store)
    assert _count(store) == before
    result = run("loads", "remove", 1, "--store", store)
    assert result.exit_code == 4
    assert f"load 7 skipped records that load 1 had; ingest {weekly} again" in result.stderr
    rows = json.loads(run("loads", "--store", store, "--format", "json").stdout)
    assert rows[6]["status"] == "incomplete"
    run("ingest", weekly, "--store", store)
    assert 0 < _count(store) < before
    run("ingest", SAMPLE / "smf-sample.bin", "--store", store)
    assert _count(store) == before


def _count(store: Path) -> int:
    with open_reader(store) as connection:
        row = connection.execute("SELECT count(*) FROM smf119_zert_detail").fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.deep
def test_maintenance_commands(run: Run, store: Path) -> None:
    assert "all unchanged since their commit" in run("store", "check", "--store", store).stderr
    assert "files became" in run("store", "compact", "--store", store).stderr
    assert "there is nothing to compact" in run("store", "compact", "--store", store).stderr
    assert "would be removed" in run("store", "expire", "--keep", "1d", "--dry-run", "--store", store).stderr
    assert _count(store) == 980
    assert "removed" in run("store", "expire", "--keep", "1d", "--store", store).stderr
    assert _count(store) == 0
    assert "there are no rows older" in run("store", "expire", "--keep", "1d", "--store", store).stderr
    moved = store.with_name("moved")
    store.rename(moved)
    assert "rebuilt" in run("store", "rebuild", "--store", moved).stderr
    assert run("store", "check", "--store", moved).exit_code == 0


def test_a_damaged_file_is_detected(run: Run, store: Path) -> None:
    victim = next((store / "data" / "smf70_cpu").rglob("*.parquet"))
    victim.write_bytes(victim.read_bytes()[:-7])
    result = run("store", "check", "--store", store)
    assert result.exit_code == 8
    assert victim.name in result.stderr


def test_only_a_deep_check_counts_the_rows_of_each_load(run: Run, store: Path) -> None:
    def other_load(content: dict[str, Any]) -> None:
        for file in content["adds"]:
            file["loads"] = {str(int(load) + 1): rows for load, rows in file["loads"].items()}

    rewrite_commits(existing_store(store), other_load)
    assert run("store", "check", "--store", store).exit_code == 0
    result = run("store", "check", "--deep", "--store", store)
    assert result.exit_code == 8
    assert "has rows of loads {1: " in result.stderr


@pytest.mark.parametrize("keep", ["", "0d", "tomorrow", "-3d", "400q"])
def test_keep_must_be_a_period(run: Run, store: Path, keep: str) -> None:
    result = run("store", "expire", "--keep", keep, "--store", store)
    assert result.exit_code == 12
    assert "is not a period such as 400d" in result.stderr


@pytest.mark.parametrize(
    "command",
    [
        *(
            "loads",
            "loads remove 1",
            "store check",
            "store compact",
            "issues",
            "validate",
            "check",
            "compare a b",
        ),
        *("sql 'SELECT 1'", "publish iceberg"),
    ],
)
def test_without_a_store(run: Run, tmp_path: Path, command: str) -> None:
    result = run(*shlex.split(command), "--store", tmp_path / "nowhere")
    assert (result.exit_code, result.stdout) == (12, "")
    assert f"{tmp_path / 'nowhere'}: there is no store" in result.stderr
    assert "zscope ingest" in result.stderr
    assert not (tmp_path / "nowhere").exists()


def test_options_before_a_subcommand_are_an_error(run: Run, store: Path) -> None:
    """They would name another store than the one that is changed."""
    result = run("loads", "--store", store, "remove", 1)
    assert result.exit_code == 12
    assert "write the options after" in result.stderr
    assert _count(store) == 980


def test_nothing_is_removed_if_a_load_does_not_exist(run: Run, store: Path) -> None:
    result = run("loads", "remove", 1, 99, "--store", store)
    assert result.exit_code == 12
    assert _count(store) == 980


def test_the_check_says_that_earlier_commits_have_no_checksum(run: Run, store: Path) -> None:
    folder = existing_store(store)
    assert "no checksum" not in run("store", "check", "--store", store).stderr
    rewrite_commits(folder)
    result = run("store", "check", "--deep", "--store", store)
    assert result.exit_code == 0
    count = last_commit(folder)
    assert f"{count} of {count} commits have no checksum" in result.stderr


def test_a_missing_last_commit_is_refused_by_every_command(run: Run, store: Path) -> None:
    folder = existing_store(store)
    last = folder.commits / f"{last_commit(folder):08}.json"
    last.unlink()
    for command, code in (
        (("loads",), 12),
        (("ingest", SAMPLE / "smf-sample.bin"), 12),
        (("store", "check"), 8),
    ):
        result = run(*command, "--store", store)
        assert result.exit_code == code, command
        assert f"{last}: this commit is missing, but commits/head names it" in result.stderr


def _damage(store: Path) -> None:
    """Change a byte of the first file with zERT details."""
    path = min((store / "data" / "smf119_zert_detail").rglob("*.parquet"))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_damaged_file_is_found_and_restored(run: Run, store: Path) -> None:
    before = _count(store)
    fine = run("store", "check", "--record", "--store", store)
    assert (fine.exit_code, "all unchanged since their commit" in fine.stderr) == (0, True)
    _damage(store)
    result = run("store", "check", "--record", "--store", store)
    assert result.exit_code == 8
    assert "zscope store repair restores them from a backup or from the files" in result.stderr
    result = run("sql", "SELECT count(*) FROM smf119_zert_detail", "--store", store)
    assert (result.exit_code, "zscope store repair restores them" in result.stderr) == (12, True)
    [row] = json.loads(run("metrics", "store_check", "--store", store, "--format", "json").stdout)
    assert (row["verdict"], row["damaged_tables"]) == ("damaged", "smf119_zert_detail")
    planned = run("store", "repair", "--dry-run", "--store", store)
    assert planned.exit_code == 0
    assert "smf-sample.bin: would be loaded again" in planned.stderr
    done = run("store", "repair", "--store", store)
    assert (done.exit_code, "smf-sample.bin: loaded again" in done.stderr) == (0, True)
    assert _count(store) == before
    assert "no file is damaged" in run("store", "repair", "--store", store).stderr


def test_rows_that_cannot_be_restored_are_given_up_on_request(run: Run, tmp_path: Path) -> None:
    store, dump = tmp_path / "store", tmp_path / "a.smf"
    shutil.copy(SAMPLE / "smf-sample.bin", dump)
    run("ingest", dump, "--store", store)
    before = _count(store)
    dump.unlink()
    _damage(store)
    result = run("store", "repair", "--store", store)
    assert result.exit_code == 8
    assert "rows of smf119_zert_detail of 2026-03-" in result.stderr
    assert "loads 1: not restored; the file of load 1 does not exist any more" in result.stderr
    assert "--take-out gives up their rows" in result.stderr
    result = run("store", "repair", "--take-out", "--store", store)
    assert (result.exit_code, "lost, the file was taken out" in result.stderr) == (4, True)
    assert 0 < _count(store) < before
