"""Run jobs on a store with too little space, and examine the store and the messages.

    python -m tests.pipelines.store.cramped FOLDER disk|file|readonly JOB [SHARE ...]

`disk`: the store is on file systems of several sizes, `file`: the size of files is limited, `readonly`:
nothing can be written. SHARE replaces the sizes. The catalogue is small. Mounting requires separate
namespaces (`unshare -Urm`). Prints a list of trials with their faults as JSON.
"""

from __future__ import annotations

import io
import json
import os
import resource
import shutil
import subprocess
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.pipelines.small_catalogue import use_small_catalogue
from tests.pipelines.store.forked import done_by_child, warm_up
from tests.pipelines.store.looking import View, view
from tests.pipelines.stores import dump_bytes, leftovers, load

from zscope.app.cli.hidden_libraries import without_pandas
from zscope.app.cli.main import program
from zscope.pipelines.store.file_checks import check_store
from zscope.pipelines.store.folder import existing_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

TABLES = (
    "smf119_tcp_init", "smf119_zert_detail", "smf119_zert_dn",
    "smf119_zert_ipsec",
)  # fmt: skip
PLENTY = 256 << 20
_BLOCK = 4096
DISK = (0.0, 0.03, 0.1, 0.3, 0.9, 1.4)
"""Space for a job, as shares of the space used after it; old and new files exist at the same time."""
FILE = (0.0, 0.02, 0.1, 0.99)
"""Limits of the size of files, as shares of the largest one that the job writes."""
NOTHING_DONE = 12

Ran = tuple[int, str]


def zscope(*arguments: object, longest_file: int | None = None) -> Ran:
    """Run the program in a child: its exit code and what it said on standard error."""

    def run() -> list[object]:
        if longest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (longest_file, longest_file))
        words = io.StringIO()
        code: object = 0
        without_pandas()
        with redirect_stderr(words), redirect_stdout(io.TextIOWrapper(io.BytesIO())):
            try:
                program.main([str(argument) for argument in arguments], prog_name="zscope")
            except SystemExit as ended:
                code = ended.code
        return [code, words.getvalue()]

    code, words = done_by_child(run)
    return code, words


def clear(words: str, store: Path) -> list[str]:
    """Return the faults of the error messages of a failed job."""
    errors = [line for line in words.splitlines() if line.startswith("Error: ")]
    found = []
    if len(errors) != 1:
        found.append(f"{len(errors)} messages instead of one: {words}")
    if "Traceback" in words or "defect" in words:
        found.append(f"a traceback: {words}")
    if not any(str(store) in error for error in errors):
        found.append(f"no message names the place: {words}")
    return found


def seen(store: Path) -> View:
    """The store, as a child sees it."""
    return View.from_json(done_by_child(lambda: view(store).to_json()))


class Trial:
    """One job, repeated at the same place with too little space."""

    def __init__(self, store: Path, inputs: Path, job: str) -> None:
        self.store = store
        self._small, self._dump, self._before = inputs / "small.smf", inputs / "dump.smf", inputs / "before"
        self._small.write_bytes(dump_bytes(24, 2, seed=9, mix={"tcp-init": 1}))
        self._dump.write_bytes(dump_bytes(60, 1, mix={"tcp-init": 1, "zert-detail": 1}))
        if job != "first":
            done_by_child(lambda: load(store, self._small).committed)
        if job not in {"first", "second"}:
            done_by_child(lambda: load(store, self._dump).committed)
        if store.exists():
            shutil.copytree(store, self._before)
        self.arguments: tuple[object, ...] = {
            "compact": ("store", "compact", "--store", store),
            "remove": ("loads", "remove", 1, "--store", store),
            "expire": ("store", "expire", "--keep", "1d", "--store", store),
        }.get(job, ("ingest", self._dump, "--store", store))
        self.before = seen(store)
        code, words = zscope(*self.arguments)
        assert code == 0, words
        self.after = seen(store)
        assert self.after != self.before

    def restart(self) -> None:
        """Restore the store to before the job."""
        shutil.rmtree(self.store, ignore_errors=True)
        if self._before.exists():
            shutil.copytree(self._before, self.store)

    def faults(self, ran: Ran) -> list[str]:
        """Return the faults after a run with too little space."""
        code, words = ran
        now = seen(self.store)
        if code == 0:
            if (now.reader, now.plain) == (self.after.reader, self.after.plain):
                return []
            return [f"success was reported, but the catalogue shows {now.plain} and a reader {now.reader}"]
        found = clear(words, self.store)
        if code != NOTHING_DONE:
            found.append(f"it ended with {code}: {words}")
        whole = self.after if now.commits > self.before.commits else self.before
        if now.reader != whole.reader:
            found.append(f"a reader sees {now.reader} after {now.commits} commits")
        if now.plain not in (self.before.plain, self.after.plain):
            found.append(f"the catalogue shows {now.plain}")
        if "was not committed" in words and now.commits > self.before.commits:
            found.append(f"it was committed, and yet: {words}")
        return found

    def faults_of_next(self) -> list[str]:
        """Return the faults after the next run, which has enough space."""
        now = seen(self.store)
        code, words = zscope(*self.arguments)
        if "remove" in self.arguments and now.commits > self.before.commits:
            # It was removed, so that a second time is an error; the catalogue is behind until a next change.
            code, words = zscope("store", "rebuild", "--store", self.store)
        if code:
            return [f"the next run ended with {code}: {words}"]
        done_by_child(lambda: check_store(existing_store(self.store)).files)
        found = []
        now = seen(self.store)
        if (now.reader, now.plain) != (self.after.reader, self.after.plain):
            found.append(f"after the next run the catalogue shows {now.plain} and a reader {now.reader}")
        if left := done_by_child(lambda: leftovers(self.store)):
            found.append(f"left behind: {left}")
        return found


