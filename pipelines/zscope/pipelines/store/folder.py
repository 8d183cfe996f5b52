"""The paths in a store, digests of files, and writing so that a crash leaves the old or the new state."""

from __future__ import annotations

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from xxhash import xxh3_128, xxh128_hexdigest

from zscope.pipelines.store.permissions import close_to_others, readable_by
from zscope.pipelines.unix_calls import flush
from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

FORMAT = 2
"""Version of the layout of the folder and of the types in its files; format 1 had unsigned integers."""
_READABLE = (1, FORMAT)
"""Formats that this version of zscope reads; any other is refused."""
_MARK = "zscope-store.json"
NO_DAY = "__HIVE_DEFAULT_PARTITION__"
"""Name of a partition without a value in the layout that DuckDB, Spark and Arrow share."""
_FSYNC_THREADS = 8


class StoreError(Error):
    """The store cannot be used; the message contains the reason and what to do."""


class DamagedStoreError(StoreError):
    """A check of the store failed: files differ from what was committed."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The paths in a store."""

    path: Path

    @property
    def data(self) -> Path:
        """Parquet files by table and day; only those listed by commits are valid."""
        return self.path / "data"

    @property
    def tables(self) -> Path:
        """Hard links to the current data files, by table and month, for other programs."""
        return self.path / "tables"

    @property
    def commits(self) -> Path:
        """The numbered commits, which define the content of the store."""
        return self.path / "commits"

    @property
    def stage(self) -> Path:
        """Files that are being written; the next writer deletes leftovers."""
        return self.path / ".stage"

    @property
    def settings(self) -> Path:
        """The settings of the site; can exist before the store."""
        return self.path / "zscope.toml"

    @property
    def lock(self) -> Path:
        """Locked by the process that changes the store."""
        return self.path / ".lock"

    @property
    def catalogue(self) -> Path:
        """The DuckDB file that clients open."""
        return self.path / "zscope.duckdb"

    @property
    def runs(self) -> Path:
        """The benchmark runs."""
        return self.path / "runs.toml"

    @property
    def quarantine(self) -> Path:
        """Reports about refused files."""
        return self.path / "quarantine"

    @property
    def docs(self) -> Path:
        """The HTML pages of the data validation."""
        return self.path / "data-docs"


def partition(table: str, day: str | None, days: Collection[str] = ()) -> str:
    """Return the folder of a table and day, or of several days of a month, relative to the data folder.

    >>> partition("netstat_conn", "2026-03-02"), partition("netstat_conn", None)
    ('netstat_conn/day=2026-03-02', 'netstat_conn/day=__HIVE_DEFAULT_PARTITION__')
    >>> partition("netstat_conn", None, ["2026-03-02", "2026-03-05"])
    'netstat_conn/month=2026-03'
    """
    return f"{table}/month={month_of(min(days))}" if days else f"{table}/day={day or NO_DAY}"


def month_of(day: str) -> str:
    """Return the month of a day.

    >>> month_of("2026-03-02")
    '2026-03'
    """
    return day.rpartition("-")[0]


def is_store(path: Path) -> bool:
    """Whether a folder is a store, which can be damaged or of another version."""
    return (path / _MARK).exists()


def existing_store(path: Path) -> Folder:
    """Return the store in a folder; raise StoreError if there is none."""
    mark = path / _MARK
    try:
        version = _format_in(mark)
    except FileNotFoundError as error:
        problem = "there is no store" if path.is_dir() or not path.exists() else "this is a file, not a store"
        raise StoreError(f"{path}: {problem}; zscope ingest --store {path} FILE creates one") from error
    except NotADirectoryError as error:
        raise StoreError(f"{path}: this is a file, not a store; name a folder") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(f"{mark}: the store cannot be read ({_reason(error)})") from error
    if type(version) is not int:  # True and 1.0 are equal to 1
        raise StoreError(
            f"{mark}: the format is {json.dumps(version)}, which is not a whole number; restore this "
            f'file from a backup (it contains {{"format": {FORMAT}}})'
        )
    if version not in _READABLE:
        raise StoreError(
            f"{path}: the store has format {version}; this version of zscope reads formats up to {FORMAT}: "
            "use the version that created the store"
        )
    return Folder(_checked_path(path))


def _format_in(mark: Path) -> object:
    content = json.loads(mark.read_text(encoding="utf-8"))
    if unknown := sorted(content.keys() - {"format"}):
        raise StoreError(
            f"{mark}: this version of zscope does not know {unknown[0]!r}; a later version has changed the "
            "store: use that version"
        )
    return content["format"]


def update_format(folder: Folder) -> None:
    """Give a store of an older format the current one, before files of the current format are added.

    Versions of zscope that know only the older format then refuse the store: they would not find the digests
    of records in the new files, and load these records again.
    """
    mark = folder.path / _MARK
    if _format_in(mark) != FORMAT:
        write_atomically(mark, json.dumps({"format": FORMAT}).encode())


def _checked_path(path: Path) -> Path:
    """Return the absolute path of a store, unless DuckDB would misread the name of a parent folder."""
    place = path.resolve()
    for part in place.parts:
        if "*" in part or "?" in part:
            raise StoreError(f"{path}: a store cannot be below {part!r}, which DuckDB reads as a pattern")
        if re.match(r"[^=]+=", part):
            raise StoreError(f"{path}: a store cannot be below {part!r}, which DuckDB reads as a column")
    return place


