"""Clients need no right to write, and one that has it can delete the files of the store."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyiceberg.catalog import load_catalog
from tests.pipelines.iceberg.reading import in_store, read_by_hint
from tests.pipelines.iceberg.scenes import CONNECTION, DETAIL, add_load

from zscope.pipelines.iceberg.publish import publish_iceberg
from zscope.pipelines.iceberg.published_folder import default_target
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.file_checks import check_store
from zscope.pipelines.store.folder import DamagedStoreError, existing_store

CHECKOUT = Path(__file__).resolve().parents[3]
NOBODY = 65534


@pytest.fixture
def published() -> Iterator[Path]:
    """A published store in a folder that everyone can read, unlike those of pytest."""
    with tempfile.TemporaryDirectory(prefix="zscope-shared-") as folder:
        place = Path(folder)
        place.chmod(0o755)
        add_load(place / "store")
        publish_iceberg(place / "store")
        yield place / "store"


# Libraries are imported, and those that they import at their first use, before the rights are given up: the
# environment of the tests may be in the home of root.
AS_NOBODY = f"""
import json, os, sys
from pathlib import Path
from tests.pipelines.iceberg import reading
from pyiceberg.catalog import load_catalog

target = Path(sys.argv[1])
reading.read_by_hint(target), reading.read_by_catalogue(target), reading.read_by_polars(target)
os.setgroups([]), os.setgid({NOBODY}), os.setuid({NOBODY})
try:
    (target / "catalog.db").open("r+b")
    raise SystemExit("this user can write, which proves nothing")
except PermissionError:
    pass
read = [reading.read_by_hint(target), reading.read_by_catalogue(target), reading.read_by_polars(target)]
try:
    catalogue = load_catalog("zscope", type="sql", uri=f"sqlite:///{{target / 'catalog.db'}}")
    catalogue.purge_table("zscope.{DETAIL}")
    outcome = "purged"
except Exception as error:
    outcome = type(error).__name__
read.append(reading.read_by_hint(target))
print(json.dumps([read, outcome]))
"""


@pytest.mark.deep
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become a user without rights to write")
def test_a_reader_needs_no_right_to_write(published: Path) -> None:
    # Stores are closed to others: the reader is in the group, as in the documents.
    for folder in (published, default_target(published)):
        for path in (folder, *folder.rglob("*")):
            os.chown(path, -1, NOBODY)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", AS_NOBODY, str(default_target(published))],
        cwd=CHECKOUT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    read, outcome = json.loads(done.stdout)
    expected = {table: list(content) for table, content in in_store(published).items()}
    assert read == [expected] * 4
    assert outcome == "OperationalError", "the catalogue cannot be written"
    check_store(existing_store(published))


def test_a_client_with_the_right_to_write_can_delete_the_files_of_a_store(tmp_path: Path) -> None:
    """On a copy: so the documents say to give clients no right to write."""
    store = tmp_path / "copy"
    add_load(store)
    publish_iceberg(store)
    catalogue = load_catalog("zscope", type="sql", uri=f"sqlite:///{default_target(store) / 'catalog.db'}")
    assert catalogue.load_table(f"zscope.{DETAIL}").properties["gc.enabled"] == "false"
    catalogue.purge_table(f"zscope.{DETAIL}")
    catalogue.close()
    files = read_state(existing_store(store)).files.values()
    left = {file.table: (store / "data" / file.path).exists() for file in files}
    assert left == {DETAIL: False, CONNECTION: True}
    with pytest.raises(DamagedStoreError, match="2 of 4 files differ"):
        check_store(existing_store(store))


def test_deleting_the_published_tables_does_not_touch_the_store(published: Path) -> None:
    shutil.rmtree(default_target(published))
    check_store(existing_store(published))
    publish_iceberg(published)
    assert read_by_hint(default_target(published)) == in_store(published)
