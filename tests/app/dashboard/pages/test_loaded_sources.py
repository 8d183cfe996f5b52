"""What is loaded of each source, on the page about the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.app.dashboard.conftest import Open, words
from tests.app.dashboard.page_helpers import sql
from tests.sample_stores import SAMPLE

from zscope.app.dashboard.table_roles import data_kinds
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.store.parquet_files import data_tables

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

SOURCES = {"quality_part": "Sources"}


def by_source(page: AppTest) -> Any:  # noqa: ANN401 - a frame of pandas
    [rows] = [frame.value for frame in page.dataframe if "behind_s" in frame.value.columns]
    return rows.set_index("source")


def test_sources_have_counts_and_their_newest_data(drawn_page: Open, world: Path) -> None:
    page = drawn_page("quality", world, SOURCES)
    rows = by_source(page)
    [(records,)] = sql(
        world, "SELECT sum(records) FROM load_kind WHERE record_type = 119 AND record_subtype = 11"
    )
    [(stored,)] = sql(
        world,
        """
        SELECT (SELECT count(*) FROM smf119_zert_detail) + (SELECT count(*) FROM smf119_zert_dn)
            + (SELECT count(*) FROM smf119_zert_ssh) + (SELECT count(*) FROM smf119_zert_ipsec)
    """,
    )
    detail = rows.loc["zERT detail (SMF 119-11)"]
    assert (detail["records"], detail["rows"]) == (records, stored)
    assert rows["behind_s"].min() == 0
    [(newest,)] = sql(
        world, "SELECT max(interval_start_utc + to_milliseconds(interval_ms)) FROM cpu_interval"
    )
    assert abs((rows.loc["CPU (SMF 70-1)"]["newest"] - newest).total_seconds()) < 120
    assert "More than a day older than the newest data" in page.warning[0].value


def test_every_table_belongs_to_one_source() -> None:
    for table in data_tables():
        assert sum(table in kind.tables for kind in data_kinds()) == 1, table


@pytest.mark.deep
def test_without_a_time_zone_local_times_are_shown(open_page: Open, tmp_path: Path) -> None:
    ingest(
        tmp_path / "store",
        [SAMPLE / "reports" / "netstat.SYSA.2026-03-02.txt"],
        IngestOptions(selection=row_selection(None)),
    )
    page = open_page("quality", tmp_path / "store", SOURCES)
    assert "all times are local times" in words(page)
    assert by_source(page)["newest"].iloc[0].isoformat() == "2026-03-02T11:46:58+00:00"
