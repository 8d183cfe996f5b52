"""`zscope fields`: search and formats."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from click.testing import Result

from zscope.schemas.field_catalog import field_catalog

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Result]


def test_the_vendor_name_finds_the_column(run: Run) -> None:
    result = run("fields", "smf119sc_tls_neg_cipher", "--format", "json")
    [row] = json.loads(result.stdout)
    assert (row["table_name"], row["column_name"]) == ("smf119_zert_detail", "cipher")
    assert (row["byte_offset"], row["byte_length"], row["evidence"]) == (56, 6, "ibm-deck")
    assert result.exit_code == 0
    assert result.stderr == ""


def test_words_may_be_quoted_together_or_not(run: Run) -> None:
    assert run("fields", "server certificate").stdout == run("fields", "server", "certificate").stdout


def test_without_a_pattern_everything_is_listed(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(run("fields").stdout)))
    assert len(rows) == field_catalog().num_rows
    assert list(rows[0]) == field_catalog().column_names


def test_no_match_is_no_error(run: Run) -> None:
    result = run("fields", "kangaroo", "--format", "json")
    assert (result.exit_code, result.stdout) == (0, "[]\n")
    assert result.stderr == "no field matches 'kangaroo'; try fewer or shorter words\n"


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "ndjson", "parquet", "arrow", "txt"])
def test_the_ending_of_the_file_chooses_the_format(ending: str, run: Run, tmp_path: Path) -> None:
    target = tmp_path / f"fields.{ending}"
    result = run("fields", "handshake", "-o", target)
    assert (result.exit_code, result.stdout) == (0, "")
    starts = {
        "csv": b"table_name,column_name,",
        "json": b'[\n{"table_name": "',
        "jsonl": b'{"table_name": "',
        "ndjson": b'{"table_name": "',
        "parquet": b"PAR1",
        "arrow": b"\xff\xff\xff\xff",
        "txt": b"table_name  ",
    }
    assert target.read_bytes().startswith(starts[ending])


def test_the_format_option_overrides_the_ending(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "fields.csv"
    run("fields", "handshake", "-o", target, "--format", "parquet")
    assert pq.read_table(target).column_names == field_catalog().column_names


def test_a_table_in_a_pipe_is_not_cut(run: Run) -> None:
    lines = run("fields", "smf119sc_tls_neg_cipher", "--format", "table").stdout.splitlines()
    assert lines[0].split() == field_catalog().column_names
    assert lines[2].endswith("FFFFFF when the version is unknown.")
