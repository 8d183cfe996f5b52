"""Write a whole dump: header, records, damage and trailer, with memory for one slice only."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from zscope.samples.dump.assemble import SmfBatch
from zscope.samples.dump.connections import ConnectionGenerator, Connections
from zscope.samples.dump.context import RecordContext
from zscope.samples.dump.damage import (
    DAMAGES,
    at_end,
    at_place,
    between_records,
    damaged,
    framer,
    positions,
)
from zscope.samples.dump.manifest import DamageDone, ExpectedCounts, Manifest, positive
from zscope.samples.dump.output import HashingWriter, PieceWriter, packed
from zscope.samples.dump.recipe import TYPICAL_BYTES, Recipe, RecipeError, RecordKind
from zscope.samples.dump.record_plan import RMF, DumpClock, RecordPlan
from zscope.samples.dump.records.connection_records import (
    closed,
    ends_of,
    events_of,
    opened,
    zert_detail,
)
from zscope.samples.dump.records.other_records import foreign_records, telnet_sessions, unknown_subtypes
from zscope.samples.dump.records.rmf_machine import ConnectionCpuTime
from zscope.samples.dump.records.smf70 import CpuRecords, RmfInterval, crypto_records
from zscope.samples.dump.records.zert_summary import ZertSummary, dump_sessions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.samples.dump.arrays import Numbers


_DECLARED = {
    RecordKind.FTP_CLIENT: ("ftp_transfer", 3),
    RecordKind.FTP_SERVER: ("ftp_transfer", 70),
    RecordKind.FTP_FAILURE: ("ftp_failure", 72),
}
"""Kinds whose records follow from a declaration alone, with its name and the subtype."""
_UNDECODED = {RecordKind.FOREIGN: foreign_records, RecordKind.UNKNOWN_SUBTYPE: unknown_subtypes}
SLICE_RECORDS = 8_192
_TAIL = 0.98
"""A dump of a given size never quite reaches the end of its time span, as its last record is not known
before.
"""


@dataclass
class RecordGenerator:
    """Generates all ordinary records of a dump, slice by slice."""

    context: RecordContext
    plan: RecordPlan
    _number: int = 0
    """Number of the current slice."""
    _rmf_done: dict[RecordKind, int] = field(default_factory=dict)

    def __iter__(self) -> Iterator[SmfBatch]:
        """Yield the records of each slice; the last slice contains the remaining interval records."""
        return self._to_count() if self.context.recipe.size_bytes is None else self._to_size()

    def _to_count(self) -> Iterator[SmfBatch]:
        totals = {kind: self.plan.counts.get(kind, 0) for kind in self.plan.any_time_kinds}
        slices = max(1, -(-sum(self.plan.counts.values()) // SLICE_RECORDS))
        for at in range(slices):
            counts = {kind: n * (at + 1) // slices - n * at // slices for kind, n in totals.items()}
            yield self._slice(counts, at / slices, (at + 1) / slices, last=at == slices - 1)

    def _to_size(self) -> Iterator[SmfBatch]:
        size = self.context.recipe.size_bytes or 0
        shares = {kind: self.plan.counts.get(kind, 0) for kind in self.plan.any_time_kinds}
        whole = sum(shares.values())
        typical = sum(TYPICAL_BYTES[kind] * n for kind, n in self.plan.counts.items()) / whole
        written, generated, done = 0, 0, 0.0
        while written < size:
            mean = written / generated if generated else typical
            left = size - written
            # Half of what is left at a time: each step knows better how long records are.
            count = min(SLICE_RECORDS, int(left / mean / 2) + 1)
            counts = {
                kind: n * (generated + count) // whole - n * generated // whole for kind, n in shares.items()
            }
            end = done + (1 - done) * min(_TAIL, count * mean / left)
            batch = self._slice(counts, done, end, last=False)
            written += sum(map(len, batch.records))
            generated, done = generated + count, end
            yield batch
        yield self._slice(dict.fromkeys(shares, 0), done, 1.0, last=True)

    def _slice(self, counts: dict[RecordKind, int], begin: float, end: float, *, last: bool) -> SmfBatch:
        """Generate the records between two completed parts of the dump."""
        batch, until = SmfBatch(), self.context.recipe.end_us if last else self._clock.at(end)

        def times(kind: RecordKind) -> Numbers:
            return self._clock.between(self._random(kind, 1), begin, end, counts[kind])

        self._connections(batch, counts, begin, end, until)
        for kind, (name, subtype) in _DECLARED.items():
            path = f"dump/records/{name}.toml"
            batch.extend(self.context.make(path, subtype, {}, times(kind), self._random(kind)))
        started, ended = times(RecordKind.TN3270_INIT), times(RecordKind.TN3270_TERM)
        batch.extend(telnet_sessions(self.context, self._random(RecordKind.TN3270_TERM), started, ended))
        for kind, generate_records in _UNDECODED.items():
            batch.extend(generate_records(self.context, self._random(kind), times(kind)))
        batch.extend(self._summary.until(until, last=last))
        for kind in RMF:
            self._rmf(batch, kind, until)
        # Intervals that are no longer needed would accumulate.
        self.cpu_time.forget((until - self.cpu_time.first_us) // self.context.recipe.interval_us)
        self._number += 1
        return batch

    def _connections(
        self, batch: SmfBatch, counts: dict[RecordKind, int], begin: float, end: float, until: int
    ) -> None:
        """Add zERT detail records and the TCP records of the same connections."""
        wanted = counts[RecordKind.ZERT_DETAIL]
        rng = self._random(RecordKind.ZERT_DETAIL)
        due = self._connection_generator.due(until, wanted)
        generated = self._connection_generator.new(
            rng, self._clock.between(rng, begin, end, wanted - len(due)), until
        )
        events = ends_of(due).both(events_of(generated, until))
        self.cpu_time.add(events)
        batch.extend(zert_detail(self.context, events))
        over = Connections.joined([due, generated[generated.end < until]])
        inits, terms = counts[RecordKind.TCP_INIT], counts[RecordKind.TCP_TERM]
        more = max(0, inits - len(generated), terms - len(over))
        starts = self._clock.between(rng, begin, end, more)
        unseen = self._connection_generator.unseen(
            rng, starts, protected=not self.plan.counts.get(RecordKind.ZERT_DETAIL)
        )
        begun, over = (Connections.joined([some, unseen]) for some in (generated, over))
        batch.extend(opened(self.context, begun[_spread(len(begun), inits)]))
        batch.extend(closed(self.context, over[_spread(len(over), terms)]))

    def _rmf(self, batch: SmfBatch, kind: RecordKind, until: int) -> None:
        """Add the records of intervals that have ended."""
        planned, length = self._rmf_intervals[kind], self.context.recipe.interval_us
        over: list[RmfInterval] = []
        done = self._rmf_done.get(kind, 0)
        while done < len(planned) and self.cpu_time.begin(planned[done][0]) + length <= until:
            number, systems = planned[done]
            begin = self.cpu_time.begin(number)
            over += [RmfInterval(number, system, begin, length) for system in range(systems)]
            done += 1
        self._rmf_done[kind] = done
        if kind is RecordKind.RMF_CPU:
            batch.extend(self._cpu.make(over))
        else:
            batch.extend(crypto_records(self.context, over))

    def _random(self, kind: RecordKind, purpose: int = 0) -> np.random.Generator:
        return self.context.random(100 + list(RecordKind).index(kind), self._number, purpose)

    @cached_property
    def cpu_time(self) -> ConnectionCpuTime:
        """CPU time of the connections."""
        return ConnectionCpuTime(self.context.recipe)

    @cached_property
    def _clock(self) -> DumpClock:
        return DumpClock(self.context.recipe)

    @cached_property
    def _connection_generator(self) -> ConnectionGenerator:
        return ConnectionGenerator(self.context)

    @cached_property
    def _summary(self) -> ZertSummary:
        return ZertSummary(
            self.context, self.plan.summary, dump_sessions(self.context, self.plan.summary.sessions)
        )

    @cached_property
    def _cpu(self) -> CpuRecords:
        return CpuRecords(self.context, self.cpu_time)

    @cached_property
    def _rmf_intervals(self) -> dict[RecordKind, list[tuple[int, int]]]:
        return {kind: self.plan.rmf_intervals(kind) for kind in RMF}


def _spread(count: int, wanted: int) -> Numbers:
    """Return evenly distributed indexes of `wanted` rows."""
    return np.arange(wanted) * count // max(1, wanted)


DUMP_HEADER, DUMP_TRAILER = 2, 3
TRAILER_AFTER_US = 5_000_000
SPECIMEN_TABLE = "smf119_tcp_init"
SPECIMEN_IDS = 0xDA0000
"""First connection number of damaged specimens."""


def generate(recipe: Recipe, out: BinaryIO) -> Manifest:
    """Write a dump and return its manifest; raise RecipeError for a recipe that cannot be carried out.

    >>> import io
    >>> manifest = generate(Recipe(records=50, mix={"tcp-init": 1}), io.BytesIO())
    >>> manifest.records_by_type
    {'119-1': 50, '2': 1, '3': 1}
    """
    dump = _Dump(recipe)
    dump.plan.check()
    file = HashingWriter(out)
    with packed(recipe.packing, file) as body:
        writer = PieceWriter(body)
        dump.write(writer)
        writer.flush()
    notes = ["synthetic data, made by zscope; no record comes from a real system"]
    if recipe.tls13 and any(system.level == "3.2" for system in recipe.systems):
        notes.append(
            "TLS sections of zERT detail records of level 3.2 end in filler: their layout is not published"
        )
    if saturated := dump.generator.cpu_time.saturated:
        notes.append(
            f"in {saturated} RMF intervals there was more work than processors; the rest is not shown"
        )
    expected = dump.expected
    return Manifest(
        zscope_version=version("zscope"),
        recipe=recipe.to_json(),
        seed=recipe.seed,
        sha256=file.sha256,
        file_bytes=file.count,
        dump_bytes=writer.count,
        records=expected.records,
        records_by_type=positive(expected.types),
        rows_by_table=positive(expected.tables),
        zert_detail_by_tls_version=positive(expected.tls_versions),
        zert_detail_by_cipher=positive(expected.ciphers),
        zert_detail_by_handshake=positive(expected.handshakes),
        first_written_local=expected.local_times(recipe, expected.first),
        last_written_local=expected.local_times(recipe, expected.last),
        damage=tuple(dump.damage_done()),
        refused=next((DAMAGES[kind].code for kind in at_place(recipe.damage, "file")), None),
        notes=tuple(notes),
    )


@dataclass
class _Dump:
    """A dump while it is written."""

    recipe: Recipe
    expected: ExpectedCounts = field(default_factory=ExpectedCounts)
    _written: int = 0
    """Records written so far, as a reader counts them."""
    _specimens: int = 0
    _numbers: dict[str, list[int]] = field(default_factory=dict)
    _ranges: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def write(self, writer: PieceWriter) -> None:
        """Write everything; damage between records separates the calls of the framing function."""
        frame = framer(self.recipe.framing, self.recipe.block, self.recipe.damage)
        stream = self._stream()
        more = True
        while more:
            ends: list[str] = []
            writer.take(frame(self._run(stream, ends)))
            begin, more = writer.count, bool(ends)
            for kind in ends:
                rng, specimen = self._context.random(4, begin), self._specimen(self._completed)
                writer.take([between_records(kind, specimen, self.recipe.framing, rng)])
                self._ranges[kind] = [(begin, writer.count)]
        for kind in at_place(self.recipe.damage, "end"):
            begin = writer.count
            writer.take([at_end(kind, self._specimen(1.0), frame)])
            self._ranges[kind] = [(begin, writer.count)]

    def damage_done(self) -> Iterator[DamageDone]:
        """Yield the damage in the order of the recipe."""
        for kind in self.recipe.damage:
            about = DAMAGES[kind]
            numbers, ranges = self._numbers.get(kind, []), self._ranges.get(kind, [])
            yield DamageDone(kind, about.text, about.code, tuple(numbers), tuple(ranges))

    @cached_property
    def plan(self) -> RecordPlan:
        return RecordPlan(self.recipe)

    @cached_property
    def generator(self) -> RecordGenerator:
        return RecordGenerator(self._context, self.plan)

    @cached_property
    def _context(self) -> RecordContext:
        return RecordContext(self.recipe)

    @property
    def _completed(self) -> float:
        return min(1.0, self._written / max(1, self._planned))

    @cached_property
    def _planned(self) -> int:
        return sum(self.plan.counts.values())

    def _run(self, stream: Iterator[list[bytes] | str], ends: list[str]) -> Iterator[bytes]:
        """Yield records up to the next damage between records, whose name is appended to `ends`."""
        for item in stream:
            if isinstance(item, str):
                ends.append(item)
                return
            yield from item

    def _stream(self) -> Iterator[list[bytes] | str]:
        """Yield lists of records, and the names of damage between records."""
        yield self._plain(DUMP_HEADER, self.recipe.start_us)
        # The number of records of a dump of a given size is not known, so its damage comes early.
        planned = self._planned if self.recipe.size_bytes is None else self._planned // 2
        places = positions(self.recipe.damage, planned)
        ordinary = 0
        for batch in self.generator:
            records, begin = batch.in_order(), 0
            self.expected.add(batch.expected)
            while places and places[0][0] < ordinary + len(records):
                place, kind = places.pop(0)
                yield self._counted(records[begin : place - ordinary])
                begin = place - ordinary
                yield self._on_records(kind) if DAMAGES[kind].place == "record" else kind
            ordinary += len(records)
            yield self._counted(records[begin:])
        if places:
            raise RecipeError("the dump has too few records for its damage: choose a greater size")
        if "truncated" not in self.recipe.damage:
            yield self._plain(DUMP_TRAILER, self.recipe.end_us + TRAILER_AFTER_US)

    def _counted(self, records: list[bytes]) -> list[bytes]:
        self._written += len(records)
        return records

    def _plain(self, record_type: int, time: int) -> list[bytes]:
        """Return the header or trailer that the dump program writes, with the name of the first system."""
        return self._counted(self._context.plain_record(record_type, 0, time, self.expected))

    def _on_records(self, kind: str) -> list[bytes]:
        """Return damaged records."""
        time = DumpClock(self.recipe).at(self._completed)
        if kind == "concatenated":
            numbers = [self._written + 1, self._written + 2]
            records = self._plain(DUMP_TRAILER, time) + self._plain(DUMP_HEADER, time)
        else:
            records = damaged(kind, self._specimen(self._completed))
            numbers = [self._written + at + 1 for at in range(len(records))]
            self._counted(records)
            self.expected.records += len(records)
            self.expected.types["119-1"] += len(records)
            self.expected.tables[SPECIMEN_TABLE] += len(records) if DAMAGES[kind].rows else 0
        self._numbers.setdefault(kind, []).extend(numbers)
        return records

    def _specimen(self, done: float) -> bytes:
        """Return a valid record, each time a different one, to be damaged."""
        connection = Connections.zeros(1)
        connection.start[:] = DumpClock(self.recipe).at(done)
        connection.connection_id[:] = SPECIMEN_IDS + self._specimens
        self._specimens += 1
        return opened(self._context, connection).records[0]
