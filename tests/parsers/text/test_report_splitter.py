"""Splitting texts into reports: captures composed by hand, and those of `capture_writer`."""

from __future__ import annotations

from datetime import date, datetime, time

import pytest

from zscope.parsers.text.capture_writer import SyslogWriter, interleaved, with_control, with_ids, with_prompt
from zscope.parsers.text.captured_report import CapturedReport, KnownFrom, ReportSource
from zscope.parsers.text.file_defaults import FileDefaults
from zscope.parsers.text.report_splitter import ReportSplitter

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


def _reports(lines: list[str], known: FileDefaults | None = None) -> list[CapturedReport]:
    return list(ReportSplitter(known or FileDefaults()).reports(lines))


def _texts(report: CapturedReport) -> list[str]:
    return [line.text for line in report.lines]


def test_a_plain_report() -> None:
    (report,) = _reports(TERMINAL)
    assert report.family == "netstat"
    assert _texts(report) == TERMINAL
    assert [line.no for line in report.lines] == [1, 2, 3, 4]
    assert report.origin.source is ReportSource.TERMINAL
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
def test_a_margin_is_removed(margin: str) -> None:
    blanks = " " * len(margin)
    (report,) = _reports([margin + TERMINAL[0], *(blanks + line for line in TERMINAL[1:])])
    assert _texts(report) == TERMINAL


def test_the_indent_of_entries_stays_with_a_margin() -> None:
    (report,) = _reports(["  " + line for line in CONSOLE])
    assert _texts(report) == CONSOLE


def test_a_console_reply_ends_at_its_end_line() -> None:
    (report,) = _reports([*CONSOLE, "what was typed next", "and so on"])
    assert _texts(report) == CONSOLE
    assert report.complete
    assert report.origin.source is ReportSource.CONSOLE


def test_a_console_reply_without_its_end_is_not_complete() -> None:
    (report,) = _reports(CONSOLE[:-1])
    assert not report.complete


def test_the_connector_number_of_the_console_is_removed() -> None:
    (report,) = _reports([CONSOLE[0] + " 612", *CONSOLE[1:]])
    assert _texts(report) == CONSOLE
    (status,) = _reports([STATUS[0] + " 418", *STATUS[1:]])
    assert _texts(status) == STATUS


def test_the_log_of_a_job() -> None:
    lines = ["07.15.31 STC00042  " + STATUS[0] + " 418", *("   418             " + s for s in STATUS[1:])]
    (report,) = _reports(lines)
    assert _texts(report) == STATUS
    assert report.origin.clock == time(7, 15, 31)
    assert report.origin.captured_at() is None
    assert report.origin.time_from is KnownFrom.NO_DATE
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
    assert first.origin.system_from is KnownFrom.ROUTE


def test_several_reports_of_several_kinds() -> None:
    result = _reports([*TERMINAL, *STATUS, *CONSOLE, "GSK01057I SSL server starting in FIPS mode", *TERMINAL])
    assert [r.family for r in result] == ["netstat", "gsksrvr", "netstat", "gsksrvr", "netstat"]


def test_another_message_ends_a_display() -> None:
    (report,) = _reports([*STATUS, "IEE600I REPLY TO 07 IS;SUPPRESSED", "noise"])
    assert _texts(report) == STATUS


def test_a_user_with_a_name_like_a_message_id_is_not_a_message() -> None:
    rows = [*STATUS, "ABC1234I           9001                  1300"]
    assert _texts(_reports(rows)[0]) == rows
    rows = [*TERMINAL, "ABC1234I 0000B7C1 10.9.8.7..443          10.9.1.2..40001        Establsh"]
    assert _texts(_reports(rows)[0]) == rows


def test_a_report_that_is_only_mentioned_is_not_one() -> None:
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
    assert conn.origin.captured_at() == datetime(2026, 3, 2, 7, 15, 31)  # noqa: DTZ001
    assert conn.origin.source is ReportSource.SYSLOG
    assert {conn.origin.system_from, conn.origin.time_from} == {KnownFrom.PREFIX}
    assert conn.complete


