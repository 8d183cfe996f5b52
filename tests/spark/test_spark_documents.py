"""The examples of the handbook about Spark work as written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.handbook import blocks, section

import zscope.api as zs

if TYPE_CHECKING:
    import pytest
    from pyspark.sql import SparkSession

SECTION = section("engines.md", "Spark")


def test_the_example_in_python(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = [block for block in blocks(SECTION, "python") if 'format("smf")' in block]
    exec(block, {"spark": spark})
    assert "sum(in_bytes)" in capsys.readouterr().out


def test_the_example_in_sql(spark: SparkSession) -> None:
    zs.register_spark(spark)
    (block,) = [block for block in blocks(SECTION, "sql") if "USING smf" in block]
    create, select, _ = block.split(";")
    spark.sql(create)
    assert spark.sql(select).count() > 0
