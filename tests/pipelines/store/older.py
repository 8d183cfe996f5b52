"""Stores as zscope 0.1 wrote them: format 1, with unsigned integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.pipelines.stores import rewrite_commits

from zscope.parsers.issues import ISSUE_SCHEMA
from zscope.pipelines.quality import VALIDATION_SCHEMA
from zscope.pipelines.store.folder import Folder, digest_of_file
from zscope.pipelines.store.parquet_files import data_tables, parquet_schema
from zscope.schemas.arrow import table_schema
from zscope.schemas.stored import DAY
from zscope.schemas.tables import DIGEST_TABLE

if TYPE_CHECKING:
    from pathlib import Path

OLDER = "unsigned"
"""The digest of the columns of all older files."""


def older_schema(table: str) -> pa.Schema:
    """The columns of the files of a table, with the types of the readers."""
    readers = table_schema(table) if table in {*data_tables(), DIGEST_TABLE} else ISSUE_SCHEMA
    types = {"load_id": pa.uint32()} | {field.name: field.type for field in (*VALIDATION_SCHEMA, *readers)}
    return pa.schema([field.with_type(types.get(field.name, field.type)) for field in parquet_schema(table)])


def older_rows(table: str, rows: pa.Table, *, of_days: bool) -> pa.Table:
    """Rows of the store with these columns, and with the day, if the file has several."""
    schema = older_schema(table)
    if of_days:
        schema = schema.append(DAY)
    columns = [
        pa.chunked_array([chunk.view(pa.uint64()) for chunk in rows[field.name].chunks], pa.uint64())
        if field.name == "digest"
        else rows[field.name].cast(field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def make_older(
    store: Path, changed: str = "", column: str = "", values: tuple[int, ...] = (), *, without: str = ""
) -> None:
    """Write all files of a store again as before; one table can get other values in a column.

    `without` is a column that no file has yet.
    """
    folder = Folder(store)

    def make_files_older(content: dict[str, Any]) -> None:
        for file in content["adds"]:
            path = folder.data / file["path"]
            if not path.exists():
                continue  # a later commit drops it
            rows = older_rows(
                file["table"], pq.read_table(path, partitioning=None), of_days=bool(file["days"])
            )
            if file["table"] == changed:
                place = rows.schema.get_field_index(column)
                kept = rows[column].to_pylist()[len(values) :]
                array = pa.array([*values, *kept], pa.uint64())
                rows = rows.set_column(place, rows.schema.field(place), array)
            pq.write_table(rows.drop_columns([without]) if without in rows.column_names else rows, path)
            file |= {"schema": OLDER, "bytes": path.stat().st_size, "digest": digest_of_file(path)}

    rewrite_commits(folder, make_files_older)
    (store / "zscope-store.json").write_text('{"format": 1}')
    folder.catalogue.unlink()
