"""Staged files become part of the store: to their places first, then the commit that makes them count."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from zscope.pipelines.identity import digest_of_file
from zscope.pipelines.store.commits import Commit, DataFile, State, append
from zscope.pipelines.store.folder import Folder, partition, settle
from zscope.pipelines.store.tables import schema_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zscope.pipelines.store.parts import StagedFile


def bring_in(
    folder: Folder,
    state: State,
    staged: Sequence[StagedFile],
    loads_of: Callable[[StagedFile], Mapping[int, int]],
    commit_of: Callable[[tuple[DataFile, ...]], Commit],
) -> None:
    """Make staged files count, by the commit that the caller makes of them.

    Whatever happens before the last step leaves nothing but files that no commit names.
    """
    settle(file.path for file in staged)
    places: set[Path] = set()
    data_files: list[DataFile] = []
    for file in staged:
        name = f"{partition(file.table, file.day)}/{file.path.name}"
        target = folder.data / name
        target.parent.mkdir(parents=True, exist_ok=True)
        file.path.rename(target)
        places |= {target.parent, target.parent.parent}
        loads = dict(loads_of(file))
        schema, digest = schema_digest(file.table), digest_of_file(target)
        data_files.append(
            DataFile(
                name, file.table, file.day, file.rows, file.bytes, loads, schema, digest, file.first_local,
                file.last_local,
            )
        )  # fmt: skip
    settle([*places, folder.data] if places else [])
    append(folder, state, commit_of(tuple(data_files)))
