"""Values by label about the machine and the own partition, collected into the row of an interval."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from zscope.parsers.issues import Code
from zscope.parsers.text.report_rows import quoted
from zscope.parsers.text.rmf.label_lines import LabelGrammar, LabelledValue, LabelLine
from zscope.parsers.text.spelling import edit_distance, nearly
from zscope.schemas.reports import report_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zscope.parsers.text.captured_report import Line
    from zscope.parsers.text.report_rows import ReportRows

TABLE = "rmf_interval"
_NOT_IN_BLOCKS = {"END", "CYCLE", "z/OS", "RPT VERSION"}
"""Labels of the page heading."""
_COLUMNS = {
    field.label: field.column
    for field in report_table(TABLE).columns
    if field.label and field.label not in _NOT_IN_BLOCKS
}
_ALL_LABELS = frozenset(_COLUMNS)
_GRAMMAR = LabelGrammar(_COLUMNS)
_SHORT = [label for label in _COLUMNS if len(label) == 2]
MACHINE_LABELS = frozenset(
    {"CPU", "MODEL", "H/W MODEL", "SEQUENCE CODE", "CPC CAPACITY", "HIPERDISPATCH"}
    | {"CHANGE REASON", "BOOST TYPE", "BOOST CLASS"}
)
"""Labels of CPU Activity. Others there are names of rows: CP and IIP count work units."""

_CHANGED = "*"
"""Marks a value that changed during the interval."""
_NAME = r"[A-Z0-9@#$_*-]{1,8}"


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII | re.IGNORECASE)


_FIXED = {
    "CPU": _form(r"\d{4}"),
    "MODEL": _form(r"[A-Z0-9-]{3,8}"),
    "H/W MODEL": _form(r"[A-Z0-9-]{3,8}"),
    "SEQUENCE CODE": _form(r"[0-9A-Z]{16,20}"),
    "HIPERDISPATCH": _form(r"YES|NO|N/A"),
}
"""Patterns of complete values that have a fixed length or are one of a few words."""
_FREE = {
    "MVS PARTITION NAME": _form(_NAME),
    "GROUP NAME": _form(rf"{_NAME}|N/A"),
    "DISPATCH INTERVAL": _form(r"DYNAMIC|\d{1,5}"),
}
_FIRST_LINE = {"MVS PARTITION NAME", "PHYS PROC NUM", "GROUP NAME"}
"""Labels of the longest line: if it is shorter than others, it was cut."""
_FOLLOWED = {"CPC CAPACITY"}
"""Labels that always have another one after them: a value at the end of a line may be cut."""
_WORDS = {
    "CHANGE REASON": ("NONE", "POWERSAVE", "MACHINE"),
    "BOOST TYPE": ("NONE", "ZIIP", "SPEED", "ALL"),
    "BOOST CLASS": ("NONE", "IPL", "SHUTDOWN", "RECOVERY"),
}
"""Values that are known to be complete; others are possible."""
_LONGEST_COUNT = 6
_SHORT_LABEL = re.compile(r"[A-Z0-9/%. -]{2,40}", re.ASCII | re.IGNORECASE)


class _BlockValue(NamedTuple):
    """A value in a block of label lines."""

    pair: LabelledValue
    text: str
    """The value without the mark of a change."""
    is_whole: bool
    """Whether the value is complete."""


class _BlockLine(NamedTuple):
    """A line of a block."""

    values: tuple[_BlockValue, ...]
    rest: tuple[str, ...]
    """Texts that are neither label nor value."""


def label_line(text: str) -> LabelLine:
    """Return the labels and values of a line."""
    return _GRAMMAR.read(text)


@dataclass(slots=True)
class IntervalValues:
    """Printed values by column, with their lines."""

    values: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    """Values of labels without a column."""
    changed: list[str] = field(default_factory=list)
    """Labels whose values changed during the interval."""

    def read_block(
        self, block: Sequence[Line], width: int, out: ReportRows, labels: frozenset[str] = _ALL_LABELS
    ) -> None:
        """Read the label lines of one page, which has these labels; `width` is the length of its longest
        line.
        """
        parsed = list(
            zip(block, _block_lines(tuple([line.text for line in block]), width, labels), strict=True)
        )
        for line, content in parsed:
            if content is None:
                out.add_unknown_line(line.no, line.text)
        for line, content in parsed:
            if content is None:
                continue
            for text in content.rest:
                out.add_unknown_line(line.no, text)
            if content.values:
                out.used(line.no)
            for value in content.values:
                self._read_value(line, value, out)

    def _read_value(self, line: Line, value: _BlockValue, out: ReportRows) -> None:
        pair, text = value.pair, value.text
        if not pair.known and not _SHORT_LABEL.fullmatch(pair.label):
            out.add_unknown_line(line.no, f"{pair.label}  {pair.value}")
            return
        if not text:
            return
        if not value.is_whole:
            problem = f"{quoted(text)} is not a complete value of {pair.label}: the column is null"
            out.issue(Code.BAD_VALUE, problem, line.no, pair.column, field=pair.label, table=TABLE)
            return
        if pair.value.endswith(_CHANGED) and pair.label not in self.changed:
            self.changed.append(pair.label)
        if not pair.known and (
            near := nearly(pair.label.upper(), _COLUMNS) or self._short(pair.label.upper())
        ):
            problem = f"the label {quoted(pair.label)} is unknown, and differs in one character from {near}"
            out.issue(Code.UNKNOWN_COLUMN, problem, line.no, pair.label_column, field=pair.label, table=TABLE)
        column = _COLUMNS[pair.label] if pair.known else pair.label
        known = self.values if pair.known else self.extra
        if known.setdefault(column, text) != text:
            problem = (
                f"{pair.label} is {quoted(text)} here, {quoted(known[column])} before; the first is used"
            )
            out.issue(Code.BAD_VALUE, problem, line.no, pair.column, field=pair.label, table=TABLE)
        elif pair.known:
            self.lines.setdefault(column, line.no)

    def _short(self, label: str) -> str | None:
        """Return the missing label of two letters from which an unknown one differs in one."""
        missing = [short for short in _SHORT if _COLUMNS[short] not in self.values]
        return next(
            (short for short in missing if len(label) == 2 and edit_distance(label, short) == 1), None
        )


@lru_cache(maxsize=256)
def _block_lines(block: tuple[str, ...], width: int, labels: frozenset[str]) -> tuple[_BlockLine | None, ...]:
    """Return the contents of the lines of a block, None for a line with other labels. Remembered, because the
    intervals of a system have the same blocks.
    """
    read = [_GRAMMAR.read(text) for text in block]
    parsed = [content if all(pair.label in labels for pair in content.known) else None for content in read]
    pairs = [pair for content in parsed if content for pair in content.pairs]
    edges = _right_edges(pairs)
    furthest = max((pair.label_column for pair in pairs), default=0)

    def with_value(pair: LabelledValue, length: int) -> _BlockValue:
        last = pair.end >= length
        at_edge = pair.end == width or (pair.label in _FIRST_LINE and pair.end < furthest)
        before_edge = any(pair.end < edge <= pair.end + _LONGEST_COUNT for edge in edges)
        text = pair.value.removesuffix(_CHANGED).rstrip()
        is_whole = _is_whole(pair.label, text, last=last, ends_early=last and (at_edge or before_edge))
        return _BlockValue(pair, text, is_whole)

    return tuple(
        _BlockLine(tuple(with_value(pair, len(text)) for pair in content.pairs), content.rest)
        if content
        else None
        for text, content in zip(block, parsed, strict=True)
    )


def _is_whole(label: str, text: str, *, last: bool, ends_early: bool) -> bool:
    if form := _FIXED.get(label) or _FREE.get(label):
        matches = form.fullmatch(text) is not None
        if label in _FIXED or not matches:
            return matches
    words = _WORDS.get(label, ())
    if text.upper() in {*words, "YES", "NO", "N/A", "DYNAMIC"}:
        return True
    if last and (label in _FOLLOWED or any(word.startswith(text.upper()) for word in words)):
        return False
    return not ends_early


def _right_edges(pairs: Iterable[LabelledValue]) -> list[int]:
    """Return where several values end: a last value of a line that ends shortly before was cut."""
    ends = Counter(pair.end for pair in pairs if not pair.empty)
    return [edge for edge, count in ends.items() if count > 1]
