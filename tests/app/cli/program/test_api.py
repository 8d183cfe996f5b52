"""`zscope.api` and `python -m zscope`: the import for notebooks, and the program for shells."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa

import zscope.api as zs

DUMP = Path(__file__).resolve().parents[4] / "sample-data" / "smf-sample.bin"


def test_every_name_exists() -> None:
    assert all(hasattr(zs, name) for name in zs.__all__)


def test_the_version_is_that_of_the_package() -> None:
    assert zs.__version__ == version("zscope")


def test_read_scan_and_inventory_agree() -> None:
    table = zs.read(DUMP, "smf119_tcp_term[job_name]")["smf119_tcp_term"]
    scanned = pa.Table.from_batches([batch.rows for batch in zs.scan(DUMP, "smf119_tcp_term[job_name]")])
    assert scanned.equals(table.combine_chunks())
    contents = zs.inventory(DUMP)
    assert table.num_rows == sum(
        row["records"]
        for row in contents.rows.to_pylist()
        if (row["record_type"], row["record_subtype"]) == (119, 2)
    )
    assert isinstance(contents.issues, zs.Issues)


def test_the_package_is_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "zscope", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"zscope {zs.__version__}\n"
