"""One published table: read its newest version, add snapshots, and replace it atomically.

A version is a metadata file with a number. It is complete and on the disk before it gets its name, and all
files that it names are on the disk before that. The file `version-hint.text` follows when the name is on the
disk; readers that know the format continue from its number to the newest version.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from pyiceberg.exceptions import ValidationError
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil, TableMetadataV2
from pyiceberg.table.refs import MAIN_BRANCH, SnapshotRef, SnapshotRefType
from pyiceberg.table.snapshots import Operation, Snapshot, SnapshotLogEntry, Summary
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER

from zscope.pipelines.iceberg.changes import WHOLE_TABLE, TableChange, readable_changes
from zscope.pipelines.iceberg.iceberg_columns import schema_of, table_properties
from zscope.pipelines.iceberg.manifests import CannotContinueError, Changed, Manifests
from zscope.pipelines.iceberg.published_folder import HINT, PublicationError, TableMark, uri_of, version_hint
from zscope.pipelines.store.commits import COMPACT
from zscope.pipelines.store.folder import fsync_all, is_temporary, temporary_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema

COMMIT = "zscope.commit"
"""Entry in the summary of a snapshot: the commit of the store after which the table had these rows."""
KEPT_SNAPSHOTS = 10
"""Number of snapshots that stay besides the newest, as long as the store has their files."""
_NO_PARTITION = 999
"""The greatest number of a partition field in a table without partitions."""
_UNUSED = "unused.json"
_METADATA = re.compile(r"v(\d+)\.metadata\.json")
_OURS = re.compile(r"v\d+\.metadata\.json|[0-9a-f-]{36}-m\d+\.avro|snap-\d+-[0-9a-f-]{36}\.avro")
"""Names of the files that a table consists of; others are never deleted."""


@dataclass(slots=True)
class PublishedVersion:
    """The newest version of a published table."""

    folder: Path
    name: str
    number: int
    """0 if there is none."""
    metadata: TableMetadata | None
    """None if there is none, or if it cannot be continued."""

    @classmethod
    def newest(cls, folder: Path, name: str, known: int = 0) -> PublishedVersion:
        """Return the newest version of a table, which has at least a known number."""
        place = folder / "metadata"
        number = max(known, version_hint(folder))
        if not (place / _file_of(number)).exists():  # the hint, or what is known, is wrong
            number = max(_numbers(place), default=0)
        while (place / _file_of(number + 1)).exists():  # a publication was stopped before the hint
            number += 1
        metadata = _read(place / _file_of(number)) if number else None
        return cls(folder, name, number, metadata if _is_published(metadata, folder) else None)

    @property
    def commit(self) -> int:
        """The commit up to which it is published; 0 before the first."""
        snapshot = self.metadata.current_snapshot() if self.metadata else None
        return int((snapshot and snapshot.summary and snapshot.summary[COMMIT]) or 0)

    @property
    def schema(self) -> Schema:
        """The columns that the table should have."""
        if self.metadata is None:
            return schema_of(self.name)
        return schema_of(self.name, self.metadata.schema(), self.metadata.last_column_id)

    @property
    def is_current(self) -> bool:
        """Whether columns and properties are those of this version of zscope."""
        if self.metadata is None:
            return False
        wanted = table_properties(self.name, self.schema, self.metadata.properties)
        return self.schema == self.metadata.schema() and wanted.items() <= self.metadata.properties.items()


def _is_published(metadata: TableMetadata | None, folder: Path) -> bool:
    """Whether metadata is of a table in this folder, and no client with the right to write has changed it."""
    snapshot = metadata.current_snapshot() if metadata else None
    if metadata is None or snapshot is None or snapshot.summary is None:
        return False
    return metadata.location == uri_of(folder) and snapshot.summary[COMMIT] is not None


def _numbers(place: Path) -> list[int]:
    names = os.listdir(place) if place.is_dir() else []  # noqa: PTH208
    return [int(match[1]) for name in names if (match := _METADATA.fullmatch(name))]


def _file_of(number: int) -> str:
    return f"v{number}.metadata.json"


def _read(path: Path) -> TableMetadata | None:
    try:
        return TableMetadataUtil.parse_raw(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, ValidationError):
        return None


@dataclass(frozen=True, slots=True)
class Retention:
    """How long what is replaced can still be read."""

    grace_ms: int
    now_ms: int = field(default_factory=lambda: round(datetime.now(UTC).timestamp() * 1000))


@dataclass(slots=True)
class NextVersion:
    """The next version of a table."""

    before: PublishedVersion
    data: Path
    """The data folder of the store."""
    retention: Retention
    new_snapshots: int = 0
    _manifests: Manifests = field(init=False)
    _metadata: TableMetadataV2 = field(init=False)

    def __post_init__(self) -> None:
        place = self.before.folder / "metadata"
        place.mkdir(parents=True, exist_ok=True)
        self._manifests = Manifests(place, self.data)
        self._metadata = self._with_current_columns()
        if snapshot := self._metadata.current_snapshot():
            self._manifests.current = self._manifests.read(snapshot.manifest_list)

    def _with_current_columns(self) -> TableMetadataV2:
        old, schema = self.before.metadata, self.before.schema
        properties = table_properties(self.before.name, schema, old.properties if old else {})
        if old is None:
            return TableMetadataV2.model_validate(
                {
                    "location": uri_of(self.before.folder),
                    "table-uuid": uuid4(),
                    "last-column-id": schema.highest_field_id,
                    "schemas": [schema],
                    "current-schema-id": schema.schema_id,
                    "partition-specs": [UNPARTITIONED_PARTITION_SPEC],
                    "last-partition-id": _NO_PARTITION,
                    "sort-orders": [UNSORTED_SORT_ORDER],
                    "properties": properties,
                }
            )
        assert isinstance(old, TableMetadataV2), "the version of the format that is written"
        schemas = [each for each in old.schemas if each.schema_id != schema.schema_id]
        return old.model_copy(
            update={
                "schemas": [*schemas, schema],
                "current_schema_id": schema.schema_id,
                "last_column_id": max(old.last_column_id, schema.highest_field_id),
                "properties": old.properties | properties,
            }
        )

    def add(self, changes: Sequence[TableChange]) -> None:
        """Add a snapshot for each change, as far as somebody can read it."""
        for change in readable_changes(
            changes, self.retention.now_ms, self.retention.grace_ms, KEPT_SNAPSHOTS
        ):
            if change.adds or change.drops:
                self._add(change)

    def difference(self, wanted: TableChange) -> TableChange | None:
        """Return the change from the published files to those of the whole table; None if they are equal."""
        locations = {self._manifests.location(path): file for path, file in wanted.adds.items()}
        live = {file.file_path for file in self._manifests.live_files()}
        adds = {file.path: file for location, file in locations.items() if location not in live}
        start = f"{uri_of(self.data)}/"
        drops = frozenset(location.removeprefix(start) for location in live - locations.keys())
        if not adds and not drops:
            return None
        return TableChange(wanted.commit, WHOLE_TABLE, wanted.at_ms, adds, drops)

    def _add(self, change: TableChange) -> None:
        old, schema = self._metadata, self._metadata.schema()
        parent = old.current_snapshot()
        snapshot_id = old.new_snapshot_id()
        number = old.last_sequence_number + 1
        changed = self._manifests.apply(change, schema, snapshot_id)
        parent_id = parent.snapshot_id if parent else None
        snapshot = Snapshot.model_validate(
            {
                "snapshot-id": snapshot_id,
                "parent-snapshot-id": parent_id,
                "sequence-number": number,
                "timestamp-ms": max(change.at_ms, parent.timestamp_ms + 1 if parent else 0),
                "manifest-list": self._manifests.write_list(snapshot_id, parent_id, number),
                "summary": _summary(change, changed, parent),
                "schema-id": schema.schema_id,
            }
        )
        main = SnapshotRef.model_validate({"snapshot-id": snapshot_id, "type": SnapshotRefType.BRANCH})
        self._metadata = old.model_copy(
            update={
                "snapshots": [*old.snapshots, snapshot],
                "current_snapshot_id": snapshot_id,
                "last_sequence_number": number,
                "refs": {MAIN_BRANCH: main},
            }
        )
        self.new_snapshots += 1

    def commit(self) -> TableMark:
        """Make the version the newest one, and delete what nobody reads any more."""
        self._expire()
        place, number = self.before.folder / "metadata", self.before.number + 1
        path, temporary = place / _file_of(number), temporary_path(place / _file_of(number))
        temporary.write_text(self._metadata.model_dump_json(), encoding="utf-8")
        fsync_all([*self._manifests.written, temporary])
        fsync_all([place, *self.before.folder.parents[:2], self.before.folder])
        # Unlike a rename, a link fails if the version exists, even if locking does not work.
        try:
            os.link(temporary, path)
        except FileExistsError as error:
            raise PublicationError(
                f"{path}: another process published the table at the same time; try again"
            ) from error
        finally:
            temporary.unlink(missing_ok=True)
        mark = self._pointed_to(number)
        self._sweep(place, path.name)
        return mark

    def recover(self) -> TableMark:
        """Complete the version before, after a publication that was stopped; it stays the newest one."""
        number = self.before.number
        mark = self._pointed_to(number)
        self._sweep(self.before.folder / "metadata", _file_of(number))
        return mark

    def _pointed_to(self, number: int) -> TableMark:
        hint = self.before.folder / "metadata" / HINT
        temporary = temporary_path(hint)
        temporary.write_text(str(number), encoding="ascii")
        fsync_all([temporary, hint.parent])
        temporary.replace(hint)  # if this is lost, the hint is that of an earlier version
        snapshot = self._metadata.current_snapshot()
        summary = snapshot.summary if snapshot else None
        files, rows = (int((summary and summary[key]) or 0) for key in ("total-data-files", "total-records"))
        return TableMark(number, files, rows)

    def _expire(self) -> None:
        """Forget the snapshots that a later one replaced, unless the store still has their files."""
        old = self._metadata
        begin = self.retention.now_ms - self.retention.grace_ms
        kept = [
            snapshot
            for snapshot, later in zip(old.snapshots, [*old.snapshots[1:], None], strict=True)
            if later is None or later.timestamp_ms > begin
        ][-KEPT_SNAPSHOTS - 1 :]
        schemas = {old.current_schema_id, *(snapshot.schema_id for snapshot in kept)}
        log = [
            SnapshotLogEntry.model_validate(
                {"snapshot-id": each.snapshot_id, "timestamp-ms": each.timestamp_ms}
            )
            for each in kept
        ]
        newest = kept[-1].timestamp_ms if kept else 0
        self._metadata = old.model_copy(
            update={
                "snapshots": kept,
                "snapshot_log": log,
                "schemas": [each for each in old.schemas if each.schema_id in schemas],
                "last_updated_ms": max(self.retention.now_ms, newest),
            }
        )

    def _sweep(self, place: Path, newest: str) -> None:
        """Delete the files of old versions that no version needs since the grace period."""
        used = {newest}
        for snapshot in self._metadata.snapshots:
            used.add(_name(snapshot.manifest_list))
            try:
                manifests = self._manifests.read(snapshot.manifest_list)
            except CannotContinueError:  # of an old snapshot: delete nothing until that is forgotten
                return
            used |= {_name(manifest.manifest_path) for manifest in manifests}
        since = _unused_since(place)
        unused: dict[str, int] = {}
        for path in _files_in(place):
            if is_temporary(path):
                path.unlink(missing_ok=True)
            elif _OURS.fullmatch(path.name) and path.name not in used:
                at = since.get(path.name, self.retention.now_ms)
                if at + self.retention.grace_ms <= self.retention.now_ms:
                    path.unlink(missing_ok=True)
                else:
                    unused[path.name] = at
        # Not flushed: if it is lost, files stay for longer.
        (place / _UNUSED).write_text(json.dumps(unused), encoding="utf-8")


def remove_table(folder: Path) -> None:
    """Delete the metadata of a table that is not published any more; other files in the folder stay."""
    place = folder / "metadata"
    if not place.is_dir():
        return
    for path in _files_in(place):
        if _OURS.fullmatch(path.name) or path.name in {HINT, _UNUSED} or is_temporary(path):
            path.unlink(missing_ok=True)
    for empty in (place, folder):
        if not any(empty.iterdir()):
            empty.rmdir()


def _name(location: str) -> str:
    return location.rpartition("/")[2]


def _files_in(place: Path) -> Iterable[Path]:
    return [place / name for name in os.listdir(place)]  # noqa: PTH208 - names are enough


def _unused_since(place: Path) -> dict[str, int]:
    """Return the files that were not needed any more by an earlier version, and since when."""
    try:
        content = json.loads((place / _UNUSED).read_text(encoding="utf-8"))
        return {str(name): int(at) for name, at in content.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}  # the grace period begins again


def _summary(change: TableChange, changed: Changed, parent: Snapshot | None) -> Summary:
    """Return what a snapshot says about itself; pyiceberg has no totals of snapshots that replace files."""
    values: dict[str, int] = dict.fromkeys(_NO_DELETE_FILES, 0)
    for name, of_file in _COUNTS.items():
        added, deleted = (sum(map(of_file, files)) for files in (changed.added, changed.deleted))
        before = int((parent and parent.summary and parent.summary[f"total-{name}"]) or 0)
        values |= {f"added-{name}": added, f"total-{name}": before + added - deleted}
        if deleted:
            values[_DELETED[name]] = deleted
    texts = {name: str(value) for name, value in values.items()}
    texts |= {COMMIT: str(change.commit), "zscope.kind": change.kind, "zscope.commits": str(change.commits)}
    if change.loads:
        # The loads of one commit have consecutive numbers.
        texts["zscope.load"] = "-".join(str(load) for load in sorted({change.loads[0], change.loads[-1]}))
    return Summary(_operation(change), **texts)


_COUNTS: dict[str, Callable[[DataFile], int]] = {
    "data-files": lambda _: 1,
    "records": lambda file: file.record_count,
    "files-size": lambda file: file.file_size_in_bytes,
}
_DELETED = {
    "data-files": "deleted-data-files",
    "records": "deleted-records",
    "files-size": "removed-files-size",
}
_NO_DELETE_FILES = ("total-delete-files", "total-position-deletes", "total-equality-deletes")


def _operation(change: TableChange) -> Operation:
    if not change.drops:
        return Operation.APPEND
    if not change.adds:
        return Operation.DELETE
    same_rows = change.kind == COMPACT and change.commits == 1
    return Operation.REPLACE if same_rows else Operation.OVERWRITE
