"""`spark.read.format("smf")` on a cluster of several processes: rows and issues are those of one process."""

from __future__ import annotations

import gzip
import os
import random
import signal
import time
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as fn
from pyspark.sql.types import TimestampNTZType, TimestampType
from tests.parsers.smf.test_mutations import MUTATIONS
from tests.spark.reading import SAMPLE, SMALL, frame, issues_of, rows_of, scanned

import zscope.api as zs
from zscope.parsers.spark.source import SmfDataSource
from zscope.parsers.spark.spark_options import ISSUE_TABLE
from zscope.schemas.tables import table_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from pyspark.sql import SparkSession

ZERT = "smf119_zert_detail"


@pytest.fixture(scope="module", autouse=True)
def registered(spark: SparkSession) -> None:
    zs.register_spark(spark)


def damaged(seed: int) -> bytes:
    rng = random.Random(seed)
    data = bytearray(Path(SAMPLE).read_bytes())
    for _ in range(12):
        rng.choice(MUTATIONS)(data, rng)
    return bytes(data)


def test_rows_of_a_dump_in_ranges(spark: SparkSession) -> None:
    loaded = frame(spark, SAMPLE, ZERT, range_bytes=SMALL)
    assert loaded.rdd.getNumPartitions() > 3
    assert rows_of(loaded.toArrow()) == scanned(SAMPLE, ZERT)


def test_every_table_has_a_schema_that_spark_takes() -> None:
    for table in (*table_names(), ISSUE_TABLE):
        schema = SmfDataSource({"table": table, "path": SAMPLE}).schema()
        assert schema.fields, table
        assert all(field.nullable for field in schema), table


def test_lists_and_bytes(spark: SparkSession) -> None:
    assert rows_of(frame(spark, SAMPLE, "smf_raw").toArrow()) == scanned(SAMPLE, "smf_raw")


def test_rows_and_issues_of_damaged_dumps(spark: SparkSession, tmp_path: Path) -> None:
    for seed in range(2):
        (tmp_path / f"{seed}.smf").write_bytes(damaged(seed))
    assert any("damaged-range" in row for row in issues_of(tmp_path))
    loaded = frame(spark, str(tmp_path), ZERT, range_bytes=SMALL)
    assert rows_of(loaded.toArrow()) == scanned(tmp_path, ZERT)
    assert rows_of(frame(spark, str(tmp_path), ISSUE_TABLE).toArrow()) == issues_of(tmp_path)


def test_packed_files_and_reports(spark: SparkSession, tmp_path: Path) -> None:
    packed = tmp_path / "dump.smf.gz"
    packed.write_bytes(gzip.compress(Path(SAMPLE).read_bytes(), 1))
    paths = [str(packed), str(Path("sample-data/reports/netstat.SYSA.2026-03-02.txt").absolute())]
    for table in (ZERT, "netstat_conn"):
        assert rows_of(frame(spark, paths, table).toArrow()) == scanned(paths, table)
    assert rows_of(frame(spark, paths, ISSUE_TABLE).toArrow()) == issues_of(paths)


def test_the_schema_has_the_types_of_the_store_and_comments(spark: SparkSession) -> None:
    fields = {field.name: field for field in frame(spark, SAMPLE, ZERT).schema}
    assert fields["record_no"].dataType.simpleString() == "bigint"
    assert fields["local_port"].dataType.simpleString() == "int"
    assert isinstance(fields["written_local"].dataType, TimestampNTZType)
    assert isinstance(fields["end_utc"].dataType, TimestampType)
    assert fields["cipher"].metadata["comment"]


def test_the_schema_of_the_user_is_the_projection(spark: SparkSession) -> None:
    loaded = frame(spark, SAMPLE, ZERT, "cipher string, in_bytes decimal(20,0), record_no string")
    assert loaded.columns == ["cipher", "in_bytes", "record_no"]
    expected = zs.read(SAMPLE, f"{ZERT}[cipher,in_bytes,record_no]")[ZERT].to_pylist()
    found = [(int(row.record_no), row.cipher, int(row.in_bytes)) for row in loaded.collect()]
    assert sorted(found) == [(row["record_no"], row["cipher"], row["in_bytes"]) for row in expected]


CONDITIONS = {
    "system = 'SYSA'": True,
    "job_name IN ('FTPD1', 'CICSA', 'WEBSRV')": True,
    "local_port >= 1024 AND cipher IS NOT NULL": True,
    "written_local < TIMESTAMP_NTZ '2026-03-02 09:30:00'": True,
    "end_utc >= TIMESTAMP '2026-03-02 08:30:00Z'": True,
    "cipher IS NULL": True,
    "system <> 'SYSA'": False,
    "job_name LIKE 'C%'": False,
    "system = 'SYSA' OR local_port < 100": False,
    "local_port > 1099511627776": False,
}
"""Conditions, and whether the data source evaluates them instead of Spark."""
COLUMNS = (
    "system string, job_name string, local_port int, written_local timestamp_ntz, end_utc timestamp, "
    "cipher string, record_no long"
)


