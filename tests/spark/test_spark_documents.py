"""The examples of docs/scale.md work as written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import zscope.api as zs

if TYPE_CHECKING:
    import pytest
    from pyspark.sql import SparkSession

TEXT = Path("docs/scale.md").read_text(encoding="utf-8")
SECTION = TEXT[TEXT.index("\n## Spark\n") :]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)


def test_the_example_in_python(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = [block for block in blocks("python") if 'format("smf")' in block]
    exec(block, {"spark": spark})
    assert "sum(in_bytes)" in capsys.readouterr().out


def test_the_example_in_sql(spark: SparkSession) -> None:
    zs.register_spark(spark)
    (block,) = [block for block in blocks("sql") if "USING smf" in block]
    create, select, _ = block.split(";")
    spark.sql(create)
    assert spark.sql(select).count() > 0
