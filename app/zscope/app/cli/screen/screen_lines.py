"""Compose the screen with the answers: a heading and a command for each part, and aligned lines below.

Amounts, names and shares are those of the figures (`drawn_values`), as dashboard and report write them. What
does not fit is left out from the right; an amount with its range and its status comes before what can be
left out.
"""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import TYPE_CHECKING, NamedTuple

from zscope.app.cli.screen.screen_declarations import AMOUNT, BAR, NAME, PARTS, names_in, screen_parts
from zscope.app.figures.drawn_values import amount_of, estimate_of, name_of, number_of, real, shares_of
from zscope.app.figures.figure_command import options_of
from zscope.app.figures.figure_rows import figure_rows
from zscope.app.report.report_facts import store_facts
from zscope.app.shared.plain_texts import one_line
from zscope.app.shared.shown_statements import STATEMENT, command_line, shown_sql
from zscope.app.shared.written_values import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zscope.app.cli.screen.screen_declarations import ScreenLine, ScreenPart
    from zscope.app.figures.figure_data import FigureData
    from zscope.app.figures.figure_rows import FigureRows, Row

UNKNOWN = "not known"
GAP = "  "
INDENT = "  "
_USUAL = (100, 40)
"""Columns and lines of an output that is no terminal."""
_WIDEST, _NARROWEST = 120, 40
"""Widths for which lines are composed, whatever the terminal has."""
_LONGEST = 400
"""Characters of a value; a longer one is cut."""
_MOST_SYSTEMS = 6
"""Systems that the first line names."""
_BAR = (10, 24)
"""The least and the most characters of a bar."""
_MOST_LINES = 2
"""Lines of a text below a row."""
_RULE = 2
"""The least length of the line before and after a heading."""
_DAY = "day"
_DAY_LENGTH = len("2026-03-02")
_NUMBER = re.compile(r"-?[<\d]")


class ScreenSigns(NamedTuple):
    """The characters of bars and lines, and what other characters are written as."""

    least: str
    most: str
    estimate: str
    rule: str
    written: Mapping[str, str]


BLOCKS = ScreenSigns("█", "░", "|", "─", {})
ASCII = ScreenSigns("#", ".", "|", "-", {"·": "-", "…": "..."})
"""The signs for a terminal that cannot show blocks."""


def signs_for(encoding: str) -> ScreenSigns:
    """Return the signs that an encoding has.

    >>> signs_for("utf-8") is BLOCKS, signs_for("iso-8859-1") is ASCII
    (True, True)
    """
    try:
        "".join((*BLOCKS[:4], *ASCII.written)).encode(encoding)
    except UnicodeEncodeError:
        return ASCII
    return BLOCKS


class BarRange(NamedTuple):
    """What a bar shows, in the unit of its column."""

    low: float
    value: float | None
    high: float


@dataclass(frozen=True, slots=True)
class ScreenRow:
    """A row of a part."""

    cells: tuple[str, ...]
    bar: BarRange | None = None
    """The range of the cell that is the bar."""
    below: str = ""


def screen_lines(data: FigureData, store: str, width: int, signs: ScreenSigns = BLOCKS) -> list[str]:
    """Return the lines of the screen for the filters of the data; `store` is the name that it shows."""
    width = max(_NARROWEST, min(width, _WIDEST))
    filled: dict[str, bool] = {}
    said: dict[str, list[str]] = {}
    lines = textwrap.wrap(_title(data, store), width)
    for part in screen_parts():
        found = {line.figure: figure_rows(data, line.declared, filled) for line in part.lines}
        rows = [row for line in part.lines for row in _rows(line, found[line.figure])]
        lines += _heading(part, data, found, width, signs)
        if rows:
            lines += _aligned(rows, width, signs)
        else:
            lines += _folded(_reason(part, data, found, said), width, INDENT)
    table = str.maketrans(dict(signs.written))
    return [line.translate(table) for line in lines]


def screen_text(data: FigureData, store: str) -> str:
    """Return the screen for standard output: its width, and only characters that it can show."""
    encoding = sys.stdout.encoding or "ascii"
    lines = screen_lines(data, store, shutil.get_terminal_size(_USUAL).columns, signs_for(encoding))
    return "\n".join(lines).encode(encoding, "replace").decode(encoding)


