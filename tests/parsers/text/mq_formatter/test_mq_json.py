"""JSON of the formatter: objects of all blocks in one file, with the values the CSV has."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC
from typing import Any

from tests.parsers.smf.mq_composed import TABLES
from tests.parsers.text.mq_formatter.examples import BUSY, CHANNEL, IDLE, RUNNING, SSL, read_csv
from tests.parsers.text.reading import FILE, Reading, codes

from zscope.parsers.issues import Code, Issues
from zscope.parsers.text.json_objects import json_objects
from zscope.parsers.text.mq_formatter.objects import MqObjects
from zscope.parsers.text.mq_formatter.write import json_lines
from zscope.parsers.text.out import Sheet
from zscope.parsers.text.report import Origin, Source

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
    sheet = Sheet(dict.fromkeys(TABLES), Issues(), FILE)
    taker = MqObjects(sheet, Origin(Source.JSON), UTC)
    damaged: list[tuple[int, str]] = []
    for line, found in json_objects([text], lambda line, told: damaged.append((line, told))):
        assert taker.take(line, found)
    taker.finish()
    assert damaged == []
    return Reading(
        {table: batch.to_pylist() for table, batch in sheet.rest()}, list(sheet.issues), sheet.found
    )


def one_by_one(objects: Iterable[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(each, indent=0) for each in objects)


def test_an_object_gives_the_row_of_its_line() -> None:
    found = read_json(one_by_one([TASK]))
    assert codes(found.issues) == []
    (row,) = found.rows
    (line,) = read_csv([SSL, BUSY]).rows
    assert row["source"] == "json"
    assert row | {"source": "csv", "line_no": 2, "extra": None} == line | {"extra": None}
    assert json.loads(row["extra"]) == {"taskIndex": "0"}
    assert [(report.name, report.source) for report in found.found] == [("MQ QCTSSL", "json")]


def test_blocks_of_all_kinds_stand_in_one_file() -> None:
    written = read_csv([SSL, BUSY, IDLE], [CHANNEL, RUNNING])
    found = read_json("\n".join(json_lines(written.tables)))
    assert codes(found.issues) == []
    places = {"source": None, "line_no": None, "extra": None}
    assert {table: [row | places for row in rows] for table, rows in found.tables.items()} == {
        table: [row | places for row in rows] for table, rows in written.tables.items()
    }
    assert [row["line_no"] for row in found.tables["mq_task"]] == [1, 24]


def test_missing_values_are_null() -> None:
    changed = {"maxSslRequestTimeDate": "1970-01-01", "maxSslRequestTimeTime": "00:00:00.000000"}
    found = read_json(one_by_one([TASK | changed | {"qsg": "....", "taskNumber": -1, "requestCount": None}]))
    (row,) = found.rows
    assert [row[name] for name in ("longest_utc", "queue_sharing_group", "task_number", "requests")] == [
        None
    ] * 4
    assert codes(found.issues) == []


def test_other_structures_are_passed_over_with_one_note_for_each() -> None:
    others = [{"recordType": 115, "recordSubType": 1, "structure": name} for name in ("QJST", "QSST", "QJST")]
    found = read_json(one_by_one([*others, TASK]))
    assert codes(found.issues) == [(Code.OTHER_REPORT, 1), (Code.OTHER_REPORT, 6)]
    assert len(found.rows) == 1


def test_objects_of_others_are_left_to_others() -> None:
    taker = MqObjects(Sheet({}, Issues(), FILE), Origin(Source.JSON), UTC)
    assert not taker.take(1, {"structure": "QCTSSL", "time": 0})


def test_values_of_a_kind_they_cannot_be_are_told() -> None:
    strange = {"requestCount": [1, 2], "taskCpuTimeUs": 1.5, "lpar": {"a": 1}, "structure": "QCTSSL"}
    found = read_json(one_by_one([TASK | strange]))
    assert {(issue.code, issue.field) for issue in found.issues} == {
        (Code.BAD_VALUE, "Request_Count"),
        (Code.BAD_VALUE, "Task_CPU_Time"),
    }
    (row,) = found.rows
    assert (row["requests"], row["cpu_us"], row["elapsed_us"]) == (None, None, 8_882_000)
