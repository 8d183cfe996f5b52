"""A store from outside: what its readers see, and what a plain DuckDB client does."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import duckdb
from tests.pipelines.stores import contents, plain_client

from zscope.pipelines.store import StoreError, open_reader
from zscope.pipelines.store.folder import Folder

if TYPE_CHECKING:
    from pathlib import Path

Seen = list[Any]
"""The rows of all tables summed up, and the loads."""


def seen_by(connection: duckdb.DuckDBPyConnection) -> Seen:
    """What a connection shows of the store."""
    loads = connection.execute("SELECT load_id, status, file, rows FROM load ORDER BY ALL").fetchall()
    return [{table: list(found) for table, found in contents(connection).items()}, [list(ld) for ld in loads]]


NOTHING: Seen = [{}, []]


@dataclass(frozen=True, slots=True)
class View:
    """A store from outside."""

    reader: Seen | str
    plain: Seen | str | None
    """The catalogue as any client opens it; None where there is no such file."""
    commits: int

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Self:
        """As a child process tells it."""
        return cls(**raw)

    def to_json(self) -> dict[str, Any]:
        """The other way round."""
        return asdict(self)


def view(store: Path) -> View:
    """Look at a store both ways; before the first commit there is nothing to open."""
    folder = Folder(store)
    commits = len(list(folder.commits.glob("[0-9]*.json")))
    reader: Seen | str
    plain: Seen | str | None = None
    if not commits and not folder.catalogue.exists():
        return View(NOTHING, None, 0)
    try:
        with open_reader(store) as connection:
            reader = seen_by(connection)
    except StoreError as error:
        reader = str(error)
    if folder.catalogue.exists():
        try:
            with plain_client(folder.path) as connection:
                plain = seen_by(connection)
        except duckdb.Error as error:
            plain = str(error)
    return View(reader, plain, commits)
