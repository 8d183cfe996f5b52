"""Rows of a shape that was read before are the rows that are read without any memory."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from tests.marking import deep_except
from tests.parsers.text.faults.silent_losses import SAMPLE_DATA, content_of

from zscope.parsers.text.printed_cells import cells_of
from zscope.parsers.text.rmf.cpu import CP_KIND, CP_TOTAL_KIND, OTHER_CPU_KIND, THREAD_KIND, cpu_layout
from zscope.parsers.text.rmf.partition import partition_layout, read_row, row_in
from zscope.parsers.text.rmf.table_layout import TOUCHED_WORD, WORD, figures_in, figures_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_LISTINGS = ("reports/rmf-cpu.SYSB.txt", "world/rmf/rmf-cpu.SRV1.2026-03-09.txt")
_KINDS = ((CP_KIND, 0), (OTHER_CPU_KIND, 0), (CP_TOTAL_KIND, 1), (THREAD_KIND, 0))


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


@pytest.mark.parametrize("listing", _LISTINGS)
@pytest.mark.parametrize("count", deep_except([2], [2, 60]))
def test_rows_are_those_that_are_read_without_memory(listing: str, count: int) -> None:
    rows = 0
    for headings, line in _damaged(listing, count):
        if headings.startswith("NAME"):
            layout = partition_layout(headings)
            row = read_row(line, layout)
            assert row_in(line, layout) == row
            rows += row is not None and bool(row.figures.values)
        else:
            for kind, first in _KINDS:
                for word in (WORD, TOUCHED_WORD):
                    figures = figures_of(cells_of(line, word)[first:], cpu_layout(headings), kind)
                    assert figures_in(line, cpu_layout(headings), kind, word, first) == figures
                    rows += bool(figures.values)
    assert rows > 300