@pytest.mark.parametrize("century", [False, True])
@pytest.mark.parametrize("control", [False, True])
def test_forms_of_the_log(century: bool, control: bool) -> None:
    when = datetime(2026, 12, 31, 23, 59, 59, 120_000)  # noqa: DTZ001 - local time has no zone
    first = SyslogWriter("SYSX", when, 7, century=century, control=control)
    second = SyslogWriter("SYSY", when, 12, century=century, control=control)
    lines = interleaved([first.command("D TCPIP"), *first.reply(CONSOLE)], second.reply(STATUS))
    result = {r.origin.system: r for r in _reports(lines)}
    assert _texts(result["SYSX"]) == CONSOLE
    assert _texts(result["SYSY"]) == STATUS
    assert result["SYSX"].origin.captured_at() == when.replace(microsecond=0)


def test_the_writer_of_log_lines_uses_the_columns_of_a_real_log() -> None:
    first = SyslogWriter("SYSX", datetime(2026, 3, 2, 7, 15, 31, 110_000), 612, "OPER01").reply(CONSOLE)  # noqa: DTZ001
    second = SyslogWriter("SYSY", datetime(2026, 3, 2, 7, 15, 31, 120_000), 77, "STC00042").reply(STATUS)  # noqa: DTZ001
    by_hand = [line for line in SYSLOG if line[0] in "MDE"]
    assert sorted(first + second) == sorted(by_hand)


def test_a_reply_in_the_log_without_its_end() -> None:
    (report,) = _reports([line for line in SYSLOG if "77 0000" not in line and "status 77" not in line][:-1])
    assert not report.complete
    assert _texts(report) == CONSOLE[:-1]


def test_the_same_connector_again() -> None:
    log = SyslogWriter("SYSX", datetime(2026, 3, 2), 9)  # noqa: DTZ001
    again = SyslogWriter("SYSX", datetime(2026, 3, 3), 9)  # noqa: DTZ001
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
    result = _reports(lines)
    assert [_texts(r) for r in result] == pages
    assert {r.origin.source for r in result} == {ReportSource.TEXT}


def test_form_feeds_begin_pages_but_are_no_lines() -> None:
    first, second = _reports(["\f" + RMF_PAGE[0], *RMF_PAGE[1:], "\f" + RMF_PAGE[0], *RMF_PAGE[1:]])
    assert _texts(first) == RMF_PAGE == _texts(second)
    assert second.first_line == 5


def test_file_defaults_fill_in_what_the_capture_lacks() -> None:
    known = FileDefaults("SYSQ", KnownFrom.FILE_NAME, date(2026, 3, 2), None, KnownFrom.FILE_NAME)
    (terminal,) = _reports(TERMINAL, known)
    assert (terminal.origin.system, terminal.origin.system_from) == ("SYSQ", KnownFrom.FILE_NAME)
    assert terminal.origin.day == date(2026, 3, 2)
    logged = _reports(SYSLOG, known)
    assert [r.origin.system for r in logged] == ["SYSY", "SYSX"]
    assert {r.origin.time_from for r in logged} == {KnownFrom.PREFIX}


def test_tabs_become_blanks() -> None:
    (report,) = _reports([TERMINAL[0], "PAYROLL\t 0000B7C1"])
    assert report.lines[1].text == "PAYROLL  0000B7C1"


def _reports_and_problems(lines: list[str]) -> tuple[list[CapturedReport], list[int]]:
    problems: list[int] = []
    reports = list(ReportSplitter(FileDefaults(), lambda line, _: problems.append(line)).reports(lines))
    return reports, problems


def test_replies_of_two_systems_with_the_same_connector_are_not_mixed() -> None:
    when = datetime(2026, 3, 2, 7, 15, 31)  # noqa: DTZ001 - local time has no zone
    first, second = (SyslogWriter(system, when, 612).reply(CONSOLE) for system in ("SYSX", "SYSY"))
    reports, problems = _reports_and_problems([first[0], second[0], *first[1:], *second[1:]])
    assert [(r.origin.system, len(r.lines), r.complete) for r in reports] == [
        ("SYSX", 1, False),
        ("SYSY", 1, False),
    ]
    assert 3 in problems


