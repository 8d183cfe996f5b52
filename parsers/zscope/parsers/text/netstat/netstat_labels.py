"""Lines of labels and values, such as `DevNum: 4A00      ActDevNum: 4A02`, and the rows they fill.

Nothing depends on the columns of a line: they differ between releases, and tools remove blanks. A label ends
with its first colon, and a value ends before two blanks and the next label.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from zscope.parsers.issues import Code
from zscope.parsers.text.report_rows import quoted
from zscope.parsers.text.spelling import nearly
from zscope.schemas.reports import plain_label, report_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zscope.parsers.text.report_rows import ReportRows


class LabelValue(NamedTuple):
    """A label with its value, as printed."""

    label: str
    """Empty for text at the start of a line that has no label."""
    value: str
    """Empty if nothing follows the label."""


_CHUNK = re.compile(r"[^ ]+(?: [^ ]+)*")
"""Words with single blanks between them."""
_LABEL = re.compile(r"[A-Za-z][^:=]*")
"""A label and the blanks before its colon; only a label without such blanks is one."""
_EQUATION = re.compile(r" *([A-Za-z][^ :=]*(?: [^ :=]+)*) *=(?![^ ])(.*)")
_FAR_APART = re.compile(r"[^ ] {8}")
"""In a value, which has no trailing blanks."""
_DOUBTFUL = re.compile(r"[A-Za-z)]:(?![^ ])|  |[^ ]EZ[ZD]\d{4}I", re.ASCII)


def pairs_of(text: str) -> list[LabelValue]:
    """Return the labels of a line with their values; `label = value` counts as well.

    Text after a colon and one blank is the value, whatever it looks like; after more blanks the next label
    can follow. The time grows linearly with the length of the line, whatever its text.

    >>> pairs_of("  DevNum: 4A00   DevStatus: Not Active")
    [LabelValue(label='DevNum', value='4A00'), LabelValue(label='DevStatus', value='Not Active')]
    >>> pairs_of("  Inbound Packets   = 12"), pairs_of("  0029 x25519")
    ([LabelValue(label='Inbound Packets', value='12')], [LabelValue(label='', value='0029 x25519')])
    """
    text = text.expandtabs()
    if equation := _EQUATION.match(text):
        return [LabelValue(equation[1].rstrip(), equation[2].strip())]
    pairs: list[LabelValue] = []
    label, start, end = "", 0, 0
    for chunk in _CHUNK.finditer(text):
        if colon := _colon_of_label(chunk[0]):
            if label or end:
                pairs.append(LabelValue(label, text[start:end].strip()))
            label, start = chunk[0][:colon].rstrip(), chunk.start() + colon + 1
        end = chunk.end()
    if label or end:
        pairs.append(LabelValue(label, text[start:end].strip()))
    return pairs


def _colon_of_label(chunk: str) -> int:
    """Return where the label with which a chunk begins has its colon; 0 if it begins with none."""
    name = _LABEL.match(chunk)
    if name is None or name[0].endswith(" "):
        return 0
    colon = name.end()
    return colon if chunk[colon : colon + 2] in {":", ": "} else 0


def spreader(labels: Iterable[str]) -> Callable[[str], str]:
    """Return a function that restores two blanks before each of these labels where one is left, or none after
    a number or Yes or No: a line end is lost.

    >>> spreader(["Code Level"])("TRLE: X Code Level: 7")
    'TRLE: X  Code Level: 7'
    """
    known = "|".join(sorted((re.escape(label) for label in labels), key=len, reverse=True))
    squeezed = re.compile(
        rf"(?:(?<=[^ ]) |(?<= \d)|(?<=\d\d)|(?<= Yes)|(?<= No))(?=(?:{known}):(?![^ ]))", re.IGNORECASE
    )
    return lambda text: squeezed.sub("  ", text)


def doubtful(value: str) -> bool:
    """Return whether a value may contain the next label, or text that belongs to another one.

    >>> doubtful("NO PnetID: PRODNET1"), doubtful("EQENET     Status Ready"), doubtful("Not Active")
    (True, True, False)
    """
    return _DOUBTFUL.search(value) is not None


@dataclass(slots=True)
class NetstatRow:
    """A row while its lines are read: printed texts by column, and the labels without a column."""

    table: str
    line: int
    """Number of the first line."""
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    extra: dict[str, list[str]] = field(default_factory=dict)

    def put(self, column: str, value: str | None, line: int) -> None:
        """Set a column."""
        self.values[column] = value
        self.lines[column] = line

    def keep(self, label: str, value: str) -> None:
        """Store a label without a column; values of a repeated label are joined."""
        self.extra.setdefault(label, []).append(value)

    def take(self, out: ReportRows, column: str, pair: LabelValue, line: int) -> None:
        """Set a column from a label, unless the value may contain more than its own text."""
        if doubtful(pair.value):
            self.refuse(out, pair, line, "seems to contain more than the value")
        else:
            self.put(column, pair.value, line)

    def refuse(self, out: ReportRows, pair: LabelValue, line: int, why: str) -> None:
        """Store a doubtful value in `extra` instead of the column of its label, and report it."""
        self.keep(*pair)
        problem = f"{quoted(pair.value)} {why}; the column is null"
        out.issue(Code.BAD_VALUE, problem, line, field=pair.label, table=self.table)

    def write(self, out: ReportRows) -> None:
        """Write the row."""
        self._report_misspelt(out)
        self._report_joined(out)
        extra = {label: ", ".join(values) for label, values in self.extra.items()}
        out.row(self.table, self.line, self.values, extra, self.lines)

    def _report_joined(self, out: ReportRows) -> None:
        """Report values of unknown labels that have two texts far apart: those of two lines."""
        known = report_table(self.table).by_label()
        for label, values in self.extra.items():
            # What is stored of a known label was refused, and reported.
            for value in filter(_FAR_APART.search, () if plain_label(label) in known else values):
                problem = f"{quoted(value)} has two texts that are far apart: a line end may be missing"
                out.issue(Code.BAD_VALUE, problem, self.line, field=label[:60], table=self.table)

    def _report_misspelt(self, out: ReportRows) -> None:
        """Report unknown labels that resemble one that the row lacks, or end with it: a line end is lost."""
        for label in self.extra:
            above, _, own = label.rpartition(".")
            plain = plain_label(own)
            if above and plain_label(above) not in report_table(self.table).by_label():
                continue  # A label of a part without columns.
            if misspelt := _misspelt(self.table, plain, frozenset(self.values)):
                problem = (
                    f"the label {quoted(label)} is unknown, and {misspelt} is missing; its value is in "
                    "`extra`: correct the label if it is damaged"
                )
                out.issue(Code.UNKNOWN_COLUMN, problem, self.line, field=label[:60], table=self.table)


@lru_cache(maxsize=4096)
def _misspelt(table: str, plain: str, present: frozenset[str]) -> str | None:
    """Return the label without a value that an unknown label resembles."""
    known = report_table(table).by_label()
    if plain in known:
        return None
    missing = {label: printed.label for label, printed in known.items() if printed.column not in present}
    near = nearly(plain, missing) or next(
        (label for label in missing if _VALUE_BEFORE.fullmatch(plain.removesuffix(label)) is not None), None
    )
    return missing[near] if near else None


_VALUE_BEFORE = re.compile(r"YES|NO|ON|OFF|N/A|.*\d")
"""A value to which the label of the next line was joined."""
