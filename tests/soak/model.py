"""Random operations on a store, and the contents that it must have after each of them."""

from __future__ import annotations

import gzip
import math
import os
import random
import resource
import struct
import subprocess
import sys
import threading
import time
import zlib
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from tests.dumps import generated
from tests.pipelines.stores import plain_client
from tests.soak import faults

from zscope.parsers import read
from zscope.pipelines.store.file_checks import check_store
from zscope.pipelines.store.folder import existing_store
from zscope.samples import Recipe
from zscope.samples.reports import report_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import duckdb

FIRST_DAY = datetime(2026, 1, 5, tzinfo=UTC)
RECORDS = 300
SMALL_RECORDS = 12
SMALL_FILES, MANY_FILES = 40, 5_000
FEW_RECORDS, HOURS_OF_MANY = 2, 48
WHOLE_OR_LAST = (0, 2)
"""Codes of segments in record descriptor words: a whole record, or the last segment of one."""
DONE, WITH_NOTES, WITH_WARNINGS = 0, 4, 8
"""Exit codes of commands that did what they were told."""
DEFECT = "defect in zscope"
"""In the message for an unexpected error."""
BUSY_S = 3600
"""Limit for a command on a busy machine."""
MOST_OPERATIONS = 10_000
"""Operations on files in a load of a few files, about."""
YEAR_S = 31_556_952
SMALL_DISK_BLOCKS = 100
"""Largest file that a command can write on the full disk, in blocks of 512 bytes."""
MOST_DAYS = 2
"""With fewer days between the first and the last one, no day expires."""

PLACES = ("record_offset", "line_no")
"""Columns with the place of a row in a dump or report."""
Contents = Counter[str]
"""The number of rows by table, and under TABLE.PLACE the sum of their places."""


class WrongStoreError(AssertionError):
    """The contents of the store differ from the expected contents."""


