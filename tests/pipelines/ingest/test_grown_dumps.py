"""A dump that grew is loaded for its new part only, and gives the rows of one clean load."""

from __future__ import annotations

import gzip
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pipelines.ingest.comparing import (
    Clean,
    Fresh,
    dump,
    duplicates,
    named_again,
    records,
    run,
    statuses,
    stream,
    write,
)
from tests.pipelines.stores import load, rows_of

from zscope.pipelines.ingest.facts import InputFacts

FRAMINGS = ("rdw", "segments", "bdw", "bdw-spanned", "bdw-extended", "rdw-exclusive")


@pytest.mark.parametrize(
    ("framing", "cuts", "how_cut"),
    [
        ("bdw-spanned", [0.3, 0.7], "anywhere"),
        pytest.param("rdw", [0.4], "in the header of a record", marks=pytest.mark.deep),
    ],
)
def test_dump_that_grows_in_steps(
    fresh: Fresh, clean: Clean, place: Path, framing: str, cuts: list[float], how_cut: str
) -> None:
    load_growing_dump(fresh, clean, place, framing, cuts, how_cut)


@pytest.mark.parametrize("packed", [False, pytest.param(True, marks=pytest.mark.deep)])
def test_dump_that_grows_after_its_end_was_read(
    fresh: Fresh, clean: Clean, place: Path, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    """Bytes appended after the end was read are in neither the rows nor the digest, and are loaded later."""
    first, rest = (b"".join(some) for some in (records()[:4], records()[4:8]))
    if packed:
        first, rest = (gzip.compress(part, mtime=0) for part in (first, rest))
    path = place / "growing.smf"
    path.write_bytes(first)
    observe = InputFacts.observe_window

    def grow(self: InputFacts, *arguments: object) -> None:
        if path.stat().st_size == len(first):
            with path.open("ab") as file:
                file.write(rest)
        observe(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(InputFacts, "observe_window", grow)
    store = fresh()
    assert statuses(load(store, path)) == ["loaded"]
    assert path.stat().st_size == len(first) + len(rest)
    assert statuses(load(store, path)) == ["loaded"]
    found = rows_of(store)
    monkeypatch.undo()
    assert found == clean(stream(records()[:8]))


@pytest.mark.deep
@settings(max_examples=10)
@given(
    framing=st.sampled_from(FRAMINGS),
    cuts=st.lists(st.floats(0.02, 0.99), min_size=1, max_size=4),
    how_cut=st.sampled_from(["anywhere", "in the header of a record", "after a record"]),
)
def test_many_growing_dumps(
    fresh: Fresh, clean: Clean, place: Path, framing: str, cuts: list[float], how_cut: str
) -> None:
    load_growing_dump(fresh, clean, place, framing, cuts, how_cut)


def load_growing_dump(
    fresh: Fresh, clean: Clean, place: Path, framing: str, cuts: list[float], how_cut: str
) -> None:
    data = dump(framing)
    lengths = sorted({int(cut * len(data)) for cut in cuts})
    if how_cut != "anywhere" and framing == "rdw":
        ends = [0]
        for record in records():
            ends.append(ends[-1] + len(record))
        into = 2 if how_cut == "in the header of a record" else 0
        lengths = sorted({min(end for end in ends if end >= length) + into for length in lengths})
    lengths = [length for length in lengths if length < len(data)]
    store, path = fresh(), place / "growing.smf"
    for length in [*lengths, len(data)]:
        report = load(store, write(path, data[:length]))
        assert statuses(report) == ["loaded"]
        assert duplicates(report) == 0
    assert rows_of(store) == clean(data)
    assert statuses(load(store, path)) == ["repeated"]


THREE_FILES, ONE_FILE = ("a", "b", "c"), ("a", "a", "a")


@pytest.mark.deep
@pytest.mark.parametrize(
    ("names", "removed"),
    list(product((THREE_FILES, ONE_FILE), (1, 2, 3))),
)
def test_removed_load_of_a_growing_dump_can_be_restored(
    fresh: Fresh, clean: Clean, place: Path, names: tuple[str, ...], removed: int
) -> None:
    data, store = dump(), fresh()
    paths = [place / f"growing-{name}.smf" for name in names]
    for path, length in zip(paths, (len(data) // 3, len(data) // 2, len(data)), strict=True):
        load(store, write(path, data[:length]))
    result = run("loads", "remove", removed, "--store", store)
    again = named_again(result)
    assert again == [str(path) for path in paths[removed:]]
    assert result.exit_code == (4 if again else 0)
    load(store, *map(Path, dict.fromkeys(again)))
    if removed < 3:
        assert rows_of(store) == clean(data)
    load(store, *dict.fromkeys(paths))
    assert rows_of(store) == clean(data)


@pytest.mark.deep
def test_a_packed_file_that_grew(fresh: Fresh, clean: Clean, place: Path) -> None:
    data, store = dump(), fresh()
    load(store, write(place / "grown.gz", gzip.compress(data[: len(data) // 2])))
    load(store, write(place / "grown.gz", gzip.compress(data)))
    assert rows_of(store) == clean(data)
    assert statuses(load(store, write(place / "grown.smf", data))) == ["repeated"]
