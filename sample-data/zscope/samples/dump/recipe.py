"""Recipes of synthetic dumps: what a dump contains. The same recipe always gives the same bytes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from zscope.parsers.smf.chain import LONGEST_IN_FILE
from zscope.parsers.smf.record_writer import DEFAULT_BLOCK
from zscope.samples.dump.damage import DAMAGES, FEWEST_RECORDS, at_place
from zscope.samples.dump.dump_scenario import SCENARIO
from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

USUAL_BLOCK = {"segments": 1_024, "bdw-extended": 1 << 16}
"""Default block sizes of framings that could not be recognised with the usual one: no record would be cut, or
no block would be longer than 32,760 bytes.
"""
YEARS = (1971, 2041)
"""Packed dates go further, but the TOD clock ends in 2042."""


class RecipeError(Error, ValueError):
    """A recipe that cannot be carried out; the message contains the reason and what to change."""


class RecordKind(StrEnum):
    """Kinds of records that a dump can contain."""

    ZERT_DETAIL = "zert-detail"
    ZERT_SUMMARY = "zert-summary"
    TCP_INIT = "tcp-init"
    TCP_TERM = "tcp-term"
    FTP_CLIENT = "ftp-client"
    FTP_SERVER = "ftp-server"
    FTP_FAILURE = "ftp-failure"
    TN3270_INIT = "tn3270-init"
    TN3270_TERM = "tn3270-term"
    RMF_CPU = "rmf-cpu"
    RMF_CRYPTO = "rmf-crypto"
    FOREIGN = "foreign"
    """Record types that zscope does not decode, with random content."""
    UNKNOWN_SUBTYPE = "unknown-subtype"
    """Subtypes of type 119 without a declared layout."""


_KINDS = {RecordKind(kind): about for kind, about in SCENARIO.record_kind.items()}
TYPICAL_MIX: Mapping[str, float] = {kind: about.share for kind, about in _KINDS.items()}
TYPICAL_BYTES: Mapping[str, int] = {kind: about.bytes for kind, about in _KINDS.items()}
"""Approximate length of the records of each kind, for planning a dump of a given size."""

FRAMINGS = ("rdw", "segments", "bdw", "bdw-spanned", "bdw-extended", "rdw-exclusive")
PACKINGS = ("none", "gzip", "zip", "terse-pack", "terse-spack")
LEVELS = ("V2R3", "3.2")
TERSE_LIMIT = 64 << 20
"""The TERSE encoders work in memory and byte by byte; larger dumps would take too long."""


@dataclass(frozen=True, slots=True)
class SystemClockChange:
    """The start or end of summer time: from a time on, a clock has another offset from UTC."""

    at: datetime
    utc_offset_minutes: int


@dataclass(frozen=True, slots=True)
class System:
    """A z/OS image that writes records."""

    name: str
    """SMF identifier of up to four characters; also used as system name."""
    level: str = "V2R3"
    """Release that determines the lengths of the zERT sections: `V2R3` or `3.2`."""
    utc_offset_minutes: int = 60
    clock_change: SystemClockChange | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the system as JSON values, with the change of its clock if there is one."""
        plain = {"name": self.name, "level": self.level, "utc_offset_minutes": self.utc_offset_minutes}
        change = self.clock_change
        return plain | (
            {"clock_change": [change.at.isoformat(), change.utc_offset_minutes]} if change else {}
        )

    def local(self, utc: datetime) -> datetime:
        """Return what its clock shows at a time in UTC."""
        change = self.clock_change
        minutes = change.utc_offset_minutes if change and utc >= change.at else self.utc_offset_minutes
        return (utc + timedelta(minutes=minutes)).replace(tzinfo=None)


@dataclass(frozen=True, slots=True)
class CpuCost:
    """CPU time of the connections on general purpose processors, which the RMF records show.

    A connection counts in the RMF interval in which it ended according to its zERT record of event 3 or 4.
    """

    base: float = 0.40
    """Share of its entitled processors that a system uses without any connection."""
    full_us: int = 1_100
    abbreviated_us: int = 140
    megabyte_us: int = 3_000


def named_systems(*names: str, utc_offset_minutes: int = 60) -> tuple[System, ...]:
    """Return systems with these names, alternately at level 3.2 and V2R3."""
    return tuple(System(name, LEVELS[(at + 1) % 2], utc_offset_minutes) for at, name in enumerate(names))


