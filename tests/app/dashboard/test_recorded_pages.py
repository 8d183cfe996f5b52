"""Recorded pages are what a browser shows, and have the figures of the statements about the sample data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from streamlit.testing.v1 import AppTest
from tests.app.changed_queries import ChangedQueries
from tests.app.dashboard.checked_statements import check_statements_of
from tests.app.dashboard.conftest import LONGEST_S, draw_page, fine
from tests.app.dashboard.recorded_pages import PageRecorder
from tests.pipelines.metrics.statement_stores import STORES, changed_store

from zscope.app.dashboard import shell
from zscope.app.dashboard.page_data import PageData
from zscope.app.dashboard.pages.overview.overview_page import STATEMENT_PAGES
from zscope.app.shared.filters import Filters

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from click.testing import Result


def test_statements_have_the_figures_of_their_evidence_their_pages_and_the_report(
    demo: tuple[Path, Result], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those about all other stores, in test_statements_on_pages.py."""
    check_statements_of("the sample data", demo, tmp_path_factory, monkeypatch)


def _drawn(name: str, parameters: Mapping[str, str]) -> AppTest:
    page = AppTest.from_function(draw_page, args=(name,), default_timeout=LONGEST_S)
    for parameter, value in parameters.items():
        page.query_params[parameter] = value
    page.run()
    fine(page)
    return page


@pytest.mark.parametrize("subject", ["price", "exposure", "certificates", "change", "coverage", "runs"])
def test_a_recorded_page_has_the_tables_and_tiles_of_the_drawn_one(
    subject: str, demo: tuple[Path, Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    with changed_store(demo[0], STORES["the sample data"]) as steps:
        queries = ChangedQueries(steps, demo[0], "demo")
        with monkeypatch.context() as patch:
            patch.setattr(shell, "queries_of", lambda *_: queries)
            drawn = _drawn(*STATEMENT_PAGES[subject])
        data = PageData(queries, "demo", Filters())
        recorded = PageRecorder(monkeypatch).page(*STATEMENT_PAGES[subject], data)
    assert recorded.tiles == [tile.value for tile in drawn.metric]
    # Pictures have recorded rows, too, and no table.
    listed = [([*map(str, columns)], rows) for columns, rows in recorded.tables]
    assert drawn.dataframe
    for frame in drawn.dataframe:
        columns = [*frame.proto.column_order] or [*frame.value.columns]
        of_columns = [rows for each, rows in listed if each == columns and len(rows) == len(frame.value)]
        known = {column: frame.value[column].notna().to_list() for column in columns}
        assert any(
            all([row[column] is not None for row in rows] == known[column] for column in columns)
            for rows in of_columns
        ), columns
