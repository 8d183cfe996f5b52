"""Restore the rows of damaged files: from a backup, from the files that they were loaded from, or not at all.

The rows of a stored step are computed again. A damaged file of a table comes from a backup if that has the
same file. Otherwise all loads with rows in it are removed and loaded again, if their files are still there
and have not changed. What can be restored in neither way stays damaged, or is taken out on request. A repair
that was interrupted is continued by the next one.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.pipelines.ingest.load import ingest
from zscope.pipelines.ingest.options_and_outcomes import IngestOptions, row_selection
from zscope.pipelines.store.commits import REPAIR, Commit, append, read_commit
from zscope.pipelines.store.file_checks import check_all, find_damage
from zscope.pipelines.store.folder import digest_of_file, existing_store, fsync_all
from zscope.pipelines.store.remove import files_without
from zscope.pipelines.store.transaction import changing, commit_files

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from zscope.pipelines.ingest.options_and_outcomes import IngestReport
    from zscope.pipelines.settings import Settings
    from zscope.pipelines.store.commits import DataFile, Load, State
    from zscope.pipelines.store.folder import Folder


@dataclass(frozen=True, slots=True)
class LostRows:
    """Rows of a damaged file that cannot be restored."""

    path: str
    """The file, relative to the data folder of the store."""
    table: str
    first_day: str | None
    last_day: str | None
    rows: int
    loads: Mapping[int, int]
    """Number of rows by load."""
    why: str
    """Why they cannot be restored."""


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """What can be done about the damaged files of a store."""

    damaged: Mapping[str, str]
    """All damaged files, and what is wrong with each."""
    computed_again: tuple[str, ...]
    """Files with rows of stored steps."""
    from_backup: tuple[str, ...]
    """Files of which the backup has the same."""
    reloaded: tuple[Load, ...]
    """Loads that are removed and loaded again from their files."""
    continued: tuple[Load, ...]
    """Loads that an earlier repair removed, which was interrupted before it loaded them again."""
    not_continued: Mapping[int, str]
    """Such loads that cannot be loaded again, and why."""
    lost: tuple[LostRows, ...]
    """What can be restored in neither way."""


@dataclass(frozen=True, slots=True)
class RepairResult:
    """What was done."""

    plan: RepairPlan
    taken_out: bool
    """Whether the files with lost rows were taken out of the store."""
    reports: tuple[IngestReport, ...] = ()
    """Of the files that were loaded again."""


def repair_store(
    store: Path,
    settings: Settings,
    notify: Callable[[str], None],
    *,
    backup: Path | None = None,
    take_out: bool = False,
    dry_run: bool = False,
) -> RepairResult:
    """Compare all files with their checksums, and restore the damaged ones as far as that is possible.

    A backup is a copy of the store. With `take_out`, damaged files that cannot be restored are removed.
    """
    folder = existing_store(store)
    with changing(folder, settings, notify) as state:
        plan = _plan(folder, state, backup, take_out=take_out)
        if dry_run:
            return RepairResult(plan, taken_out=False)
        for path in plan.from_backup:
            assert backup is not None, "the plan has files of it"
            _restore(folder, backup, path)
        check_all(folder, state)
        gone = [lost.path for lost in plan.lost] if take_out else []
        _take_out(folder, state, plan.reloaded, gone)
    reports = tuple(_load_again(store, settings, notify, plan))
    with changing(folder, settings, notify) as state:
        _name_new_loads(folder, state)
    return RepairResult(plan, taken_out=bool(gone), reports=reports)


def _plan(folder: Folder, state: State, backup: Path | None, *, take_out: bool) -> RepairPlan:
    damaged = find_damage(folder, state)
    files = [state.files[path] for path in damaged if path in state.files]
    from_backup = [file for file in files if backup and _is_same(backup / "data" / file.path, file.digest)]
    others = [file for file in files if file not in from_backup]
    lost = _lost_files(state, others, take_out=take_out)
    reloaded = {load for file in others if file.path not in lost for load in file.loads}
    removed = _removed_by_repairs(folder, state)
    return RepairPlan(
        damaged=damaged,
        computed_again=tuple(path for path in damaged if path in state.summaries),
        from_backup=tuple(file.path for file in from_backup),
        reloaded=tuple(state.loads[load] for load in sorted(reloaded)),
        continued=tuple(load for load in removed if not _reload_problem(load, state)),
        not_continued={load.load_id: why for load in removed if (why := _reload_problem(load, state))},
        lost=tuple(_lost(file, lost[file.path]) for file in others if file.path in lost),
    )


def _removed_by_repairs(folder: Folder, state: State) -> list[Load]:
    """Return the loads that repairs removed, and whose content was not loaded again."""
    numbers = {
        load
        for number in range(1, state.number + 1)
        if (commit := read_commit(folder, number)).kind == REPAIR
        for load in commit.removed
    }
    newest = {load.content_digest: load.load_id for load in state.loads.values()}
    return [state.loads[load] for load in sorted(numbers) if newest[state.loads[load].content_digest] == load]


def _lost_files(state: State, files: Sequence[DataFile], *, take_out: bool) -> dict[str, str]:
    """Return the files whose loads cannot all be loaded again, and why.

    A load cannot be removed while a file with rows of it stays damaged. So one file can be the reason for
    others, unless it is taken out.
    """
    problems = {load: _reload_problem(state.loads[load], state) for file in files for load in file.loads}
    lost: dict[str, str] = {}
    while True:
        found = {
            file.path: why
            for file in files
            if file.path not in lost
            and (
                why := next((problems[load] for load in file.loads if problems[load]), "")
                or _without_load(file)
            )
        }
        if not found:
            return lost
        lost |= found
        if take_out:
            return lost
        for file in files:
            if file.path in found:
                why = f"a load has rows in {file.path}, too, which cannot be restored"
                problems |= {load: problems[load] or why for load in file.loads}


def _without_load(file: DataFile) -> str:
    return "" if file.loads else "its rows are of no load"


def _lost(file: DataFile, why: str) -> LostRows:
    days = [day for day in file.each_day if day]
    return LostRows(
        file.path, file.table, min(days, default=None), max(days, default=None), file.rows, file.loads, why
    )


def _is_same(path: Path, digest: str) -> bool:
    try:
        return digest_of_file(path) == digest
    except OSError:
        return False


def _reload_problem(load: Load, state: State) -> str:
    """Return why a load cannot be loaded again from its file; nothing if it can."""
    if load.selection != IngestOptions(selection=row_selection(None)).selection_key:
        return f"load {load.load_id} was loaded with a selection or options ({load.selection})"
    if load.begun_at or any(
        load.load_id in other.duplicates_of and other.begun_at for other in state.live_loads
    ):
        return f"load {load.load_id} has a part of a file that has grown"
    if (path := _source(load)) is None:
        return f"the file of load {load.load_id} does not exist any more ({load.file})"
    if not _is_same(path, load.outer_digest or load.content_digest):
        return f"the file of load {load.load_id} has other content now ({load.file})"
    return ""


def _source(load: Load) -> Path | None:
    """Return the file of a load, or the archive that it is a member of."""
    path = Path(load.file)
    return next((each for each in (path, *path.parents) if each.is_file()), None)


def _restore(folder: Folder, backup: Path, path: str) -> None:
    """Put the file of a backup in the place of a damaged one, completely or not at all."""
    target = folder.data / path
    copy = folder.stage / target.name
    for place in (copy.parent, target.parent):
        place.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(backup / "data" / path, copy)
    fsync_all([copy])
    copy.replace(target)
    fsync_all([target.parent])


def _take_out(folder: Folder, state: State, loads: Iterable[Load], gone: Collection[str]) -> None:
    """Remove loads that are loaded again, and files whose rows are lost, in one commit."""
    removed = {load.load_id for load in loads}
    if not removed and not gone:
        return
    without = files_without(folder, state, removed, gone)
    commit_files(
        folder,
        state,
        without.rewritten,
        lambda files: Commit(REPAIR, adds=files, drops=without.drops, removed=tuple(sorted(removed))),
    )


def _name_new_loads(folder: Folder, state: State) -> None:
    """Let loads that omitted records of a removed load name the one that has them now.

    If its file was not loaded again, they can be loaded again themselves, to have these records. The same is
    done after a repair that was interrupted.
    """
    by_content = {load.content_digest: load.load_id for load in state.live_loads}
    replaced = {number for load in state.live_loads for number in load.replaces}
    gone = {
        number: by_content.get(state.loads[number].content_digest)
        for load in state.live_loads
        for number in load.duplicates_of
        if number in state.removed - replaced
    }
    changed, reopened = [], []
    for load in state.live_loads:
        names = {number: gone.get(number, number) for number in load.duplicates_of}
        if None in names.values() and load.load_id not in state.reopened:
            reopened.append(load.load_id)
        known = {names[old] or old: count for old, count in load.duplicates_of.items()}
        if known != load.duplicates_of:
            changed.append(replace(load, duplicates_of=known))
    if changed or reopened:
        append(folder, state, Commit(REPAIR, loads=tuple(changed), reopened=tuple(reopened)))


def _load_again(
    store: Path, settings: Settings, notify: Callable[[str], None], plan: RepairPlan
) -> Iterable[IngestReport]:
    """Load the files of removed loads, with the time zones that they were loaded with."""
    by_zones: dict[frozenset[tuple[str, str]], list[Load]] = defaultdict(list)
    for load in (*plan.reloaded, *plan.continued):
        by_zones[frozenset(load.zones.items())].append(load)
    for zones, loads in by_zones.items():
        options = IngestOptions(
            selection=row_selection(None),
            settings=settings.merge([f"{system.rpartition('.')[2]}={zone}" for system, zone in zones]),
            notify=notify,
        )
        sources = dict.fromkeys(source for load in loads if (source := _source(load)))
        yield ingest(store, list(sources), options)
