"""The catalogue: a small DuckDB file with a view for every table, replaced as a whole after each change.

All its content follows from the commits, so it can be built again at any time. DuckDB allows one writing
process or many reading ones per file; as the file is never changed in place, readers and writers never wait
for each other.

Each name is in the schema `steps` or `raw`, and a part of them in `main`, too (see `catalogue_schemas`). The
views of stored steps read the rows that were computed after loads (see `summaries`), which makes all metrics
over them fast for every client. Days that are not stored yet are computed from the data, by the same
statements in the schema `live`, whose tables have only these days.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from zscope.pipelines.metrics import (
    declared,
    macros_sql,
    needed,
    settable,
    steps_of_computed,
    stored_names,
    view_sql,
)
from zscope.pipelines.metrics.catalogue_views import (
    catalogue_view_sql,
    columns_sql,
    creating_views,
    whole_views,
)
from zscope.pipelines.metrics.running_totals import visible_rows_sql
from zscope.pipelines.runs import run_table
from zscope.pipelines.store.catalogue_file import (
    ABOUT,
    DESCRIBING,
    attach_catalogue,
    catalogue_problem,
    newest,
    note_shown,
    search,
    shown,
    shown_by,
)
from zscope.pipelines.store.commits import State, read_state
from zscope.pipelines.store.empty_catalogue import prepared
from zscope.pipelines.store.folder import Folder, StoreError, fsync_all, temporary_path
from zscope.pipelines.store.history import HISTORY_SCHEMAS, update_history
from zscope.pipelines.store.parquet_files import (
    data_tables,
    parquet_schema,
    parquet_tables,
    table_description,
)
from zscope.pipelines.store.stored_steps import Summaries, leaves, stored_rows_sql
from zscope.pipelines.store.tables import damaged, days_sql, is_parquet, on_days, readable, table_sql
from zscope.schemas.arrow import column_comment, create_table
from zscope.schemas.catalogue_schemas import (
    FILES,
    LIVE,
    MAIN,
    NAMED,
    RAW,
    STEPS,
    from_raw,
    public_views,
)
from zscope.schemas.reference import reference_tables
from zscope.schemas.sql_text import literal
from zscope.schemas.stored import DAY, added_columns, running_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from zscope.pipelines.metrics import Metric
    from zscope.pipelines.store.commits import DataFile


CATALOGUE_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "default_block_size": "16384",
    "storage_compatibility_version": "v1.5.0",
    "threads": "1",
}
"""Small blocks: with the default size, the many small tables would need eight times the space. Format of 1.5:
before, views lose AS MATERIALIZED, and some of them take a minute to plan."""


def replace_catalogue(
    folder: Folder, initial: Callable[[], bytes], change: Callable[[duckdb.DuckDBPyConnection], None]
) -> None:
    """Write a catalogue from initial content and a change, and rename it over the existing one.

    Readers see either the old or the new file.
    """
    temporary = temporary_path(folder.catalogue)
    log = temporary.with_name(f"{temporary.name}.wal")
    temporary.unlink(missing_ok=True)
    try:
        temporary.write_bytes(initial())
        with duckdb.connect(str(temporary), config=CATALOGUE_CONFIG) as connection:
            change(connection)
            about = shown(connection)
            # Closing does the same but reports no error, for example of a full disk.
            connection.execute("CHECKPOINT")
        if log.exists():
            raise StoreError(f"{folder.catalogue}: the catalogue could not be written completely")
        fsync_all([temporary])
        note_shown(folder, temporary, about)
        temporary.replace(folder.catalogue)
    except (duckdb.Error, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise StoreError(
            f"{folder.catalogue}: the catalogue cannot be built ({reason}); the committed data is in the "
            "store, and zscope can read it"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
        log.unlink(missing_ok=True)


_VIEWS = f"{FILES}.zscope_view"
"""Table with the statements of all views over data files, to replace only those that change."""
_RUNS = f"{RAW}.run"
"""Table with the benchmark runs of runs.toml."""
_BUILT_ALIKE = slice(2, None)
"""The values of `ABOUT` that must be equal for a catalogue to be updated instead of built from nothing."""


def publish_catalogue(folder: Folder, state: State, *, anew: bool = False) -> None:
    """Build the catalogue of a state and replace the old one.

    It starts as a copy of the old one, as little changes between two commits; with `anew`, or if the old one
    is damaged, from nothing.
    """
    initial = empty_catalogue if anew else partial(_initial_content, folder, state)
    try:
        replace_catalogue(folder, initial, lambda connection: fill(connection, folder, state))
    except StoreError:
        if anew or not catalogue_problem(folder):
            raise
        publish_catalogue(folder, state, anew=True)


@cache
def empty_catalogue() -> bytes:
    """Return the catalogue of an empty store."""
    return prepared(_build_empty_catalogue)


def _build_empty_catalogue() -> bytes:
    with TemporaryDirectory(prefix="zscope-") as temporary:
        folder = Folder(Path(temporary))
        with duckdb.connect(str(folder.catalogue), config=CATALOGUE_CONFIG) as connection:
            fill(connection, folder, State())
        return folder.catalogue.read_bytes()


def open_updated(folder: Folder) -> duckdb.DuckDBPyConnection:
    """Return a connection to a copy of the catalogue that shows the newest commit, in a file or in memory."""
    return _in_a_copy(folder) or _in_memory(folder)


def _in_a_copy(folder: Folder) -> duckdb.DuckDBPyConnection | None:
    """Return a connection to an updated copy of the catalogue, or None if there is no space for it.

    The copy is unlinked before it is read, so it disappears with the connection.
    """
    with TemporaryDirectory(prefix="zscope-") as temporary:
        copy = Path(temporary, folder.catalogue.name)
        try:
            state = read_state(folder)
            copy.write_bytes(_initial_content(folder, state))
            with duckdb.connect(str(copy), config=CATALOGUE_CONFIG) as connection:
                fill(connection, folder, state)
        except (duckdb.Error, OSError):
            return None  # the caller builds it in memory, and raises the error if that fails too
        return attach_catalogue(copy)


def _initial_content(folder: Folder, state: State) -> bytes:
    """Return the existing catalogue if it was built in the same way, otherwise an empty one.

    One from before systems got other names has loads with the former ones.
    """
    shown = shown_by(folder)
    if shown[_BUILT_ALIKE] != newest(folder)[_BUILT_ALIKE]:
        return empty_catalogue()
    [number, *_] = shown
    named = isinstance(number, int) and number >= state.renamed_at
    return folder.catalogue.read_bytes() if named else empty_catalogue()


def _in_memory(folder: Folder) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    try:
        fill(connection, folder, read_state(folder))
        search(connection)
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0]
        raise StoreError(
            f"{folder.path}: the store cannot be read ({reason}); run zscope store check"
        ) from error
    return connection


def fill(connection: duckdb.DuckDBPyConnection, folder: Folder, state: State) -> None:
    """Create all tables and views of the catalogue, or replace those that differ."""
    connection.execute("BEGIN")
    views = _existing_views(connection)
    by_table: dict[str, list[DataFile]] = defaultdict(list)
    for file in sorted(state.files.values(), key=lambda f: (f.each_day[0] or "", f.path)):
        by_table[file.table].append(file)
    statements = {table: table_sql(folder, state, table, by_table[table]) for table in parquet_tables()}
    if not views:
        connection.execute(f"CREATE SCHEMA {FILES}; CREATE SCHEMA {STEPS}; CREATE SCHEMA {RAW}")
    # Views are created in the first of them; statements of steps name other steps without a schema.
    connection.execute(f"SET search_path = '{STEPS},{RAW}'")
    for table, wanted in statements.items():
        if views.get(table) != wanted:
            statements[table] = wanted if readable(folder, by_table[table]) else damaged(table)
            connection.execute(f"CREATE OR REPLACE VIEW {FILES}.{table} AS {statements[table]}")
    if not views:
        for name, schema in HISTORY_SCHEMAS.items():
            _create_table(connection, f"{RAW}.{name}", schema.empty_table())
    update_history(connection, state)
    _create_table(connection, _RUNS, run_table(folder.path))
    summaries = Summaries(folder, state)
    _create_table(connection, ABOUT, _about_row(folder, state, summaries))
    if not views:
        _create_fixed_part(connection)
    statements |= _create_stored_steps(connection, summaries, views)
    _create_table(
        connection, _VIEWS, pa.table({"name": list(statements), "made_by": list(statements.values())})
    )
    connection.execute("COMMIT")


def _create_fixed_part(connection: duckdb.DuckDBPyConnection) -> None:
    """Create what does not change with a load: reference tables, comments, and the views that users see.

    Comments on two thousand columns take longer than everything else. Therefore the commented views are
    created once, over views of the data files that are replaced whenever the files change.
    """
    for name, rows in reference_tables().items():
        _create_table(connection, f"{RAW}.{name}", rows)
    connection.register("rows_to_copy", added_columns())
    connection.execute(f"INSERT INTO {RAW}.field_catalog SELECT * FROM rows_to_copy")
    connection.unregister("rows_to_copy")
    for table in parquet_tables():
        connection.execute(f"CREATE VIEW {RAW}.{table} AS {visible_rows_sql(table, f'{FILES}.{table}')}")
    connection.execute("; ".join(comment for table in parquet_tables() for comment in _comments(table)))
    connection.execute(macros_sql())
    _create_public_views(connection)
    for statement in creating_views(lambda metric: _placed(metric, catalogue_view_sql(metric))):
        connection.execute(statement)
    for name in declared():
        connection.execute("; ".join(view_comments(name)))
    _comment_public_views(connection)


def _create_public_views(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the views of schema `main`, before the steps: DuckDB would plan existing ones."""
    for name in public_views():
        if name in declared():
            connection.execute(f"CREATE TABLE {STEPS}.{name} ({columns_sql(declared()[name])})")
            connection.execute(f"CREATE VIEW {MAIN}.{name} AS SELECT * FROM {STEPS}.{name}")
            connection.execute(f"DROP TABLE {STEPS}.{name}")
        else:
            connection.execute(f"CREATE VIEW {MAIN}.{name} AS SELECT * FROM {RAW}.{name}")


