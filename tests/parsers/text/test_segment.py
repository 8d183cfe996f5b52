"""The line layer, on captures composed by hand and on what `dress` makes."""

from __future__ import annotations

from datetime import date, datetime, time

import pytest

from zscope.parsers.text.dress import Log, interleaved, with_control, with_ids, with_prompt
from zscope.parsers.text.report import Report, Source, Told
from zscope.parsers.text.segment import Known, Segmenter

TERMINAL = [
    "MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPPROD         07:15:31",
    "User Id  Conn     Local Socket           Foreign Socket         State",
    "-------  ----     ------------           --------------         -----",
    "PAYROLL  0000B7C1 10.9.8.7..443          10.9.1.2..40001        Establsh",
]
CONSOLE = [
    "EZD0101I NETSTAT CS V2R5 TCPPROD",
    "USER ID  CONN     STATE",
    "PAYROLL  0000B7C1 ESTBLSH",
    "  LOCAL SOCKET:   ::FFFF:10.9.8.7..443",
    "  FOREIGN SOCKET: ::FFFF:10.9.1.2..40001",
    "1 OF 1 RECORDS DISPLAYED",
    "END OF THE REPORT",
]
STATUS = [
    "GSK01032I Session cache status",
    "User              Count              Max size",
    "*DSPACE*          11/64                   N/A",
    "PAYROLL            9001                  1300",
]


def _reports(lines: list[str], known: Known | None = None) -> list[Report]:
    return list(Segmenter(known or Known()).reports(lines))


def _texts(report: Report) -> list[str]:
    return [line.text for line in report.lines]


def test_a_plain_report() -> None:
    (report,) = _reports(TERMINAL)
    assert report.family == "netstat"
    assert _texts(report) == TERMINAL
    assert [line.no for line in report.lines] == [1, 2, 3, 4]
    assert report.origin.source is Source.TERMINAL
    assert report.complete


def test_prompts_commands_and_paging_are_no_part_of_a_report() -> None:
    lines = [
        "IBMUSER:/u/ibmuser: >netstat -c",
        *TERMINAL[:2],
        " ***",
        *TERMINAL[2:],
        "IBMUSER:/u/ibmuser: >exit",
        "something else",
        "READY",
        "NETSTAT CONN",
        *TERMINAL,
        "READY",
    ]
    first, second = _reports(lines)
    assert _texts(first) == TERMINAL == _texts(second)
    assert [line.no for line in first.lines] == [2, 3, 5, 6]
    assert second.first_line == 11


@pytest.mark.parametrize("prompt", ["$ ", "IBMUSER:/u/ibmuser: >", "root@sysa:/ # ", "> "])
def test_prompts(prompt: str) -> None:
    (report,) = _reports(with_prompt(TERMINAL, "netstat -c", prompt))
    assert _texts(report) == TERMINAL


def test_message_ids() -> None:
    (report,) = _reports(with_ids(TERMINAL, ["EZZ2350I", "EZZ2585I"]))
    assert _texts(report) == TERMINAL


@pytest.mark.parametrize("margin", [" ", "   ", "1"])
def test_a_margin_goes(margin: str) -> None:
    blanks = " " * len(margin)
    (report,) = _reports([margin + TERMINAL[0], *(blanks + line for line in TERMINAL[1:])])
    assert _texts(report) == TERMINAL


def test_the_indent_of_entries_stays_with_a_margin() -> None:
    (report,) = _reports(["  " + line for line in CONSOLE])
    assert _texts(report) == CONSOLE


def test_a_console_reply_ends_where_it_says() -> None:
    (report,) = _reports([*CONSOLE, "what was typed next", "and so on"])
    assert _texts(report) == CONSOLE
    assert report.complete
    assert report.origin.source is Source.CONSOLE


def test_a_console_reply_without_its_end_is_not_complete() -> None:
    (report,) = _reports(CONSOLE[:-1])
    assert not report.complete


def test_the_connector_number_of_the_console_goes() -> None:
    (report,) = _reports([CONSOLE[0] + " 612", *CONSOLE[1:]])
    assert _texts(report) == CONSOLE
    (status,) = _reports([STATUS[0] + " 418", *STATUS[1:]])
    assert _texts(status) == STATUS


