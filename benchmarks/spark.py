"""Measure the data source of Spark against one process: `make bench-spark`.

The same synthetic dump is read in one run by `zs.scan` and by two executors of a local cluster, each a
process with one core. All cases decode the same columns, and the number of rows and a sum are compared. The
start of the session is measured apart, and so is the first query, in which the Python workers start.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.compute as pc
from dumps import ZERT_RECORDS, zert_dump
from figures import aligned, measured_here, print_and_write

import zscope.api as zs
from zscope.schemas.arrow import table_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

TABLE = "smf119_zert_detail"
TEN = (
    "system", "written_local", "job_name", "local_port", "connection_id", "handshake_role", "handshake_type",
    "tls_version", "cipher", "in_bytes",
)  # fmt: skip
EXECUTORS = 2
CLUSTER = f"local-cluster[{EXECUTORS},1,2048]"

Sums = tuple[int, int]
"""Number of rows and sum of `in_bytes`."""


@dataclass
class Measured:
    """A way to read the dump, and how long it took."""

    name: str
    read: Callable[[], Sums]
    seconds: list[float]

    def run(self, expected: Sums) -> None:
        """Read once, and compare the result."""
        begin = time.perf_counter()
        found = self.read()
        self.seconds.append(time.perf_counter() - begin)
        if found != expected:
            sys.exit(f"{self.name}: {found} instead of {expected}")


def one_process(path: Path, columns: tuple[str, ...], jobs: int) -> Sums:
    """Read the dump here."""
    rows = total = 0
    for batch in zs.scan(path, f"{TABLE}[{','.join(columns)}]", zs.ReadOptions(jobs=jobs)):
        rows += batch.rows.num_rows
        total += pc.sum(batch.rows["in_bytes"]).as_py() or 0
    return rows, total


def by_spark(spark: SparkSession, path: Path, columns: tuple[str, ...], size: int) -> Sums:
    """Read the dump by the data source; every column goes to the JVM."""
    reader = spark.read.format("smf").option("table", f"{TABLE}[{','.join(columns)}]")
    row = reader.option("range_bytes", str(size)).load(str(path)).selectExpr(
        "count(*) AS rows", "sum(in_bytes) AS total"
    ).collect()[0]  # fmt: skip
    return row.rows, row.total


def session() -> SparkSession:
    """Start a cluster of two executors."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master(CLUSTER).config("spark.executor.memory", "2g")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    zs.register_spark(spark)
    spark.range(EXECUTORS).count()
    return spark


def main() -> None:
    """Measure, print, and with --write-docs write the figures into the document."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=ZERT_RECORDS)
    parser.add_argument("--repeat", type=int, default=3)
    print_and_write(
        lambda folder, given: measure(folder, given.records, given.repeat),
        parser,
        "the figures of Spark",
    )


def measure(folder: Path, records: int, repeat: int) -> str:
    """Return the figures as Markdown."""
    dump = zert_dump(folder, records)
    every = tuple(table_schema(TABLE).names)
    size = -(-dump.bytes // (2 * EXECUTORS))
    begin = time.perf_counter()
    spark = session()
    started = time.perf_counter() - begin
    expected = one_process(dump.path, TEN, 1)
    begin = time.perf_counter()
    by_spark(spark, dump.path, ("system", "in_bytes"), size)
    first = time.perf_counter() - begin
    begin = time.perf_counter()
    ranges = len(zs.plan_ranges(dump.path, size))
    planned = time.perf_counter() - begin
    cores = os.cpu_count() or 1
    cases = []
    for name, columns in {"ten columns": TEN, f"all {len(every)} columns": every}.items():
        for jobs in dict.fromkeys((1, cores)):
            threads = "1 thread" if jobs == 1 else f"{jobs} threads"
            here = partial(one_process, dump.path, columns, jobs)
            cases.append(Measured(f"{name}, one process, {threads}", here, []))
        there = partial(by_spark, spark, dump.path, columns, size)
        cases.append(Measured(f"{name}, Spark, {EXECUTORS} executors", there, []))
    loads = []
    for _ in range(repeat):
        for case in cases:
            case.run(expected)
            loads.append(os.getloadavg()[0])
    spark.stop()
    rows: list[tuple[str, ...]] = [("", "seconds", "fastest", "slowest", "MB/s")]
    for case in cases:
        middle = statistics.median(case.seconds)
        figures = (middle, min(case.seconds), max(case.seconds))
        rows.append((case.name, *(f"{each:.1f}" for each in figures), f"{dump.bytes / middle / 1e6:,.0f}"))
    notes = (
        f"the dump: {dump.describe()}; medians of {repeat} runs of all cases in turn",
        f"start of the session and its executors: {started:.1f} s",
        f"first query, with the start of the Python workers: {first:.1f} s",
        f"planning {ranges} ranges, without Spark: {planned:.2f} s",
        f"load of the machine while it measured: {min(loads):.0f} to {max(loads):.0f}",
        f"{measured_here()}, pyspark {pyspark_version()}",
    )
    return "\n".join([aligned(rows), "", *(f"- {note}" for note in notes)])


def pyspark_version() -> str:
    """Return the version of Spark."""
    import pyspark

    return str(pyspark.__version__)


if __name__ == "__main__":
    main()
