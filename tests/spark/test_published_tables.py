"""Spark reads published Iceberg tables, with the runtime of Iceberg from Maven Central."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.pipelines.iceberg.reading import Contents, in_store
from tests.pipelines.iceberg.scenes import CONNECTION, DETAIL, add_load, change, earlier_version
from tests.pipelines.iceberg.stopping import StoppedError, stop_before, watched

from zscope.pipelines.iceberg.publish import publish_iceberg
from zscope.pipelines.iceberg.published_folder import default_target
from zscope.pipelines.store.file_checks import check_store
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.maintenance import compact, expire
from zscope.pipelines.store.remove import remove_load

pytest.importorskip("pyspark", reason="needs the environment of `make test-spark`")

CHECKOUT = Path(__file__).resolve().parents[2]
RUNTIME = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0"
JARS = CHECKOUT / "build" / "jars"
TABLES = (DETAIL, CONNECTION, "smf119_tcp_term", "rmf_cpu", "netstat_conn", "issue", "validation")
"""With columns of all types."""


@pytest.fixture(scope="module")
def runtime() -> Path:
    """The runtime of Iceberg for Spark; downloaded once by Maven, or named by ZSCOPE_ICEBERG_JAR."""
    if given := os.environ.get("ZSCOPE_ICEBERG_JAR"):
        return Path(given)
    _, name, version = RUNTIME.split(":")
    jar = JARS / f"{name}-{version}.jar"
    if not jar.exists():
        command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={RUNTIME}", f"-DoutputDirectory={JARS}"]
        problem = "there is no mvn on PATH"
        if shutil.which("mvn"):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            problem = (done.stdout + done.stderr).strip()[-300:]
        if not jar.exists():
            reason = f"the runtime of Iceberg cannot be downloaded from Maven Central: {problem}"
            if os.environ.get("CI") == "true":
                pytest.fail(reason)
            pytest.skip(reason)
    return jar


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[int, Contents]]:
    """A store after loads, a removal, a compaction, an expiry, a new column and a stopped publication."""
    store = tmp_path_factory.mktemp("published") / "store"
    expected: dict[int, Contents] = {}

    def publish() -> None:
        expected[publish_iceberg(store).commit] = in_store(store)

    add_load(store, TABLES)
    with earlier_version(store, DETAIL, "cipher"):
        publish()
    expected[1] = in_store(store)
    add_load(store, TABLES, ["2026-03-01"])
    publish()
    change(store, lambda folder, state: remove_load(folder, state, 1))
    publish()
    add_load(store)
    with watched(default_target(store), stop_before(9)), suppress(StoppedError):
        publish_iceberg(store)
    publish()
    change(store, compact)
    publish()
    change(store, lambda folder, state: expire(folder, state, date(2026, 3, 2)))
    publish()
    return store, expected


@pytest.fixture(scope="module")
def read(java: None, runtime: Path, store: tuple[Path, dict[int, Contents]]) -> dict[str, Any]:  # noqa: ARG001 - that it is there
    """What Spark read."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.spark.published"]
    done = subprocess.run(
        [*command, default_target(store[0]), runtime],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def contents(raw: dict[str, list[int]]) -> Contents:
    return {table: (rows, digest) for table, (rows, digest) in raw.items()}


def test_all_rows_are_those_of_the_store(
    read: dict[str, Any], store: tuple[Path, dict[int, Contents]]
) -> None:
    expected = in_store(store[0])
    found = contents(read["now"])
    assert found.keys() == set(TABLES)
    assert found == {table: expected.get(table, (0, 0)) for table in TABLES}
    assert found[DETAIL][0] > 0


def test_rows_at_each_snapshot_are_those_of_the_commit(
    read: dict[str, Any], store: tuple[Path, dict[int, Contents]]
) -> None:
    _, expected = store
    found = {int(commit): contents(raw) for commit, raw in read["snapshots"].items()}
    assert found.keys() == expected.keys()
    for commit, tables in found.items():
        assert tables == {table: expected[commit].get(table, (0, 0)) for table in tables}, f"commit {commit}"


def test_a_folder_can_be_read_without_a_catalogue(read: dict[str, Any]) -> None:
    assert read["by_folder"] == contents(read["now"])[min(TABLES)][0]


def test_spark_refuses_to_delete_files(read: dict[str, Any], store: tuple[Path, dict[int, Contents]]) -> None:
    assert read["refused"].keys() == {"purge", "expire", "orphans"}
    assert all("GC is disabled" in error for error in read["refused"].values())
    check_store(existing_store(store[0]))
