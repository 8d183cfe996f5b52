"""The numbered commits of a store, each one a file that is created atomically; together they are its state.

A commit adds data files, drops data files, or both, and describes the load if it is one. Only commits define
what is in the store: a data file that no commit lists is ignored. Because reading the commits of years takes
time, the state is written to a checkpoint from time to time; a missing or damaged checkpoint only costs time.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from zscope.pipelines.settings import LONGEST_WAIT_S
from zscope.pipelines.store.folder import Folder, StoreError, fsync_all, write_atomically
from zscope.pipelines.store.loads import Load, known_fields

if TYPE_CHECKING:
    from pathlib import Path

CHECKPOINT_EVERY = 100
KEPT_CHECKPOINTS = 2
LONGEST_GRACE = timedelta(seconds=LONGEST_WAIT_S)
"""The maximum of `grace_s`: files dropped longer ago are already deleted."""
_DIGITS = 8
_CHECKPOINT = "checkpoint-"


@dataclass(frozen=True, slots=True)
class DataFile:
    """One Parquet file."""

    path: str
    """Relative to the data folder."""
    table: str
    day: str | None
    rows: int
    bytes: int
    loads: dict[int, int]
    """Number of rows by load."""
    schema: str
    """Digest of its columns and types, which can differ between versions of zscope."""
    digest: str
    """XXH3-128 of the file."""
    first_local: str | None = None
    last_local: str | None = None
    """The earliest and latest time in it; None if it has no times."""

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> DataFile:
        """Return the data file of a JSON object."""
        values = known_fields(cls, raw)
        return cls(**{**values, "loads": {int(load): rows for load, rows in raw["loads"].items()}})


@dataclass(frozen=True, slots=True)
class Commit:
    """One atomic change of the store."""

    kind: str
    """`load`, `remove`, `compact`, `expire` or `validate`."""
    adds: tuple[DataFile, ...] = ()
    drops: tuple[str, ...] = ()
    load: Load | None = None
    removed_load: int | None = None
    reopened: tuple[int, ...] = ()
    """Loads that omitted records because the removed one had them; their files can be loaded again."""
    at_utc: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="milliseconds"))

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object."""
        return asdict(self) | {"load": self.load.to_json() if self.load else None}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Commit:
        """Return the value of a JSON object."""
        return cls(
            kind=raw["kind"],
            adds=tuple(DataFile.from_json(file) for file in raw["adds"]),
            drops=tuple(raw["drops"]),
            load=Load.from_json(raw["load"]) if raw["load"] else None,
            removed_load=raw["removed_load"],
            reopened=tuple(raw["reopened"]),
            at_utc=raw["at_utc"],
        )


@dataclass(slots=True)
class State:
    """The state of the store after a commit."""

    number: int = 0
    files: dict[str, DataFile] = field(default_factory=dict)
    loads: dict[int, Load] = field(default_factory=dict)
    removed: set[int] = field(default_factory=set)
    reopened: set[int] = field(default_factory=set)
    _places: dict[tuple[str, str | None], dict[str, DataFile]] = field(
        default_factory=lambda: defaultdict(dict), compare=False
    )
    """The same files by table and day, for fast lookup while thousands of files are loaded."""
    dropped: dict[str, str] = field(default_factory=dict)
    """Dropped files and when they were dropped; queries can still be reading them."""

    def __post_init__(self) -> None:
        for file in self.files.values():
            self._places[file.table, file.day][file.path] = file

    def files_for(self, table: str, day: str | None) -> list[DataFile]:
        """Return the files of a table that can have rows of a day.

        These are the files of the day and those without a day, where a load of very many days stores the
        rest.
        """
        if day is None:
            return [file for file in self.files.values() if file.table == table]
        places = (self._places.get((table, where), {}) for where in (day, None))
        return [file for place in places for file in place.values()]

    @property
    def next_load_id(self) -> int:
        """The number of the next load; numbers are never reused."""
        return max(self.loads, default=0) + 1

    @property
    def live_loads(self) -> list[Load]:
        """The loads that were not removed."""
        return [load for number, load in sorted(self.loads.items()) if number not in self.removed]

    def apply(self, commit: Commit) -> None:
        """Apply the next commit."""
        self.number += 1
        for path in commit.drops:
            file = self.files.pop(path)
            del self._places[file.table, file.day][path]
            self.dropped[path] = commit.at_utc
        for file in commit.adds:
            self.files[file.path] = self._places[file.table, file.day][file.path] = file
        if commit.load:
            self.loads[commit.load.load_id] = commit.load
        if commit.removed_load is not None:
            self.removed.add(commit.removed_load)
        self.reopened |= set(commit.reopened)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "number": self.number,
            "files": [asdict(file) for file in self.files.values()],
            "loads": [load.to_json() for load in self.loads.values()],
            "removed": sorted(self.removed),
            "reopened": sorted(self.reopened),
            "dropped": self.dropped,
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> State:
        """Return the value of a JSON object."""
        files = (DataFile.from_json(file) for file in raw["files"])
        loads = (Load.from_json(load) for load in raw["loads"])
        return cls(
            number=raw["number"],
            files={file.path: file for file in files},
            loads={load.load_id: load for load in loads},
            removed=set(raw["removed"]),
            reopened=set(raw["reopened"]),
            dropped=raw["dropped"],
        )


