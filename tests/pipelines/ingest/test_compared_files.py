"""The rows of a load are compared with committed files whose times overlap, both ends included."""

from __future__ import annotations

from pathlib import Path

import pytest

from zscope.pipelines.ingest.duplicates import StoreBefore
from zscope.pipelines.store.commits import Commit, DataFile, State
from zscope.pipelines.store.folder import Folder
from zscope.pipelines.store.parquet_files import StagedFile

TABLE, DAY = "record_digest", "2026-03-02"
BEGIN, END = f"{DAY}T10:00:00", f"{DAY}T11:00:00"


def compared(first: str | None, last: str | None) -> bool:
    """Whether a staged file with these times is compared with a stored one from BEGIN to END."""
    stored = DataFile(f"{TABLE}/1.parquet", TABLE, DAY, 3, 100, {1: 3}, "abc", "def", BEGIN, END)
    state = State()
    state.apply(Commit("load", adds=(stored,)))
    staged = StagedFile(Path("staged.parquet"), TABLE, DAY, 1, 100, first, last)
    return StoreBefore(Folder(Path("store")), state).files(staged) == [stored]


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (BEGIN, END, True),
        # A dump that ends with the moment at which the stored one begins has the same records of it.
        (f"{DAY}T09:00:00", BEGIN, True),
        (END, f"{DAY}T12:00:00", True),
        (f"{DAY}T09:00:00", f"{DAY}T09:59:59", False),
        (f"{DAY}T11:00:01", f"{DAY}T12:00:00", False),
        (None, None, True),
    ],
)
def test_files_with_a_common_moment_are_compared(first: str | None, last: str | None, expected: bool) -> None:
    assert compared(first, last) is expected
