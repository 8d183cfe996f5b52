"""Workload Activity listings: blocks, groups side by side, shortened numbers, doubt, damage."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.damaging import words_changed
from tests.parsers.single_fault import FaultSample, known_sample, silent_changes
from tests.parsers.text.rmf.listings import read_listing
from tests.parsers.text.rmf.test_rmf_workload import BATCH, CICS, ONLINE, PERIODS, ROWS, SHARED, START, TLS

from zscope.parsers import InputError, ReadOptions, Severity, Tables, inventory, read
from zscope.parsers.issues import Code
from zscope.parsers.text.rmf.page_write import RmfPrintForm
from zscope.parsers.text.rmf.workload.workload_labels import group_headings
from zscope.parsers.text.rmf.workload.workload_listing_write import WorkloadPrintForm, workload_pages
from zscope.parsers.text.rmf.workload.xml_report import workload_xml
from zscope.schemas.reports import PrintedFormat, report_table

Row = dict[str, Any]
TABLE = "rmf_workload"
HAND = """\
                         W O R K L O A D   A C T I V I T Y
                                                                                PAGE   1
            z/OS V2R5          SYSPLEX PLEX7          DATE 03/02/2026        INTERVAL 01.00.000   MODE = GOAL
                               RPT VERSION V2R5 RMF   TIME 10.15.00

                    POLICY ACTIVATION DATE/TIME 01/04/2026 03.00.00

------------------------------------------------------------------------ SERVICE CLASS PERIODS

REPORT BY: POLICY=POL1     WORKLOAD=WEB    SERVICE CLASS=WEBHI   RESOURCE GROUP=*NONE   PERIOD=1 IMPORTANCE=2
                                             CRITICAL     =NONE

-TRANSACTIONS-  TRANS-TIME HHH.MM.SS.FFFFFF  --DASD I/O--
AVG      0.50   ACTUAL             1.250000   SSCHRT   7.5
MPL      0.50   EXECUTION       2.03.000001   RESP     0.2
ENDED   10159K  QUEUED                    0
END/S     3.0

---SERVICE---  SERVICE TIME   --APPL %--
IOC     1500   CPU     10.000  CP    50.00
CPU     2.5M   SRB     20.500  IIPCP  0.00
MSO        0   RCT      0.000  IIP    N/A
SRB     ----   IIT      0.000
TOT    10159   HST      0.000
ABSRPTN   42   IIP        N/A
               AAP        N/A
GOAL: RESPONSE TIME 000.00.01.000 FOR 80%
  SYSTEM   EX VEL%
  SYSA      73.9
"""
OLD = """\
                         W O R K L O A D   A C T I V I T Y
            z/OS V1R2          SYSTEM ID SYSB         DATE 03/02/2026        INTERVAL 01.00.000
                               RPT VERSION V1R2 RMF   TIME 10.15.00

REPORT BY: POLICY=POL1   WORKLOAD=WEB   SERVICE CLASS=WEBHI

TRANSACTIONS      TRANS.-TIME HHH.MM.SS.TTT   --SERVICE--       --SERVICE RATES--
AVG        0.50   ACTUAL        000.00.01.250   IOC      10159K   ABSRPTN      50
MPL        0.50   EXECUTION     000.00.01.000   CPU        1234   TRX SERV     50
ENDED        12   QUEUED        000.00.00.000   MSO           0   TCB        10.0
END/S      0.20   R/S AFFINITY  000.00.00.000   SRB           7   SRB         5.0
                                                                  RCT         0.0
                                                                  IIT         0.0
                                                                  HST         0.0
                                                                  APPL %     25.0
