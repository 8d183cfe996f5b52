"""Letting go of old days."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zscope.pipelines.store.commits import Commit, append

if TYPE_CHECKING:
    from datetime import date

    from zscope.pipelines.store.commits import State
    from zscope.pipelines.store.folder import Folder


@dataclass(frozen=True, slots=True)
class Expired:
    """What was let go of."""

    files: int
    rows: int
    bytes: int
    days: int


def expire(folder: Folder, state: State, first_kept: date, *, dry: bool = False) -> Expired:
    """Drop all files of days before one; rows without a day stay, since nobody knows how old they are.

    A dry run only counts.
    """
    limit = first_kept.isoformat()
    old = [file for file in state.files.values() if file.day is not None and file.day < limit]
    if old and not dry:
        append(folder, state, Commit("expire", drops=tuple(file.path for file in old)))
    return Expired(
        files=len(old),
        rows=sum(file.rows for file in old),
        bytes=sum(file.bytes for file in old),
        days=len({file.day for file in old}),
    )
