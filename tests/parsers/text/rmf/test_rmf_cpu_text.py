"""CPU Activity as a listing: every release and form, and damaged pages."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parsers.text.reading import FILE, Row
from tests.parsers.text.rmf.damage import DAMAGES, all_wrapped, harmless, one_line_cut, one_word_lost
from tests.parsers.text.rmf.listings import read_pages as read
from tests.parsers.text.rmf.listings import shown, unread

from zscope.parsers.issues import Code
from zscope.parsers.text.rmf.cpu import cpu_pages
from zscope.parsers.text.rmf.page_write import RELEASES, RmfPrintForm

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

FIGURES = (
    *("online_pct", "lpar_busy_pct", "mvs_busy_pct", "parked_pct", "mt_productivity_pct"),
    *("mt_utilisation_pct", "share_pct", "priority", "io_interrupt_rate", "tpi_pct"),
)
IDENTITY = ("row_kind", "cpu_id", "thread", "cpu_type_name")

START, OLDEST, LATEST = (
    datetime.fromisoformat(text) for text in ("2023-08-31T16:40", "2001-01-01", "2039-12-31")
)
HEADING = """\
                                                       C P U  A C T I V I T Y
                                                                                                                          PAGE    7
            z/OS V2R2                SYSTEM ID MVS7             DATE 08/31/2023            INTERVAL 09.59.996
                                     RPT VERSION V2R3 RMF       TIME 16.40.00              CYCLE 0.500 SECONDS
