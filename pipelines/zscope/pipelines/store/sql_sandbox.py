"""Restrict a DuckDB connection so that users' statements can only read the data files of the store.

DuckDB can restrict which files it opens, but not to reading. Therefore there are three barriers: only
existing data files can be opened, never a folder in which a file could be created; statements that write
files or open databases are refused by their type before they run; and of the table functions only those in a
list can be called, because others change settings or write, such as `enable_logging` to standard output.
"""

from __future__ import annotations

import os
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from zscope.pipelines.store.catalogue_file import folder_of
from zscope.schemas.catalogue_schemas import FILES
from zscope.schemas.errors import Error
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Iterator

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
_ALLOWED_FUNCTIONS = frozenset(
    [
        # Rows from values.
        "generate_series", "histogram", "histogram_values", "json_each", "json_tree", "query_table",
        "range", "repeat", "repeat_row", "summary", "test_all_types", "test_vector_types", "unnest",
        # Data files: which of them can be opened is another barrier.
        "parquet_bloom_probe", "parquet_file_metadata", "parquet_full_metadata", "parquet_kv_metadata",
        "parquet_metadata", "parquet_scan", "parquet_schema", "read_parquet",
        # What DuckDB knows about the tables and about itself.
        "collations", "database_list", "database_size", "duckdb_columns", "duckdb_constraints",
        "duckdb_databases", "duckdb_dependencies", "duckdb_extensions", "duckdb_functions",
        "duckdb_indexes", "duckdb_keywords", "duckdb_memory", "duckdb_optimizers", "duckdb_schemas",
        "duckdb_sequences", "duckdb_settings", "duckdb_tables", "duckdb_temporary_files", "duckdb_types",
        "duckdb_variables", "duckdb_views", "functions", "icu_calendar_names", "pg_timezone_names",
        "platform", "pragma_collations", "pragma_database_size", "pragma_platform", "pragma_show",
        "pragma_storage_info", "pragma_table_info", "pragma_version", "show", "show_tables", "storage_info",
        "table_info", "version",
    ]
)  # fmt: skip
"""Table functions, and the names of pragmas with arguments, that statements can call.

`query` and `json_execute_serialized_sql` run the text in their argument, so they are not in the list.
"""
_OF_VALUES = frozenset(
    [
        # Keywords that stand before parentheses.
        "and", "as", "between", "by", "case", "cast", "distinct", "else", "except", "exclude", "exists",
        "filter", "from", "group", "having", "if", "in", "join", "lateral", "materialized", "not", "on", "or",
        "over", "partition", "replace", "row", "select", "then", "try_cast", "union", "using", "values",
        "when", "where", "with",
        # Functions of values.
        "abs", "any_value", "arg_max", "arg_min", "array_position", "avg", "bool_or", "coalesce", "concat",
        "concat_ws", "contains", "count", "count_if", "date_trunc", "epoch", "epoch_us", "error", "first",
        "floor", "format", "getvariable", "greatest", "lag", "last", "lead", "least", "length", "list",
        "list_bool_or", "list_contains", "list_filter", "list_position", "list_sort", "list_transform",
        "lower", "make_timestamp", "make_timestamptz", "max", "median", "min", "mode", "nullif",
        "quantile_cont", "round", "row_number", "split_part", "sqrt", "starts_with", "strftime",
        "string_agg", "string_split", "substr", "sum", "time_bucket", "to_microseconds", "to_milliseconds",
        "trim", "upper",
    ]
)  # fmt: skip
"""Frequent names before parentheses that are no table functions.

DuckDB takes longer to list its functions than to plan most queries, so they are listed only for other names.
"""
_ALL_TABLE_FUNCTIONS = """
    SELECT DISTINCT function_name FROM duckdb_functions()
    WHERE internal AND function_type IN ('table', 'table_macro', 'pragma')
"""
_NAME = re.compile(rb'"((?:[^"]|"")*)"|([^\s"(]+)')
_RUN_BY_EXPLAIN = re.compile(r"\b(copy|execute|prepare|call)\b", re.IGNORECASE)
"""EXPLAIN ANALYZE runs the statement. These are keywords, so they appear literally in the text."""
_FIRST_WORD = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*(\w+)", re.DOTALL)
_MACRO = re.compile(r"\bMACRO (\w+)\(")
_TEXT = re.compile(r"'((?:[^']|'')*)'")
_STATEMENTS = f"SELECT made_by FROM {FILES}.zscope_view"
"""The statements of all views over data files, as the catalogue stores them.

DuckDB would write the text of every view again, which takes as long as all the rest.
"""
_STATEMENTS_IN_MEMORY = "SELECT sql FROM duckdb_views() WHERE NOT internal"
_FEW_ROWS = 500_000
"""Stores with fewer rows are read by one thread: it needs 10 to 25 % less CPU time than two, as planning
a metric over so few rows takes about as long as computing it."""