def test_the_lines_of_another_message_are_not_those_of_a_reply() -> None:
    when = datetime(2026, 3, 2, 7, 15, 31)  # noqa: DTZ001
    mine = SyslogWriter("SYSX", when, 418).reply(STATUS)
    other = SyslogWriter("SYSY", when, 418).reply(["IEE115I ACTIVITY", "JOBS", "USERS"])
    reports, problems = _reports_and_problems([*mine[:2], other[0], *mine[2:], *other[1:]])
    assert [len(report.lines) for report in reports] == [2]
    assert problems


def test_after_a_message_is_over_its_connector_can_be_used_again() -> None:
    when = datetime(2026, 3, 2, 7, 15, 31)  # noqa: DTZ001
    other = SyslogWriter("SYSY", when, 418).reply(["IEE115I ACTIVITY", "JOBS", "USERS"])
    reports, problems = _reports_and_problems([*other, *SyslogWriter("SYSX", when, 418).reply(STATUS)])
    assert [_texts(report) for report in reports] == [STATUS]
    assert problems == []


def test_routed_commands_in_the_log() -> None:
    when = datetime(2026, 3, 2, 7, 15, 31)  # noqa: DTZ001
    inside = ["IEE421I RO *ALL,F GSKSRVR,D SIDCACHE", "SYSNAME  RESPONSES ------"]
    for system in ("SYSX", "SYSY"):
        inside += [f"{system}     {STATUS[0]}", *(f"         {line}" for line in STATUS[1:])]
    reports, problems = _reports_and_problems(SyslogWriter("SYSX", when, 9).reply(inside))
    assert [(r.origin.system, r.origin.system_from, _texts(r)) for r in reports] == [
        ("SYSX", KnownFrom.ROUTE, STATUS),
        ("SYSY", KnownFrom.ROUTE, STATUS),
    ]
    assert {r.origin.captured_at() for r in reports} == {when}
    assert {r.origin.source for r in reports} == {ReportSource.SYSLOG}
    assert problems == []


def test_a_log_line_without_its_prefix_is_reported() -> None:
    cut = [line[1:] if "*DSPACE*" in line else line for line in SYSLOG]
    _, problems = _reports_and_problems(cut)
    assert problems == [9]


def test_lines_of_a_reply_without_its_beginning_are_reported() -> None:
    _, problems = _reports_and_problems(SYSLOG[3:])
    assert problems


@pytest.mark.parametrize("wrong", ["GSK0103ZI", "GSK1032I", "GSKO1032I", "GSK01O32I"])
def test_a_damaged_heading_in_the_log_is_reported(wrong: str) -> None:
    when = datetime(2026, 3, 2, 7, 15, 31)  # noqa: DTZ001 - local time has no zone
    damaged = [STATUS[0].replace("GSK01032I", wrong), *STATUS[1:]]
    reports, problems = _reports_and_problems(SyslogWriter("SYSX", when, 9).reply(damaged))
    assert (reports, problems) == ([], [1])


@pytest.mark.parametrize(
    "body",
    [STATUS[1:], ["Current time:        2026/03/02 07:00:00"], ["Algorithm      Hardware    Software"]],
)
def test_the_lines_of_a_display_after_any_first_line_in_the_log_are_reported(body: list[str]) -> None:
    when = datetime(2026, 3, 2, 7, 15, 31)  # noqa: DTZ001 - local time has no zone
    log = SyslogWriter("SYSX", when, 9).reply(["nothing known", *body])
    assert _reports_and_problems(log) == ([], [1])


def test_a_line_with_another_connector_in_a_reply_is_reported() -> None:
    log = SyslogWriter("SYSX", datetime(2026, 3, 2), 418).reply(STATUS)  # noqa: DTZ001
    log[3:3] = [log[2].replace("418", "419").replace("*DSPACE*", "PAYROLL2")]
    reports, problems = _reports_and_problems(log)
    assert (len(reports), problems) == (1, [4])


def test_a_continued_line_in_a_reply_is_reported() -> None:
    log = SyslogWriter("SYSX", datetime(2026, 3, 2), 418).reply(STATUS)  # noqa: DTZ001
    log[2] = "S" + log[2][1:]
    reports, problems = _reports_and_problems(log)
    assert problems == [3]
    assert len(reports[0].lines) == len(STATUS) - 1


def test_a_damaged_heading_in_a_session_is_reported() -> None:
    reports, problems = _reports_and_problems(["MVS TCPXIP NETSTAT CS V2R5", *TERMINAL[1:]])
    assert [_texts(report) for report in reports] == [TERMINAL[1:]]
    assert problems == [1]


