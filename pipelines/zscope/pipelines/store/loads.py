"""The entry of a load in the load history, and its JSON form in the commits."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

_NAME_FACTS = "told_by_name"
"""Key of `Load.name_facts` in the stored commits."""


def known_fields(cls: type, raw: dict[str, Any]) -> dict[str, Any]:
    """Return the values of the fields of a class; a later version of zscope can have stored more."""
    known = {f.name for f in fields(cls)}
    return {key: value for key, value in raw.items() if key in known}


@dataclass(frozen=True, slots=True)
class LoadKind:
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
class LoadGap:
    """Missing intervals between two others."""

    system: str | None
    source: str
    from_local: str
    to_local: str
    missing_intervals: int
    interval_ms: int


@dataclass(frozen=True, slots=True)
class LoadTable:
    """Rows of one table, stored and omitted."""

    stored: int
    duplicates: int = 0


@dataclass(frozen=True, slots=True)
class Load:
    """A file, or a member of an archive, that was loaded."""

    load_id: int
    file: str
    packing: tuple[str, ...]
    kind: str
    """`smf`, `text` or `xml`."""
    form: str
    """Framing of a dump, encoding of a text."""
    selection: str
    """What was selected: the same file with another selection is another load."""
    content_digest: str
    """XXH3-128 of the unpacked bytes."""
    content_bytes: int
    outer_digest: str | None
    """XXH3-128 of the file itself, if it was packed."""
    started_utc: str
    seconds: float
    """Time from the first byte read to the commit, which contains this value."""
    records: int = 0
    """Records of a dump, reports of a text."""
    spanned: int = 0
    lines: int = 0
    duplicates: int = 0
    """Records, or rows of reports, omitted because the file or the store has them already."""
    outside: int = 0
    """Rows omitted by the selection of systems and days."""
    begun_at: int = 0
    """Offset of the first byte read: what is before it was loaded when the file was shorter."""
    last_record_offset: int | None = None
    first_local: str | None = None
    last_local: str | None = None
    zscope_version: str = ""
    tables: dict[str, LoadTable] = field(default_factory=dict)
    kinds: tuple[LoadKind, ...] = ()
    gaps: tuple[LoadGap, ...] = ()
    issues: dict[str, int] = field(default_factory=dict)
    """By code."""
    name_facts: dict[str, str] = field(default_factory=dict)
    """What the name of the file states about the reports in it: system and day."""
    replaces: tuple[int, ...] = ()
    """Loads of the same text when it was shorter, which this one replaces."""
    zones: dict[str, str] = field(default_factory=dict)
    """The time zones with which the times of its systems were converted."""
    duplicates_of: dict[int, int] = field(default_factory=dict)
    """Number of records omitted because another load has them, by that load."""

    @property
    def rows(self) -> int:
        """Rows stored in all tables."""
        return sum(table.stored for table in self.tables.values())

    @property
    def mb_per_second(self) -> float:
        """Unpacked megabytes read per second."""
        return (self.content_bytes - self.begun_at) / 1e6 / self.seconds if self.seconds else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object."""
        values = asdict(self)
        values[_NAME_FACTS] = values.pop("name_facts")
        return values

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Load:
        """Return the load of a JSON object; fields of a later version are ignored."""
        values = known_fields(cls, raw)
        values["name_facts"] = raw[_NAME_FACTS]
        for name in ("packing", "replaces"):
            values[name] = tuple(values[name])
        values["tables"] = {
            name: LoadTable(**known_fields(LoadTable, counts)) for name, counts in values["tables"].items()
        }
        values["kinds"] = tuple(LoadKind(**known_fields(LoadKind, kind)) for kind in values["kinds"])
        values["gaps"] = tuple(LoadGap(**known_fields(LoadGap, gap)) for gap in values["gaps"])
        values["duplicates_of"] = {int(key): count for key, count in values["duplicates_of"].items()}
        return cls(**values)
