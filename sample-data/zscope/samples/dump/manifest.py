"""The manifest of a synthetic dump: expected counts, collected during generation and not by reading it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from zscope.samples.dump.recipe import Recipe


@dataclass(frozen=True, slots=True)
class DamageDone:
    """One kind of damage in a dump."""

    kind: str
    text: str
    issue: str | None
    """Code of the issue a reader should report; None if the dump is valid."""
    record_numbers: tuple[int, ...] = ()
    """Numbers of the damaged records, counted from 1 as a reader counts them."""
    byte_ranges: tuple[tuple[int, int], ...] = ()
    """Ranges of the damaged bytes (end exclusive) in the dump before packing."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """Contents of a dump; a reader that decodes the dump should report the same numbers."""

    zscope_version: str
    recipe: Mapping[str, Any]
    seed: int
    sha256: str
    """Hash of the written file."""
    file_bytes: int
    dump_bytes: int
    """Bytes before packing."""
    records: int
    """All records that a reader counts, including the headers and trailers of the dump."""
    records_by_type: Mapping[str, int]
    """By type, with the subtype where the record has one: `119-11`, `70-1`, `2`."""
    rows_by_table: Mapping[str, int]
    zert_detail_by_tls_version: Mapping[str, int]
    zert_detail_by_cipher: Mapping[str, int]
    zert_detail_by_handshake: Mapping[str, int]
    first_written_local: Mapping[str, str]
    """For each system, in its local time."""
    last_written_local: Mapping[str, str]
    damage: tuple[DamageDone, ...]
    refused: str | None
    """Issue code if the whole file cannot be read; the counts then describe what was lost."""
    notes: tuple[str, ...]
    synthetic: bool = True

    def to_json(self) -> str:
        """Return the manifest as a JSON document."""
        return json.dumps(asdict(self), indent=2) + "\n"


@dataclass
class ExpectedCounts:
    """Counts of the records, rows and handshakes that a reader should find."""

    records: int = 0
    types: Counter[str] = field(default_factory=Counter)
    tables: Counter[str] = field(default_factory=Counter)
    tls_versions: Counter[str] = field(default_factory=Counter)
    ciphers: Counter[str] = field(default_factory=Counter)
    handshakes: Counter[str] = field(default_factory=Counter)
    first: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    """By system number, in microseconds since 1970 (UTC)."""

    def add(self, other: ExpectedCounts) -> None:
        """Add the counts of another part of the dump."""
        self.records += other.records
        for name in ("types", "tables", "tls_versions", "ciphers", "handshakes"):
            getattr(self, name).update(getattr(other, name))
        for system, time in other.first.items():
            self.first[system] = min(time, self.first.get(system, time))
        for system, time in other.last.items():
            self.last[system] = max(time, self.last.get(system, time))

    def count(self, kind: str, systems: NDArray[np.int64], written: NDArray[np.int64]) -> None:
        """Count records of one type by the systems and times in their headers."""
        self.records += len(systems)
        self.types[kind] += len(systems)
        for system in np.unique(systems).tolist():
            times = written[systems == system]
            self.first[system] = min(int(times.min()), self.first.get(system, int(times.min())))
            self.last[system] = max(int(times.max()), self.last.get(system, int(times.max())))

    def local_times(self, recipe: Recipe, times: Mapping[int, int]) -> dict[str, str]:
        """Convert times to local time by system name, rounded to the 1/100 second of a header."""
        result = {}
        for number, system in enumerate(recipe.systems):
            if number in times:
                hundredths = times[number] // 10_000
                utc = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=10 * hundredths)
                result[system.name] = system.local(utc).isoformat(timespec="milliseconds")
        return result


def positive(counts: Counter[str]) -> dict[str, int]:
    """Return the counts above zero, sorted by name."""
    return {name: count for name, count in sorted(counts.items()) if count}
