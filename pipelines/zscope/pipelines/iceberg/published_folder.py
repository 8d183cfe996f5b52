"""The folder of published tables: its paths, the file with what is published, and the SQLite catalogue."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zscope.pipelines.store.folder import (
    StoreError,
    fsync_all,
    is_temporary,
    temporary_path,
    write_atomically,
)
from zscope.pipelines.store.lock import WriteLock

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = 1
"""Version of what is published: a folder of another version is published again completely."""
NAMESPACE = "zscope"
"""Name of the catalogue, and of the only namespace in it."""
_SUFFIX = "-iceberg"
_MISREAD = "#?%*"
"""Characters in a path that some readers of Iceberg tables take for a part of a URI or for a pattern."""


class PublicationError(StoreError):
    """Tables cannot be published; the message contains the reason and what to do."""


class TableStatus(StrEnum):
    """What a publication did with a table."""

    PUBLISHED = "published"
    UNCHANGED = "unchanged"
    INTERNAL = "internal"
    """Of no use outside of zscope, so it is not published."""
    NOT_PUBLISHED = "not published"
    """It cannot be published."""


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table after a publication."""

    table: str
    status: TableStatus
    new_snapshots: int = 0
    files: int = 0
    rows: int = 0
    metadata: str | None = None
    """The file with the metadata of the newest version."""
    note: str | None = None
    """Why the table is not published."""


@dataclass(frozen=True, slots=True)
class Publication:
    """The result of one publication."""

    target: Path
    commit: int
    """The commit up to which the tables are published."""
    since: int
    """The commit up to which they were published before."""
    tables: tuple[PublishedTable, ...]
    anew: str
    """Why everything was published again; empty if it was not, or if this is the first publication."""
    seconds: float

    def with_status(self, status: TableStatus) -> list[PublishedTable]:
        """Return the tables with a status."""
        return [table for table in self.tables if table.status is status]


@dataclass(frozen=True, slots=True)
class TableMark:
    """What is published of one table."""

    version: int
    """Number of the metadata file."""
    files: int
    rows: int


@dataclass(slots=True)
class PublicationMark:
    """What is published of which store; the file with it also marks the folder as one of zscope."""

    store: str
    target: str
    """Where the folder was: the metadata contains absolute paths."""
    format: int = FORMAT
    commit: int = 0
    commit_digest: str = ""
    """Digest of the file of this commit: another store at the same place has another one."""
    declarations: str = ""
    """Digest of the declared tables, which differ between versions of zscope."""
    tables: dict[str, TableMark] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    """Tables that are not published, and why."""
    begun: str = ""
    """Why everything is published again, until that is done."""

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> PublicationMark:
        """Return the mark of a JSON object; fields of a later version are ignored."""
        values = _known(cls, raw)
        tables = {name: TableMark(**_known(TableMark, each)) for name, each in raw["tables"].items()}
        return cls(**{**values, "tables": tables})


def _known(cls: type[PublicationMark | TableMark], raw: dict[str, Any]) -> dict[str, Any]:
    names = {each.name for each in fields(cls)}
    return {name: value for name, value in raw.items() if name in names}


