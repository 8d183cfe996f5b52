"""What CPU Activity says of the machine and Partition Data of the own partition, gathered into one row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from zscope.parsers.issues import Code
from zscope.parsers.text.out import shown
from zscope.parsers.text.rmf.label_lines import LabelLine, LabelLines, Pair
from zscope.schemas.printed import report_table

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line

TABLE = "rmf_interval"
_NOT_IN_BLOCKS = {"END", "CYCLE", "z/OS", "RPT VERSION"}
"""Labels of the page heading."""
_COLUMNS = {
    field.label: field.column
    for field in report_table(TABLE).columns
    if field.label and field.label not in _NOT_IN_BLOCKS
}
_GRAMMAR = LabelLines(_COLUMNS)

_CHANGED = "*"
"""Behind a value that changed during the interval."""
_NAME = r"[A-Z0-9@#$_*-]{1,8}"
_FIXED = {
    "CPU": r"\d{4}",
    "MODEL": r"[A-Z0-9-]{3,8}",
    "H/W MODEL": r"[A-Z0-9-]{3,8}",
    "SEQUENCE CODE": r"[0-9A-Z]{16,20}",
    "HIPERDISPATCH": r"YES|NO|N/A",
}
"""How values look that lost nothing: they have a fixed length, or are one of a few words."""
_FREE = {
    "MVS PARTITION NAME": _NAME,
    "GROUP NAME": rf"{_NAME}|N/A",
    "DISPATCH INTERVAL": r"DYNAMIC|\d{1,5}",
}
_FIRST_LINE = {"MVS PARTITION NAME", "PHYS PROC NUM", "GROUP NAME"}
"""Labels of a line as long as any: where it is shorter than others, it lost its end."""
_FOLLOWED = {"CPC CAPACITY"}
"""Labels with another one behind them in every line: a value that ends the line may have lost its end."""
_WORDS = {
    "CHANGE REASON": ("NONE", "POWERSAVE", "MACHINE"),
    "BOOST TYPE": ("NONE", "ZIIP", "SPEED", "ALL"),
    "BOOST CLASS": ("NONE", "IPL", "SHUTDOWN", "RECOVERY"),
}
"""Values that are known to be whole; there may be others."""
_LONGEST_COUNT = 6
_SHORT_LABEL = re.compile(r"[A-Z0-9/%. -]{2,40}", re.ASCII | re.IGNORECASE)


class _Said(NamedTuple):
    line: Line
    what: LabelLine


def label_line(line: Line) -> LabelLine:
    """The labels and values of a line."""
    return _GRAMMAR.read(line.text)


@dataclass(slots=True)
class Facts:
    """Values by column as they are printed, with their lines."""

    values: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    """Labels that no column is declared for."""
    changed: list[str] = field(default_factory=list)
    """Labels whose values changed during the interval."""

    def take(self, block: Sequence[Line], width: int, out: Out) -> None:
        """Take the lines of labels and values of one page; `width` is that of its widest line."""
        said = [_Said(line, label_line(line)) for line in block]
        pairs = [pair for _, what in said for pair in what.pairs]
        edges = _right_edges(pairs)
        furthest = max((pair.label_column for pair in pairs), default=0)
        for line, what in said:
            for text in what.rest:
                out.unknown(line.no, text)
            for pair in what.pairs:
                last = pair.end >= len(line.text)
                at_edge = pair.end == width or (pair.label in _FIRST_LINE and pair.end < furthest)
                before_edge = any(pair.end < edge <= pair.end + _LONGEST_COUNT for edge in edges)
                self._take(line, pair, last=last, ends_early=last and (at_edge or before_edge), out=out)

    def _take(self, line: Line, pair: Pair, *, last: bool, ends_early: bool, out: Out) -> None:
        text = pair.value.removesuffix(_CHANGED).rstrip()
        if not pair.known and not _SHORT_LABEL.fullmatch(pair.label):
            out.unknown(line.no, f"{pair.label}  {pair.value}")
            return
        if not text:
            return
        if not _is_whole(pair.label, text, last=last, ends_early=ends_early):
            problem = (
                f"{shown(text)} is no whole value of {pair.label}, the line may be cut; the column is null"
            )
            out.issue(Code.BAD_VALUE, problem, line.no, pair.column, field=pair.label, table=TABLE)
            return
        if pair.value.endswith(_CHANGED) and pair.label not in self.changed:
            self.changed.append(pair.label)
        column = _COLUMNS[pair.label] if pair.known else pair.label
        known = self.values if pair.known else self.extra
        if known.setdefault(column, text) != text:
            problem = (
                f"{pair.label} is {shown(text)} here and {shown(known[column])} before; the first is kept"
            )
            out.issue(Code.BAD_VALUE, problem, line.no, pair.column, field=pair.label, table=TABLE)
        elif pair.known:
            self.lines.setdefault(column, line.no)


def _is_whole(label: str, text: str, *, last: bool, ends_early: bool) -> bool:
    if form := _FIXED.get(label) or _FREE.get(label):
        matches = re.fullmatch(form, text, re.ASCII | re.IGNORECASE) is not None
        if label in _FIXED or not matches:
            return matches
    words = _WORDS.get(label, ())
    if text.upper() in {*words, "YES", "NO", "N/A", "DYNAMIC"}:
        return True
    if last and (label in _FOLLOWED or any(word.startswith(text.upper()) for word in words)):
        return False
    return not ends_early


def _right_edges(pairs: Iterable[Pair]) -> list[int]:
    """Where several values end, so that one which is the last of its line and ends before was cut."""
    ends = Counter(pair.end for pair in pairs if not pair.empty)
    return [edge for edge, count in ends.items() if count > 1]