def test_messages_of_other_programs_are_no_damaged_headings() -> None:
    when = datetime(2026, 3, 2, 7, 15, 31)  # noqa: DTZ001
    others = ["GSK01057I SSL server", "IEE136I LOCAL: TIME=09.45.02", "EZZ0000I NETSTAT", "$HASP395 JOB1"]
    lines = [line for text in others for line in SyslogWriter("SYSX", when).reply([text, "more", "of it"])]
    assert _reports_and_problems(lines)[1] == []


@pytest.mark.parametrize("stray", ["READY", "$ ", "IEF403I PAYROLL - STARTED - TIME=09.41.09"])
def test_text_between_lines_of_a_report_removes_none_of_them(stray: str) -> None:
    group = [
        "EZD0101I NETSTAT CS V2R5 TCPPROD",
        "TTLSGRPACTION                             GROUP ID           CONNS",
        "GACT1~TLS13                               00000004             217",
        "2 OF 2 RECORDS DISPLAYED",
        "END OF THE REPORT",
    ]
    for at in range(1, len(group)):
        (report,) = _reports([*group[:at], stray, *group[at:]])
        assert _texts(report) == group


CONFIG = ["TCP Configuration Table:", "SoMaxConn:         0000000512"]
GROUPS = [
    "TTLSGrpAction                             Group ID           Conns",
    "gAct1~TLS13                               00000004             217",
]


@pytest.mark.parametrize("prompt", ["READY", "$ ", "IBMUSER:/u/ibmuser: >netstat -a"])
def test_a_prompt_inside_a_report_is_reported(prompt: str) -> None:
    (report,), problems = _reports_and_problems([*TERMINAL, prompt, TERMINAL[3]])
    assert _texts(report) == [*TERMINAL, TERMINAL[3]]
    assert problems == [5]
    assert _reports_and_problems([*TERMINAL, prompt, *TERMINAL, prompt, "", "something else"])[1] == []
    assert _reports_and_problems([*TERMINAL, "IEF403I PAYROLL - STARTED", TERMINAL[3]])[1] == []


def test_a_line_of_another_family_inside_a_report_is_reported_once() -> None:
    rule = ["policyRule:             PAYIN_RULE", "  TTLS Action:          PAYIN_GRP"]
    (report,), problems = _reports_and_problems([TERMINAL[0], *CONFIG, *rule])
    assert (len(report.lines), problems) == (5, [4])
    assert _reports_and_problems([TERMINAL[0], *CONFIG])[1] == []


@pytest.mark.parametrize("between", [[], [""], ["IEF403I PAYROLL - STARTED"]])
@pytest.mark.parametrize("body", [CONFIG, GROUPS, TERMINAL[1:]])
def test_a_display_of_another_kind_begins_without_its_heading(body: list[str], between: list[str]) -> None:
    above = [TERMINAL[0], "ConnID: 0000B7C1", "  JobName:      PAYROLL"]
    first, second = _reports([*above, *between, *body])
    assert _texts(first)[:3] == above
    assert _texts(second) == body
    assert second.origin.clock is None


def test_a_display_of_another_kind_begins_after_groups() -> None:
    groups = [TERMINAL[0], "TTLSGrpAction: gAct1~TLS13", "  Group ID: 00000004"]
    assert [_texts(report) for report in _reports([*groups, *CONFIG])] == [groups, CONFIG]


@pytest.mark.parametrize("line", [TERMINAL[3], "  SoMaxConn:         0000000512", "x" * 6])
def test_text_before_a_heading_in_its_line_is_reported(line: str) -> None:
    reports, problems = _reports_and_problems(["some text", line + TERMINAL[0], *TERMINAL[1:]])
    assert [_texts(report) for report in reports] == [TERMINAL]
    assert problems == [2]
    assert _reports_and_problems(["some text", f"the reply: {TERMINAL[0]}", *TERMINAL[1:]])[1] == []


