"""Partition Data as a listing: every release and form, and damaged pages."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parsers.text.rmf.damage import DAMAGES, all_wrapped, harmless, one_line_cut, one_word_lost
from tests.parsers.text.rmf.listings import read_pages as read
from tests.parsers.text.rmf.listings import shown, unread

from zscope.parsers.issues import Code
from zscope.parsers.text.rmf.page_write import RELEASES, RmfPrintForm
from zscope.parsers.text.rmf.partition import partition_pages

if TYPE_CHECKING:
    import random

    from tests.parsers.text.reading import Row

FIGURES = (
    *("partition_status", "boost_type", "weight", "dedicated", "defined_capacity_msu", "actual_msu_per_hour"),
    *("capping", "wlm_capping_pct", "logical_cpus", "effective_ms", "dispatch_ms", "logical_effective_pct"),
    *("logical_total_pct", "physical_management_pct", "physical_effective_pct", "physical_total_pct"),
)
IDENTITY = ("row_kind", "partition_name", "cpu_type_name")

START = datetime.fromisoformat("2025-07-01T06:30")
PAGE = """\
                                              P A R T I T I O N  D A T A  R E P O R T
                                                                                                                          PAGE    4
            z/OS V2R3                SYSTEM ID PRD1             DATE 07/01/2025            INTERVAL 30.00.001
                                     RPT VERSION V2R3 RMF       TIME 06.30.00              CYCLE 1.000 SECONDS

MVS PARTITION NAME                LPARPRD1     PHYS PROC NUM    14         GROUP NAME   GRPEAST    INITIAL CAP    NO
IMAGE CAPACITY                         960                CP     8         LIMIT        1200       LPAR HW CAP    YES
NUMBER OF CONFIGURED PARTITIONS         11                AAP    1         AVAILABLE    310        HW GROUP CAP   NO
WAIT COMPLETION                        YES                IFL    2                                 ABS MSU CAP    YES
DISPATCH INTERVAL                       25                ICF    1
                                                          IIP    2
--------- PARTITION DATA ----------------    -- LOGICAL PARTITION PROCESSOR DATA -- -- AVERAGE PROCESSOR UTILIZATION PERCENTAGES --
                   ----MSU----  -CAPPING--    PROCESSOR- ----DISPATCH TIME DATA----  LOGICAL PROCESSORS  --- PHYSICAL PROCESSORS ---
NAME       S  WGT   DEF    ACT  DEF     WLM%   NUM  TYPE  EFFECTIVE       TOTAL      EFFECTIVE    TOTAL  LPAR MGMT  EFFECTIVE  TOTAL
LPARPRD1   A  650   400    388  N Y N   12.5   6.5   CP  01.25.10.250  01.26.00.750      35.49    35.84       0.35      35.49  35.84
0TEST      A  DED     0     91  YES      0.0    1    CP  00.20.00.000  00.20.10.125      66.67    67.23       0.07       8.33   8.40
*PHYSICAL*                                                             00.01.12.000                           0.50              0.50
           ------                                        ------------  ------------                          -----      -----  -----
TOTAL         650                                        01.45.10.250  01.47.22.875                           0.92      43.82  44.74

CF01       A  100               N N N           1    ICF 00.30.00.000  00.30.00.000     100.00   100.00       0.00     100.00 100.00
*PHYSICAL*                                                             00.00.00.009                           0.00              0.00
           ------                                        ------------  ------------                          -----      -----  -----
TOTAL         100                                        00.30.00.000  00.30.00.009                           0.00     100.00 100.00

