"""What a commit adds is on the disk before the commit counts, so that a power failure loses no data."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.pipelines.stores import dump_bytes, load

from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import existing_store


@dataclass
class Disk:
    """What is done to files, in order; a file has the same identity under all its names."""

    events: list[tuple[str, int]] = field(default_factory=list)

    def add(self, event: str, about: os.stat_result) -> None:
        self.events.append((event, about.st_ino))

    def first(self, event: str, path: Path) -> int:
        """Return the place of the first such event of a file or folder."""
        return self.events.index((event, path.stat().st_ino))

    def last(self, event: str, path: Path) -> int:
        """Return the place of the last such event."""
        return len(self.events) - 1 - self.events[::-1].index((event, path.stat().st_ino))


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    """Observe what is synced, renamed and linked."""
    seen = Disk()
    fsync, link, rename = os.fsync, os.link, Path.rename

    def observed_fsync(handle: int) -> None:
        fsync(handle)
        seen.add("synced", os.fstat(handle))

    def observed_link(source: Path, target: Path) -> None:
        link(source, target)
        seen.add("linked", target.stat())

    def observed_rename(path: Path, target: Any) -> Path:  # noqa: ANN401 - as the method has it
        renamed = rename(path, target)
        seen.add("renamed", renamed.stat())
        return renamed

    monkeypatch.setattr(os, "fsync", observed_fsync)
    monkeypatch.setattr(os, "link", observed_link)
    monkeypatch.setattr(Path, "rename", observed_rename)
    return seen


def test_data_then_folders_then_the_commit_are_synced(tmp_path: Path, disk: Disk) -> None:
    store, dump = tmp_path / "store", tmp_path / "a.smf"
    dump.write_bytes(dump_bytes(24, 2, seed=9, mix={"tcp-init": 1}))
    load(store, dump)
    folder = existing_store(store)
    files = [folder.data / name for name in read_state(folder).files]
    [commit] = [path for path in folder.commits.glob("*.json") if path.stem.isdigit()]
    counts_from = disk.first("linked", commit)
    assert len(files) > 1
    for file in files:
        assert disk.first("synced", file) < disk.first("renamed", file)
        for place in (file.parent, file.parent.parent, folder.data):
            assert disk.first("renamed", file) < disk.last("synced", place) < counts_from
    assert disk.first("synced", commit) < counts_from < disk.last("synced", folder.commits)
