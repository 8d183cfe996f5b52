"""Ranges of files: `read` and `scan` take them like paths, here and in other processes."""

from __future__ import annotations

import gzip
import pickle
import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parsers.smf.test_mutations import mutated

from zscope.parsers import Code, FileRange, Issues, ReadOptions, plan_ranges, read, scan
from zscope.parsers.smf.framing import Framing

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = "sample-data/smf-sample.bin"
TABLES = "smf119_zert_detail,smf119_tcp_term,smf_record"


def read_apart(paths: str | Path | list[str | Path], size: int) -> tuple[dict[str, pa.Table], Issues]:
    """Read each range as another process would, and put the results together."""
    plan = plan_ranges(paths, size)
    issues = Issues()
    issues.extend(plan.issues)
    tables: dict[str, list[pa.Table]] = {}
    for part in plan:
        result = read(pickle.loads(pickle.dumps(part)), TABLES)
        issues.extend(pickle.loads(pickle.dumps(result.issues)))
        for name, table in result.items():
            tables.setdefault(name, []).append(table)
    return {name: pa.concat_tables(parts).unify_dictionaries() for name, parts in tables.items()}, issues


def rows(table: pa.Table) -> list[dict[str, object]]:
    """In the order of the file, in which one read has the rows only within one kind of record."""
    key = [("record_no", "ascending")]
    return [dict(row) for row in table.sort_by(key).to_pylist()]


def assert_apart_as_whole(path: str | Path, size: int) -> None:
    whole = read(path, TABLES)
    tables, issues = read_apart(path, size)
    for name, table in whole.items():
        assert rows(tables[name]) == rows(table), name
    assert list(issues) == list(whole.issues)


def test_ranges_have_the_rows_and_issues_of_the_file() -> None:
    assert len(plan_ranges(SAMPLE, 100_000)) > 10
    assert_apart_as_whole(SAMPLE, 100_000)


@given(seed=st.integers(0, 1 << 32))
@settings(max_examples=10)  # each decodes many ranges
def test_ranges_of_damaged_dumps(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("damaged") / "dump.smf"
    path.write_bytes(mutated(seed))
    assert_apart_as_whole(path, random.Random(seed).choice([1, 2_000]))


def test_ranges_follow_each_other_and_know_their_length() -> None:
    plan = plan_ranges(SAMPLE, 500_000)
    ends = [part.span.end for part in plan]
    assert [part.span.begin for part in plan] == [0, *ends[:-1]]
    assert ends[-1] is None
    assert sum(part.length or 0 for part in plan) == plan.ranges[0].size
    assert all(part.framing is Framing.RDW for part in plan)


def test_a_packed_file_a_report_and_a_small_dump_are_one_range_each(tmp_path: Path) -> None:
    packed = tmp_path / "dump.smf.gz"
    with open(SAMPLE, "rb") as file:  # noqa: PTH123 - a text like those of users
        packed.write_bytes(gzip.compress(file.read(), 1))
    paths: list[str | Path] = [packed, "sample-data/reports", SAMPLE]
    plan = plan_ranges(paths, 1 << 30)
    assert all(part.whole for part in plan)
    assert plan.ranges[0] == FileRange(str(packed), size=packed.stat().st_size)
    assert list(plan_ranges(packed, 1)) == [plan.ranges[0]]
    assert {part.named for part in plan} == {True, False}


def test_a_file_that_cannot_be_read_is_a_range_whose_reader_reports_it(tmp_path: Path) -> None:
    missing = tmp_path / "missing.smf"
    (part,) = plan_ranges(missing)
    assert [issue.code for issue in read(part).issues] == [Code.UNREADABLE]


def test_data_that_are_no_dump_are_a_range_whose_reader_refuses_them(tmp_path: Path) -> None:
    path = tmp_path / "noise.bin"
    path.write_bytes(random.Random(1).randbytes(5_000))
    (part,) = plan_ranges(path, 100)
    assert list(read(part).issues) == list(read(path).issues)


def test_a_file_that_has_grown_since_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "dump.smf"
    with open(SAMPLE, "rb") as file:  # noqa: PTH123
        path.write_bytes(file.read(400_000))
    part = plan_ranges(path, 100_000).ranges[1]
    with path.open("ab") as file:
        file.write(bytes(18))
    (issue,) = read(part).issues
    assert issue.code is Code.UNREADABLE
    assert "400,018 bytes, and had 400,000" in issue.text


def test_a_folder_is_planned_file_by_file_and_tells_what_it_skips(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "other").symlink_to(tmp_path)
    (tmp_path / "folder" / "a.smf").write_bytes(b"")
    plan = plan_ranges(tmp_path / "folder")
    assert [part.path for part in plan] == [str(tmp_path / "folder" / "a.smf")]
    assert [issue.code for issue in plan.issues] == [Code.NOT_AN_INPUT]
    assert repr(plan) == "<RangePlan: 1 ranges of 1 files; 1 issue (not-an-input)>"


def test_a_scan_of_a_range_is_an_arrow_stream() -> None:
    part = plan_ranges(SAMPLE, 500_000).ranges[1]
    stream = scan(part, "smf119_tcp_term[record_no]")
    numbers = stream.to_arrow_reader().read_all()["record_no"].to_pylist()
    assert min(numbers) >= part.span.first_record
    assert str(part) in repr(stream)


def test_options_of_the_plan_are_those_of_the_ranges() -> None:
    """A framing that is named is not detected."""
    plan = plan_ranges(SAMPLE, 500_000, ReadOptions(framing=Framing.RDW_EXCLUSIVE))
    assert {part.framing for part in plan} <= {None, Framing.RDW_EXCLUSIVE}


def test_a_size_below_one_byte_is_refused() -> None:
    with pytest.raises(ValueError, match="size is 0"):
        plan_ranges(SAMPLE, 0)
