"""The seed inputs and the stored findings of `make fuzz` pass their checks."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fuzz import entries
from tests.fuzz.entries import ENTRIES, Between, SilentLossError
from tests.marking import deep_except

from zscope.parsers import ReadOptions, Tables, read

FOUND = Path(__file__).parent / "found"
"""Findings, in one folder per entry."""


@pytest.mark.parametrize("name", deep_except(("smf", "gzip", "zone", "runs"), ENTRIES))
def test_seeds_pass(name: str) -> None:
    entry = ENTRIES[name]()
    for seed in entry.seeds:
        entry.check(seed)


@pytest.mark.parametrize(
    "path", sorted(FOUND.glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_inputs_that_showed_a_defect_pass(path: Path) -> None:
    ENTRIES[path.parent.name]().check(path.read_bytes())


def test_found_inputs_belong_to_entries() -> None:
    assert {path.name for path in FOUND.glob("*")} <= set(ENTRIES)


def test_a_row_that_is_lost_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = ENTRIES["smf"]()
    assert isinstance(entry, Between)
    entry.check(b"")

    def read_half(path: Path, tables: tuple[str, ...], *, options: ReadOptions) -> Tables:
        path.write_bytes(path.read_bytes()[: len(entry.before)])
        return read(path, tables, options=options)

    monkeypatch.setattr(entries, "read", read_half)
    with pytest.raises(SilentLossError, match="after the damage"):
        entry.check(b"")
