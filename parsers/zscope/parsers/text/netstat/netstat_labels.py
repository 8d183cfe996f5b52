"""Lines of labels and values, such as `DevNum: 4A00      ActDevNum: 4A02`, and the rows they fill.

Nothing depends on the columns of a line: they differ between releases, and tools remove blanks. A label ends
with its first colon, and a value ends before two blanks and the next label.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from zscope.parsers.issues import Code
from zscope.parsers.text.report_rows import quoted

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
_DOUBTFUL = re.compile(r"(?<![^ ])[A-Za-z][^ :]*:(?![^ ])|  ")


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
    """Return a function that restores two blanks before each of these labels where only one is left.

    >>> spreader(["Code Level"])("TRLE: X Code Level: 7")
    'TRLE: X  Code Level: 7'
    """
    known = "|".join(sorted((re.escape(label) for label in labels), key=len, reverse=True))
    squeezed = re.compile(rf"(?<=[^ ]) (?=(?:{known}):(?![^ ]))", re.IGNORECASE)
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
        extra = {label: ", ".join(values) for label, values in self.extra.items()}
        out.row(self.table, self.line, self.values, extra, self.lines)