def _title(data: FigureData, store: str) -> str:
    """The store, its period and systems, and whether something in it is synthetic."""
    facts = store_facts(data)
    first, last = facts["first_local"], facts["last_local"]
    days = f"{str(first)[:_DAY_LENGTH]} to {str(last)[:_DAY_LENGTH]}" if first else "nothing with a time"
    names = (facts["systems"] or "").split(", ")
    systems = facts["systems"] if len(names) <= _MOST_SYSTEMS else f"{len(names)} systems"
    synthetic = "SYNTHETIC runs" if facts["synthetic"] else ""
    return " · ".join(filter(None, (store, days, systems or "no system", data.filters.words(), synthetic)))


def _heading(
    part: ScreenPart, data: FigureData, found: Mapping[str, FigureRows], width: int, signs: ScreenSigns
) -> list[str]:
    """The heading of a part with what it leaves out, and at the right its command."""
    more = [
        f"first {line.first} of {found[line.figure].count:,}"
        for line in part.lines
        if line.declared.chart is None or line.declared.chart.kind != "shares"
        if found[line.figure].count > line.first
    ]
    ignored = dict.fromkeys(name for each in found.values() for name in each.ignored)
    notes = [*dict.fromkeys(more), *([f"not filtered by {', '.join(ignored)}"] if ignored else [])]
    bars = f"{signs.least} at least {signs.most} at most {signs.estimate} estimate"
    text = " · ".join((part.heading, *notes, *([bars] if part.legend else [])))
    first = found[part.lines[0].figure]
    command = command_line([*part.command.split(), *options_of(data.filters, first)])
    head = f"{signs.rule * _RULE} {text} "
    room = width - len(head) - len(command) - 1
    if room >= _RULE:
        return [f"{head}{signs.rule * room} {command}"]
    return [*textwrap.wrap(head.strip(), width), f"{INDENT}{command}"]


def _rows(line: ScreenLine, found: FigureRows) -> Iterator[ScreenRow]:
    chart = found.figure.chart
    if chart is not None and chart.kind == "shares":
        rows: list[Row] = [
            {NAME: name, PARTS: " · ".join(f"{word} {number_of(value)}" for word, value in parts.items())}
            for name, parts in shares_of(chart, found.rows).items()
        ]
    else:
        rows = list(found.rows)
    for row in rows[: line.first]:
        drawn = dict(row)
        if chart is not None and chart.kind in {"ranges", "list", "bars"}:
            drawn |= {NAME: name_of(chart, row), AMOUNT: amount_of(chart, row)}
        bar = None
        if chart is not None and f"{{{BAR}}}" in line.cells and row[chart.high] is not None:
            bar = BarRange(real(row[chart.low]), estimate_of(chart, row), real(row[chart.high]))
        below = _text(line.below, drawn)
        if drawn.get(AMOUNT) == UNKNOWN and line.reason:
            below = shown(row[line.reason])
        yield ScreenRow(tuple(_text(cell, drawn) for cell in line.cells), bar, below)


def _text(template: str, row: Row) -> str:
    """A text with the values of a row; without one of them it is not known."""
    if any(row.get(name) is None for name in names_in(template) if name != BAR):
        return UNKNOWN
    parts = []
    for words, name, spec, _ in Formatter().parse(template):
        parts.append(words)
        if name == BAR:
            parts.append(f"{{{BAR}}}")
        elif name:
            value = one_line(shown(row[name], name), _LONGEST)
            parts.append(value[:_DAY_LENGTH] if spec == _DAY else value)
    return "".join(parts)