""".splitlines()  # noqa: E501 - as wide as paper
MACHINE = [
    "",
    "CPU        8561   CPC CAPACITY   1234       SEQUENCE CODE 00000000000F00D1",
    "MODEL      715    CHANGE REASON=NONE        HIPERDISPATCH=NO*",
    "H/W MODEL  T01",
]
NAMES = "NUM  TYPE    ONLINE    LPAR BUSY    MVS BUSY   PARKED"
MULTITHREADED = [
    f"---CPU---    {' TIME % ':-^40}   --- MT % ----   LOG PROC      --I/O INTERRUPTS--",
    f"{NAMES}   PROD   UTIL     SHARE %       RATE     % VIA TPI",
    " 0    CP     100.00    71.50        72.25        0.00   100.00  71.50   100.0  HIGH  1510.20   12.50",
    " 1    CP      30.27     0.00        -----      100.00   ------ ------     0.0  LOW     0.00     0.00",
    "TOTAL/AVERAGE          54.89        72.25               100.00  54.89   100.0       1510.20   12.50",
    " 2    AAP    100.00     3.00         3.50        0.00   100.00   3.00    80.0  MED",
    "TOTAL/AVERAGE           3.00         3.50               100.00   3.00    80.0",
    "1A    IIP    100.00    41.00        38.75        5.00    77.25  31.67   100.0  HIGH",
    "                                    22.50        5.00",
    "1B    IIP    100.00     7.00         -----      100.00   ------ ------    10.0  LOW",
    "                                     -----      100.00",
    "TOTAL/AVERAGE          24.00        30.63                77.25  18.54   110.0",
]
SINGLE = [
    "---CPU---    ---------------- TIME % ----------------     LOG PROC      --I/O INTERRUPTS--",
    f"{NAMES}     SHARE %       RATE     % VIA TPI",
    " 0    CP     100.00    64.40        65.00        0.00      75.0        420.00     1.25",
    " 1    CP     100.00    20.00        21.00       50.00      25.0         80.00     2.50",
    "TOTAL/AVERAGE          42.20        50.33                 100.0        500.00     1.45",
]


def cpus(*pages: Sequence[str]) -> list[Row]:
    return read(*pages)[0].get("rmf_cpu", [])


def test_multithreaded_processors_of_all_kinds() -> None:
    tables, issues = read([*HEADING, *MACHINE, *MULTITHREADED])
    assert unread(issues) == []
    rows = tables["rmf_cpu"]
    assert shown(rows, "line_no", *IDENTITY) == [
        (11, "processor", 0, 0, "CP"),
        (12, "processor", 1, 0, "CP"),
        (13, "total", None, None, "CP"),
        (14, "processor", 2, 0, "AAP"),
        (15, "total", None, None, "AAP"),
        (16, "processor", 26, 0, "IIP"),
        (17, "thread", 26, 1, "IIP"),
        (18, "processor", 27, 0, "IIP"),
        (19, "thread", 27, 1, "IIP"),
        (20, "total", None, None, "IIP"),
    ]
    assert shown(rows, *FIGURES) == [
        (100.0, 71.5, 72.25, 0.0, 100.0, 71.5, 100.0, "HIGH", 1510.2, 12.5),
        (30.27, 0.0, None, 100.0, None, None, 0.0, "LOW", 0.0, 0.0),
        (None, 54.89, 72.25, None, 100.0, 54.89, 100.0, None, 1510.2, 12.5),
        (100.0, 3.0, 3.5, 0.0, 100.0, 3.0, 80.0, "MED", None, None),
        (None, 3.0, 3.5, None, 100.0, 3.0, 80.0, None, None, None),
        (100.0, 41.0, 38.75, 5.0, 77.25, 31.67, 100.0, "HIGH", None, None),
        (None, None, 22.5, 5.0, None, None, None, None, None, None),
        (100.0, 7.0, None, 100.0, None, None, 10.0, "LOW", None, None),
        (None, None, None, 100.0, None, None, None, None, None, None),
        (None, 24.0, 30.63, None, 77.25, 18.54, 110.0, None, None, None),
    ]
    for row in rows:
        assert (row["file"], row["source"], row["system"]) == (FILE, "text", "MVS7")
        assert (row["system_from"], row["time_from"]) == ("report", "report")
        assert row["interval_start_local"] == START
        assert row["interval_ms"] == 599_996


def test_the_machine() -> None:
    (row,) = read([*HEADING, *MACHINE, *SINGLE])[0]["rmf_interval"]
    values_read = {column: value for column, value in row.items() if value is not None}
    assert values_read == {
        "file": FILE,
        "line_no": 1,
        "source": "text",
        "system": "MVS7",
        "system_from": "report",
        "time_from": "report",
        "interval_start_local": START,
        "interval_ms": 599_996,
        "cycle_length_ms": 500,
        "zos_level": "V2R2",
        "report_level": "V2R3",
        "machine_type": "8561",
        "capacity_model": "715",
        "physical_model": "T01",
        "machine_sequence_code": "00000000000F00D1",
        "hiperdispatch": "NO",
        "capacity_rating_msu_per_hour": 1234,
        "change_reason": "NONE",
        "changed_labels": "HIPERDISPATCH",
    }


def test_the_machine_of_releases_with_boosts() -> None:
    machine = [
        "CPU        3931   CPC CAPACITY   90*        SEQUENCE CODE 0000000000012AB4",
        "MODEL      A01                              HIPERDISPATCH=YES",
        "H/W MODEL  A01    CHANGE REASON=NONE        BOOST TYPE=ZIIP*   BOOST CLASS=IPL",
    ]
    (row,) = read([*HEADING, *machine, *SINGLE])[0]["rmf_interval"]
    columns = ("capacity_rating_msu_per_hour", "change_reason", "boost_type", "boost_class", "changed_labels")
    assert shown([row], *columns) == [(90, "NONE", "ZIIP", "IPL", "CPC CAPACITY,BOOST TYPE")]


def test_without_multithreading_and_without_hiperdispatch() -> None:
    tables, issues = read([*HEADING, *MACHINE, *SINGLE])
    assert unread(issues) == []
    assert shown(tables["rmf_cpu"], "cpu_id", *FIGURES) == [
        (0, 100.0, 64.4, 65.0, 0.0, None, None, 75.0, None, 420.0, 1.25),
        (1, 100.0, 20.0, 21.0, 50.0, None, None, 25.0, None, 80.0, 2.5),
        (None, None, 42.2, 50.33, None, None, None, 100.0, None, 500.0, 1.45),
    ]


def test_multithreading_lines_are_stored_as_text() -> None:
    block = [
        "",
        "MULTI-THREADING ANALYSIS",
        "CPU TYPE  MODE   MAX CF   CF     AVG TD",
        "CP           1    1.000  1.000   1.000",
        "IIP          2    1.320  1.105   1.250",
    ]
    tables, issues = read([*HEADING, *MACHINE, *MULTITHREADED, *block])
    assert len(tables["rmf_cpu"]) == 10
    extra = tables["rmf_interval"][0]["extra"]
    for text in ("TYPE MODE MAX CF CF AVG TD", "1 1.000 1.000 1.000", "2 1.320 1.105 1.250"):
        assert text in extra
    assert unread(issues) == []


def test_a_column_that_is_not_known_is_extra() -> None:
    table = [f"{SINGLE[1]}   COLOUR", *(f"{line.ljust(86)}      {n}.5" for n, line in enumerate(SINGLE[2:]))]
    tables, issues = read([*HEADING, *MACHINE, *table])
    assert unread(issues) == []
    assert shown(tables["rmf_cpu"], "tpi_pct", "extra") == [
        (1.25, '{"COLOUR": "0.5"}'),
        (2.5, '{"COLOUR": "1.5"}'),
        (1.45, '{"COLOUR": "2.5"}'),
    ]


def test_a_label_that_is_not_known_is_extra() -> None:
    tables, _ = read([*HEADING, *MACHINE, "MOON PHASE  WANING   TIDE=HIGH", *SINGLE])
    assert tables["rmf_interval"][0]["extra"] == '{"MOON PHASE": "WANING", "TIDE": "HIGH"}'


def test_asterisks_after_figures_are_recorded() -> None:
    changed = SINGLE[2].replace("75.0 ", "75.0*")
    rows = cpus([*HEADING, *MACHINE, *SINGLE[:2], changed])
    assert shown(rows, "share_pct", "io_interrupt_rate", "extra") == [(75.0, 420.0, '{"changed": "SHARE %"}')]


def test_a_cell_under_another_column_is_not_guessed() -> None:
    moved = SINGLE[2].replace("64.40        65.00", "       64.40 65.00")
    tables, issues = read([*HEADING, *MACHINE, *SINGLE[:2], moved, *SINGLE[3:]])
    assert shown(tables["rmf_cpu"], *FIGURES)[0] == (None,) * len(FIGURES)
    assert shown(tables["rmf_cpu"], "cpu_id", "cpu_type_name")[0] == (0, "CP")
    (issue,) = unread(issues)
    assert (issue.code, issue.line_no, issue.column_no) == (Code.REPORT_UNREADABLE, 11, 37)


def test_a_row_that_ends_early_has_the_certain_figures() -> None:
    tables, issues = read([*HEADING, *MACHINE, *SINGLE[:2], SINGLE[2][:40]])
    assert shown(tables["rmf_cpu"], *FIGURES)[0] == (100.0, 64.4, *(None,) * 8)
    issue, end = sorted(unread(issues), key=lambda issue: -(issue.column_no or 0))
    assert (issue.code, issue.line_no, issue.column_no) == (Code.REPORT_CUT, 11, 37)
    assert "MVS BUSY" in issue.text
    assert "no total of CP" in end.text


def test_rows_without_headings_are_reported_once() -> None:
    tables, issues = read([*HEADING, *MACHINE, *SINGLE[2:]])
    assert "rmf_cpu" not in tables
    assert [(issue.code, issue.line_no) for issue in unread(issues)] == [(Code.REPORT_UNREADABLE, 9)]


def test_a_page_without_a_table_is_reported() -> None:
    tables, issues = read([*HEADING, *MACHINE])
    assert tables["rmf_interval"][0]["machine_type"] == "8561"
    (issue,) = unread(issues)
    assert (issue.code, issue.line_no, issue.column_no) == (Code.REPORT_UNREADABLE, 1, 1)
    assert "NUM TYPE ONLINE" in issue.text


def test_threads_and_totals_need_the_rows_above_them() -> None:
    headings, thread, total = MULTITHREADED[:2], MULTITHREADED[8], MULTITHREADED[11]
    tables, issues = read([*HEADING, *MACHINE, *headings, thread, total])
    assert shown(tables["rmf_cpu"], "row_kind", "cpu_type_name") == [("total", None)]
    assert [(issue.code, issue.line_no) for issue in unread(issues)] == [
        (Code.REPORT_UNREADABLE, 11),
        (Code.REPORT_CUT, 12),
    ]


def test_a_third_thread_belongs_to_a_missing_core() -> None:
    core, thread = MULTITHREADED[7:9]
    rows, issues = read([*HEADING, *MACHINE, *MULTITHREADED[:2], core, thread, thread, MULTITHREADED[-1]])
    assert [row["thread"] for row in rows["rmf_cpu"]] == [0, 1, None]
    assert [issue.line_no for issue in unread(issues)] == [13]


def test_a_short_value_at_the_end_of_a_line_is_not_complete() -> None:
    machine = ["CPU        8561   CPC CAPACITY   12", "MODEL      715    CHANGE REASON=NON", "H/W MODEL  T0"]
    tables, issues = read([*HEADING, *machine, *SINGLE])
    (row,) = tables["rmf_interval"]
    assert shown([row], "capacity_rating_msu_per_hour", "change_reason", "physical_model") == [(None,) * 3]
    assert [(issue.code, issue.line_no) for issue in unread(issues)] == [
        (Code.BAD_VALUE, n) for n in (5, 6, 7)
    ]


hundredths = st.integers(0, 10_000).map(lambda number: number / 100)
rates = st.integers(0, 999_999).map(lambda number: number / 100)
tenths = st.integers(0, 9_999).map(lambda number: number / 10)


def machines(release: str) -> st.SearchStrategy[Row]:
    boosts = release >= "V2R4"
    return st.fixed_dictionaries(
        {
            "system": st.from_regex(r"[A-Z][A-Z0-9@#$]{0,3}", fullmatch=True),
            "interval_start_local": st.datetimes(OLDEST, LATEST).map(
                lambda when: when.replace(microsecond=0)
            ),
            "interval_ms": st.integers(0, 100 * 60_000 - 1),
            "cycle_length_ms": st.integers(0, 99_999) | st.none(),
            "zos_level": st.sampled_from(RELEASES),
            "report_level": st.just(release),
            "machine_type": st.from_regex(r"[2-9][0-9]{3}", fullmatch=True),
            "capacity_model": st.from_regex(r"[4-7A-Z][0-9A-Z]{2}", fullmatch=True),
            "physical_model": st.from_regex(r"[A-Z][0-9]{2}", fullmatch=True) | st.none(),
            "machine_sequence_code": st.from_regex(r"[0-9A-F]{16}", fullmatch=True),
            "hiperdispatch": st.sampled_from(["YES", "NO", None]),
            "capacity_rating_msu_per_hour": st.integers(1, 99_999) | st.none(),
            "change_reason": st.just("NONE") | st.none(),
            "boost_type": st.sampled_from(["NONE", "ZIIP", "SPEED", "ALL"]) if boosts else st.none(),
            "boost_class": st.sampled_from(["NONE", "IPL", "SHUTDOWN", "RECOVERY"]) if boosts else st.none(),
            "changed_labels": st.sampled_from([None, "MODEL", "CPU,SEQUENCE CODE"]),
        }
    )


@st.composite
def processors(draw: st.DrawFn, *, multithreading: bool) -> list[Row]:
    rows: list[Row] = []
    number = 0
    figure = st.none() | hundredths
    for kind in draw(st.sampled_from([["CP"], ["CP", "IIP"], ["CP", "AAP", "IIP"]])):
        threads = draw(st.integers(1, 2)) if multithreading and kind == "IIP" else 1
        for _ in range(draw(st.integers(1, 6))):
            number += draw(st.integers(1, 20))
            same = {"cpu_id": number, "cpu_type_name": kind}
            for thread in range(threads):
                row = same | {"row_kind": "thread" if thread else "processor", "thread": thread}
                row |= {"mvs_busy_pct": draw(figure), "parked_pct": draw(hundredths)}
                if not thread:
                    row |= {"online_pct": draw(hundredths), "priority": draw(PRIORITIES)}
                    row |= draw(shared(kind, multithreading))
                rows.append(row)
        row = {"row_kind": "total", "cpu_type_name": kind, "mvs_busy_pct": draw(figure)}
        rows.append(row | draw(shared(kind, multithreading)))
    return rows


PRIORITIES = st.sampled_from(["HIGH", "MED", "LOW", None])


def shared(kind: str, multithreading: bool) -> st.SearchStrategy[Row]:
    """Figures that processors and totals have."""
    figures: dict[str, st.SearchStrategy[Any]] = {"lpar_busy_pct": hundredths, "share_pct": tenths}
    if multithreading:
        figures |= {
            "mt_productivity_pct": st.none() | hundredths,
            "mt_utilisation_pct": st.none() | hundredths,
        }
    if kind == "CP":
        figures |= {"io_interrupt_rate": rates, "tpi_pct": hundredths}
    return st.fixed_dictionaries(figures)


@st.composite
def reports(draw: st.DrawFn) -> tuple[Row, list[Row], RmfPrintForm]:
    release = draw(st.sampled_from(RELEASES))
    multithreading = release > "V2" and draw(st.booleans())
    form = RmfPrintForm(
        multithreading=multithreading,
        page_lines=draw(st.sampled_from([12, 15, 60])),
        repeated_headings=draw(st.booleans()),
        page_numbers=draw(st.booleans()),
        further_left=draw(st.integers(0, 1)),
    )
    return draw(machines(release)), draw(processors(multithreading=multithreading)), form


def written(rows: list[Row], read_rows: list[Row]) -> list[Row]:
    """Return the columns that were written; the others that were read are null."""
    columns = {column for row in rows for column in row}
    assert len(rows) == len(read_rows)
    return [{column: row.get(column) for column in columns} for row in rows]


@given(report=reports(), address_spaces=st.booleans())
def test_written_rows_are_read_back(
    report: tuple[Row, list[Row], RmfPrintForm], address_spaces: bool
) -> None:
    interval, rows, form = report
    pages = cpu_pages(interval, rows, form, address_spaces=address_spaces)
    assert max(len(line) for page in pages for line in page) <= 132
    tables, issues = read(*pages)
    assert unread(issues) == []
    got = [{column: row[column] for column in (*IDENTITY, *FIGURES)} for row in tables["rmf_cpu"]]
    assert got == [{column: row.get(column) for column in (*IDENTITY, *FIGURES)} for row in rows]
    (machine,) = tables["rmf_interval"]
    assert {column: machine[column] for column in interval} == interval
    assert machine["extra"] is None


@pytest.mark.parametrize("lost", ["SYSTEM ID", "RPT VERSION"])
def test_a_thread_after_an_unread_page_is_not_of_the_processor_before_that_page(lost: str) -> None:
    *until_1a, thread_of_1a, cpu_1b, thread_of_1b, total = MULTITHREADED
    pages = [
        [*HEADING, *MACHINE, *until_1a],
        [*(line for line in HEADING if lost not in line), thread_of_1a, cpu_1b],
        [*HEADING, thread_of_1b, total],
    ]
    tables, issues = read(*pages)
    assert [row["cpu_id"] for row in tables["rmf_cpu"] if row["row_kind"] == "processor"][-1] == 0x1A
    assert [row for row in tables["rmf_cpu"] if row["row_kind"] == "thread"] == []
    assert "a further thread without a processor directly above it is skipped" in [i.text for i in issues]


DAMAGES_OF_CPUS = DAMAGES | {
    "wrapped": all_wrapped(40),
    "one line cut": one_line_cut(),
    "one word lost": one_word_lost(str.split),
}


@pytest.mark.deep
@pytest.mark.parametrize("damage", DAMAGES_OF_CPUS)
@given(report=reports(), chance=st.randoms(use_true_random=False))
def test_damage_makes_nothing_wrong(
    damage: str, report: tuple[Row, list[Row], RmfPrintForm], chance: random.Random
) -> None:
    """A figure that is read is the one that was written for that processor."""
    interval, rows, form = report
    tables, issues = read(
        *DAMAGES_OF_CPUS[damage](chance, cpu_pages(interval, rows, form, address_spaces=True))
    )
    assert all(issue.line_no for issue in issues)
    by_identity = {tuple(row.get(column) for column in IDENTITY): row for row in rows}
    for row in tables.get("rmf_cpu", []):
        identity = tuple(row[column] for column in IDENTITY)
        if identity == ("total", None, None, None):
            assert any(issue.line_no == row["line_no"] for issue in issues)
            continue
        assert identity in by_identity, unread(issues)
        before = by_identity[identity]
        for column in FIGURES:
            assert row[column] in {None, before.get(column)}, (column, identity, unread(issues))
    for row in tables.get("rmf_interval", []):
        for column in set(interval) - {"interval_ms", "changed_labels", "report_level", "zos_level"}:
            assert row[column] in {None, interval[column]}, (column, unread(issues))


@settings(max_examples=10)
@given(report=reports())
def test_upper_case_and_a_shift_of_all_lines_change_nothing(
    report: tuple[Row, list[Row], RmfPrintForm],
) -> None:
    interval, rows, form = report
    pages = cpu_pages(interval, rows, form)
    expected = shown(read(*pages)[0]["rmf_cpu"], *IDENTITY, *FIGURES)
    for changed in harmless(pages):
        tables, issues = read(*changed)
        assert unread(issues) == []
        assert shown(tables["rmf_cpu"], *IDENTITY, *FIGURES) == expected


@given(lines=st.lists(st.text(st.characters(codec="ascii"), max_size=140), max_size=30))
def test_anything_below_a_heading_is_no_error(lines: list[str]) -> None:
    _, issues = read([*HEADING, *MACHINE, *SINGLE[:2], *lines])
    assert all(issue.line_no for issue in issues)


def test_a_table_that_ends_after_its_headings_is_cut() -> None:
    tables, issues = read([*HEADING, *MACHINE, *SINGLE[:2]])
    assert "rmf_cpu" not in tables
    assert [(issue.code, issue.line_no) for issue in unread(issues)] == [(Code.REPORT_CUT, 10)]


def test_processors_without_a_total_are_reported() -> None:
    _, issues = read([*HEADING, *MACHINE, *MULTITHREADED[:-1]])
    assert [(issue.code, issue.line_no) for issue in unread(issues)] == [(Code.REPORT_CUT, 19)]
    assert "no total of IIP" in unread(issues)[0].text


@pytest.mark.parametrize("rate", ["12210.40", "54321.00"])
def test_a_high_rate_touches_the_priority(rate: str) -> None:
    row = MULTITHREADED[2].replace("HIGH  1510.20", f"HIGH{rate.rjust(8)}")
    assert f"HIGH{rate}" in row
    tables, issues = read([*HEADING, *MACHINE, *MULTITHREADED[:2], row, *MULTITHREADED[3:5]])
    assert unread(issues) == []
    assert shown(tables["rmf_cpu"][:1], "priority", "io_interrupt_rate", "tpi_pct") == [
        ("HIGH", float(rate), 12.5)
    ]


def test_one_impossible_cell_does_not_affect_others() -> None:
    row = SINGLE[2].replace("65.00", "6#.00")
    tables, issues = read([*HEADING, *MACHINE, *SINGLE[:2], row, *SINGLE[3:]])
    figures = (100.0, 64.4, None, 0.0, None, None, 75.0, None, 420.0, 1.25)
    assert shown(tables["rmf_cpu"], *FIGURES)[0] == figures
    (issue,) = unread(issues)
    assert (issue.code, issue.line_no, issue.column_no) == (Code.REPORT_UNREADABLE, 11, 37)
    assert "6#.00" in issue.text


def test_two_impossible_cells_remove_the_figures_of_the_row() -> None:
    row = SINGLE[2].replace("65.00", "6#.00").replace("64.40", "#4.40")
    tables, issues = read([*HEADING, *MACHINE, *SINGLE[:2], row, *SINGLE[3:]])
    assert shown(tables["rmf_cpu"], *FIGURES)[0] == (None,) * 10
    assert [issue.line_no for issue in unread(issues)] == [11]


@pytest.mark.parametrize("reason", ["POWERSAVE", "MACHINE", "OTHER"])
def test_a_complete_value_at_the_end_of_a_line_is_read(reason: str) -> None:
    machine = [*MACHINE[:2], "MODEL      715", f"H/W MODEL  A01    CHANGE REASON={reason}"]
    tables, issues = read([*HEADING, *machine, *SINGLE])
    assert shown(tables["rmf_interval"], "change_reason") == [(reason,)]
    assert unread(issues) == []


def test_a_value_where_all_lines_end_is_not_believed() -> None:
    line = "H/W MODEL  A01    CHANGE REASON=OTHER"
    pages = [text[: len(line)] for text in (*HEADING, *MACHINE[:2], "MODEL      715", f"{line}WISE", *SINGLE)]
    heading = ["z/OS V2R3 SYSTEM ID MVS7", "DATE 08/31/2023 TIME 16.40.00"]
    tables, issues = read([HEADING[0].strip(), *heading, *pages[4:]])
    assert shown(tables["rmf_interval"], "change_reason") == [(None,)]
    assert "CHANGE REASON" in {issue.field for issue in issues}