def test_the_log_of_a_job() -> None:
    lines = ["07.15.31 STC00042  " + STATUS[0] + " 418", *("   418             " + s for s in STATUS[1:])]
    (report,) = _reports(lines)
    assert _texts(report) == STATUS
    assert report.origin.clock == time(7, 15, 31)
    assert report.origin.taken() is None
    assert report.origin.time_from is Told.NO_DATE
    assert report.origin.system is None


def test_route_responses_name_the_system() -> None:
    lines = [
        "IEE421I RO *ALL,F GSKSRVR,D SIDCACHE",
        "SYSNAME   RESPONSES ---------------------------",
        "SYSX     " + STATUS[0],
        *("         " + line for line in STATUS[1:]),
        "SYSY     " + STATUS[0],
        *("SYSY     " + line for line in STATUS[1:]),
    ]
    first, second = _reports(lines)
    assert _texts(first) == STATUS == _texts(second)
    assert [r.origin.system for r in (first, second)] == ["SYSX", "SYSY"]
    assert first.origin.system_from is Told.ROUTE


def test_several_reports_of_several_kinds() -> None:
    found = _reports([*TERMINAL, *STATUS, *CONSOLE, "GSK01057I SSL server starting in FIPS mode", *TERMINAL])
    assert [r.family for r in found] == ["netstat", "gsksrvr", "netstat", "gsksrvr", "netstat"]


def test_another_message_ends_a_display() -> None:
    (report,) = _reports([*STATUS, "IEE600I REPLY TO 07 IS;SUPPRESSED", "noise"])
    assert _texts(report) == STATUS


def test_a_user_who_is_called_like_a_message_is_none() -> None:
    rows = [*STATUS, "ABC1234I           9001                  1300"]
    assert _texts(_reports(rows)[0]) == rows
    rows = [*TERMINAL, "ABC1234I 0000B7C1 10.9.8.7..443          10.9.1.2..40001        Establsh"]
    assert _texts(_reports(rows)[0]) == rows


def test_a_report_that_is_only_mentioned_is_none() -> None:
    assert _reports(["See GSK01032I in the book, and the MVS TCP/IP NETSTAT CS V2R5 heading."]) == []


def test_a_body_without_its_heading() -> None:
    (report,) = _reports(["The paper shows:", "  ConnID: 000000C6", "  JobName:      APF7", "", "$ "])
    assert _texts(report) == ["ConnID: 000000C6", "JobName:      APF7", ""]


# Composed by hand in the columns of a real log.
SYSLOG = """\
NC0000000 SYSX     26061 07:15:30.10 OPER01   00000290  D TCPIP,TCPPROD,NETSTAT,CONN
MR0000000 SYSX     26061 07:15:31.11 OPER01   00000090  EZD0101I NETSTAT CS V2R5 TCPPROD 612
MR0000000 SYSY     26061 07:15:31.12 STC00042 00000090  GSK01032I Session cache status 77
DR                                        612 00000090  USER ID  CONN     STATE
DR                                         77 00000090  User              Count              Max size
DR                                        612 00000090  PAYROLL  0000B7C1 ESTBLSH
N 0000000 SYSX     26061 07:15:31.30 STC00007 00000090  IEF403I PAYROLL - STARTED
DR                                        612 00000090    LOCAL SOCKET:   ::FFFF:10.9.8.7..443
DR                                         77 00000090  *DSPACE*          11/64                   N/A
DR                                        612 00000090    FOREIGN SOCKET: ::FFFF:10.9.1.2..40001
ER                                         77 00000090  PAYROLL            9001                  1300
DR                                        612 00000090  1 OF 1 RECORDS DISPLAYED
ER                                        612 00000090  END OF THE REPORT
""".splitlines()


def test_interleaved_replies_in_a_log() -> None:
    status, conn = _reports(SYSLOG)
    assert _texts(status) == STATUS
    assert [line.no for line in status.lines] == [3, 5, 9, 11]
    assert _texts(conn) == CONSOLE
    assert status.origin.system == "SYSY"
    assert conn.origin.system == "SYSX"
    assert conn.origin.taken() == datetime(2026, 3, 2, 7, 15, 31)  # noqa: DTZ001
    assert conn.origin.source is Source.SYSLOG
    assert {conn.origin.system_from, conn.origin.time_from} == {Told.PREFIX}
    assert conn.complete


