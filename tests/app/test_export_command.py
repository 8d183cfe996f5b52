"""zscope export, as a user meets it."""

from __future__ import annotations

import csv
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from click.testing import Result

from zscope.pipelines.ingest import How, choose, ingest
from zscope.pipelines.metrics import declared

Run = Callable[..., Result]

SAMPLE = Path(__file__).resolve().parents[2] / "sample-data"
ZSCOPE = [sys.executable, "-c", "from zscope.app.cli import main; main()"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the sample dump; only to be read."""
    folder = tmp_path_factory.mktemp("exported") / "store"
    ingest(folder, [SAMPLE / "smf-sample.bin"], How(choose(None)))
    return folder


@pytest.fixture
def export(run: Run, store: Path) -> Run:
    """Run `zscope export` on the store."""
    return lambda *arguments: run("export", "--store", store, *arguments)


def test_tables_become_parquet_files_in_a_folder(export: Run, tmp_path: Path) -> None:
    target = tmp_path / "out"
    result = export("smf70_cpu", "cpu_interval", "smf70_cpu", "-o", target)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines() == [
        "smf70_cpu: 960 rows", "cpu_interval: 192 rows", f"{target}: 2 tables",
    ]  # fmt: skip
    assert sorted(path.name for path in target.iterdir()) == ["cpu_interval.parquet", "smf70_cpu.parquet"]
    assert pq.read_metadata(target / "smf70_cpu.parquet").num_rows == 960


def test_csv_is_written_as_all_commands_write_it(export: Run, tmp_path: Path) -> None:
    assert export("smf70_interval", "-o", tmp_path / "out", "--format", "csv", "-q").output == ""
    with (tmp_path / "out" / "smf70_interval.csv").open(newline="") as file:
        first = next(csv.DictReader(file))
    assert first["system"] == "SYSA"
    assert first["written_local"].startswith("2026-03-02T")


def test_a_name_that_says_duckdb_makes_a_database(export: Run, tmp_path: Path) -> None:
    target = tmp_path / "all.duckdb"
    assert export("-o", target, "-q").exit_code == 0
    with duckdb.connect(str(target), read_only=True) as connection:
        tables = [name for (name,) in connection.execute("SHOW TABLES").fetchall()]
        views = connection.execute("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchone()
    assert {"smf70_cpu", "cipher", "code_handshake_type", "load"} <= set(tables)
    assert not set(tables) & declared().keys()
    assert not [name for name in tables if name.startswith("zscope_") or name == "record_digest"]
    assert "rmf_cpu" not in tables
    assert views == (0,)


def test_days_and_systems_cut_the_tables_that_have_them(export: Run, tmp_path: Path) -> None:
    def rows(*arguments: object) -> dict[str, int]:
        target = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        assert export("smf70_interval", "cpu_interval", "cipher", "-o", target, *arguments).exit_code == 0
        return {path.stem: pq.read_metadata(path).num_rows for path in target.iterdir()}

    everything = rows()
    assert (everything["smf70_interval"], everything["cpu_interval"]) == (192, 192)
    first = rows("--to", "2026-03-02")
    later = rows("--from", "2026-03-03")
    assert 0 < first["smf70_interval"] < 192
    assert first["smf70_interval"] + later["smf70_interval"] == 192
    assert first["cpu_interval"] + later["cpu_interval"] == 192
    assert first["cipher"] == everything["cipher"] > 100
    assert rows("--system", "SYSA")["smf70_interval"] == 96
    assert rows("--system", "SYSA", "--system", "SYSB") == everything
    assert rows("--from", "2027-01-01")["smf70_interval"] == 0


def test_what_is_there_already_is_replaced_only_by_force(export: Run, tmp_path: Path) -> None:
    for target, arguments in ((tmp_path / "out", ()), (tmp_path / "out.duckdb", ())):
        assert export("cipher", "load", "-o", target, *arguments).exit_code == 0
        again = export("cipher", "-o", target)
        assert again.exit_code == 12
        assert again.stderr == (
            f"Error: {target}: this is there already; choose another name or replace it with --force\n"
        )
        assert export("cipher", "-o", target, "--force").exit_code == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["cipher.parquet"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.duckdb"]


def test_an_empty_folder_is_filled(export: Run, tmp_path: Path) -> None:
    assert export("cipher", "-o", tmp_path).exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["cipher.parquet"]


@pytest.mark.parametrize(
    ("make", "name", "message"),
    [
        ("file", "out", "this is a file, and a folder is to be made"),
        ("other", "out", "there are other things than .parquet files in it (letter.txt)"),
        ("folder", "out", "there are other things than .parquet files in it (sub.parquet)"),
        ("file", "out.duckdb", "this is no DuckDB file"),
        ("folder", "out.duckdb", "this is no DuckDB file"),
        ("link", "out.duckdb", "this is no DuckDB file"),
    ],
)
def test_force_spares_what_is_no_export(
    make: str, name: str, message: str, export: Run, tmp_path: Path
) -> None:
    target = tmp_path / name
    match make:
        case "file":
            target.write_text("a letter to someone")
        case "link":
            target.symlink_to("nowhere")
        case "other":
            target.mkdir()
            (target / "letter.txt").write_text("a letter to someone")
        case _:
            (target / "sub.parquet").mkdir(parents=True)
    result = export("cipher", "-o", target, "--force")
    assert result.exit_code == 12
    assert message in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_store_is_no_place_for_exports(export: Run, store: Path) -> None:
    for target in (store, store / "out", store / "zscope.duckdb"):
        result = export("cipher", "-o", target, "--force")
        assert result.exit_code == 12
        assert f"{target}: this is in the store" in result.stderr


def test_a_wrong_name_is_told_with_a_suggestion(export: Run, tmp_path: Path) -> None:
    result = export("smf70_cpus", "-o", tmp_path / "out")
    assert result.exit_code == 12
    assert "there is no table 'smf70_cpus'; did you mean smf70_cpu" in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_place_that_is_not_there_is_told(export: Run, tmp_path: Path) -> None:
    for name in ("none/out", "none/out.duckdb"):
        result = export("cipher", "-o", tmp_path / name)
        assert result.exit_code == 12
        assert f"{tmp_path / name}: there is no folder {tmp_path / 'none'}; make it first" in result.stderr


@pytest.mark.parametrize("name", ["out", "out.duckdb"])
def test_a_full_disk_leaves_nothing(name: str, store: Path, tmp_path: Path) -> None:
    """The largest file that may be written is small here: the same as a full disk, for one process."""
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)); "
        "from zscope.app.cli import main; main()"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            code,
            "export",
            "field_catalog",
            "-q",
            "--store",
            store,
            "-o",
            tmp_path / name,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 12
    assert done.stderr.startswith(f"Error: {tmp_path / name}: ")
    assert os.strerror(errno.EFBIG) in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["out", "out.duckdb"])
def test_ctrl_c_leaves_nothing(name: str, store: Path, tmp_path: Path) -> None:
    with subprocess.Popen(
        [*ZSCOPE, "export", "--store", store, "-o", tmp_path / name],
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        assert "rows\n" in running.stderr.readline()  # the first table is done
        running.send_signal(signal.SIGINT)
        told = running.stderr.read()
    assert running.returncode == 12
    assert told.endswith("Error: interrupted; output files are as they were before\n")
    assert not list(tmp_path.iterdir())


def test_a_killed_export_leaves_no_target(store: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    with subprocess.Popen(
        [*ZSCOPE, "export", "--store", store, "-o", place / "out", "-q"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
    ) as running:
        while not list(place.iterdir()):
            time.sleep(0.01)
        running.kill()
    assert [path.name.startswith(".out.") for path in place.iterdir()] == [True]
