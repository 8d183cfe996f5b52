"""A cluster of Spark for the tests of this folder.

`make test-spark` runs them in an environment with pyspark. `ZSCOPE_SPARK_MASTER=local[2,4]` in its settings
starts faster, for work on a test: one process with two threads and four attempts for each task.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

HERE = Path(__file__).resolve().parent
OLDEST_JAVA = 17
CLUSTER = "local-cluster[2,1,1024]"
"""Two executors, each a process of its own with one core and 1,024 MB, which start Python workers."""

# Modules here import pyspark, which only the environment of `make test-spark` has.
collect_ignore_glob = [] if find_spec("pyspark") else ["test_*.py"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.spark)
            # pyspark 4.1 warns about pandas 3 at each start, and leaves sockets to the garbage collector.
            item.add_marker(pytest.mark.filterwarnings("ignore::FutureWarning:pyspark"))
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


def java_problem() -> str | None:
    """Return why Spark cannot start, if Java is missing or too old."""
    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=str(Path(home, "bin"))) if home else shutil.which("java")
    if program is None:
        where = f"in JAVA_HOME={home}" if home else "on PATH"
        return f"there is no java {where}; Spark needs Java {OLDEST_JAVA} (Debian: openjdk-17-jre-headless)"
    done = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
    stated = re.search(r'version "(?:1\.)?(\d+)', done.stderr)
    if stated is None or int(stated[1]) < OLDEST_JAVA:
        first = next(iter(done.stderr.splitlines()), "no version")
        return f"{program} is too old for Spark, which needs Java {OLDEST_JAVA}: {first}"
    return None


@pytest.fixture(scope="session")
def java() -> None:
    """Skip without a Java that Spark can use; in CI that is an error."""
    if (problem := java_problem()) is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(problem)
        pytest.skip(problem)


@pytest.fixture(scope="session")
def spark_settings() -> dict[str, str]:
    """Settings of the session, which cannot be changed after its start."""
    log4j = f"-Dlog4j2.configurationFile=file:{HERE / 'log4j2.properties'}"
    return {
        "spark.master": os.environ.get("ZSCOPE_SPARK_MASTER", CLUSTER),
        "spark.app.name": "zscope tests",
        "spark.driver.extraJavaOptions": log4j,
        "spark.executor.extraJavaOptions": log4j,
        # Functions of test modules are sent to the workers by name.
        "spark.executorEnv.PYTHONPATH": str(HERE.parents[1]),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
    }


@pytest.fixture(scope="session")
def spark(
    java: None,  # noqa: ARG001 - only that it is there
    spark_settings: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[SparkSession]:
    """A session on a cluster of several processes, whose Python workers are this interpreter."""
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.config("spark.local.dir", str(folder / "local"))
    builder = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    for name, value in spark_settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    application = session.sparkContext.applicationId
    yield session
    session.stop()
    # The workers of a local cluster keep the output of executors in the folder of Spark itself.
    home = Path(str(find_spec("pyspark").origin)).parent  # type: ignore[union-attr] # it is running
    shutil.rmtree(home / "work" / application, ignore_errors=True)