"""


def _text(pages: list[list[str]]) -> str:
    return "".join(f"{line}\n" for page in pages for line in page)


def _read(text: str, folder: Path, options: ReadOptions | None = None) -> Tables:
    path = folder / "workload.txt"
    path.write_text(text, encoding="utf-8")
    return read(path, [TABLE], options=options or ReadOptions())


def _rows(result: Tables) -> list[Row]:
    rows: list[Row] = result[TABLE].to_pylist()
    return rows


def _shown(row: Row, *columns: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in columns)


LISTING = _text(workload_pages(ROWS))


def test_a_listing_written_by_hand_is_read_by_its_labels(tmp_path: Path) -> None:
    result = _read(HAND, tmp_path)
    (row,) = _rows(result)
    assert _shown(row, "sysplex", "system", "interval_ms", "class_kind", "class_name", "period_no") == (
        "PLEX7", None, 60_000, "period", "WEBHI", 1,
    )  # fmt: skip
    assert str(row["interval_start_local"]) == "2026-03-02 10:15:00"
    assert _shown(row, "policy_name", "workload_name", "resource_group", "goal_importance") == (
        "POL1", "WEB", "*NONE", "2",
    )  # fmt: skip
    assert _shown(row, "transactions_average", "transactions_ended", "transactions_ended_per_s", "swaps") == (
        0.5, 10_159_000, 3.0, None,
    )  # fmt: skip
    assert _shown(row, "actual_us", "execution_us", "queued_us") == (1_250_000, 123_000_001, 0)
    # The service units and the seconds of CPU and SRB have the same labels.
    assert _shown(row, "service_ioc", "service_cpu", "service_srb") == (1500, 2_500_000, None)
    assert _shown(row, "tcb_s", "srb_s", "ziip_s", "cp_s") == (10.0, 20.5, None, 30.5)
    assert _shown(row, "cp_pct", "ziip_on_cp_pct", "ziip_pct") == (50.0, 0.0, None)
    for text in ('"Transactions: ENDED": "10159K"', '"DASD I/O: SSCHRT": "7.5"', '"Service: ABSRPTN": "42"'):
        assert text in row["extra"]
    # 30.5 s are not 50 % of a minute; goals are a note.
    found = [(issue.code, issue.severity, issue.line_no) for issue in result.issues]
    assert found == [
        (Code.ARITHMETIC, Severity.WARNING, 20),
        (Code.OTHER_REPORT, Severity.NOTE, 27),
    ]


def test_the_four_groups_of_old_listings_are_read(tmp_path: Path) -> None:
    result = _read(OLD, tmp_path)
    assert list(result.issues) == []
    (row,) = _rows(result)
    assert _shown(row, "system", "class_kind", "class_name") == ("SYSB", "service class", "WEBHI")
    assert _shown(row, "actual_us", "service_ioc", "service_srb") == (1_250_000, 10_159_000, 7)
    # 15 s are 25 % of a minute.
    assert _shown(row, "tcb_s", "srb_s", "cp_s", "cp_pct") == (10.0, 5.0, 15.0, 25.0)


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("lines", [30, 60])
def test_the_writer_and_the_reader_are_inverse(old: bool, lines: int, tmp_path: Path) -> None:
    rows = ROWS
    if old:
        rows = [row | {"ziip_s": None, "cp_s": 122.0, "cp_pct": 6.78} for row in ROWS if row is not BATCH]
    form = WorkloadPrintForm(RmfPrintForm(page_lines=lines), old=old)
    result = _read(_text(workload_pages(rows, form)), tmp_path)
    read_rows = _rows(result)
    absent = {"interval_end_local", "systems", "report_option", "ziip_factor"}
    absent |= {name for name in PERIODS[0] if name not in SHARED and name.endswith(("_pct", "_index"))}
    if old:
        absent |= {"ziip_pct", "ziip_on_cp_pct", "promoted_blocked_s", "cp_s", "cp_pct"}
    else:
        assert list(result.issues) == []
    assert len(read_rows) == len(rows)
    for wanted, row in zip(rows, read_rows, strict=True):
        own = absent - (
            {"cp_pct", "ziip_pct", "ziip_on_cp_pct"}
            if wanted["class_kind"] != "period" and not old
            else set()
        )
        assert {name: row[name] for name in wanted.keys() - own} == {
            n: wanted[n] for n in wanted.keys() - own
        }


def test_listing_and_xml_have_the_same_rows(tmp_path: Path) -> None:
    rows = [row | {"system": "SYSA"} for row in (ONLINE, BATCH, CICS, TLS)]
    form = WorkloadPrintForm(RmfPrintForm(start_and_end=True))
    (tmp_path / "workload.xml").write_text(workload_xml([rows]), encoding="utf-8")
    of_xml = read(tmp_path / "workload.xml", [TABLE])[TABLE].to_pylist()
    of_text = _rows(_read(_text(workload_pages(rows, form)), tmp_path))
    # A listing has neither the list of systems, nor the option, nor normalization factors.
    other = {"file", "line_no", "source", "systems", "report_option", "ziip_factor", "extra"}
    assert len(of_xml) == len(of_text) == len(rows)
    for one, two in zip(of_xml, of_text, strict=True):
        assert {n: v for n, v in one.items() if n not in other} == {
            n: v for n, v in two.items() if n not in other
        }


def test_shortened_numbers_are_exact_to_their_last_digit(tmp_path: Path) -> None:
    row = ONLINE | {"service_cpu": 123_456_789, "service_total": 123_456_789_012}
    text = _text(workload_pages([row], WorkloadPrintForm(shortened=True)))
    assert "123456K" in text
    assert "123456M" in text
    (found,) = _rows(_read(text, tmp_path))
    assert _shown(found, "service_cpu", "service_total") == (123_456_000, 123_456_000_000)
    assert '"Service: CPU": "123456K"' in found["extra"]


def test_seconds_on_ziips_need_a_factor_or_a_percentage_that_confirms_it(tmp_path: Path) -> None:
    confirmed = _read(_text(workload_pages([ONLINE])), tmp_path)
    assert (_rows(confirmed)[0]["cp_s"], list(confirmed.issues)) == (90.0, [])
    # 122 - 32 s are 5 % of the interval; at another speed of the zIIPs they are 5.9 %.
    other = _read(_text(workload_pages([ONLINE | {"cp_pct": 5.9}])), tmp_path)
    assert _shown(_rows(other)[0], "cp_s", "tcb_s", "ziip_s") == (None, 100.5, 32.0)
    assert [(issue.code, issue.field) for issue in other.issues] == [(Code.BAD_VALUE, "Service Time")]


def test_not_available_is_not_zero(tmp_path: Path) -> None:
    columns = ("service_ioc", "service_mso", "zaap_s", "ziip_on_cp_pct")
    text = _text(workload_pages([ONLINE | {"service_ioc": 0, "service_mso": None, "zaap_s": None}]))
    row = _rows(_read(text, tmp_path))[0]
    assert _shown(row, *columns) == (0, None, None, 0.0)
    dashes = _read(text.replace("IOC               0", "IOC           -----"), tmp_path)
    assert _rows(dashes)[0]["service_ioc"] is None
    assert list(dashes.issues) == []


def test_the_system_of_a_sysplex_is_known_from_the_options_only(tmp_path: Path) -> None:
    text = _text(workload_pages([ONLINE]))
    assert _shown(_rows(_read(text, tmp_path))[0], "system", "sysplex") == (None, "PLEX1")
    row = _rows(_read(text, tmp_path, ReadOptions(system="SYSA")))[0]
    assert _shown(row, "system", "system_from", "sysplex") == ("SYSA", "option", "PLEX1")


def test_seconds_are_null_if_the_line_with_those_of_ziips_is_not_certain(tmp_path: Path) -> None:
    assert "32.000" in LISTING
    result = _read(LISTING.replace("32.000", "3Z.000"), tmp_path)
    (row,) = (
        row for row in _rows(result) if (row["class_kind"], row["class_name"]) == ("service class", "ONLINE")
    )
    assert (row["tcb_s"], row["ziip_s"], row["cp_s"]) == (100.5, None, None)
    assert {issue.code for issue in result.issues} == {Code.REPORT_UNREADABLE, Code.BAD_VALUE}


def test_a_class_that_is_twice_in_a_listing_is_reported(tmp_path: Path) -> None:
    result = _read(_text(workload_pages([ONLINE, ONLINE | {"swaps": 1}])), tmp_path)
    first, second = (row["line_no"] for row in _rows(result))
    (issue,) = result.issues
    assert (issue.code, issue.line_no) == (Code.REPORT_REPEATED, second)
    assert f"in line {first}; metrics count the first one" in issue.text


def test_the_inventory_counts_listings(tmp_path: Path) -> None:
    _read(LISTING, tmp_path)
    rows = inventory(tmp_path / "workload.txt").rows.to_pylist()
    assert [(row["report"], row["records"]) for row in rows] == [("RMF Workload Activity", 1)]


def test_reports_of_other_intervals_and_options_are_separate(tmp_path: Path) -> None:
    later = [row | {"interval_start_local": START.replace(hour=11)} for row in (ONLINE,)]
    text = _text([*workload_pages([ONLINE]), *workload_pages(later), *workload_pages([TLS])])
    result = _read(text, tmp_path)
    assert [row["interval_start_local"].hour for row in _rows(result)] == [10, 11, 10]
    assert list(result.issues) == []
    again = _read(
        _text([*workload_pages([ONLINE]), *workload_pages(later), *workload_pages([ONLINE | {"swaps": 1}])]),
        tmp_path,
    )
    assert [issue.code for issue in again.issues] == [Code.REPORT_REPEATED]


def test_the_hour_after_the_clock_was_set_back_is_marked(tmp_path: Path) -> None:
    start = START.replace(month=10, day=25, hour=2)
    first, second = (ONLINE | {"interval_start_local": start, "swaps": swaps} for swaps in (0, 1))
    between = ONLINE | {"interval_start_local": start.replace(minute=30)}
    text = _text([page for row in (first, between, second) for page in workload_pages([row])])
    result = _read(text, tmp_path)
    assert [row["second_hour"] for row in _rows(result)] == [None, None, True]
    assert [issue.code for issue in result.issues] == [Code.AMBIGUOUS_TIME]


@pytest.mark.parametrize("title", ["W O R K L O X D  A C T I V I T Y", "W O R K L O A D  A C T I V T Y"])
def test_a_damaged_title_is_recognised_and_reported(title: str, tmp_path: Path) -> None:
    text = LISTING.replace("W O R K L O A D  A C T I V I T Y", title, 1)
    result = _read(text, tmp_path)
    assert len(_rows(result)) == len(ROWS)
    assert [issue.code for issue in result.issues] == [Code.REPORT_UNREADABLE]


@pytest.mark.parametrize(
    ("before", "after", "code", "null"),
    [
        ("REPORT BY:", "REPXRT BY:", Code.REPORT_UNREADABLE, None),
        ("SERVICE CLASS=", "SERVICE CLASS ", Code.REPORT_UNREADABLE, None),
        ("SERVICE CLASS=", "SERVIXE CLASS=", Code.REPORT_UNREADABLE, None),
        ("RESOURCE GROUP=*NONE", "COLOUR=BLUE", Code.UNKNOWN_COLUMN, "resource_group"),
        ("SERVICE TIME-", "SERVICE TIMX-", Code.UNKNOWN_COLUMN, "tcb_s"),
        ("CPU      100.500", "100.500      CPU", Code.REPORT_UNREADABLE, "tcb_s"),
        ("CPU      100.500", "CPU      100.5O0", Code.REPORT_UNREADABLE, "tcb_s"),
        ("CPU      100.500", "CPU      1..00.5", Code.BAD_VALUE, "tcb_s"),
        ("CPU      100.500", "CPX      100.500", Code.UNKNOWN_COLUMN, "tcb_s"),
        ("SRB       20.250", "CPU       20.250", Code.BAD_VALUE, "srb_s"),
        ("000.00.01.250000", "000.00.61.250000", Code.BAD_VALUE, "actual_us"),
        ("000.00.01.250000", "000.00.01.250   ", Code.BAD_VALUE, "actual_us"),
        ("ENDED          5400", "ENDED          54K0", Code.REPORT_UNREADABLE, "transactions_ended"),
        ("BLK       0.500", "BLK       0.5", Code.REPORT_CUT, "promoted_blocked_s"),
        ("SYSPLEX PLEX1", "SYSPLEX ??", Code.REPORT_UNREADABLE, None),
    ],
)  # fmt: skip
def test_doubt_is_an_issue_and_no_value(
    before: str, after: str, code: Code, null: str | None, tmp_path: Path
) -> None:
    text = _text(workload_pages([ONLINE]))
    assert before in text
    result = _read(text.replace(before, after, 1), tmp_path)
    assert code in {issue.code for issue in result.issues}
    assert [row[null] for row in _rows(result)] == [None] if null else _rows(result) == []


def test_a_block_without_the_expected_labels_is_refused(tmp_path: Path) -> None:
    heading = HAND[: HAND.index("-TRANSACTIONS-")]
    for text in (heading, f"{heading}-TRANSACTIONS-\nAVG   0.50\n"):
        result = _read(text, tmp_path)
        assert _rows(result) == []
        assert {issue.code for issue in result.issues} == {Code.REPORT_UNREADABLE}
        assert any("request the report in XML" in issue.text for issue in result.issues)


def test_a_very_long_line_ends_its_block_and_is_reported(tmp_path: Path) -> None:
    lines = LISTING.splitlines()
    at = next(number for number, line in enumerate(lines) if "SERVICE TIME" in line)
    lines[at] = "-" * 60_000 + "x" + lines[at]
    begin = process_time()
    result = _read("\n".join(lines) + "\n", tmp_path)
    assert process_time() - begin < 10
    rows = _rows(result)
    assert len(rows) == len(ROWS)
    assert _shown(rows[0], "transactions_ended", "tcb_s", "cp_pct") == (5400, None, None)
    assert (Code.REPORT_UNREADABLE, at + 1) in {(issue.code, issue.line_no) for issue in result.issues}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{}x", []),
        ("---SERVICE---{}", ["Service"]),
        ("---SERVICE---   {} x", ["Service"]),
        ("SERVICE   --APPL %{}1", ["Service", "APPL %"]),
    ],
)
def test_long_rows_of_hyphens_take_time_by_their_length(text: str, names: list[str]) -> None:
    begin = process_time()
    groups = group_headings(text.format("-" * 30_000))
    assert process_time() - begin < 5
    assert [group.name for group in groups if group.known] == names


def test_seconds_are_compared_within_what_was_shortened(tmp_path: Path) -> None:
    """1234 s are shortened to 1K: the sum can be wrong by 500 s, and not by more."""
    parts = dict.fromkeys(("srb_s", "rct_s", "io_interrupt_s", "hiperspace_s", "ziip_s"), 0.0)
    long = {"interval_ms": 3_600_000, "cp_pct": None} | parts
    for seconds, codes in (("1500.000", []), ("1501.000", [Code.ARITHMETIC])):
        total = CICS | long | {"tcb_s": float(seconds)}
        text = _text(workload_pages([ONLINE | long | {"tcb_s": 1000.0}, total]))
        result = _read(text.replace("1000.000", "      1K", 1), tmp_path)
        assert _rows(result)[0]["tcb_s"] == 1000.0
        assert [issue.code for issue in result.issues] == codes


def test_lines_of_no_block_are_reported(tmp_path: Path) -> None:
    top, blank, rest = LISTING.partition("\n\n")
    result = _read(f"{top}{blank}SOMETHING  ELSE\n{rest}", tmp_path)
    assert [issue.code for issue in result.issues] == [Code.UNKNOWN_LINE]
    assert len(_rows(result)) == len(ROWS)


def test_a_line_without_labels_below_a_class_is_reported(tmp_path: Path) -> None:
    begin = HAND.index("-TRANSACTIONS-")
    issues = _read(f"{HAND[:begin]}----TRANS\n{HAND[begin:]}", tmp_path).issues
    at = HAND[:begin].count("\n") + 1
    assert (Code.UNKNOWN_LINE, at) in {(issue.code, issue.line_no) for issue in issues}


@pytest.mark.parametrize("width", [72, 60, 50])
def test_pages_that_are_cut_off_lose_nothing_in_silence(width: int, tmp_path: Path) -> None:
    cut = "\n".join(line[:width] for line in LISTING.splitlines()) + "\n"
    assert any(issue.severity > Severity.NOTE for issue in _read(cut, tmp_path).issues)


_PARTS = {
    *("Transactions", "Transaction Time", "Service", "Service Time"),
    *("Application Time %", "Promoted Transactions"),
}
_PRINTED = {
    field.column: field
    for field in report_table(TABLE).columns
    if field.label and field.label.partition(": ")[0] in _PARTS
}


def _values(column: str) -> st.SearchStrategy[Any]:
    printed = _PRINTED[column]
    if printed.format is PrintedFormat.MADE:
        return st.none() | st.integers(0, 999 * 3_600_000_000)
    if printed.format is PrintedFormat.COUNT:
        return st.none() | st.integers(0, 10**12)
    places = 1000 if column.endswith("_s") and not column.endswith("_per_s") else 100
    return st.none() | st.integers(0, 10**6).map(lambda number: number / places)


@given(st.fixed_dictionaries({column: _values(column) for column in _PRINTED}))
def test_any_row_is_read_as_it_was_written(values: Row) -> None:
    row = ONLINE | values
    (found,) = read_listing([TABLE], workload_pages([row])).tables[TABLE]
    assert {name: found[name] for name in values} == values


def _mutations(folder: Path, count: int) -> None:
    luck = random.Random(6)
    texts = [HAND, OLD, LISTING]
    for number in range(count):
        path = folder / "any.txt"
        path.write_text(words_changed(texts[number % len(texts)], luck), encoding="utf-8")
        with suppress(InputError):
            read(path, [TABLE])


def test_some_mutations_raise_nothing(tmp_path: Path) -> None:
    _mutations(tmp_path, 60)


@pytest.mark.deep
def test_a_thousand_mutations_raise_nothing(tmp_path: Path) -> None:
    _mutations(tmp_path, 1_000)


# 15.5 + 20.25 - 5.75 = 30 s are half of a minute; in a short interval the percentage confirms each digit.
_MINUTE = ONLINE | {
    "interval_ms": 60_000, "tcb_s": 15.5, "srb_s": 20.25, "rct_s": 0.0, "io_interrupt_s": 0.0,
    "hiperspace_s": 0.0, "ziip_s": 5.75, "cp_s": 30.0, "cp_pct": 50.0, "ziip_pct": 9.58,
    "transactions_ended": 180,
}  # fmt: skip
_PERIOD = _MINUTE | {"class_kind": "period", "period_no": 1, "goal_importance": "2"}
SAMPLE = FaultSample(
    "workload.txt",
    _text(workload_pages([_MINUTE, _PERIOD])).encode(),
    (TABLE,),
    follows={"workload_name": "class_name"},
)


@pytest.mark.parametrize("count", [40, pytest.param(500, marks=pytest.mark.deep)])
def test_no_single_fault_is_silent(count: int, tmp_path: Path) -> None:
    known = known_sample(SAMPLE, tmp_path)
    assert len(known.reading.rows) == 2
    assert not known.reading.issues
    assert not [text for fault in SAMPLE.some_faults(count) for text in silent_changes(known, fault)]


@pytest.mark.bytes
def test_no_fault_of_any_byte_is_silent(tmp_path: Path) -> None:
    known = known_sample(SAMPLE, tmp_path)
    assert not [text for fault in SAMPLE.faults() for text in silent_changes(known, fault)]