def test_filters_give_the_rows_that_spark_would_give(spark: SparkSession) -> None:
    loaded = frame(spark, SAMPLE, ZERT, COLUMNS)

    def pushing() -> DataFrame:
        return frame(spark, SAMPLE, ZERT, COLUMNS, pushdown="true")

    # Spark evaluates these: there is no filter.
    flags = [fn.coalesce(fn.expr(where), fn.lit(False)).alias(where) for where in CONDITIONS]
    expected = loaded.select("record_no", *flags).toArrow().to_pylist()
    filtered = {where: pushing().where(where) for where in CONDITIONS}
    named = [each.select(fn.lit(where).alias("where"), "record_no") for where, each in filtered.items()]
    found = reduce(DataFrame.union, named).toArrow().to_pylist()
    for where, pushed in CONDITIONS.items():
        wanted = sorted(row["record_no"] for row in expected if row[where])
        assert sorted(row["record_no"] for row in found if row["where"] == where) == wanted, where
        plan = str(filtered[where]._jdf.queryExecution().executedPlan().toString())
        assert not pushed or "Filter " not in plan, plan
    assert any(row["where"] == "system = 'SYSA'" for row in found)


def test_one_frame_with_two_filters(spark: SparkSession) -> None:
    """With filters that are pushed down, Spark 4.1 would use those of one for both, so that is no default."""
    loaded = frame(spark, SAMPLE, ZERT, "system string, record_no long")
    first, second = loaded.where("system = 'SYSA'"), loaded.where("system = 'SYSB'")
    counted = {row["system"]: row["count"] for row in first.union(second).groupBy("system").count().collect()}
    systems = zs.read(SAMPLE, f"{ZERT}[system]")[ZERT]["system"].to_pylist()
    assert counted == {system: systems.count(system) for system in ("SYSA", "SYSB")}
    assert loaded.count() == len(systems)


def test_sql_can_read_files(spark: SparkSession) -> None:
    spark.sql(f"CREATE OR REPLACE TEMP VIEW zert USING smf OPTIONS (table '{ZERT}', path '{SAMPLE}')")
    total = spark.sql("SELECT count(*) AS rows, sum(in_bytes) AS total FROM zert").collect()[0]
    column = zs.read(SAMPLE, f"{ZERT}[in_bytes]")[ZERT]["in_bytes"]
    assert (total.rows, total.total) == (len(column), sum(value or 0 for value in column.to_pylist()))


class WorkerKiller:
    """Kills the first Python worker that comes here; only the first, as it leaves a file."""

    def __init__(self, mark: Path) -> None:
        self.mark = str(mark)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            try:
                os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                yield batch
                continue
            yield batch
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_in_the_middle_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    schema = "record_no long, record_offset long, job_name string"
    loaded = frame(spark, SAMPLE, ZERT, schema, range_bytes=SMALL)
    through = loaded.mapInArrow(WorkerKiller(tmp_path / "killed"), schema)
    assert rows_of(through.toArrow()) == scanned(SAMPLE, f"{ZERT}[record_no,record_offset,job_name]")
    assert (tmp_path / "killed").exists()


def message(failing: Callable[[], object]) -> str:
    with pytest.raises(PySparkException) as caught:
        failing()
    return str(caught.value)


def test_a_wrong_table_path_or_schema_is_explained(spark: SparkSession, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.smf")
    assert "did you mean smf119_zert_detail" in message(lambda: frame(spark, SAMPLE, "smf119_zert_detial"))
    text = message(lambda: frame(spark, missing, ZERT).collect())
    assert f"{missing}: the driver sees no such file or folder" in text
    for schema, expected in {
        "cypher string": "did you mean cipher",
        "written_local binary": "cannot become binary",
    }.items():
        assert expected in message(frame(spark, SAMPLE, ZERT, schema).collect)


def test_a_named_file_that_is_no_dump_ends_the_query_unless_it_is_skipped(
    spark: SparkSession, tmp_path: Path
) -> None:
    noise = tmp_path / "noise.bin"
    noise.write_bytes(random.Random(2).randbytes(5_000))
    paths = [SAMPLE, str(noise)]
    text = message(frame(spark, paths, ZERT, "cipher string").collect)
    assert str(noise) in text
    assert 'option("refused", "skip")' in text
    skipping = frame(spark, paths, ZERT, "record_no long", refused="skip")
    assert rows_of(skipping.toArrow()) == scanned(SAMPLE, f"{ZERT}[record_no]")
    assert rows_of(frame(spark, paths, ISSUE_TABLE).toArrow()) == issues_of(paths)
