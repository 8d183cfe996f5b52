"""What the tests of the data source compare: rows and issues as Spark returns them, and as `scan` does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from zscope.parsers import ReadOptions, read
from zscope.parsers.api import plain_texts
from zscope.schemas.arrow import in_stored_types
from zscope.schemas.stored import GREATEST_INTEGER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame, SparkSession

SAMPLE = str(Path("sample-data/smf-sample.bin").absolute())
SMALL = "600k"
"""A size of ranges that gives the sample dump several tasks."""


def frame(
    spark: SparkSession, paths: str | list[str], table: str, schema: str = "", **options: str
) -> DataFrame:
    reader = spark.read.format("smf").option("table", table).options(**options)
    return (reader.schema(schema) if schema else reader).load(paths)


def rows_of(table: pa.Table) -> list[str]:
    """Return the rows as texts, without order: tasks end in any order."""
    plain = [
        column.combine_chunks().dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return sorted(repr(row) for row in pa.Table.from_arrays(plain, table.column_names).to_pylist())


def scanned(
    paths: str | Path | Iterable[str | Path], table: str, options: ReadOptions | None = None
) -> list[str]:
    """Return the rows that one process reads, in the types of Spark."""
    (rows,) = read(paths, table, options or ReadOptions()).values()
    return rows_of(pa.Table.from_pylist([stored(row) for row in rows.to_pylist()], plain(rows.schema)))


def stored(row: dict[str, object]) -> dict[str, object]:
    """Return the row with null for each number that is too great for a type of Spark."""
    return {
        name: None if isinstance(value, int) and value > GREATEST_INTEGER else value
        for name, value in row.items()
    }


def plain(schema: pa.Schema) -> pa.Schema:
    return plain_texts(in_stored_types(schema))


def issues_of(paths: str | Path | Iterable[str | Path], options: ReadOptions | None = None) -> list[str]:
    return rows_of(read(paths, options=options or ReadOptions()).issues.to_arrow())
