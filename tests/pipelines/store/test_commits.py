"""The commits: what they add up to, and what happens when one is damaged or missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zscope.pipelines.store import commits
from zscope.pipelines.store.checksums import last_commit
from zscope.pipelines.store.commits import (
    Commit,
    DataFile,
    Load,
    LoadGap,
    LoadKind,
    LoadTable,
    State,
    append,
    read_state,
)
from zscope.pipelines.store.folder import Folder, StoreError, make_store

if TYPE_CHECKING:
    from pathlib import Path


def data_file(number: int, loads: dict[int, int] | None = None) -> DataFile:
    """A file that only has to have a name of its own."""
    rows = loads or {number: 3}
    return DataFile(f"t/day=2026-03-02/{number}.parquet", "t", "2026-03-02", 3, 100, rows, "abc", "def")


def load(number: int) -> Load:
    """A load with something in every part of it."""
    return Load(
        load_id=number,
        file=f"{number}.smf",
        packing=("gzip",),
        kind="smf",
        form="rdw",
        selection="everything",
        content_digest=f"{number:032x}",
        content_bytes=1000,
        outer_digest=None,
        started_utc="2026-03-02T02:00:00.000+00:00",
        seconds=0.5,
        tables={"t": LoadTable(3, 1)},
        kinds=(LoadKind("SYSA", 119, 11, None, 3, 900, None, None),),
        gaps=(LoadGap("SYSA", "smf70_interval", "2026-03-02T01:00:00", "2026-03-02T02:00:00", 4, 900_000),),
        issues={"truncated": 1},
        duplicates_of={7: 2},
    )


def folder_of(path: Path) -> Folder:
    return make_store(path / "store")


def test_commits_are_read_back(tmp_path: Path) -> None:
    folder, state = folder_of(tmp_path), State()
    append(folder, state, Commit("load", adds=(data_file(1),), loads=(load(1),)))
    append(folder, state, Commit("load", adds=(data_file(2),), loads=(load(2),)))
    append(folder, state, Commit("remove", drops=(data_file(1).path,), removed_load=1, reopened=(2,)))
    assert read_state(folder) == state
    assert state.files == {data_file(2).path: data_file(2)}
    assert state.loads == {1: load(1), 2: load(2)}
    assert [found.load_id for found in state.live_loads] == [2]
    assert (state.removed, state.reopened, state.next_load_id, last_commit(folder)) == ({1}, {2}, 3, 3)
    assert set(state.dropped) == {data_file(1).path}


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.booleans(), min_size=1, max_size=30), every=st.integers(1, 5))
def test_checkpoints_only_save_time(
    tmp_path_factory: pytest.TempPathFactory, steps: list[bool], every: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(commits, "CHECKPOINT_EVERY", every)
        folder, state = folder_of(tmp_path_factory.mktemp("commits")), State()
        for number, adds in enumerate(steps, 1):
            if adds or not state.files:
                append(folder, state, Commit("load", adds=(data_file(number),), loads=(load(number),)))
            else:
                append(folder, state, Commit("expire", drops=(next(iter(state.files)),)))
        assert read_state(folder) == state
        checkpoints = sorted(folder.commits.glob("checkpoint-*"))
        assert len(checkpoints) == min(len(steps) // every, commits.KEPT_CHECKPOINTS)
        for checkpoint in checkpoints:
            checkpoint.write_bytes(b"{" if len(steps) % 2 else b"")
        assert read_state(folder) == state


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"kind": "load"}', b"\xff\xfe"])
def test_damaged_commit_is_named(tmp_path: Path, damage: bytes) -> None:
    folder, state = folder_of(tmp_path), State()
    for number in (1, 2, 3):
        append(folder, state, Commit("load", adds=(data_file(number),), loads=(load(number),)))
    path = folder.commits / "00000002.json"
    path.write_bytes(damage)
    with pytest.raises(StoreError, match=r"00000002\.json: a commit of the store is missing or damaged"):
        read_state(folder)
    path.unlink()
    with pytest.raises(StoreError, match=r"00000002\.json"):
        read_state(folder)


def test_commit_of_another_process_is_never_replaced(tmp_path: Path) -> None:
    folder, mine, other = folder_of(tmp_path), State(), State()
    append(folder, other, Commit("load", adds=(data_file(1),), loads=(load(1),)))
    with pytest.raises(StoreError, match="another process committed at the same time"):
        append(folder, mine, Commit("load", adds=(data_file(2),), loads=(load(1),)))
    assert read_state(folder) == other
    assert mine == State()


def test_a_commit_with_another_content_than_its_checksum_is_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    append(folder, State(), Commit("load", adds=(data_file(1),), loads=(load(1),)))
    path = folder.commits / "00000001.json"
    text = path.read_text(encoding="utf-8")
    changed = text.replace('"rows": 3', '"rows": 4')
    assert changed != text
    path.write_text(changed, encoding="utf-8")
    with pytest.raises(StoreError, match="its checksum is not that of its content"):
        read_state(folder)


def test_a_known_state_is_continued_if_the_commits_lead_to_it(tmp_path: Path) -> None:
    folder = make_store(tmp_path / "store")
    state = State()
    for number in range(1, 4):
        append(folder, state, Commit("load", adds=(data_file(number),), loads=(load(number),)))
    known = read_state(folder)
    append(folder, state, Commit("load", adds=(data_file(4),), loads=(load(4),)))
    assert read_state(folder, known=known) is known
    assert known == read_state(folder, from_first=True)


def test_a_known_state_of_another_store_is_not_continued(tmp_path: Path) -> None:
    """As when a store was replaced by a backup while a process watched a folder."""
    folder, other = make_store(tmp_path / "store"), make_store(tmp_path / "other")
    state, of_other = State(), State()
    for number in range(1, 4):
        append(folder, state, Commit("load", adds=(data_file(number),), loads=(load(number),)))
        append(other, of_other, Commit("load", adds=(data_file(number + 10),), loads=(load(number),)))
    longer = read_state(other)
    append(other, longer, Commit("load", adds=(data_file(20),), loads=(load(4),)))
    for foreign in (of_other, longer, State()):
        assert read_state(folder, known=foreign) == state