def last_commit(folder: Folder) -> int:
    """The number of the newest commit; 0 before the first."""
    return max(_numbers(folder), default=0)


def read_state(folder: Folder) -> State:
    """Return the state of the store; a missing or damaged commit raises StoreError."""
    numbers = _numbers(folder)
    state = _newest_checkpoint(folder)
    for number in range(state.number + 1, max(numbers, default=0) + 1):
        path = _commit_path(folder, number)
        try:
            state.apply(Commit.from_json(json.loads(path.read_text(encoding="utf-8"))))
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise StoreError(
                f"{path}: a commit of the store is missing or damaged ({error}); restore it from a backup: "
                "the files that it added or dropped are listed nowhere else"
            ) from error
    return state


def append(folder: Folder, state: State, commit: Commit) -> None:
    """Append a commit. The caller has the lock, and the data files are on disk."""
    number = state.number + 1
    folder.commits.mkdir(exist_ok=True)
    folder.stage.mkdir(exist_ok=True)
    written = folder.stage / f"commit-{number}.json"
    written.write_text(json.dumps(commit.to_json()), encoding="utf-8")
    fsync_all([written])
    # Unlike a rename, a link fails if the commit exists, so no commit is lost even if locking does not work.
    try:
        os.link(written, _commit_path(folder, number))
    except FileExistsError as error:
        raise StoreError(
            f"{folder.path}: another process committed at the same time; nothing was changed, try again"
        ) from error
    written.unlink()
    fsync_all([folder.commits])
    state.apply(commit)
    if number % CHECKPOINT_EVERY == 0:
        _write_checkpoint(folder, state)


def _write_checkpoint(folder: Folder, state: State) -> None:
    """Write the state, and delete older checkpoints and the entries of files dropped long ago."""
    long_ago = (datetime.now(UTC) - LONGEST_GRACE).isoformat()
    state.dropped = {path: at for path, at in state.dropped.items() if at > long_ago}
    name = f"{_CHECKPOINT}{state.number:0{_DIGITS}}.json"
    write_atomically(folder.commits / name, json.dumps(state.to_json()).encode())
    for old in sorted(n for n in _names(folder) if n.startswith(_CHECKPOINT))[:-KEPT_CHECKPOINTS]:
        (folder.commits / old).unlink(missing_ok=True)


def _commit_path(folder: Folder, number: int) -> Path:
    return folder.commits / f"{number:0{_DIGITS}}.json"


def _numbers(folder: Folder) -> list[int]:
    return [int(name.removesuffix(".json")) for name in _names(folder) if name[:1].isdigit()]


def _names(folder: Folder) -> list[str]:
    try:
        return [path.name for path in folder.commits.iterdir() if path.suffix == ".json"]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"{folder.commits}: the store cannot be read ({error.strerror})") from error


def _newest_checkpoint(folder: Folder) -> State:
    for name in sorted((n for n in _names(folder) if n.startswith(_CHECKPOINT)), reverse=True):
        try:
            return State.from_json(json.loads((folder.commits / name).read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue  # the commits contain the same
    return State()
