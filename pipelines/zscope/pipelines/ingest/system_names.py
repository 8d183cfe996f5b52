"""Names of systems: the SMFID, or sysplex and SMFID where systems of two sysplexes have the same SMFID.

Most records state their sysplex. Rows of others have the sysplex that all records of their load with the same
SMFID state, then the one in the settings. If nothing tells it, they keep the SMFID alone.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.issues import Code, Issue
from zscope.pipelines.local_time.to_utc import system_indices
from zscope.pipelines.quantities import counted
from zscope.schemas.load import catalog
from zscope.schemas.stored import LOAD_ID, SUBTYPE, stored_schema

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from zscope.pipelines.store.commits import LoadKind

SYSTEM, SYSPLEX = "system", "sysplex"
_SYSPLEX_NAME = re.compile(r"[A-Z0-9$#@]{1,8}")
"""The names that z/OS accepts; anything else in the field is no name."""
Rows = TypeVar("Rows", pa.RecordBatch, pa.Table)


def qualified(sysplex: str, smfid: str) -> str:
    """Return the name of a system whose SMFID is in several sysplexes.

    >>> qualified("PLEX1", "SYSA")
    'PLEX1.SYSA'
    """
    return f"{sysplex}.{smfid}"


def valid_sysplex(text: str | None) -> str:
    """Return the name of a sysplex; empty if the text cannot be one.

    >>> valid_sysplex("PLEX1 "), valid_sysplex("PL\\x00X1"), valid_sysplex(None)
    ('PLEX1', '', '')
    """
    name = (text or "").strip(" \x00")
    return name if _SYSPLEX_NAME.fullmatch(name) else ""


@cache
def states_sysplex(table: str) -> bool:
    """Whether the rows of a table can state the sysplex of their system."""
    names = stored_schema(table).names
    return SYSTEM in names and SYSPLEX in names


@cache
def place_column(table: str) -> str:
    """Return the column that numbers the records of a table, or the lines of a report.

    >>> place_column("smf70_interval"), place_column("rmf_workload")
    ('record_no', 'line_no')
    """
    return next(name for name in ("record_no", "line_no") if name in stored_schema(table).names)


BELIEVED_RECORDS = 2
"""So many records have to state a second sysplex of an SMFID: a single one can be damaged."""


@dataclass
class StatedSysplexes:
    """The sysplexes that the records of an input state, by SMFID; empty names are not listed."""

    _records: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Records by SMFID, sysplex and table, counted up to a few: each table has some of the records."""

    def observe(self, table: str, rows: pa.RecordBatch) -> None:
        """Observe rows of a table."""
        if not states_sysplex(table):
            return
        for smfid, sysplex, records in self._pairs(table, rows):
            self._records[smfid, sysplex, table] += records

    def add(self, later: StatedSysplexes) -> None:
        """Add what was observed in the next range of the same file."""
        self._records += later._records

    @property
    def records(self) -> dict[str, dict[str, int]]:
        """Return the records that state each sysplex, by SMFID; many are not all counted."""
        counts: dict[str, dict[str, int]] = {}
        for (smfid, sysplex, _), records in self._records.items():
            of_smfid = counts.setdefault(smfid, {})
            of_smfid[sysplex] = max(records, of_smfid.get(sysplex, 0))
        return counts

    def _pairs(self, table: str, rows: pa.RecordBatch) -> Iterator[tuple[str, str, int]]:
        """Yield the combinations of SMFID and sysplex that occur in rows, with the number of records."""
        systems, which = system_indices(rows[SYSTEM])
        sysplexes, its = system_indices(rows[SYSPLEX])
        pairs = which * len(sysplexes) + its
        places = rows[place_column(table)].to_numpy(zero_copy_only=False)
        occurs = [0] if len(systems) == len(sysplexes) == 1 else np.flatnonzero(np.bincount(pairs)).tolist()
        for number in occurs:
            smfid, name = systems[number // len(sysplexes)], valid_sysplex(sysplexes[number % len(sysplexes)])
            if smfid and name and self._records[smfid, name, table] < BELIEVED_RECORDS:
                yield smfid, name, len(np.unique(places[pairs == number]))


@dataclass(frozen=True, slots=True)
class SystemNames:
    """How the systems of some loads are named."""

    sysplexes: Mapping[str, Collection[str]]
    """The sysplexes of the SMFIDs that are in several."""
    of_load: Mapping[tuple[int, str], str]
    """By load and SMFID, the sysplex of rows that do not state one; missing if nothing tells it."""

    @property
    def shared(self) -> frozenset[str]:
        """The SMFIDs that are in several sysplexes."""
        return frozenset(self.sysplexes)

    def name(self, load_id: int, smfid: str | None, sysplex: str | None) -> str | None:
        """Return the name of the system of a row."""
        if smfid is None or smfid not in self.sysplexes:
            return smfid
        stated = valid_sysplex(sysplex)
        if stated not in self.sysplexes[smfid]:
            stated = self.of_load.get((load_id, smfid), "")
        return qualified(stated, smfid) if stated else smfid

    def of_rows(self, rows: Rows) -> Rows:
        """Return rows with the names of their systems."""
        place = rows.schema.get_field_index(SYSTEM)
        systems, which = system_indices(_one_array(rows, SYSTEM))
        if self.shared.isdisjoint(name for name in systems if name):
            return rows
        of_rows: list[str | None] = [None]
        its = np.zeros(rows.num_rows, np.int64)
        if SYSPLEX in rows.schema.names:
            of_rows, its = system_indices(_one_array(rows, SYSPLEX))
        loads, load = np.unique(_one_array(rows, LOAD_ID.name).to_numpy(), return_inverse=True)
        keys, inverse = np.unique((load * len(systems) + which) * len(of_rows) + its, return_inverse=True)
        names = [
            self.name(
                int(loads[key // len(of_rows) // len(systems)]),
                systems[key // len(of_rows) % len(systems)],
                of_rows[key % len(of_rows)],
            )
            for key in keys.tolist()
        ]
        values = pa.array(names, pa.string()).dictionary_encode()
        indices = pc.take(values.indices, pa.array(inverse))
        column = pa.DictionaryArray.from_arrays(indices, values.dictionary)
        return rows.set_column(place, rows.schema.field(place), column.cast(rows.schema.field(place).type))

    def rows_without(self, rows: pa.RecordBatch) -> Counter[str]:
        """Count the rows that have a shared SMFID alone as their system."""
        systems, which = system_indices(rows[SYSTEM])
        numbers = np.bincount(which, minlength=len(systems)).tolist()
        pairs = zip(systems, numbers, strict=True)
        return Counter({name: number for name, number in pairs if name in self.shared and number})


def _one_array(rows: pa.RecordBatch | pa.Table, name: str) -> pa.Array:
    """Return a column as one array."""
    column = rows[name]
    if not isinstance(column, pa.ChunkedArray):
        return column
    merged = column.unify_dictionaries().combine_chunks()
    return merged if isinstance(merged, pa.Array) else merged.chunk(0)


@dataclass
class SharedSmfidCounts:
    """Counts the records of shared SMFIDs by load, name, type and subtype, from the rows of tables."""

    _records: Counter[tuple[int, str, str, int | None, int]] = field(default_factory=Counter)
    """By load, name of the system, table, subtype and type."""
    _spans: dict[tuple[int, str, int, int | None], list[str]] = field(default_factory=dict)

    def observe(self, table: str, rows: pa.RecordBatch | pa.Table, shared: frozenset[str]) -> None:
        """Observe rows of one file or batch, whose systems are named already."""
        kinds = _kinds_of(table)
        if not kinds or not states_sysplex(table) or (len(kinds) > 1 and SUBTYPE not in rows.schema.names):
            return
        names = [LOAD_ID.name, SYSTEM, "record_no", "written_local"]
        names += [SUBTYPE] if len(kinds) > 1 else []
        own = pa.table({name: _one_array(rows, name) for name in names})
        own = own.set_column(1, SYSTEM, own[SYSTEM].cast(pa.string()))
        keys = [name for name in names if name not in {"record_no", "written_local"}]
        counts = own.group_by(keys).aggregate(
            [("record_no", "count_distinct"), ("written_local", "min"), ("written_local", "max")]
        )
        for each in counts.to_pylist():
            name = each[SYSTEM] or ""
            if name.rpartition(".")[2] not in shared:
                continue
            kind = kinds[0] if len(kinds) == 1 else (kinds[0][0], each[SUBTYPE])
            self._records[each[LOAD_ID.name], name, table, kind[1], kind[0]] += each[
                "record_no_count_distinct"
            ]
            times = [each[f"written_local_{end}"] for end in ("min", "max")]
            span = self._spans.setdefault((each[LOAD_ID.name], name, *kind), [])
            span += [time.isoformat() for time in times if time]

    def _of(self, load_id: int, smfid: str, kind: LoadKind) -> dict[str, int]:
        """Return the records of a kind by name; each table has rows of some of its records."""
        by_name: dict[str, int] = {}
        for (load, name, _, subtype, record_type), records in self._records.items():
            if (load, name.rpartition(".")[2], record_type, subtype) == (
                load_id, smfid, kind.record_type, kind.record_subtype,
            ):  # fmt: skip
                by_name[name] = max(by_name.get(name, 0), records)
        return by_name

    def split(self, load_id: int, kind: LoadKind) -> list[LoadKind]:
        """Return a kind of a load by name of the system, with the number of records that it has.

        Records that were omitted have no rows: they are divided like the others.
        """
        by_name = self._of(load_id, kind.system or "", kind)
        whole = sum(by_name.values())
        if not whole:
            return [kind]
        result, left, left_bytes = [], kind.records, kind.bytes
        for number, (name, records) in enumerate(sorted(by_name.items())):
            last = number == len(by_name) - 1
            own = left if last else round(kind.records * records / whole)
            size = left_bytes if last or kind.bytes is None else round(kind.bytes * records / whole)
            left -= own
            left_bytes = left_bytes - size if left_bytes is not None and size is not None else None
            span = self._spans.get((load_id, name, kind.record_type or 0, kind.record_subtype), [])
            first, to = min(span, default=kind.first_local), max(span, default=kind.last_local)
            result.append(
                replace(kind, system=name, records=own, bytes=size, first_local=first, last_local=to)
            )
        return result

    def named(self, load_id: int, kinds: Iterable[LoadKind], names: SystemNames) -> tuple[LoadKind, ...]:
        """Return the kinds of a load by name of the system.

        Records that are not decoded have none if nothing tells their sysplex: they would be a system of their
        own.
        """
        result: list[LoadKind] = []
        for kind in kinds:
            if kind.system not in names.shared:
                result.append(kind)
                continue
            for each in self.split(load_id, kind):
                name = names.name(load_id, each.system, None)
                known = name not in names.shared or kind.record_type is None or _is_decoded(kind)
                result.append(replace(each, system=name if known else None))
        return tuple(result)


def _is_decoded(kind: LoadKind) -> bool:
    records = catalog().records
    return any((kind.record_type, subtype) in records for subtype in (kind.record_subtype, None))


@cache
def _kinds_of(table: str) -> list[tuple[int, int | None]]:
    """Return type and subtype of the records that fill a table."""
    kinds = {key for key, record in catalog().records.items() if table in {t.name for t in record.tables}}
    return sorted(kinds, key=str)


def issue_about(
    names: Mapping[str, Iterable[str]],
    without: Mapping[str, int],
    strays: Iterable[tuple[str, str, Iterable[str]]],
    file: str,
) -> Issue:
    """Return the issue about SMFIDs of several sysplexes, and rows that keep the SMFID alone.

    Strays are SMFIDs with a sysplex that a single record states, and those that all others state.
    """
    parts = []
    for smfid, sysplexes in sorted(names.items()):
        both = " and ".join(qualified(each, smfid) for each in sorted(sysplexes))
        parts.append(f"{smfid} is a system of more than one sysplex: its rows are kept apart as {both}")
    for smfid, rows in sorted(without.items()):
        parts.append(
            f"{counted(rows, 'row')} of {smfid} do not state the sysplex and keep the name {smfid}: set "
            f'sysplex = "NAME" for [systems.{smfid}] in zscope.toml, and the next load names them; '
            f"use --system NAME.{smfid} for records and displays that do not name their system"
        )
    for smfid, stray, known in strays:
        others = " and ".join(sorted(known))
        parts.append(
            f"a single record of {smfid} states the sysplex {stray}, all others {others}: it is taken for "
            "damaged, and its rows stay with the system"
        )
    return Issue(Code.SAME_SMFID, "; ".join(parts), file)
