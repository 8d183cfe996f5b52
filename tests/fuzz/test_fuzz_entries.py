"""The seed inputs, the stored inputs and the stored findings of `make fuzz` pass their checks."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fuzz import entries, guided
from tests.fuzz.entries import ENTRIES, Between, SilentLossError
from tests.fuzz.guided import CORPORA, FOUND, stored_inputs
from tests.marking import deep_except

from zscope.parsers import ReadOptions, Tables, read


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


@pytest.mark.deep
@pytest.mark.parametrize("name", ENTRIES)
def test_stored_inputs_pass(name: str) -> None:
    entry = ENTRIES[name]()
    for content in stored_inputs(name):
        entry.check(content)


def test_stored_inputs_are_those_of_a_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guided, "CORPORA", tmp_path / "corpora")
    assert stored_inputs("smf") == []
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name, content in (("a", b"long"), ("b", b"no"), ("c", bytes(guided.MOST_STORED)), ("d", b"do")):
        (corpus / name).write_bytes(content)
    guided.store_inputs("smf", corpus)
    assert stored_inputs("smf") == [b"do", b"no", b"long"]


def test_stored_inputs_belong_to_entries() -> None:
    assert {path.name for path in FOUND.glob("*")} | {path.stem for path in CORPORA.glob("*")} <= set(ENTRIES)


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
