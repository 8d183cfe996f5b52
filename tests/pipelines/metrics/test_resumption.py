"""Resumption from displays of GSKSRVR that begin in the middle of the day, and from zERT."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
from tests.pipelines.stores import named_rows
from tests.sample_stores import WORLD

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.metrics import metric
from zscope.pipelines.metrics.metric_statements import statement
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

SINCE = " 26068 12:00:00"
"""The first display that is loaded; its counters began before."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The displays of the world from 13:00 of the first day on."""
    folder = tmp_path_factory.mktemp("displays")
    packed = (WORLD / "displays" / "syslog.txt.gz").read_bytes()
    lines = gzip.decompress(packed).decode().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if SINCE in line)
    (folder / "syslog.txt").write_text("".join(lines[first:]), encoding="utf-8")
    settings = Settings().merge(["+01:00"])
    options = IngestOptions(selection=row_selection(None), settings=settings)
    ingest(folder / "store", (folder / "syslog.txt",), options)
    return folder / "store"


def test_counts_from_before_the_data_are_in_no_sum(store: Path) -> None:
    with open_reader(store) as connection:
        found = named_rows(connection, statement(metric("resumption_rate"), ("source", "system")))
        displays = named_rows(
            connection,
            "SELECT system, sum(hits) AS hits, sum(added) AS added FROM gsk_cache_delta "
            "WHERE alone_because IS NULL GROUP BY system",
        )
    within = {row["system"]: row for row in found if row["basis"] == "between displays"}
    before = {row["system"]: row for row in found if row["basis"] == "since reset"}
    assert before.keys() == within.keys() == {"SRV1", "SRV2"}
    assert all(row["resumed_handshakes"] > 0 for row in before.values())
    for row in displays:
        counted = within[row["system"]]
        assert (counted["resumed_handshakes"], counted["full_handshakes"]) == (row["hits"], row["added"])
    # Together they would be another share.
    srv2 = [row["resumed_pct"] for row in (within["SRV2"], before["SRV2"])]
    assert abs(srv2[0] - srv2[1]) > 1


def test_the_interval_of_a_day_is_wider_than_that_of_single_handshakes(
    world_metrics: duckdb.DuckDBPyConnection,
) -> None:
    found = named_rows(world_metrics, "SELECT * FROM resumption_day")
    assert found
    for row in found:
        total = row["full_handshakes"] + row["resumed_handshakes"]
        assert row["resumed_pct"] == pytest.approx(100 * row["resumed_handshakes"] / total)
        assert row["peak_handshakes"] <= total
        # One or two networks of the world have nearly all handshakes.
        assert (row["low_pct"] is None) == (row["effective_networks"] < 3)
