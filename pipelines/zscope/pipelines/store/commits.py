"""The numbered commits of a store: each is one file that appears as a whole, and together they are its state.

A commit adds data files, drops some, or both, and tells of a load where it is one. Nothing else decides what
is in the store: a data file that no commit names does not exist, whatever lies on the disk. Reading all
commits of years takes time, so every so often the state itself is written down; such a checkpoint only saves
time and may be missing or damaged.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from zscope.pipelines.settings import LONGEST_WAIT_S
from zscope.pipelines.store.folder import Folder, StoreError, settle, write_atomically
from zscope.pipelines.store.loads import Load, known_fields

if TYPE_CHECKING:
    from pathlib import Path

CHECKPOINT_EVERY = 100
KEPT_CHECKPOINTS = 2
LONGEST_GRACE = timedelta(seconds=LONGEST_WAIT_S)
"""Nobody may keep dropped files longer (`grace_s`), so what was dropped before is swept."""
_DIGITS = 8
_CHECKPOINT = "checkpoint-"


@dataclass(frozen=True, slots=True)
class DataFile:
    """One Parquet file."""

    path: str
    """From the data folder on."""
    table: str
    day: str | None
    rows: int
    bytes: int
    loads: dict[int, int]
    """Rows of each load in it."""
    schema: str
    """Digest of its columns and types: files of another version of zscope may have others."""
    digest: str
    """XXH3 of 128 bits over the file."""
    first_local: str | None = None
    last_local: str | None = None
    """The span of its times; None where it has none."""

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> DataFile:
        """From plain values."""
        values = known_fields(cls, raw)
        return cls(**{**values, "loads": {int(load): rows for load, rows in raw["loads"].items()}})


@dataclass(frozen=True, slots=True)
class Commit:
    """One change, all of it or nothing."""

    kind: str
    """`load`, `remove`, `compact`, `expire` or `validate`."""
    adds: tuple[DataFile, ...] = ()
    drops: tuple[str, ...] = ()
    load: Load | None = None
    removed_load: int | None = None
    reopened: tuple[int, ...] = ()
    """Loads that lost records with the removed one: their files may be loaded again."""
    at_utc: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="milliseconds"))

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self) | {"load": self.load.to_json() if self.load else None}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Commit:
        """The other way round."""
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
    """What the commits up to a number add up to."""

    number: int = 0
    files: dict[str, DataFile] = field(default_factory=dict)
    loads: dict[int, Load] = field(default_factory=dict)
    removed: set[int] = field(default_factory=set)
    reopened: set[int] = field(default_factory=set)
    _places: dict[tuple[str, str | None], dict[str, DataFile]] = field(
        default_factory=lambda: defaultdict(dict), compare=False
    )
    """The files again, by table and day: a run over thousands of files asks for those of a place each time.
    """
    dropped: dict[str, str] = field(default_factory=dict)
    """Files that do not count any more, and since when: readers may still be at them for a while."""

    def __post_init__(self) -> None:
        for file in self.files.values():
            self._places[file.table, file.day][file.path] = file

    def files_for(self, table: str, day: str | None) -> list[DataFile]:
        """The files of a table that can have rows of a day: its own, and those of rows that are filed
        without.

        A load of very many days files the rows of some without; then rows of any day can be meant.
        """
        if day is None:
            return [file for file in self.files.values() if file.table == table]
        places = (self._places.get((table, where), {}) for where in (day, None))
        return [file for place in places for file in place.values()]

    @property
    def next_load_id(self) -> int:
        """Numbers are never used twice."""
        return max(self.loads, default=0) + 1

    @property
    def live_loads(self) -> list[Load]:
        """The loads that were not removed."""
        return [load for number, load in sorted(self.loads.items()) if number not in self.removed]

    def apply(self, commit: Commit) -> None:
        """Go on by one commit."""
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
        """As plain values."""
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
        """The other way round."""
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
    """What the store holds; a commit that is missing or cannot be read is an error, never a guess."""
    numbers = _numbers(folder)
    state = _newest_checkpoint(folder)
    for number in range(state.number + 1, max(numbers, default=0) + 1):
        path = _path(folder, number)
        try:
            state.apply(Commit.from_json(json.loads(path.read_text(encoding="utf-8"))))
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise StoreError(
                f"{path}: a commit of the store is missing or damaged ({error}); restore it from a backup, "
                "as what it added or dropped is told nowhere else"
            ) from error
    return state


def append(folder: Folder, state: State, commit: Commit) -> None:
    """Make a change happen. The caller holds the lock, and the data files are on the disk already."""
    number = state.number + 1
    folder.commits.mkdir(exist_ok=True)
    folder.stage.mkdir(exist_ok=True)
    written = folder.stage / f"commit-{number}.json"
    written.write_text(json.dumps(commit.to_json()), encoding="utf-8")
    settle([written])
    # A link fails where a rename would replace: a commit that is there already is never lost, even if two
    # writers believed to be alone.
    try:
        os.link(written, _path(folder, number))
    except FileExistsError as error:
        raise StoreError(
            f"{folder.path}: another process committed meanwhile; nothing of this was kept, try again"
        ) from error
    written.unlink()
    settle([folder.commits])
    state.apply(commit)
    if number % CHECKPOINT_EVERY == 0:
        _write_checkpoint(folder, state)


def _write_checkpoint(folder: Folder, state: State) -> None:
    """Write the state down, and let go of what is not needed for it any more: older ones and old drops."""
    long_ago = (datetime.now(UTC) - LONGEST_GRACE).isoformat()
    state.dropped = {path: at for path, at in state.dropped.items() if at > long_ago}
    name = f"{_CHECKPOINT}{state.number:0{_DIGITS}}.json"
    write_atomically(folder.commits / name, json.dumps(state.to_json()).encode())
    for old in sorted(n for n in _names(folder) if n.startswith(_CHECKPOINT))[:-KEPT_CHECKPOINTS]:
        (folder.commits / old).unlink(missing_ok=True)


def _path(folder: Folder, number: int) -> Path:
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
            continue  # only saves time: the commits tell the same
    return State()
