"""FCX112 USER from rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from zscope.parsers.text.zvm.table_write import Form, Group, Row, Table, WrittenColumn, pages

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
_LISTING = Table(
    "112",
    "USER",
    "General User Resource Utilization",
    WrittenColumn("userid", "Userid", 8),
    (*_FIGURES, WrittenColumn("", "Total", 6, 1), WrittenColumn("", "Rate", 6, 1)),
    (
        (Group("CPU Load", 0, 3), Group("Virtual IO/s", 4, 8), Group("Spool", 9, 10)),
        (Group("Seconds", 1, 2), Group("T/V", 3, 3, brackets=False)),
    ),
)
_SCREEN = replace(
    _LISTING,
    columns=(*_FIGURES, WrittenColumn("user_status", "User Status", 15)),
    groups=(_LISTING.groups[0][:2], _LISTING.groups[1]),
)


def user_pages(rows: Sequence[Row], form: Form) -> list[list[str]]:
    """The pages of the report on the virtual machines of one period."""
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
