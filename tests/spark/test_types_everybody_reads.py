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


@pytest.mark.parametrize("vectorised", [True, False])
def test_spark_reads_the_extremes_of_every_table(
    vectorised: bool,
    spark: Any,  # noqa: ANN401 - pyspark is in no other environment
    tmp_path: Path,
) -> None:
    name = "spark.sql.parquet.enableVectorizedReader"
    spark.conf.set(name, str(vectorised).lower())
    try:
        for table in parquet_tables():
            path = tmp_path / f"{table}.parquet"
            expected = write_extremes(table, path)
            frame = spark.read.parquet(str(path))
            wanted = [(field.name, spark_type(field.type)) for field in expected.schema]
            assert frame.dtypes == wanted, table
            found = plain(frame.toArrow())
            assert found.schema.types == expected.schema.types, table
            different = [each for each in expected.column_names if not found[each].equals(expected[each])]
            assert different == [], table
    finally:
        spark.conf.unset(name)
