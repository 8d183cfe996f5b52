"""Commits that were edited, replaced, removed or written by another version: each is named and refused."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest
from tests.pipelines.store.test_commits import data_file, folder_of, load
from tests.pipelines.stores import dump_bytes, rewrite_commits
from tests.pipelines.stores import load as load_files

from zscope.pipelines.settings import Settings
from zscope.pipelines.store import commits, open_reader
from zscope.pipelines.store.checksums import (
    commit_path,
    last_commit,
    parse_with_checksum,
    read_head,
    with_checksum,
)
from zscope.pipelines.store.commits import (
    Commit,
    DayRows,
    LoadOffset,
    State,
    SummaryFile,
    append,
    read_commit,
    read_state,
)
from zscope.pipelines.store.file_checks import check_store
from zscope.pipelines.store.folder import DamagedStoreError, Folder, StoreError, existing_store
from zscope.pipelines.store.maintenance import compact
from zscope.pipelines.store.transaction import changing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OFFSET = LoadOffset("SYSA", "smf70_cpu", "2026-03-02T01:00:00", "2026-03-02T02:00:00", 3600)
SUMMARY = SummaryFile("summaries/s/1.parquet", "s", 3, 100, "abc", "def", {"2026-03-02": DayRows(1, 1)})


def silent(_text: str) -> None:
    """Print nothing."""


def three_commits(path: Path) -> tuple[Folder, State]:
    folder, state = folder_of(path), State()
    for number in (1, 2, 3):
        append(folder, state, Commit("load", adds=(data_file(number),), loads=(load(number),)))
    return folder, state


def edit(path: Path, change: Callable[[dict[str, Any]], None], *, new_checksum: bool = False) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    text = json.dumps(content)
    if new_checksum:
        number, previous = content.pop("number"), content.pop("previous")
        del content["checksum"]
        text, _ = with_checksum(content, number, previous)
    path.write_text(text, encoding="utf-8")


def fewer_rows(content: dict[str, Any]) -> None:
    content["adds"][0]["rows"] = 2


def test_an_edited_row_count_is_noticed(tmp_path: Path) -> None:
    folder, _ = three_commits(tmp_path)
    edit(commit_path(folder, 2), fewer_rows)
    with pytest.raises(StoreError, match=r"00000002\.json: .*its checksum is not that of its content"):
        read_state(folder)


@pytest.mark.parametrize("number", [1, 2])
def test_a_commit_with_a_new_checksum_breaks_the_chain(number: int, tmp_path: Path) -> None:
    folder, _ = three_commits(tmp_path)
    edit(commit_path(folder, number), fewer_rows, new_checksum=True)
    named = f"{number + 1:08}.json: this commit does not follow {number:08}.json"
    with pytest.raises(StoreError, match=re.escape(named)):
        read_state(folder)


def test_the_last_commit_with_a_new_checksum_is_noticed(tmp_path: Path) -> None:
    folder, _ = three_commits(tmp_path)
    edit(commit_path(folder, 3), fewer_rows, new_checksum=True)
    with pytest.raises(StoreError, match=r"00000003\.json: this commit was replaced: commits/head"):
        read_state(folder)


def test_a_commit_without_its_checksum_breaks_the_chain(tmp_path: Path) -> None:
    folder, _ = three_commits(tmp_path)

    def no_checksum(content: dict[str, Any]) -> None:
        for name in ("number", "previous", "checksum"):
            del content[name]

    edit(commit_path(folder, 2), no_checksum)
    with pytest.raises(StoreError, match=r"00000003\.json: this commit does not follow"):
        read_state(folder)


def test_a_copy_under_another_number_is_noticed(tmp_path: Path) -> None:
    folder, _ = three_commits(tmp_path)
    shutil.copyfile(commit_path(folder, 2), commit_path(folder, 3))
    with pytest.raises(StoreError, match="it is commit 2, with another name"):
        read_state(folder)


def test_a_missing_last_commit_is_named_and_refused(tmp_path: Path) -> None:
    folder, state = three_commits(tmp_path)
    commit_path(folder, 3).unlink()
    for read in (read_state, last_commit):
        with pytest.raises(StoreError, match=r"00000003\.json: this commit is missing, but commits/head"):
            read(folder)
    (folder.commits / "head").unlink()
    assert read_state(folder).number == 2
    assert state.number == 3


def test_the_files_of_a_missing_commit_are_not_deleted(copied_store: Path) -> None:
    folder = existing_store(copied_store)
    files = sorted(folder.data.rglob("*.parquet"))
    last = commit_path(folder, last_commit(folder))
    kept = last.read_bytes()
    last.unlink()
    folder.stage.mkdir(exist_ok=True)  # as after an interrupted writer: all files are looked at
    with pytest.raises(StoreError, match="this commit is missing"), changing(folder, Settings(), silent):
        pytest.fail("the store must not be changed")
    with pytest.raises(StoreError, match="this commit is missing"):
        open_reader(copied_store)
    with pytest.raises(DamagedStoreError, match="this commit is missing"):
        check_store(folder)
    assert sorted(folder.data.rglob("*.parquet")) == files
    last.write_bytes(kept)
    assert check_store(folder).files == len(read_state(folder).files)


def test_a_checkpoint_without_its_commit_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a store of an earlier version, which has no head."""
    monkeypatch.setattr(commits, "CHECKPOINT_EVERY", 3)
    folder, _ = three_commits(tmp_path)
    (folder.commits / "head").unlink()
    commit_path(folder, 3).unlink()
    with pytest.raises(StoreError, match=r"00000003\.json: .* but commits/checkpoint-00000003\.json"):
        read_state(folder)


