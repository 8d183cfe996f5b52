"""The numbered commits of a store, each one a file that is created atomically; together they are its state.

A commit adds data files, drops data files, or both, and describes the loads in it. Only commits define
what is in the store: a data file that no commit lists is ignored. Because reading the commits of years takes
time, the state is written to a checkpoint from time to time; a missing or damaged checkpoint only costs time.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from zscope.pipelines.settings import LONGEST_WAIT_S
from zscope.pipelines.store.checksums import (
    CheckedContent,
    Head,
    commit_path,
    last_commit,
    parse_with_checksum,
    read_head,
    require_commit,
    with_checksum,
    write_head,
)
from zscope.pipelines.store.folder import (
    Folder,
    StoreError,
    digest_of_file,
    fsync_all,
    names_of_commits,
    write_atomically,
)
from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence


_NAME_FACTS = "told_by_name"
"""Key of `Load.name_facts` in the stored commits."""
_ONE_LOAD = "load"
"""Key of the load in commits of earlier versions of zscope, which had one at most."""


class UnknownContentError(Error, ValueError):
    """A commit has a field or kind that this version of zscope does not know."""


def known_fields(cls: type, raw: dict[str, Any], also: Collection[str] = ()) -> dict[str, Any]:
    """Return the values of the fields of a class; raise UnknownContentError if there are others."""
    for name in raw:
        if name not in _names(cls) and name not in also:
            raise UnknownContentError(f"the field {name!r} of a {cls.__name__}")
    return raw


@cache
def _names(cls: type) -> frozenset[str]:
    return frozenset(each.name for each in fields(cls))


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
    first_utc: str | None = None
    last_utc: str | None = None


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
class LoadOffset:
    """The offset of a clock from UTC that the records of one table show, for a span of local time."""

    system: str
    source: str
    """The table."""
    from_local: str
    to_local: str
    """The end of the span, exclusive; spans begin and end with whole hours."""
    offset_s: int


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
    offsets: tuple[LoadOffset, ...] = ()
    """The offsets from UTC that its records show, whatever zones were configured."""
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
        """Return the load of a JSON object."""
        values = dict(known_fields(cls, raw, (_NAME_FACTS,)))
        values["name_facts"] = values.pop(_NAME_FACTS)
        for name in ("packing", "replaces"):
            values[name] = tuple(values[name])
        values["tables"] = {
            name: LoadTable(**known_fields(LoadTable, counts)) for name, counts in values["tables"].items()
        }
        values["kinds"] = tuple(LoadKind(**known_fields(LoadKind, kind)) for kind in values["kinds"])
        values["gaps"] = tuple(LoadGap(**known_fields(LoadGap, gap)) for gap in values["gaps"])
        values["offsets"] = tuple(
            LoadOffset(**known_fields(LoadOffset, each)) for each in values.get("offsets", ())
        )
        values["duplicates_of"] = {int(key): count for key, count in values["duplicates_of"].items()}
        return cls(**values)


COMPACT = "compact"
"""Kind of the commits that merge files."""
RENAME = "rename"
"""Kind of the commits that give rows the names of systems with their sysplex."""
CHECK = "check"
"""Kind of the commits that record which files were compared with their checksums."""
REPAIR = "repair"
"""Kind of the commits that take damaged files out of the store."""
_KINDS = frozenset(
    {"load", "remove", COMPACT, "expire", "validate", "summarise", "inputs", RENAME, CHECK, REPAIR}
)
CHECKPOINT_EVERY = 100
KEPT_CHECKPOINTS = 2
LONGEST_GRACE = timedelta(seconds=LONGEST_WAIT_S)
"""The maximum of `grace_s`: files dropped longer ago are already deleted."""
_CHECKPOINT_DIGITS = 8
_CHECKPOINT = "checkpoint-"


@dataclass(frozen=True, slots=True)
class DataFile:
    """One Parquet file."""

    path: str
    """Relative to the data folder."""
    table: str
    day: str | None
    rows: int
    bytes: int
    loads: dict[int, int]
    """Number of rows by load."""
    schema: str
    """Digest of its columns and types, which can differ between versions of zscope."""
    digest: str
    """XXH3-128 of the file."""
    first_local: str | None = None
    last_local: str | None = None
    """The earliest and latest time in it; None if it has no times."""
    days: dict[str, int] = field(default_factory=dict)
    """Number of rows by day of a file with several days of a month, which has a column `day`; `day` is None.
    """

    @property
    def each_day(self) -> tuple[str | None, ...]:
        """The days that it has rows of; None for rows without a day."""
        return tuple(self.days) or (self.day,)

    def rows_on(self, day: str | None) -> int:
        """Return the number of rows of one of its days."""
        return self.days[day] if self.days and day else self.rows

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> DataFile:
        """Return the data file of a JSON object."""
        values = known_fields(cls, raw)
        return cls(**{**values, "loads": {int(load): rows for load, rows in raw["loads"].items()}})


NO_DAY_KEY = ""
"""Stands for the rows without a day, among days."""


class DayRows(NamedTuple):
    """The rows of a stored step for one day."""

    up_to: int
    """The commit up to which they are computed."""
    changed: int
    """The commit with which they last changed."""
    content: str = ""
    """Digest of the rows, if other steps read them."""


@dataclass(frozen=True, slots=True)
class SummaryFile:
    """One Parquet file with the rows of a stored step, for some days."""

    path: str
    """Relative to the folder of the store."""
    step: str
    rows: int
    bytes: int
    digest: str
    """XXH3-128 of the file."""
    definition: str
    """Digest of the statements that computed it."""
    days: dict[str, DayRows]
    """The days that it has, as far as no other file replaces them; the day of rows without one is empty."""
    load_id: int = 0
    """The last load when it was written."""
    stale: tuple[str, ...] = ()
    """Days with rows in the file that another file replaces."""

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> SummaryFile:
        """Return the file of a JSON object."""
        values = known_fields(cls, raw)
        days = {day: DayRows(*rows) for day, rows in raw["days"].items()}
        return cls(**{**values, "days": days, "stale": tuple(values["stale"])})

    def without(self, days: set[str]) -> SummaryFile:
        """Return the file after other files replaced some of its days."""
        replaced = days & self.days.keys()
        return replace(
            self,
            days={day: rows for day, rows in self.days.items() if day not in replaced},
            stale=(*self.stale, *sorted(replaced)),
        )


@dataclass(frozen=True, slots=True)
class Commit:
    """One atomic change of the store."""

    kind: str
    """`load`, `remove`, `compact`, `expire`, `validate`, `summarise` for the rows of stored steps, `inputs`
    for the issues of files not loaded, `rename` for the names of systems, `check` for the result of a check
    of files, or `repair` for damaged files that are taken out.
    """
    adds: tuple[DataFile, ...] = ()
    drops: tuple[str, ...] = ()
    loads: tuple[Load, ...] = ()
    """The files that were loaded, one large file or many small ones; or loads whose systems have other names.
    """
    removed_load: int | None = None
    removed: tuple[int, ...] = ()
    """Further loads that it removes."""
    reopened: tuple[int, ...] = ()
    """Loads that omitted records because the removed one had them; their files can be loaded again."""
    summaries: tuple[SummaryFile, ...] = ()
    summaries_of: str = ""
    """Digest of the definitions of stored steps, if all of them are up to date with this commit."""
    sysplexes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The sysplexes in which records have these SMFIDs, where they are others than before."""
    drops_summaries: bool = False
    """Whether it drops all earlier rows of stored steps, so that they are computed again."""
    checked: tuple[str, ...] = ()
    """Files that are unchanged since they were committed."""
    damaged: dict[str, str] = field(default_factory=dict)
    """Files that are not, and what is wrong with each."""
    at_utc: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="milliseconds"))

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object."""
        return asdict(self) | {"loads": [load.to_json() for load in self.loads]}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Commit:
        """Return the value of a JSON object."""
        known_fields(cls, raw, (_ONE_LOAD,))
        if raw["kind"] not in _KINDS:
            raise UnknownContentError(f"the kind {raw['kind']!r}")
        return cls(
            kind=raw["kind"],
            adds=tuple(DataFile.from_json(file) for file in raw["adds"]),
            drops=tuple(raw["drops"]),
            loads=tuple(Load.from_json(load) for load in raw.get("loads", [raw.get(_ONE_LOAD)]) if load),
            removed_load=raw["removed_load"],
            removed=tuple(raw.get("removed", ())),
            reopened=tuple(raw["reopened"]),
            summaries=tuple(SummaryFile.from_json(file) for file in raw.get("summaries", ())),
            summaries_of=raw.get("summaries_of", ""),
            sysplexes=_sysplexes(raw),
            drops_summaries=raw.get("drops_summaries", False),
            checked=tuple(raw.get("checked", ())),
            damaged=raw.get("damaged", {}),
            at_utc=raw["at_utc"],
        )


@dataclass(slots=True)
class State:
    """The state of the store after a commit."""

    number: int = 0
    files: dict[str, DataFile] = field(default_factory=dict)
    loads: dict[int, Load] = field(default_factory=dict)
    removed: set[int] = field(default_factory=set)
    reopened: set[int] = field(default_factory=set)
    _places: dict[tuple[str, str | None], dict[str, DataFile]] = field(
        default_factory=lambda: defaultdict(dict), compare=False
    )
    """The same files by table and day, for fast lookup while thousands of files are loaded."""
    dropped: dict[str, str] = field(default_factory=dict)
    """Dropped files and when they were dropped; queries can still be reading them."""
    changed: dict[str, dict[str, int]] = field(default_factory=dict)
    """For each table and day, the last commit that added or removed rows."""
    summaries: dict[str, SummaryFile] = field(default_factory=dict)
    """The files of stored steps by path, as far as no other file replaces them."""
    summaries_at: int = 0
    """The last commit with which all stored steps were up to date."""
    summaries_of: str = ""
    """The digest of their definitions then."""
    sysplexes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The sysplexes that records of an SMFID have stated, also those of removed loads. An SMFID with several
    is shared: its systems are named with their sysplex.
    """
    renamed_at: int = 0
    """The last commit that gave systems other names."""
    checked: dict[str, str] = field(default_factory=dict)
    """When each file was last compared with its checksum, and was unchanged."""
    damaged: dict[str, str] = field(default_factory=dict)
    """Data files that a check found damaged, and what is wrong with each: their tables cannot be read."""
    checksum: str = ""
    """The checksum of the last commit; empty if it is not known."""

    def __post_init__(self) -> None:
        for file in self.files.values():
            for day in file.each_day:
                self._places[file.table, day][file.path] = file

    def files_for(self, table: str, day: str | None) -> list[DataFile]:
        """Return the files of a table that can have rows of a day.

        These are the files of the day and those without a day, where a load of very many days stores the
        rest.
        """
        if day is None:
            return [file for file in self.files.values() if file.table == table]
        places = (self._places.get((table, where), {}) for where in (day, None))
        return [file for place in places for file in place.values()]

    def files_on(self, table: str, day: str | None) -> list[DataFile]:
        """Return the files of a table and day, in the order of their names."""
        return sorted(self._places.get((table, day), {}).values(), key=lambda file: file.path)

    @property
    def next_load_id(self) -> int:
        """The number of the next load; numbers are never reused."""
        return max(self.loads, default=0) + 1

    @property
    def live_loads(self) -> list[Load]:
        """The loads that were not removed."""
        return [load for number, load in sorted(self.loads.items()) if number not in self.removed]

    def apply(self, commit: Commit) -> None:
        """Apply the next commit."""
        self.number += 1
        drops = [self.files[path] for path in commit.drops]
        for file in drops:
            del self.files[file.path]
            self.dropped[file.path] = commit.at_utc
            for day in file.each_day:
                del self._places[file.table, day][file.path]
        for file in commit.adds:
            self.files[file.path] = file
            for day in file.each_day:
                self._places[file.table, day][file.path] = file
        if commit.kind != COMPACT:  # which changes files but no rows
            for table, changed in _changed_days(drops, commit.adds):
                self.changed.setdefault(table, {})[changed or NO_DAY_KEY] = self.number
        if commit.drops_summaries:
            self.dropped.update(dict.fromkeys(self.summaries, commit.at_utc))
            self.summaries, self.summaries_of = {}, ""
        self._note_checks(commit)
        for summary in commit.summaries:
            self._replace_summaries(summary, commit.at_utc)
        if commit.summaries_of:
            self.summaries_at, self.summaries_of = self.number, commit.summaries_of
        if commit.kind == RENAME:  # also rows of files whose numbers of rows by day are the same
            self.renamed_at = self.number
            for file in drops:
                changes = self.changed.setdefault(file.table, {})
                changes |= {day or NO_DAY_KEY: self.number for day in file.each_day}
        self.sysplexes |= commit.sysplexes
        self.loads |= {load.load_id: load for load in commit.loads}
        if commit.removed_load is not None:
            self.removed.add(commit.removed_load)
        self.removed |= set(commit.removed)
        self.reopened |= set(commit.reopened)

    def _note_checks(self, commit: Commit) -> None:
        """Note which files are unchanged and which are damaged; damaged rows of steps are computed again."""
        for path in commit.drops:
            self.checked.pop(path, None)
            self.damaged.pop(path, None)
        for path in commit.checked:
            self.checked[path] = commit.at_utc
            self.damaged.pop(path, None)
        for path, problem in commit.damaged.items():
            self.checked.pop(path, None)
            if path in self.files:
                self.damaged[path] = problem
            elif self.summaries.pop(path, None):
                self.dropped[path] = commit.at_utc
                self.summaries_at, self.summaries_of = 0, ""

    def _replace_summaries(self, added: SummaryFile, at_utc: str) -> None:
        """Add a file of a stored step; it replaces the same days of others."""
        for path, file in list(self.summaries.items()):
            if file.step != added.step:
                continue
            left = file.without(set(added.days)) if file.definition == added.definition else None
            if left is not None and left.days:
                self.summaries[path] = left
            else:
                del self.summaries[path]
                self.checked.pop(path, None)
                self.dropped[path] = at_utc
        self.summaries[added.path] = added

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "number": self.number,
            "files": [asdict(file) for file in self.files.values()],
            "loads": [load.to_json() for load in self.loads.values()],
            "removed": sorted(self.removed),
            "reopened": sorted(self.reopened),
            "dropped": self.dropped,
            "changed": self.changed,
            "summaries": [asdict(file) for file in self.summaries.values()],
            "summaries_at": self.summaries_at,
            "summaries_of": self.summaries_of,
            "sysplexes": self.sysplexes,
            "renamed_at": self.renamed_at,
            "checked": self.checked,
            "damaged": self.damaged,
            "last_checksum": self.checksum,
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> State:
        """Return the value of a JSON object."""
        known_fields(cls, raw, ("last_checksum",))
        files = (DataFile.from_json(file) for file in raw["files"])
        loads = (Load.from_json(load) for load in raw["loads"])
        summaries = (SummaryFile.from_json(file) for file in raw.get("summaries", ()))
        return cls(
            number=raw["number"],
            files={file.path: file for file in files},
            loads={load.load_id: load for load in loads},
            removed=set(raw["removed"]),
            reopened=set(raw["reopened"]),
            dropped=raw["dropped"],
            changed=raw.get("changed", {}),
            summaries={file.path: file for file in summaries},
            summaries_at=raw.get("summaries_at", 0),
            summaries_of=raw.get("summaries_of", ""),
            sysplexes=_sysplexes(raw),
            renamed_at=raw.get("renamed_at", 0),
            checked=raw.get("checked", {}),
            damaged=raw.get("damaged", {}),
            checksum=raw.get("last_checksum", ""),
        )


