"""What a user's statement may touch: the files behind the tables of the store, read and never written.

DuckDB can be told which files it may open, but not that it may only read them. So two fences stand one behind
the other: only single, existing data files are open to it, never a folder in which something could be made;
and statements that write files or open databases are refused by their kind before they run.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from zscope.schemas.ddl import literal

if TYPE_CHECKING:
    from collections.abc import Iterator

_POSSIBLE = {
    duckdb.StatementType.SELECT,  # SHOW, DESCRIBE, SUMMARIZE and PRAGMA table_info are of this kind, too
    duckdb.StatementType.EXPLAIN,
    duckdb.StatementType.SET,  # variables; the configuration is locked
    duckdb.StatementType.TRANSACTION,
    # Temporary tables and views: anything else of the kind DuckDB refuses, as the catalogue is read-only.
    duckdb.StatementType.CREATE,
    duckdb.StatementType.DROP,
    duckdb.StatementType.ALTER,
    duckdb.StatementType.INSERT,
    duckdb.StatementType.UPDATE,
    duckdb.StatementType.DELETE,
}
_RUN_BY_EXPLAIN = re.compile(r"\b(copy|execute|prepare|call)\b", re.IGNORECASE)
"""EXPLAIN ANALYZE does what it explains. These are keywords, so they stand in the text as they are."""
_FIRST_WORD = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*(\w+)", re.DOTALL)
_TEXT = re.compile(r"'((?:[^']|'')*)'")


def lock_down(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    spill: Path,
    memory: str | None = None,
    threads: int | None = None,
) -> None:
    """Let a connection open the files of its views that lie in the folder, and nothing else, for good."""
    settings = {
        "memory_limit": memory,
        "threads": threads,
        "temp_directory": str(spill),
        "TimeZone": "UTC",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "allow_persistent_secrets": False,
        "enable_progress_bar": False,  # DuckDB draws it on standard output, between the data
        "python_enable_replacements": False,  # a name in a statement is never a variable of this program
    }
    for name, value in settings.items():
        if value is not None:
            connection.execute(f"SET {name} = {literal(str(value))}")
    files = ", ".join(literal(file) for file in _files_of_views(connection, folder))
    connection.execute(f"SET allowed_paths = [{files}]")
    # The order matters: after the first of these nothing can be allowed, after the second nothing changed.
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _files_of_views(connection: duckdb.DuckDBPyConnection, folder: Path) -> Iterator[str]:
    """The files that the catalogue names, if that is where they really are."""
    within = _Within(folder)
    views = connection.execute("SELECT sql FROM duckdb_views() WHERE NOT internal").fetchall()
    for name in {name for (sql,) in views for name in _TEXT.findall(sql) if name.endswith(".parquet")}:
        file = name.replace("''", "'")
        if within(os.path.dirname(file)) and not os.path.islink(file):  # noqa: PTH114, PTH120 - see below
            yield file


class _Within:
    """Tells whether folders are in the store, and not only by name.

    DuckDB follows links when a file is allowed, so they are looked for here. The data may lie on another
    disk, where a link in place of the whole data folder leads. No `Path` for each of them: a store of years
    has tens of thousands.
    """

    def __init__(self, folder: Path) -> None:
        self._data = str((folder / "data").resolve())
        self._known = {str(folder.absolute()): True, str(folder.resolve()): True, self._data: True, "": False}

    def __call__(self, place: str) -> bool:
        if place not in self._known:
            parent, name = os.path.split(place)
            if os.path.islink(place):  # noqa: PTH114
                self._known[place] = os.path.realpath(place) == self._data
            else:
                self._known[place] = name not in {"", "..", "."} and self(parent)
        return self._known[place]


def refusal(statement: duckdb.Statement) -> str | None:
    """Why a statement is not run, or nothing."""
    if statement.type not in _POSSIBLE:
        word = _FIRST_WORD.match(statement.query)
        return _only_read(word[1].upper() if word else statement.type.name)
    if statement.type == duckdb.StatementType.EXPLAIN and (found := _RUN_BY_EXPLAIN.search(statement.query)):
        return _only_read(f"EXPLAIN with {found[1].upper()}")
    return None


def _only_read(what: str) -> str:
    return (
        f"{what} is not possible here: statements read the tables of the store and may make temporary ones. "
        "Results are written to files with -o FILE, whole tables with zscope export"
    )
