"""What commits change in each table, as far as it has to be published."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from zscope.pipelines.store.commits import read_commit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from zscope.pipelines.store.commits import Commit, DataFile, State
    from zscope.pipelines.store.folder import Folder

WHOLE_TABLE = "whole table"
"""Kind of a change that is not that of one commit."""


@dataclass(frozen=True, slots=True)
class TableChange:
    """What one commit changes in one table."""

    commit: int
    kind: str
    """The kind of the commit."""
    at_ms: int
    """When it was committed, in milliseconds since 1970."""
    adds: Mapping[str, DataFile]
    """By path."""
    drops: frozenset[str]
    loads: tuple[int, ...] = ()
    """The loads that it adds, or the one that it removes."""
    commits: int = 1
    """The number of commits that are one snapshot, as nobody can read the tables between them any more."""


def changes_after(folder: Folder, first: int, last: int) -> dict[str, list[TableChange]]:
    """Return the changes of the commits after one, up to another, for each table that they change."""
    changes: dict[str, list[TableChange]] = defaultdict(list)
    for number in range(first + 1, last + 1):
        for table, change in _by_table(number, read_commit(folder, number)):
            changes[table].append(change)
    return changes


def _by_table(number: int, commit: Commit) -> Iterable[tuple[str, TableChange]]:
    adds: dict[str, dict[str, DataFile]] = defaultdict(dict)
    drops: dict[str, set[str]] = defaultdict(set)
    for file in commit.adds:
        adds[file.table][file.path] = file
    for path in commit.drops:
        drops[table_of(path)].add(path)
    removed = () if commit.removed_load is None else (commit.removed_load,)
    loads = tuple(load.load_id for load in commit.loads) or removed
    for table in sorted(adds.keys() | drops.keys()):
        change = TableChange(
            number, commit.kind, _milliseconds(commit.at_utc), adds[table], frozenset(drops[table]), loads
        )
        yield table, change


@dataclass(frozen=True, slots=True)
class WholeTables:
    """All files of a store after a commit."""

    number: int
    """The commit."""
    at_ms: int
    tables: Mapping[str, TableChange]
    """The change that adds all files of a table, for each table with files."""

    def empty(self, table: str) -> TableChange:
        """Return the same for a table without files."""
        return self.tables.get(table) or TableChange(self.number, WHOLE_TABLE, self.at_ms, {}, frozenset())


def whole_tables(folder: Folder, state: State) -> WholeTables:
    """Return all files of a store."""
    files: dict[str, dict[str, DataFile]] = defaultdict(dict)
    for file in state.files.values():
        files[file.table][file.path] = file
    at_ms = _milliseconds(read_commit(folder, state.number).at_utc) if state.number else 0
    tables = {
        table: TableChange(state.number, WHOLE_TABLE, at_ms, added, frozenset())
        for table, added in files.items()
    }
    return WholeTables(state.number, at_ms, tables)


def table_of(path: str) -> str:
    """Return the table of a data file.

    >>> table_of("netstat_conn/day=2026-03-02/00000001-1.parquet")
    'netstat_conn'
    """
    return path.partition("/")[0]


def readable_changes(
    changes: Sequence[TableChange], now_ms: int, grace_ms: int, most: int
) -> list[TableChange]:
    """Join changes between which nobody can read the table any more.

    The store deletes the files that a commit drops after the grace period, so there is no use in a snapshot
    that a later commit replaced before that, nor in more than the newest few.
    """
    joined: list[TableChange] = []
    waiting: list[TableChange] = []
    for number, change in enumerate(changes):
        waiting.append(change)
        is_last = number == len(changes) - 1
        if is_last or (changes[number + 1].at_ms + grace_ms > now_ms and number >= len(changes) - 1 - most):
            joined.append(_joined(waiting))
            waiting = []
    return joined


def _joined(changes: Sequence[TableChange]) -> TableChange:
    """Return one change with the effect of several, described as the last."""
    last = changes[-1]
    if len(changes) == 1:
        return last
    adds: dict[str, DataFile] = {}
    drops: set[str] = set()
    for change in changes:
        for path in change.drops:
            if adds.pop(path, None) is None:
                drops.add(path)
        adds |= change.adds
    return TableChange(last.commit, last.kind, last.at_ms, adds, frozenset(drops), last.loads, len(changes))


def _milliseconds(at_utc: str) -> int:
    return round(datetime.fromisoformat(at_utc).timestamp() * 1000)
