"""Kill nights, run the next one, and compare everything with a night that was not disturbed.

    python -m tests.app.cli.nightly.killing_nights FOLDER KILLS

Prints a list of kills with their faults as JSON.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import signal
import sys
from datetime import timedelta
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from tests.app.cli.nightly.nights import FIRST_DAY, LOAD, MOVE, OTHER, SMALL, NightFolder, days_since, step
from tests.app.report_reading import harmless
from tests.app.short_reports import shorten_report
from tests.pipelines.store.forked import CHECKOUT, done_by_child, start, warm_up
from tests.pipelines.store.operations import observed
from tests.pipelines.stores import dump_bytes, leftovers

from zscope.app.cli.main import program
from zscope.pipelines.ingest import commit_new_rows
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.file_checks import check_store
from zscope.pipelines.store.folder import existing_store

SETTINGS = f"""{LOAD}
timezone = "+00:00"
jobs = 1
{MOVE}
[expire]
keep = "{days_since(FIRST_DAY + timedelta(days=1))}d"
[check]
[report]
path = "tls.html"
appendix = "tls-appendix.html"
[[export]]
target = "csv"
format = "csv"
tables = ["smf119_tcp_init", "load"]
[[export]]
target = "dated/{{date}}.duckdb"
tables = ["smf119_zert_detail", "smf119_tcp_init"]
[[export]]
target = "now.om"
tables = ["handshake_mix"]
"""
REPORT = CHECKOUT / "sample-data" / "reports" / "netstat.SYSA.2026-03-02.txt"
EARLIER = dump_bytes(30, 2, seed=5, mix={"tcp-init": 1, "zert-detail": 1})
_OF_THE_MOMENT = {
    "load": ("started_utc", "seconds", "mb_per_second"),
    "input_issue": ("since_utc",),
}
"""Columns that differ between two runs that do the same."""
_IMPORTED_BY_A_NIGHT = (
    "zscope.app.cli.commands.export",
    "zscope.app.cli.commands.nightly",
    "zscope.app.cli.nightly.running",
    "zscope.app.cli.output.writers",
    "zscope.app.cli.reporting",
    "zscope.app.report.report_page",
    "zscope.pipelines.export",
    "zscope.pipelines.exposition",
    "zscope.pipelines.metrics.narrowing",
)
"""What each child would otherwise import again."""
_OUTSIDE_THE_DATA = (
    "/loaded",
    "/csv",
    "/.csv",
    "/dated",
    "/.now",
    "/now",
    "/tls",
    "/.tls",
    "/store/nightly",
    "/new",
)


class NightScene:
    """A folder with the store of the night before and new files, again and again at the same place."""

    def __init__(self, place: Path) -> None:
        self.night = NightFolder(place / "night")
        self._before = place / "before"

    def prepare(self) -> None:
        """Run the night before, and add the new files."""
        (self.night.path / "dated").mkdir(parents=True)
        self.night.settings(SETTINGS)
        self.night.add("early.smf", EARLIER)
        self.run()
        self.night.add("a.smf", SMALL)
        self.night.add("sub/b.smf.gz", gzip.compress(OTHER, mtime=0))
        self.night.add(f"reports/{REPORT.name}", REPORT.read_bytes())
        self.night.add("refused.smf", b"")
        self.night.add("notes.txt", b"nothing that zscope knows")
        shutil.copytree(self.night.path, self._before)

    def restart(self) -> None:
        """Back to the evening."""
        shutil.rmtree(self.night.path)
        shutil.copytree(self._before, self.night.path)

    def run(self) -> int:
        """Run a night in this process, and return its exit code."""
        settings, report = self.night.path / "nightly.toml", self._before.with_name("report.txt")
        with pytest.raises(SystemExit) as end:
            program.main(["nightly", "--settings", str(settings), "--quiet", "-o", str(report)])
        assert isinstance(end.value.code, int)
        return end.value.code

    def view(self) -> dict[str, Any]:
        """Return everything that a night leaves, without what depends on the time."""
        night = self.night
        report = json.loads((night.store / "nightly" / "last.json").read_bytes())
        return {
            "tables": _tables(night.store),
            "files": {name: _digest(night.path / name) for name in ("new", "loaded")},
            "csv": {path.name: _csv(path) for path in sorted((night.path / "csv").iterdir())},
            "duckdb": {path.name: _database(path) for path in (night.path / "dated").iterdir()},
            "page": _page(night.path / "tls-appendix.html"),
            "series": sorted((night.path / "now.om").read_text().splitlines()),
            "report": {
                "exit codes": {each["step"]: each["exit_code"] for each in report["steps"]},
                "load": step(report, "load")["counts"],
                "files of the load": sorted(
                    json.dumps({key: item[key] for key in item if key != "note"})
                    for item in step(report, "load")["items"]
                ),
                "exports": step(report, "export")["items"],
            },
        }

    def left(self) -> list[str]:
        """Return what killed processes left."""
        ours = ("nightly/", "summaries/")
        in_store = [name for name in leftovers(self.night.store) if not name.startswith(ours)]
        hidden = [
            str(path.relative_to(self.night.path))
            for path in self.night.path.rglob(".*")
            if path.name not in {".lock", ".shown.json"}
        ]
        unfinished = self.night.store / "nightly" / "unfinished.json"
        return [*in_store, *hidden, *([unfinished.name] if unfinished.exists() else [])]

    def next_night(self) -> dict[str, Any]:
        """Run the night after a kill and return what it leaves."""
        code = self.run()
        check_store(existing_store(self.night.store))
        return self.view() | {"code": code, "left": self.left()}


def _tables(store: Path) -> dict[str, list[str]]:
    tables = {}
    with open_reader(store) as connection:
        names = connection.execute(
            "SELECT table_name, list(column_name) FROM duckdb_columns() WHERE schema_name = 'main' AND NOT "
            "internal AND (table_name IN ('load', 'load_table', 'load_kind', 'load_gap') OR table_name IN ("
            "SELECT view_name FROM duckdb_views() WHERE sql LIKE '%read_parquet(%')) GROUP BY ALL"
        ).fetchall()
        for table, columns in names:
            if table.startswith("zscope_"):
                continue
            selected = ", ".join(f'"{each}"' for each in columns if each not in _OF_THE_MOMENT.get(table, ()))
            found = connection.execute(f"SELECT {selected} FROM {table}").fetchall()
            tables[table] = sorted(map(repr, found))
    return tables


def _digest(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _csv(path: Path) -> list[str]:
    header, *lines = path.read_text().splitlines()
    left_out = [header.split(",").index(name) for name in _OF_THE_MOMENT["load"] if path.stem == "load"]
    cells = (line.split(",") for line in lines)
    return sorted(",".join(c for i, c in enumerate(each) if i not in left_out) for each in cells)


def _database(path: Path) -> dict[str, list[str]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        tables = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return {
            name: sorted(map(repr, connection.execute(f"SELECT * FROM {name}").fetchall())) for name in tables
        }


def _page(path: Path) -> dict[str, list[str]]:
    """Return the tables of the report to send, without what depends on the time."""
    return {
        part: [
            ", ".join(cell.text for name, cell in row.items() if name != "Started (UTC)")
            for row in table.rows
        ]
        for part, table in harmless(path.read_bytes()).tables.items()
    }


def operations(scene: NightScene) -> list[str]:
    """Return the operations of a night on files, in order."""
    found: list[str] = []
    with observed(scene.night.path, found.append):
        scene.run()
    return found


def run_until(scene: NightScene, nth: int) -> None:
    """Run a night and kill it before its nth operation on files."""
    numbers = count()

    def at_operation(_: str) -> None:
        if next(numbers) == nth:
            os.kill(os.getpid(), signal.SIGKILL)

    with observed(scene.night.path, at_operation):
        scene.run()


def instants(every: list[str], kills: int) -> list[int]:
    """Choose operations: one where each kind of file is moved, exported or reported, the others anywhere."""
    places = [
        [number for number, what in enumerate(every) if what.split(" ", 1)[1].startswith(place)]
        for place in _OUTSIDE_THE_DATA
    ]
    outside = [numbers[len(numbers) // 2] for numbers in places if numbers]
    anywhere = kills - len(outside)
    return sorted({*outside, *(int((each + 0.5) * len(every) / anywhere) for each in range(anywhere))})


def faults_after_kill(scene: NightScene, whole: dict[str, Any]) -> list[str]:
    """Return how the next night differs from one that was not disturbed."""
    finished = not (scene.night.store / "nightly" / "unfinished.json").exists()
    reported = (scene.night.store / "nightly" / "last.json").read_bytes()
    done = done_by_child(scene.next_night)
    found = [
        f"{name}: {_difference(done[name], whole[name])}"
        for name in ("code", "tables", "files", "csv", "duckdb", "page", "series", "left")
        if done[name] != whole[name]
    ]
    of_whole_night = not (finished and b"early.smf" not in reported)
    if of_whole_night and done["report"] != whole["report"]:
        found.append(f"report: {_difference(done['report'], whole['report'])}")
    return found


def _difference(one: object, other: object) -> str:
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted({*one, *other})
        return "; ".join(
            f"{k}: {_difference(one.get(k), other.get(k))}" for k in keys if one.get(k) != other.get(k)
        )
    if isinstance(one, list) and isinstance(other, list):
        more, less = ([x for x in a if x not in b][:3] for a, b in ((one, other), (other, one)))
        return f"only now {more}, missing {less}"
    return f"{one!r} instead of {other!r}"


def nights_with_kills(scene: NightScene, number: int) -> dict[str, Any]:
    """Return what an undisturbed night leaves, and the faults after each kill."""
    done_by_child(scene.prepare)
    scene.restart()
    whole = done_by_child(scene.next_night)
    kills: list[dict[str, Any]] = []
    scene.restart()
    every = done_by_child(lambda: operations(scene))
    for nth in instants(every, number):
        scene.restart()
        code, _ = start(lambda _, nth=nth: run_until(scene, nth)).end()  # type: ignore[misc]
        killed = code == -signal.SIGKILL
        kills.append({"where": every[nth], "killed": killed, "faults": faults_after_kill(scene, whole)})
    return {"kills": kills, "operations": len(every), "whole": whole}


def main() -> None:
    """Run the program."""
    pa.set_cpu_count(1)
    warm_up()
    for module in _IMPORTED_BY_A_NIGHT:
        import_module(module)
    with pytest.MonkeyPatch.context() as patch:
        shorten_report(patch, "data")
        patch.setattr(commit_new_rows, "LONGEST_S", 3600.0)  # else a slow machine makes more commits
        result = nights_with_kills(NightScene(Path(sys.argv[1])), int(sys.argv[2]))
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    main()
