"""`zscope ingest`: selections, settings and exit codes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from zscope.pipelines.store import open_reader, parquet_files

pytestmark = pytest.mark.usefixtures("loads_alone")
Run = Callable[..., Result]

SAMPLE = Path(__file__).resolve().parents[4] / "sample-data"
DUMP = SAMPLE / "smf-sample.bin"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Path of a store that does not exist yet."""
    return tmp_path / "store"


def value(store: Path, statement: str) -> object:
    """The first value of an answer."""
    with open_reader(store) as connection:
        row = connection.execute(statement).fetchone()
    assert row is not None
    return row[0]


def report(result: Result) -> list[dict[str, object]]:
    """The load report as a program reads it."""
    rows = json.loads(result.stdout)
    assert isinstance(rows, list)
    return rows


def test_a_dump_is_loaded_once(run: Run, store: Path) -> None:
    first = run("ingest", DUMP, "--store", store, "--format", "json")
    assert first.exit_code == 0
    [row] = report(first)
    assert (row["status"], row["load_id"], row["kind"], row["form"]) == ("loaded", 1, "smf", "rdw")
    manifest = json.loads((SAMPLE / "smf-sample.manifest.json").read_text())
    assert row["records"] == manifest["records"]
    assert isinstance(row["tables"], list)
    stored = {table["table_name"]: table["rows"] for table in row["tables"]}
    expected = {name: rows for name, rows in manifest["rows_by_table"].items() if rows}
    assert {name: rows for name, rows in stored.items() if name in expected} == expected
    assert isinstance(row["kinds"], list)
    assert sum(kind["records"] for kind in row["kinds"]) == manifest["records"]
    counts = ", ".join(f"(SELECT count(*) FROM {name})" for name in expected)
    assert value(store, f"SELECT [{counts}]") == list(expected.values())
    second = run("ingest", DUMP, "--store", store, "--format", "json")
    assert second.exit_code == 0
    [row] = report(second)
    assert (row["status"], row["load_id"], row["note"]) == ("repeated", 1, "was loaded before, as load 1")
    assert "repeated, was loaded before, as load 1" in second.stderr
    assert value(store, "SELECT count(*) FROM load") == 1


@pytest.mark.deep
def test_only_selected_records_are_loaded(run: Run, store: Path) -> None:
    chosen = ("--select", "119(2,11)", "--system", "SYSB", "--from", "2026-03-02T10:00", "--to", "2026-03-02")
    [row] = report(run("ingest", DUMP, "--store", store, *chosen, "--format", "json"))
    assert isinstance(row["outside"], int)
    assert row["outside"] > 0
    assert isinstance(row["tables"], list)
    assert {table["table_name"] for table in row["tables"]} >= {"smf119_tcp_term", "smf119_zert_detail"}
    assert all(table["table_name"].startswith(("smf119_tcp_term", "smf119_zert")) for table in row["tables"])
    span = "SELECT list(DISTINCT system) = ['SYSB'] AND min(written_local) >= '2026-03-02 10:00' "
    assert value(store, span + "AND max(written_local) < '2026-03-03' FROM smf119_zert_detail")
    # The rest of the file later: nothing is there twice, nothing is missing.
    run("ingest", DUMP, "--store", store)
    manifest = json.loads((SAMPLE / "smf-sample.manifest.json").read_text())
    expected = manifest["rows_by_table"]
    counts = ", ".join(f"(SELECT count(*) FROM {name})" for name in expected)
    assert value(store, f"SELECT [{counts}]") == list(expected.values())


def test_the_zone_of_a_system_gives_times_in_utc(run: Run, store: Path) -> None:
    run("ingest", DUMP, "--store", store, "--timezone", "SYSA=+01:00")
    assert value(
        store,
        "SELECT bool_and(written_utc AT TIME ZONE 'UTC' = written_local - INTERVAL 1 HOUR) "
        "FROM smf119_zert_detail WHERE system = 'SYSA'",
    )
    assert value(store, "SELECT count(written_utc) FROM smf119_zert_detail WHERE system = 'SYSB'") == 0
    assert value(store, "SELECT max(abs(epoch(written_utc) - epoch(end_utc))) < 2 FROM smf119_zert_detail")


@pytest.mark.deep
def test_settings_beside_the_store_are_used(run: Run, store: Path) -> None:
    store.mkdir()
    (store / "zscope.toml").write_text('[systems.SYSB]\ntimezone = "Europe/Berlin"\n')
    assert run("ingest", DUMP, "--store", store).exit_code == 0
    assert value(store, "SELECT count(written_utc) > 0 FROM smf70_cpu WHERE system = 'SYSB'")