SPARE01    D
""".splitlines()  # noqa: E501 - as wide as paper
HEADING, OWN, ABOVE, NAMES, CP, ICF = PAGE[:4], PAGE[4:11], PAGE[11:13], PAGE[13], PAGE[14:20], PAGE[20:25]
BEHIND = NAMES[47:]
CAPS = ("initial_capping", "lpar_hardware_capping", "hardware_group_capping", "absolute_msu_capping")
GROUP = ("capacity_group_name", "capacity_group_limit_msu", "capacity_group_available_msu")
PHYSICAL = (
    "physical_cpus",
    "physical_cps",
    "physical_zaaps",
    "physical_ifls",
    "physical_icfs",
    "physical_ziips",
)


def test_a_page_as_it_was_before_boosts() -> None:
    tables, issues = read(PAGE)
    assert unread(issues) == []
    rows = tables["rmf_partition"]
    assert shown(rows, "line_no", *IDENTITY) == [
        (15, "partition", "LPARPRD1", "CP"),
        (16, "partition", "0TEST", "CP"),
        (17, "physical", "*PHYSICAL*", "CP"),
        (19, "total", "TOTAL", "CP"),
        (21, "partition", "CF01", "ICF"),
        (22, "physical", "*PHYSICAL*", "ICF"),
        (24, "total", "TOTAL", "ICF"),
        (26, "partition", "SPARE01", None),
    ]
    none = None
    assert shown(rows, *FIGURES[:9]) == [
        ("active", none, 650, False, 400, 388, "N Y N", 12.5, 6.5),
        ("active", none, none, True, 0, 91, "YES", 0.0, 1.0),
        (none,) * 9,
        (none, none, 650, *(none,) * 6),
        ("active", none, 100, False, none, none, "N N N", none, 1.0),
        (none,) * 9,
        (none, none, 100, *(none,) * 6),
        ("deactivated", *(none,) * 8),
    ]
    assert shown(rows, *FIGURES[9:]) == [
        (5_110_250, 5_160_750, 35.49, 35.84, 0.35, 35.49, 35.84),
        (1_200_000, 1_210_125, 66.67, 67.23, 0.07, 8.33, 8.4),
        (none, 72_000, none, none, 0.5, none, 0.5),
        (6_310_250, 6_442_875, none, none, 0.92, 43.82, 44.74),
        (1_800_000, 1_800_000, 100.0, 100.0, 0.0, 100.0, 100.0),
        (none, 9, none, none, 0.0, none, 0.0),
        (1_800_000, 1_800_009, none, none, 0.0, 100.0, 100.0),
        (none,) * 7,
    ]
    for row in rows:
        assert (row["system"], row["interval_start_local"], row["interval_ms"]) == ("PRD1", START, 1_800_001)
        assert row["extra"] is None


def test_the_own_partition() -> None:
    (row,) = read(PAGE)[0]["rmf_interval"]
    columns = ("partition_name", "image_capacity_msu_per_hour", "configured_partitions", "dispatch_interval")
    assert shown([row], *columns, "wait_completion") == [("LPARPRD1", 960, 11, "25", True)]
    assert shown([row], *GROUP) == [("GRPEAST", 1200, 310)]
    assert shown([row], *CAPS) == [(False, True, False, True)]
    assert shown([row], *PHYSICAL) == [(14, 8, 1, 2, 1, 2)]
    assert (row["line_no"], row["machine_type"], row["extra"]) == (1, None, None)


def test_the_own_partition_has_the_name_of_a_column() -> None:
    tables, issues = read([line.replace("LPARPRD1", "WGT     ") for line in PAGE])
    assert unread(issues) == []
    assert shown(tables["rmf_interval"], "partition_name") == [("WGT",)]
    assert len(tables["rmf_partition"]) == len(read(PAGE)[0]["rmf_partition"])


def test_work_units_of_cpu_activity_are_not_physical_processors() -> None:
    """A program that imitates the report prints them on a page of its own, without their title."""
    title = "                                                        C P U  A C T I V I T Y"
    work_units = [" CP          0    17", " IIP         0     1"]
    tables, issues = read([title, *HEADING[1:], *work_units], PAGE)
    (row,) = tables["rmf_interval"]
    assert shown([row], *PHYSICAL) == [(14, 8, 1, 2, 1, 2)]
    assert row["extra"] is None
    lines = {issue.line_no for issue in issues if issue.code is Code.UNKNOWN_LINE}
    assert {5, 6} <= lines


@pytest.mark.parametrize(
    ("names", "front"),
    [
        (
            f"NAME     S BT    WGT   DEF  ACT  DEF    WLM%   {BEHIND}",
            "BOOSTED  A ZIIP  650   400  388 N N N   12.5",
        ),
        (
            f"NAME       S  WGT   DEF    ACT  DEF     WLM% BT {BEHIND}",
            "BOOSTED    A  650   400    388  N N N   12.5 Y",
        ),
        (
            f"NAME     BT S WGT   DEF    ACT  DEF     WLM%   {BEHIND}",
            "BOOSTED  Y  A 650   400    388  N N N   12.5",
        ),
    ],
    ids=["after the status", "after capping", "before the status"],
)
def test_the_boost_column_in_any_position(names: str, front: str) -> None:
    figures = f"{front.ljust(47)}  4    CP{CP[0][55:]}"
    tables, issues = read([*HEADING, *OWN, *ABOVE, names, figures, *CP[2:]])
    assert unread(issues) == []
    columns = ("partition_name", "partition_status", "boost_type", "weight", "logical_cpus", "effective_ms")
    boost = "ZIIP" if "ZIIP" in front else "Y"
    assert shown(tables["rmf_partition"], *columns)[0] == ("BOOSTED", "active", boost, 650, 4.0, 5_110_250)
    assert shown(tables["rmf_partition"], "capping", "wlm_capping_pct")[0] == ("N N N", 12.5)


def test_names_that_mean_something_else() -> None:
    total, cp = (CP[0].replace("LPARPRD1", name.ljust(8)) for name in ("TOTAL", "CP"))
    tables, issues = read([*HEADING, *OWN, *ABOVE, NAMES, total, cp, *CP[2:]])
    assert unread(issues) == []
    assert shown(tables["rmf_partition"], *IDENTITY) == [
        ("partition", "TOTAL", "CP"),
        ("partition", "CP", "CP"),
        ("physical", "*PHYSICAL*", "CP"),
        ("total", "TOTAL", "CP"),
    ]


def test_the_kind_of_a_total_is_that_of_its_group_or_not_known() -> None:
    tables, issues = read([*HEADING, *ABOVE, NAMES, *CP[2:]])
    assert shown(tables["rmf_partition"], *IDENTITY) == [
        ("physical", "*PHYSICAL*", None),
        ("total", "TOTAL", None),
    ]
    assert [(issue.code, issue.line_no) for issue in unread(issues)] == [
        (Code.REPORT_CUT, 8),
        (Code.REPORT_CUT, 10),
    ]


def test_a_second_physical_line_does_not_belong_to_the_group() -> None:
    tables, _ = read([*HEADING, *ABOVE, NAMES, *CP[:3], CP[2]])
    assert [row["cpu_type_name"] for row in tables["rmf_partition"]] == ["CP", "CP", "CP", None]


def test_one_of_two_capacities_is_not_guessed() -> None:
    lost = CP[0].replace("   400 ", "       ")
    tables, issues = read([*HEADING, *ABOVE, NAMES, lost])
    assert shown(
        tables["rmf_partition"], "partition_name", "weight", "actual_msu_per_hour", "effective_ms"
    ) == [("LPARPRD1", None, None, None)]
    (issue,) = unread(issues)
    assert (issue.code, issue.line_no, issue.column_no) == (Code.REPORT_UNREADABLE, 8, 23)


def test_times_under_other_columns_are_not_guessed() -> None:
    moved = CP[0].replace("  CP  ", "  CP      ")
    tables, issues = read([*HEADING, *ABOVE, NAMES, moved])
    assert shown(tables["rmf_partition"], "effective_ms", "logical_total_pct") == [(None, None)]
    assert [(issue.code, issue.column_no) for issue in unread(issues)] == [(Code.REPORT_UNREADABLE, 62)]


def test_a_screen_copy_has_the_first_columns() -> None:
    tables, issues = read([line[:80] for line in PAGE[:16]])
    columns = (
        "partition_name",
        "weight",
        "logical_cpus",
        "effective_ms",
        "dispatch_ms",
        "physical_total_pct",
    )
    assert shown(tables["rmf_partition"], *columns) == [
        ("LPARPRD1", 650, 6.5, 5_110_250, None, None),
        ("0TEST", None, 1.0, 1_200_000, None, None),
    ]
    assert {issue.line_no for issue in unread(issues)} >= {14, 15, 16}


def test_rows_without_headings_are_reported_once() -> None:
    tables, issues = read([*HEADING, *OWN, *CP])
    assert "rmf_partition" not in tables
    assert [(issue.code, issue.line_no) for issue in unread(issues)] == [(Code.REPORT_UNREADABLE, 12)]


def test_headings_in_another_order_are_not_believed() -> None:
    tables, issues = read([*HEADING, *OWN, *ABOVE, NAMES.replace("ACT", "WGT"), *CP])
    assert "rmf_partition" not in tables
    assert [(issue.code, issue.line_no) for issue in unread(issues)] == [(Code.REPORT_UNREADABLE, 14)]


def test_a_value_that_ends_before_those_above_it_was_cut() -> None:
    own = [line if not line.startswith("DISPATCH") else line[:41] for line in OWN]
    tables, issues = read([*HEADING, *own, *ABOVE, NAMES, *CP])
    assert tables["rmf_interval"][0]["dispatch_interval"] is None
    assert [(issue.code, issue.line_no) for issue in unread(issues)] == [(Code.BAD_VALUE, 10)]


hundredths = st.integers(0, 10_000).map(lambda number: number / 100)
tenths = st.integers(0, 1_000).map(lambda number: number / 10)
counts = st.integers(0, 9_999)
spans = st.integers(0, 99 * 3_600_000)
names = st.from_regex(r"[A-Z0-9][A-Z0-9@#$]{0,7}", fullmatch=True).filter(lambda name: name != "TOTAL")
physical = {"physical_management_pct": hundredths, "physical_total_pct": hundredths}


@st.composite
def groups(draw: st.DrawFn, release: str) -> list[Row]:
    rows: list[Row] = []
    of_machine = draw(st.lists(names, min_size=2, max_size=6, unique=True))
    for kind in draw(st.sampled_from([["CP"], ["CP", "IIP"], ["CP", "AAP", "IFL", "ICF", "IIP"]])):
        for name in draw(st.lists(st.sampled_from(of_machine[1:]), min_size=1, max_size=4, unique=True)):
            dedicated = draw(st.booleans())
            row = draw(
                st.fixed_dictionaries(
                    {
                        "weight": st.none() if dedicated else st.integers(1, 999),
                        "capping": st.sampled_from(["N N N", "Y N N", "N Y Y", "YES", "NO"]),
                        "logical_cpus": st.integers(1, 99).map(float)
                        | tenths.map(lambda n: round(n % 9 + 0.1, 1)),
                        "effective_ms": spans,
                        "dispatch_ms": spans,
                        "logical_effective_pct": hundredths,
                        "logical_total_pct": hundredths,
                        "physical_effective_pct": hundredths,
                        **physical,
                        **(for_cp(release) if kind == "CP" else {}),
                    }
                )
            )
            common = {"row_kind": "partition", "partition_name": name, "partition_status": "active"}
            rows.append(row | common | {"cpu_type_name": kind, "dedicated": dedicated})
        machine = draw(st.fixed_dictionaries({"dispatch_ms": spans, **physical}))
        rows.append(machine | {"row_kind": "physical", "partition_name": "*PHYSICAL*", "cpu_type_name": kind})
        sums = {
            "weight": counts,
            "effective_ms": spans,
            "dispatch_ms": spans,
            "physical_effective_pct": hundredths,
        }
        total = draw(st.fixed_dictionaries({**sums, **physical}))
        rows.append(total | {"row_kind": "total", "partition_name": "TOTAL", "cpu_type_name": kind})
    if draw(st.booleans()):
        off = {"row_kind": "partition", "partition_name": of_machine[0], "partition_status": "deactivated"}
        rows.append(off)
    return rows


def for_cp(release: str) -> dict[str, st.SearchStrategy[Any]]:
    """Printed for general purpose processors only."""
    boost = {"boost_type": st.sampled_from([None, "NONE", "ZIIP", "N"])} if release >= "V2R4" else {}
    capacity = {"defined_capacity_msu": counts, "actual_msu_per_hour": counts}
    return {**boost, **capacity, "wlm_capping_pct": tenths}


def own_partitions(release: str) -> st.SearchStrategy[Row]:
    in_group = st.fixed_dictionaries(
        {
            "capacity_group_name": names,
            "capacity_group_limit_msu": counts,
            "capacity_group_available_msu": counts,
        }
    )
    common = st.fixed_dictionaries(
        {
            "system": st.just("PRD1"),
            "interval_start_local": st.just(START),
            "interval_ms": st.integers(1, 5_999_999),
            "report_level": st.just(release),
            "partition_name": names,
            "image_capacity_msu_per_hour": counts,
            "configured_partitions": st.integers(1, 85),
            "wait_completion": st.booleans() | st.none(),
            "dispatch_interval": st.sampled_from(["DYNAMIC", "13", "25"]),
            **{column: st.booleans() for column in CAPS},
            **{column: st.integers(1, 200) for column in PHYSICAL[:2]},
            **{column: st.none() | st.integers(0, 99) for column in PHYSICAL[2:]},
        }
    )
    return st.tuples(common, in_group | st.just(dict.fromkeys(GROUP))).map(lambda parts: parts[0] | parts[1])


@st.composite
def reports(draw: st.DrawFn) -> tuple[Row, list[Row], RmfPrintForm]:
    release = draw(st.sampled_from(RELEASES))
    form = RmfPrintForm(
        page_lines=draw(st.sampled_from([18, 25, 60])),
        repeated_headings=draw(st.booleans()),
        page_numbers=draw(st.booleans()),
        further_left=draw(st.integers(0, 1)),
        boost_first=draw(st.booleans()),
    )
    return draw(own_partitions(release)), draw(groups(release)), form


@given(report=reports())
def test_written_rows_are_read_back(report: tuple[Row, list[Row], RmfPrintForm]) -> None:
    interval, rows, form = report
    pages = partition_pages(interval, rows, form)
    assert max(len(line) for page in pages for line in page) <= 132
    tables, issues = read(*pages)
    assert unread(issues) == []
    expected = [{column: row.get(column) for column in (*IDENTITY, *FIGURES)} for row in rows]
    assert [{column: row[column] for column in expected[0]} for row in tables["rmf_partition"]] == expected
    (own,) = tables["rmf_interval"]
    assert {column: own[column] for column in interval} == interval
    assert own["extra"] is None


DAMAGES_OF_PARTITIONS = DAMAGES | {
    "wrapped": all_wrapped(50),
    "one row cut": one_line_cut(10),
    "one figure lost": one_word_lost(
        lambda line: [word for word in line.split()[2:] if word[0].isdigit() or word == "DED"]
    ),
}


def _may_be(row: Row, known: Row) -> bool:
    return all(row[column] in {None, known.get(column)} for column in IDENTITY)


@pytest.mark.deep
@pytest.mark.parametrize("damage", DAMAGES_OF_PARTITIONS)
@settings(max_examples=12)
@given(report=reports(), chance=st.randoms(use_true_random=False))
def test_damage_makes_nothing_wrong(
    damage: str, report: tuple[Row, list[Row], RmfPrintForm], chance: random.Random
) -> None:
    """A figure that is read is one that was written for that partition; otherwise an issue names its line."""
    interval, rows, form = report
    tables, issues = read(*DAMAGES_OF_PARTITIONS[damage](chance, partition_pages(interval, rows, form)))
    assert all(issue.line_no for issue in issues)
    issue_lines = {issue.line_no for issue in issues}
    for row in tables.get("rmf_partition", []):
        # With its headings cut a row may not know its kind of processor: then it can be any of the name.
        possible = [known for known in rows if _may_be(row, known)] or [{}]
        wrong = min(
            ({c for c in FIGURES if row[c] not in {None, known.get(c)}} for known in possible), key=len
        )
        kindless = row["cpu_type_name"] is None and row["line_no"] in issue_lines
        assert not wrong or kindless, (wrong, unread(issues))
    for row in tables.get("rmf_interval", []):
        for column in set(interval) - {"interval_ms", "report_level"}:
            assert row[column] in {None, interval[column]}, (column, unread(issues))


@settings(max_examples=10)
@given(report=reports())
def test_upper_case_and_a_shift_of_all_lines_change_nothing(
    report: tuple[Row, list[Row], RmfPrintForm],
) -> None:
    interval, rows, form = report
    pages = partition_pages(interval, rows, form)
    expected = shown(read(*pages)[0]["rmf_partition"], *IDENTITY, *FIGURES)
    for changed in harmless(pages):
        tables, issues = read(*changed)
        assert unread(issues) == []
        assert shown(tables["rmf_partition"], *IDENTITY, *FIGURES) == expected


@given(lines=st.lists(st.text(st.characters(codec="ascii"), max_size=140), max_size=30))
def test_anything_below_a_heading_is_no_error(lines: list[str]) -> None:
    _, issues = read([*HEADING, *OWN, *ABOVE, NAMES, *lines])
    assert all(issue.line_no for issue in issues)


def test_partitions_without_a_total_are_reported() -> None:
    _, issues = read([*PAGE[:23]])
    (issue,) = unread(issues)
    assert (issue.code, issue.line_no) == (Code.REPORT_CUT, 22)
    assert "no total of ICF" in issue.text


def test_partitions_are_expected_below_the_headings() -> None:
    tables, issues = read([*PAGE[:14]])
    assert "rmf_partition" not in tables
    assert [(issue.code, issue.line_no) for issue in issues] == [
        (Code.COUNT_DIFFERS, 1),
        (Code.REPORT_CUT, 14),
    ]