def make_store(path: Path, *, for_everybody: bool = False) -> Folder:
    """Return the store in a folder, and create it if the folder is empty or missing.

    A new store can be read by its owner and group, or by everybody.

    Several processes can create the same store at once: each writes the same mark. A store that a killed
    process began to create is completed.
    """
    mark = path / _MARK
    folder = Folder(path)
    try:
        if mark.exists() or (path.exists() and not path.is_dir()):
            return existing_store(path)
        _checked_path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with readable_by(None, everybody=for_everybody):
            return _new_store(folder, mark, for_everybody=for_everybody)
    except OSError as error:
        if mark.exists():  # another process created it meanwhile and deleted our unfinished files
            return existing_store(path)
        raise StoreError(f"{path}: the store cannot be created ({_reason(error)})") from error


def _new_store(folder: Folder, mark: Path, *, for_everybody: bool) -> Folder:
    path = folder.path
    path.mkdir(exist_ok=True)
    foreign = sorted(other.name for other in path.iterdir() if not _allowed_in_new_store(folder, other))
    # Check again after listing: another process creates its files after the mark.
    if foreign and not mark.exists():
        some = ", ".join(foreign[:3])
        raise StoreError(f"{path}: the folder is not a store and not empty ({some}); name another folder")
    if not for_everybody:
        close_to_others(path)
    # The folders must be on disk before a commit that lists files in them.
    for place in (folder.data, folder.commits):
        place.mkdir(exist_ok=True)
    fsync_all([path, path.parent])
    write_atomically(mark, json.dumps({"format": FORMAT}).encode())
    return Folder(path.resolve())


def _allowed_in_new_store(folder: Folder, path: Path) -> bool:
    """Whether a new store can contain a file or folder: settings, runs, or an unfinished store.

    Files inside folders with our names belong to the user, and a store would delete them.
    """
    if path in {folder.data, folder.commits, folder.stage}:
        return path.is_dir() and not any(path.iterdir())
    if path == folder.lock:
        return path.is_file() and not path.stat().st_size
    return path in {folder.settings, folder.runs} or (is_temporary(path) and not path.is_dir())


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


_TEMPORARY = re.compile(r"\..+\.\d+\.beside")


def temporary_path(path: Path) -> Path:
    """Return the name under which a file is written before it is renamed."""
    return path.with_name(f".{path.name}.{os.getpid()}.beside")


def is_temporary(path: Path) -> bool:
    """Whether a file is unfinished or a leftover of a killed process."""
    return _TEMPORARY.match(path.name) is not None


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file completely or not at all."""
    temporary = temporary_path(path)
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            flush(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    fsync_all([path.parent])


def fsync_all(paths: Iterable[Path]) -> None:
    """Flush files or folders to disk, several at once as each takes long."""
    with ThreadPoolExecutor(_FSYNC_THREADS, thread_name_prefix="zscope-fsync") as pool:
        list(pool.map(_fsync, paths))


def _fsync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        flush(handle)
    finally:
        os.close(handle)


_DIGEST_CHUNK = 256 << 10
"""So small that the same memory is used for each, without new pages of the system."""


@dataclass(frozen=True, slots=True)
class KnownContent:
    """The digest of some bytes, and those of their beginnings at certain lengths."""

    digest: str
    size: int
    at_marks: dict[int, str]
    """Digests by length; only lengths up to `size`."""


@dataclass(slots=True)
class ContentDigest:
    """Digest of a stream of bytes, which also records the digests at certain lengths."""

    marks: list[int] = field(default_factory=list)
    """Lengths that are still to be recorded, the longest first."""
    at_marks: dict[int, str] = field(default_factory=dict)
    """Recorded digests by length."""
    size: int = 0
    _state: xxh3_128 = field(default_factory=xxh3_128)

    @classmethod
    def of_lengths(cls, lengths: Iterable[int]) -> ContentDigest:
        """Return a digest that records its value at these lengths."""
        return cls(sorted(set(lengths), reverse=True))

    def update(self, piece: memoryview) -> None:
        """Add bytes."""
        while self.marks and self.marks[-1] <= self.size + len(piece):
            mark = self.marks.pop()
            head = piece[: mark - self.size]
            self._add(head)
            self.at_marks[mark] = self.digest()
            piece = piece[len(head) :]
        self._add(piece)

    def _add(self, piece: memoryview) -> None:
        self._state.update(piece)
        self.size += len(piece)

    def digest(self) -> str:
        """Return the digest of the bytes added so far.

        >>> content = ContentDigest.of_lengths([3])
        >>> content.update(memoryview(b"abcdef"))
        >>> content.at_marks[3] == xxh3_128(b"abc").hexdigest(), content.size
        (True, 6)
        """
        return str(self._state.hexdigest())

    def known(self) -> KnownContent:
        """Return the digests of the bytes added so far."""
        return KnownContent(self.digest(), self.size, dict(self.at_marks))


def digest_of_file(path: Path) -> str:
    """Return the digest of a file."""
    with path.open("rb", buffering=0) as file:
        return digest_of(file).digest()


def digest_of(file: BinaryIO, lengths: Iterable[int] = ()) -> ContentDigest:
    """Return the digest of an open file from its position to its end."""
    content = ContentDigest.of_lengths(lengths)
    while piece := file.read(_DIGEST_CHUNK):
        content.update(memoryview(piece))
    return content


def runs_digest(folder: Folder) -> str:
    """Return a digest of runs.toml; empty if there is none."""
    try:
        return xxh128_hexdigest(folder.runs.read_bytes())
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"unreadable: {error.strerror or error}"


def commit_numbers(folder: Folder) -> list[int]:
    """Return the numbers of all commits, in no order."""
    return [int(name.removesuffix(".json")) for name in names_of_commits(folder) if name[:1].isdigit()]


def names_of_commits(folder: Folder) -> list[str]:
    """Return the names of the files of commits and checkpoints, in no order."""
    try:
        return [name for name in os.listdir(folder.commits) if name.endswith(".json")]  # noqa: PTH208
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"{folder.commits}: the store cannot be read ({error.strerror})") from error
