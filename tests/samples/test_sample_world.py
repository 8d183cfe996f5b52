"""The world in sample-data: small, and read without a warning; its bytes are those of `generate sample`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.samples.world_reading import contents

from zscope.parsers import Severity, read

SAMPLES = Path(__file__).resolve().parents[2] / "sample-data"
FOLDER = SAMPLES / "world"


def test_it_is_small() -> None:
    assert sum(map(len, contents(FOLDER).values())) < 4_250_000


def test_it_reads_without_a_warning_and_has_the_rows_in_its_manifest() -> None:
    tables = read(FOLDER)
    assert [str(issue) for issue in tables.issues if issue.severity > Severity.NOTE] == []
    expected = json.loads((FOLDER / "manifest.json").read_text(encoding="ascii"))["rows_by_table"]
    assert {name: tables[name].num_rows for name in expected} == expected


@pytest.mark.deep
def test_it_does_not_overlap_with_the_other_sample() -> None:
    interval = read(FOLDER)["smf70_interval"]
    assert set(interval["system"].to_pylist()) == {"CLI1", "CLI2", "SRV1", "SRV2"}
    assert min(interval["interval_start_local"].to_pylist()).isoformat() > "2026-03-04"


def test_the_provenance_note_lists_its_files_and_the_command() -> None:
    note = (SAMPLES / "PROVENANCE.md").read_text(encoding="utf-8")
    options = "--connections-per-hour 90000 --recording counts --run-minutes 8 --packing gzip"
    assert f"zscope generate world sample-data/world --start 2026-03-08T23:00Z {options}" in note
    for name in ("smf", "rmf", "displays", "runs.toml", "transactions.csv", "README.txt", "manifest.json"):
        assert f"`world/{name}" in note
