"""Where things lie in a store, and how files get there so that a crash leaves the old or the new state."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

FORMAT = 1
"""Of the folder; a later one would be refused rather than misread."""
_MARK = "zscope-store.json"
NO_DAY = "__HIVE_DEFAULT_PARTITION__"
"""How the layout that DuckDB, Spark and Arrow share spells a partition without a value."""
_FSYNC_THREADS = 8


class StoreError(Exception):
    """A store that cannot be used as asked; the message says why and what to do."""


class DamagedStoreError(StoreError):
    """A check of the store failed: files are not what they were."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The places in a store."""

    path: Path

    @property
    def data(self) -> Path:
        """Parquet files by table and day; only those that the commits name count."""
        return self.path / "data"

    @property
    def commits(self) -> Path:
        """The numbered commits: the truth about the store."""
        return self.path / "commits"

    @property
    def stage(self) -> Path:
        """What is being written; of no interest to anyone but the writer, and swept by the next one."""
        return self.path / ".stage"

    @property
    def settings(self) -> Path:
        """What the site says about its systems; may be there before the store is."""
        return self.path / "zscope.toml"

    @property
    def lock(self) -> Path:
        """Held by whoever changes the store."""
        return self.path / ".lock"

    @property
    def catalogue(self) -> Path:
        """What DuckDB clients open."""
        return self.path / "zscope.duckdb"

    @property
    def runs(self) -> Path:
        """What the analyst says about benchmark runs."""
        return self.path / "runs.toml"

    @property
    def quarantine(self) -> Path:
        """Reports about files that were refused."""
        return self.path / "quarantine"

    @property
    def docs(self) -> Path:
        """The results of data validation as pages."""
        return self.path / "data-docs"


def partition(table: str, day: str | None) -> str:
    """Where the files of a table and day lie, from the data folder on.

    >>> partition("netstat_conn", "2026-03-02"), partition("netstat_conn", None)
    ('netstat_conn/day=2026-03-02', 'netstat_conn/day=__HIVE_DEFAULT_PARTITION__')
    """
    return f"{table}/day={day or NO_DAY}"


def existing_store(path: Path) -> Folder:
    """The store in a folder; anything else is an error that says what is there instead."""
    mark = path / _MARK
    try:
        found = json.loads(mark.read_text(encoding="utf-8"))["format"]
    except FileNotFoundError as error:
        what = "there is no store" if path.is_dir() or not path.exists() else "this is a file and no store"
        raise StoreError(f"{path}: {what}; zscope ingest --store {path} FILE makes one") from error
    except NotADirectoryError as error:
        raise StoreError(f"{path}: this is a file and no store; name a folder") from error
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(f"{mark}: the store cannot be read ({_told(error)})") from error
    if found != FORMAT:
        raise StoreError(
            f"{path}: the store has format {found}; this version of zscope reads format {FORMAT}"
        )
    return Folder(_sound(path))


def _sound(path: Path) -> Path:
    """Where a store lies, unless DuckDB would take the name of a folder above for something else."""
    place = path.resolve()
    for part in place.parts:
        if "*" in part or "?" in part:
            raise StoreError(f"{path}: a store cannot lie below {part!r}, which DuckDB takes for a pattern")
        if re.match(r"[^=]+=", part):
            raise StoreError(f"{path}: a store cannot lie below {part!r}, which DuckDB takes for a column")
    return place


def make_store(path: Path) -> Folder:
    """The store in a folder, made if there is nothing yet; a folder with other things in it is left alone.

    Several processes may make the same store at once: each writes the same mark. What one of them began and
    could not finish is taken up.
    """
    mark = path / _MARK
    folder = Folder(path)
    try:
        if mark.exists() or (path.exists() and not path.is_dir()):
            return existing_store(path)
        _sound(path)
        path.mkdir(parents=True, exist_ok=True)
        foreign = sorted(other.name for other in path.iterdir() if not _may_be_there(folder, other))
        # Asked again behind the listing: what another process put there came after its mark.
        if foreign and not mark.exists():
            some = ", ".join(foreign[:3])
            raise StoreError(
                f"{path}: the folder is no store and not empty ({some}); name another one, or one below it"
            )
        # Their names have to be on the disk before a commit that names files below them.
        for place in (folder.data, folder.commits):
            place.mkdir(exist_ok=True)
        settle([path, path.parent])
        write_atomically(mark, json.dumps({"format": FORMAT}).encode())
    except OSError as error:
        if mark.exists():  # another process made it meanwhile, and swept what we had begun
            return existing_store(path)
        raise StoreError(f"{path}: no store can be made here ({_told(error)})") from error
    return Folder(path.resolve())


def _may_be_there(folder: Folder, path: Path) -> bool:
    """Whether something in a folder does not keep it from becoming a store: settings, runs, a store begun.

    What lies in folders with the names of ours is somebody's: a store would sweep it.
    """
    if path in {folder.data, folder.commits, folder.stage}:
        return path.is_dir() and not any(path.iterdir())
    if path == folder.lock:
        return path.is_file() and not path.stat().st_size
    return path in {folder.settings, folder.runs} or (is_beside(path) and not path.is_dir())


def _told(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


_BESIDE = re.compile(r"\..+\.\d+\.beside")


def beside_of(path: Path) -> Path:
    """The name under which a file is written before it gets its own."""
    return path.with_name(f".{path.name}.{os.getpid()}.beside")


def is_beside(path: Path) -> bool:
    """Whether a file is one in the making, or what a killed process left of it."""
    return _BESIDE.match(path.name) is not None


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file under its name as a whole or not at all."""
    beside = beside_of(path)
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    settle([path.parent])


def settle(paths: Iterable[Path]) -> None:
    """Wait until files or folders have reached the disk: several at once, for each takes its time."""
    with ThreadPoolExecutor(_FSYNC_THREADS, thread_name_prefix="zscope-fsync") as pool:
        list(pool.map(_fsync, paths))


def _fsync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
