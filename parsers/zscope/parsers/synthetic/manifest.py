"""The known answers of a synthetic dump: counted while it was made, never by reading it back."""

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

    from zscope.parsers.synthetic.recipe import Recipe


@dataclass(frozen=True, slots=True)
class DamageDone:
    """One kind of damage as it was done."""

    kind: str
    text: str
    issue: str | None
    """Code of the issue a reader should report; None where nothing is wrong with the dump."""
    record_numbers: tuple[int, ...] = ()
    """Records concerned, counted from 1 as a reader counts them."""
    byte_ranges: tuple[tuple[int, int], ...] = ()
    """First byte and first byte behind, in the dump before packing."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What was put into a dump; a reader that decodes it should come to the same numbers."""

    zscope_version: str
    recipe: Mapping[str, Any]
    seed: int
    sha256: str
    """Of the file as written."""
    file_bytes: int
    dump_bytes: int
    """Before packing."""
    records: int
    """All that a reader counts, the headers and trailers of the dump included."""
    records_by_type: Mapping[str, int]
    """By type, and subtype where the record has one: `119-11`, `70-1`, `2`."""
    rows_by_table: Mapping[str, int]
    zert_detail_by_tls_version: Mapping[str, int]
    zert_detail_by_cipher: Mapping[str, int]
    zert_detail_by_handshake: Mapping[str, int]
    first_written_local: Mapping[str, str]
    """Of each system, by its local clock."""
    last_written_local: Mapping[str, str]
    damage: tuple[DamageDone, ...]
    refused: str | None
    """Code of the reason why the whole file cannot be read; then the counts say what was lost."""
    notes: tuple[str, ...]
    synthetic: bool = True

    def to_json(self) -> str:
        """The manifest as a JSON document."""
        return json.dumps(asdict(self), indent=2) + "\n"


@dataclass
class Tally:
    """Counts what is put into a dump."""

    records: int = 0
    types: Counter[str] = field(default_factory=Counter)
    tables: Counter[str] = field(default_factory=Counter)
    tls_versions: Counter[str] = field(default_factory=Counter)
    ciphers: Counter[str] = field(default_factory=Counter)
    handshakes: Counter[str] = field(default_factory=Counter)
    first: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    """Microseconds since 1970 in UTC, by the number of the system."""

    def add(self, other: Tally) -> None:
        """Add the counts of a part of the dump."""
        self.records += other.records
        for name in ("types", "tables", "tls_versions", "ciphers", "handshakes"):
            getattr(self, name).update(getattr(other, name))
        for system, time in other.first.items():
            self.first[system] = min(time, self.first.get(system, time))
        for system, time in other.last.items():
            self.last[system] = max(time, self.last.get(system, time))

    def count(self, kind: str, systems: NDArray[np.int64], written: NDArray[np.int64]) -> None:
        """Count records of one type by the systems and times of their headers."""
        self.records += len(systems)
        self.types[kind] += len(systems)
        for system in np.unique(systems).tolist():
            times = written[systems == system]
            self.first[system] = min(int(times.min()), self.first.get(system, int(times.min())))
            self.last[system] = max(int(times.max()), self.last.get(system, int(times.max())))

    def local_times(self, recipe: Recipe, times: Mapping[int, int]) -> dict[str, str]:
        """Times by system name, as its local clock shows them and to the 1/100 second a header holds."""
        result = {}
        for number, system in enumerate(recipe.systems):
            if number in times:
                hundredths = times[number] // 10_000
                utc = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=10 * hundredths)
                local = utc + timedelta(minutes=system.utc_offset_minutes)
                result[system.name] = local.replace(tzinfo=None).isoformat(timespec="milliseconds")
        return result


def positive(counts: Counter[str]) -> dict[str, int]:
    """The counts above zero, by name."""
    return {name: count for name, count in sorted(counts.items()) if count}
