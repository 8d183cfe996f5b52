"""Manifests: the Avro files that list the data files of a snapshot.

Each snapshot writes one new manifest, which also takes over the entries of small ones and of those from which
files were dropped. So a table has few manifests, and an entry is written again a few times only, however many
loads there are.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from uuid import uuid4

from pyiceberg.exceptions import ValidationError
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    read_manifest_list,
    write_manifest,
    write_manifest_list,
)
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.typedef import Record

from zscope.pipelines.iceberg.iceberg_columns import bounds_of
from zscope.pipelines.iceberg.published_folder import uri_of
from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyiceberg.avro.codecs import AvroCompressionCodec

    from zscope.pipelines.iceberg.changes import TableChange
    from zscope.pipelines.store import commits

SMALL_ENTRIES = 64
"""A manifest with this many entries or fewer is always written again: that costs milliseconds."""
MOST_ENTRIES = 10_000
"""A manifest with more entries is not merged with others."""
FORMAT_VERSION: Literal[2] = 2
_UNCOMPRESSED: AvroCompressionCodec = "null"
"""Each entry would be compressed by itself, which takes more time and saves nothing."""


class CannotContinueError(Error):
    """The manifests are missing, damaged or not those of the commits: the table has to be published again."""


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, EOFError, LookupError, TypeError, ValidationError) as error:
        raise CannotContinueError(str(error)) from error


@dataclass(slots=True)
class Manifests:
    """The manifests of the newest snapshot of a table, and the files written for the next ones."""

    folder: Path
    data: Path
    """The data folder of the store."""
    current: list[ManifestFile] = field(default_factory=list)
    written: list[Path] = field(default_factory=list)
    _io: PyArrowFileIO = field(default_factory=PyArrowFileIO)

    def read(self, manifest_list: str) -> list[ManifestFile]:
        """Return the manifests of a snapshot."""
        with _reading():
            return list(read_manifest_list(self._io.new_input(manifest_list)))

    def live_entries(self, manifest: ManifestFile) -> list[ManifestEntry]:
        """Return the entries of the files that are in the table."""
        with _reading():
            return manifest.fetch_manifest_entry(self._io, discard_deleted=True)

    def live_files(self) -> Iterator[DataFile]:
        """Yield all files of the newest snapshot."""
        for manifest in self.current:
            yield from (entry.data_file for entry in self.live_entries(manifest))

    def data_file(self, file: commits.DataFile, schema: Schema) -> DataFile:
        """Return the entry of a committed file; the file itself is not opened."""
        bounds = bounds_of(file, schema)
        return DataFile.from_args(
            content=DataFileContent.DATA,
            file_path=self.location(file.path),
            file_format=FileFormat.PARQUET,
            partition=Record(),
            record_count=file.rows,
            file_size_in_bytes=file.bytes,
            value_counts=dict.fromkeys(bounds.lower, file.rows),
            null_value_counts=bounds.nulls,
            lower_bounds=bounds.lower,
            upper_bounds=bounds.upper,
        )

    def location(self, path: str) -> str:
        """Return the location of a data file of the store."""
        return uri_of(self.data / path)

    def apply(self, change: TableChange, schema: Schema, snapshot_id: int) -> Changed:
        """Write the manifest of the next snapshot."""
        kept, existing, deleted = self._without({self.location(path) for path in change.drops})
        added = [self.data_file(file, schema) for file in change.adds.values()]
        rewritten = len(added) + len(existing)
        self.current = []
        for manifest in sorted(kept, key=_live_count):
            count = _live_count(manifest)
            if count <= max(rewritten, SMALL_ENTRIES) and rewritten + count <= MOST_ENTRIES:
                existing += self.live_entries(manifest)
                rewritten += count
            else:
                self.current.append(manifest)
        entries = [
            *(_entry(ManifestEntryStatus.ADDED, each, snapshot_id) for each in added),
            *(_same_entry(ManifestEntryStatus.EXISTING, each) for each in existing),
            *(_same_entry(ManifestEntryStatus.DELETED, each, snapshot_id) for each in deleted),
        ]
        self.current.insert(0, self._write(entries, schema, snapshot_id))
        return Changed(added, [each.data_file for each in deleted])

    def _without(
        self, dropped: set[str]
    ) -> tuple[list[ManifestFile], list[ManifestEntry], list[ManifestEntry]]:
        """Return the manifests without dropped files, and the other and dropped entries of the rest."""
        kept: list[ManifestFile] = []
        existing: list[ManifestEntry] = []
        deleted: list[ManifestEntry] = []
        for manifest in self.current:
            if not _live_count(manifest):
                continue  # it only lists files that the snapshot before dropped
            entries = self.live_entries(manifest) if dropped else []
            found = {entry.data_file.file_path for entry in entries} & dropped
            if not found:
                kept.append(manifest)
                continue
            dropped = dropped - found
            for entry in entries:
                (deleted if entry.data_file.file_path in found else existing).append(entry)
        if dropped:
            raise CannotContinueError(f"{min(dropped)} is not published")
        return kept, existing, deleted

    def _write(self, entries: Iterable[ManifestEntry], schema: Schema, snapshot_id: int) -> ManifestFile:
        path = self.folder / f"{uuid4()}-m0.avro"
        self.written.append(path)
        output = self._io.new_output(uri_of(path))
        plain = Schema(*(each.model_copy(update={"doc": None}) for each in schema.fields))
        with write_manifest(
            FORMAT_VERSION, UNPARTITIONED_PARTITION_SPEC, plain, output, snapshot_id, _UNCOMPRESSED
        ) as writer:
            for entry in entries:
                writer.add_entry(entry)
        return writer.to_manifest_file()

    def write_list(self, snapshot_id: int, parent_id: int | None, sequence_number: int) -> str:
        """Write the list of the manifests of a snapshot and return its location."""
        path = self.folder / f"snap-{snapshot_id}-{uuid4()}.avro"
        self.written.append(path)
        location = uri_of(path)
        with write_manifest_list(
            FORMAT_VERSION, self._io.new_output(location), snapshot_id, parent_id, sequence_number,
            _UNCOMPRESSED,
        ) as writer:  # fmt: skip
            writer.add_manifests(self.current)
        self.current = self.read(location)  # now with sequence numbers
        return location


@dataclass(frozen=True, slots=True)
class Changed:
    """The files that a snapshot adds and drops."""

    added: list[DataFile]
    deleted: list[DataFile]


def _live_count(manifest: ManifestFile) -> int:
    return (manifest.added_files_count or 0) + (manifest.existing_files_count or 0)


def _entry(status: ManifestEntryStatus, file: DataFile, snapshot_id: int) -> ManifestEntry:
    return ManifestEntry.from_args(
        status=status,
        snapshot_id=snapshot_id,
        sequence_number=None,
        file_sequence_number=None,
        data_file=file,
    )


def _same_entry(
    status: ManifestEntryStatus, entry: ManifestEntry, snapshot_id: int | None = None
) -> ManifestEntry:
    return ManifestEntry.from_args(
        status=status,
        snapshot_id=entry.snapshot_id if snapshot_id is None else snapshot_id,
        sequence_number=entry.sequence_number,
        file_sequence_number=entry.file_sequence_number,
        data_file=entry.data_file,
    )
