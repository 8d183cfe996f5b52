"""What Spark reads of published tables, and what it refuses: a program that prints JSON.

    python -m tests.spark.published TARGET JAR

It has a session of its own, because the runtime of Iceberg must be known when a session starts.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from tests.pipelines.iceberg.reading import Contents, content_of, snapshots_of, tables_in

REFUSED = {
    "purge": "DROP TABLE shop.zscope.{table} PURGE",
    "expire": "CALL shop.system.expire_snapshots('zscope.{table}')",
    "orphans": "CALL shop.system.remove_orphan_files(table => 'zscope.{table}')",
}
"""Statements that would delete data files."""


def session(target: Path, jar: Path) -> SparkSession:
    """Return a session with the published tables as catalogue `shop`."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    settings = {
        "spark.jars": str(jar),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.shop": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.shop.type": "hadoop",
        "spark.sql.catalog.shop.warehouse": str(target),
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def read(spark: SparkSession, target: Path) -> dict[str, Any]:
    """Return the contents of all tables now and at each snapshot, and the errors of forbidden statements."""
    now: Contents = {}
    snapshots: dict[int, Contents] = {}
    for table in tables_in(target):
        now[table] = content_of(table, spark.table(f"shop.zscope.{table}").toArrow())
        for commit, snapshot in snapshots_of(target, table).items():
            frame = spark.sql(f"SELECT * FROM shop.zscope.{table} VERSION AS OF {snapshot}")
            snapshots.setdefault(commit, {})[table] = content_of(table, frame.toArrow())
    table = min(tables_in(target))
    by_folder = spark.read.format("iceberg").load(str(target / "zscope" / table))
    refused = {}
    for name, statement in REFUSED.items():
        try:
            spark.sql(statement.format(table=table)).collect()
        except (PySparkException, Exception) as error:  # noqa: BLE001 - of Java, and printed
            refused[name] = str(error)
    return {"now": now, "snapshots": snapshots, "by_folder": by_folder.count(), "refused": refused}


def main() -> None:
    """Read and print."""
    target, jar = map(Path, sys.argv[1:])
    spark = session(target, jar)
    try:
        print(json.dumps(read(spark, target)))  # noqa: T201 - the result of the program
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
