"""Reports on the command line: alone, mixed with dumps, and files that are not reports."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from zscope.schemas.reports import report_tables

Run = Callable[..., Result]
SAMPLE_DATA = Path(__file__).parents[4] / "sample-data"
CONN = """\
MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPPROD         07:15:31
User Id  Conn     Local Socket           Foreign Socket         State
-------  ----     ------------           --------------         -----
PAYROLL  0000B7C1 10.9.8.7..443          10.9.1.2..40001        Establsh
"""


def _json(text: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(text)
    return rows


@pytest.fixture
def conn(tmp_path: Path) -> Path:
    path = tmp_path / "conn.txt"
    path.write_text(CONN)
    return path


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample of one day: a dump, reports, and a manifest that is no input."""
    folder = tmp_path_factory.mktemp("mixed") / "sample"
    return Path(
        shutil.copytree(SAMPLE_DATA, folder, ignore=shutil.ignore_patterns("world", "systems", "zscope"))
    )


def test_a_mixed_folder(run: Run, mixed: Path) -> None:
    result = run("inventory", mixed, "--format", "csv")
    assert result.exit_code == 0, result.stderr
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    reports = {row["report"] for row in rows if row["report"]}
    assert {
        "RMF CPU Activity",
        "RMF Partition Data",
        "NETSTAT CONN",
        "GSKSRVR TICKETCACHE statistics",
    } <= reports
    assert {row["kind"] for row in rows} == {"smf", "rmf", "netstat", "gsksrvr"}
    assert {row["source"] for row in rows if row["report"]} == {"text", "xml", "terminal", "syslog"}
    assert "smf-sample.bin: SMF dump" in result.stderr
    assert "skipped" in result.stderr


@pytest.mark.parametrize("table", sorted(report_tables()))
def test_every_table_of_reports_can_be_decoded_from_the_mixed_folder(
    run: Run, mixed: Path, table: str
) -> None:
    result = run("decode", mixed, "--table", table, "--format", "json")
    assert result.exit_code == 0, result.stderr
    rows = _json(result.stdout)
    captured = report_tables()[table].family in {"rmf", "netstat", "gsksrvr"}
    assert bool(rows) == (captured and table not in {"rmf_crypto", "gsk_crypto", "rmf_workload"})
    for row in rows:
        assert row["file"]
        assert row["line_no"] > 0
        assert row["source"] in {"text", "xml", "terminal", "syslog"}
        assert row["system"] in {"SYSA", "SYSB"}
        assert row["time_from"]


def test_dumps_are_not_read_for_tables_of_reports(run: Run) -> None:
    result = run("decode", SAMPLE_DATA / "smf-sample.bin", "--table", "netstat_conn")
    assert result.exit_code == 0
    assert "not read, because the table comes from other inputs" in result.stderr


def test_a_display_without_a_date_has_none(run: Run, conn: Path) -> None:
    result = run("decode", conn, "--table", "netstat_conn", "--format", "json")
    (row,) = _json(result.stdout)
    assert (row["taken_local"], row["taken_time"], row["time_from"]) == (None, "07:15:31", "no-date")
    assert (row["system"], row["system_from"]) == (None, None)
    assert "1 display shows no date" in result.stderr
    assert result.exit_code == 0


def test_the_date_and_the_system_by_option(run: Run, conn: Path) -> None:
    result = run(
        "decode",
        conn,
        "--table",
        "netstat_conn",
        "--format",
        "json",
        "--taken",
        "2026-03-02",
        "--system",
        "SYSQ",
    )
    (row,) = _json(result.stdout)
    assert row["taken_local"] == "2026-03-02T07:15:31.000000"
    assert (row["system"], row["system_from"], row["time_from"]) == ("SYSQ", "option", "option")


def test_the_date_and_the_system_by_the_name_of_the_file(run: Run, conn: Path) -> None:
    named = conn.rename(conn.with_name("SYSQ-netstat-2026-03-02.txt"))
    result = run("inventory", named, "--format", "json")
    (row,) = _json(result.stdout)
    assert (row["system"], row["first_local"]) == ("SYSQ", "2026-03-02T07:15:31.000000")


@pytest.mark.parametrize("day", ["tomorrow", "2026-03-02T07:15Z", "2026-13-01"])
def test_an_invalid_day_is_refused(run: Run, conn: Path, day: str) -> None:
    assert run("inventory", conn, "--taken", day).exit_code == 12


def test_from_standard_input(run: Run) -> None:
    result = run("decode", "-", "--table", "netstat_conn", "--format", "json", stdin=CONN.encode())
    assert [row["job_name"] for row in _json(result.stdout)] == ["PAYROLL"]


def test_other_text_is_refused_by_name_and_skipped_in_a_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("These are my notes about NETSTAT.\n")
    named = run("inventory", tmp_path / "notes.txt")
    assert named.exit_code == 8
    assert "without a report that zscope knows" in named.stderr
    result = run("inventory", tmp_path)
    assert result.exit_code == 0
    assert "skipped" in result.stderr


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("VM TCP/IP Netstat Level 720       TCP/IP Server Name: TCPIP\n", "zvm-netstat"),
        ('<?xml version="1.0"?>\n<ddsml><report><metric id="8D1110"/></report></ddsml>\n', "monitor-iii"),
        ('<?xml version="1.0"?>\n<html><body>404</body></html>\n', "no-report"),
    ],
)
def test_a_heading_without_a_report_is_refused(run: Run, tmp_path: Path, content: str, code: str) -> None:
    path = tmp_path / "captured"
    path.write_text(content)
    result = run("inventory", path)
    assert result.exit_code == 8, result.stderr
    assert f"[{code}]" in result.stderr


def test_a_message_of_rmf_is_an_issue(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "answer.xml"
    path.write_text(
        '<?xml version="1.0"?>\n<ddsml>\n<postprocessor>\n<message id="GPM0739E"><description>There is no '
        "data for this interval</description><severity>3</severity></message>\n</postprocessor>\n</ddsml>\n"
    )
    result = run("inventory", path)
    assert result.exit_code == 4
    assert "GPM0739E" in result.stderr
    assert "There is no data for this interval" in result.stderr


def test_packed_reports(run: Run, tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "conn.gz"
    path.write_bytes(gzip.compress(CONN.encode("utf-16")))
    result = run("inventory", path, "--format", "json")
    (row,) = _json(result.stdout)
    assert (row["report"], row["packing"], row["framing"]) == ("NETSTAT CONN", "gzip", "UTF-16")