@dataclass(frozen=True, slots=True)
class Recipe:
    """All properties of a dump; the defaults give a realistic mixed dump of one day."""

    records: int = 10_000
    """SMF records, without the header and trailer of the dump."""
    size_bytes: int | None = None
    """Stop after this many bytes of records, whatever their number."""
    seed: int = 1
    mix: Mapping[str, float] | Mapping[RecordKind, float] = field(default_factory=lambda: dict(TYPICAL_MIX))
    """Share of each kind of record.

    There is at most one RMF record per system and interval. If the shares ask for more, the rest goes to the
    other kinds.
    """
    start: datetime = datetime(2026, 3, 2, tzinfo=UTC)
    end: datetime | None = None
    """None: one day after the start."""
    systems: tuple[System, ...] = named_systems("SYSA", "SYSB")
    interval_minutes: int = 15
    """Length of the RMF intervals."""
    resumed: float = 0.55
    """Share of TLS connections that resume a session."""
    cpu_cost: CpuCost = CpuCost()
    tls13: bool = True
    """Whether systems at level 3.2 write what only that level has in zERT detail records: TLSv1.3, failed
    handshakes and a longer TLS section, whose end is filler because its layout is not published.
    """
    framing: str = "rdw"
    block_size: int | None = None
    """Maximum length of blocks or segments; blocks above 32,760 bytes need `bdw-extended`."""
    packing: str = "none"
    section_extra: int = 0
    """Number of filler bytes after the known end of every section of fixed length."""
    damage: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for problem in self._problems():
            raise RecipeError(problem)

    @property
    def block(self) -> int:
        """Maximum length of blocks or segments; the default depends on the framing."""
        return self.block_size or USUAL_BLOCK.get(self.framing, DEFAULT_BLOCK)

    @property
    def until(self) -> datetime:
        """End of the time span."""
        return self.end or self.start + timedelta(days=1)

    @property
    def start_us(self) -> int:
        """Start of the time span in microseconds since 1970."""
        return microseconds(self.start)

    @property
    def end_us(self) -> int:
        """End of the time span in microseconds since 1970."""
        return microseconds(self.until)

    @property
    def interval_us(self) -> int:
        """Length of an RMF interval in microseconds."""
        return self.interval_minutes * 60_000_000

    @property
    def total_records(self) -> int:
        """Number of records to write, estimated from typical lengths if only a size is given."""
        if self.size_bytes is None:
            return self.records
        shares = sum(self.mix.values())
        typical = sum(TYPICAL_BYTES[kind] * share for kind, share in self.mix.items()) / shares
        return max(1, round(self.size_bytes / typical))

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as JSON values."""
        plain = asdict(self)
        plain["start"], plain["end"] = self.start.isoformat(), self.until.isoformat()
        plain["mix"] = {str(kind): share for kind, share in self.mix.items()}
        plain["systems"] = [system.to_json() for system in self.systems]
        plain["damage"] = list(self.damage)
        plain["block_size"] = self.block
        return plain

    def _problems(self) -> list[str]:
        checks = (
            (self.records < 1, "a dump needs at least one record"),
            (self.size_bytes is not None and self.size_bytes < 1, "the size must be at least one byte"),
            (self.start.utcoffset() is None, "the start needs a time zone, preferably UTC"),
            (self.until.utcoffset() is None, "the end needs a time zone, preferably UTC"),
            (self.framing not in FRAMINGS, f"framing {self.framing!r} is not one of {', '.join(FRAMINGS)}"),
            (self.packing not in PACKINGS, f"packing {self.packing!r} is not one of {', '.join(PACKINGS)}"),
            (not 1 <= self.interval_minutes <= 60, "an interval must be from 1 to 60 minutes long"),
            (not 0 <= self.resumed < 1, "the share of resumed sessions must be between 0 and 1"),
            (not 0 <= self.section_extra <= 1_000, "section_extra must be from 0 to 1,000 bytes"),
            (self.seed < 0, "the seed cannot be negative"),
        )
        problems = [text for wrong, text in checks if wrong]
        if problems:
            return problems
        return [
            *self._span_problems(),
            *self._mix_problems(),
            *self._form_problems(),
            *self._damage_problems(),
        ]

    def _span_problems(self) -> list[str]:
        problems = []
        if self.start.year < YEARS[0] or self.until.year > YEARS[1]:
            problems.append(f"dates in records must be from {YEARS[0]} to {YEARS[1]}")
        if self.until - self.start < timedelta(minutes=1):
            problems.append("the time span from start to end must be at least a minute")
        if not 1 <= len(self.systems) <= 8:
            problems.append("a dump must have from 1 to 8 systems")
        names = [system.name for system in self.systems]
        if len(set(names)) < len(names):
            problems.append("two systems have the same name")
        for system in self.systems:
            if not (1 <= len(system.name) <= 4 and system.name.isascii() and system.name.isalnum()):
                problems.append(f"system name {system.name!r} is not one to four letters and digits")
            if system.name != system.name.upper():
                problems.append(f"system name {system.name!r} is not in upper case")
            if system.level not in LEVELS:
                problems.append(f"level {system.level!r} is not one of {', '.join(LEVELS)}")
        return problems

    def _mix_problems(self) -> list[str]:
        known = ", ".join(RecordKind)
        problems = [
            f"kind {kind!r} is not one of {known}" for kind in self.mix if kind not in set(RecordKind)
        ]
        if any(share < 0 for share in self.mix.values()) or not sum(self.mix.values()) > 0:
            problems.append("the shares of the mix must not be negative, and at least one must be above zero")
        return problems

    def _form_problems(self) -> list[str]:
        problems = []
        longest = 1 << 20 if self.framing == "bdw-extended" else LONGEST_IN_FILE
        if not 256 <= self.block <= longest:
            problems.append(
                f"the block size must be from 256 to {longest:,} bytes for framing {self.framing}"
            )
        if self.packing.startswith("terse"):
            if self.framing != "rdw":
                problems.append("TERSE packs records: use it with framing rdw")
            if (self.size_bytes or 0) > TERSE_LIMIT:
                problems.append(f"TERSE is slow: use it for dumps of at most {TERSE_LIMIT >> 20} MB, or gzip")
        return problems

    def _damage_problems(self) -> list[str]:
        problems = [
            f"damage {kind!r} is not one of {', '.join(DAMAGES)}"
            for kind in self.damage
            if kind not in DAMAGES
        ]
        if problems or not self.damage:
            return problems
        if len(set(self.damage)) < len(self.damage):
            problems.append("each kind of damage can be given only once")
        if self.total_records < FEWEST_RECORDS * len(self.damage):
            problems.append(f"damage needs at least {FEWEST_RECORDS} records for each kind")
        replacing, ends = at_place(self.damage, "file"), at_place(self.damage, "end")
        if replacing and (len(self.damage) > 1 or self.framing != "rdw"):
            problems.append(f"damage {replacing[0]!r} cannot be combined and replaces framing rdw")
        if len(ends) > 1:
            problems.append(f"a file can only end in one way: choose one of {', '.join(sorted(ends))}")
        beyond = at_place(self.damage, "between", "end", "file")
        if beyond and self.packing.startswith("terse"):
            problems.append(
                f"damage {beyond[0]!r} cannot be packed with TERSE, which contains whole records only"
            )
        return problems


def microseconds(time: datetime) -> int:
    """Return the microseconds since 1970."""
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


TYPE_119_SHARE = 0.1
"""Share of type 119 in the bytes of a mixed dump."""
SAMPLE_SEED = 20_260_302


def zert_only(records: int = 10_000, *, seed: int = 1) -> Recipe:
    """Return the recipe of a dump with only zERT detail records of about 500 bytes."""
    return Recipe(records=records, seed=seed, mix={RecordKind.ZERT_DETAIL: 1.0})


def mixed(size_bytes: int = 100_000_000, *, seed: int = 1) -> Recipe:
    """Return the recipe of a busy system: type 119 is a tenth of the bytes, and most of the rest is not
    decoded.
    """
    rmf = {RecordKind.RMF_CPU, RecordKind.RMF_CRYPTO}
    network = {kind: share for kind, share in TYPICAL_MIX.items() if kind not in rmf | {RecordKind.FOREIGN}}
    network_bytes = sum(TYPICAL_BYTES[kind] * share for kind, share in network.items())
    foreign = network_bytes * (1 / TYPE_119_SHARE - 1) / TYPICAL_BYTES[RecordKind.FOREIGN]
    mix = {**network, RecordKind.FOREIGN: foreign, RecordKind.RMF_CPU: 0.01, RecordKind.RMF_CRYPTO: 0.01}
    return Recipe(size_bytes=size_bytes, seed=seed, mix=mix)


SAMPLE_COUNTS: Mapping[str, float] = {kind: about.sample for kind, about in _KINDS.items()}


def sample() -> Recipe:
    """Return the recipe of the small dump in `sample-data`: all kinds of records, two systems, one day."""
    return Recipe(records=int(sum(SAMPLE_COUNTS.values())), seed=SAMPLE_SEED, mix=SAMPLE_COUNTS)


PRESETS: Mapping[str, Callable[[], Recipe]] = {"mixed": mixed, "sample": sample, "zert-only": zert_only}
