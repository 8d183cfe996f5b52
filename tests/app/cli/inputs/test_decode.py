"""`zscope decode`: columns, limits, formats and issues."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from click.testing import Result

from zscope.schemas.arrow import table_schema

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Result]
DETAIL = "smf119_zert_detail"


def rows_of(result: Result) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_all_columns_of_a_table(run: Run, dump: Path) -> None:
    result = run("decode", dump, "--table", DETAIL, "--format", "json")
    assert result.exit_code == 0
    rows = json.loads(result.stdout)
    assert list(rows[0]) == table_schema(DETAIL).names
    assert [row["in_bytes"] for row in rows] == [2**63, 1, 0]
    assert [row["tls_version"] for row in rows] == [0x0303, 0x0304, 0]
    assert [row["record_no"] for row in rows] == [1, 2, 3]


def test_columns_are_printed_in_the_given_order(run: Run, dump: Path) -> None:
    result = run("decode", dump, "-t", DETAIL, "-c", "job_name, record_no,system")
    assert result.stdout == "job_name,record_no,system\nWEB,1,SYSA\nWEB,2,SYSA\nDB2,3,SYSB\n"


def test_the_table_shows_codes_as_texts_unless_raw(run: Run, dump: Path) -> None:
    arguments = ("decode", dump, "-t", DETAIL, "-c", "handshake_type,tls_version,cipher", "--format", "table")
    assert run(*arguments).stdout.splitlines()[2:] == [
        "full            TLSv1.2      TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "abbreviated     TLSv1.3      TLS_AES_128_GCM_SHA256",
        "unknown (0x07)  unknown",
    ]
    assert run(*arguments, "--raw").stdout.splitlines()[2:] == [
        "             1          771  C02F",
        "             2          772  1301",
        "             7            0",
    ]


@pytest.mark.parametrize(("limit", "rows"), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3)])
def test_limit(limit: int, rows: int, run: Run, dump: Path) -> None:
    result = run("decode", dump, "-t", DETAIL, "-c", "record_no", "--limit", limit)
    assert result.stdout.splitlines() == ["record_no", "1", "2", "3"][: rows + 1]


def test_a_table_without_rows_has_its_names(run: Run, dump: Path) -> None:
    result = run("decode", dump, "-t", "smf70_cpu", "-c", "cpu_id,wait_us")
    assert (result.exit_code, result.stdout) == (0, "cpu_id,wait_us\n")


@pytest.mark.parametrize(("select", "rows"), [("119", 3), ("119(11)", 3), ("119(1:10),70", 0)])
def test_select_chooses_records(select: str, rows: int, run: Run, dump: Path) -> None:
    result = run("decode", dump, "-t", "smf_record", "-c", "record_subtype", "--select", select)
    assert result.stdout.splitlines() == ["record_subtype", *["11"] * rows]


def test_parquet_for_programs(run: Run, dump: Path, tmp_path: Path) -> None:
    target = tmp_path / "rows.parquet"
    assert run("decode", dump, "-t", DETAIL, "-o", target).exit_code == 0
    table = pq.read_table(target)
    assert table.schema.field("in_bytes").metadata[b"vendor_name"] == b"SMF119SC_SAInBytes"
    assert table["in_bytes"].to_pylist() == [2**63, 1, 0]


def test_jobs_do_not_change_the_result(run: Run, dump: Path) -> None:
    one = run("decode", dump, "-t", DETAIL, "--jobs", 1).stdout
    assert run("decode", dump, "-t", DETAIL, "--jobs", 3).stdout == one


def test_system_names_records_without_one(run: Run, dump: Path) -> None:
    before, name, rest = dump.read_bytes().rpartition("SYSA".encode("cp037"))
    dump.write_bytes(before + b"\x40" * len(name) + rest)
    arguments = ("decode", dump, "-t", DETAIL, "-c", "system")
    assert [row["system"] for row in rows_of(run(*arguments))] == ["SYSA", "", "SYSB"]
    assert [row["system"] for row in rows_of(run(*arguments, "--system", "PROD"))] == ["SYSA", "PROD", "SYSB"]


def test_several_files_and_standard_input(run: Run, dump: Path, dump_bytes: bytes) -> None:
    result = run("decode", dump, "-", "-t", DETAIL, "-c", "record_no", stdin=dump_bytes)
    assert result.stdout.split() == ["record_no", "1", "2", "3", "1", "2", "3"]


def test_strict_stops_at_the_first_issue_and_writes_nothing(run: Run, dump: Path, tmp_path: Path) -> None:
    dump.write_bytes(dump.read_bytes()[:-100])
    target = tmp_path / "rows.csv"
    lenient = run("decode", dump, "-t", DETAIL, "-o", target)
    assert lenient.exit_code == 4
    assert len(target.read_text().splitlines()) == 3
    target.unlink()
    strict = run("decode", dump, "-t", DETAIL, "-o", target, "--strict")
    assert strict.exit_code == 8
    assert "[truncated]" in strict.stderr
    assert not target.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-t", "smf119_zert_detial"], "did you mean smf119_zert_detail"),
        (["-t", "kangaroo"], "there is no table 'kangaroo'; zscope fields lists all tables"),
        (["-t", DETAIL, "-c", "nonsense"], "has no column 'nonsense'"),
        (["-t", DETAIL, "-c", ""], "name at least one column"),
        (["-t", DETAIL, "--select", "119"], "--select can be used with smf_record, smf_raw, record_digest"),
        (
            ["-t", "smf_record", "--select", "2048"],
            "2048 is not a record type: record types range from 0 to 2047",
        ),
        (["-t", "smf_record", "--select", DETAIL], "use record types such as 119"),
        (["-t", DETAIL, "--limit", "-1"], "-1 is not in the range"),
        (["-t", DETAIL, "--code-page", "500"], "'500' is not one of"),
    ],
)
def test_wrong_arguments(arguments: list[str], message: str, run: Run, dump: Path) -> None:
    result = run("decode", dump, *arguments)
    assert (result.exit_code, result.stdout) == (12, "")
    assert message in result.stderr


def test_an_empty_input_writes_no_output(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("These are my notes about SMF.\n" * 100)
    result = run("decode", text, "-t", DETAIL, "-o", tmp_path / "rows.csv")
    assert (result.exit_code, result.stdout) == (8, "")
    assert not (tmp_path / "rows.csv").exists()


def test_many_issues_are_counted_and_written_to_the_file(run: Run, dump: Path, dump_bytes: bytes) -> None:
    """The start date (section at 156, date at 36) of each of ninety records is no packed number."""
    length = len(dump_bytes) // 3
    one = bytearray(dump_bytes[:length])
    one[192:196] = b"\xff\xff\xff\xff"
    dump.write_bytes(bytes(one) * 90)
    target = dump.parent / "issues.csv"
    result = run("decode", dump, "-t", DETAIL, "-c", "start_utc", "--issues", target)
    assert result.exit_code == 4
    lines = result.stderr.splitlines()
    assert len([line for line in lines if line.startswith("warning: ")]) == 20
    assert lines[1].startswith(f"warning: {dump}, record 1, ")
    assert lines[-1] == "20 of 90 issues shown: 90 bad-date; use --issues FILE for all of them"
    assert len(target.read_text().splitlines()) == 91


def test_a_very_large_limit_works(run: Run, dump: Path) -> None:
    result = run("decode", dump, "-t", DETAIL, "-c", "record_no", "--limit", "9" * 30)
    assert len(rows_of(result)) == 3
