"""Synthetic dumps for the benchmarks, each with a fixed seed."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from struct import Struct
from typing import TYPE_CHECKING, BinaryIO

from zscope.samples import Recipe, generate, mixed, zert_only
from zscope.samples.world import WorldRecipe, write_world

if TYPE_CHECKING:
    from pathlib import Path

ZERT_RECORDS = 300_000
MIXED_BYTES = 300_000_000
LARGE_BYTES = 3_000_000_000
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


def zert_dump(folder: Path, records: int = ZERT_RECORDS) -> Dump:
    """Write a dump with only zERT detail records."""
    return _made(folder / "zert.smf", zert_only(records, seed=SEED))


def odd_dump(folder: Path, clean: Dump) -> Dump:
    """Write the zERT records with values that differ in every record, as of clients with own certificates.

    The serial numbers and expiries are random, and the names of the subjects are random texts of 1 to 40
    letters, so neither dictionaries nor fixed lengths help.
    """
    path = folder / "zert-odd.smf"
    random = Random(SEED)
    data = clean.path.read_bytes()
    with path.open("wb") as out:
        place = 0
        while place < len(data):
            end = place + int.from_bytes(data[place : place + 2], "big")
            out.write(_odd_record(bytearray(data[place:end]), random))
            place = end
    return Dump(path, clean.records)


_TYPE, _SUBTYPE, _COUNT = 5, slice(22, 24), slice(24, 26)
_TLS_TRIPLET, _NAMES_TRIPLET = 28 + 8 * 3, 28 + 8 * 6
_CERTIFICATES = (79, 127)
"""The places of two certificates in the TLS section of SMF 119-11: one byte with the length of the serial
number, 20 bytes with the number, a byte with the form of the expiry, and the expiry.
"""
_EXPIRY = 22
_FIRST_EXPIRY, _SECONDS = datetime(2027, 1, 1, tzinfo=UTC), 10 * 365 * 86_400
_TRIPLET = Struct(">IHH")


def _odd_record(record: bytearray, random: Random) -> bytes:
    """Return a zERT detail record with other serial numbers and subjects, any other record unchanged."""
    if record[_TYPE] != 119 or record[_SUBTYPE] != b"\0\x0b" or int.from_bytes(record[_COUNT], "big") < 7:
        return bytes(record)
    tls, _, number = _TRIPLET.unpack_from(record, _TLS_TRIPLET)
    for place in _CERTIFICATES if number else ():
        at = tls + place
        size = record[at]
        if size:
            record[at + 1 : at + 1 + size] = random.randbytes(size)
            expiry = _FIRST_EXPIRY + timedelta(seconds=random.randrange(_SECONDS))
            record[at + _EXPIRY : at + _EXPIRY + 15] = f"{expiry:%Y%m%d%H%M%SZ}".encode("cp037")
    offset, _, count = _TRIPLET.unpack_from(record, _NAMES_TRIPLET)
    if not count:
        return bytes(record)
    entries = []
    at = offset
    while at < len(record):
        size, kind = int.from_bytes(record[at : at + 2], "big"), record[at + 2 : at + 4]
        name = bytes(record[at + 4 : at + size])
        if kind[1] % 2:  # subjects have odd numbers, issuers even ones
            name = "CN=".encode("cp037") + bytes(random.choices(_LETTERS, k=random.randint(1, 40)))
        entries.append((4 + len(name)).to_bytes(2, "big") + kind + name)
        at += size
    length = sum(map(len, entries)) if count == 1 else max(map(len, entries))
    del record[offset:]
    _TRIPLET.pack_into(record, _NAMES_TRIPLET, offset, length, count)
    record += b"".join(entries)
    record[:2] = len(record).to_bytes(2, "big")
    return bytes(record)


_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789".encode("cp037")


def mixed_dump(folder: Path, size: int = MIXED_BYTES) -> Dump:
    """Write a dump with all kinds of records, in which type 119 is a tenth of the bytes."""
    return _made(folder / "mixed.smf", mixed(size, seed=SEED))


def decoded_dump(folder: Path, size: int = MIXED_BYTES) -> Dump:
    """Write a dump of four systems, whose records are all decoded: 119-11, 119-2, 119-12, 70, 72 and 30."""
    recipe = WorldRecipe(seed=SEED, days=1, runs="none", connections_per_hour=round(size / DECODED_BYTES))
    path, world = folder / "decoded.smf", folder / "decoded-world"
    write_world(recipe, world, lambda _: None)
    records = 0
    with path.open("wb") as out:
        for source in sorted((world / "smf").glob("*.smf")):
            records += _copy_kinds(source.read_bytes(), out)
    shutil.rmtree(world)
    return Dump(path, records)


DECODED_BYTES = 52_000
"""Approximate length of the selected records of a day for each connection per hour."""
_ALL_SUBTYPES = {70, 72, 30}
_OF_119 = {2, 11, 12}


def _copy_kinds(data: bytes, out: BinaryIO) -> int:
    """Copy the records of the dump that it contains, and return their number."""
    place = records = 0
    while place < len(data):
        end = place + int.from_bytes(data[place : place + 2], "big")
        record_type = data[place + _TYPE]
        subtype = int.from_bytes(data[place + 22 : place + 24], "big")
        if record_type in _ALL_SUBTYPES or (record_type == 119 and subtype in _OF_119):
            out.write(data[place:end])
            records += 1
        place = end
    return records


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
