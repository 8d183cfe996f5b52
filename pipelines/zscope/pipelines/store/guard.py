"""Restrict a DuckDB connection so that users' statements can only read the data files of the store.

DuckDB can restrict which files it opens, but not to reading. Therefore there are two barriers: only existing
data files can be opened, never a folder in which a file could be created; and statements that write files or
open databases are refused by their type before they run.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import duckdb

from zscope.pipelines.store.catalogue_file import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ALLOWED_TYPES = {
    duckdb.StatementType.SELECT,  # includes SHOW, DESCRIBE, SUMMARIZE and PRAGMA table_info
    duckdb.StatementType.EXPLAIN,
    duckdb.StatementType.SET,  # only variables: the configuration is locked
    duckdb.StatementType.TRANSACTION,
    # Only temporary tables and views: the catalogue is read-only.
    duckdb.StatementType.CREATE,
    duckdb.StatementType.DROP,
    duckdb.StatementType.ALTER,
    duckdb.StatementType.INSERT,
    duckdb.StatementType.UPDATE,
    duckdb.StatementType.DELETE,
}
_RUN_BY_EXPLAIN = re.compile(r"\b(copy|execute|prepare|call)\b", re.IGNORECASE)
"""EXPLAIN ANALYZE runs the statement. These are keywords, so they appear literally in the text."""
_FIRST_WORD = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*(\w+)", re.DOTALL)
_TEXT = re.compile(r"'((?:[^']|'')*)'")
_STATEMENTS = "SELECT made_by FROM zscope_view"
"""The statements of all views over data files, as the catalogue stores them.

DuckDB would write the text of every view again, which takes as long as all the rest.
"""
_STATEMENTS_IN_MEMORY = "SELECT sql FROM duckdb_views() WHERE NOT internal"


def lock_down(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    spill: Path,
    memory: str | None = None,
    threads: int | None = None,
) -> None:
    """Restrict a connection permanently to the files of its views that are in the folder."""
    settings = {
        "memory_limit": memory,
        "threads": threads,
        "temp_directory": str(spill),
        "TimeZone": "UTC",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "allow_persistent_secrets": False,
        "enable_progress_bar": False,  # DuckDB draws it on standard output
        "python_enable_replacements": False,  # names in statements are never Python variables
    }
    for name, value in settings.items():
        if value is not None:
            connection.execute(f"SET {name} = {quoted(str(value))}")
    files = ", ".join(quoted(file) for file in _files_of_views(connection, folder))
    connection.execute(f"SET allowed_paths = [{files}]")
    # The order matters: after the first nothing can be allowed, after the second nothing can be changed.
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _files_of_views(connection: duckdb.DuckDBPyConnection, folder: Path) -> Iterator[str]:
    """Yield the data files of all views that really are in the folder."""
    in_store = _StoreFolders(folder)
    try:
        views = connection.execute(_STATEMENTS).fetchall()
    except duckdb.CatalogException:  # not a catalogue, but views in memory
        views = connection.execute(_STATEMENTS_IN_MEMORY).fetchall()
    for name in {name for (sql,) in views for name in _TEXT.findall(sql) if name.endswith(".parquet")}:
        file = name.replace("''", "'")
        if in_store(os.path.dirname(file)) and not os.path.islink(file):  # noqa: PTH114, PTH120 - see below
            yield file


class _StoreFolders:
    """Tests whether folders are in the store, after links are resolved.

    DuckDB follows links to allowed files, so links are refused here, except a link that replaces the whole
    data folder. Strings instead of `Path` objects: a store of years has tens of thousands of folders.
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
    """Return why a statement is not allowed, or None if it is."""
    if statement.type not in _ALLOWED_TYPES:
        word = _FIRST_WORD.match(statement.query)
        return _refusal_text(word[1].upper() if word else statement.type.name)
    if statement.type == duckdb.StatementType.EXPLAIN and (match := _RUN_BY_EXPLAIN.search(statement.query)):
        return _refusal_text(f"EXPLAIN with {match[1].upper()}")
    return None


def _refusal_text(statement: str) -> str:
    return (
        f"{statement} is not allowed: statements can read the tables of the store and create temporary ones. "
        "To write results to a file use -o FILE, for whole tables zscope export"
    )
