"""Faults of all texts of the sample data: no more silent losses than the known ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.parsers.text.faults.displays_of_all_kinds import CAPTURES
from tests.parsers.text.faults.loss_oracle import (
    PlacedRow,
    TextReading,
    Undetectable,
    judge,
    read_text,
    report_places,
)
from tests.parsers.text.faults.silent_losses import (
    DEEP,
    QUICK,
    SAMPLE_DATA,
    Effort,
    LossCount,
    count_losses,
    name_of,
    text_inputs,
)
from tests.parsers.text.faults.text_faults import FaultKind, TextFault, cuts, line_faults

from zscope.parsers import Code, Issue

INPUTS = {name_of(path): path for path in text_inputs(SAMPLE_DATA)}


@pytest.mark.parametrize("name", INPUTS)
def test_no_fault_loses_rows_silently(name: str, tmp_path: Path) -> None:
    _assert_no_loss(count_losses(INPUTS[name], QUICK, tmp_path))


@pytest.mark.deep
@pytest.mark.parametrize("name", INPUTS)
def test_none_of_many_faults_loses_rows_silently(name: str, tmp_path: Path) -> None:
    _assert_no_loss(count_losses(INPUTS[name], DEEP, tmp_path))


def _count_in_capture(family: str, effort: Effort, folder: Path) -> LossCount:
    path = folder / "captures" / f"{family}.SYSA.2026-03-02.txt"
    path.parent.mkdir()
    path.write_text(CAPTURES[family], encoding="utf-8")
    return count_losses(path, effort, folder)


@pytest.mark.parametrize("family", CAPTURES)
def test_no_fault_of_a_capture_of_all_kinds_loses_rows_silently(family: str, tmp_path: Path) -> None:
    _assert_no_loss(_count_in_capture(family, QUICK, tmp_path))


@pytest.mark.deep
@pytest.mark.parametrize("family", CAPTURES)
def test_none_of_many_faults_of_a_capture_of_all_kinds_loses_rows_silently(
    family: str, tmp_path: Path
) -> None:
    _assert_no_loss(_count_in_capture(family, DEEP, tmp_path))


def _assert_no_loss(count: LossCount) -> None:
    assert count.rows
    assert not count.silent, "\n".join(count.silent)


TEXT = "alpha one\nbeta two\n\ngamma three\n"


def test_faults_of_lines() -> None:
    def applied(kind: FaultKind, line: int, column: int = 0, letter: str = "") -> str:
        return TextFault(kind, line, column, letter).applied(TEXT)

    assert applied(FaultKind.FRONT, 2, 2) == "ta two\n\ngamma three\n"
    assert applied(FaultKind.END, 2, 2) == "alpha one\nbe"
    assert applied(FaultKind.DROPPED, 1) == "beta two\n\ngamma three\n"
    assert applied(FaultKind.DOUBLED, 2) == "alpha one\nbeta two\nbeta two\n\ngamma three\n"
    assert applied(FaultKind.EXCHANGED, 1) == "beta two\nalpha one\n\ngamma three\n"
    assert applied(FaultKind.JOINED, 1) == "alpha onebeta two\n\ngamma three\n"
    assert applied(FaultKind.LETTER, 4, 0, "h") == "alpha one\nbeta two\n\nhamma three\n"


@pytest.mark.parametrize("kind", FaultKind)
def test_lines_move_as_their_text_does(kind: FaultKind) -> None:
    fault = TextFault(kind, 2, 2, "x")
    after = fault.applied(TEXT).split("\n")
    for number, line in enumerate(TEXT.split("\n"), 1):
        untouched = number != fault.line and fault.keeps(number) and line
        if untouched:
            assert line in after[fault.moved(number) - 1]


def test_faults_are_seeded_and_of_all_kinds() -> None:
    faults = [*cuts(TEXT, 2, "a"), *line_faults(TEXT, 10, "a")]
    assert faults == [*cuts(TEXT, 2, "a"), *line_faults(TEXT, 10, "a")]
    assert {fault.kind for fault in faults} == set(FaultKind)
    assert all(fault.applied(TEXT) != TEXT for fault in faults)


def _reading(*lines: int, issues: tuple[int, ...] = (), **values: str | None) -> TextReading:
    rows = [PlacedRow("netstat_conn", {"job": f"J{line}", "extra": None, **values}, line) for line in lines]
    found = [Issue(Code.UNKNOWN_LINE, "", "a.txt", line_no=line) for line in issues]
    return TextReading(rows, found, [(1, 9)])


def test_a_lost_row_needs_an_issue_that_the_good_text_does_not_have() -> None:
    joined = TextFault(FaultKind.JOINED, 3)
    assert "1 rows lost" in judge(_reading(3, 4, 5), _reading(3, 5), joined).silent
    assert not judge(_reading(3, 4, 5), _reading(3, 5, issues=(3,)), joined).silent
    assert judge(_reading(3, 4, 5, issues=(3,)), _reading(3, 5, issues=(3,)), joined).silent
    assert judge(_reading(3, 4, 5), _reading(3, 5, issues=(200,)), joined).silent


def test_a_value_that_became_null_is_a_loss_and_another_value_is_undetectable() -> None:
    letter = TextFault(FaultKind.LETTER, 3, 1, "x")
    good, null, other = _reading(3, state="A"), _reading(3, state=None), _reading(3, state="B")
    assert judge(good, null, letter).silent
    assert judge(good, other, letter).undetectable is Undetectable.VALUE_CHANGED
    assert judge(good, good, letter).undetectable is None


def test_dropped_and_doubled_rows_are_undetectable_but_not_those_of_other_lines() -> None:
    dropped, doubled = TextFault(FaultKind.DROPPED, 4), TextFault(FaultKind.DOUBLED, 4)
    assert judge(_reading(3, 4), _reading(3), dropped).undetectable is Undetectable.ROW_DROPPED
    assert judge(_reading(3, 4), _reading(4), dropped).silent
    assert judge(_reading(3, 4), _reading(3, 4, 4), doubled).undetectable is Undetectable.ROW_DOUBLED
    assert judge(_reading(3, 4), _reading(4), doubled).silent


def test_the_extra_values_of_an_action_can_be_in_the_other_of_two_exchanged_rows() -> None:
    def reading(first: str, second: str, extra: str) -> TextReading:
        return TextReading(
            [
                PlacedRow("tls_action", {"parameter": first, "extra": {"Label": extra}}, 3),
                PlacedRow("tls_action", {"parameter": second, "extra": None}, 4),
            ],
            [],
            [(1, 9)],
        )

    exchanged, good = TextFault(FaultKind.EXCHANGED, 3), reading("Trace", "FIPS140", "Version")
    judgement = judge(good, reading("FIPS140", "Trace", "Version"), exchanged)
    assert judgement.undetectable is Undetectable.ORDER_CHANGED
    assert judge(good, reading("FIPS140", "Trace", "Status"), exchanged).silent


def test_values_without_a_column_can_be_dropped_or_in_another_order_but_not_lost() -> None:
    def reading(role: str | None, **extra: str) -> TextReading:
        return TextReading(
            [PlacedRow("netstat_ttls", {"role": role, "stack": "A", "extra": extra or None}, 3)], [], [(1, 9)]
        )

    good = reading("Client", Env="Server", List="a, b")
    dropped, exchanged = TextFault(FaultKind.DROPPED, 4), TextFault(FaultKind.EXCHANGED, 4)
    for less in (reading("Client", Env="Server", List="a"), reading("Server", List="a, b")):
        assert judge(good, less, dropped).undetectable is Undetectable.VALUE_DROPPED
        assert judge(good, less, exchanged).silent
    moved = reading("Client", Env="Server, b", List="a")
    assert judge(good, moved, exchanged).undetectable is Undetectable.ORDER_CHANGED
    assert judge(good, moved, dropped).silent
    assert judge(good, reading("Other", Env="Server", List="a, b"), dropped).silent


def test_several_members_of_a_list_can_be_in_one_line() -> None:
    def reading(*members: str) -> TextReading:
        rows = [{"value": name, "member_no": number, "extra": None} for number, name in enumerate(members, 1)]
        return TextReading([PlacedRow("tls_action", row, 3) for row in rows], [], [(1, 9)])

    dropped, good = TextFault(FaultKind.DROPPED, 5), reading("A", "B", "C", "D")
    for fewer in ("AD", "AB", "ABC"):
        assert judge(good, reading(*fewer), dropped).undetectable is Undetectable.ROW_DROPPED
    for other in ("BD", "CD", "AXD"):
        assert judge(good, reading(*other), dropped).silent


def test_a_time_and_a_mark_can_be_dropped() -> None:
    dropped = TextFault(FaultKind.DROPPED, 4)
    for value, less in (("0111110; Local", "0111110"), (True, False)):
        before, after = ([PlacedRow("tls_rule", {"a": each, "extra": None}, 3)] for each in (value, less))
        good, other = TextReading(before, [], [(1, 9)]), TextReading(after, [])
        assert judge(good, other, dropped).undetectable is Undetectable.VALUE_DROPPED
        assert judge(TextReading(after, [], [(1, 9)]), TextReading(before, []), dropped).silent


def test_an_exchanged_label_can_be_part_of_the_other_row() -> None:
    def reading(first: dict[str, str], second: dict[str, str], line: int) -> TextReading:
        rows = [PlacedRow("tls_action", {"name": "A", "extra": first}, 3)]
        rows.append(PlacedRow("tls_action", {"name": "B", "extra": second}, line))
        return TextReading(rows, [], [(1, 9)])

    exchanged, good = TextFault(FaultKind.EXCHANGED, 4), reading({"Label": "x"}, {"Other": "y"}, 5)
    moved, lost = reading({}, {"Label": "x", "Other": "y"}, 4), reading({}, {"Other": "z"}, 4)
    assert judge(good, moved, exchanged).undetectable is Undetectable.ORDER_CHANGED
    assert judge(good, lost, exchanged).silent
    assert judge(good, moved, TextFault(FaultKind.EXCHANGED, 7)).silent


def test_only_the_columns_of_a_heading_may_change_if_it_is_dropped() -> None:
    dropped, doubled = TextFault(FaultKind.DROPPED, 2), TextFault(FaultKind.DOUBLED, 2)
    good, other = _reading(3, stack="A", state="B"), _reading(3, stack="C", state="B")
    assert judge(good, other, dropped).undetectable is Undetectable.HEADING_DROPPED
    assert judge(good, other, doubled).silent
    assert judge(good, _reading(3, stack="C", state="D"), dropped).silent


def test_an_issue_with_another_text_is_another_issue() -> None:
    joined = TextFault(FaultKind.JOINED, 4)

    def told(*lines: int, text: str) -> TextReading:
        rows = _reading(*lines).rows
        return TextReading(rows, [Issue(Code.REPORT_CUT, text, "a.txt", line_no=3)], [(1, 9)])

    good = told(3, 4, text="1 of 2 lines is cut")
    assert judge(good, told(3, text="2 of 3 lines is cut"), joined).silent
    assert not judge(good, told(3, text="the line has no end"), joined).silent


def test_our_name_of_a_setting_is_no_place_of_a_value() -> None:
    letter = TextFault(FaultKind.LETTER, 3, 1, "x")
    assert judge(_reading(3, setting="max_queue"), _reading(3, setting=None), letter).silent
    assert judge(_reading(3, system_from="report"), _reading(3, system_from="prefix"), letter).undetectable


def test_a_cut_inside_a_report_needs_an_issue_and_one_between_reports_does_not() -> None:
    inside, after = TextFault(FaultKind.FRONT, 5, 2), TextFault(FaultKind.FRONT, 10, 2)
    good = TextReading(_reading(3, 7, 12).rows, [], [(1, 9), (11, 15)])
    assert judge(good, TextReading(good.rows[1:], []), inside).silent
    assert not judge(good, TextReading(good.rows[2:], []), after).silent
    assert judge(good, TextReading([], []), after).silent


def test_reports_end_with_their_last_row(tmp_path: Path) -> None:
    first = "FCX112      CPU 2964  SER 51524  Interval 14:00:00 - 14:10:00    Perf. Monitor\n"
    text = f"stray\n{first}Userid    %CPU  TCPU\nRSCS     39.96 239.8\n\nCommand ===>\n"
    path = tmp_path / "screen.txt"
    assert [row.line for row in read_text(path, text).rows] == [4]
    assert report_places(path, text) == [(2, 4)]