def on_small_disks(
    place: Path, inputs: Path, job: str, shares: Sequence[float] = DISK
) -> Iterator[dict[str, Any]]:
    """The store on a file system with little room left."""
    disk = place / "disk"
    disk.mkdir()
    _mount("-t", "tmpfs", "-o", f"size={PLENTY}", "none", disk)
    trial = Trial(disk / "store", inputs, job)
    used = _used(disk)
    trial.restart()
    before = _used(disk)
    for share in shares:
        trial.restart()
        size = _used(disk) + int(share * used) // _BLOCK * _BLOCK
        _mount("-o", f"remount,size={max(size, _BLOCK)}", disk)
        ran = zscope(*trial.arguments)
        faults = trial.faults(ran)
        _mount("-o", f"remount,size={PLENTY}", disk)
        yield _told(f"{size - before:,} bytes left", ran, [*faults, *trial.faults_of_next()])


def with_short_files(
    place: Path, inputs: Path, job: str, shares: Sequence[float] = FILE
) -> Iterator[dict[str, Any]]:
    """No file may grow beyond some size."""
    trial = Trial(place / "store", inputs, job)
    longest = max(path.stat().st_size for path in trial.store.rglob("*") if path.is_file())
    for share in shares:
        trial.restart()
        size = int(share * longest)
        ran = zscope(*trial.arguments, longest_file=size)
        yield _told(f"files of {size:,} bytes", ran, [*trial.faults(ran), *trial.faults_of_next()])


def unwritable(place: Path, inputs: Path, job: str) -> Iterator[dict[str, Any]]:
    """Nothing can be written where the store is, or should be."""
    disk = place / "disk"
    disk.mkdir()
    if os.geteuid() == 0:
        _mount("-t", "tmpfs", "-o", f"size={PLENTY}", "none", disk)
    trial = Trial(disk / "store", inputs, job)
    trial.restart()
    with _no_writing(disk):
        ran = zscope(*trial.arguments)
        faults = trial.faults(ran)
        if trial.store.exists():
            question = zscope("sql", "SELECT count(*) FROM smf119_tcp_init", "--store", trial.store)
            faults += [f"questions are not answered: {question[1]}"] if question[0] else []
    yield _told("nothing can be written", ran, [*faults, *trial.faults_of_next()])


@contextmanager
def _no_writing(disk: Path) -> Iterator[None]:
    if os.geteuid() == 0:
        _mount("-o", "remount,ro", disk)
        yield
        _mount("-o", "remount,rw", disk)
        return
    every = [disk, *disk.rglob("*")]
    modes = {path: path.stat().st_mode for path in every}
    for path in every:
        path.chmod(modes[path] & ~0o222)
    yield
    for path in every:
        path.chmod(modes[path])


def _mount(*arguments: object) -> None:
    subprocess.run(["mount", *map(str, arguments)], check=True)


def _used(disk: Path) -> int:
    found = os.statvfs(disk)
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def _told(where: str, ran: Ran, faults: list[str]) -> dict[str, Any]:
    return {"where": where, "code": ran[0], "words": ran[1], "faults": faults}


def main() -> None:
    """Run the program."""
    place, what, job = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    inputs = place / "inputs"
    inputs.mkdir()
    pa.set_cpu_count(1)
    warm_up()
    empty = place / "empty.duckdb"
    done_by_child(lambda: empty.write_bytes(use_small_catalogue(pytest.MonkeyPatch(), tables=TABLES)))
    use_small_catalogue(pytest.MonkeyPatch(), empty.read_bytes(), TABLES)
    for command in ("ingest", "loads", "sql", "store"):
        import_module(f"zscope.app.cli.commands.{command}")  # once, and not in every child
    trials: dict[str, Callable[..., Iterator[dict[str, Any]]]] = {
        "disk": on_small_disks,
        "file": with_short_files,
        "readonly": unwritable,
    }
    shares = [[float(share) for share in sys.argv[4:]]] if len(sys.argv) > 4 else []
    sys.stdout.write(json.dumps(list(trials[what](place, inputs, job, *shares))))


if __name__ == "__main__":
    main()