def test_an_edited_checkpoint_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commits, "CHECKPOINT_EVERY", 3)
    folder, state = three_commits(tmp_path)
    path = folder.commits / "checkpoint-00000003.json"
    edit(path, lambda content: content["files"][0].update(rows=2))
    assert read_state(folder) == state


def test_a_checkpoint_of_a_later_version_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commits, "CHECKPOINT_EVERY", 3)
    folder, state = three_commits(tmp_path)
    path = folder.commits / "checkpoint-00000003.json"
    content = parse_with_checksum(path.read_text("utf-8")).content
    content["files"] = []
    for more in ({}, {"more": 1}):
        path.write_text(with_checksum(content | more, 3, "")[0], "utf-8")
        assert (read_state(folder) == state) is bool(more)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"number": "3", "checksum": "x"}', b"\xff"])
def test_a_damaged_head_is_named(content: bytes, tmp_path: Path) -> None:
    folder, _ = three_commits(tmp_path)
    (folder.commits / "head").write_bytes(content)
    with pytest.raises(StoreError, match="commits/head: the record of the last commit is damaged"):
        read_state(folder)


def test_a_head_that_is_behind_is_no_damage(tmp_path: Path) -> None:
    """A writer can be killed between its commit and the record of it."""
    folder, state = three_commits(tmp_path)
    head = (folder.commits / "head").read_bytes()
    append(folder, state, Commit("load", adds=(data_file(4),), loads=(load(4),)))
    (folder.commits / "head").write_bytes(head)
    assert read_state(folder) == state
    append(folder, state, Commit("load", adds=(data_file(5),), loads=(load(5),)))
    head_now = read_head(folder)
    assert head_now is not None
    assert (head_now.number, head_now.checksum) == (5, state.checksum)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda content: content.update(kind="encrypt"), "does not know the kind 'encrypt'"),
        (lambda content: content.update(more=1), "does not know the field 'more' of a Commit"),
        (lambda content: content["loads"][0].update(more=1), "does not know the field 'more' of a Load"),
        (lambda content: content["adds"][0].update(key=1), "does not know the field 'key' of a DataFile"),
        (
            lambda content: content["loads"][0]["tables"]["t"].update(more=1),
            "does not know the field 'more' of a LoadTable",
        ),
        (
            lambda content: content["loads"][0]["kinds"][0].update(more=1),
            "does not know the field 'more' of a LoadKind",
        ),
        (
            lambda content: content["loads"][0]["gaps"][0].update(more=1),
            "does not know the field 'more' of a LoadGap",
        ),
        (
            lambda content: content["loads"][0].update(offsets=[asdict(OFFSET) | {"more": 1}]),
            "does not know the field 'more' of a LoadOffset",
        ),
        (
            lambda content: content.update(summaries=[asdict(SUMMARY) | {"more": 1}]),
            "does not know the field 'more' of a SummaryFile",
        ),
    ],
)
def test_what_a_later_version_wrote_is_refused(
    change: Callable[[dict[str, Any]], None], text: str, tmp_path: Path
) -> None:
    folder, _ = three_commits(tmp_path)
    edit(commit_path(folder, 2), change, new_checksum=True)
    with pytest.raises(StoreError, match=rf"00000002\.json: .*{text}; a later version has changed the store"):
        read_commit(folder, 2)


@pytest.mark.parametrize("version", ['"1"', "true", "1.0", "null", "[1]"])
def test_a_format_that_is_no_whole_number_is_refused(version: str, tmp_path: Path) -> None:
    folder, _ = three_commits(tmp_path)
    (folder.path / "zscope-store.json").write_text(f'{{"format": {version}}}', encoding="utf-8")
    expected = re.escape(f"the format is {version}, which is not a whole number")
    with pytest.raises(StoreError, match=expected):
        existing_store(folder.path)