def test_a_page_ends_at_a_prompt_unless_lines_of_it_follow() -> None:
    row = "  0    CP     100.00    38.00        39.52        0.00     100.0  HIGH"
    (page,), problems = _reports_and_problems([*RMF_PAGE, "READY", "END", "see below"])
    assert (_texts(page), problems) == (RMF_PAGE, [])
    (page,), problems = _reports_and_problems([*RMF_PAGE, "READY", "END", row])
    assert (_texts(page), problems) == ([*RMF_PAGE, "END", row], [len(RMF_PAGE) + 1])


def test_names_that_begin_like_prompts_are_names() -> None:
    lines = [
        TERMINAL[0],
        "IntfName: $OSA2             IntfType: IPAQENET   IntfStatus: Ready",
        "    CfgMtu: 8992                     ActMtu: 8992",
        "TTLSRule: $CICS_Server",
        "IntfStatus:",
        "READY",
    ]
    (report,) = _reports(lines)
    assert _texts(report) == lines


def test_a_second_table_without_heading_is_another_report() -> None:
    first, second = _reports([*TERMINAL, "MVS TCPXIP NETSTAT CS V2R5", *TERMINAL[1:]])
    assert _texts(first)[:4] == TERMINAL
    assert _texts(second) == TERMINAL[1:]
    assert second.origin.clock is None


@pytest.mark.parametrize(
    ("front", "system", "problems"),
    [
        ("STC01234 ", None, None),
        ("09.45.00 GSKSRVR  ", None, None),
        ("09.45.00 SYSA     ", "SYSA", KnownFrom.PREFIX),
        ("09.45.00 SYSA STC01234 ", "SYSA", KnownFrom.PREFIX),
        ("SYSA      2026061  09:45:00.11 STC01234 00000090  ", "SYSA", KnownFrom.PREFIX),
        ("SYSA     ", "SYSA", KnownFrom.ROUTE),
        ("- 09.45.00 ", None, None),
        ("*", None, None),
    ],
)
def test_console_prefixes_of_a_message(front: str, system: str | None, problems: KnownFrom | None) -> None:
    (report,) = _reports([front + STATUS[0], *(" " * len(front) + line for line in STATUS[1:])])
    assert _texts(report) == STATUS
    assert (report.origin.system, report.origin.system_from) == (system, problems)


def test_the_log_of_a_job_continues_after_a_display() -> None:
    lines = [
        "07.15.31 STC00042  " + STATUS[0] + " 418",
        *("   418             " + line for line in STATUS[1:]),
        "07.15.32 STC00042  IEA989I SLIP TRAP ID=X33E MATCHED",
        "08.15.00 STC00042  IEF404I GSKSRVR - ENDED - TIME=08.15.00",
    ]
    (report,) = _reports(lines)
    assert _texts(report) == STATUS


def test_digits_in_the_margin_are_not_always_a_connector() -> None:
    (report,) = _reports([" GSK01009I Cryptographic status", "Algorithm   Hardware", "3DES             168"])
    assert _texts(report)[1:] == ["Algorithm   Hardware", "3DES             168"]


@pytest.mark.parametrize("control", ["0", "-", " ", "\f", "\f "])
def test_pages_whose_new_page_character_was_lost(control: str) -> None:
    body = ["", "", " 0    CP     100.00", "0TOTAL/AVERAGE", " CF1        A  100", " SYSA       A  500"]
    page = [control + RMF_PAGE[0], *body]
    (report,) = _reports(page)
    assert [line.strip() for line in _texts(report)[4:]] == [
        "TOTAL/AVERAGE",
        "CF1        A  100",
        "SYSA       A  500",
    ]


def test_a_display_after_a_listing_with_carriage_control() -> None:
    listing, status = _reports([*with_control([RMF_PAGE]), *STATUS])
    assert listing.family == "rmf"
    assert _texts(status) == STATUS


def test_the_day_of_the_capture_is_not_joined_with_the_time_of_the_caller() -> None:
    known = FileDefaults(None, None, date(2026, 3, 2), time(10, 0), KnownFrom.OPTION)
    (report,) = _reports(["2025-03-14 " + STATUS[0], *STATUS[1:]], known)
    assert (report.origin.day, report.origin.clock) == (date(2025, 3, 14), None)


def test_a_message_of_rmf_inside_a_page_removes_nothing() -> None:
    (report,) = _reports([*RMF_PAGE[:2], "ERB104I PPS: SOMETHING", *RMF_PAGE[2:]])
    assert _texts(report) == RMF_PAGE
