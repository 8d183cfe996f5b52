"""The load report of `zscope ingest`: names, times and missing intervals, in every format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import Result

from zscope.pipelines.store import open_reader

pytestmark = pytest.mark.usefixtures("loads_alone")
Run = Callable[..., Result]

SAMPLE = Path(__file__).resolve().parents[4] / "sample-data"
DUMP = SAMPLE / "smf-sample.bin"
KIND = (
    "system", "record_type", "record_subtype", "report", "records", "bytes", "first_local", "last_local",
    "first_utc", "last_utc",
)  # fmt: skip
GAP = ("system", "source", "from_local", "to_local", "missing_intervals", "interval_ms")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Path of a store that does not exist yet."""
    return tmp_path / "store"


@pytest.fixture
def holed(tmp_path: Path) -> Path:
    """The sample without the CPU intervals from ten to twelve."""
    data, content, place = DUMP.read_bytes(), bytearray(), 0
    while place < len(data):
        length = int.from_bytes(data[place : place + 2], "big")
        record = data[place : place + length]
        hour = int.from_bytes(record[6:10], "big") // 360_000
        if not (record[5] == 70 and 10 <= hour < 12 and record[10:14] == b"\x01\x26\x06\x1f"):
            content += record
        place += length
    path = tmp_path / "holed.smf"
    path.write_bytes(content)
    return path


def test_nested_values_of_the_report_are_formatted_like_columns(run: Run, store: Path, holed: Path) -> None:
    result = run("ingest", holed, "--store", store, "--format", "json")
    [row] = json.loads(result.stdout)
    assert {tuple(kind) for kind in row["kinds"]} == {KIND}
    assert {tuple(table) for table in row["tables"]} == {("table_name", "rows", "duplicates")}
    assert {tuple(gap) for gap in row["missing"]} == {GAP}
    assert min(kind["first_local"] for kind in row["kinds"]) == row["first_local"]
    assert max(kind["last_local"] for kind in row["kinds"]) == row["last_local"]
    assert [(gap["from_local"], gap["to_local"]) for gap in row["missing"]] == [
        ("2026-03-02T09:45:00.000000", "2026-03-02T11:45:00.000000")
    ] * 2
    gaps = run("sql", "FROM load_gap ORDER BY system", "--store", store, "--format", "json")
    assert [{"load_id": 1} | gap for gap in row["missing"]] == json.loads(gaps.stdout)


def test_times_in_a_list_are_written_as_those_in_a_column(run: Run, store: Path, holed: Path) -> None:
    run("ingest", holed, "--store", store)
    question = "SELECT from_local, [from_local] AS all_from FROM load_gap LIMIT 1"
    for form, expected in {
        "csv": '2026-03-02T09:45:00.000000,"[""2026-03-02T09:45:00.000000""]"',
        "table": '2026-03-02T09:45:00.000000  ["2026-03-02T09:45:00.000000"]',
        "json": '"from_local": "2026-03-02T09:45:00.000000", "all_from": ["2026-03-02T09:45:00.000000"]',
    }.items():
        assert expected in run("sql", question, "--store", store, "--format", form).stdout


@pytest.mark.deep
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow", "table"])
def test_the_report_comes_in_every_format(run: Run, store: Path, tmp_path: Path, form: str) -> None:
    out = tmp_path / "report"
    result = run("ingest", SAMPLE / "reports", "--store", store, "--format", form, "-o", out)
    assert result.exit_code == 0, result.output
    content = out.read_bytes()
    if form == "parquet":
        read = pq.read_table(out)
        assert read["status"].to_pylist() == ["loaded"] * 5
        firsts = [min(kind["first_local"] for kind in kinds) for kinds in read["kinds"].to_pylist()]
        assert firsts == read["first_local"].to_pylist()
    elif form != "arrow":
        assert content.count(b"loaded") == 5


def test_missing_intervals_are_reported(run: Run, store: Path, holed: Path) -> None:
    [row] = json.loads(run("ingest", holed, "--store", store, "--format", "json").stdout)
    gaps = {(gap["system"], gap["source"], gap["missing_intervals"]) for gap in row["missing"]}
    assert gaps == {("SYSA", "smf70_interval", 8), ("SYSB", "smf70_interval", 8)}
    with open_reader(store) as connection:
        assert connection.execute("SELECT count(*) FROM load_gap").fetchone() == (2,)
