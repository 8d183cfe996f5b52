"""`zscope ingest`: inputs that are damaged, in archives, or not files."""

from __future__ import annotations

import gzip
import json
import os
import shlex
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

pytestmark = pytest.mark.usefixtures("loads_alone")
Run = Callable[..., Result]

SAMPLE = Path(__file__).resolve().parents[4] / "sample-data"
DUMP = SAMPLE / "smf-sample.bin"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Path of a store that does not exist yet."""
    return tmp_path / "store"


def report(result: Result) -> list[dict[str, object]]:
    """The load report as a program reads it."""
    rows = json.loads(result.stdout)
    assert isinstance(rows, list)
    return rows


def test_a_refused_file_does_not_affect_others(run: Run, store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "nightly"
    folder.mkdir()
    shutil.copy(DUMP, folder / "a.smf")
    (folder / "b.bin").write_bytes(bytes(range(256)) * 40)
    (folder / "c.gz").write_bytes(gzip.compress(DUMP.read_bytes()))
    result = run("ingest", folder, "--store", store, "--format", "json")
    assert result.exit_code == 8
    assert [row["status"] for row in report(result)] == ["loaded", "refused", "repeated"]
    [left] = (store / "quarantine").iterdir()
    quarantined = json.loads(left.read_text())
    assert "b.bin" in json.dumps(quarantined)
    assert "refused: " in result.stderr
    refused = run("loads", "--refused", "--store", store, "--format", "json")
    assert [row["file"] for row in report(refused)] == [str(folder / "b.bin")]


def test_standard_input(run: Run, store: Path) -> None:
    data = DUMP.read_bytes()
    [row] = report(run("ingest", "-", "--store", store, "--format", "json", stdin=data))
    assert (row["file"], row["status"]) == ("-", "loaded")
    [row] = report(run("ingest", "-", "--store", store, "--format", "json", stdin=data))
    assert row["status"] == "repeated"


@pytest.mark.deep
def test_a_bad_member_of_an_archive_does_not_affect_others(run: Run, store: Path, tmp_path: Path) -> None:
    archive = tmp_path / "night.zip"
    capture = SAMPLE / "reports" / "netstat.SYSA.2026-03-02.txt"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("a.zip", b"PK\x03\x04 and nothing that follows from it")
        made.writestr("b.bin", bytes(range(256)) * 40)
        made.write(DUMP, "c.smf")
        made.write(capture, capture.name)
    result = run("ingest", archive, "--store", store, "--timezone", "+01:00", "--format", "json")
    assert result.exit_code == 8
    rows = {str(row["file"]).removeprefix(f"{archive}/"): row for row in report(result)}
    statuses = {name: row["status"] for name, row in rows.items()}
    assert statuses == {"a.zip": "refused", "b.bin": "refused", "c.smf": "loaded", capture.name: "loaded"}
    assert [rows[name]["issues"] for name in ("b.bin", capture.name)] == [1, 0]
    assert len(list((store / "quarantine").iterdir())) == 2


@pytest.mark.deep
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


@pytest.mark.deep
def test_an_unreadable_input_is_not_an_error_of_the_store(run: Run, store: Path, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    unreadable = [tmp_path / "loop", tmp_path / ("a" * 300)]
    result = run("ingest", *unreadable, DUMP, "--store", store, "--format", "json")
    assert result.exit_code == 8
    assert [row["status"] for row in report(result)] == ["refused", "refused", "loaded"]


def test_a_file_with_runs_in_a_folder_is_not_imported_and_the_command_for_it_is_printed(
    run: Run, store: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "a night"
    folder.mkdir()
    shutil.copy(DUMP, folder / "a.smf")
    file = folder / "measured runs.toml"
    file.write_text("[[run]]\n", encoding="utf-8")
    result = run("ingest", folder, "--store", store)
    [note] = [line for line in result.stderr.splitlines() if "is not imported" in line]
    said, _, command = note.partition("imported: ")
    assert said == f"note: {file} is not "
    words = shlex.split(command.removesuffix(" imports its benchmark runs"))
    assert words == ["zscope", "runs", "import", str(file), "--store", str(store)]


def test_times_in_utc_are_on_the_clock_of_the_system_if_its_zone_is_known(
    run: Run, store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "counts.csv"
    file.write_text(
        "system,start,end,transactions\n"
        "SYSA,2026-03-02T23:00:00Z,2026-03-02T23:15:00Z,7\n"
        "SYSB,2026-03-02T23:00:00Z,2026-03-02T23:15:00Z,7\n"
        "SYSC,9999-12-31T23:00:00Z,9999-12-31T23:15:00Z,7\n"
    )
    run("ingest", file, "--store", store, "--timezone", "SYSA=+01:00", "--timezone", "SYSC=+01:00")
    select = "SELECT system, first_local, last_utc FROM load_kind ORDER BY system"
    rows = json.loads(run("sql", select, "--store", store, "--format", "json").stdout)
    assert [tuple(row.values()) for row in rows] == [
        ("SYSA", "2026-03-03T00:00:00.000000", "2026-03-02T23:15:00.000000Z"),
        ("SYSB", None, "2026-03-02T23:15:00.000000Z"),
        ("SYSC", None, "9999-12-31T23:15:00.000000Z"),
    ]


@pytest.mark.deep
def test_pipes_and_links_in_a_folder_are_reported(run: Run, store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "night"
    (folder / "module").mkdir(parents=True)
    (folder / "module" / "__init__.py").touch()
    (folder / "linked").symlink_to("module")
    shutil.copy(DUMP, folder / "a.smf")
    os.mkfifo(folder / "pipe")
    result = run("ingest", folder, "--store", store, "--quiet", "--format", "json")
    assert result.exit_code == 0
    rows = {str(row["file"]): (row["status"], row["issues_by_code"]) for row in report(result)}
    assert rows[str(folder / "pipe")] == ("nothing to load", [{"code": "not-an-input", "issues": 1}])
    assert f"note: {folder}/pipe: skipped: a pipe; name it directly to read from it" in result.stderr
    (folder / "b.smf").symlink_to("gone.smf")
    result = run("ingest", folder, "--store", store, "--format", "json")
    assert result.exit_code == 8
    assert [row["status"] for row in report(result)] == ["repeated", "refused", *["nothing to load"] * 3]
    assert f"{folder}/b.smf: cannot be read: it is a link to gone.smf, which does not exist" in result.stderr
    refused = run("loads", "--refused", "--store", store, "--format", "json")
    assert [row["file"] for row in report(refused)] == [str(folder / "b.smf")]
    skipped = run("issues", "--code", "not-an-input", "--store", store, "--format", "json")
    assert {row["file"]: row["text"] for row in report(skipped)} == {
        str(folder / "linked"): "skipped: a link to a folder; name it directly to read its contents",
        str(folder / "module"): "skipped: a Python package",
        str(folder / "pipe"): "skipped: a pipe; name it directly to read from it",
    }


@pytest.mark.deep
def test_links_in_the_store_are_not_inputs(run: Run, tmp_path: Path) -> None:
    """As where the data lie on another disk."""
    shutil.copy(DUMP, tmp_path / "a.smf")
    store = tmp_path / "zscope-store"
    run("ingest", tmp_path / "a.smf", "--store", store)
    (store / "data").rename(tmp_path / ".disk")
    (store / "data").symlink_to(tmp_path / ".disk")
    (store / "link").symlink_to("gone")
    result = run("ingest", tmp_path, "--store", store, "--format", "json")
    assert (result.exit_code, [row["status"] for row in report(result)]) == (0, ["repeated"])


def test_the_store_is_not_an_input(run: Run, tmp_path: Path) -> None:
    shutil.copy(DUMP, tmp_path / "a.smf")
    store = tmp_path / "zscope-store"
    for status in ("loaded", "repeated"):
        result = run("ingest", tmp_path, "--store", store, "--format", "json")
        assert result.exit_code == 0
        assert [row["status"] for row in report(result)] == [status]


def test_a_name_with_a_line_end_does_not_forge_a_line(run: Run, store: Path, tmp_path: Path) -> None:
    path = tmp_path / "a\nrefused: b.smf"
    shutil.copy(DUMP, path)
    result = run("ingest", path, "--store", store)
    assert "a\\nrefused: b.smf: loaded" in result.stderr
