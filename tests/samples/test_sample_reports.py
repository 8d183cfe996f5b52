"""The reports in sample-data: generated again byte for byte, and compared with the dump."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from zscope.parsers import Severity, Tables, inventory, read
from zscope.samples import sample
from zscope.samples.reports import report_files
from zscope.samples.reports.files import LABEL
from zscope.schemas.reports import report_tables

SAMPLE_DATA = Path(__file__).parents[2] / "sample-data"
DUMP = SAMPLE_DATA / "smf-sample.bin"
REPORTS = SAMPLE_DATA / "reports"
CAPTURED = {"rmf", "netstat", "gsksrvr"}
"""Families of reports in this sample; other tables have data of other systems."""
Row = dict[str, Any]


@pytest.fixture(scope="module")
def everything() -> Tables:
    """The dump and its reports; the world has its own tests."""
    return read([DUMP, REPORTS])


def _rows(everything: Tables, table: str) -> list[Row]:
    rows: list[Row] = everything[table].to_pylist()
    return rows


def test_the_files_are_generated_again_byte_for_byte() -> None:
    generated = {file.name: file.content for file in report_files(DUMP, sample())}
    assert generated == {path.name: path.read_bytes() for path in REPORTS.iterdir()}


def test_each_file_is_labelled_as_synthetic() -> None:
    for path in REPORTS.iterdir():
        assert LABEL.lower() in path.read_text(encoding="utf-8").lower(), path.name


def test_reading_them_reports_no_warning(everything: Tables) -> None:
    assert [str(issue) for issue in everything.issues if issue.severity > Severity.NOTE] == []


def test_each_table_with_a_confirmed_layout_has_rows(everything: Tables) -> None:
    captured = [name for name, table in report_tables().items() if table.family in CAPTURED]
    empty = {name for name in captured if not everything[name].num_rows}
    # The layout of two is not published; the world has reports of the third.
    assert empty == {"rmf_crypto", "gsk_crypto", "rmf_workload"}


def test_every_row_has_line_number_system_and_time(everything: Tables) -> None:
    for name in report_tables():
        for row in _rows(everything, name):
            assert Path(row["file"]).is_file()
            assert row["system"] in {"SYSA", "SYSB"}
            assert row["system_from"] in {"report", "prefix", "file-name"}
            assert row["time_from"] in {"report", "prefix", "file-name"}
            assert row.get("taken_local") or row.get("interval_start_local")
            lines = Path(row["file"]).read_text(encoding="utf-8").splitlines()
            assert 0 < row["line_no"] <= len(lines)
            assert row["extra"] is None


def test_open_connections_are_those_of_the_dump(everything: Tables) -> None:
    ended = {
        (row["system"], row["connection_id"]): row
        for row in _rows(everything, "smf119_zert_detail")
        if row["event_type"] in {3, 4}
    }
    shown = [r for r in _rows(everything, "netstat_conn") if r["state"].upper() in {"ESTABLSH", "ESTBLSH"}]
    assert len(shown) > 8
    for row in shown + _rows(everything, "netstat_all"):
        record = ended[row["system"], row["connection_id"]]
        for column in ("job_name", "local_ip", "local_port", "remote_ip", "remote_port", "stack"):
            assert row[column] == record[column], column
        taken = row["taken_local"] - timedelta(hours=1)  # the clocks of both systems are an hour ahead
        assert record["start_utc"].replace(tzinfo=None) <= taken < record["end_utc"].replace(tzinfo=None)


def test_protection_agrees_with_zert(everything: Tables) -> None:
    seen = {(row["system"], row["connection_id"]): row for row in _rows(everything, "smf119_zert_detail")}
    shown = _rows(everything, "netstat_ttls")
    assert len(shown) > 5
    for row in shown:
        record = seen[row["system"], row["connection_id"]]
        for column in ("job_name", "tls_version", "cipher"):
            assert row[column] == record[column], column
        assert row["session_id"] == record["session_id"]


def test_caches_count_the_handshakes_of_the_dump(everything: Tables) -> None:
    servers = [
        row
        for row in _rows(everything, "smf119_zert_detail")
        if row["event_type"] in {3, 4} and row["tls_version"] and row["handshake_role"] != 1
    ]
    shown = _rows(everything, "gsk_cache_stats")
    assert len(shown) == 8
    for row in shown:
        until = row["taken_local"] - timedelta(hours=1)
        mine = [
            s
            for s in servers
            if s["system"] == row["system"]
            and s["end_utc"].replace(tzinfo=None) <= until
            and (s["tls_version"] == 0x0304) == (row["cache"] == "ticket")
        ]
        assert row["add_requested"] == sum(s["handshake_type"] != 2 for s in mine)
        assert row["retrieval_successful"] == sum(s["handshake_type"] == 2 for s in mine)


@pytest.mark.deep
def test_an_inventory_of_all_samples_has_every_kind_of_file() -> None:
    folders = [SAMPLE_DATA / name for name in ("reports", "world", "systems")]
    result = inventory([DUMP, *folders])
    kinds = {row["kind"] for row in result.rows.to_pylist()}
    assert kinds == {"smf", "rmf", "netstat", "gsksrvr", "attls", "transaction", "mq", "zvm", "ztpf"}
    assert {file.kind for file in result.files} == {"smf", "text", "xml", "json"}
    notes = {"benchmark-runs", "not-an-input", "counters-reset", "no-date", "shared-path"}
    assert {issue.code.value for issue in result.issues} == notes
