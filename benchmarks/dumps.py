"""Synthetic dumps for the benchmarks, each with a fixed seed."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zscope.samples import Recipe, generate, mixed, zert_only

if TYPE_CHECKING:
    from pathlib import Path

ZERT_RECORDS = 300_000
MIXED_BYTES = 300_000_000
LARGE_BYTES = 3_000_000_000
MANY_ZERT_RECORDS = 3_000_000
MANY_MIXED_BYTES = 1_500_000_000
SEED = 1


@dataclass(frozen=True)
class Dump:
    """A dump file and its number of records according to the manifest."""

    path: Path
    records: int

    @property
    def bytes(self) -> int:
        """Size of the file."""
        return self.path.stat().st_size

    def describe(self) -> str:
        """Return a description in one line."""
        average = self.bytes / self.records
        return f"{self.bytes / 1e6:,.0f} MB, {self.records:,} records of {average:.0f} bytes on average"


def zert_dump(folder: Path) -> Dump:
    """Write a dump with only zERT detail records."""
    return _made(folder / "zert.smf", zert_only(ZERT_RECORDS, seed=SEED))


def mixed_dump(folder: Path) -> Dump:
    """Write a dump with all kinds of records, in which type 119 is a tenth of the bytes."""
    return _made(folder / "mixed.smf", mixed(MIXED_BYTES, seed=SEED))


def many_zert_dump(folder: Path) -> Dump:
    """Write as many records as a large site has in a day, all different as the store has no duplicates."""
    return _made(folder / "zert-many.smf", zert_only(MANY_ZERT_RECORDS, seed=SEED))


def many_mixed_dump(folder: Path) -> Dump:
    """Write a mixed dump for which the start of a process is insignificant."""
    return _made(folder / "mixed-many.smf", mixed(MANY_MIXED_BYTES, seed=SEED))


def first_records(path: Path, size: int) -> bytes:
    """Return the whole records in the first bytes of a dump."""
    with path.open("rb") as file:
        data = file.read(size)
    end, place = 0, 0
    while place + 2 <= len(data):
        end, place = place, place + int.from_bytes(data[place : place + 2], "big")
    return data[:end]


def large_dump(folder: Path, part: Dump) -> Dump:
    """Write a dump many times over, as after concatenating daily dumps."""
    path = folder / "large.smf"
    times = round(LARGE_BYTES / part.bytes)
    with path.open("wb") as out:
        for _ in range(times):
            with part.path.open("rb") as source:
                shutil.copyfileobj(source, out, 1 << 24)
    return Dump(path, times * part.records)


def _made(path: Path, recipe: Recipe) -> Dump:
    with path.open("wb") as out:
        manifest = generate(recipe, out)
    return Dump(path, manifest.records)
