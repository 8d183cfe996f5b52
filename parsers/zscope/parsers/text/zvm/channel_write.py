"""FCX215 FCHANNEL from rows."""

from __future__ import annotations

from collections.abc import Sequence

from zscope.parsers.text.zvm.table_write import Form, Group, Row, Table, WrittenColumn, pages

_TABLE = Table(
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
        (Group("FICON Channel Utilization %", 1, 7), Group("Total Data", 8, 9)),
        (
            Group("Total for System", 1, 4),
            Group("Own Partition", 5, 7),
            Group("Transfer Rate", 8, 9, brackets=False),
        ),
        (
            Group("Bus", 1, 1, brackets=False),
            Group("Work", 2, 2, brackets=False),
            Group("Data Units", 3, 4),
            Group("Work", 5, 5, brackets=False),
            Group("Data Units", 6, 7),
            Group("(Bytes/s)", 8, 9),
        ),
    ),
)
_SHARED = {True: "Yes", False: "No", None: None}


def channel_pages(rows: Sequence[Row], form: Form) -> list[list[str]]:
    """The pages of the report on the channel paths of one period."""
    return pages(_TABLE, [{**row, "shared": _SHARED[row.get("shared")]} for row in rows], form)