def test_an_unknown_field_of_the_mark_is_refused(tmp_path: Path) -> None:
    folder, _ = three_commits(tmp_path)
    (folder.path / "zscope-store.json").write_text('{"format": 2, "cipher": "AES"}', encoding="utf-8")
    with pytest.raises(StoreError, match="does not know 'cipher'; a later version has changed the store"):
        existing_store(folder.path)


def test_commits_of_earlier_versions_are_read_and_continued(tmp_path: Path) -> None:
    folder, state = three_commits(tmp_path)
    rewrite_commits(folder)
    old = read_state(folder)
    assert (old.files, old.loads) == (state.files, state.loads)
    append(folder, old, Commit("load", adds=(data_file(4),), loads=(load(4),)))
    assert read_state(folder) == old
    edit(commit_path(folder, 3), fewer_rows)
    with pytest.raises(StoreError, match=r"00000004\.json: this commit does not follow 00000003\.json"):
        read_state(folder)


def test_a_changed_byte_in_a_data_file_is_noticed(copied_store: Path) -> None:
    """The size of the file and the number of its rows are as before."""
    folder = existing_store(copied_store)
    file = max(read_state(folder).files.values(), key=lambda file: file.bytes)
    content = bytearray((folder.data / file.path).read_bytes())
    content[60] ^= 0x55
    (folder.data / file.path).write_bytes(content)
    with pytest.raises(DamagedStoreError, match=rf"{re.escape(file.path)}: has other content"):
        check_store(folder)


@pytest.mark.parametrize("deep", [False, True])
def test_other_row_counts_than_in_the_files_are_noticed(deep: bool, copied_store: Path) -> None:
    """In commits without checksums, as those of earlier versions."""
    folder = existing_store(copied_store)

    def more_rows(content: dict[str, Any]) -> None:
        for file in content["adds"]:
            file["rows"] += 1

    rewrite_commits(folder, more_rows)
    with pytest.raises(DamagedStoreError, match=r"has [0-9,]+ rows instead of [0-9,]+"):
        check_store(folder, deep=deep)


def test_a_deep_check_counts_the_rows_of_each_load(copied_store: Path) -> None:
    folder = existing_store(copied_store)

    def other_load(content: dict[str, Any]) -> None:
        for file in content["adds"]:
            file["loads"] = {str(int(load) + 1): rows for load, rows in file["loads"].items()}

    rewrite_commits(folder, other_load)
    assert check_store(folder).files
    with pytest.raises(DamagedStoreError, match=r"has rows of loads \{1: "):
        check_store(folder, deep=True)


def test_a_deep_check_counts_the_rows_of_each_day(tmp_path: Path) -> None:
    (tmp_path / "days.smf").write_bytes(dump_bytes(24, 2, mix={"tcp-init": 1}))
    load_files(tmp_path / "store", tmp_path / "days.smf")
    folder = existing_store(tmp_path / "store")
    with changing(folder, Settings(), silent) as state:
        compact(folder, state)

    def other_days(content: dict[str, Any]) -> None:
        for file in content["adds"]:
            if len(file["days"]) > 1:
                first, *_, last = file["days"]
                file["days"][first] -= 1
                file["days"][last] += 1

    rewrite_commits(folder, other_days)
    assert check_store(folder).files
    with pytest.raises(DamagedStoreError, match="has other numbers of rows by day"):
        check_store(folder, deep=True)


def test_a_deep_check_compares_checkpoints_with_the_commits(
    copied_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = existing_store(copied_store)
    state = read_state(folder)
    monkeypatch.setattr(commits, "CHECKPOINT_EVERY", state.number + 1)
    state.reopened.add(77)
    append(folder, state, Commit("inputs"))
    assert check_store(folder).files
    with pytest.raises(DamagedStoreError, match="a checkpoint has other reopened than the commits before it"):
        check_store(folder, deep=True)


def test_the_checksum_covers_every_byte() -> None:
    text, checksum = with_checksum({"kind": "load", "at": 1.5}, 7, "abc")
    stored = parse_with_checksum(text)
    assert (stored.content, stored.number, stored.previous) == ({"kind": "load", "at": 1.5}, 7, "abc")
    assert stored.checksum == checksum
    for place in range(len(text)):
        changed = text[:place] + chr(ord(text[place]) ^ 1) + text[place + 1 :]
        try:
            assert (
                not parse_with_checksum(changed).has_checksum or parse_with_checksum(changed).number is None
            )
        except ValueError:
            continue
