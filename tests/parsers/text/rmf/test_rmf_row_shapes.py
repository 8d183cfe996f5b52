"""Rows of a shape that was read before are the rows that are read without any memory."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from tests.marking import deep_except
from tests.parsers.text.faults.silent_losses import SAMPLE_DATA, content_of

from zscope.parsers.issues import Issues
from zscope.parsers.text.captured_report import Line, Origin, ReportSource
from zscope.parsers.text.report_rows import FileRows, ReportRows
from zscope.parsers.text.rmf.cpu import (
    CP_KIND,
    CP_TOTAL_KIND,
    OTHER_CPU_KIND,
    THREAD_KIND,
    cpu_layout,
    cpu_row_shape,
)
from zscope.parsers.text.rmf.partition import partition_layout, partition_row_shape, read_row
from zscope.parsers.text.rmf.row_shapes import shape_of, shapes_of
from zscope.parsers.text.rmf.table_layout import figures_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.text.rmf.row_shapes import RowShape
    from zscope.parsers.text.rmf.table_layout import RowFigures

_LISTINGS = ("reports/rmf-cpu.SYSB.txt", "world/rmf/rmf-cpu.SRV1.2026-03-09.txt")
_CPU_KINDS = (CP_KIND, OTHER_CPU_KIND, CP_TOTAL_KIND, THREAD_KIND)


def _damaged(listing: str, count: int) -> Iterator[tuple[str, str]]:
    """Yield lines of a listing, without control characters, as they are and with other characters, each with
    the column headings above it.
    """
    chosen = random.Random(listing)
    headings = ""
    for line in (line[1:] for line in content_of(SAMPLE_DATA / listing).splitlines()):
        if line.startswith(("NUM  TYPE", "NAME ")):
            headings = line
        elif headings and line.strip():
            yield headings, line
            for _ in range(count):
                at = chosen.randrange(len(line) + 1)
                yield (
                    headings,
                    line[:at] + chosen.choice("0123456789 AZ*-.") + line[at + chosen.randrange(3) :],
                )


def _assert_same(table: str, line: str, shape: RowShape | None, figures: RowFigures) -> int:
    """Compare what the memory gives for a line with its figures; return 1 if it gives a row."""
    row = shape and shape.row_in(line)
    if row is None:
        return 0
    assert figures.problem is None
    sheet = FileRows({}, Issues(), "cpu.txt")
    values = {**figures.values, **figures.known}
    typed = ReportRows(sheet, Origin(ReportSource.TEXT)).typed(table, 1, values, figures.all_extra())
    assert {"line_no": 1, **row} == typed
    assert not sheet.issue_count
    return 1


@pytest.mark.parametrize("listing", _LISTINGS)
@pytest.mark.parametrize("count", deep_except([2], [2, 60]))
def test_rows_are_those_that_are_read_without_memory(listing: str, count: int) -> None:
    rows = 0
    for headings, line in _damaged(listing, count):
        if headings.startswith("NAME"):
            layout = partition_layout(headings)
            found, figures = partition_row_shape(shape_of(line), layout), read_row(line, layout)
            assert (found and found.kind) == (figures and figures.known["row_kind"])
            if found and figures:
                rows += _assert_same("rmf_partition", line, found.shape, figures)
        else:
            for kind in _CPU_KINDS:
                shape = cpu_row_shape(shape_of(line), cpu_layout(headings), kind)
                rows += _assert_same("rmf_cpu", line, shape, figures_in(line, cpu_layout(headings), kind))
    assert rows > 120


def test_a_value_that_cannot_be_is_read_by_itself() -> None:
    headings = (
        "NUM  TYPE    ONLINE    LPAR BUSY    MVS BUSY   PARKED          SHARE %       RATE     % VIA TPI"
    )
    good = " 1    IIP    100.00    12.00        12.48        0.00           100.0  HIGH"
    shape = cpu_row_shape(shape_of(good), cpu_layout(headings), OTHER_CPU_KIND)
    assert shape
    assert (shape.row_in(good) or {})["mvs_busy_pct"] == 12.48
    assert shape.same["cpu_type_name"] == "IIP"
    partitions = (
        "NAME     S BT    WGT   DEF  ACT  DEF    WLM%   NUM  TYPE  EFFECTIVE       TOTAL      "
        "EFFECTIVE    TOTAL  LPAR MGMT  EFFECTIVE  TOTAL"
    )
    row = (
        "SYSB     A None 2500     0  223  N N N   0.0    4    CP  00.14.57.300  00.15.00.000      "
        "24.93    25.00       0.05      16.62  16.67"
    )
    found = partition_row_shape(shape_of(row), partition_layout(partitions))
    assert found
    assert found.shape
    assert (found.shape.row_in(row) or {})["dispatch_ms"] == 900_000
    assert found.shape.row_in(row.replace("00.15.00.000", "00.75.00.000")) is None


@pytest.mark.parametrize("texts", [["a 1", "", "27"], ["a\n1", "27"]])
def test_shapes_of_lines_are_those_of_each_line(texts: list[str]) -> None:
    lines = [Line(number, text) for number, text in enumerate(texts, 1)]
    assert shapes_of(lines) == [shape_of(text) for text in texts]
