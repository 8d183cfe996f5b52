"""Spark reads dumps and reports as a data source: `spark.read.format("smf")`.

`register_spark` needs pyspark 4.1 (`pip install "zscope[spark]"`). Executors need zscope as well, and
the files under the same paths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
"""Setting of Spark; without it, a data source that evaluates filters cannot be used."""


def register_spark(spark: SparkSession) -> None:
    """Register the format `smf` in a session of Spark, classic or Connect.

    Afterwards `spark.read.format("smf").option("table", "smf119_zert_detail").load(paths)` is a frame.
    It sets `spark.sql.python.filterPushdown.enabled` to true, which the option `pushdown` needs.
    """
    from zscope.parsers.spark.source import SmfDataSource

    spark.conf.set(PUSHDOWN, "true")
    spark.dataSource.register(SmfDataSource)