@dataclass
class Soak:
    """A store, its expected contents, and the operations that change both."""

    folder: Path
    seed: int
    choice: random.Random = field(init=False)
    contents: dict[str, Contents] = field(default_factory=dict)
    """What each loaded file adds to the store, by its path in the folder of inputs."""
    done: Counter[str] = field(default_factory=Counter)
    """How often each operation was done."""
    killed: int = 0
    files: int = 0

    def __post_init__(self) -> None:
        self.choice = random.Random(self.seed)
        self.inputs = self.folder / "inputs"
        self.store = self.folder / "store"
        self.inputs.mkdir(parents=True)
        self.library = faults.build(self.folder) if faults.COMPILER else None
        self.load()

    def round(self, operation: Callable[[], None] | None = None) -> str:
        """Execute an operation, by default a random one, check the contents, and return its name."""
        operation = operation or self._any_operation()
        try:
            operation()
            self.compare()
        except WrongStoreError as error:
            error.add_note(f"after {operation.__name__}; the last files are {sorted(self.contents)[-5:]}")
            raise
        self.done[operation.__name__] += 1
        return operation.__name__

    def _any_operation(self) -> Callable[[], None]:
        operations = self.operations()
        [operation] = self.choice.choices(list(operations), list(operations.values()))
        return operation

    def operations(self) -> dict[Callable[[], None], int]:
        """Return the operations and how often each is chosen."""
        operations: dict[Callable[[], None], int] = {
            self.load: 6, self.load_reports: 2, self.load_again: 2, self.load_killed: 4, self.load_by_two: 2,
            self.load_damaged: 2, self.load_growing: 2, self.load_small_files: 1, self.load_on_full_disk: 2,
            self.remove: 2, self.compact: 1, self.expire: 1,
        }  # fmt: skip
        if self.library:
            operations |= {
                self.load_from_failing_disk: 1, self.load_to_failing_disk: 3, self.compact_on_failing_disk: 1,
                self.load_with_short_transfers: 1, self.load_with_wrong_clock: 2,
            }  # fmt: skip
        return operations

    def load(self) -> None:
        """Load one to three new files."""
        self._load([self._dump() for _ in range(self.choice.randint(1, 3))])

    def load_reports(self) -> None:
        """Load RMF reports, and displays of NETSTAT and GSKSRVR."""
        self._load(self._reports())

    def load_again(self) -> None:
        """Load a file that was loaded already, under its own name or another one: nothing changes."""
        name = self.choice.choice(sorted(self.contents))
        path = self.inputs / name
        if self.choice.random() < 0.5:
            other = self.folder / f"copy-of-{path.name}"
            other.write_bytes(path.read_bytes())
            path = other
        self._zscope("ingest", path)

    def load_killed(self) -> None:
        """Kill a load at any moment; the next one completes it."""
        paths = [self._dump() for _ in range(2)]
        process = self._start("ingest", *paths)
        time.sleep(self.choice.uniform(0, 3))
        process.kill()
        process.communicate()
        self.killed += process.returncode != DONE
        self._load(paths)

    def load_by_two(self) -> None:
        """Two processes load different files at the same time."""
        paths = [self._dump(), self._dump()]
        processes = [self._start("ingest", path) for path in paths]
        for process in processes:
            self._finish(process)
        self._expect(paths)

    def load_damaged(self) -> None:
        """Load a file in which some bytes are wrong; what can be read is loaded."""
        path = self._dump() if self.choice.random() < 0.5 else self.choice.choice(self._reports())
        content = bytearray(path.read_bytes())
        begin = self.choice.randrange(len(content) // 4, len(content) - 100)
        content[begin : begin + self.choice.randint(1, 80)] = self.choice.randbytes(
            self.choice.randint(1, 80)
        )
        path.write_bytes(content)
        self._load([path])

    def load_growing(self) -> None:
        """Load a file that is still being written, and again when it is complete."""
        path = self._dump()
        content = path.read_bytes()
        cut = self.choice.randrange(len(content) // 3, len(content))
        path.write_bytes(content[:cut])

        def write() -> None:
            time.sleep(self.choice.uniform(0, 1.5))
            with path.open("ab") as file:
                file.write(content[cut:])

        writer = threading.Thread(target=write)
        writer.start()
        self._zscope("ingest", path)
        writer.join()
        self._load([path])

    def load_small_files(self) -> None:
        """Load many small files at once."""
        self._load([self._dump(SMALL_RECORDS) for _ in range(SMALL_FILES)])

    def load_on_full_disk(self) -> None:
        """Load with a limit on what can be written: it fails, and nothing or whole files are in the store."""
        path = self._dump()
        self._finish(self._start("ingest", path, full_disk=True), may_fail=True)
        self._load([path])

    def load_many_files(self) -> None:
        """Load thousands of files with few records of two days at once."""
        first = self.files + 1
        self.files += MANY_FILES
        content = self._new_dump(first, FEW_RECORDS * MANY_FILES, HOURS_OF_MANY)
        paths = [self.inputs / f"dump-{first + number:05}.smf" for number in range(MANY_FILES)]
        for path, piece in zip(paths, pieces_of(content, MANY_FILES), strict=True):
            path.write_bytes(piece)
        self._load(paths)

    def load_to_failing_disk(self) -> None:
        """Load while the disk of the store has errors; the next load has none."""
        path = self._dump()
        self._finish(self._start("ingest", path, fault=self._disk_errors(self.store)), may_fail=True)
        self._load([path])

    def load_from_failing_disk(self) -> None:
        """Load while the disk of the inputs has errors; the next load has none."""
        path = self._dump()
        self._finish(self._start("ingest", path, fault=self._disk_errors(path, 30)), may_fail=True)
        self._load([path])

    def load_with_short_transfers(self) -> None:
        """Load while each read and write transfers less than it was asked for."""
        path = self._dump()
        self._finish(
            self._start("ingest", path, fault=faults.short(self.folder, self.choice.randint(1_000, 9_000)))
        )
        self._expect([path])

    def load_with_wrong_clock(self) -> None:
        """Load while the clock is wrong by up to ten years."""
        path = self._dump()
        wrong_s = int(self.choice.uniform(-10, 10) * YEAR_S)
        self._finish(self._start("ingest", path, fault=faults.wrong_clock(wrong_s)))
        self._expect([path])

    def compact_on_failing_disk(self) -> None:
        """Merge small files while the disk has errors: the contents stay the same."""
        self._finish(self._start("store", "compact", fault=self._disk_errors(self.store)), may_fail=True)

    def _disk_errors(self, folder: Path, most: int = MOST_OPERATIONS) -> dict[str, str]:
        """Return errors that begin at a random operation, and end after one or never."""
        at = int(math.exp(self.choice.uniform(0, math.log(most))))
        return faults.failing(folder, at, self.choice.choice([0, 1]))

    def expire(self) -> None:
        """Remove the oldest days."""
        with self._connection() as connection:
            [(first, last)] = connection.execute(
                "SELECT min(day), max(day) FROM (SELECT written_local::DATE AS day FROM smf119_zert_detail)"
            ).fetchall()
        if first is None or (last - first).days < MOST_DAYS:
            return
        first_kept = first + timedelta(days=1)
        self._drop_days_before(first_kept)
        self._zscope("store", "expire", "--keep", f"{(datetime.now(UTC).date() - first_kept).days}d")

    def _drop_days_before(self, first_kept: date) -> None:
        """Reduce the expected contents to rows of later days and without a day, as they are stored now."""
        left: dict[str, Contents] = {name: Counter() for name in self.contents}
        with self._connection() as connection:
            for table, place in sums_of(self.contents):
                rows_left = connection.execute(
                    f"SELECT load.file, count(*), sum({place}) FROM {table} "
                    "JOIN load USING (load_id) WHERE day IS NULL OR day >= ? GROUP BY load.file",
                    [first_kept],
                ).fetchall()
                for file, rows, places in rows_left:
                    contents = left[self._name(file)]
                    contents[table] += rows
                    contents[f"{table}.{place}"] += int(places)
        self.contents = left

    def remove(self) -> None:
        """Remove a load."""
        with self._connection() as connection:
            loads = connection.execute(
                "SELECT load_id, file FROM load WHERE status = 'loaded' AND rows > 0 ORDER BY load_id"
            ).fetchall()
        loads = [(number, self._name(file)) for number, file in loads if self._name(file) in self.contents]
        if len(loads) < 2:
            return
        number, name = self.choice.choice(loads)
        if sum(name == other for _, other in loads) == 1:
            self._zscope("loads", "remove", number)
            del self.contents[name]

    def compact(self) -> None:
        """Merge small files of the store."""
        self._zscope("store", "compact")

    def compare(self) -> None:
        """Raise an error if the store is damaged, or does not have the expected contents."""
        check_store(existing_store(self.store))
        expected: Contents = Counter()
        for contents in self.contents.values():
            expected.update(contents)
        found: Contents = Counter()
        with self._connection() as connection:
            for table, place in sums_of(self.contents):
                [(rows, places)] = connection.execute(
                    f"SELECT count(*), coalesce(sum({place}), 0) FROM {table}"
                ).fetchall()
                found[table], found[f"{table}.{place}"] = rows, int(places)
        if found != expected:
            raise WrongStoreError(
                f"expected, not found: {expected - found}; found, not expected: {found - expected}"
            )

    def _dump(self, records: int = RECORDS) -> Path:
        """Write a new dump whose records no other one has; some are packed."""
        self.files += 1
        content = self._new_dump(self.files, records)
        path = self.inputs / f"dump-{self.files:05}.smf"
        if self.choice.random() < 0.2:
            path, content = path.with_suffix(".smf.gz"), gzip.compress(content)
        path.write_bytes(content)
        return path

    def _reports(self) -> list[Path]:
        """Write the reports about a new dump, which is not loaded itself."""
        self.files += 1
        folder = self.inputs / f"reports-{self.files:05}"
        folder.mkdir()
        dump = self.folder / "dump-of-reports.smf"
        dump.write_bytes(self._new_dump(self.files, RECORDS))
        paths = []
        for file in report_files(dump, self._recipe(self.files, RECORDS)):
            paths.append(folder / file.name)
            paths[-1].write_bytes(file.content)
        return paths

    def _new_dump(self, number: int, records: int, hours: int = 1) -> bytes:
        return generated(self._recipe(number, records, hours))

    def _recipe(self, number: int, records: int, hours: int = 1) -> Recipe:
        # Two dumps of the same hour could contain the same record, which is stored once.
        start = FIRST_DAY + timedelta(hours=number)
        seed = self.seed * 1_000_003 + number
        return Recipe(records=records, seed=seed, start=start, end=start + timedelta(hours=hours))

    def _name(self, file: str) -> str:
        """Return the path of a loaded file in the folder of inputs."""
        return file.removeprefix(f"{self.inputs}/")

    def _load(self, paths: list[Path]) -> None:
        self._zscope("ingest", *paths)
        self._expect(paths)

    def _expect(self, paths: list[Path]) -> None:
        """Add the contents of files, read without a store, to the expected contents."""
        for path in paths:
            self.contents[self._name(str(path))] = contents_of(path)

    def _zscope(self, *arguments: object) -> None:
        self._finish(self._start(*arguments))

    def _start(
        self, *arguments: object, full_disk: bool = False, fault: dict[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        where = ["--store", self.store]
        zone = ["--timezone", "+00:00"] if arguments[0] == "ingest" else []
        command = [sys.executable, "-m", "zscope", *map(str, (*arguments, *where, *zone))]
        if full_disk:
            # A write beyond the limit fails as on a full disk, instead of ending the process.
            command = [
                "sh",
                "-c",
                f"trap '' XFSZ; ulimit -f {SMALL_DISK_BLOCKS}; exec \"$@\"",
                "sh",
                *command,
            ]
        preloaded = {"LD_PRELOAD": str(self.library), **fault} if fault else {}
        return subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=os.environ | preloaded
        )

    def _finish(self, process: subprocess.Popen[bytes], *, may_fail: bool = False) -> None:
        _, messages = process.communicate(timeout=BUSY_S)
        text = messages.decode(errors="replace")
        done = process.returncode in {DONE, WITH_NOTES, WITH_WARNINGS}
        # An error of the disk has a message; it must not end in a traceback.
        if DEFECT in text or not (done or may_fail):
            raise WrongStoreError(f"exit code {process.returncode}: {text[-2000:]}")

    def _connection(self) -> duckdb.DuckDBPyConnection:
        """Open the store with plain DuckDB, as other programs do."""
        return plain_client(self.store)


def contents_of(path: Path) -> Contents:
    """Read a file without a store, and count its rows. Of equal records the store has the first.

    A dump has equal records if its compressed data are damaged: data can then be repeated.
    """
    places: dict[tuple[str, str], list[int]] = {
        (name, place): table[place].to_pylist()
        for name, table in read(path).items()
        for place in PLACES
        if place in table.column_names
    }
    stored = first_of_equal_records(
        path,
        {offset for (_, place), offsets in places.items() if place == "record_offset" for offset in offsets},
    )
    contents: Contents = Counter()
    for (name, place), all_places in places.items():
        if there := [each for each in all_places if place != "record_offset" or each in stored]:
            contents[name], contents[f"{name}.{place}"] = len(there), sum(there)
    return contents


def first_of_equal_records(dump: Path, offsets: set[int]) -> set[int]:
    """Return the offsets of records, of equal ones the first."""
    bytes_read = _unpacked(dump)
    first: dict[bytes, int] = {}
    for offset in sorted(offsets):
        length = int.from_bytes(bytes_read[offset : offset + 2], "big")
        first.setdefault(bytes_read[offset : offset + length], offset)
    return set(first.values())


def sums_of(contents: Mapping[str, Contents]) -> list[tuple[str, str]]:
    """Return the tables of files, and the column with the place of a row in each."""
    keys = {key for each in contents.values() for key in each if "." in key}
    return [(table, place) for table, _, place in (key.partition(".") for key in sorted(keys))]


def rows_in(contents: Mapping[str, Contents]) -> int:
    """Return the number of rows of files."""
    return sum(count for each in contents.values() for key, count in each.items() if "." not in key)


def pieces_of(dump: bytes, count: int) -> list[bytes]:
    """Divide a dump between records into so many dumps, about equal in records."""
    ends = [0]
    at = 0
    while at < len(dump):
        length, segment = struct.unpack_from(">HB", dump, at)
        at += length
        if segment in WHOLE_OR_LAST:
            ends.append(at)
    cuts = [ends[number * (len(ends) - 1) // count] for number in range(count + 1)]
    return [dump[begin:end] for begin, end in pairwise(cuts)]


def _unpacked(path: Path) -> bytes:
    """Return the bytes of a dump, those before the damage if compressed data are damaged."""
    content = path.read_bytes()
    if path.suffix != ".gz":
        return content
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    unpacked = bytearray()
    with suppress(zlib.error):
        for byte in content:
            unpacked += unpacker.decompress(bytes([byte]))
    return bytes(unpacked)


def open_files() -> int:
    """Return the number of open files of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


def memory_mb() -> int:
    """Return the memory of this process."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() // 1_000_000
