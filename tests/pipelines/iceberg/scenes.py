"""Stores to publish, made quickly: by the writers of the store, without an input that is decoded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.pipelines.stores import rewrite_commits

from zscope.pipelines.iceberg import iceberg_columns, publish
from zscope.pipelines.store.commits import Commit, Load, read_state
from zscope.pipelines.store.folder import Folder, digest_of_file, existing_store, make_store, partition
from zscope.pipelines.store.parquet_files import (
    Part,
    StagedFile,
    file_schema,
    parquet_schema,
    schema_digest,
    time_column,
)
from zscope.pipelines.store.transaction import commit_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from zscope.pipelines.store.commits import State

DETAIL, CONNECTION = "smf119_zert_detail", "smf119_tcp_init"
TABLES = (DETAIL, CONNECTION)
DAYS = ("2026-03-02", "2026-03-03")


def synthetic_rows(table: str, load_id: int, day: str, rows: int) -> pa.Table:
    """Rows of a table with numbers, texts and times of a day."""
    begin = datetime.fromisoformat(day).replace(tzinfo=UTC)
    iceberg_columns = []
    for place, field in enumerate(parquet_schema(table)):
        values: list[Any]
        if field.name == "load_id":
            values = [load_id] * rows
        elif pa.types.is_timestamp(field.type):
            zone = UTC if field.type.tz else None
            times = (begin + timedelta(minutes=7 * row, microseconds=row) for row in range(rows))
            values = [time.replace(tzinfo=zone) for time in times]
        elif pa.types.is_integer(field.type):
            values = [(load_id + place + row) % 100 for row in range(rows)]
        elif pa.types.is_string(field.type) or pa.types.is_dictionary(field.type):
            values = [f"T{(load_id + place + row) % 7}" for row in range(rows)]
        elif pa.types.is_floating(field.type):
            values = [place + row / 8 for row in range(rows)]
        elif pa.types.is_boolean(field.type):
            values = [(place + row) % 2 == 0 for row in range(rows)]
        elif pa.types.is_binary(field.type):
            values = [bytes([place % 256, row]) for row in range(rows)]
        elif pa.types.is_date(field.type):
            values = [begin.date()] * rows
        elif pa.types.is_list(field.type):
            values = [[load_id, row] for row in range(rows)]
        else:
            raise TypeError(f"{table}.{field.name}: {field.type}")
        if rows > 2 and field.nullable and place % 3 == 0:
            values[2] = None
        iceberg_columns.append(pa.array(values, field.type))
    return pa.Table.from_arrays(iceberg_columns, schema=parquet_schema(table))


def add_load(store: Path, tables: Sequence[str] = TABLES, days: Sequence[str] = DAYS, rows: int = 5) -> int:
    """Commit a load with a file for each table and day, and return its number."""
    folder = existing_store(store) if store.exists() else make_store(store)
    state = read_state(folder)
    load_id = state.next_load_id
    staged: list[StagedFile] = []
    for number, (table, day) in enumerate((table, day) for table in tables for day in days):
        dated = day if time_column(table) else None
        place = folder.stage / partition(table, dated)
        part = Part(place / f"{load_id:08}-{number}.parquet", table, dated, file_schema(table))
        part.write(synthetic_rows(table, load_id, day, rows))
        staged.append(part.close())
    now = datetime.now(UTC).isoformat()
    load = Load(load_id, f"{load_id}.smf", (), "smf", "rdw", "", f"{load_id:032x}", 0, None, now, 0.1)
    commit_files(
        folder, state, staged,
        lambda files: Commit("load", adds=files, loads=(load,)),
    )  # fmt: skip
    return load_id


def change(store: Path, what: Callable[[Folder, State], object]) -> None:
    """Change a store, without the catalogue that the commands update then."""
    folder = existing_store(store)
    what(folder, read_state(folder))


@contextmanager
def earlier_version(store: Path, table: str, column: str) -> Iterator[None]:
    """Publish as a version of zscope that did not know a column of a table, of which the store has files."""
    without_column(store, table, column)
    known = parquet_schema(table)
    fewer = known.remove(known.get_field_index(column))
    with pytest.MonkeyPatch.context() as earlier:
        earlier.setattr(publish, "digest_of_declarations", lambda: "earlier")
        earlier.setattr(
            publish, "schema_digest", lambda name: "earlier" if name == table else schema_digest(name)
        )
        earlier.setattr(
            iceberg_columns, "parquet_schema", lambda name: fewer if name == table else parquet_schema(name)
        )
        yield


def without_column(store: Path, table: str, column: str) -> None:
    """Write the files of a table again as a version of zscope did that did not know a column."""
    folder = Folder(store)

    def make_files_earlier(content: dict[str, Any]) -> None:
        for file in content["adds"]:
            if file["table"] != table:
                continue
            path = folder.data / file["path"]
            pq.write_table(pq.read_table(path, partitioning=None).drop_columns([column]), path)
            file |= {"schema": "earlier", "bytes": path.stat().st_size, "digest": digest_of_file(path)}

    rewrite_commits(folder, make_files_earlier)