class QueryError(Error):
    """A statement failed or was refused; for errors of DuckDB the message is DuckDB's."""


def lock_down(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    spill: Path,
    memory: str | None = None,
    threads: int | None = None,
    spill_size: str | None = None,
) -> None:
    """Restrict a connection permanently to the files of its views that are in the folder."""
    settings = {
        "memory_limit": memory,
        "threads": threads or (1 if _has_few_rows(connection) else None),
        "temp_directory": str(spill),
        "max_temp_directory_size": spill_size,
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
            connection.execute(f"SET {name} = {literal(str(value))}")
    files = ", ".join(literal(file) for file in _files_of_views(connection, folder))
    connection.execute(f"SET allowed_paths = [{files}]")
    # The order matters: after the first nothing can be allowed, after the second nothing can be changed.
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _has_few_rows(connection: duckdb.DuckDBPyConnection) -> bool:
    try:
        [(rows,)] = connection.execute("SELECT coalesce(sum(rows), 0) FROM load").fetchall()
    except duckdb.Error:  # not a catalogue, but views in memory
        return False
    return bool(rows < _FEW_ROWS)


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


def refused_function(connection: duckdb.DuckDBPyConnection, text: str) -> str | None:
    """Return why a text cannot run because of a table function that it calls, or None if it calls none.

    SQL is not parsed: all names before parentheses are compared. Macros of the catalogue and of the session
    consist of statements that were checked before.
    """
    called = _called(text) - _ALLOWED_FUNCTIONS - _OF_VALUES
    refused = {name for name in called if name.isidentifier()}  # not operators
    if refused:
        refused -= _macros()
    for name in sorted(refused & _table_functions(connection) if refused else ()):
        return (
            f"the table function {name} is not allowed: statements can only open the data files of the store "
            "and change nothing; docs/sql.md lists what they can call"
        )
    return None


def _called(text: str) -> set[str]:
    r"""Return the names before parentheses, in lower case.

    >>> sorted(_called('SELECT max(a), \'b(\' FROM "Enable_Logging" /* c( */ (1), main.range(3)'))
    ['enable_logging', 'max', 'range']
    """
    encoded = text.encode()
    names = set()
    for (start, _), (following, _) in pairwise(duckdb.tokenize(text)):
        if encoded[following : following + 1] == b"(" and (name := _NAME.match(encoded, start)):
            quoted_name, plain = name.groups()
            names.add((plain or quoted_name.replace(b'""', b'"')).decode().lower())
    return names


@cache
def _macros() -> frozenset[str]:
    """Return the names of the macros of the metrics; the file is read without importing the metrics."""
    text = Path(folder_of("zscope.pipelines.metrics"), "macros.sql").read_text(encoding="utf-8")
    return frozenset(_MACRO.findall(text))


_known_functions: set[str] = set()
"""The table functions of DuckDB, which are the same in the whole process."""


def _table_functions(connection: duckdb.DuckDBPyConnection) -> set[str]:
    if not _known_functions:
        _known_functions.update(name for (name,) in connection.execute(_ALL_TABLE_FUNCTIONS).fetchall())
    return _known_functions


def _refusal_text(statement: str) -> str:
    return (
        f"{statement} is not allowed: statements can read the tables of the store and create temporary ones. "
        "To write results to a file use -o FILE, for whole tables zscope export"
    )
