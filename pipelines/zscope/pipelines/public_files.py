"""The public files: hard links to the current data files, by table and month, for whatever reads Parquet.

    tables/NAME/month=YYYY-MM/*.parquet

The data files are for the catalogue, which lists those that are current: replaced ones stay beside their
successors as long as queries can be reading them. The public files are only the current ones. A month is
changed in one step, by exchanging its folder with a new one, so whoever lists it finds each row once: in the
old files or in the new ones.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.pipelines.store.commits import checksum_of_commit, read_commit
from zscope.pipelines.store.folder import (
    NO_DAY,
    StoreError,
    digest_of_file,
    fsync_all,
    month_of,
    write_atomically,
)
from zscope.pipelines.store.parquet_files import schema_digest
from zscope.pipelines.unix_calls import exchange
from zscope.schemas.tables import DIGEST_TABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from zscope.pipelines.store.commits import DataFile, State
    from zscope.pipelines.store.folder import Folder
    from zscope.pipelines.store.lock import Notify

_MARK = ".shown.json"
"""File with the commit that the public files show; without it, the folder is not ours."""
_DAMAGED = ".damaged"
"""File in the place of damaged data files: reading it is an error, as in the catalogue."""
_OURS = re.compile(r"(?:\d{4}-\d\d-\d\d-)?[cerivn]?\d{8,}(-[a-z0-9]+)*\.parquet")
"""Names of public files. Files with other names stay."""
_WITHOUT_LINKS = frozenset(
    {errno.EPERM, errno.EXDEV, errno.EMLINK, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP}
)
"""Errors of file systems without hard links, or without the exchange of folders."""

NO_MONTH = "(none)"
"""The month of rows without a day. It is before all others in their order. pyarrow and pandas fail to read a
table with the name that partitions without a value usually have, if it is the only one, or not the only one.
"""
Month = tuple[str, str]
"""A table, and a month or `NO_MONTH`."""


@dataclass(frozen=True, slots=True)
class ShownCommit:
    """The commit that the public files show; 0 if all of them have to be compared."""

    number: int = 0
    checksum: str = ""


def shown_commit(folder: Folder) -> ShownCommit | None:
    """Return the commit that the public files show, or None if the store has no public files."""
    try:
        text = (folder.tables / _MARK).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return ShownCommit(**json.loads(text))
    except (ValueError, TypeError):
        return ShownCommit()  # a damaged mark: everything is compared


def compare_all_next(folder: Folder) -> None:
    """Let the next update compare all public files with the data files."""
    if shown_commit(folder):
        _mark(folder, ShownCommit())


def update_public_files(folder: Folder, state: State, notify: Notify) -> None:
    """Change the public files to those of a state; only months that commits since the last update changed.

    A store on a file system that cannot have them has none, and the user is told.
    """
    shown, wanted = shown_commit(folder), ShownCommit(state.number, state.checksum)
    if not state.number or shown == wanted:
        return
    try:
        if shown is None:
            if reason := _begin(folder):
                notify(f"{folder.tables}: the files to read directly are left out: {reason}")
                return
            shown = ShownCommit()
            if any(file.schema != schema_digest(file.table) for file in state.files.values()):
                notify(
                    f"{folder.tables}: files of earlier versions of zscope have other columns; zscope store "
                    "compact writes them again, for programs that read the files directly"
                )
        lost = _update(folder, state, _changed_since(folder, state, shown))
        _mark(folder, wanted)
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno not in _WITHOUT_LINKS:
            raise StoreError(
                f"{folder.tables}: the files to read directly cannot be changed ({reason}); the committed "
                "data is in the store, and the next change of the store completes them"
            ) from error
        _remove(folder)
        notify(f"{folder.tables}: the files to read directly are left out: {_no_links(reason)}")
        return
    if lost:
        notify(
            f"{folder.tables}: {lost:,} data files are missing, here as in the store; zscope store check "
            "names them"
        )


def public_problems(folder: Folder, state: State) -> list[str]:
    """Return how the public files differ from the current data files."""
    expected = _by_month(state.files.values())
    problems = []
    for month in sorted({*expected, *_existing(folder)}):
        place = _place(folder, month)
        wanted = {_public_name(file.path): file for file in expected.get(month, ())}
        names = {path.name for path in place.glob("*.parquet")}
        where = place.relative_to(folder.path)
        problems += [f"{where / name}: is missing" for name in sorted(wanted.keys() - names)]
        problems += [f"{where / name}: is not a current data file" for name in sorted(names - wanted.keys())]
        problems += [
            f"{where / name}: has other content than {file.path}"
            for name, file in sorted(wanted.items())
            if name in names and not _is_same(_source(folder, state, file), place / name, file)
        ]
    return problems


def _source(folder: Folder, state: State, file: DataFile) -> Path:
    """Return what is linked for a data file."""
    return folder.tables / _DAMAGED if file.path in state.damaged else folder.data / file.path


def _is_same(data: Path, public: Path, file: DataFile) -> bool:
    """Whether a public file is the data file, or a copy of it, as in a folder copied without links."""
    try:
        return public.samefile(data) or digest_of_file(public) == file.digest
    except OSError:
        return False


def _begin(folder: Folder) -> str:
    """Create the folder of the public files; return why it cannot be, or an empty text."""
    if folder.tables.is_symlink() or (folder.tables.exists() and not folder.tables.is_dir()):
        return "this is not a folder; rename it, and load something"
    if folder.tables.exists() and any(folder.tables.iterdir()):
        return "the folder has other files; move them, and load something"
    trial = [folder.stage / name for name in ("trial-1", "trial-2")]
    for place in trial:
        place.mkdir(parents=True, exist_ok=True)
    try:
        exchange(*trial)
    except OSError as error:
        return _no_links(error.strerror or str(error))
    folder.tables.mkdir(exist_ok=True)
    _mark(folder, ShownCommit())
    return ""


def _no_links(reason: str) -> str:
    return f"the file system cannot link files or exchange folders ({reason}); zscope export writes copies"


def _mark(folder: Folder, shown: ShownCommit) -> None:
    content = {"number": shown.number, "checksum": shown.checksum}
    write_atomically(folder.tables / _MARK, json.dumps(content).encode())


def _changed_since(folder: Folder, state: State, shown: ShownCommit) -> set[Month] | None:
    """Return the months that commits changed since; None if all have to be compared."""
    if not 0 < shown.number <= state.number:
        return None
    try:
        if checksum_of_commit(folder, shown.number) != shown.checksum:
            return None  # a backup of the commits was restored
        commits = [read_commit(folder, number) for number in range(shown.number + 1, state.number + 1)]
    except StoreError:
        return None  # a commit before the checkpoint is damaged, which zscope store check reports
    return {
        month
        for commit in commits
        for path in (*commit.drops, *(file.path for file in commit.adds), *commit.checked, *commit.damaged)
        if path in state.files or path in commit.drops
        if (month := _month(path))
    }


def _update(folder: Folder, state: State, changed: set[Month] | None) -> int:
    """Change months, or all of them; return the number of data files that are missing."""
    tables = None if changed is None else {table for table, _ in changed}
    files = (file for file in state.files.values() if tables is None or file.table in tables)
    wanted = _by_month(files)
    months = {*wanted, *_existing(folder)} if changed is None else changed
    if state.damaged and not (folder.tables / _DAMAGED).exists():
        text = (
            "The data file is damaged. zscope store check names it, zscope store repair restores its rows.\n"
        )
        write_atomically(folder.tables / _DAMAGED, text.encode())
    lost = 0
    replaced: dict[Path, Path] = {}
    gone: list[Path] = []
    for month in sorted(months):
        sources = {_public_name(file.path): _source(folder, state, file) for file in wanted.get(month, ())}
        existing = {name: path for name, path in sources.items() if path.exists()}
        lost += len(sources) - len(existing)
        place = _place(folder, month)
        gone += [] if existing else [place]
        if _has(place, existing):
            continue
        fresh = folder.stage / "tables" / place.relative_to(folder.tables)
        fresh.mkdir(parents=True)
        for name, path in existing.items():
            os.link(path, fresh / name)
        replaced[place] = fresh
    _replace(folder, replaced)
    for place in gone:
        _remove_if_empty(place)
        _remove_if_empty(place.parent)
    return lost


def _by_month(files: Iterable[DataFile]) -> dict[Month, list[DataFile]]:
    months: dict[Month, list[DataFile]] = defaultdict(list)
    for file in files:
        if month := _month(file.path):
            months[month].append(file)
    return months


def _month(path: str) -> Month | None:
    """Return table and month of a data file; None for the table of digests, which only loads read.

    >>> _month("netstat_conn/day=2026-03-02/00000001-1.parquet")
    ('netstat_conn', '2026-03')
    >>> _month("netstat_conn/month=2026-03/c00000002-0.parquet")
    ('netstat_conn', '2026-03')
    >>> _month("netstat_conn/day=__HIVE_DEFAULT_PARTITION__/00000001-1.parquet")
    ('netstat_conn', '(none)')
    """
    table, partition, _ = path.split("/")
    if table == DIGEST_TABLE:
        return None
    kind, _, value = partition.partition("=")
    if value == NO_DAY:
        return table, NO_MONTH
    return table, month_of(value) if kind == "day" else value


def _public_name(path: str) -> str:
    """Return the name of a data file among the others of its month.

    >>> _public_name("netstat_conn/day=2026-03-02/00000001-1.parquet")
    '2026-03-02-00000001-1.parquet'
    >>> _public_name("netstat_conn/month=2026-03/c00000002-0.parquet")
    'c00000002-0.parquet'
    """
    _, partition, name = path.split("/")
    kind, _, value = partition.partition("=")
    return f"{value}-{name}" if kind == "day" and value != NO_DAY else name


def _place(folder: Folder, month: Month) -> Path:
    return folder.tables / month[0] / f"month={month[1]}"


def _existing(folder: Folder) -> Iterator[Month]:
    """Yield the months that have a folder."""
    for place in folder.tables.glob("*/month=*"):
        yield place.parent.name, place.name.removeprefix("month=")


def _has(place: Path, wanted: Mapping[str, Path]) -> bool:
    """Whether a folder has links to these files; a killed writer can have made them."""
    return _inodes(place) == {name: path.stat().st_ino for name, path in wanted.items()}


def _replace(folder: Folder, replaced: Mapping[Path, Path]) -> None:
    """Put new folders in the places of others.

    What is in them is on the disk before, and the change itself before the old folders are emptied. So after
    a power failure, too, a month has its old files or its new ones.
    """
    fsync_all(replaced.values())
    old: list[Path] = []
    for place, fresh in replaced.items():
        if not place.exists():
            place.parent.mkdir(exist_ok=True)
            fresh.rename(place)
            continue
        others = [path.name for path in place.glob("*") if not _OURS.fullmatch(path.name)]
        exchange(fresh, place)
        old.append(fresh)
        for name in others:
            (fresh / name).rename(place / name)
    fsync_all([*replaced, *{place.parent for place in replaced}, folder.tables] if replaced else [])
    for each in old:
        shutil.rmtree(each)


def _inodes(place: Path) -> dict[str, int]:
    """Return the public files of a folder by name."""
    try:
        with os.scandir(place) as entries:
            return {entry.name: entry.inode() for entry in entries if _OURS.fullmatch(entry.name)}
    except FileNotFoundError:
        return {}


def _remove_if_empty(place: Path) -> None:
    if place.is_dir() and not any(place.iterdir()):
        place.rmdir()


def _remove(folder: Folder) -> None:
    """Delete all public files, which can no longer be changed."""
    for month in list(_existing(folder)):
        for name in _inodes(_place(folder, month)):
            (_place(folder, month) / name).unlink()
    for name in (_MARK, _DAMAGED):
        (folder.tables / name).unlink(missing_ok=True)
    for place in (*folder.tables.glob("*/month=*"), *folder.tables.glob("*"), folder.tables):
        _remove_if_empty(place)
