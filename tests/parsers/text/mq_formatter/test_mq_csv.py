"""CSV of the formatter: its columns in any order and from any release."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.parsers.text.mq_formatter.examples import (
    ADAPTER,
    ADAPTER_LINE,
    BUSY,
    CHANNEL,
    IDLE,
    RUNNING,
    SSL,
    read_csv,
)
from tests.parsers.text.reading import Row, codes

from zscope.parsers import ReadOptions, read
from zscope.parsers.issues import Code, Severity

INITIATOR = (
    "Date,Time,LPAR,QMgr,QSG,MQ_Version,Interval_Start (DATE),Interval_Start (TIME),Interval_Duration,"
    "Job_Name,QSG_Name,Current_Chl_High_Water,Current_Chl_Max,Active_Chl_High_Water,Active_Chl_Max,Max_TCP_Chl,"
    "Max_LU62_Chl,Storage_Usage_31,Storage_Usage_64,Storage_Limit_64,"
)
INITIATED = (
    '"2026/03/02","08:30:00,000000","SYS1","MQ5A","QSG1",="100000","2026/03/02","08:29:00,000000",60,"MQ5ACHIN",'
    '"QSG1",12,200,8,200,200,200,41,210,17592186040320,'
)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def the_row(*lines: str, zone: tzinfo | None = UTC) -> Row:
    result = read_csv(lines, zone=zone)
    assert codes(result.issues) == []
    (row,) = result.rows
    return row


def only(row: Row) -> Row:
    """The columns that have a value."""
    return {name: value for name, value in row.items() if value is not None}


def without(column: str, *lines: str) -> list[str]:
    """The same lines without a column, as earlier releases print them."""
    place = lines[0].split(",").index(column)
    heading, *others = lines
    assert all(line.split(",")[0].startswith('"') for line in others)
    names = [cell for cell in heading.split(",") if cell != column]
    cut = []
    for line in others:
        # Times have a comma in their quotes.
        cells = line.replace(",000000", ";000000").split(",")
        cut.append(",".join(cells[:place] + cells[place + 1 :]).replace(";", ","))
    return [",".join(names), *cut]


def test_a_task_has_times_in_microseconds_and_their_sum_as_interval() -> None:
    result = read_csv([SSL, BUSY, IDLE])
    assert codes(result.issues) == []
    busy, idle = result.tables["mq_task"]
    assert only(busy) == {
        "file": "report.txt",
        "line_no": 2,
        "source": "csv",
        "system": "SYS1",
        "system_from": "report",
        "written_local": at("2026-03-02T08:30:00"),
        "task_type": "SSL",
        "queue_manager": "MQ5A",
        "queue_sharing_group": "QSG1",
        "mq_version": "100000",
        "interval_start_local": at("2026-03-02T08:29:00"),
        "interval_us": 60_000_000,
        "task_number": 10_244_624,
        "requests": 24_400,
        "cpu_us": 1_954_000,
        "elapsed_us": 8_882_000,
        "wait_us": 51_118_000,
        "longest_utc": at("2026-03-02T13:29:41.134500+00:00"),
        "longest_us": 11_204,
        "section_no": 0,
    }
    assert (idle["requests"], idle["cpu_us"], idle["longest_utc"], idle["longest_us"]) == (0, 0, None, 0)
    assert idle["interval_us"] == 60_000_000
    assert [(report.name, report.system, report.line) for report in result.reports] == [
        ("MQ QCTSSL", "SYS1", 2)
    ]


def test_a_channel_has_numbers_for_the_words_of_the_formatter() -> None:
    row = the_row(CHANNEL, RUNNING)
    assert only(row) == {
        "file": "report.txt",
        "line_no": 2,
        "source": "csv",
        "system": "SYS1",
        "system_from": "report",
        "written_local": at("2026-03-02T08:30:00"),
        "queue_manager": "MQ5A",
        "queue_sharing_group": "QSG1",
        "mq_version": "100000",
        "collected_utc": at("2026-03-02T13:30:00+00:00"),
        "channel_name": "MQ5A.TO.MQ5B",
        "disposition": 4,
        "channel_type": 1,
        "channel_state": 3,
        "monitoring": 33,
        "connection_name": "10.1.2.3",
        "started_utc": at("2026-03-02T11:59:59.799296+00:00"),
        "last_message_utc": at("2026-03-02T13:29:58.917120+00:00"),
        "batch_size": 50,
        "messages": 12_200,
        "persistent_messages": 12_200,
        "batches": 12_200,
        "full_batches": 0,
        "buffers_sent": 24_420,
        "buffers_received": 12_210,
        "shared_conversations": 0,
        "message_bytes": 99_942_400,
        "persistent_message_bytes": 99_942_400,
        "sent_bytes": 104_858_100,
        "received_bytes": 488_400,
        "compression_rate": 0,
        "exit_avg_us": 0,
        "exit_max_us": 0,
        "dns_us": 0,
        "network_avg_us": 180,
        "network_min_us": 151,
        "network_max_us": 2_210,
        "network_max_utc": at("2026-03-02T13:29:41+00:00"),
        "remote_name": "MQ5B",
        "peer_serial": "0000000000001a2b",
        "peer_name": "MQ5B",
        "cipher_code": 0xC028,
        "put_retries": 0,
        "transmission_queue_empty": 12_100,
        "batch_interval": 0,
        "batch_data_limit_kb": 5_000,
        "dispatcher_number": 0,
        "remote_product": "MQMV",
        "remote_version": "10000000",
    }


def test_an_initiator_has_an_interval_in_whole_seconds() -> None:
    row = the_row(INITIATOR, INITIATED)
    assert (row["job_name"], row["current_channels_high"], row["active_channels_max"]) == (
        "MQ5ACHIN",
        12,
        200,
    )
    assert (row["storage_below_mb"], row["storage_above_mb"]) == (41, 210)
    assert row["storage_above_limit_mb"] == 17_592_186_040_320
    assert (row["interval_us"], row["extra"]) == (60_000_000, None)


@pytest.mark.parametrize(
    ("mark", "value", "kind", "name"),
    [
        ("Task_Channel_Count,", "17,", "dispatcher", "MQ QCTDSP"),
        ("", "", "adapter", "MQ QCTADP"),
        ("Max_DNS_Request_Duration(S),Max_DNS_Request_Duration(US),", "0, 5 ,", "DNS", "MQ QCTDNS"),
    ],
)
def test_the_columns_determine_the_task_type(mark: str, value: str, kind: str, name: str) -> None:
    result = read_csv([ADAPTER + mark, ADAPTER_LINE + value])
    assert codes(result.issues) == []
    (row,) = result.rows
    assert (row["task_type"], result.names) == (kind, [name])
    assert (row["channels"], row["longest_us"]) == (
        17 if "Channel" in mark else None,
        5 if "DNS" in mark else None,
    )


def test_columns_are_recognised_in_any_order() -> None:
    heading, line = (
        ADAPTER.rstrip(",").split(","),
        ADAPTER_LINE.replace(",000000", ";000000").rstrip(",").split(","),
    )
    turned = [",".join(reversed(cells)).replace(";", ",") for cells in (heading, line)]
    assert the_row(*turned) == the_row(ADAPTER, ADAPTER_LINE)


def test_releases_without_later_columns_give_the_same_rows() -> None:
    lines = without("Task_Index", *without("QSG", ADAPTER, ADAPTER_LINE))
    assert only(the_row(ADAPTER, ADAPTER_LINE)).keys() - only(the_row(*lines)).keys() == {
        "queue_sharing_group",
        "section_no",
    }
    old = INITIATOR.replace("Storage_Usage_31,Storage_Usage_64,Storage_Limit_64,", "Storage_Usage,")
    row = the_row(old, INITIATED.replace("41,210,17592186040320,", "41,"))
    assert (row["storage_below_mb"], row["storage_above_mb"]) == (41, None)


def test_the_group_can_be_named_in_the_block() -> None:
    row = the_row(*without("QSG", INITIATOR, INITIATED))
    assert row["queue_sharing_group"] == "QSG1"
    other = the_row(INITIATOR, INITIATED.replace('"MQ5ACHIN","QSG1"', '"MQ5ACHIN","QSG2"'))
    assert other["queue_sharing_group"] == "QSG1"
    assert json.loads(other["extra"])["QSG_Name"] == "QSG2"


def test_missing_fields_of_a_record_are_null() -> None:
    line = RUNNING.replace('"MQMV",="10000000",', '".....",".....",').replace(
        '"QSG1",="100000"', '"....",="800"'
    )
    line = line.replace("49192,0,12100", "-1,0,-1").replace('="0000000000001A2B"', '"....."')
    line = line.replace('"2026/03/02","13:29:58,917120"', '"1970/01/01","00:00:00,000000"')
    row = the_row(CHANNEL, line)
    names = ("remote_product", "remote_version", "queue_sharing_group", "cipher_code", "peer_serial")
    assert [row[name] for name in (*names, "last_message_utc", "transmission_queue_empty")] == [None] * 7
    assert (row["mq_version"], row["extra"]) == ("800", None)
    missing = the_row(INITIATOR, INITIATED.replace("41,210,17592186040320", "41,-1,-1"))
    assert (missing["storage_above_mb"], missing["storage_above_limit_mb"]) == (None, None)


def test_a_blank_text_is_in_the_record() -> None:
    line = RUNNING.replace('"MQ5B            "', '="                "').replace('"MQMV"', '="    "')
    row = the_row(CHANNEL, line)
    assert (row["peer_name"], row["remote_product"]) == ("", "")


def test_a_minimum_of_zero_is_one_only_if_there_was_a_maximum() -> None:
    row = the_row(CHANNEL, RUNNING.replace("0,180,151,2210", "0,180,0,2210"))
    assert (row["exit_min_us"], row["network_min_us"]) == (None, 0)
    quiet = RUNNING.replace('0,180,151,2210,"2026/03/02","13:29:41,000000"', '0,0,0,0,"",""')
    row = the_row(CHANNEL, quiet)
    assert (row["exit_min_us"], row["network_min_us"], row["network_max_us"]) == (None, None, 0)


def test_text_of_digits_can_be_a_formula_for_spreadsheets() -> None:
    assert the_row(CHANNEL, RUNNING.replace('="', '"')) == the_row(CHANNEL, RUNNING)


@pytest.mark.parametrize(
    ("printed", "code"),
    [("C028", 0xC028), ("0035", 0x35), ('="00001301"', 0x1301), ("00000000", 0), ("0", 0), ("1301", 1301)],
)
def test_hex_numbers_of_suites_have_a_letter_or_a_leading_zero(printed: str, code: int) -> None:
    assert the_row(CHANNEL, RUNNING.replace(",49192,", f",{printed},"))["cipher_code"] == code


def test_times_of_an_unknown_zone_are_text_in_extra() -> None:
    result = read_csv([SSL, IDLE, BUSY], zone=None)
    (issue,) = result.issues
    assert (issue.code, issue.severity, issue.line_no) == (Code.NO_DATE, Severity.NOTE, 2)
    _, row = result.rows
    assert (row["interval_start_local"], row["longest_utc"]) == (None, None)
    assert json.loads(row["extra"]) == {
        "Interval_Start": "2026/03/02 08:29:00,000000",
        "Max_SSL_Request_Time": "2026/03/02 13:29:41,134500",
    }
    assert row["written_local"] == at("2026-03-02T08:30:00")
    assert row["interval_us"] == 60_000_000


@pytest.mark.parametrize("zone", [timezone(timedelta(hours=1)), ZoneInfo("Europe/Berlin")])
def test_a_zone_gives_times_and_the_start_of_the_interval(zone: tzinfo) -> None:
    shifted = BUSY.replace("08:29:00", "09:29:00").replace("13:29:41", "14:29:41")
    assert the_row(SSL, shifted, zone=zone) == the_row(SSL, BUSY)


@pytest.mark.parametrize(
    ("day", "time", "code"),
    [("2026/10/25", "02:30:00", Code.AMBIGUOUS_TIME), ("2026/03/29", "02:30:00", Code.BAD_VALUE)],
    ids=["set back", "set forward"],
)
def test_ambiguous_and_missing_times_of_a_zone_are_reported(
    day: str, time: str, code: Code, request: pytest.FixtureRequest
) -> None:
    line = BUSY.replace('"2026/03/02","13:29:41', f'"{day}","{time}')
    result = read_csv([SSL, line], zone=ZoneInfo("Europe/Berlin"))
    assert codes(result.issues) == [(code, 2)]
    assert f"clocks are {request.node.callspec.id}" in result.issues[0].text
    (row,) = result.rows
    assert row["longest_utc"] is None
    assert json.loads(row["extra"])["Max_SSL_Request_Time"] == f"{day} {time},134500"


@pytest.mark.parametrize(("duration", "reported"), [("59", False), ("61", False), ("62", True), ("0", True)])
def test_an_interval_that_is_not_the_sum_of_its_times_is_reported(duration: str, reported: bool) -> None:
    result = read_csv([SSL, BUSY.replace('000000",60,', f'000000",{duration},')])
    assert codes(result.issues) == [(Code.ARITHMETIC, 2)] * reported
    (row,) = result.rows
    assert row["interval_us"] == 60_000_000
    assert ("Interval_Duration" in json.loads(row["extra"] or "{}")) == reported


def test_unknown_columns_are_in_extra() -> None:
    row = the_row(CHANNEL + "Key_Resets,", RUNNING + '"100 ",')
    assert row["extra"] == '{"Key_Resets": "100"}'


@pytest.mark.parametrize(
    ("old", "new", "field", "column", "message"),
    [
        ('"Sender"', '"Spender"', "Type", "channel_type", "a word the formatter is known to print"),
        ("12200,12200,12200", "-7,12200,12200", "Msg_All_Count", "messages", "a whole number"),
        ("12200,12200,12200", "1e4,12200,12200", "Msg_All_Count", "messages", "a whole number"),
        (",50,", ",4294967296,", "BatchSize", "batch_size", "a whole number"),
        ('"11:59:59,799296"', '"noon"', "Start", "started_utc", "is not a time such as"),
        ('"2026/03/02","11:59:59', '"2026/02/30","11:59:59', "Start", "started_utc", "is not a time such as"),
        ('"0000000000001A2B"', '"1A2"', "SSL_Peer_Serial", "peer_serial", "hexadecimal digits"),
    ],
)
def test_a_wrong_value_affects_no_other(old: str, new: str, field: str, column: str, message: str) -> None:
    result = read_csv([CHANNEL, RUNNING.replace(old, new)])
    (issue,) = result.issues
    assert (issue.code, issue.line_no, issue.field, issue.table) == (Code.BAD_VALUE, 2, field, "mq_channel")
    assert message in issue.text
    assert issue.text.endswith("the column is null")
    (row,) = result.rows
    assert row[column] is None
    assert row["sent_bytes"] == 104_858_100
    assert field in json.loads(row["extra"])


def test_microseconds_must_be_less_than_a_second() -> None:
    result = read_csv([SSL, BUSY.replace("1, 954000 ,", "1, 1954000 ,")])
    assert [(issue.field, issue.line_no) for issue in result.issues] == [("Task_CPU_Time", 2)]
    assert [row["cpu_us"] for row in result.rows] == [None]


def test_a_record_without_a_time_is_read_with_an_issue() -> None:
    result = read_csv([SSL, BUSY.replace('"2026/03/02","08:30:00,000000"', '"02.03.2026","08:30:00,000000"')])
    assert codes(result.issues) == [(Code.BAD_VALUE, 2)]
    assert [(row["written_local"], row["requests"]) for row in result.rows] == [(None, 24_400)]


def test_other_structures_are_skipped_with_a_note() -> None:
    result = read_csv(["Date,Time,LPAR,QMgr,QSG,MQ_Version,Checkpoint_Count,", '"2026/03/02",'])
    assert codes(result.issues) == [(Code.OTHER_REPORT, 1)]
    assert result.rows == []


def test_blocks_above_the_column_names_are_read(tmp_path: Path) -> None:
    path = tmp_path / "SMF-QCST.csv"
    path.write_text("".join(f"{line}\n" for line in ["MQ, channels", RUNNING, CHANNEL, RUNNING]))
    result = read(path, ("mq_channel",), options=ReadOptions(formatter_zone="UTC"))
    assert result["mq_channel"].column("line_no").to_pylist() == [2, 4]
    assert codes(result.issues) == []


@pytest.mark.parametrize(
    ("heading", "line", "name", "wrong"),
    [
        (INITIATOR, INITIATED, "Max_TCP_Chl", "Max_TCQ_Chl"),
        (CHANNEL, RUNNING, "Msg_All_Count", "Msg_Alk_Count"),
    ],
)
def test_a_misspelt_column_is_named_beside_the_missing_one(
    heading: str, line: str, name: str, wrong: str
) -> None:
    result = read_csv([heading.replace(name, wrong), line])
    assert codes(result.issues) == [(Code.UNKNOWN_COLUMN, 1)]
    assert f"'{wrong}' is not known, and {name} is missing" in result.issues[0].text
    assert wrong in result.rows[0]["extra"]
