"""Pages of a listing: their headings, and how they are assigned to intervals."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from tests.parsers.text.reading import Row, numbered
from tests.parsers.text.rmf.listings import CHECKS, TABLES, read_listing, unread

from zscope.parsers.issues import Code, Issue, Issues, Severity
from zscope.parsers.text.captured_report import CapturedReport, KnownFrom, Origin, ReportSource
from zscope.parsers.text.report_rows import FileRows, ReportRows, ReportSummary
from zscope.parsers.text.rmf import listing as listing_module
from zscope.parsers.text.rmf.cpu import cpu_pages
from zscope.parsers.text.rmf.listing import MOST_OPEN, MOST_PAGES
from zscope.parsers.text.rmf.page_heading import RmfHeading, read_heading
from zscope.parsers.text.rmf.page_write import RmfPrintForm

if TYPE_CHECKING:
    from collections.abc import Sequence

CPU = "C P U  A C T I V I T Y"
PARTITION = "P A R T I T I O N  D A T A  R E P O R T"
CRYPTO_TITLE = "C R Y P T O   H A R D W A R E   A C T I V I T Y"
GROUPS = "G R O U P  C A P A C I T Y  R E P O R T"
CLUSTER = "L P A R  C L U S T E R  R E P O R T"

PROCESSORS = """\
CPU        2827   CPC CAPACITY   300        SEQUENCE CODE 0000000000099999
MODEL      503    CHANGE REASON=NONE        HIPERDISPATCH=YES
H/W MODEL  H20
NUM  TYPE    ONLINE    LPAR BUSY    MVS BUSY   PARKED     SHARE %       RATE     % VIA TPI
 0    CP     100.00    50.00        50.00        0.00     100.0  HIGH   10.00     0.00
