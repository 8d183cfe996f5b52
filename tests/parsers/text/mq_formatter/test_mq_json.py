"""JSON of the formatter: objects of all blocks in one file, with the values the CSV has."""

from __future__ import annotations

import json
from datetime import UTC
from typing import TYPE_CHECKING, Any

from tests.parsers.smf.mq_composed import TABLES
from tests.parsers.text.mq_formatter.examples import BUSY, CHANNEL, IDLE, RUNNING, SSL, read_csv
from tests.parsers.text.reading import FILE, Reading, codes

from zscope.parsers.issues import Code, Issues
from zscope.parsers.text.captured_report import Origin, ReportSource
from zscope.parsers.text.json_objects import json_objects
from zscope.parsers.text.mq_formatter.formatter_files import MqObjects, json_lines
from zscope.parsers.text.report_rows import FileRows

if TYPE_CHECKING:
    from collections.abc import Iterable

TASK = {
    "recordType": 115,
    "recordSubType": 231,
    "structure": "QCTSSL",
    "date": "2026/03/02",
    "time": "08:30:00.000000",
    "lpar": "SYS1",
    "qmgr": "MQ5A",
    "qsg": "QSG1",
    "mqVersion": "100000",
    "intervalStartDate": "2026-03-02",
    "intervalStartTime": "08:29:00.000000",
    "intervalDuration": 60,
    "taskNumber": 10_244_624,
    "taskIndex": 0,
    "requestCount": 24_400,
    "taskCpuTimeUs": 1_954_000,
    "taskElapsedTimeUs": 8_882_000,
    "taskWaitTimeUs": 51_118_000,
    "maxSslRequestTimeDate": "2026-03-02",
    "maxSslRequestTimeTime": "13:29:41.134500",
    "maxSslRequestDurationUs": 11_204,
}


def read_json(text: str) -> Reading:
    sheet = FileRows(dict.fromkeys(TABLES), Issues(), FILE)
    taker = MqObjects(sheet, Origin(ReportSource.JSON), UTC)
    damaged: list[tuple[int, str]] = []
    for line, result in json_objects([text], lambda line, message: damaged.append((line, message))):
        assert taker.take(line, result)
    taker.finish()
    assert damaged == []
    return Reading(
        {table: batch.to_pylist() for table, batch in sheet.remaining_batches()},
        list(sheet.issues),
        sheet.reports,
    )


def one_by_one(objects: Iterable[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(each, indent=0) for each in objects)


def test_an_object_gives_the_row_of_its_line() -> None:
    result = read_json(one_by_one([TASK]))
    assert codes(result.issues) == []
    (row,) = result.rows
    (line,) = read_csv([SSL, BUSY]).rows
    assert row["source"] == "json"
    assert row | {"source": "csv", "line_no": 2} == line
    assert (row["section_no"], row["extra"]) == (0, None)
    assert [(report.name, report.source) for report in result.reports] == [("MQ QCTSSL", "json")]


def test_one_file_has_blocks_of_all_kinds() -> None:
    written = read_csv([SSL, BUSY, IDLE], [CHANNEL, RUNNING])
    result = read_json("\n".join(json_lines(written.tables)))
    assert codes(result.issues) == []
    places = {"source": None, "line_no": None, "extra": None}
    assert {table: [row | places for row in rows] for table, rows in result.tables.items()} == {
        table: [row | places for row in rows] for table, rows in written.tables.items()
    }
    assert [row["line_no"] for row in result.tables["mq_task"]] == [1, 24]


def test_missing_values_are_null() -> None:
    changed = {"maxSslRequestTimeDate": "1970-01-01", "maxSslRequestTimeTime": "00:00:00.000000"}
    result = read_json(one_by_one([TASK | changed | {"qsg": "....", "taskNumber": -1, "requestCount": None}]))
    (row,) = result.rows
    assert [row[name] for name in ("longest_utc", "queue_sharing_group", "task_number", "requests")] == [
        None
    ] * 4
    assert codes(result.issues) == []


def test_other_structures_are_skipped_with_one_note_for_each() -> None:
    others = [{"recordType": 115, "recordSubType": 1, "structure": name} for name in ("QJST", "QSST", "QJST")]
    result = read_json(one_by_one([*others, TASK]))
    assert codes(result.issues) == [(Code.OTHER_REPORT, 1), (Code.OTHER_REPORT, 6)]
    assert len(result.rows) == 1


def test_objects_of_other_readers_are_not_read() -> None:
    taker = MqObjects(FileRows({}, Issues(), FILE), Origin(ReportSource.JSON), UTC)
    assert not taker.take(1, {"structure": "QCTSSL", "time": 0})


def test_values_of_a_wrong_type_are_reported() -> None:
    strange = {"requestCount": [1, 2], "taskCpuTimeUs": 1.5, "lpar": {"a": 1}, "structure": "QCTSSL"}
    result = read_json(one_by_one([TASK | strange]))
    assert {(issue.code, issue.field) for issue in result.issues} == {
        (Code.BAD_VALUE, "Request_Count"),
        (Code.BAD_VALUE, "Task_CPU_Time"),
    }
    (row,) = result.rows
    assert (row["requests"], row["cpu_us"], row["elapsed_us"]) == (None, None, 8_882_000)
