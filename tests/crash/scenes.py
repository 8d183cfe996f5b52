"""The commands that change a store, each with the files that it finds."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.app.cli.stop_signal import StopSignal
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import existing_store

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest
    from tests.crash.work_folder import Ended, WorkFolder

REPORT = Path(__file__).resolve().parents[2] / "sample-data" / "reports" / "netstat.SYSA.2026-03-02.txt"
KEEP = f"{(datetime.now(UTC).date() - date(2026, 3, 3)).days}d"
"""All days of the dumps but the first one."""
NIGHTLY = f"""
store = "store"
[load]
folders = ["new"]
jobs = 1
[files]
after_load = "move"
move_to = "loaded"
[expire]
keep = "{KEEP}"
[check]
[publish]
iceberg = "store-iceberg"
[[export]]
target = "csv"
format = "csv"
tables = ["smf119_tcp_init"]
[[export]]
target = "dated/{{date}}.duckdb"
tables = ["smf119_tcp_init"]
"""


@dataclass(frozen=True, slots=True)
class Scene:
    """A command, and what it finds."""

    name: str
    prepare: Callable[[WorkFolder], None]
    arguments: tuple[str, ...]
    code: int = 0
    """Its exit code."""
    code_again: int = 0
    """Its exit code if everything has been done."""
    checks: tuple[int, ...] = (0,)
    """The exit codes of `zscope store check` before it is done and after it."""

    def run(self, folder: WorkFolder) -> Ended:
        """Run the command."""
        return folder.run(*self.arguments)


def _with_a_new_file(folder: WorkFolder) -> None:
    folder.add_dumps("new/a.smf")


def _with_new_files(folder: WorkFolder) -> None:
    """Two dumps, a report and a file that is refused, beside a store with a load."""
    folder.add_dumps("early.smf", "new/a.smf", "new/b.smf")
    folder.done(*_INGEST, "early.smf")
    folder.add(f"new/{REPORT.name}", REPORT.read_bytes())
    folder.add("new/refused.smf", b"")


def _before_a_night(folder: WorkFolder) -> None:
    (folder.path / "dated").mkdir()
    folder.add("nightly.toml", NIGHTLY.encode())
    folder.add_dumps("new/early.smf")
    folder.done("nightly", "--settings", "nightly.toml", "--quiet")
    folder.add_dumps("other.smf", "new/a.smf", "new/sub/b.smf")
    folder.add("new/refused.smf", b"")


def _with_a_load(folder: WorkFolder) -> None:
    folder.add_dumps("a.smf")
    folder.done(*_INGEST, "a.smf")


def _with_two_loads(folder: WorkFolder) -> None:
    folder.add_dumps("a.smf", "b.smf")
    folder.done(*_INGEST, "a.smf")
    folder.done(*_INGEST, "b.smf")


def _compacted(folder: WorkFolder) -> None:
    """The files have rows of both loads and days."""
    _with_two_loads(folder)
    folder.done("store", "compact", *_STORE)


def _damaged(folder: WorkFolder) -> None:
    _with_two_loads(folder)
    _flip_a_bit(folder)


def _damaged_with_backup(folder: WorkFolder) -> None:
    _with_two_loads(folder)
    shutil.copytree(folder.store, folder.path / "backup")
    _flip_a_bit(folder)


def _flip_a_bit(folder: WorkFolder) -> None:
    store = existing_store(folder.store)
    path = store.data / next(path for path in sorted(read_state(store).files) if "tcp_init" in path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _published_before(folder: WorkFolder) -> None:
    """Since the last publication there are loads of an old and of new tables, and a removal."""
    _with_a_load(folder)
    folder.done(*_PUBLISH)
    folder.add_dumps("a.smf", "b.smf")
    folder.add(REPORT.name, REPORT.read_bytes())
    folder.done(*_INGEST, "b.smf", REPORT.name)
    folder.done("loads", "remove", "1", *_STORE)


_STORE = ("--store", "store")
_INGEST = ("ingest", "--jobs", "1", *_STORE)
_PUBLISH = ("publish", "iceberg", "--quiet", *_STORE)
_WATCH = ("watch", "new", "--jobs", "1", "--move-to", "loaded", "--quiet", *_STORE)
_RUN = (
    *("runs", "add", "one", "--system", "SYSA", "--role", "server", *_STORE),
    *("--from", "2026-03-02T01:00Z", "--to", "2026-03-02T01:12Z"),
)
_SCENES = (
    Scene("ingest, new store", _with_a_new_file, (*_INGEST, "new")),
    Scene("ingest", _with_new_files, (*_INGEST, "new"), 8, 8),
    Scene("watch", _with_new_files, _WATCH, 8, 8),
    Scene("nightly", _before_a_night, ("nightly", "--settings", "nightly.toml", "--quiet"), 8, 8),
    Scene("loads remove", _compacted, ("loads", "remove", "1", *_STORE), 0, 12),
    Scene("store compact", _with_two_loads, ("store", "compact", *_STORE)),
    Scene("store expire", _compacted, ("store", "expire", "--keep", KEEP, *_STORE)),
    Scene("store rebuild", _with_two_loads, ("store", "rebuild", *_STORE)),
    Scene("store check --record", _damaged, ("store", "check", "--record", *_STORE), 8, 8, (8, 8)),
    Scene("store repair", _damaged, ("store", "repair", *_STORE), checks=(8, 0)),
    Scene(
        "store repair --backup", _damaged_with_backup, ("store", "repair", "--backup", "backup", *_STORE),
        checks=(8, 0),
    ),
    Scene("publish iceberg, first", _with_a_load, _PUBLISH),
    Scene("publish iceberg", _published_before, _PUBLISH),
    Scene("runs add", _with_a_load, _RUN, 0, 12),
)  # fmt: skip
SCENES = {scene.name: scene for scene in _SCENES}


def watch_once(patch: pytest.MonkeyPatch) -> None:
    """Let `zscope watch` look into its folder once."""

    def stop(signal: StopSignal, _: float) -> None:
        signal.is_set = True

    patch.setattr(StopSignal, "wait", stop)
