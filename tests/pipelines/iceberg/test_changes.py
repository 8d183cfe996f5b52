"""Which changes of a table become snapshots."""

from __future__ import annotations

import pytest

from zscope.pipelines.iceberg.changes import TableChange, readable_changes
from zscope.pipelines.store.commits import DataFile


def changed(commit: int, at_ms: int, adds: str = "", drops: str = "") -> TableChange:
    files = {name: DataFile(name, "t", None, 1, 1, {}, "", "") for name in adds.split()}
    return TableChange(commit, "load", at_ms, files, frozenset(drops.split()), (commit,))


CHANGES = [
    changed(1, 1000, "a b"),
    changed(2, 2000, "c", "a"),
    changed(3, 3000, "d", "b x"),
    changed(4, 4000, "e"),
]


@pytest.mark.parametrize(
    ("grace_ms", "most", "commits"),
    [(10_000, 10, [1, 2, 3, 4]), (0, 10, [4]), (2_500, 10, [2, 3, 4]), (10_000, 1, [3, 4]), (10_000, 0, [4])],
)
def test_a_change_is_joined_with_the_next_if_nobody_can_read_the_table_between(
    grace_ms: int, most: int, commits: list[int]
) -> None:
    found = readable_changes(CHANGES, 5_000, grace_ms, most)
    assert [change.commit for change in found] == commits
    assert sum(change.commits for change in found) == len(CHANGES)


def test_joined_changes_have_the_effect_of_all() -> None:
    [joined] = readable_changes(CHANGES, 5_000, 0, 10)
    assert joined.adds.keys() == {"c", "d", "e"}
    assert joined.drops == {"x"}
    assert (joined.at_ms, joined.loads) == (4000, (4,))


def test_without_changes_there_is_nothing_to_publish() -> None:
    assert readable_changes([], 5_000, 0, 10) == []
