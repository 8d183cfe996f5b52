"""Judge what a fault did to the rows of a text: a lost or changed row needs an issue at its place."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.parsers.text.faults.text_faults import CUTS, FaultKind, TextFault

from zscope.parsers import Code, InputError, Issue, ReadOptions, read
from zscope.parsers.api import reader_for
from zscope.parsers.inputs import members_of
from zscope.parsers.issues import Issues
from zscope.parsers.options import Selection
from zscope.parsers.text.file_defaults import FileDefaults
from zscope.parsers.text.line_ledger import LineUse
from zscope.parsers.text.report_input import ReportInput
from zscope.parsers.text.report_splitter import ReportSplitter
from zscope.schemas.reports import report_tables

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]
_PLACES = ("file", "line_no", "object_no", "sample_no", "since_start_us")
"""Columns that say where a row is, which number it has, and how far it is from the first one."""
_NUMBER = "member_no"
"""The column with the number of a row in its list."""
_OF_LIST = frozenset({_NUMBER, "setting"})
"""Columns that depend on the whole list: it can be the default or not."""
_KNOWN_FROM = ("system_from", "time_from")
"""Columns that say where a value is known from. They are empty where the value is, which is judged itself."""
_OF_HEADING = frozenset({"stack", "release", "taken_local", "taken_time", *_KNOWN_FROM})
"""Columns of NETSTAT reports that their heading shows."""
_COMPARED = frozenset({"reset_since_previous"})
"""Columns that compare a report with the one before."""
_SEPARATOR = re.compile("[,;] ")
"""Separates the members of a text: addresses, and the times of a rule."""
_NUMBER_IN_TEXT = re.compile(r"[\d,]+")
_PAGE = 60
"""An issue so many lines away from a row is on the same page."""


class Undetectable(StrEnum):
    """Faults that no reader can detect, because the text is a possible text."""

    ROW_DROPPED = "a whole line with rows or with a member of a list is dropped"
    VALUE_DROPPED = "a whole line with values of one row, or without a column, is dropped: they are absent"
    HEADING_DROPPED = "the heading of a report is dropped, and only one of its kind is above: it goes on"
    ROW_DOUBLED = "a whole line with rows of its own is doubled"
    ORDER_CHANGED = "two lines with members of lists are exchanged: it is another possible order"
    VALUE_CHANGED = "a letter of a value changed: it is another possible value"
    OUTSIDE = "the text is cut between the rows of two reports: what compares them is absent"


class PlacedRow(NamedTuple):
    """A row of a table, and its line."""

    table: str
    row: Row
    line: int

    def key(self) -> tuple[str, str]:
        """Return what equal rows have in common."""
        return self.table, repr(self.row)

    def key_in_list(self) -> tuple[str, str]:
        """Return what rows of a list have in common that differ only in what depends on the whole list."""
        return self.table, repr({name: value for name, value in self.row.items() if name not in _OF_LIST})


@dataclass(frozen=True)
class TextReading:
    """The rows, the issues, and the lines of the reports of a text."""

    rows: Sequence[PlacedRow]
    issues: Sequence[Issue]
    reports: Sequence[tuple[int, int]] = ()
    """First line of each report, and the last one that is more than furniture."""


@dataclass(frozen=True)
class Judgement:
    """What a fault did."""

    silent: str = ""
    """The loss that no issue names; empty if there is none."""
    table: str = ""
    undetectable: Undetectable | None = None


def read_text(path: Path, text: str) -> TextReading:
    """Write a text into a file and read all its tables; no text is a reason for a reader to fail."""
    path.write_text(text, encoding="utf-8", newline="")
    reading = _reading(path)
    assert not [issue for issue in reading.issues if issue.code is Code.READER_FAILED], text
    return reading


def _reading(path: Path) -> TextReading:
    try:
        result = read(path, tuple(report_tables()))
    except InputError as error:
        return TextReading([], [error.issue])
    rows = [_placed(name, row) for name in result for row in result[name].to_pylist()]
    return TextReading(rows, list(result.issues))


def report_places(path: Path, text: str) -> list[tuple[int, int]]:
    """Return the first line of each report of a text, and its last line that is more than furniture.

    The text is the content of the file.
    """
    issues = Issues()
    members = members_of([path], issues)
    reader = reader_for(next(members), ReadOptions(), issues)
    assert isinstance(reader, ReportInput)
    for _ in reader.batches(Selection(dict.fromkeys(report_tables()))):
        pass
    captured = ReportSplitter(FileDefaults()).reports(line.rstrip("\r") for line in text.split("\n"))
    places = []
    for report in captured:
        numbers = [line.no for line in report.lines if line.text]
        used = [number for number in numbers if reader.ledger.use_of(number) in {LineUse.ROW, LineUse.ISSUE}]
        places.append((numbers[0], max(used, default=numbers[0])))
    return places


def _placed(table: str, row: Row) -> PlacedRow:
    line = row["line_no"]
    values = {name: value for name, value in row.items() if name not in _PLACES}
    if values["extra"]:
        values["extra"] = dict(sorted(json.loads(values["extra"]).items()))
    return PlacedRow(table, values, line)


_Pairs = list[tuple[PlacedRow, PlacedRow]]


@dataclass(frozen=True)
class _Changes:
    """Rows that differ, without those that a cut took away."""

    fault: TextFault
    lost: list[PlacedRow] = field(default_factory=list)
    gained: list[PlacedRow] = field(default_factory=list)

    def pairs(self) -> _Pairs | None:
        """Return the rows that changed, with what they became; None if rows vanished or appeared."""
        if len(self.lost) != len(self.gained):
            return None
        lost = sorted(self.lost, key=lambda row: (row.table, self.fault.moved(row.line)))
        gained = sorted(self.gained, key=lambda row: (row.table, row.line))
        pairs = list(zip(lost, gained, strict=True))
        return pairs if all(old.table == new.table for old, new in pairs) else None


def judge(before: TextReading, after: TextReading, fault: TextFault) -> Judgement:
    """Return whether a fault lost something without an issue that names the place."""
    changes = _changes(before, after, fault)
    if not changes.lost and not changes.gained:
        is_outside = fault.kind in CUTS and not _reports_around(before, fault)
        return Judgement(undetectable=Undetectable.OUTSIDE if is_outside else None)
    if _is_named(before, after, changes):
        return Judgement()
    if fault.kind in CUTS and not _reports_around(before, fault) and _lacks_comparison(changes):
        return Judgement(undetectable=Undetectable.OUTSIDE)
    if kind := _undetectable(changes):
        return Judgement(undetectable=kind)
    return Judgement(f"{fault}: {_shown(changes)}", (changes.lost or changes.gained)[0].table)


def _changes(before: TextReading, after: TextReading, fault: TextFault) -> _Changes:
    unmatched = Counter(row.key() for row in before.rows)
    unmatched.subtract(row.key() for row in after.rows)
    changes = _Changes(fault)
    missing = +unmatched
    added = -unmatched
    for row in before.rows:
        if missing[row.key()] > 0:
            missing[row.key()] -= 1
            changes.lost.append(row)
    for row in reversed(after.rows):
        if added[row.key()] > 0:
            added[row.key()] -= 1
            changes.gained.append(row)
    changes.gained.reverse()
    if fault.kind in CUTS:
        around = _reports_around(before, fault)
        expected = [
            row
            for row in changes.lost
            if not fault.keeps(row.line) and not any(first <= row.line <= last for first, last in around)
        ]
        return _Changes(fault, [row for row in changes.lost if row not in expected], changes.gained)
    return changes


def _reports_around(before: TextReading, fault: TextFault) -> list[tuple[int, int]]:
    return [(first, last) for first, last in before.reports if first <= fault.line <= last]


def _is_named(before: TextReading, after: TextReading, changes: _Changes) -> bool:
    """Return whether an issue that the text does not have without the fault names the place."""
    fault = changes.fault
    usual = Counter(
        (issue.code, issue.field, fault.moved(issue.line_no or 0), _without_numbers(issue.text))
        for issue in before.issues
        if issue.line_no is None or fault.keeps(issue.line_no)
    )
    touched = [
        fault.moved(fault.line),
        *(fault.moved(row.line) for row in changes.lost),
        *(row.line for row in changes.gained),
    ]
    lowest, highest = min(touched) - _PAGE, max(touched) + _PAGE
    for issue in after.issues:
        place = issue.line_no or fault.moved(0)
        identity = (issue.code, issue.field, place, _without_numbers(issue.text))
        if usual[identity] > 0:
            usual[identity] -= 1
        elif issue.line_no is None:
            if not after.rows:
                return True
        elif lowest <= issue.line_no <= highest:
            return True
    return False


def _without_numbers(text: str) -> str:
    """Return the text of an issue without counts and places, which a fault elsewhere can change."""
    return _NUMBER_IN_TEXT.sub("", text)


def _undetectable(changes: _Changes) -> Undetectable | None:
    fault, pairs = changes.fault, changes.pairs()
    match fault.kind:
        case FaultKind.DROPPED:
            return _undetectable_drop(changes, pairs)
        case FaultKind.DOUBLED:
            is_own = all(row.line == fault.line for row in changes.lost)
            if is_own and all(row.line in {fault.line, fault.line + 1} for row in changes.gained):
                return Undetectable.ROW_DOUBLED
        case FaultKind.EXCHANGED:
            is_order = pairs and all(_has_other_order(old, new) for old, new in pairs)
            if is_order or _has_other_first_row(changes) or _list_changes(changes) == (0, 0):
                return Undetectable.ORDER_CHANGED
        case FaultKind.LETTER:
            if pairs and all(_became_other_value(old, new) for old, new in pairs):
                return Undetectable.VALUE_CHANGED
    return None


def _undetectable_drop(changes: _Changes, pairs: _Pairs | None) -> Undetectable | None:
    if _dropped_own(changes) or _dropped_members(changes):
        return Undetectable.ROW_DROPPED
    if pairs and all(_became_absent(old, new, is_one=len(pairs) == 1) for old, new in pairs):
        return Undetectable.VALUE_DROPPED
    if pairs and all(_has_other_heading(old, new) for old, new in pairs):
        return Undetectable.HEADING_DROPPED
    return None


def _dropped_own(changes: _Changes) -> bool:
    """Return whether only rows of the dropped line are lost.

    A policy file has a default for a statement that is not there, which can depend on other statements. What
    the first row of an action has in `extra` is in the next one then.
    """
    own = [row for row in changes.lost if row.line == changes.fault.line]
    others = [row for row in changes.lost if row.line != changes.fault.line]
    gained = Counter(_without_extra(row) for row in changes.gained)
    gained.subtract(_without_extra(row) for row in others if row.row.get("setting") != "default")
    return bool(own) and len(changes.gained) <= len(changes.lost) and min(gained.values(), default=0) >= 0


def _without_extra(row: PlacedRow) -> tuple[str, str]:
    return row.table, repr({name: value for name, value in row.row.items() if name != "extra"})


def _list_changes(changes: _Changes) -> tuple[int, int]:
    """Return how many members of lists are lost and gained, whatever their numbers."""
    if not all(row.row.get(_NUMBER) for row in (*changes.lost, *changes.gained)):
        return 0, len(changes.gained) + len(changes.lost)
    lost = Counter(row.key_in_list() for row in changes.lost)
    gained = Counter(row.key_in_list() for row in changes.gained)
    return (lost - gained).total(), (gained - lost).total()


def _dropped_members(changes: _Changes) -> bool:
    """Return whether members of a list are lost that follow each other, as those of one line do, and that are
    not its first ones.
    """
    lost, gained = _list_changes(changes)
    if lost == 0 or gained:
        return False
    others = Counter(row.key_in_list() for row in changes.gained)
    numbers = [row.row[_NUMBER] for row in changes.lost if not others[row.key_in_list()]]
    return lost == 1 or (numbers[:1] > [1] and numbers == [*range(numbers[0], numbers[0] + lost)])


def _has_other_order(old: PlacedRow, new: PlacedRow) -> bool:
    """Return whether texts with several members, and those without a column, have them in another order, or
    the one what the other had.
    """
    differences = _differences(old, new)
    before = [*(one for one, _ in differences), *(old.row["extra"] or {}).values()]
    after = [*(other for _, other in differences), *(new.row["extra"] or {}).values()]
    texts = all(isinstance(value, str) for value in (*before, *after))
    return bool(before) and texts and _all_members(before) == _all_members(after)


def _has_other_first_row(changes: _Changes) -> bool:
    """Return whether only values without a column are in the other of two rows: those of an action are in its
    first row, and a label is part of the row above it.
    """
    fault = changes.fault
    lost, gained = (Counter(map(_without_extra, rows)) for rows in (changes.lost, changes.gained))
    before, after = (
        sum((_labelled_members(row.row["extra"] or {}) for row in rows), Counter())
        for rows in (changes.lost, changes.gained)
    )
    begins = {row.line for row in (*changes.lost, *changes.gained)} & {fault.line, fault.line + 1}
    return lost == gained and before == after and len(changes.lost) == 2 and bool(begins)


def _lacks_comparison(changes: _Changes) -> bool:
    """Return whether rows differ only in what compares them with rows that a cut took away."""
    pairs = changes.pairs() or []
    differences = [difference for old, new in pairs for difference in _differences(old, new)]
    columns = [name for old, new in pairs for name in old.row if old.row[name] != new.row[name]]
    return bool(pairs) and {*columns} <= _COMPARED and all(after is None for _, after in differences)


def _members(text: str) -> list[str]:
    return _SEPARATOR.split(text)


def _labelled_members(extra: Mapping[str, str]) -> Counter[tuple[str, str]]:
    """Return the members of values without a column, each with its label, whatever part it is in."""
    return Counter(
        (label.rpartition(".")[2], member) for label, text in extra.items() for member in _members(text)
    )


def _all_members(texts: Iterable[str]) -> Counter[str]:
    return Counter(member for text in texts for member in _members(text))


def _lacks_member(before: Any, after: Any) -> bool:  # noqa: ANN401 - values of any column
    """Return whether a text with several members has one less, or another value, or a mark, is missing."""
    if isinstance(before, str) and isinstance(after, str):
        missing = Counter(_members(before))
        missing.subtract(_members(after))
        return missing.total() == 1 and min(missing.values()) >= 0
    return after is None or (before is True and after is False)


def _differences(old: PlacedRow, new: PlacedRow) -> list[tuple[Any, Any]]:
    return [
        (value, new.row[name])
        for name, value in old.row.items()
        if name not in {"extra", *_KNOWN_FROM} and value != new.row[name]
    ]


def _became_absent(old: PlacedRow, new: PlacedRow, *, is_one: bool) -> bool:
    """Return whether values are missing: those of columns only if no other row lacks them. The value of
    another action, which was in `extra`, can have precedence then.
    """
    extra, less = old.row["extra"] or {}, new.row["extra"] or {}
    if not _labelled_members(less) <= _labelled_members(extra):
        return False
    differences = _differences(old, new)
    elsewhere = {*extra.values()} - {*less.values()}
    return not differences or (
        is_one and all(_lacks_member(before, after) or after in elsewhere for before, after in differences)
    )


def _has_other_heading(old: PlacedRow, new: PlacedRow) -> bool:
    """Return whether rows differ only in what the heading of their report shows."""
    return {name for name, value in old.row.items() if value != new.row[name]} <= _OF_HEADING


def _became_other_value(old: PlacedRow, new: PlacedRow) -> bool:
    """Return whether no value is missing; a report of another system is compared with none before."""
    of_other_system = old.row.get("system") != new.row.get("system")
    absent = [
        name
        for name, value in new.row.items()
        if value is None and old.row[name] is not None and name not in {"extra", *_KNOWN_FROM}
    ]
    return not absent or (of_other_system and {*absent} <= _COMPARED)


def _shown(changes: _Changes) -> str:
    pairs = changes.pairs()
    if pairs:
        old, new = pairs[0]
        columns = [
            f"{name} {value!r} is {new.row[name]!r}"
            for name, value in old.row.items()
            if value != new.row[name]
        ]
        return f"{len(pairs)} rows changed, first of {old.table} at line {old.line}: {'; '.join(columns[:4])}"
    lost = ", ".join(f"{row.table} at line {row.line}" for row in changes.lost[:3])
    gained = ", ".join(f"{row.table} at line {row.line}" for row in changes.gained[:3])
    return f"{len(changes.lost)} rows lost ({lost}), {len(changes.gained)} others ({gained})"
