"""What shapes a synthetic dump. The same recipe always makes the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from zscope.parsers.smf.chain import LONGEST_IN_FILE
from zscope.parsers.smf.frame import DEFAULT_BLOCK
from zscope.parsers.synthetic.damage import AT_END, DAMAGES, FEWEST_RECORDS, ON_RECORDS, REPLACING

USUAL_BLOCK = {"segments": 1_024, "bdw-extended": 1 << 16}
"""Framings that would look like others with the usual block: no record cut, no block beyond 32,760 bytes."""
YEARS = (1971, 2041)
"""Packed dates hold more, but the TOD clock ends in 2042."""


class RecipeError(ValueError):
    """A recipe that cannot be carried out; the text says why and what to change."""


class Kind(StrEnum):
    """The kinds of record that a dump can be mixed from."""

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
    """Types that zscope does not decode, with random content."""
    UNKNOWN_SUBTYPE = "unknown-subtype"
    """Type 119 subtypes that no layout describes."""


TYPICAL_MIX: Mapping[str, float] = {
    Kind.ZERT_DETAIL: 0.40,
    Kind.ZERT_SUMMARY: 0.06,
    Kind.TCP_INIT: 0.12,
    Kind.TCP_TERM: 0.14,
    Kind.FTP_CLIENT: 0.02,
    Kind.FTP_SERVER: 0.03,
    Kind.FTP_FAILURE: 0.005,
    Kind.TN3270_INIT: 0.02,
    Kind.TN3270_TERM: 0.02,
    Kind.RMF_CPU: 0.02,
    Kind.RMF_CRYPTO: 0.02,
    Kind.FOREIGN: 0.13,
    Kind.UNKNOWN_SUBTYPE: 0.015,
}

TYPICAL_BYTES: Mapping[str, int] = {
    Kind.ZERT_DETAIL: 500,
    Kind.ZERT_SUMMARY: 420,
    Kind.TCP_INIT: 180,
    Kind.TCP_TERM: 370,
    Kind.FTP_CLIENT: 400,
    Kind.FTP_SERVER: 420,
    Kind.FTP_FAILURE: 220,
    Kind.TN3270_INIT: 172,
    Kind.TN3270_TERM: 300,
    Kind.RMF_CPU: 4_300,
    Kind.RMF_CRYPTO: 1_300,
    Kind.FOREIGN: 2_100,
    Kind.UNKNOWN_SUBTYPE: 420,
}
"""About how long records of each kind are, to plan a dump of a given size."""

FRAMINGS = ("rdw", "segments", "bdw", "bdw-spanned", "bdw-extended", "rdw-exclusive")
PACKINGS = ("none", "gzip", "zip", "terse-pack", "terse-spack")
LEVELS = ("V2R3", "3.2")
TERSE_LIMIT = 64 << 20
"""The TERSE encoders work in memory, byte by byte; more than this takes too long to be useful."""


@dataclass(frozen=True, slots=True)
class System:
    """One z/OS image that writes records."""

    name: str
    """SMF identifier, up to four characters; also the system name."""
    level: str = "V2R3"
    """Which length its zERT sections have: `V2R3` or `3.2`."""
    utc_offset_minutes: int = 60


@dataclass(frozen=True, slots=True)
class CpuCost:
    """What the work in a dump costs on general purpose processors: RMF records show exactly this.

    A connection counts in the RMF interval in which its zERT record of event 3 or 4 says it ended.
    """

    base: float = 0.40
    """Share of the processors a system is entitled to that it uses without any connection."""
    full_us: int = 1_100
    abbreviated_us: int = 140
    megabyte_us: int = 3_000


def named_systems(*names: str, utc_offset_minutes: int = 60) -> tuple[System, ...]:
    """Systems of these names, at level 3.2 and V2R3 by turns."""
    return tuple(System(name, LEVELS[(at + 1) % 2], utc_offset_minutes) for at, name in enumerate(names))


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that shapes a dump; the defaults give a realistic mixed one of a day."""

    records: int = 10_000
    """SMF records, the header and trailer of the dump not counted."""
    size_bytes: int | None = None
    """Stop when so many bytes of records are written, however many records that makes."""
    seed: int = 1
    mix: Mapping[str, float] | Mapping[Kind, float] = field(default_factory=lambda: dict(TYPICAL_MIX))
    """Share of each kind of record. RMF records come once per system and interval at most; what is beyond
    goes to the other kinds."""
    start: datetime = datetime(2026, 3, 2, tzinfo=UTC)
    end: datetime | None = None
    """None: a day after the start."""
    systems: tuple[System, ...] = named_systems("SYSA", "SYSB")
    interval_minutes: int = 15
    """Between two RMF records of a system."""
    resumed: float = 0.55
    """Share of TLS connections that resume a session."""
    cpu_cost: CpuCost = CpuCost()
    tls13: bool = True
    """Whether systems at level 3.2 write what only that level has into zERT detail records: TLSv1.3, failed
    handshakes and a longer TLS section, whose end is filler because its layout is not published."""
    framing: str = "rdw"
    block_size: int | None = None
    """Longest block or segment; blocks above 32,760 bytes need `bdw-extended`."""
    packing: str = "none"
    section_extra: int = 0
    """So many filler bytes behind the known end of every section of fixed length."""
    damage: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for problem in self._problems():
            raise RecipeError(problem)

    @property
    def block(self) -> int:
        """Longest block or segment, by default one that shows what the framing is about."""
        return self.block_size or USUAL_BLOCK.get(self.framing, DEFAULT_BLOCK)

    @property
    def until(self) -> datetime:
        """Where the span ends."""
        return self.end or self.start + timedelta(days=1)

    @property
    def start_us(self) -> int:
        """Start of the span in microseconds since 1970."""
        return _microseconds(self.start)

    @property
    def end_us(self) -> int:
        """End of the span in microseconds since 1970."""
        return _microseconds(self.until)

    @property
    def interval_us(self) -> int:
        """Length of an RMF interval."""
        return self.interval_minutes * 60_000_000

    @property
    def total_records(self) -> int:
        """Records to write; planned from typical lengths where only a size is given."""
        if self.size_bytes is None:
            return self.records
        shares = sum(self.mix.values())
        typical = sum(TYPICAL_BYTES[kind] * share for kind, share in self.mix.items()) / shares
        return max(1, round(self.size_bytes / typical))

    def to_json(self) -> dict[str, Any]:
        """The recipe in plain values."""
        plain = asdict(self)
        plain["start"], plain["end"] = self.start.isoformat(), self.until.isoformat()
        plain["mix"] = {str(kind): share for kind, share in self.mix.items()}
        plain["systems"] = [asdict(system) for system in self.systems]
        plain["damage"] = list(self.damage)
        plain["block_size"] = self.block
        return plain

    def _problems(self) -> list[str]:
        checks = (
            (self.records < 1, "a dump needs at least one record"),
            (self.size_bytes is not None and self.size_bytes < 1, "the size must be at least one byte"),
            (self.start.utcoffset() is None, "the start must say its time zone, best UTC"),
            (self.until.utcoffset() is None, "the end must say its time zone, best UTC"),
            (self.framing not in FRAMINGS, f"framing {self.framing!r} is none of {', '.join(FRAMINGS)}"),
            (self.packing not in PACKINGS, f"packing {self.packing!r} is none of {', '.join(PACKINGS)}"),
            (not 1 <= self.interval_minutes <= 60, "an interval lasts from 1 to 60 minutes"),
            (not 0 <= self.resumed < 1, "the share of resumed sessions lies between 0 and 1"),
            (not 0 <= self.section_extra <= 1_000, "section_extra goes from 0 to 1,000 bytes"),
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
            problems.append(f"the dates in records go from {YEARS[0]} to {YEARS[1]}")
        if self.until - self.start < timedelta(minutes=1):
            problems.append("the span from start to end must be a minute at least")
        if not 1 <= len(self.systems) <= 8:
            problems.append("a dump has from 1 to 8 systems")
        names = [system.name for system in self.systems]
        if len(set(names)) < len(names):
            problems.append("two systems have the same name")
        for system in self.systems:
            if not (1 <= len(system.name) <= 4 and system.name.isascii() and system.name.isalnum()):
                problems.append(f"system name {system.name!r} is not one to four letters and digits")
            if system.name != system.name.upper():
                problems.append(f"system name {system.name!r} is not in capitals")
            if system.level not in LEVELS:
                problems.append(f"level {system.level!r} is none of {', '.join(LEVELS)}")
        return problems

    def _mix_problems(self) -> list[str]:
        known = ", ".join(Kind)
        problems = [f"kind {kind!r} is none of {known}" for kind in self.mix if kind not in set(Kind)]
        if any(share < 0 for share in self.mix.values()) or not sum(self.mix.values()) > 0:
            problems.append("the shares of the mix must not be negative, and one at least above zero")
        return problems

    def _form_problems(self) -> list[str]:
        problems = []
        longest = 1 << 20 if self.framing == "bdw-extended" else LONGEST_IN_FILE
        if not 256 <= self.block <= longest:
            problems.append(f"the block size goes from 256 to {longest:,} bytes for framing {self.framing}")
        if self.packing.startswith("terse"):
            if self.framing != "rdw":
                problems.append("TERSE packs records: use framing rdw with it")
            if (self.size_bytes or 0) > TERSE_LIMIT:
                problems.append(f"TERSE is slow: use it for dumps of at most {TERSE_LIMIT >> 20} MB, or gzip")
        return problems

    def _damage_problems(self) -> list[str]:
        problems = [
            f"damage {kind!r} is none of {', '.join(DAMAGES)}" for kind in self.damage if kind not in DAMAGES
        ]
        if problems or not self.damage:
            return problems
        if len(set(self.damage)) < len(self.damage):
            problems.append("each kind of damage can be asked for once")
        if self.total_records < FEWEST_RECORDS * len(self.damage):
            problems.append(f"damage needs at least {FEWEST_RECORDS} records for each kind of it")
        replacing = [kind for kind in self.damage if kind in REPLACING]
        if replacing and (len(self.damage) > 1 or self.framing != "rdw"):
            problems.append(f"damage {replacing[0]!r} stands alone and replaces framing rdw")
        if len(AT_END.intersection(self.damage)) > 1:
            problems.append(f"a file ends in one way only: choose one of {', '.join(sorted(AT_END))}")
        beyond = [kind for kind in self.damage if kind not in ON_RECORDS]
        if beyond and self.packing.startswith("terse"):
            problems.append(
                f"damage {beyond[0]!r} cannot be packed with TERSE, which holds whole records only"
            )
        return problems


def _microseconds(time: datetime) -> int:
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
