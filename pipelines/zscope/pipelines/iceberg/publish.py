"""Publish the tables of a store: what the commits since the last publication changed, or everything again."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.pipelines.iceberg.changes import changes_after, whole_tables
from zscope.pipelines.iceberg.published_folder import (
    FORMAT,
    Publication,
    PublicationError,
    PublicationMark,
    PublishedTable,
    TableStatus,
    Target,
    default_target,
    version_hint,
)
from zscope.pipelines.settings import Settings
from zscope.pipelines.store.catalogue_file import digest_of_declarations
from zscope.pipelines.store.checksums import last_commit
from zscope.pipelines.store.commits import commit_digest, read_state
from zscope.pipelines.store.folder import StoreError, existing_store, fsync_all
from zscope.pipelines.store.parquet_files import parquet_tables, schema_digest
from zscope.schemas.tables import DIGEST_TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.pipelines.iceberg.changes import TableChange, WholeTables
    from zscope.pipelines.iceberg.published_table import NextVersion, PublishedVersion
    from zscope.pipelines.store.folder import Folder
    from zscope.pipelines.store.lock import Notify

_NOT_INSTALLED = (
    'Iceberg tables need the library pyiceberg, which is not installed; pip install "zscope[iceberg]"'
)
FIRST_PUBLICATION = "first publication"
_DIGESTS = (
    "it only recognises records that were loaded before; its digests are unsigned 64-bit numbers, a type "
    "that Iceberg does not have"
)


def publish_iceberg(
    store: Path,
    target: Path | None = None,
    settings: Settings | None = None,
    notify: Notify = lambda _: None,
    *,
    anew: bool = False,
) -> Publication:
    """Publish what was committed since the last publication, and return what was done.

    The target is the one of the settings if none is given, or else a folder next to the store. With `anew`
    everything is published again. Raises StoreError, also if the library is not installed.
    """
    started = time.perf_counter()
    settings = settings or Settings()
    folder = existing_store(store)
    if find_spec("pyiceberg") is None:
        raise PublicationError(_NOT_INSTALLED)
    place = Target((target or settings.iceberg_target or default_target(folder.path)).resolve())
    with _file_errors(place):
        place.prepare(folder.path)
        with place.lock.held(notify, settings.lock_wait_s):
            place.delete_leftovers()
            run = _PublicationRun(folder, place, settings, anew=anew)
            tables = run.publish()
    reason = "" if run.reason == FIRST_PUBLICATION else run.reason
    return Publication(place.path, run.mark.commit, run.since, tables, reason, time.perf_counter() - started)


@contextmanager
def _file_errors(target: Target) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        reason = error.strerror or str(error).partition("\n")[0]
        raise PublicationError(
            f"{target.path}: tables cannot be published: {reason}{where}; the store is unchanged, and the "
            "next publication continues"
        ) from error


class _PublicationRun:
    """One publication, while the target is locked."""

    def __init__(self, folder: Folder, target: Target, settings: Settings, *, anew: bool) -> None:
        self._folder = folder
        self._target = target
        self._settings = settings
        mark = target.read_mark()
        self.reason = "as requested" if anew else self._reason_to_begin_again(mark)
        """Why everything is published again."""
        self.mark = mark if mark and not self.reason else self._new_mark()
        self.since = self.mark.commit
        self._snapshots: dict[str, int] = {}
        """The number of new snapshots of the tables that are published now."""

    def _new_mark(self) -> PublicationMark:
        return PublicationMark(str(self._folder.path), str(self._target.path), begun=self.reason)

    def _reason_to_begin_again(self, mark: PublicationMark | None) -> str:
        """Return why what is published cannot be continued, or an empty text."""
        if mark is None:
            return FIRST_PUBLICATION
        if mark.target != str(self._target.path):
            return f"the folder was {mark.target} before"
        if mark.store != str(self._folder.path):
            if _is_store(Path(mark.store)):
                raise PublicationError(
                    f"{self._target.path}: contains the tables of another store, {mark.store}; choose "
                    "another folder, or delete this one if that store is not published any more"
                )
            return f"the store was {mark.store} before"
        if mark.format != FORMAT:
            return "published by another version of zscope"
        if mark.commit and commit_digest(self._folder, mark.commit) != mark.commit_digest:
            return "the store was replaced or restored"
        return mark.begun

    def publish(self) -> tuple[PublishedTable, ...]:
        """Publish all tables that changed; return all tables of the store."""
        if self.reason:
            # If this is stopped, the next publication begins again, too.
            self._target.write_mark(self.mark)
        declarations = digest_of_declarations()
        last = last_commit(self._folder)
        if self.reason or self.mark.declarations != declarations:
            last = self._whole.number
            for table in sorted({*self._whole.tables, *self.mark.tables, *self._folders()}):
                self._publish_whole(table)
        else:
            self._publish_changes(last)
        is_known = last == self.since and declarations == self.mark.declarations and not self.mark.begun
        if not is_known or self._snapshots or not self._target.has_current_catalogue(self.mark.tables):
            self.mark.commit, self.mark.commit_digest = last, commit_digest(self._folder, last) or ""
            self.mark.declarations, self.mark.begun = declarations, ""
            # The mark must not be on the disk before the names of what it describes.
            fsync_all([self._target.table(table) / "metadata" for table in self._snapshots])
            self._target.write_catalogue(self.mark.tables)
            self._target.write_mark(self.mark)
        return tuple(self._listed())

    def _folders(self) -> list[str]:
        """Return the names of the folders of tables, also of those that are not published any more."""
        tables = self._target.tables
        return [path.name for path in tables.iterdir() if path.is_dir()] if tables.is_dir() else []

    @cached_property
    def _whole(self) -> WholeTables:
        """The store as it is now, which can be after the last commit that this publication is about.

        The table is then ahead of the others, and the next publication skips what it has already.
        """
        return whole_tables(self._folder, read_state(self._folder))

    def _publish_changes(self, last: int) -> None:
        changes = changes_after(self._folder, self.mark.commit, last)
        deleted_or_changed = [
            table
            for table, known in self.mark.tables.items()
            if version_hint(self._target.table(table)) != known.version
            or not self._target.metadata_file(table, known.version).exists()
        ]
        for table in sorted({*changes, *deleted_or_changed}):
            if table == DIGEST_TABLE:
                self.mark.left_out[table] = _DIGESTS
                continue
            changed = changes.get(table, [])
            version = self._newest(table)
            if self._can_follow(version, changed):
                self._follow(version, changed)
            else:
                self._publish_whole(table)

    def _newest(self, table: str) -> PublishedVersion:
        from zscope.pipelines.iceberg.published_table import PublishedVersion

        known = self.mark.tables.get(table)
        return PublishedVersion.newest(self._target.table(table), table, known.version if known else 0)

    def _can_follow(self, version: PublishedVersion, changes: list[TableChange]) -> bool:
        """Whether a table can be published by adding changes to its newest version."""
        if version.name in self.mark.left_out or version.name not in published_tables():
            return False
        known = self.mark.tables.get(version.name)
        if version.metadata is None and (known or version.number):
            return False  # its metadata was deleted or damaged
        if known and version.number < known.version:
            return False  # an earlier version was restored
        current = schema_digest(version.name)
        return all(file.schema == current for change in changes for file in change.adds.values())

    def _follow(self, version: PublishedVersion, changes: list[TableChange]) -> None:
        from zscope.pipelines.iceberg.manifests import CannotContinueError

        try:
            following = self._next(version)
            following.add([change for change in changes if change.commit > version.commit])
        except CannotContinueError:
            self._publish_whole(version.name)
            return
        # Without a snapshot the version is one that a stopped publication completed.
        self._finish(following, changed=following.new_snapshots > 0)

    def _publish_whole(self, table: str) -> None:
        """Publish a table from the list of its files; a table with files that cannot be read is left out."""
        change = self._whole.tables.get(table)
        if problem := self._problem(table, change):
            self.mark.left_out[table] = problem
            self._remove(table)
            return
        self.mark.left_out.pop(table, None)
        version = self._newest(table)
        if self.reason or not self._corrected(version, change):
            if change is None:
                self._remove(table)
                return
            following = self._next(replace(version, metadata=None))
            following.add([change])
            self._finish(following, changed=True)

    def _corrected(self, version: PublishedVersion, change: TableChange | None) -> bool:
        """Whether a table could be published by adding the difference to its newest version."""
        from zscope.pipelines.iceberg.manifests import CannotContinueError

        if version.metadata is None:
            return False
        try:
            following = self._next(version)
            difference = following.difference(change or self._whole.empty(version.name))
            following.add([difference] if difference else [])
        except CannotContinueError:
            return False
        self._finish(following, changed=difference is not None or not version.is_current)
        return True

    def _problem(self, table: str, change: TableChange | None) -> str:
        """Return why a table cannot be published, or an empty text."""
        from zscope.pipelines.iceberg.iceberg_columns import problem_of_file

        if table == DIGEST_TABLE:
            return _DIGESTS if change else ""
        if table not in published_tables():
            return "this version of zscope does not know the table" if change else ""
        files = change.adds.values() if change else ()
        by_columns = {file.schema: file.path for file in files if file.schema != schema_digest(table)}
        problems = (problem_of_file(self._folder.data / path, table) for path in by_columns.values())
        return next(filter(None, problems), "")

    def _next(self, version: PublishedVersion) -> NextVersion:
        from zscope.pipelines.iceberg.published_table import NextVersion, Retention

        return NextVersion(version, self._folder.data, Retention(self._settings.grace_s * 1000))

    def _finish(self, following: NextVersion, *, changed: bool) -> None:
        table = following.before.name
        self.mark.tables[table] = following.commit() if changed else following.recover()
        if changed:
            self._snapshots[table] = following.new_snapshots

    def _remove(self, table: str) -> None:
        from zscope.pipelines.iceberg.published_table import remove_table

        self.mark.tables.pop(table, None)
        remove_table(self._target.table(table))

    def _listed(self) -> Iterator[PublishedTable]:
        for table in sorted(self.mark.tables.keys() | self.mark.left_out.keys()):
            if note := self.mark.left_out.get(table):
                internal = table == DIGEST_TABLE
                status = TableStatus.INTERNAL if internal else TableStatus.NOT_PUBLISHED
                yield PublishedTable(table, status, note=note)
                continue
            mark = self.mark.tables[table]
            yield PublishedTable(
                table,
                TableStatus.PUBLISHED if table in self._snapshots else TableStatus.UNCHANGED,
                self._snapshots.get(table, 0),
                mark.files,
                mark.rows,
                str(self._target.metadata_file(table, mark.version)),
            )


@cache
def published_tables() -> frozenset[str]:
    """Return the tables that can be published.

    >>> "smf119_zert_detail" in published_tables(), "record_digest" in published_tables()
    (True, False)
    """
    return frozenset(parquet_tables()) - {DIGEST_TABLE}


def _is_store(path: Path) -> bool:
    try:
        existing_store(path)
    except StoreError:
        return False
    return True
