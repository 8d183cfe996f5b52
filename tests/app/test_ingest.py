"""zscope ingest, as a scheduler and a person meet it."""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import Result

from zscope.pipelines.ingest import staging
from zscope.pipelines.store import open_reader

Run = Callable[..., Result]

SAMPLE = Path(__file__).resolve().parents[2] / "sample-data"
DUMP = SAMPLE / "smf-sample.bin"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Where a store may be made."""
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
    for name, rows in expected.items():
        assert value(store, f"SELECT count(*) FROM {name}") == rows
    second = run("ingest", DUMP, "--store", store, "--format", "json")
    assert second.exit_code == 0
    [row] = report(second)
    assert (row["status"], row["load_id"], row["note"]) == ("repeated", 1, "was loaded before, as load 1")
    assert "repeated, was loaded before, as load 1" in second.stderr
    assert value(store, "SELECT count(*) FROM load") == 1


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow", "table"])
def test_the_report_comes_in_every_format(run: Run, store: Path, tmp_path: Path, form: str) -> None:
    out = tmp_path / "report"
    result = run("ingest", SAMPLE / "reports", "--store", store, "--format", form, "-o", out)
    assert result.exit_code == 0, result.output
    content = out.read_bytes()
    if form == "parquet":
        assert pq.read_table(out)["status"].to_pylist() == ["loaded"] * 5
    elif form != "arrow":
        assert content.count(b"loaded") == 5


def test_only_what_is_asked_for(run: Run, store: Path) -> None:
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
    for name, rows in manifest["rows_by_table"].items():
        assert value(store, f"SELECT count(*) FROM {name}") == rows, name


def test_the_zone_of_a_system_gives_times_in_utc(run: Run, store: Path) -> None:
    run("ingest", DUMP, "--store", store, "--timezone", "SYSA=+01:00")
    assert value(
        store,
        "SELECT bool_and(written_utc AT TIME ZONE 'UTC' = written_local - INTERVAL 1 HOUR) "
        "FROM smf119_zert_detail WHERE system = 'SYSA'",
    )
    assert value(store, "SELECT count(written_utc) FROM smf119_zert_detail WHERE system = 'SYSB'") == 0
    assert value(store, "SELECT max(abs(epoch(written_utc) - epoch(end_utc))) < 2 FROM smf119_zert_detail")


def test_settings_beside_the_store_are_used(run: Run, store: Path) -> None:
    store.mkdir()
    (store / "zscope.toml").write_text('[systems.SYSB]\ntimezone = "Europe/Berlin"\n')
    assert run("ingest", DUMP, "--store", store).exit_code == 0
    assert value(store, "SELECT count(written_utc) > 0 FROM smf70_cpu WHERE system = 'SYSB'")


def test_one_refused_file_does_not_keep_the_others_out(run: Run, store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "nightly"
    folder.mkdir()
    shutil.copy(DUMP, folder / "a.smf")
    (folder / "b.bin").write_bytes(bytes(range(256)) * 40)
    (folder / "c.gz").write_bytes(gzip.compress(DUMP.read_bytes()))
    result = run("ingest", folder, "--store", store, "--format", "json")
    assert result.exit_code == 8
    assert [row["status"] for row in report(result)] == ["loaded", "refused", "repeated"]
    [left] = (store / "quarantine").iterdir()
    told = json.loads(left.read_text())
    assert "b.bin" in json.dumps(told)
    assert "refused: " in result.stderr
    refused = run("loads", "--refused", "--store", store, "--format", "json")
    assert [row["file"] for row in report(refused)] == [str(folder / "b.bin")]


def test_a_cut_dump_is_loaded_with_a_warning(run: Run, store: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.smf"
    cut.write_bytes(DUMP.read_bytes()[:-1000])
    result = run("ingest", cut, "--store", store)
    assert result.exit_code == 4
    found = run("issues", "--store", store, "--severity", "warning", "--format", "json")
    assert [(row["load_id"], row["code"]) for row in report(found)] == [(1, "truncated")]
    strict = run("ingest", cut, "--store", tmp_path / "other", "--strict", "--format", "json")
    assert strict.exit_code == 8
    assert [row["status"] for row in report(strict)] == ["refused"]
    assert value(tmp_path / "other", "SELECT count(*) FROM smf119_zert_detail") == 0


def test_a_dry_run_keeps_nothing(run: Run, store: Path) -> None:
    result = run("ingest", DUMP, "--store", store, "--dry-run", "--format", "json")
    assert result.exit_code == 0
    [row] = report(result)
    assert row["rows"]
    assert "dry run: nothing was kept" in result.stderr
    assert value(store, "SELECT count(*) FROM smf119_zert_detail") == 0
    assert not list((store / "data").rglob("*.parquet"))


def test_standard_input(run: Run, store: Path) -> None:
    data = DUMP.read_bytes()
    [row] = report(run("ingest", "-", "--store", store, "--format", "json", stdin=data))
    assert (row["file"], row["status"]) == ("-", "loaded")
    [row] = report(run("ingest", "-", "--store", store, "--format", "json", stdin=data))
    assert row["status"] == "repeated"


def test_one_system_named_is_that_of_displays_that_do_not_tell(run: Run, store: Path, tmp_path: Path) -> None:
    capture = tmp_path / "capture.txt"
    shutil.copy(SAMPLE / "reports" / "netstat.SYSA.2026-03-02.txt", capture)
    result = run("ingest", capture, "--store", store, "--system", "SYSX", "--taken", "2026-03-05")
    assert result.exit_code == 0
    assert value(store, "SELECT list(DISTINCT system) = ['SYSX'] FROM netstat_conn")
    assert str(value(store, "SELECT min(day) FROM netstat_conn")) == "2026-03-05"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--select", "smf_record"), "smf_record is for zscope decode"),
        (("--select", "smf70_cpu[cpu_id]"), "the store takes whole tables"),
        (("--select", "30"), "selects nothing that zscope makes tables of"),
        (("--select", "nothing"), "there is no table 'nothing'"),
        (("--timezone", "SYSA=Mars/Crater"), "Mars/Crater"),
        (("--from", "yesterday"), "is no day such as 2026-03-02"),
        (("--jobs", "0"), "--jobs"),
        (("--settings", "none.toml"), "none.toml"),
    ],
)
def test_wrong_arguments(run: Run, store: Path, arguments: tuple[str, ...], told: str) -> None:
    result = run("ingest", DUMP, "--store", store, *arguments)
    assert result.exit_code == 12
    assert told in result.stderr
    assert not store.exists()


def test_a_file_that_is_not_there(run: Run, store: Path) -> None:
    result = run("ingest", "nothing.smf", "--store", store)
    assert result.exit_code == 12
    assert "nothing.smf" in result.stderr


def test_a_folder_that_is_no_store(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    result = run("ingest", DUMP, "--store", tmp_path)
    assert result.exit_code == 12
    assert "the folder is no store and not empty (mine.txt)" in result.stderr


def test_missing_intervals_are_told(run: Run, store: Path, tmp_path: Path) -> None:
    data, kept, place = DUMP.read_bytes(), bytearray(), 0
    while place < len(data):
        length = int.from_bytes(data[place : place + 2], "big")
        record = data[place : place + length]
        hour = int.from_bytes(record[6:10], "big") // 360_000
        if not (record[5] == 70 and 10 <= hour < 12 and record[10:14] == b"\x01\x26\x06\x1f"):
            kept += record
        place += length
    holed = tmp_path / "holed.smf"
    holed.write_bytes(kept)
    [row] = report(run("ingest", holed, "--store", store, "--format", "json"))
    assert isinstance(row["missing"], list)
    found = {(gap["system"], gap["source"], gap["missing_intervals"]) for gap in row["missing"]}
    assert found == {("SYSA", "smf70_interval", 8), ("SYSB", "smf70_interval", 8)}
    assert value(store, "SELECT count(*) FROM load_gap") == 2


def test_one_bad_member_does_not_keep_the_others_of_an_archive_out(
    run: Run, store: Path, tmp_path: Path
) -> None:
    archive = tmp_path / "night.zip"
    capture = SAMPLE / "reports" / "netstat.SYSA.2026-03-02.txt"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("a.zip", b"PK\x03\x04 and nothing that follows from it")
        made.writestr("b.bin", bytes(range(256)) * 40)
        made.write(DUMP, "c.smf")
        made.write(capture, capture.name)
    result = run("ingest", archive, "--store", store, "--format", "json")
    assert result.exit_code == 8
    found = {str(row["file"]).removeprefix(f"{archive}/"): row for row in report(result)}
    statuses = {name: row["status"] for name, row in found.items()}
    assert statuses == {"a.zip": "refused", "b.bin": "refused", "c.smf": "loaded", capture.name: "loaded"}
    assert [found[name]["issues"] for name in ("b.bin", capture.name)] == [1, 0]
    assert len(list((store / "quarantine").iterdir())) == 2


@pytest.mark.parametrize("damage", ["name", "version"])
def test_an_archive_that_cannot_be_opened_is_refused(
    run: Run, store: Path, tmp_path: Path, damage: str
) -> None:
    archive = tmp_path / "night.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("caf\u00e9.smf", b"x" * 100)
    content = archive.read_bytes()
    if damage == "name":
        content = content.replace("\u00e9".encode(), b"\xff\xfe")
    else:
        at = content.index(b"PK\x01\x02") + 6
        content = content[:at] + b"\x63\x00" + content[at + 2 :]
    archive.write_bytes(content)
    result = run("ingest", archive, DUMP, "--store", store, "--format", "json")
    assert result.exit_code == 8
    assert [row["status"] for row in report(result)] == ["refused", "loaded"]


def test_an_input_that_cannot_be_read_is_no_error_of_the_store(run: Run, store: Path, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    unreadable = [tmp_path / "loop", tmp_path / ("a" * 300)]
    result = run("ingest", *unreadable, DUMP, "--store", store, "--format", "json")
    assert result.exit_code == 8
    assert [row["status"] for row in report(result)] == ["refused", "refused", "loaded"]


def test_the_store_itself_is_no_input(run: Run, tmp_path: Path) -> None:
    shutil.copy(DUMP, tmp_path / "a.smf")
    store = tmp_path / "zscope-store"
    for status in ("loaded", "repeated"):
        result = run("ingest", tmp_path, "--store", store, "--format", "json")
        assert result.exit_code == 0
        assert [row["status"] for row in report(result)] == [status]


@pytest.mark.parametrize("name", ["all*", "what?", "day=2020-01-01", "system=PROD"])
def test_a_store_cannot_lie_where_duckdb_reads_more_into_the_name(
    run: Run, tmp_path: Path, name: str
) -> None:
    result = run("ingest", DUMP, "--store", tmp_path / name / "store")
    assert result.exit_code == 12
    assert f"a store cannot lie below {name!r}" in result.stderr
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


def test_the_last_day_there_is_can_be_the_end(run: Run, store: Path) -> None:
    assert run("ingest", DUMP, "--store", store, "--to", "9999-12-31").exit_code == 0
    assert run("store", "expire", "--keep", "999999d", "--store", store).exit_code == 0
    assert value(store, "SELECT count(*) FROM smf119_zert_detail") == 980


def test_records_of_a_load_of_very_many_days_are_recognised(
    run: Run, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(staging, "MOST_DAYS", 1)
        run("ingest", DUMP, "--store", store, "--to", "2026-03-03")
    assert value(store, "SELECT count(*) > 0 FROM record_digest WHERE day IS NULL")
    [row] = report(run("ingest", DUMP, "--store", store, "--format", "json"))
    assert (row["status"], row["rows"], row["duplicates"]) == ("loaded", 0, 2366)


def test_a_name_with_a_line_end_does_not_forge_a_line(run: Run, store: Path, tmp_path: Path) -> None:
    path = tmp_path / "a\nrefused: b.smf"
    shutil.copy(DUMP, path)
    result = run("ingest", path, "--store", store)
    assert "a\\nrefused: b.smf: loaded" in result.stderr
