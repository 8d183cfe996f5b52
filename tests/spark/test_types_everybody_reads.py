"""Spark reads the values and types that the store has written, table by table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.pipelines.readers.extremes import plain, write_extremes

from zscope.pipelines.store.parquet_files import parquet_tables

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("pyspark")

SPARK = {
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp_ntz",
    pa.timestamp("us", "UTC"): "timestamp",
}
"""The type in Spark of each type in files of the store."""


def spark_type(kind: pa.DataType) -> str:
    return f"array<{SPARK[kind.value_type]}>" if pa.types.is_list(kind) else SPARK[kind]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, pa.Table]]:
    """A file of each table, and its rows."""
    folder = tmp_path_factory.mktemp("extremes")
    return {
        table: (folder / f"{table}.parquet", write_extremes(table, folder / f"{table}.parquet"))
        for table in parquet_tables()
    }


def test_spark_knows_the_types_of_every_table(
    spark: Any,  # noqa: ANN401 - pyspark is in no other environment
    written: dict[str, tuple[Path, pa.Table]],
) -> None:
    for table, (path, expected) in written.items():
        wanted = [(field.name, spark_type(field.type)) for field in expected.schema]
        assert spark.read.parquet(str(path)).dtypes == wanted, table


def tables_with_all_types(written: dict[str, tuple[Path, pa.Table]]) -> list[str]:
    """Return a few tables that have columns of all types, with and without nulls."""
    missing = {(field.type, field.nullable) for _, rows in written.values() for field in rows.schema}
    tables = []
    while missing:
        kinds = {
            table: {(field.type, field.nullable) for field in rows.schema} & missing
            for table, (_, rows) in written.items()
        }
        best = max(kinds, key=lambda table: len(kinds[table]))
        missing -= kinds[best]
        tables.append(best)
    return tables


@pytest.mark.parametrize("vectorised", [True, False])
def test_spark_reads_the_extremes_of_every_type(
    vectorised: bool,
    spark: Any,  # noqa: ANN401 - pyspark is in no other environment
    written: dict[str, tuple[Path, pa.Table]],
) -> None:
    name = "spark.sql.parquet.enableVectorizedReader"
    spark.conf.set(name, str(vectorised).lower())
    try:
        for table in tables_with_all_types(written):
            path, expected = written[table]
            found = plain(spark.read.parquet(str(path)).toArrow())
            assert found.schema.types == expected.schema.types, table
            different = [each for each in expected.column_names if not found[each].equals(expected[each])]
            assert different == [], table
    finally:
        spark.conf.unset(name)