def _aligned(rows: Sequence[ScreenRow], width: int, signs: ScreenSigns) -> list[str]:
    """The lines of rows whose cells begin below each other; a row of one cell is a sentence."""
    tabled = [row for row in rows if len(row.cells) > 1]
    longest = max((len(row.cells) for row in tabled), default=0)
    columns = [[row.cells[at] if at < len(row.cells) else "" for row in tabled] for at in range(longest)]
    bar_at = next((at for at, cells in enumerate(columns) if f"{{{BAR}}}" in cells), None)
    widths = [0 if at == bar_at else max(map(len, cells)) for at, cells in enumerate(columns)]
    kept = [at for at in range(longest) if at != bar_at]
    while len(kept) > 1 and _needed(kept, widths) > width:
        # The first two columns name the row and have its amount.
        if len(kept) > _FIXED:
            kept.pop()
        else:
            _narrow(kept, widths, width)
            break
    room = width - _needed(kept, widths) - len(GAP)
    if bar_at is not None and room >= _BAR[0]:
        kept = sorted([*kept, bar_at])
        widths[bar_at] = min(room, _BAR[1])
    right = [all(_NUMBER.match(cell) or cell in {"", UNKNOWN} for cell in cells) for cells in columns]
    most = max((row.bar.high for row in tabled if row.bar), default=0.0)
    lines = []
    for row in rows:
        if len(row.cells) == 1:
            lines += _folded(row.cells[0], width, INDENT)
            continue
        texts, rest = [], []
        for at in kept:
            cell = row.cells[at] if at < len(row.cells) else ""
            if at == bar_at:
                texts.append(_bar(row.bar, most, widths[at], signs) if cell else " " * widths[at])
            else:
                if at == kept[-1]:
                    cell, *rest = _folded_cell(cell, widths[at])
                text = _cut(cell, widths[at])
                texts.append(text.rjust(widths[at]) if right[at] else text.ljust(widths[at]))
        line = f"{INDENT}{GAP.join(texts)}".rstrip()
        if not rest and row.below and len(line) + len(GAP) + len(row.below) <= width:
            lines.append(f"{line}{GAP}{row.below}")
        else:
            begin = " " * (_needed(kept[:-1], widths) + len(GAP))
            lines += [line, *(f"{begin}{each}" for each in rest)]
            lines += _folded(row.below, width, INDENT * 2)[:_MOST_LINES]
    return lines


_FIXED = 3
"""Columns that are never left out: the name, the amount, and its status."""
_DOT = " · "
_LEAST_FOLDED = 24
"""Characters of a column whose texts are folded."""


def _needed(kept: Sequence[int], widths: Sequence[int]) -> int:
    return len(INDENT) + sum(widths[at] for at in kept) + len(GAP) * (len(kept) - 1)


def _narrow(kept: Sequence[int], widths: list[int], width: int) -> None:
    """Make the last column narrower, whose texts go on in the next line; if that is too little, the first."""
    last = kept[-1]
    too_wide = _needed(kept, widths) - width
    taken = max(0, min(too_wide, widths[last] - _LEAST_FOLDED))
    widths[last] -= taken
    widths[kept[0]] -= too_wide - taken


def _folded_cell(text: str, width: int) -> list[str]:
    """The lines of a cell, which do not begin in the middle of what stands between dots.

    >>> _folded_cell("agrees 1 · no data 28", 15)
    ['agrees 1 ·', 'no data 28']
    """
    parts = text.split(_DOT)
    kept_together = _DOT.join(part.replace(" ", "\xa0") for part in parts) if len(parts) > 1 else text
    return [line.replace("\xa0", " ") for line in textwrap.wrap(kept_together, max(1, width))] or [""]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(0, width - 1)]}…"


def _bar(bar: BarRange | None, most: float, width: int, signs: ScreenSigns) -> str:
    """The range of a row, of which the longest takes the whole width.

    >>> _bar(BarRange(2.0, 5.0, 8.0), 16.0, 16, ASCII)
    '##...|..        '
    """
    if bar is None or not most:
        return " " * width
    low, high = round(width * bar.low / most), max(1, round(width * bar.high / most))
    drawn = list(signs.least * low + signs.most * (high - low))
    if bar.value is not None:
        drawn[min(len(drawn) - 1, int(width * bar.value / most))] = signs.estimate
    return "".join(drawn).ljust(width)


def _folded(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _reason(
    part: ScreenPart, data: FigureData, found: Mapping[str, FigureRows], said: dict[str, list[str]]
) -> str:
    """Why a part has no rows: what the statements of its subject say, or what its figure needs."""
    if part.subject and not said:
        for each in data.found(STATEMENT, shown_sql("found")).to_pylist():
            said.setdefault(each["subject"], []).append(each["sentence"])
    if sentences := said.get(part.subject):
        return sentences[0]
    first = found[part.lines[-1].figure]
    if first.has_data and first.figure.none:
        return first.figure.none
    return f"{UNKNOWN.capitalize()}. {first.figure.needs}".strip()