@dataclass(frozen=True, slots=True)
class Target:
    """The paths in a folder of published tables."""

    path: Path

    @property
    def mark(self) -> Path:
        """What is published."""
        return self.path / "zscope-iceberg.json"

    @property
    def catalogue(self) -> Path:
        """A catalogue for readers that want one; each table can also be read from its folder."""
        return self.path / "catalog.db"

    @property
    def tables(self) -> Path:
        """One folder for each table."""
        return self.path / NAMESPACE

    def table(self, name: str) -> Path:
        """Return the folder of a table."""
        return self.tables / name

    @property
    def lock(self) -> WriteLock:
        """Locked by the process that publishes."""
        return WriteLock(self.path / ".lock", self.path, "the folder of published tables")

    def prepare(self, store: Path) -> None:
        """Create the folder, unless it exists; raise PublicationError if it cannot be used for this store."""
        _check_path(self.path)
        _check_path(store)
        if self.path == store or store in self.path.parents:
            raise PublicationError(
                f"{self.path}: inside the store; choose a folder outside of {store}, so that clients of the "
                "tables need no access to the rest of the store"
            )
        if self.path.exists() and not self.path.is_dir():
            raise PublicationError(f"{self.path}: this is a file; choose a folder")
        self.path.mkdir(exist_ok=True)
        foreign = sorted(other.name for other in self.path.iterdir() if not self._is_ours(other))
        if foreign and not self.mark.exists():
            raise PublicationError(
                f"{self.path}: contains files that zscope did not publish ({', '.join(foreign[:3])}); choose "
                "another folder"
            )

    def _is_ours(self, path: Path) -> bool:
        return path == self.lock.file or is_temporary(path)

    def delete_leftovers(self) -> None:
        """Delete the unfinished files of a publication that was killed; the caller has the lock."""
        for path in self.path.glob(".*"):
            if is_temporary(path):
                path.unlink(missing_ok=True)

    def read_mark(self) -> PublicationMark | None:
        """Return what is published; None if nothing is, or if the file is damaged."""
        try:
            return PublicationMark.from_json(json.loads(self.mark.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None  # everything is published again

    def write_mark(self, mark: PublicationMark) -> None:
        """Replace the mark, after everything that it describes."""
        write_atomically(self.mark, json.dumps(asdict(mark), indent=1).encode())

    def metadata_file(self, table: str, version: int) -> Path:
        """Return the file with the metadata of a version of a table."""
        return self.table(table) / "metadata" / f"v{version}.metadata.json"

    def has_current_catalogue(self, tables: Mapping[str, TableMark]) -> bool:
        """Whether the SQLite catalogue names these versions."""
        if not self.catalogue.exists():
            return False
        try:
            with closing(sqlite3.connect(f"{self.catalogue.as_uri()}?mode=ro", uri=True)) as connection:
                rows = connection.execute(
                    "SELECT catalog_name, table_namespace, table_name, metadata_location FROM iceberg_tables"
                ).fetchall()
        except sqlite3.Error:
            return False
        return sorted(rows) == self._catalogue_rows(tables)

    def _catalogue_rows(self, tables: Mapping[str, TableMark]) -> list[tuple[str, str, str, str]]:
        return [
            (NAMESPACE, NAMESPACE, name, uri_of(self.metadata_file(name, mark.version)))
            for name, mark in sorted(tables.items())
        ]

    def write_catalogue(self, tables: Mapping[str, TableMark]) -> None:
        """Replace the SQLite catalogue.

        It is never changed in place: readers without write access could not recover it after a stop.
        """
        temporary = temporary_path(self.catalogue)
        temporary.unlink(missing_ok=True)
        rows = self._catalogue_rows(tables)
        try:
            with closing(sqlite3.connect(temporary, isolation_level=None)) as connection:
                connection.execute("PRAGMA journal_mode = OFF")
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute("BEGIN")
                for statement in _CATALOGUE_TABLES:
                    connection.execute(statement)
                connection.execute(
                    "INSERT INTO iceberg_namespace_properties VALUES (?, ?, 'exists', 'true')",
                    (NAMESPACE, NAMESPACE),
                )
                connection.executemany("INSERT INTO iceberg_tables VALUES (?, ?, ?, ?, NULL, 'TABLE')", rows)
                connection.execute("COMMIT")
            fsync_all([temporary])
            temporary.replace(self.catalogue)
        except sqlite3.Error as error:
            raise PublicationError(f"{self.catalogue}: the catalogue cannot be written ({error})") from error
        finally:
            temporary.unlink(missing_ok=True)


_CATALOGUE_TABLES = (
    """CREATE TABLE iceberg_tables (
        catalog_name VARCHAR(255) NOT NULL,
        table_namespace VARCHAR(255) NOT NULL,
        table_name VARCHAR(255) NOT NULL,
        metadata_location VARCHAR(1000),
        previous_metadata_location VARCHAR(1000),
        iceberg_type VARCHAR(5),
        PRIMARY KEY (catalog_name, table_namespace, table_name)
    )""",
    """CREATE TABLE iceberg_namespace_properties (
        catalog_name VARCHAR(255) NOT NULL,
        namespace VARCHAR(255) NOT NULL,
        property_key VARCHAR(255) NOT NULL,
        property_value VARCHAR(1000),
        PRIMARY KEY (catalog_name, namespace, property_key)
    )""",
)
"""The tables that the JDBC catalogue of Iceberg defines and the SQL catalogue of pyiceberg shares with it."""


HINT = "version-hint.text"
"""File with the number of the newest version of a table, written after it."""


def version_hint(folder: Path) -> int:
    """Return the version that the hint of a table names; 0 if there is none."""
    try:
        return int((folder / "metadata" / HINT).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0


def default_target(store: Path) -> Path:
    """Return the folder of published tables of a store, next to it.

    >>> default_target(Path("/data/zscope-store")).as_posix()
    '/data/zscope-store-iceberg'
    """
    return store.with_name(f"{store.name}{_SUFFIX}")


def uri_of(path: Path) -> str:
    """Return the location of a file as Iceberg writes it: absolute, and not percent-encoded.

    >>> uri_of(Path("/data/my store"))
    'file:///data/my store'
    """
    return f"file://{path}"


def _check_path(path: Path) -> None:
    if wrong := sorted(set(_MISREAD) & set(str(path))):
        raise PublicationError(
            f"{path}: readers of Iceberg tables misread {' '.join(wrong)} in the name of a file; rename the "
            "folder"
        )
