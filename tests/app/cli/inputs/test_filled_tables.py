"""The tables that an inventory names are those that have rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from zscope.app.cli.commands.inventory import filled_tables
from zscope.parsers import inventory, read
from zscope.schemas.reports import report_tables

SAMPLES = Path(__file__).parents[4] / "sample-data"
REPORTS = sorted(
    path
    for path in (*SAMPLES.glob("reports/*"), *SAMPLES.glob("world/[!s]*/*"), *SAMPLES.glob("systems/*/**/*"))
    if path.is_file() and path.suffix != ".smf"
)


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.name)
def test_reports_fill_the_tables_that_their_names_stand_for(path: Path) -> None:
    tables = read(path, tuple(report_tables()))
    filled = {name for name in report_tables() if tables[name].num_rows}
    assert filled_tables(inventory(path).rows) == filled


def test_there_are_reports_of_most_tables() -> None:
    filled = frozenset[str]().union(*(filled_tables(inventory(path).rows) for path in REPORTS))
    assert len(filled) > 20