def test_a_cut_dump_is_loaded_with_a_warning(run: Run, store: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.smf"
    cut.write_bytes(DUMP.read_bytes()[:-1000])
    result = run("ingest", cut, "--store", store)
    assert result.exit_code == 4
    listed = run("issues", "--store", store, "--severity", "warning", "--format", "json")
    assert [(row["load_id"], row["code"]) for row in report(listed)] == [(1, "truncated")]
    strict = run("ingest", cut, "--store", tmp_path / "other", "--strict", "--format", "json")
    assert strict.exit_code == 8
    assert [row["status"] for row in report(strict)] == ["refused"]
    assert value(tmp_path / "other", "SELECT count(*) FROM smf119_zert_detail") == 0


def test_a_dry_run_stores_nothing(run: Run, store: Path) -> None:
    result = run("ingest", DUMP, "--store", store, "--dry-run", "--format", "json")
    assert result.exit_code == 0
    [row] = report(result)
    assert row["rows"]
    assert "dry run: nothing was stored" in result.stderr
    assert value(store, "SELECT count(*) FROM smf119_zert_detail") == 0
    assert not list((store / "data").rglob("*.parquet"))


def test_a_single_system_applies_to_displays_without_one(run: Run, store: Path, tmp_path: Path) -> None:
    capture = tmp_path / "capture.txt"
    shutil.copy(SAMPLE / "reports" / "netstat.SYSA.2026-03-02.txt", capture)
    result = run("ingest", capture, "--store", store, "--system", "SYSX", "--taken", "2026-03-05")
    assert result.exit_code == 0
    assert value(store, "SELECT list(DISTINCT system) = ['SYSX'] FROM netstat_conn")
    assert str(value(store, "SELECT min(day) FROM netstat_conn")) == "2026-03-05"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--select", "smf_record"), "smf_record is not stored; use zscope decode"),
        (("--select", "smf70_cpu[cpu_id]"), "whole tables are stored"),
        (("--select", "42"), "selects no records or reports that zscope decodes"),
        (("--select", "nothing"), "there is no table 'nothing'"),
        (("--timezone", "SYSA=Mars/Crater"), "Mars/Crater"),
        (("--from", "yesterday"), "is not a day or time such as 2026-03-02"),
        (("--jobs", "0"), "--jobs"),
        (("--settings", "none.toml"), "none.toml"),
    ],
)
def test_wrong_arguments(run: Run, store: Path, arguments: tuple[str, ...], message: str) -> None:
    result = run("ingest", DUMP, "--store", store, *arguments)
    assert result.exit_code == 12
    assert message in result.stderr
    assert not store.exists()


def test_a_missing_file(run: Run, store: Path) -> None:
    result = run("ingest", "nothing.smf", "--store", store)
    assert result.exit_code == 12
    assert "nothing.smf" in result.stderr


def test_a_folder_without_a_store_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    result = run("ingest", DUMP, "--store", tmp_path)
    assert result.exit_code == 12
    assert "the folder is not a store and not empty (mine.txt)" in result.stderr


@pytest.mark.parametrize("name", ["all*", "what?", "day=2020-01-01", "system=PROD"])
def test_a_store_cannot_lie_where_duckdb_reads_more_into_the_name(
    run: Run, tmp_path: Path, name: str
) -> None:
    result = run("ingest", DUMP, "--store", tmp_path / name / "store")
    assert result.exit_code == 12
    assert f"a store cannot be below {name!r}" in result.stderr
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["it's", "50%", "a b", "caf\u00e9 [1]", "x{y}"])
def test_other_names_of_stores_are_fine(run: Run, tmp_path: Path, name: str) -> None:
    store = tmp_path / name / "store"
    assert run("ingest", SAMPLE / "reports" / "rmf-cpu.SYSB.txt", "--store", store).exit_code == 0
    assert value(store, "SELECT count(*) FROM rmf_interval") == 8


def test_systems_are_named_without_regard_to_case(run: Run, store: Path) -> None:
    [row] = report(run("ingest", DUMP, "--store", store, "--system", "sysb", "--format", "json"))
    assert value(store, "SELECT list(DISTINCT system) FROM smf70_cpu") == ["SYSB"]
    assert row["rows"]


def test_the_last_possible_day_can_be_the_end(run: Run, store: Path) -> None:
    assert run("ingest", DUMP, "--store", store, "--to", "9999-12-31").exit_code == 0
    assert run("store", "expire", "--keep", "999999d", "--store", store).exit_code == 0
    assert value(store, "SELECT count(*) FROM smf119_zert_detail") == 980


@pytest.mark.deep
def test_records_of_a_load_of_very_many_days_are_recognised(
    run: Run, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(parquet_files, "MAX_DAYS", 1)
        run("ingest", DUMP, "--store", store, "--to", "2026-03-03")
    assert value(store, "SELECT count(*) > 0 FROM record_digest WHERE day IS NULL")
    [row] = report(run("ingest", DUMP, "--store", store, "--format", "json"))
    assert (row["status"], row["rows"], row["duplicates"]) == ("loaded", 0, 2366)
