"""The lock of a folder tells the next writer whether the last one finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.pipelines.store.lock import WriteLock

if TYPE_CHECKING:
    from pathlib import Path


def test_a_writer_that_was_killed_is_noticed_once(tmp_path: Path) -> None:
    messages: list[str] = []
    lock = WriteLock(tmp_path / "lock", tmp_path, "the store")
    with lock.held(messages.append, 0) as was_interrupted:
        assert not was_interrupted
        left_by_a_killed_writer = lock.file.read_bytes()
    assert left_by_a_killed_writer
    assert lock.file.read_bytes() == b""
    lock.file.write_bytes(left_by_a_killed_writer)
    with lock.held(messages.append, 0) as was_interrupted:
        assert was_interrupted
    with lock.held(messages.append, 0) as was_interrupted:
        assert not was_interrupted
    assert len(messages) == 1
    assert "was interrupted; its leftovers are deleted" in messages[0]
