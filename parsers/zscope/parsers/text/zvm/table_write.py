"""Listings and screens from rows: headings over columns, pages, what a screen has around a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from zscope.parsers.text.zvm.figures import print_figure

Row = Mapping[str, Any]
"""Values by column as in the tables; what is None or missing is printed as no value."""
_KEYS = "F1=Help  F4=Top  F5=Bot  F7=Bkwd  F8=Fwd  F12=Return"


@dataclass(frozen=True, slots=True)
class Form:
    """How a report is printed."""

    screen: bool = False
    """As screens, not as a listing."""
    page_rows: int = 50
    wider: int = 0
    """How many characters more than usual each column has, so that its figures have more digits."""
    run: datetime | None = None
    """When the listing was made; else an hour after the period."""
    cpu: str = "2964"
    serial: str = "51524"


@dataclass(frozen=True, slots=True)
class WrittenColumn:
    """A column of figures or words."""

    name: str
    """In the table; empty for one that is printed without values."""
    heading: str
    width: int
    decimals: int | None = None
    """None for words."""


@dataclass(frozen=True, slots=True)
class Group:
    """A title over some columns, given by their numbers."""

    title: str
    first: int
    last: int
    brackets: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """What a kind of report looks like."""

    number: str
    title: str
    subtitle: str
    key: WrittenColumn
    columns: tuple[WrittenColumn, ...]
    groups: tuple[tuple[Group, ...], ...]
    """Those of each line above the last one of the headings."""


def pages(
    table: Table, rows: Sequence[Row], form: Form, average: Row | None = None, title: str = ""
) -> list[list[str]]:
    """The pages of a report, all rows of which are of one period.

    A listing has a row with an average and a title above them.
    """
    start, seconds = rows[0]["interval_start_local"], int(rows[0]["period_s"])
    if form.screen:
        top = [*_screen_heading(table, start, seconds, form), *_headings(table, form)]
        lines, below = [], ["", "Command ===>", _KEYS]
    else:
        top = [*_listing_heading(table, start, seconds, form), *_headings(table, form)]
        lines, below = [_line(table, average, form)] if average else [], []
        lines += [title] if title else []
    lines += [_line(table, row, form) for row in rows]
    parts = range(0, len(lines), form.page_rows)
    return [[*top, *lines[at : at + form.page_rows], *below] for at in parts]


def _listing_heading(table: Table, start: datetime, seconds: int, form: Form) -> list[str]:
    end = start + timedelta(seconds=seconds)
    run = form.run or end + timedelta(hours=1)
    width = len(_line(table, {}, form))
    return [
        f"FCX{table.number}  Run {run:%Y/%m/%d %H:%M:%S}         {table.title}",
        f"{'':40}{table.subtitle}",
        f"From {start:%Y/%m/%d %H:%M:%S}",
        f"To   {end:%Y/%m/%d %H:%M:%S}{'':20}CPU {form.cpu}  SN {form.serial}",
        f"For {seconds:>6} Secs {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}",
        "_" * width,
    ]


def _screen_heading(table: Table, start: datetime, seconds: int, form: Form) -> list[str]:
    end = start + timedelta(seconds=seconds)
    period = f"Interval {start:%H:%M:%S} - {end:%H:%M:%S}"
    number = f"FCX{table.number}"
    return [f"{number:<12}CPU {form.cpu}  SER {form.serial}  {period}    Perf. Monitor", ""]


def _headings(table: Table, form: Form) -> list[str]:
    ends = _ends(table, form)
    lines = [_groups(line, table, form, ends) for line in table.groups]
    words = [column.heading.rjust(_width(column, form)) for column in table.columns]
    return [*lines, f"{table.key.heading:<{table.key.width}}{''.join(words)}"]


def _groups(groups: Sequence[Group], table: Table, form: Form, ends: Sequence[int]) -> str:
    line = ""
    for group in groups:
        begin = ends[group.first] - _width(table.columns[group.first], form) + 1
        width = ends[group.last] - begin
        title = f" {group.title} " if len(group.title) + 6 <= width else group.title
        text = f"<{title.center(width - 2, '-')}>" if group.brackets else title.strip().rjust(width)
        line = f"{line.ljust(begin)}{text}"
    return line


def _ends(table: Table, form: Form) -> list[int]:
    ends = [table.key.width]
    for column in table.columns:
        ends.append(ends[-1] + _width(column, form))
    return ends[1:]


def _width(column: WrittenColumn, form: Form) -> int:
    return column.width + form.wider


def _line(table: Table, row: Row, form: Form) -> str:
    texts = [f"{row.get(table.key.name, ''):<{table.key.width}}"]
    for column in table.columns:
        width = _width(column, form)
        value = row.get(column.name) if column.name else None
        if column.decimals is None:
            text = "..." if value is None else str(value)
        else:
            text = print_figure(value, width - 1, column.decimals)
        texts.append(text.rjust(width))
    return "".join(texts)