def _comment_public_views(connection: duckdb.DuckDBPyConnection) -> None:
    """Copy the comments of the underlying views and tables, and add an example query to each view."""
    names = list(public_views())
    meanings = connection.execute(
        f"SELECT name, comment FROM ({NAMED}) WHERE schema_name <> '{MAIN}' AND list_contains($1, name)",
        [names],
    ).fetchall()
    columns: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for name, column, comment in connection.execute(
        "SELECT table_name, column_name, comment FROM duckdb_columns() "
        f"WHERE schema_name <> '{MAIN}' AND list_contains($1, table_name) AND comment IS NOT NULL",
        [names],
    ).fetchall():
        columns[name].append((column, comment))
    for name, meaning in meanings:
        text = f"{meaning} Example: {public_views()[name]}"
        connection.execute("; ".join(_comments_on(f"{MAIN}.{name}", text, columns[name])))


def _placed(metric: Metric, text: str) -> str:
    """Return the statement of a view with table names qualified by schema `raw`."""
    tables = {
        table for step in needed(metric.name) if step in declared() for table in declared()[step].inputs
    }
    return from_raw(text, tables - declared().keys())


def _create_stored_steps(
    connection: duckdb.DuckDBPyConnection, summaries: Summaries, existing: dict[str, str]
) -> dict[str, str]:
    """Let the views of stored steps read the stored rows, where they differ; return their statements.

    The rows are in a view of the schema `files`, as those of tables. In all other schemas than `main` the
    statements of steps would not find each other if a client attaches the catalogue under another name.
    """
    dirty = summaries.out_of_date() if summaries.is_used else {}
    connection.execute(f"DROP SCHEMA IF EXISTS {LIVE} CASCADE")
    by_day = {step: days for step, days in dirty.items() if declared()[step].stored == "day"}
    if by_day:
        _create_live_steps(connection, summaries, by_day)
    statements: dict[str, str] = {}
    changed: list[str] = []
    notes: dict[str, str] = {}
    for name in stored_names():
        metric = declared()[name]
        # Rows computed in Python stay until a writer computes others: no view can.
        days = set() if metric.computed_by else dirty.get(name, set())
        files = [file for each in summaries.files(name) if (file := each.without(days)).days]
        if not all(is_parquet(summaries.folder.path / file.path) for file in files):
            files, days = [], set()  # zscope store check names the damaged ones
        if files:
            rows = stored_rows_sql(
                metric, [(str(summaries.folder.path / file.path), file.stale) for file in files]
            )
            columns = ", ".join(column.name for column in metric.view_columns)
            if days:
                rows += f"\nUNION ALL\nSELECT {columns} FROM {LIVE}.{name} WHERE {on_days(days)}"
            statements[f"{FILES}.{name}"] = rows
        else:
            connection.execute(f"DROP VIEW IF EXISTS {FILES}.{name}")
        statements[name] = _reading_stored(metric) if files else view_sql(metric)
        for view, before in ((f"{FILES}.{name}", ""), (name, view_sql(metric))):
            if view in statements and (existing.get(view, before) != statements[view] or days):
                changed.append(view)
        up_to = max((file.load_id for file in files), default=0)
        notes[name] = f" Stored rows, computed up to load {up_to}." if files and not days else ""
    read = stored_names() if summaries.is_complete else steps_of_computed()
    made_by = dict.fromkeys(whole_views(), _reading(read))
    as_at_first = _reading(steps_of_computed())
    changed += [name for name, text in made_by.items() if existing.get(name, as_at_first) != text]
    with _empty_inputs(connection, [name for name in changed if name in declared()]):
        for view in changed:
            text = statements.get(view) or catalogue_view_sql(declared()[view], read)
            placed = _placed(declared()[view], text) if view in declared() else text
            connection.execute(f"CREATE OR REPLACE VIEW {view} AS {placed}")
    for name in (*notes, *made_by):
        if name in changed:
            connection.execute("; ".join(view_comments(name)))
    for name, note in notes.items():
        connection.execute(f"COMMENT ON VIEW {name} IS {literal(declared()[name].meaning + note)}")
    return statements | made_by


