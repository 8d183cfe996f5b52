"""SMFIDs that systems of several sysplexes have: find them, and name the systems in inputs and in the store.

As long as an SMFID is in one sysplex only, its system is named by it, and a load only compares the names that
its records state with those that the store knows. With the first record of a second sysplex the rows in the
store get their names as well, in one commit. The names stay when a load is removed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from zscope.pipelines.ingest.system_names import (
    BELIEVED_RECORDS,
    SYSPLEX,
    SYSTEM,
    SharedSmfidCounts,
    StatedSysplexes,
    SystemNames,
    issue_about,
    place_column,
    states_sysplex,
    valid_sysplex,
)
from zscope.pipelines.store.commits import RENAME, Commit
from zscope.pipelines.store.file_checks import require_intact
from zscope.pipelines.store.folder import partition
from zscope.pipelines.store.parquet_files import data_tables, parquet_schema, rows_in, written_again
from zscope.pipelines.store.remove import rewrite_rows
from zscope.pipelines.store.transaction import commit_files
from zscope.schemas.stored import LOAD_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from zscope.pipelines.ingest.decoding import Candidate, Reading
    from zscope.pipelines.settings import Settings
    from zscope.pipelines.store.commits import DataFile, Load, State
    from zscope.pipelines.store.folder import Folder
    from zscope.pipelines.store.parquet_files import StagedFile, TableRows

_Origin = tuple[int, str, str]
"""Load, SMFID and stated sysplex of rows; empty if they state none."""


@dataclass
class SharedSmfids:
    """The sysplexes of each SMFID, in the store and in the inputs of one call of `ingest`."""

    folder: Folder
    state: State
    settings: Settings
    dry_run: bool
    _known: dict[str, set[str]] = field(init=False)
    _shared: frozenset[str] = field(init=False)
    _renamed: frozenset[str] = field(init=False)
    """The shared SMFIDs whose rows in the store are named."""
    _complete: bool = field(init=False)
    """Whether the sysplexes of all rows in the store are known."""

    def __post_init__(self) -> None:
        self._known = {smfid: set(names) for smfid, names in self.state.sysplexes.items()}
        self._shared = self._renamed = self._several()
        self._complete = bool(self._known)

    def _several(self) -> frozenset[str]:
        return frozenset(smfid for smfid, names in self._known.items() if len(names) > 1)

    def changes(self) -> dict[str, tuple[str, ...]]:
        """Return the sysplexes that the store does not know yet, for the next commit."""
        known = self.state.sysplexes
        each = ((smfid, tuple(sorted(names))) for smfid, names in self._known.items())
        return {smfid: names for smfid, names in each if known.get(smfid) != names}

    def name_systems(
        self, candidate: Candidate, reading: Reading, load_id: int, commit: Callable[[], None]
    ) -> None:
        """Name the systems of an input whose SMFID is shared, and those of the store if it was not before.

        The caller commits the loads before this one when it is called.
        """
        if not self._complete:
            self._observe(_stated_in_store(self.folder, self.state))
            self._complete = True
        strays = self._observe(reading.facts.sysplexes)
        new: frozenset[str] = frozenset()
        without: Counter[str] = Counter()
        if not self._shared.isdisjoint(each["system"] for each in reading.facts.counted):
            new, without = self._name_shared(candidate, reading, load_id, commit)
        if new or without or strays:
            names = {smfid: self._known[smfid] for smfid in new}
            candidate.issues.add(issue_about(names, without, strays, candidate.file))

    def _name_shared(
        self, candidate: Candidate, reading: Reading, load_id: int, commit: Callable[[], None]
    ) -> tuple[frozenset[str], Counter[str]]:
        """Name the systems; return the SMFIDs that are newly shared, and rows that have the SMFID alone."""
        new = self._shared - self._renamed
        without: Counter[str] = Counter()
        if not self.dry_run and (new or self._can_name_more()):
            commit()
            without += self._rename_stored()
        self._renamed = self._shared
        without += self._name_input(candidate, reading, load_id)
        return new, without

    def _observe(self, stated: StatedSysplexes) -> list[tuple[str, str, set[str]]]:
        """Learn the sysplexes of SMFIDs; return those that a single record states against the others."""
        strays = []
        for smfid, records in stated.records.items():
            known = self._known.setdefault(smfid, set())
            believed = {name for name, count in records.items() if count >= BELIEVED_RECORDS}
            known |= believed or ({*records} if not known else set())
            strays += [(smfid, name, known) for name in sorted(records.keys() - known)]
        self._shared = self._several()
        return strays

    def _sysplexes_of_shared(self) -> dict[str, set[str]]:
        return {smfid: self._known[smfid] for smfid in self._shared}

    def _can_name_more(self) -> bool:
        """Whether the settings name systems of rows in the store that have the SMFID alone."""
        settled = self._shared & self.settings.sysplexes.keys()
        return bool(settled) and any(
            kind.system in settled for load in self.state.live_loads for kind in load.kinds
        )

    def _sysplex_of_load(self, smfid: str, stated: set[str]) -> str | None:
        """Return the sysplex of rows that do not state one, in a load whose rows state these."""
        if len(stated) == 1:
            return next(iter(stated))
        return self.settings.sysplexes.get(smfid)

    def _name_input(self, candidate: Candidate, reading: Reading, load_id: int) -> Counter[str]:
        """Name the systems of an input; return the rows that have the SMFID alone."""
        facts, stated = reading.facts, reading.facts.sysplexes.records
        of_load = {
            (number, smfid): sysplex
            for smfid in self._shared
            if (sysplex := self._sysplex_of_load(smfid, self._known[smfid] & stated.get(smfid, {}).keys()))
            for number in {candidate.place.load_id, load_id}
        }
        names = SystemNames(self._sysplexes_of_shared(), of_load)
        if reading.rows is not None:
            reading.rows = [(table, names.of_rows(rows)) for table, rows in reading.rows]
        if reading.files is not None:
            reading.files = [
                written_again(file, "named", names.of_rows) if _has_systems(file.table) else file
                for file in reading.files
            ]
        facts.name_systems(_rows_of(reading), names, candidate.place.load_id)
        if any("." in system for system in facts.clocks.zones.systems):
            reading.convert_again()
        without: Counter[str] = Counter()
        for table, rows in _rows_of(reading):
            if _has_systems(table):
                without += names.rows_without(rows)
        return without

    def _rename_stored(self) -> Counter[str]:
        """Name the systems of all rows in the store, in one commit; return the rows with the SMFID alone."""
        folder, state = self.folder, self.state
        files = {
            file.path: (file, origins)
            for file in state.files.values()
            if _has_systems(file.table) and (origins := _origins(folder, file, self._shared))
        }
        of_load = self._sysplexes_of_loads(origin for _, origins in files.values() for origin in origins)
        names = SystemNames(self._sysplexes_of_shared(), of_load)
        counts, without = SharedSmfidCounts(), Counter[str]()
        staged: list[StagedFile] = []
        drops: list[str] = []
        for number, (file, origins) in enumerate(files.values()):
            for (load_id, smfid, sysplex), rows in origins.items():
                without[smfid] += rows if names.name(load_id, smfid, sysplex) == smfid else 0
            if all(names.name(*origin) == origin[1] for origin in origins):
                continue
            require_intact(folder, state, [file])
            staged.append(
                _renamed_file(folder, file, f"n{state.number + 1:08}-{number}.parquet", names, counts)
            )
            drops.append(file.path)
        loads = tuple(
            _named_load(load, names, counts)
            for load in state.live_loads
            if any(kind.system in self._shared for kind in load.kinds)
        )
        if staged or loads:
            changes = self.changes()
            commit_files(
                folder,
                state,
                staged,
                lambda added: Commit(
                    RENAME, added, tuple(drops), loads, sysplexes=changes, drops_summaries=True
                ),
            )
        return +without

    def _sysplexes_of_loads(self, origins: Iterable[_Origin]) -> dict[tuple[int, str], str]:
        """Return the sysplex of rows that do not state one, by load and shared SMFID."""
        stated: dict[tuple[int, str], set[str]] = defaultdict(set)
        for load_id, smfid, sysplex in origins:
            stated[load_id, smfid] |= {sysplex} & self._known[smfid]
        places = ((load.load_id, smfid) for load in self.state.live_loads for smfid in self._shared)
        settled = ((place, self._sysplex_of_load(place[1], stated[place])) for place in places)
        return {place: sysplex for place, sysplex in settled if sysplex}


def _has_systems(table: str) -> bool:
    return table in data_tables() and SYSTEM in parquet_schema(table).names


def _rows_of(reading: Reading) -> Iterator[TableRows]:
    """Yield the rows of an input, from memory or from its staged files."""
    yield from reading.rows or ()
    yield from rows_in(reading.files or ())


def _stated_in_store(folder: Folder, state: State) -> StatedSysplexes:
    """Return the sysplexes that rows in the store state, which a version without them has loaded."""
    stated = StatedSysplexes()
    for file in state.files.values():
        if _is_told_by_records(file.table):
            for rows in _columns(folder, file, (SYSTEM, SYSPLEX, place_column(file.table))).to_batches():
                stated.observe(file.table, rows)
    return stated


def _is_told_by_records(table: str) -> bool:
    return table in data_tables() and states_sysplex(table)


def _columns(folder: Folder, file: DataFile, names: tuple[str, ...]) -> pa.Table:
    """Return the columns of a file that it has, with values as dictionaries."""
    path = folder.data / file.path
    existing = set(pq.read_schema(path).names)
    return pq.read_table(path, columns=[name for name in names if name in existing], partitioning=None)


def _origins(folder: Folder, file: DataFile, shared: frozenset[str]) -> dict[_Origin, int]:
    """Return the number of rows of shared SMFIDs in a file, by load, SMFID and stated sysplex."""
    rows = _columns(folder, file, (LOAD_ID.name, SYSTEM, SYSPLEX))
    keys = rows.column_names
    texts = pa.table(
        {name: rows[name] if name == LOAD_ID.name else rows[name].cast(pa.string()) for name in keys}
    )
    counts: Counter[_Origin] = Counter()
    for each in texts.group_by(keys).aggregate([([], "count_all")]).to_pylist():
        if each[SYSTEM] in shared:
            counts[each[LOAD_ID.name], each[SYSTEM], valid_sysplex(each.get(SYSPLEX))] += each["count_all"]
    return dict(counts)


def _renamed_file(
    folder: Folder, file: DataFile, name: str, names: SystemNames, counts: SharedSmfidCounts
) -> StagedFile:
    """Write a file again with the names of its systems, and count its records by them."""

    def named(rows: pa.Table, _: int) -> pa.Table:
        changed = names.of_rows(rows)
        counts.observe(file.table, changed, names.shared)
        return changed

    target = folder.stage / partition(file.table, file.day, file.days) / name
    staged = rewrite_rows(file.table, file.day, folder.data / file.path, target, named)
    assert staged is not None, "a file has rows"
    return staged


def _named_load(load: Load, names: SystemNames, counts: SharedSmfidCounts) -> Load:
    """Return the entry of the load history with the names of its systems.

    What is known of a shared SMFID as a whole, such as missing intervals, is of each system with it.
    """
    kinds = counts.named(load.load_id, load.kinds, names)
    of: Mapping[str, list[str]] = {
        smfid: sorted({k.system for k in kinds if k.system and k.system.rpartition(".")[2] == smfid})
        for smfid in names.shared
    }
    zones = {name: zone for system, zone in load.zones.items() for name in of.get(system, [system])}
    gaps = (replace(gap, system=name) for gap in load.gaps for name in of.get(gap.system or "", [gap.system]))
    offsets = (
        replace(each, system=name) for each in load.offsets for name in of.get(each.system, [each.system])
    )
    return replace(load, kinds=kinds, zones=zones, gaps=tuple(gaps), offsets=tuple(offsets))
