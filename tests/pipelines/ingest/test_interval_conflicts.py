"""Two SMF 70 records for one interval with different values: an issue, and a row of the disagreements."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.pipelines.stores import EVERYTHING, load

from zscope.parsers import read
from zscope.parsers.issues import Code
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader

SAMPLE = Path(__file__).resolve().parents[3] / "sample-data" / "smf-sample.bin"
ZONED = replace(EVERYTHING, settings=Settings().merge(["+01:00"]))


@pytest.fixture(scope="module")
def records() -> tuple[bytes, bytes]:
    """An SMF 70 record of the sample as it is, and with another dispatch time of one processor."""
    data = SAMPLE.read_bytes()
    rows = read(SAMPLE, "smf70_logical_cpu")["smf70_logical_cpu"].to_pylist()
    first = next(row for row in rows if row["dispatch_us"])
    begin = first["record_offset"]
    record = data[begin : begin + int.from_bytes(data[begin : begin + 2])]
    time = first["dispatch_us"].to_bytes(8)
    assert record.count(time) == 1
    return record, record.replace(time, (first["dispatch_us"] + 60_000_000).to_bytes(8))


def disagreements(store: Path) -> list[tuple[str, str, str]]:
    with open_reader(store) as connection:
        return connection.execute(
            "SELECT source, other_source, column_name FROM cpu_interval_disagreement"
        ).fetchall()


def test_a_record_sent_again_with_other_values_is_reported(
    tmp_path: Path, records: tuple[bytes, bytes]
) -> None:
    first, second = tmp_path / "first.smf", tmp_path / "second.smf"
    first.write_bytes(records[0])
    second.write_bytes(records[1])
    (outcome,) = load(tmp_path / "store", first, how=ZONED).outcomes
    assert outcome.issues == ()
    (outcome,) = load(tmp_path / "store", second, how=ZONED).outcomes
    (issue,) = outcome.issues
    assert (issue.code, issue.record_no, issue.offset) == (Code.INTERVAL_CONFLICT, 1, 0)
    assert "record 1 of load 1 has other values" in issue.text
    assert ("smf70", "smf70", "cpu_s") in disagreements(tmp_path / "store")


def test_both_records_can_be_in_one_file(tmp_path: Path, records: tuple[bytes, bytes]) -> None:
    path = tmp_path / "both.smf"
    path.write_bytes(b"".join(records))
    (outcome,) = load(tmp_path / "store", path, how=ZONED).outcomes
    (issue,) = outcome.issues
    assert (issue.code, issue.record_no) == (Code.INTERVAL_CONFLICT, 2)
    assert "record 1 of this file" in issue.text
    assert disagreements(tmp_path / "store")


def test_the_same_record_again_is_a_duplicate(tmp_path: Path, records: tuple[bytes, bytes]) -> None:
    path = tmp_path / "twice.smf"
    path.write_bytes(records[0] * 2)
    (outcome,) = load(tmp_path / "store", path, how=ZONED).outcomes
    assert outcome.load is not None
    assert (outcome.issues, outcome.load.duplicates) == ((), 1)
    assert disagreements(tmp_path / "store") == []