TOTAL/AVERAGE          50.00        50.00                 100.0         10.00     0.00
""".splitlines()
PARTITIONS = """\
MVS PARTITION NAME                     ONE         PHYS PROC NUM     1         GROUP NAME   N/A        INITIAL CAP    NO
IMAGE CAPACITY                         300                    CP     1         LIMIT        N/A        LPAR HW CAP    NO
NAME       S  WGT   DEF    ACT  DEF     WLM%   NUM  TYPE  EFFECTIVE       TOTAL      EFFECTIVE    TOTAL  LPAR MGMT  EFFECTIVE  TOTAL
ONE        A  100     0    150  N N N    0.0    1    CP  00.07.30.000  00.07.30.000      50.00    50.00       0.00      50.00  50.00
*PHYSICAL*                                                             00.00.00.000                           0.00              0.00
TOTAL         100                                        00.07.30.000  00.07.30.000                           0.00      50.00  50.00
""".splitlines()  # noqa: E501 - as wide as paper
NO_LENGTH = "the heading of the page has no INTERVAL"


@dataclass
class PagesResult:
    tables: dict[str, list[Row]]
    issues: list[Issue]
    reports: list[ReportSummary]

    def column(self, name: str, table: str = "rmf_interval") -> list[Any]:
        return [row[name] for row in self.tables.get(table, [])]


def page(
    title: str = CPU,
    body: Sequence[str] = (),
    *,
    system: str = "SYSTEM ID SYS1",
    first: str = "DATE 11/30/2024",
    second: str = "TIME 09.00.00",
    length: str = "INTERVAL 15.00.000",
    number: int | None = None,
) -> list[str]:
    return [
        f"{'':40}{title}",
        "" if number is None else f"PAGE{number:5}".rjust(131),
        f"{'':12}{'z/OS V2R2':25}{system:27}{first:27}{length}",
        f"{'':37}{'RPT VERSION V2R2 RMF':27}{second:27}CYCLE 1.000 SECONDS",
        *(body or {CPU: PROCESSORS, PARTITION: PARTITIONS}.get(title, [])),
    ]


def read(*pages: Sequence[str], origin: Origin | None = None) -> PagesResult:
    reading = read_listing([*TABLES, "rmf_crypto"], pages, origin)
    return PagesResult(reading.tables, unread(reading.issues), reading.reports)


def checks(*pages: Sequence[str]) -> list[Issue]:
    """Return the contradictions in the figures and headings of these pages."""
    return [issue for issue in read_listing([], pages).issues if issue.code in CHECKS]


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("first", "second", "start", "end"),
    [
        ("DATE 11/30/2024", "TIME 23.45.00", "2024-11-30T23:45:00", None),
        ("START 11/30/2024-23.00.00", "END   11/30/2024-23.15.00", "2024-11-30T23:00", "2024-11-30T23:15"),
        ("START 11/30/2024-23.45.00", "END   12/01/2024-00.00.00", "2024-11-30T23:45", "2024-12-01T00:00"),
        ("START 11/30/2024-23.45.00", "END   11/30/2024-24.00.00", "2024-11-30T23:45", "2024-12-01T00:00"),
        ("START 02/29/2024-23.45.00", "END   02/29/2024-24.00.00", "2024-02-29T23:45", "2024-03-01T00:00"),
        ("DATE 12/31/2024", "TIME 24.00.00", "2025-01-01T00:00", None),
    ],
)
def test_start_and_end(first: str, second: str, start: str, end: str | None) -> None:
    result = read(page(first=first, second=second))
    assert result.issues == []
    assert result.column("interval_start_local") == [at(start)]
    assert result.column("interval_end_local") == [end and at(end)]
    assert result.column("interval_ms") == [900_000]


@pytest.mark.parametrize(
    ("length", "end", "milliseconds"),
    [
        ("INTERVAL 15.00.000", None, 900_000),
        ("INTERVAL 00.59.997", None, 59_997),
        ("INTERVAL 99.59.999", "11/30/2024-10.40.00", 5_999_999),
        ("INTERVAL 02.00.00", "11/30/2024-11.00.00", 7_200_000),
        ("INTERVAL 24.00.00", "12/01/2024-09.00.00", 86_400_000),
        ("INTERVAL 100.00.00", "12/04/2024-13.00.00", 360_000_000),
        ("INTERVAL 120.00.000", "11/30/2024-11.00.00", 7_200_000),
        ("", "11/30/2024-09.30.00", 1_800_000),
    ],
)
def test_the_length_of_an_interval(length: str, end: str | None, milliseconds: int) -> None:
    if end:
        result = read(page(length=length, first="START 11/30/2024-09.00.00", second=f"END   {end}"))
    else:
        result = read(page(length=length))
    assert [issue.text for issue in result.issues] == ([] if length else [NO_LENGTH])
    assert result.column("interval_ms") == [milliseconds]
    assert result.column("interval_ms", "rmf_cpu") == [milliseconds] * 2


@pytest.mark.parametrize("length", ["INTERVAL 15.00.00", "INTERVAL 15.00", "INTERVAL 15.61.000", "INTERVAL"])
def test_a_length_that_may_be_cut_is_not_believed(length: str) -> None:
    result = read(page(length=length))
    assert result.column("interval_ms") == [None]
    assert [(issue.code, issue.line_no, issue.field) for issue in result.issues] == [
        (Code.BAD_VALUE, 3, "INTERVAL")
    ]


def test_a_duration_whose_hours_are_not_those_of_its_end_is_not_believed() -> None:
    result = read(
        page(
            length="INTERVAL 03.00.00", first="START 11/30/2024-09.00.00", second="END   11/30/2024-11.00.00"
        )
    )
    assert result.column("interval_ms") == [None]
    assert [issue.field for issue in result.issues] == ["INTERVAL"]


def test_levels_and_cycle() -> None:
    result = read(page())
    assert result.column("zos_level") == ["V2R2"]
    assert result.column("report_level") == ["V2R2"]
    assert result.column("cycle_length_ms") == [1000]


def test_a_heading_is_read_between_other_lines_and_at_any_position() -> None:
    lines = page()
    disturbed = [
        lines[0],
        "",
        "IBMUSER:/u/ibmuser: >",
        lines[2][5:],
        "READY",
        "",
        f"  {lines[3]}",
        *lines[4:],
    ]
    result = read(disturbed)
    assert result.column("interval_start_local") == [at("2024-11-30T09:00")]
    assert len(result.column("cpu_id", "rmf_cpu")) == 2
    assert {issue.code for issue in result.issues} == {Code.UNKNOWN_LINE}
    assert {issue.line_no for issue in result.issues} == {3, 5}


def test_a_heading_that_is_wrapped() -> None:
    lines = [line[at : at + 80] for line in page() for at in range(0, max(1, len(line)), 80)]
    result = read(lines)
    assert result.column("interval_start_local") == [at("2024-11-30T09:00")]
    assert result.column("interval_ms") == [900_000]


def test_a_field_of_a_report_is_no_heading() -> None:
    body = ["DISPATCH INTERVAL                  DYNAMIC", *PARTITIONS]
    result = read(page(PARTITION, body, length=""))
    assert result.column("dispatch_interval") == ["DYNAMIC"]
    assert result.column("interval_ms") == [None]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"system": ""}, "SYSTEM ID"),
        ({"first": ""}, "START, or DATE and TIME"),
        ({"second": "TIME 09.00.0"}, "START, or DATE and TIME"),
        ({"first": "DATE 11/31/2024"}, "START, or DATE and TIME"),
    ],
)
def test_a_page_without_system_or_time_is_left_out(changed: dict[str, str], expected: str) -> None:
    result = read(page(**changed))  # type: ignore[arg-type]
    assert result.tables == {}
    unreadable = [issue for issue in result.issues if issue.code is Code.REPORT_UNREADABLE]
    assert len(unreadable) == 1
    assert expected in unreadable[0].text
    assert unreadable[0].line_no == 3


def test_the_page_takes_precedence_over_the_capture() -> None:
    result = read(page(), origin=Origin(ReportSource.TEXT, "OTHER", KnownFrom.FILE_NAME))
    assert result.column("system") == ["SYS1"]
    assert result.column("system_from") == ["report"]


def test_the_capture_supplies_what_the_page_lacks() -> None:
    result = read(page(system=""), origin=Origin(ReportSource.TEXT, "OTHER", KnownFrom.OPTION))
    assert result.column("system") == ["OTHER"]
    assert result.column("system_from") == ["option"]


def test_a_heading_leaves_the_body() -> None:
    sheet = FileRows({}, Issues(), "x")
    lines = numbered(page(number=3))
    report = CapturedReport("rmf", lines, Origin(ReportSource.TEXT))
    heading: RmfHeading = read_heading(report, ReportRows(sheet, report.origin))
    assert (heading.title, heading.line_no, heading.page) == ("CPU ACTIVITY", 1, 3)
    assert [line.text for line in heading.body] == PROCESSORS


def test_the_reports_of_an_interval_make_one_row() -> None:
    result = read(page(number=1), page(PARTITION, number=2))
    assert result.issues == []
    (row,) = result.tables["rmf_interval"]
    assert (row["line_no"], row["machine_type"], row["partition_name"]) == (1, "2827", "ONE")
    assert [(report.name, report.line) for report in result.reports] == [
        ("RMF CPU Activity", 1),
        ("RMF Partition Data", 11),
    ]
    assert {(report.system, report.source, report.when_local) for report in result.reports} == {
        ("SYS1", "text", at("2024-11-30T09:00"))
    }


def test_intervals_and_systems_one_after_the_other() -> None:
    pages = [
        page(report, system=f"SYSTEM ID {system}", first=f"DATE {day}", second=f"TIME {clock}")
        for day, clock in (("11/30/2024", "23.30.00"), ("11/30/2024", "23.45.00"), ("12/01/2024", "00.15.00"))
        for system in ("SYS1", "SYS2")
        for report in (CPU, PARTITION)
    ]
    result = read(*pages)
    assert result.issues == []
    starts = [at(text) for text in ("2024-11-30T23:30", "2024-11-30T23:45", "2024-12-01T00:15")]
    expected = [(system, start) for start in starts for system in ("SYS1", "SYS2")]
    assert list(zip(result.column("system"), result.column("interval_start_local"), strict=True)) == expected
    assert result.column("system", "rmf_cpu") == [system for system, _ in expected for _ in range(2)]
    assert result.column("system", "rmf_partition") == [system for system, _ in expected for _ in range(3)]
    assert result.column("machine_type") == ["2827"] * 6
    assert result.column("partition_name") == ["ONE"] * 6


def test_the_length_distinguishes_a_duration_from_its_first_interval() -> None:
    times = {"first": "START 11/30/2024-09.00.00"}
    result = read(
        page(**times, second="END   11/30/2024-09.15.00"),  # type: ignore[arg-type]
        page(**times, second="END   11/30/2024-10.00.00", length="INTERVAL 60.00.000"),  # type: ignore[arg-type]
    )
    assert result.column("interval_ms") == [900_000, 3_600_000]


@pytest.mark.parametrize("headings", [True, False])
def test_a_table_continues_over_pages(headings: bool) -> None:
    first, rest = PARTITIONS[:4], [*(PARTITIONS[2:3] if headings else []), *PARTITIONS[4:]]
    result = read(page(PARTITION, first, number=3), page(PARTITION, rest, number=4))
    assert result.issues == []
    assert result.column("cpu_type_name", "rmf_partition") == ["CP"] * 3
    assert len(result.column("line_no")) == 1
    assert len(result.reports) == 1


def test_a_missing_page_is_reported_and_ends_the_group() -> None:
    result = read(page(PARTITION, PARTITIONS[:4], number=3), page(PARTITION, PARTITIONS[4:], number=6))
    assert result.column("cpu_type_name", "rmf_partition") == ["CP", None, None]
    gap, *others = result.issues
    assert (gap.code, gap.line_no) == (Code.REPORT_CUT, 9)
    assert "from 4 to 5" in gap.text
    assert [(issue.code, issue.line_no) for issue in others] == [(Code.REPORT_CUT, 13), (Code.REPORT_CUT, 14)]


LATER = {"second": "TIME 09.15.00"}
OTHER = {"system": "SYSTEM ID SYS2"}


@pytest.mark.parametrize("other", [LATER, OTHER], ids=["report by report", "two systems in turn"])
def test_pages_of_several_intervals_in_turn(other: dict[str, str]) -> None:
    result = read(
        page(),
        page(CPU, **other),  # type: ignore[arg-type]
        page(PARTITION),
        page(PARTITION, **other),  # type: ignore[arg-type]
    )
    assert result.issues == []
    assert result.column("line_no") == [1, 11]
    assert result.column("machine_type") == ["2827"] * 2
    assert result.column("partition_name") == ["ONE"] * 2
    assert result.column("line_no", "rmf_partition") == [28, 29, 30, 38, 39, 40]
    systems, starts = result.column("system", "rmf_partition"), result.column("interval_start_local")
    assert list(
        zip(systems[::3], result.column("interval_start_local", "rmf_partition")[::3], strict=True)
    ) == [
        ("SYS1", starts[0]),
        (result.column("system")[1], starts[1]),
    ]


def test_figures_of_pages_in_turn_are_checked() -> None:
    wrong = [line.replace("0    150  N", "0    160  N") for line in PARTITIONS]
    pages = [page(), page(**OTHER), page(PARTITION, wrong), page(PARTITION, **OTHER)]  # type: ignore[arg-type]
    assert [(issue.field, issue.line_no) for issue in checks(*pages)] == [("MSU ACT", 28)]


def test_the_oldest_interval_is_written_when_there_are_many() -> None:
    clocks = [f"TIME 09.{minute:02}.00" for minute in range(MOST_OPEN + 1)]
    pages = [page(second=clock) for clock in clocks]
    result = read(*pages, page(PARTITION, second=clocks[1]), page(PARTITION, second=clocks[0]))
    assert [report.name for report in result.reports].count("RMF Partition Data") == 2
    assert result.column("partition_name") == [None, "ONE", *[None] * 7, "ONE"]
    assert [(issue.code, issue.line_no) for issue in result.issues] == [(Code.REPORT_REPEATED, 101)]


@pytest.mark.parametrize("numbers", [(1, 2, 1, 2), (1, 2, 3, 4), (None,) * 4])
def test_repeated_pages_are_read_once(numbers: tuple[int | None, ...]) -> None:
    titles = [CPU, PARTITION] * 2
    result = read(*(page(title, number=number) for title, number in zip(titles, numbers, strict=True)))
    assert result.tables == read(page(), page(PARTITION)).tables
    assert [(issue.code, issue.line_no) for issue in result.issues] == [
        (Code.REPORT_REPEATED, 21),
        (Code.REPORT_REPEATED, 31),
    ]


def test_a_repeated_page_is_recognized_after_many_others() -> None:
    others = [page(second=f"TIME 10.{minute:02}.00") for minute in range(MOST_OPEN + 3)]
    result = read(page(), *others, page())
    assert len(result.column("line_no")) == 1 + len(others)
    assert [issue.code for issue in result.issues] == [Code.REPORT_REPEATED]


@pytest.mark.parametrize(("title", "table"), [(CPU, "rmf_cpu"), (PARTITION, "rmf_partition")])
def test_repeated_rows_are_added_once(title: str, table: str) -> None:
    other = [line.replace("100.00", "99.99").replace("07.30.000", "07.30.001") for line in page(title)]
    assert other != page(title)
    result = read(page(title), other)
    assert result.tables[table] == read(page(title)).tables[table]
    first = result.column("line_no", table)[0]
    assert [(issue.code, issue.line_no) for issue in result.issues] == [(Code.REPORT_REPEATED, first + 10)]


def test_a_table_that_ends_after_its_headings_is_reported() -> None:
    result = read(page(), page(PARTITION)[:7])
    assert result.column("image_capacity_msu_per_hour") == [300]
    assert "rmf_partition" not in result.tables
    assert [(issue.code, issue.line_no) for issue in result.issues] == [(Code.REPORT_CUT, 17)]


def test_partitions_that_are_configured_are_expected() -> None:
    configured = ["NUMBER OF CONFIGURED PARTITIONS          2", *PARTITIONS[:2]]
    assert Code.COUNT_DIFFERS in {issue.code for issue in checks(page(PARTITION, configured))}


@pytest.mark.parametrize("altered", [0, 1])
def test_a_length_that_differs_on_one_page_is_reported(altered: int) -> None:
    lengths = ["INTERVAL 15.00.000"] * 2
    lengths[altered] = "INTERVAL 35.00.000"
    result = read(page(length=lengths[0]), page(PARTITION, length=lengths[1]))
    assert result.column("interval_ms") == [2_100_000 if altered == 0 else 900_000]
    assert result.column("partition_name") == ["ONE"]
    (issue,) = result.issues
    assert (issue.code, issue.field, issue.line_no) == (Code.BAD_VALUE, "INTERVAL", 11)


def test_an_end_that_differs_on_one_page_is_reported() -> None:
    start = "START 11/30/2024-09.00.00"
    result = read(
        page(first=start, second="END   11/30/2024-09.15.00"),
        page(PARTITION, first=start, second="END   11/30/2024-09.45.00"),
    )
    assert result.column("interval_end_local") == [at("2024-11-30T09:15")]
    assert [(issue.code, issue.field, issue.line_no) for issue in result.issues] == [
        (Code.BAD_VALUE, "END", 11)
    ]
    assert {issue.line_no for issue in checks(page(first=start, second="END   11/30/2024-09.45.00"))} >= {4}


def test_a_length_may_be_on_a_later_page_only() -> None:
    result = read(page(length=""), page(PARTITION))
    assert result.column("interval_ms") == [900_000]
    assert [(issue.text, issue.code, issue.line_no) for issue in result.issues] == [
        (NO_LENGTH, Code.BAD_VALUE, 3)
    ]


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("11/30/2024-08.00.00", "END is not after START"),
        ("11/30/2024-09.00.00", "END is not after START"),
        ("11/30/2024-11.00.00", "INTERVAL is 900 s, but START and END are 7200 s apart"),
    ],
)
def test_an_end_that_contradicts_start_and_length_is_reported(end: str, said: str) -> None:
    issues = checks(page(first="START 11/30/2024-09.00.00", second=f"END   {end}"))
    assert [(issue.text, issue.field, issue.line_no) for issue in issues] == [(said, "END", 4)]


def test_other_reports_are_noted_once_and_skipped() -> None:
    others = [page(title, ["SOMETHING  ELSE   42"], length="") for title in (GROUPS, CLUSTER, GROUPS)]
    result = read(page(), *others, page(PARTITION))
    assert [(issue.code, issue.section, issue.line_no) for issue in result.issues] == [
        (Code.OTHER_REPORT, "GROUP CAPACITY REPORT", 11),
        (Code.OTHER_REPORT, "LPAR CLUSTER REPORT", 16),
    ]
    assert {issue.severity for issue in result.issues} == {Severity.NOTE}
    assert len(result.column("line_no")) == 1


def test_the_second_part_is_skipped() -> None:
    (row,) = read(page()).tables["rmf_interval"]
    pages = cpu_pages(row, read(page()).tables["rmf_cpu"], RmfPrintForm(), address_spaces=True)
    assert "ADDRESS SPACE" in pages[-1][5]
    one = [*pages[0], *pages[1][4:]]
    for result in (read(*pages), read(one)):
        assert result.issues == []
        assert len(result.column("row_kind", "rmf_cpu")) == 2
        assert result.column("extra") == [None]


def test_only_lines_of_the_second_part_are_skipped() -> None:
    (row,) = read(page()).tables["rmf_interval"]
    _, second = cpu_pages(row, read(page()).tables["rmf_cpu"], RmfPrintForm(), address_spaces=True)
    assert read(page(), [*second, " IEF403I PAYROLL - STARTED"]).issues == []
    others = [" TTLSGrpAction: grp~Web", "   Group ID: 0000000B"]
    (issue,) = read(page(), [*second, *others]).issues
    first = len(page()) + len(second) + 1
    assert (issue.code, issue.line_no) == (Code.REPORT_CUT, first)
    assert f"lines {first} to {first + 1}" in issue.text


def test_a_page_with_the_second_part_only_has_no_processors() -> None:
    result = read(page(CPU, ["   SYSTEM ADDRESS SPACE AND WORK UNIT ANALYSIS", "IN   1   2   1.5"]))
    assert [(issue.code, issue.line_no) for issue in result.issues] == [(Code.REPORT_UNREADABLE, 1)]


def test_a_title_that_a_screen_has_cut() -> None:
    title, *others = page(PARTITION)
    result = read([title[:-8], *others])
    assert [report.name for report in result.reports] == ["RMF Partition Data"]


def test_crypto_pages_are_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[list[list[str]], str]] = []

    def take(pages: list[CapturedReport], heading: RmfHeading, _: object) -> None:
        taken.append(([[line.text.strip() for line in report.lines] for report in pages], heading.title))

    monkeypatch.setattr(listing_module, "read_crypto_listing", take)
    result = read(page(CRYPTO_TITLE, ["ONE"], number=1), page(CRYPTO_TITLE, ["TWO"], number=2))
    assert taken == [([[CRYPTO_TITLE, "ONE"], [CRYPTO_TITLE, "TWO"]], "CRYPTO HARDWARE ACTIVITY")]
    assert [report.name for report in result.reports] == ["RMF Crypto Hardware Activity"]
    assert "rmf_interval" not in result.tables


def test_an_interval_that_never_ends_is_written_in_parts() -> None:
    pages = [[*page(CRYPTO_TITLE, [f"CARD {number}"])] for number in range(MOST_PAGES)]
    result = read(page(), *pages, page(PARTITION))
    assert result.column("machine_type") == ["2827", None]
    assert Code.REPORT_REPEATED in {issue.code for issue in result.issues}


@pytest.mark.parametrize(
    "line",
    [
        " " * 60_000,
        f"{' ' * 60_000}1",
        "1 " * 30_000,
        "A" * 60_000,
        "-" * 60_000,
        "NUM TYPE ONLINE " * 4_000,
        "NAME WGT " * 6_000,
        "SYSTEM ID " * 6_000,
        "MODEL  " * 8_000,
        f"{' ' * 25}{'1.5 ' * 14_000}",
        f"A A {'N N N ' * 10_000}",
    ],
    ids=lambda line: line.strip()[:16] or "blanks",
)
@pytest.mark.parametrize("title", [CPU, PARTITION])
def test_long_lines_take_no_long_time(title: str, line: str) -> None:
    begun = time.process_time()
    lines = page(title)
    read([*lines[:2], line, *lines[2:], line], [lines[0], line])
    assert time.process_time() - begun < 2