def _reading(steps: Iterable[str]) -> str:
    """Return what a view that has the SQL of all steps below it is made by: its text is that of these steps.

    The text itself is a hundred kilobytes, and would be in the catalogue a second time.
    """
    return f"reads the stored rows of {', '.join(sorted(steps)) or 'no step'}"


@contextmanager
def _empty_inputs(connection: duckdb.DuckDBPyConnection, steps: Iterable[str]) -> Iterator[None]:
    """Hide what steps read behind empty temporary tables of the same names.

    When a view is created, DuckDB plans all views below it, which takes longer than all the rest.
    """
    inputs = sorted({name for step in steps for name in declared()[step].inputs if name in declared()})
    for name in inputs:
        connection.execute(f"CREATE TEMP TABLE {name} ({columns_sql(declared()[name])})")
    yield
    for name in inputs:
        connection.execute(f"DROP TABLE temp.{name}")


def _reading_stored(metric: Metric) -> str:
    """Return the statement that reads stored rows, or computes a result if its variables are set."""
    stored = f"SELECT * FROM {FILES}.{metric.name}"
    variables = sorted(settable(metric.name))
    if not variables:
        return stored
    unset = " AND ".join(f"getvariable('{variable}') IS NULL" for variable in variables)
    columns = ", ".join(column.name for column in metric.view_columns)
    computed = f"SELECT {columns} FROM (\n{view_sql(metric)}\n) WHERE NOT ({unset})"
    return f"{stored} WHERE {unset}\nUNION ALL\n{computed}"


