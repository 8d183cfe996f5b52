"""Supplied figures that come again: what the command line says about them belongs to what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.pipelines.ingest.comparing import statuses
from tests.pipelines.stores import load, queried

from zscope.parsers.options import ReadOptions
from zscope.pipelines.ingest import IngestOptions, row_selection

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "ztpf_series"
LINES = "time,ecbs_in_use,active\n0,62,9\n1,1480,9\n"


def said(**options: Any) -> IngestOptions:  # noqa: ANN401
    return IngestOptions(selection=row_selection(None), read_options=ReadOptions(**options))


@pytest.fixture
def flood(tmp_path: Path) -> Path:
    path = tmp_path / "flood.csv"
    path.write_text(LINES)
    return path


def test_same_file_with_same_options_is_repeated(flood: Path, tmp_path: Path) -> None:
    store, how = tmp_path / "store", said(run="on", mapping=(("ecbs_in_use", "active"),))
    assert statuses(load(store, flood, how=how)) == ["loaded"]
    assert statuses(load(store, flood, how=how)) == ["repeated"]
    assert queried(store, f"SELECT count(*) FROM {TABLE}") == [(2,)]


@pytest.mark.deep
@pytest.mark.parametrize(
    "other",
    [
        {"run": "on"},
        {"mapping": (("ecbs_in_use", "active"),)},
        {"time_format": "milliseconds"},
    ],
    ids=lambda other: next(iter(other)),
)
def test_same_file_with_other_options_is_loaded(flood: Path, tmp_path: Path, other: dict[str, Any]) -> None:
    store = tmp_path / "store"
    assert statuses(load(store, flood)) == ["loaded"]
    assert statuses(load(store, flood, how=said(**other))) == ["loaded"]
    assert statuses(load(store, flood)) == ["repeated"]
    assert statuses(load(store, flood, how=said(**other))) == ["repeated"]


def test_measurements_of_two_runs_are_both_stored(flood: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    for run in ("off", "on"):
        load(store, flood, how=said(run=run))
    assert queried(store, f"SELECT run, series, count(*) FROM {TABLE} GROUP BY ALL ORDER BY 1") == [
        ("off", "off", 2),
        ("on", "on", 2),
    ]


def test_grown_series_replaces_its_beginning(flood: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    load(store, flood)
    flood.write_text(LINES + "2,70,9\n")
    load(store, flood)
    assert queried(store, f"SELECT load_id, sample_no FROM {TABLE} ORDER BY ALL") == [(2, 0), (2, 1), (2, 2)]


def test_measurements_without_a_time_are_loaded(tmp_path: Path) -> None:
    store, path = tmp_path / "store", tmp_path / "links.csv"
    path.write_text(
        "userid,period_s,tcpu_s\nRSCS,600,269.9\n\nmessage_bytes,cipher,round_trip_us\n64,NONE,5\n"
    )
    report = load(store, path, how=said(run="case-2a", system="VMA"))
    assert statuses(report) == ["loaded"]
    assert queried(store, "SELECT run, system, userid, tcpu_s FROM zvm_user") == [
        ("case-2a", "VMA", "RSCS", 269.9)
    ]
    assert queried(store, "SELECT run, cipher, measured_utc FROM mq_round_trip") == [
        ("case-2a", "none", None)
    ]
