"""`zscope fields`: search and formats."""

from __future__ import annotations

import csv
import io
import json
import re
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


@pytest.mark.parametrize(
    ("searched", "table", "column", "record"),
    [
        ("full_handshakes", "handshake_mix", "full_handshakes", "metric"),
        ("resumed_pct", "handshake_mix", "resumed_pct", "metric"),
        ("low_cpu_s_per_day", "tls_price", "low_cpu_s_per_day", "metric"),
        ("REMOTE_IP", "smf119_tcp_init", "remote_ip", "119-1"),
        ("smf119_zert_detail.cipher", "smf119_zert_detail", "cipher", "119-11"),
        ("SMF119AP_TTRIP", "smf119_tcp_term", "remote_ip", "119-2"),
        ("tls_price", "tls_price", None, "metric"),
        ("full_handshake_cause", "full_handshake_cause", None, "step of metrics"),
        ("smf70_cpu", "smf70_cpu", None, "table"),
        ("price_per_msu", "tls_price", "price_per_msu", "parameter"),
        ("not-encrypted", "finding", "not-encrypted", "check"),
        ("icsf-audit", "best_practice_check", "icsf-audit", "check"),
        ("actions-are-defined", "tls_rule", "actions-are-defined", "expectation"),
    ],
)
def test_what_a_first_user_searches_comes_first(
    run: Run, searched: str, table: str, column: str | None, record: str
) -> None:
    first, *_ = json.loads(run("fields", searched, "--json").stdout)
    assert (first["table_name"], first["column_name"], first["record"]) == (table, column, record)


def test_better_matches_come_before_others(run: Run) -> None:
    """The name, then columns of a table of this name, words of names, parts of names, and texts."""
    rows = json.loads(run("fields", "cipher", "--json").stdout)
    own = [
        {row["column_name"] or row["table_name"], *(row["vendor_name"] or "").lower().split(", ")}
        for row in rows
    ]
    exact = ["cipher" in names or row["table_name"] == "cipher" for names, row in zip(own, rows, strict=True)]
    assert exact == sorted(exact, reverse=True)
    as_word = [any("cipher" in re.split(r"[^a-z0-9]", name or "") for name in names) for names in own]
    later = as_word[exact.index(False) :]
    assert later == sorted(later, reverse=True)
    assert True in later
    assert False in later
    of_table = json.loads(run("fields", "smf70_cpu", "--json").stdout)
    columns = [row["column_name"] for row in of_table if row["table_name"] == "smf70_cpu"]
    assert [row["table_name"] for row in of_table[: len(columns)]] == ["smf70_cpu"] * len(columns)
    assert len(columns) > 10


def test_the_first_column_has_all_metrics(run: Run) -> None:
    """`cpu_s_per_day` is a column of several metrics; each of them is found before other columns."""
    rows = json.loads(run("fields", "cpu_s_per_day", "--json").stdout)
    exact = [row["table_name"] for row in rows if row["column_name"] == "cpu_s_per_day"]
    assert "tls_price" in exact
    assert [row["column_name"] for row in rows[: len(exact)]] == ["cpu_s_per_day"] * len(exact)


def test_words_may_be_quoted_together_or_not(run: Run) -> None:
    assert run("fields", "server certificate").stdout == run("fields", "server", "certificate").stdout


def test_without_a_pattern_everything_is_listed(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(run("fields").stdout)))
    assert len(rows) == field_catalog().num_rows
    assert list(rows[0]) == field_catalog().column_names


def test_no_match_is_no_error(run: Run) -> None:
    result = run("fields", "kangaroo", "--format", "json")
    assert (result.exit_code, result.stdout) == (0, "[]\n")
    assert result.stderr == "no name matches 'kangaroo'; try fewer or shorter words\n"


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
