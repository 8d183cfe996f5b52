"""What is kept about each load: where the data came from, what was in it, what became of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any


def known_fields(cls: type, raw: dict[str, Any]) -> dict[str, Any]:
    """What a class knows of stored values; a later version of zscope may have written more."""
    known = {f.name for f in fields(cls)}
    return {key: value for key, value in raw.items() if key in known}


@dataclass(frozen=True, slots=True)
class Kind:
    """The records of one system, type and subtype in a dump, or the reports of one name in a text."""

    system: str | None
    record_type: int | None
    record_subtype: int | None
    report: str | None
    records: int
    bytes: int | None
    first_local: str | None
    last_local: str | None


@dataclass(frozen=True, slots=True)
class Gap:
    """Intervals that are missing between two others."""

    system: str | None
    source: str
    from_local: str
    to_local: str
    missing_intervals: int
    interval_ms: int


@dataclass(frozen=True, slots=True)
class TableRows:
    """What became of the rows of one table."""

    stored: int
    duplicates: int = 0


@dataclass(frozen=True, slots=True)
class Load:
    """One file, or one member of an archive, that was loaded."""

    load_id: int
    file: str
    packing: tuple[str, ...]
    kind: str
    """`smf`, `text` or `xml`."""
    form: str
    """Framing of a dump, coding of a text."""
    selection: str
    """What was asked for, in one spelling: the same file with another selection is another load."""
    content_digest: str
    """XXH3 of 128 bits over the unpacked bytes."""
    content_bytes: int
    outer_digest: str | None
    """The same of the file as it lies there, if it was packed."""
    started_utc: str
    seconds: float
    """From the first byte read until all is ready for the commit, which holds this figure."""
    records: int = 0
    """Records of a dump, reports of a text."""
    spanned: int = 0
    lines: int = 0
    duplicates: int = 0
    """Records, or rows of reports, that were in the store already or came twice."""
    outside: int = 0
    """Rows left out by the choice of systems and days."""
    begun_at: int = 0
    """Where reading began: behind what another load brought of the same file when it was shorter."""
    last_record_offset: int | None = None
    first_local: str | None = None
    last_local: str | None = None
    zscope_version: str = ""
    tables: dict[str, TableRows] = field(default_factory=dict)
    kinds: tuple[Kind, ...] = ()
    gaps: tuple[Gap, ...] = ()
    issues: dict[str, int] = field(default_factory=dict)
    """By code."""
    told_by_name: dict[str, str] = field(default_factory=dict)
    """What the name of the file said about the reports in it."""
    replaces: tuple[int, ...] = ()
    """Loads of the same text when it was shorter: this one has taken their place."""
    zones: dict[str, str] = field(default_factory=dict)
    """The zones that were taken for the clocks of its systems."""
    duplicates_of: dict[int, int] = field(default_factory=dict)
    """How many records were left out because a load has them already, by that load."""

    @property
    def rows(self) -> int:
        """Rows stored in all tables."""
        return sum(table.stored for table in self.tables.values())

    @property
    def mb_per_second(self) -> float:
        """Unpacked megabytes read, by the time until all is ready for the commit."""
        return (self.content_bytes - self.begun_at) / 1e6 / self.seconds if self.seconds else 0.0

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Load:
        """The other way round; what a later version may have added is left out."""
        values = known_fields(cls, raw)
        for name in ("packing", "replaces"):
            values[name] = tuple(values[name])
        values["tables"] = {
            name: TableRows(**known_fields(TableRows, counts)) for name, counts in values["tables"].items()
        }
        values["kinds"] = tuple(Kind(**known_fields(Kind, kind)) for kind in values["kinds"])
        values["gaps"] = tuple(Gap(**known_fields(Gap, gap)) for gap in values["gaps"])
        values["duplicates_of"] = {int(key): count for key, count in values["duplicates_of"].items()}
        return cls(**values)
