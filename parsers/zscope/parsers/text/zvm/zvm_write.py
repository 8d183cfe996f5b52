"""Write listings and screens from rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from zscope.parsers.text.zvm.zvm_columns import print_figure

Row = Mapping[str, Any]
"""Values by column as in the tables; None and missing values are printed as no value."""
_KEYS = "F1=Help  F4=Top  F5=Bot  F7=Bkwd  F8=Fwd  F12=Return"


@dataclass(frozen=True, slots=True)
class ZvmPrintForm:
    """How a report is printed."""

    screen: bool = False
    """Print screens, not a listing."""
    page_rows: int = 50
    wider: int = 0
    """How many characters wider than usual each column is, for figures with more digits."""
    run: datetime | None = None
    """Time at which the listing was printed; None means an hour after the period."""
    cpu: str = "2964"
    serial: str = "51524"


@dataclass(frozen=True, slots=True)
class WrittenColumn:
    """A column of figures or words."""

    name: str
    """Column of the table; empty if it is printed without values."""
    heading: str
    width: int
    decimals: int | None = None
    """None for words."""


@dataclass(frozen=True, slots=True)
class ColumnGroup:
    """A title over some columns, given by their indexes."""

    title: str
    first: int
    last: int
    brackets: bool = True


@dataclass(frozen=True, slots=True)
class ZvmTable:
    """The form of a kind of report."""

    number: str
    title: str
    subtitle: str
    key: WrittenColumn
    columns: tuple[WrittenColumn, ...]
    groups: tuple[tuple[ColumnGroup, ...], ...]
    """The titles of each line above the last heading line."""


def pages(
    table: ZvmTable, rows: Sequence[Row], form: ZvmPrintForm, average: Row | None = None, title: str = ""
) -> list[list[str]]:
    """Return the pages of a report, whose rows have the same period.

    A listing has a row with an average and a title above the rows.
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


def _listing_heading(table: ZvmTable, start: datetime, seconds: int, form: ZvmPrintForm) -> list[str]:
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


def _screen_heading(table: ZvmTable, start: datetime, seconds: int, form: ZvmPrintForm) -> list[str]:
    end = start + timedelta(seconds=seconds)
    period = f"Interval {start:%H:%M:%S} - {end:%H:%M:%S}"
    number = f"FCX{table.number}"
    return [f"{number:<12}CPU {form.cpu}  SER {form.serial}  {period}    Perf. Monitor", ""]


def _headings(table: ZvmTable, form: ZvmPrintForm) -> list[str]:
    ends = _ends(table, form)
    lines = [_groups(line, table, form, ends) for line in table.groups]
    words = [column.heading.rjust(_width(column, form)) for column in table.columns]
    return [*lines, f"{table.key.heading:<{table.key.width}}{''.join(words)}"]


def _groups(groups: Sequence[ColumnGroup], table: ZvmTable, form: ZvmPrintForm, ends: Sequence[int]) -> str:
    line = ""
    for group in groups:
        begin = ends[group.first] - _width(table.columns[group.first], form) + 1
        width = ends[group.last] - begin
        title = f" {group.title} " if len(group.title) + 6 <= width else group.title
        text = f"<{title.center(width - 2, '-')}>" if group.brackets else title.strip().rjust(width)
        line = f"{line.ljust(begin)}{text}"
    return line


def _ends(table: ZvmTable, form: ZvmPrintForm) -> list[int]:
    ends = [table.key.width]
    for column in table.columns:
        ends.append(ends[-1] + _width(column, form))
    return ends[1:]


def _width(column: WrittenColumn, form: ZvmPrintForm) -> int:
    return column.width + form.wider


def _line(table: ZvmTable, row: Row, form: ZvmPrintForm) -> str:
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


_TABLE = ZvmTable(
    "215",
    "FCHANNEL",
    "FICON Channel Load",
    WrittenColumn("chpid", "ID", 2),
    (
        WrittenColumn("shared", "Shrd", 6),
        WrittenColumn("bus_cycle_pct", "Cycle", 7, 0),
        WrittenColumn("work_units_pct", "Units", 7, 0),
        WrittenColumn("data_write_pct", "Write", 7, 0),
        WrittenColumn("data_read_pct", "Read", 7, 0),
        WrittenColumn("own_work_units_pct", "Units", 7, 0),
        WrittenColumn("own_data_write_pct", "Write", 7, 0),
        WrittenColumn("own_data_read_pct", "Read", 7, 0),
        WrittenColumn("write_bytes_per_s", "Write/s", 9, 1),
        WrittenColumn("read_bytes_per_s", "Read/s", 8, 1),
    ),
    (
        (ColumnGroup("FICON Channel Utilization %", 1, 7), ColumnGroup("Total Data", 8, 9)),
        (
            ColumnGroup("Total for System", 1, 4),
            ColumnGroup("Own Partition", 5, 7),
            ColumnGroup("Transfer Rate", 8, 9, brackets=False),
        ),
        (
            ColumnGroup("Bus", 1, 1, brackets=False),
            ColumnGroup("Work", 2, 2, brackets=False),
            ColumnGroup("Data Units", 3, 4),
            ColumnGroup("Work", 5, 5, brackets=False),
            ColumnGroup("Data Units", 6, 7),
            ColumnGroup("(Bytes/s)", 8, 9),
        ),
    ),
)
_SHARED = {True: "Yes", False: "No", None: None}


def channel_pages(rows: Sequence[Row], form: ZvmPrintForm) -> list[list[str]]:
    """Return the pages of FCX215 FCHANNEL, the channel paths of one period."""
    return pages(_TABLE, [{**row, "shared": _SHARED[row.get("shared")]} for row in rows], form)


_FIGURES = (
    WrittenColumn("cpu_pct", "%CPU", 6, 2),
    WrittenColumn("tcpu_s", "TCPU", 6, 3),
    WrittenColumn("vcpu_s", "VCPU", 6, 3),
    WrittenColumn("tv_ratio", "Ratio", 6, 1),
    WrittenColumn("virtual_io_per_s", "Total", 6, 1),
    WrittenColumn("", "DASD", 6, 1),
    WrittenColumn("", "Avoid", 6, 1),
    WrittenColumn("", "Diag98", 7, 1),
    WrittenColumn("", "UR", 5, 1),
)
_LISTING = ZvmTable(
    "112",
    "USER",
    "General User Resource Utilization",
    WrittenColumn("userid", "Userid", 8),
    (*_FIGURES, WrittenColumn("", "Total", 6, 1), WrittenColumn("", "Rate", 6, 1)),
    (
        (ColumnGroup("CPU Load", 0, 3), ColumnGroup("Virtual IO/s", 4, 8), ColumnGroup("Spool", 9, 10)),
        (ColumnGroup("Seconds", 1, 2), ColumnGroup("T/V", 3, 3, brackets=False)),
    ),
)
_SCREEN = replace(
    _LISTING,
    columns=(*_FIGURES, WrittenColumn("user_status", "User Status", 15)),
    groups=(_LISTING.groups[0][:2], _LISTING.groups[1]),
)


def user_pages(rows: Sequence[Row], form: ZvmPrintForm) -> list[list[str]]:
    """Return the pages of FCX112 USER, the virtual machines of one period."""
    if form.screen:
        return pages(_SCREEN, rows, form)
    return pages(_LISTING, rows, form, _mean(rows), "User Data:")


def _mean(rows: Sequence[Row]) -> Row:
    means = {}
    for column in _FIGURES:
        values = [row[column.name] for row in rows if row.get(column.name) is not None]
        if values:
            means[column.name] = sum(values) / len(values)
    return {"userid": ">>Mean>>", **means}