def _create_live_steps(
    connection: duckdb.DuckDBPyConnection, summaries: Summaries, dirty: dict[str, set[str]]
) -> None:
    """Create all steps below stored ones again, over tables with the days that are not stored yet."""
    # Views find macros in their own schema, whatever the name of the database.
    connection.execute(f"CREATE SCHEMA {LIVE}; SET search_path = '{LIVE}'")
    connection.execute(macros_sql())
    connection.execute(f"SET search_path = '{STEPS},{RAW}'")
    days = {day for step in dirty for day in dirty[step]}
    names = list(dict.fromkeys(name for step in dirty for name in needed(step)))
    # What a stored step needs of another one, that one has to be computed for, too.
    wanted: dict[str, set[str]] = defaultdict(set)
    for step in reversed(names):
        if step in declared() and declared()[step].stored == "day":
            wanted[step] |= days
            for leaf, window in leaves(step).items():
                wanted[leaf] |= {other for day in wanted[step] for other in window.around(day)}
    for name in names:
        if name in data_tables():
            recorded = days_sql(summaries.folder, summaries.state, name, wanted[name])
            text = visible_rows_sql(name, f"(\n{recorded}\n)")
            files = [file for day in wanted[name] for file in summaries.state.files_on(name, day or None)]
            if not readable(summaries.folder, files):
                text = damaged(name)
        else:
            text = view_sql(declared()[name]) if name in declared() else f"SELECT * FROM {RAW}.{name}"
        connection.execute(f"CREATE VIEW {LIVE}.{name} AS {text}")


