"""The commands of the handbook about SQL work, with other clients too."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.handbook import HANDBOOK, blocks
from tests.marking import deep_except

from zscope.pipelines import exposition
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection

if TYPE_CHECKING:
    from tests.app.conftest import Run

ROOT = HANDBOOK.parent
DOCUMENT = (HANDBOOK / "sql.md").read_text(encoding="utf-8")
BESIDE_PYTHON = Path(sys.executable).parent
WITHOUT_STORE = {name: value for name, value in os.environ.items() if name != "ZSCOPE_STORE"}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like the checkout, with the sample data in a store."""
    folder = tmp_path_factory.mktemp("checkout")
    (folder / "sample-data").symlink_to(ROOT / "sample-data")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        ingest(
            Path("zscope-store"),
            ["sample-data/smf-sample.bin", "sample-data/reports"],
            IngestOptions(selection=row_selection(None)),
        )
    return folder


def _commands(fence: str) -> list[str]:
    return "".join(blocks(DOCUMENT, fence)).splitlines()


def _words_of(program: str) -> list[list[str]]:
    """The arguments of the commands with a program."""
    commands = [shlex.split(command, comments=True) for command in _commands("bash")]
    return [arguments for name, *arguments in commands if name == program]


WORDS = _words_of("zscope")
SHORT = [arguments for arguments in WORDS if not arguments[-1].endswith(".duckdb")]


# Those in `sh` blocks are run with those of all documents.
@pytest.mark.parametrize("arguments", deep_except(SHORT, WORDS), ids=" ".join)
def test_commands_that_write_files_work(
    arguments: list[str], run: Run, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(checkout)
    monkeypatch.delenv("ZSCOPE_STORE", raising=False)
    # The export of all metrics has a test of its own.
    monkeypatch.setattr(exposition, "exported_metrics", lambda: ("cpu_interval", "handshake_mix"))
    done = run(*arguments)
    assert done.exit_code == 0, done.stderr
    assert done.output


@pytest.mark.parametrize("arguments", _words_of("duckdb"), ids=" ".join)
def test_commands_of_other_clients_work(arguments: list[str], checkout: Path) -> None:
    done = subprocess.run(
        [BESIDE_PYTHON / "duckdb", *arguments], cwd=checkout, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_there_are_commands_of_both_kinds() -> None:
    assert {command.split()[0] for command in _commands("bash")} == {"duckdb", "zscope"}
    assert len(_commands("sh")) >= 8


def test_the_shell_of_duckdb_reads_views_and_comments(checkout: Path) -> None:
    def query(statement: str) -> str:
        shell = [str(BESIDE_PYTHON / "duckdb"), "-readonly", "-csv", "-noheader"]
        done = subprocess.run(
            [*shell, "zscope-store/zscope.duckdb", statement],
            cwd=checkout,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert query("SELECT system, count(*) FROM cpu_interval GROUP BY ALL ORDER BY ALL") == (
        "SYSA,96\nSYSB,96\n"
    )
    assert query("SELECT count(*) > 0 FROM smf119_zert_detail WHERE day = '2026-03-02'") == "true\n"
    comments = (
        "SELECT count(*), count(comment) FROM duckdb_columns() "
        "WHERE schema_name = 'main' AND table_name = 'smf119_tcp_term'"
    )
    columns, commented = query(comments).split(",")
    assert int(columns) == int(commented) > 20


def test_the_shell_of_duckdb_reads_an_exported_file(checkout: Path, tmp_path: Path) -> None:
    target = tmp_path / "one.duckdb"
    subprocess.run(
        [BESIDE_PYTHON / "zscope", "export", "smf70_interval", "-q", "-o", target],
        cwd=checkout,
        env=WITHOUT_STORE,
        check=True,
    )
    done = subprocess.run(
        [BESIDE_PYTHON / "duckdb", "-csv", "-noheader", target, "SELECT count(*) FROM smf70_interval"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "192\n"
