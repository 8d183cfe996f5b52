"""MQ records and what the formatter made of them are the same rows, up to the exported files."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from tests.parsers.smf.mq_composed import ACCOUNTING, STATISTICS, TABLES
from tests.parsers.text.mq_formatter.examples import BUSY, CHANNEL, IDLE, RUNNING, SSL
from tests.pipelines.stores import load

from zscope.app.cli.main import program
from zscope.parsers import read
from zscope.parsers.options import ReadOptions
from zscope.parsers.text.mq_formatter.formatter_files import JSON_FILE, csv_files, json_lines
from zscope.pipelines.ingest import IngestOptions, row_selection

if TYPE_CHECKING:
    from collections.abc import Iterable

Row = dict[str, str]
Rows = dict[str, list[Row]]
WAYS = IngestOptions(selection=row_selection(None), read_options=ReadOptions(formatter_zone="UTC"))
PLACE = {
    "load_id",
    "record_no",
    "record_offset",
    "file",
    "line_no",
    "source",
    "system_from",
    "extra",
}
NOT_PRINTED = {
    "mq_task": {"interval_end_utc", "interval_tod", "elapsed_tod", "wait_tod"},
    "mq_channel": {"interval_start_local", "interval_end_utc", "interval_us", "section_no"},
    "mq_channel_initiator": {"interval_end_utc", "interval_us"},
}
"""Columns that the formatter gives nothing for."""


def exported(folder: Path, inputs: Iterable[Path]) -> Rows:
    """The rows that a store of some files has when it is exported as CSV, in an order of their own."""
    store, target = folder / "store", folder / "exported"
    assert all(outcome.load for outcome in load(store, *inputs, how=WAYS).outcomes)
    words = ["export", "--store", store, "-o", target, "--format", "csv", *TABLES]
    answer = CliRunner().invoke(program, [str(word) for word in words], prog_name="zscope")
    assert answer.exit_code == 0, answer.output
    found = {}
    for table in TABLES:
        with (target / f"{table}.csv").open(encoding="utf-8", newline="") as file:
            left_out = PLACE | NOT_PRINTED[table]
            rows = [
                {key: text for key, text in row.items() if key not in left_out}
                for row in csv.DictReader(file)
            ]
        found[table] = sorted(rows, key=lambda row: [row[name] for name in row if name not in CHANGED])
    return found


def formatted(folder: Path, dump: Path) -> dict[str, list[Path]]:
    """The files that the formatter makes of a dump."""
    found = read(dump, TABLES)
    assert list(found.issues) == []
    rows: dict[str, list[dict[str, Any]]] = {table: found[table].to_pylist() for table in TABLES}
    files = {"csv": csv_files(rows), "json": {JSON_FILE: json_lines(rows)}}
    paths = {form: [folder / form / name for name in lines] for form, lines in files.items()}
    for form, lines in files.items():
        (folder / form).mkdir()
        for path in paths[form]:
            path.write_text("\n".join(lines[path.name]) + "\n", encoding="ascii")
    return paths


@pytest.fixture(params=["composed", "real"])
def dump(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A dump of the two composed records, or one from a real system of MQ V8."""
    if request.param == "real":
        return Path(request.getfixturevalue("real_data")) / "mq" / "TESTCHL.dat"
    path = tmp_path / "composed.smf"
    path.write_bytes(STATISTICS + ACCOUNTING)
    return path


@pytest.mark.parametrize("form", ["csv", pytest.param("json", marks=pytest.mark.deep)])
def test_dump_and_formatter_output_give_the_same_rows(tmp_path: Path, dump: Path, form: str) -> None:
    paths = formatted(tmp_path, dump)[form]
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    records, blocks = exported(tmp_path / "one", [dump]), exported(tmp_path / "other", paths)
    for table in TABLES:
        assert len(records[table]) == len(blocks[table]) > 0
        for record, block in zip(records[table], blocks[table], strict=True):
            assert block == record | {
                name: as_printed(name, text, record, block) for name, text in record.items()
            }


CHANGED = ("interval_us", "queue_sharing_group")
"""Columns whose values the formatter does not always bring over."""


def as_printed(name: str, text: str, record: Row, block: Row) -> str:
    """A value of a record as the formatter brings it over."""
    if name == "interval_us":
        # Two times that were rounded down can be a microsecond short of the interval.
        parts = int(block["elapsed_us"]) + int(block["wait_us"])
        return str(parts) if int(text) - parts in {0, 1} else text
    if name == "queue_sharing_group" and len(record["mq_version"]) < 6 and "job_name" not in record:
        # Before MQ 10.0 only the block of the initiator has it.
        return ""
    return text


def test_the_formatter_printed_these_records_so(tmp_path: Path) -> None:
    path = tmp_path / "composed.smf"
    path.write_bytes(STATISTICS + ACCOUNTING)
    found = read(path, TABLES)
    files = csv_files({table: found[table].to_pylist() for table in TABLES})
    assert files["SMF-QCTSSL.csv"] == [SSL, BUSY, IDLE]
    assert files["SMF-QCST.csv"] == [CHANNEL, RUNNING]
    assert {name: len(lines) - 1 for name, lines in files.items()} == {
        "SMF-QCTDSP.csv": 2,
        "SMF-QCTADP.csv": 1,
        "SMF-QCTSSL.csv": 2,
        "SMF-QCTDNS.csv": 1,
        "SMF-QCCT.csv": 1,
        "SMF-QCST.csv": 1,
    }