def _existing_views(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return the existing views over data files with their statements."""
    exists = connection.execute("SELECT 1 FROM duckdb_schemas() WHERE schema_name = ?", [FILES]).fetchone()
    return dict(connection.execute(f"SELECT name, made_by FROM {_VIEWS}").fetchall()) if exists else {}


def _create_table(connection: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> None:
    connection.execute(f"DROP TABLE IF EXISTS {name}")
    connection.execute("; ".join(create_table(name, rows.schema)))
    if rows.num_rows:
        connection.register("rows_to_copy", rows)
        connection.execute(f"INSERT INTO {name} SELECT * FROM rows_to_copy")
        connection.unregister("rows_to_copy")


_DIFFERENCE = "The difference from the record before, if that counts from a start on: see the column basis."


def _comments(table: str) -> list[str]:
    totals = running_of(table)
    running = frozenset(totals.columns) if totals else frozenset[str]()
    columns = (
        (field.name, column_comment(field) + (f" {_DIFFERENCE}" if field.name in running else ""))
        for field in (*parquet_schema(table), DAY)
    )
    return _comments_on(table, table_description(table), columns)


def _comments_on(view: str, meaning: str, columns: Iterable[tuple[str, str]]) -> list[str]:
    on_columns = [f"COMMENT ON COLUMN {view}.{name} IS {literal(text)}" for name, text in columns if text]
    return [f"COMMENT ON VIEW {view} IS {literal(meaning)}", *on_columns]


def _about_row(folder: Folder, state: State, summaries: Summaries) -> pa.Table:
    row = {
        **dict(zip(DESCRIBING, (state.number, *newest(folder)[1:]), strict=True)),
        "summarised": summaries.is_complete,
        "built_utc": datetime.now(UTC),
    }
    schema = pa.schema(
        [
            ("commit_no", pa.int64()),
            ("runs_digest", pa.string()),
            ("folder", pa.string()),
            ("zscope_version", pa.string()),
            ("metrics_digest", pa.string()),
            ("summarised", pa.bool_()),
            ("built_utc", pa.timestamp("us", "UTC")),
        ]
    )
    return pa.Table.from_pylist([row], schema)


def view_comments(name: str) -> list[str]:
    """Return the comments on the view of a metric or step."""
    metric = declared()[name]
    columns = [(f"COLUMN {name}.{column.name}", column.meaning) for column in metric.view_columns]
    return [
        f"COMMENT ON {item} IS {literal(text)}" for item, text in ((f"VIEW {name}", metric.meaning), *columns)
    ]