@pytest.mark.parametrize("century", [False, True])
@pytest.mark.parametrize("control", [False, True])
def test_forms_of_the_log(century: bool, control: bool) -> None:
    when = datetime(2026, 12, 31, 23, 59, 59, 120_000)  # noqa: DTZ001 - local time has no zone
    first = Log("SYSX", when, 7, century=century, control=control)
    second = Log("SYSY", when, 12, century=century, control=control)
    lines = interleaved([first.command("D TCPIP"), *first.reply(CONSOLE)], second.reply(STATUS))
    found = {r.origin.system: r for r in _reports(lines)}
    assert _texts(found["SYSX"]) == CONSOLE
    assert _texts(found["SYSY"]) == STATUS
    assert found["SYSX"].origin.taken() == when.replace(microsecond=0)


def test_the_writer_of_log_lines_uses_the_columns_of_a_real_log() -> None:
    first = Log("SYSX", datetime(2026, 3, 2, 7, 15, 31, 110_000), 612, "OPER01").reply(CONSOLE)  # noqa: DTZ001
    second = Log("SYSY", datetime(2026, 3, 2, 7, 15, 31, 120_000), 77, "STC00042").reply(STATUS)  # noqa: DTZ001
    by_hand = [line for line in SYSLOG if line[0] in "MDE"]
    assert sorted(first + second) == sorted(by_hand)


def test_a_reply_in_the_log_without_its_end() -> None:
    (report,) = _reports([line for line in SYSLOG if "77 0000" not in line and "status 77" not in line][:-1])
    assert not report.complete
    assert _texts(report) == CONSOLE[:-1]


def test_the_same_connector_again() -> None:
    log = Log("SYSX", datetime(2026, 3, 2), 9)  # noqa: DTZ001
    again = Log("SYSX", datetime(2026, 3, 3), 9)  # noqa: DTZ001
    cut, whole = _reports([*log.reply(STATUS)[:2], *again.reply(STATUS)])
    assert (cut.complete, len(cut.lines)) == (False, 2)
    assert (whole.complete, _texts(whole)) == (True, STATUS)


RMF_PAGE = [
    " " * 55 + "C P U  A C T I V I T Y",
    "",
    "            z/OS V2R3                SYSTEM ID SYSX             DATE 03/02/2026",
    " 0    CP     100.00",
]


@pytest.mark.parametrize("control", [False, True])
def test_pages_with_and_without_carriage_control(control: bool) -> None:
    pages = [RMF_PAGE, RMF_PAGE]
    lines = with_control(pages) if control else [line for page in pages for line in page]
    found = _reports(lines)
    assert [_texts(r) for r in found] == pages
    assert {r.origin.source for r in found} == {Source.TEXT}


def test_form_feeds_begin_pages_but_are_no_lines() -> None:
    first, second = _reports(["\f" + RMF_PAGE[0], *RMF_PAGE[1:], "\f" + RMF_PAGE[0], *RMF_PAGE[1:]])
    assert _texts(first) == RMF_PAGE == _texts(second)
    assert second.first_line == 5


def test_what_is_known_from_outside_fills_in() -> None:
    known = Known("SYSQ", Told.FILE_NAME, date(2026, 3, 2), None, Told.FILE_NAME)
    (terminal,) = _reports(TERMINAL, known)
    assert (terminal.origin.system, terminal.origin.system_from) == ("SYSQ", Told.FILE_NAME)
    assert terminal.origin.day == date(2026, 3, 2)
    logged = _reports(SYSLOG, known)
    assert [r.origin.system for r in logged] == ["SYSY", "SYSX"]
    assert {r.origin.time_from for r in logged} == {Told.PREFIX}


def test_tabs_become_blanks() -> None:
    (report,) = _reports([TERMINAL[0], "PAYROLL\t 0000B7C1"])
    assert report.lines[1].text == "PAYROLL  0000B7C1"
