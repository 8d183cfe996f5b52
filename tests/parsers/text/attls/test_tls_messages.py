"""Messages of AT-TLS in files of syslogd, SYSLOG, job logs and answers of z/OSMF."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.parsers.text.attls.examples import CERTIFICATE, DAEMON, ERROR, FLOW, MAP, ON_CONSOLE

from zscope.parsers import ReadOptions, Tables, inventory, read
from zscope.parsers.issues import Code
from zscope.parsers.text.attls.messages_write import daemon_lines, job_log_lines, message_lines
from zscope.parsers.text.capture_writer import SyslogWriter
from zscope.schemas import catalog
from zscope.schemas.attls import attls_defaults

WHEN = datetime(2026, 3, 3, 9, 41, 8)  # noqa: DTZ001 - local time
ONE_ERROR = {
    "message_id": "EZD1286I", "kind": "Error", "group_id": 3, "environment_id": 18, "connection_id": 0xA1B2,
    "local_ip": "10.20.30.40", "local_port": 8443, "remote_ip": "192.0.2.77", "remote_port": 51022,
    "job_name": "PAYSRV1", "user_id": "PAYUSR", "ttls_rule": "PAYIN_RULE", "return_code": 402,
    "reason_family": "nothing in common", "event": "Initial Handshake",
}  # fmt: skip


def _read(text: str, folder: Path, name: str = "SYSA.2026-03-04.log", **options: Any) -> Tables:  # noqa: ANN401
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read(path, ["tls_message"], options=ReadOptions(**options))


def _rows(text: str, folder: Path, name: str = "SYSA.2026-03-04.log") -> list[dict[str, Any]]:
    result = _read(text, folder, name)
    assert list(result.issues) == []
    rows: list[dict[str, Any]] = result["tls_message"].to_pylist()
    return rows


def _has(row: dict[str, Any], **expected: object) -> bool:
    return {name: row[name] for name in expected} == expected


def test_an_error_of_syslogd(tmp_path: Path) -> None:
    (row,) = _rows(DAEMON + ERROR + "\n", tmp_path)
    assert _has(row, **ONE_ERROR)
    assert _has(
        row, system="SYSA", system_from="prefix", taken_local=WHEN, time_from="prefix", stack="TCPPRD",
        created_time="09:41:07", logged_text="Mar  3 09:41:08", message_data="00000000 00000000",
    )  # fmt: skip


def test_an_error_on_the_console_has_the_same_values(tmp_path: Path) -> None:
    log = SyslogWriter("SYSA", WHEN, 731).reply(ON_CONSOLE)
    (row,) = _rows("\n".join(log) + "\n", tmp_path)
    assert _has(row, **(ONE_ERROR | {"message_id": "EZD1287I"}))
    assert _has(row, source="syslog", system="SYSA", taken_local=WHEN)


def test_an_error_in_a_job_log_has_the_same_values(tmp_path: Path) -> None:
    lines = job_log_lines(ONE_ERROR | {"message_id": "EZD1287I"}, WHEN)
    (row,) = _rows("\n".join([*lines, "09.41.09 STC00123  $HASP395 X ENDED"]) + "\n", tmp_path)
    assert _has(row, **(ONE_ERROR | {"message_id": "EZD1287I"}))
    assert row["message_data"] is None


def test_an_error_in_an_answer_of_the_log_service(tmp_path: Path) -> None:
    item = {
        "system": "SYSA", "timestamp": 1_772_527_268_000, "type": "HARDCOPY",
        "message": "\r".join([" " + ON_CONSOLE[0], *("   " + line.strip() for line in ON_CONSOLE[1:])]),
    }  # fmt: skip
    content = json.dumps({"timezone": 1, "source": "OPERLOG", "totalitems": 1, "items": [item]})
    (row,) = _rows(content, tmp_path, "answer.json")
    assert _has(row, **(ONE_ERROR | {"message_id": "EZD1287I"}))
    assert _has(row, system="SYSA", taken_local=WHEN.replace(hour=9))


def test_padded_addresses_in_an_answer_of_the_log_service(tmp_path: Path) -> None:
    lines = [
        " EZD1287I TTLS Error RC:  406 Initial Handshake 802",
        "   LOCAL: ::FFFF:000.000.000.001..8547",
        "   REMOTE: ::FFFF:010.020.003.002..6940",
        "   JOBNAME: JOBSRV1 RULE: RULESRV1",
        "   USERID: SRVUSR GRPID: 00000006 ENVID: 00000002 CONNID: 0006E1CB",
    ]
    item = {"system": "SYSA", "timestamp": 1_772_527_268_000, "type": "HARDCOPY", "message": "\r".join(lines)}
    content = json.dumps({"timezone": 0, "source": "OPERLOG", "totalitems": 1, "items": [item]})
    (row,) = _rows(content, tmp_path, "answer.json")
    assert _has(row, local_ip="0.0.0.1", local_port=8547, remote_ip="10.20.3.2", remote_port=6940)


def test_a_flow_and_a_mapping(tmp_path: Path) -> None:
    flow, mapping = _rows(f"{DAEMON}{FLOW}\n{DAEMON}{MAP}\n", tmp_path)
    assert _has(
        flow, kind="Flow", connection_id=0xA1B2, return_code=0, event="Get",
        flow_function="GSK_CONNECT_SEC_TYPE(208)", message_data="TLSV1.3", ttls_rule=None,
    )  # fmt: skip
    assert _has(
        mapping, kind="Map", map_type="InBound", map_status="Appl Control", ttls_rule="PAYIN_RULE",
        actions="PAYIN_GRP PAYIN_ENV **N/A**", job_name="PAYSRV1", return_code=None, event=None,
    )  # fmt: skip


def test_start_event_and_data(tmp_path: Path) -> None:
    ids = "GRPID: 00000003 ENVID: 00000000 CONNID: 0000A1B2"
    texts = [
        f"EZD1282I TTLS Start {ids} Initial Handshake ACTIONS: GRP ENV CONN more",
        f"EZD1283I TTLS Event {ids} RC: 5004 Connection Abend Close 0000",
        "EZD1285I TTLS Data CONNID: 0000A1B2 RECV CIPHER 15030300020228",
    ]
    start, event, data = _rows("".join(f"{DAEMON}{text}\n" for text in texts), tmp_path)
    assert _has(start, event="Initial Handshake", actions="GRP ENV CONN more", environment_id=None)
    assert _has(event, event="Connection Abend Close", return_code=5004, message_data="0000")
    assert _has(data, flow_function="RECV CIPHER", message_data="15030300020228", group_id=None)


def test_certificates_keep_all_names(tmp_path: Path) -> None:
    (row,) = _rows(f"{DAEMON}{CERTIFICATE}\n", tmp_path)
    assert _has(
        row, kind="certificate", return_code=8, connection_id=0xA1B2, reason_family="certificate or trust"
    )
    assert json.loads(row["extra"]) == {
        "CMSRetCode": "0x03353010", "Description": "validation failed", "SubjectDN": "<CN=a, O=b>",
        "IssuerDN": "<CN=c>",
    }  # fmt: skip


def test_a_certificate_over_several_lines_of_syslogd(tmp_path: Path) -> None:
    first, at, last = CERTIFICATE.partition(" Description")
    (row,) = _rows(f"{DAEMON}{first}\n{DAEMON}{at.strip()}{last}\n", tmp_path)
    assert json.loads(row["extra"])["Description"] == "validation failed"


@pytest.mark.parametrize(
    "text", ["EZD1289I TTLS anything new", "EZD2042I a group failed RC: 9", "EZD1299I TTLS x"]
)
def test_other_messages_are_stored_as_text(tmp_path: Path, text: str) -> None:
    (row,) = _rows(f"{DAEMON}{text}\n", tmp_path)
    assert _has(row, message_id=text[:8], kind=None, return_code=None, message_text=text[9:])


def test_a_line_that_the_daemon_broke_is_joined(tmp_path: Path) -> None:
    at = ERROR.index("USERID")
    (row,) = _rows(f"{DAEMON}{ERROR[:at]}\n{ERROR[at:]}\n{DAEMON}{FLOW}\n", tmp_path)[:1]
    assert _has(row, **ONE_ERROR)


def test_the_year_is_that_of_the_file_and_not_the_one_after_new_year(tmp_path: Path) -> None:
    december = DAEMON.replace("Mar  3", "Dec 31") + ERROR
    (row,) = _rows(december + "\n", tmp_path, "SYSA.2026-01-01.log")
    assert str(row["taken_local"]) == "2025-12-31 09:41:08"
    result = _read(december + "\n", tmp_path, "SYSA.log")
    assert [issue.code for issue in result.issues] == [Code.NO_DATE]
    (row,) = result["tls_message"].to_pylist()
    assert _has(row, taken_local=None, taken_time="09:41:08", time_from="no-date")


def test_forms_of_the_prefix(tmp_path: Path) -> None:
    texts = [
        f"Mar 3 9:41:08 SYSA TTLS[7]: 09:41:07 TCPPRD {ERROR}",
        f"<27>Mar  3 09:41:08 SYSA TTLS: 09:41:07 TCPPRD {ERROR}",
        f"<27>1 2026-03-03T09:41:08.120+01:00 SYSA TTLS 77 - - 09:41:07 TCPPRD {ERROR}",
    ]
    rows = _rows("".join(f"{text}\n" for text in texts), tmp_path)
    assert [row["taken_local"] for row in rows] == [WHEN] * 3
    assert {row["stack"] for row in rows} == {"TCPPRD"}


def test_a_time_in_utc_is_no_local_time(tmp_path: Path) -> None:
    text = f"<27>1 2026-03-03T09:41:08.120Z SYSA TTLS 77 - - {ERROR}\n"
    (row,) = _read(text, tmp_path, "log.txt")["tls_message"].to_pylist()
    assert _has(row, taken_local=None, system="SYSA", logged_text="2026-03-03T09:41:08.120Z")


def test_a_message_does_not_end_a_display(tmp_path: Path) -> None:
    display = [
        "MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPPROD         07:15:31",
        "User Id  Conn     Local Socket           Foreign Socket         State",
        "-------  ----     ------------           --------------         -----",
        "PAYROLL  0000B7C1 10.9.8.7..443          10.9.1.2..40001        Establsh",
        f"09.41.08 STC00123  {ERROR}",
        "PAYROLL  0000B7C2 10.9.8.7..443          10.9.1.2..40002        Establsh",
    ]
    path = tmp_path / "SYSA.2026-03-04.txt"
    path.write_text("\n".join(display) + "\n", encoding="utf-8")
    result = read(path, ["tls_message", "netstat_conn"])
    assert (result["tls_message"].num_rows, result["netstat_conn"].num_rows) == (1, 2)


def test_the_inventory_counts_messages(tmp_path: Path) -> None:
    _read(f"{DAEMON}{FLOW}\n{DAEMON}{MAP}\n", tmp_path)
    rows = inventory(tmp_path / "SYSA.2026-03-04.log").rows.to_pylist()
    assert [(row["report"], row["system"], row["records"]) for row in rows] == [
        ("AT-TLS messages", "SYSA", 2)
    ]


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("EZD1286I", "EZX1286I", Code.UNKNOWN_LINE),
        ("CONNID: 0000A1B2", "CONNID: 0000A1B", Code.BAD_VALUE),
        ("RC:  402", "RC:  4o2", Code.BAD_VALUE),
        ("JOBNAME:", "JOBXAME:", Code.UNKNOWN_COLUMN),
        ("10.20.30.40..8443", "10.20.30.40.8443", Code.BAD_VALUE),
        ("RULE: PAYIN_RULE RC:  402 Initial Handshake 00000000 00000000", "RULE: PAY", Code.REPORT_CUT),
        ("TTLS Error", "TTLS Flow", Code.BAD_VALUE),
        ("REMOTE: ", "LOCAL: ", Code.BAD_VALUE),
        ("Initial Handshake", "initial handshake", Code.BAD_VALUE),
    ],
)
def test_damage_is_reported(tmp_path: Path, before: str, after: str, code: Code) -> None:
    result = _read((DAEMON + ERROR).replace(before, after, 1) + "\n", tmp_path)
    assert code in {issue.code for issue in result.issues}


def test_return_codes_of_both_kinds_have_a_meaning() -> None:
    codes = catalog().codes["attls_return_code"].codes
    assert (codes[402], codes[5003]) == ("no cipher suite in common", "clear text received instead of TLS")
    # Codes without a source have no text.
    assert not {436, 437, 438, 441, 445, 501, 5005} & codes.keys()
    assert attls_defaults().families.keys() - codes.keys() == {417, 420}


KINDS = [
    ONE_ERROR,
    ONE_ERROR | {"message_id": "EZD1287I"},
    ONE_ERROR | {"message_id": "EZD1281I", "kind": "Map", "map_type": "InBound", "map_status": "Enabled",
                 "actions": "G E C", "return_code": None, "reason_family": None, "event": None,
                 "group_id": None, "environment_id": None},
    {"message_id": "EZD1282I", "group_id": 1, "environment_id": 2, "connection_id": 3,
     "event": "Environment Create", "actions": "G E"},
    {"message_id": "EZD1283I", "group_id": 1, "environment_id": 2, "connection_id": 3, "return_code": 0,
     "event": "Connection Init", "message_data": "0001"},
    {"message_id": "EZD1284I", "group_id": 1, "environment_id": 2, "connection_id": 3, "return_code": 0,
     "event": "Call", "flow_function": "GSK_SECURE_SOCKET_INIT", "message_data": "00000050 1A2B"},
    {"message_id": "EZD1285I", "connection_id": 3, "flow_function": "SEND CIPHER",
     "message_data": "1703030020AB"},
    {"message_id": "EZD2053I", "group_id": 1, "environment_id": 2, "connection_id": 3,
     "extra": '{"Certificate": "1 of 2", "FailingCert": "YES", "SubjectDN": "<CN=x y>"}'},
]  # fmt: skip


@pytest.mark.parametrize("row", KINDS, ids=[str(row["message_id"]) for row in KINDS])
def test_the_writer_and_the_reader_are_inverse(tmp_path: Path, row: dict[str, Any]) -> None:
    for padded in (True, False):
        (again,) = _rows("\n".join(daemon_lines(row, WHEN, padded=padded)) + "\n", tmp_path)
        assert _has(again, **row, taken_local=WHEN)
    (again,) = _read("\n".join(message_lines(row)) + "\n", tmp_path)["tls_message"].to_pylist()
    assert _has(again, **row)