def _sysplexes(raw: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the sysplexes by SMFID of a commit or checkpoint; earlier versions of zscope wrote none."""
    return {smfid: tuple(names) for smfid, names in raw.get("sysplexes", {}).items()}


def _changed_days(drops: Sequence[DataFile], adds: Sequence[DataFile]) -> Iterator[tuple[str, str | None]]:
    """Yield the tables and days whose rows a commit changes.

    New rows come in files of one day. A file of several days is added for others of which it has all rows,
    or all but some: of the days whose number of rows is the same nothing changed.
    """
    rows: Counter[tuple[str, str]] = Counter()
    for file in drops:
        rows.update({(file.table, day): count for day, count in file.days.items()})
    for file in adds:
        rows.subtract({(file.table, day): count for day, count in file.days.items()})
    yield from (place for place, count in rows.items() if count)
    yield from ((file.table, file.day) for file in (*drops, *adds) if not file.days)


def read_state(folder: Folder, *, from_first: bool = False, known: State | None = None) -> State:
    """Return the state of the store; a missing, damaged or replaced commit raises StoreError.

    With `from_first` no checkpoint is used. A known earlier state is continued: it belongs to the caller no
    longer.
    """
    head, last = read_head(folder), last_commit(folder)
    if from_first:
        state = State()
    else:
        state = known if known and _is_of_store(folder, known) else _newest_checkpoint(folder)
    if state.number > last:
        require_commit(folder, state.number, f"commits/{_checkpoint_name(state.number)}")
    _check_head(folder, state, head)
    for number in range(state.number + 1, last + 1):
        _continue(folder, state, number)
        _check_head(folder, state, head)
    return state


def _is_of_store(folder: Folder, state: State) -> bool:
    """Whether the commits of a store lead to a state: each has the checksum of the one before it."""
    try:
        return bool(state.checksum) and _read(folder, state.number)[0].checksum == state.checksum
    except StoreError:
        return False


def _continue(folder: Folder, state: State, number: int) -> None:
    """Apply a commit after checking that it follows the one before it."""
    stored, commit = _read(folder, number)
    if stored.previous is not None and state.checksum and stored.previous != state.checksum:
        raise StoreError(
            f"{commit_path(folder, number)}: this commit does not follow "
            f"{commit_path(folder, number - 1).name}, which was changed or replaced; "
            "restore the folder commits from a backup"
        )
    state.apply(commit)
    state.checksum = stored.checksum


def _check_head(folder: Folder, state: State, head: Head | None) -> None:
    if head is not None and head.number == state.number and head.checksum != state.checksum:
        raise StoreError(
            f"{commit_path(folder, head.number)}: this commit was replaced: commits/head has another "
            "checksum; restore the folder commits from a backup"
        )


def read_commit(folder: Folder, number: int) -> Commit:
    """Return a commit; raise StoreError if it is missing or damaged."""
    return _read(folder, number)[1]


def checksum_of_commit(folder: Folder, number: int) -> str:
    """Return the checksum of a commit; raise StoreError if it is missing or damaged."""
    return _read(folder, number)[0].checksum


def has_checksum(folder: Folder, number: int) -> bool:
    """Return whether a commit has a checksum; raise StoreError if it is missing or damaged."""
    return _read(folder, number)[0].has_checksum


def _read(folder: Folder, number: int) -> tuple[CheckedContent, Commit]:
    path = commit_path(folder, number)
    try:
        stored = parse_with_checksum(path.read_text(encoding="utf-8"))
        stored.require(number)
        return stored, Commit.from_json(stored.content)
    except UnknownContentError as error:
        raise StoreError(
            f"{path}: this version of zscope does not know {error}; a later version has changed the store: "
            "use that version"
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(
            f"{path}: a commit of the store is missing or damaged ({error}); restore it from a backup: "
            "the files that it added or dropped are listed nowhere else"
        ) from error


def commit_digest(folder: Folder, number: int) -> str | None:
    """Return the digest of the file of a commit, or None if there is no such commit."""
    try:
        return digest_of_file(commit_path(folder, number))
    except FileNotFoundError:
        return None


def append(folder: Folder, state: State, commit: Commit) -> None:
    """Append a commit. The caller has the lock, and the data files are on disk."""
    number = state.number + 1
    folder.commits.mkdir(exist_ok=True)
    folder.stage.mkdir(exist_ok=True)
    written = folder.stage / f"commit-{number}.json"
    text, checksum = with_checksum(commit.to_json(), number, state.checksum)
    written.write_text(text, encoding="utf-8")
    fsync_all([written])
    # Unlike a rename, a link fails if the commit exists, so no commit is lost even if locking does not work.
    try:
        os.link(written, commit_path(folder, number))
    except FileExistsError as error:
        raise StoreError(
            f"{folder.path}: another process committed at the same time; nothing was changed, try again"
        ) from error
    written.unlink()
    fsync_all([folder.commits])
    state.apply(commit)
    state.checksum = checksum
    write_head(folder, Head(number, checksum))
    if number % CHECKPOINT_EVERY == 0:
        _write_checkpoint(folder, state)


def _write_checkpoint(folder: Folder, state: State) -> None:
    """Write the state, and delete older checkpoints and the entries of files dropped long ago."""
    long_ago = (datetime.now(UTC) - LONGEST_GRACE).isoformat()
    state.dropped = {path: at for path, at in state.dropped.items() if at > long_ago}
    text, _ = with_checksum(_without_number(state.to_json()), state.number, "")
    write_atomically(folder.commits / _checkpoint_name(state.number), text.encode())
    for old in sorted(n for n in names_of_commits(folder) if n.startswith(_CHECKPOINT))[:-KEPT_CHECKPOINTS]:
        (folder.commits / old).unlink(missing_ok=True)


def _without_number(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a checkpoint without the number, which is stored next to the checksum."""
    return {name: value for name, value in raw.items() if name != "number"}


def _checkpoint_name(number: int) -> str:
    return f"{_CHECKPOINT}{number:0{_CHECKPOINT_DIGITS}}.json"


def _newest_checkpoint(folder: Folder) -> State:
    for name in sorted((n for n in names_of_commits(folder) if n.startswith(_CHECKPOINT)), reverse=True):
        try:
            stored = parse_with_checksum((folder.commits / name).read_text(encoding="utf-8"))
            number = {} if stored.number is None else {"number": stored.number}
            state = State.from_json(stored.content | number)
            if not state.checksum and state.number:  # of an earlier version of zscope
                state.checksum = _read(folder, state.number)[0].checksum
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue  # the commits contain the same
        return state
    return State()
