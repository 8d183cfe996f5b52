"""The cluster that the other tests of this folder use."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

PROCESS = pa.schema([("process", pa.int64()), ("module", pa.string())])


def processes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import zscope.parsers

    for _ in batches:
        pass
    yield pa.RecordBatch.from_pylist(
        [{"process": os.getppid(), "module": zscope.parsers.__name__}], schema=PROCESS
    )


def test_tasks_run_in_other_processes_that_can_import_zscope(spark: SparkSession) -> None:
    if not spark.conf.get("spark.master").startswith("local-cluster"):
        pytest.skip("ZSCOPE_SPARK_MASTER names no cluster")
    frame = spark.range(0, 8, numPartitions=4)
    rows = frame.mapInArrow(processes, "process long, module string").collect()
    assert {row.module for row in rows} == {"zscope.parsers"}
    assert len(rows) == 4
    assert os.getpid() not in {row.process for row in rows}


def test_times_of_the_session_are_utc(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
