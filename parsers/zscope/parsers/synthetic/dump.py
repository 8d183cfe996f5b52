"""Making a whole dump: header, records, damage and trailer in one stream, with memory for one slice only."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from zscope.parsers.smf.write import plain_records
from zscope.parsers.synthetic.batch import Scene, local, pick
from zscope.parsers.synthetic.connections import CONNECTION
from zscope.parsers.synthetic.damage import (
    AT_END,
    DAMAGES,
    ON_RECORDS,
    REPLACING,
    at_end,
    between_records,
    damaged,
    framer,
    positions,
)
from zscope.parsers.synthetic.manifest import DamageDone, Manifest, Tally, positive
from zscope.parsers.synthetic.output import HashingWriter, PieceWriter, packed
from zscope.parsers.synthetic.plan import Clock, Plan
from zscope.parsers.synthetic.recipe import Recipe, RecipeError
from zscope.parsers.synthetic.slices import Slices
from zscope.parsers.synthetic.tcp import TcpRecords

if TYPE_CHECKING:
    from collections.abc import Iterator

DUMP_HEADER, DUMP_TRAILER = 2, 3
TRAILER_AFTER_US = 5_000_000
SPECIMEN_TABLE = "smf119_tcp_init"
SPECIMEN_IDS = 0xDA0000
"""Connection numbers of specimens start here."""


def generate(recipe: Recipe, out: BinaryIO) -> Manifest:
    """Write a dump and say what is in it; a recipe that cannot be carried out is a RecipeError.

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
    if saturated := dump.slices.workload.saturated:
        notes.append(
            f"in {saturated} RMF intervals there was more work than processors; the rest is not shown"
        )
    tally = dump.tally
    return Manifest(
        zscope_version=version("zscope"),
        recipe=recipe.to_json(),
        seed=recipe.seed,
        sha256=file.sha256,
        file_bytes=file.count,
        dump_bytes=writer.count,
        records=tally.records,
        records_by_type=positive(tally.types),
        rows_by_table=positive(tally.tables),
        zert_detail_by_tls_version=positive(tally.tls_versions),
        zert_detail_by_cipher=positive(tally.ciphers),
        zert_detail_by_handshake=positive(tally.handshakes),
        first_written_local=tally.local_times(recipe, tally.first),
        last_written_local=tally.local_times(recipe, tally.last),
        damage=tuple(dump.damage_done()),
        refused=next(
            (code for kind in recipe.damage if kind in REPLACING and (code := DAMAGES[kind].code)), None
        ),
        notes=tuple(notes),
    )


@dataclass
class _Dump:
    """A dump while it is written."""

    recipe: Recipe
    tally: Tally = field(default_factory=Tally)
    _written: int = 0
    """Records in the stream so far, as a reader counts them."""
    _specimens: int = 0
    _numbers: dict[str, list[int]] = field(default_factory=dict)
    _ranges: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def write(self, writer: PieceWriter) -> None:
        """Write everything; runs of records are framed without a break, damage comes between them."""
        frame = framer(self.recipe.framing, self.recipe.block, self.recipe.damage)
        stream = self._stream()
        more = True
        while more:
            ends: list[str] = []
            writer.take(frame(self._run(stream, ends)))
            begin, more = writer.count, bool(ends)
            for kind in ends:
                rng, specimen = self._scene.random(4, begin), self._specimen(self._done)
                writer.take([between_records(kind, specimen, self.recipe.framing, rng)])
                self._ranges[kind] = [(begin, writer.count)]
        for kind in AT_END.intersection(self.recipe.damage):
            begin = writer.count
            writer.take([at_end(kind, self._specimen(1.0), frame)])
            self._ranges[kind] = [(begin, writer.count)]

    def damage_done(self) -> Iterator[DamageDone]:
        """What was done, in the order of the recipe."""
        for kind in self.recipe.damage:
            about = DAMAGES[kind]
            numbers, ranges = self._numbers.get(kind, []), self._ranges.get(kind, [])
            yield DamageDone(kind, about.text, about.code, tuple(numbers), tuple(ranges))

    @cached_property
    def plan(self) -> Plan:
        """How many records there will be."""
        return Plan(self.recipe)

    @cached_property
    def slices(self) -> Slices:
        """The ordinary records."""
        return Slices(self._scene, self.plan)

    @cached_property
    def _scene(self) -> Scene:
        return Scene(self.recipe)

    @property
    def _done(self) -> float:
        return min(1.0, self._written / max(1, self._planned))

    @cached_property
    def _planned(self) -> int:
        return sum(self.plan.counts.values())

    def _run(self, stream: Iterator[list[bytes] | str], ends: list[str]) -> Iterator[bytes]:
        """Records up to the next damage that comes between records, whose name goes to `ends`."""
        for item in stream:
            if isinstance(item, str):
                ends.append(item)
                return
            yield from item

    def _stream(self) -> Iterator[list[bytes] | str]:
        """Lists of records, and the names of damage that comes between records."""
        yield self._plain(DUMP_HEADER, self.recipe.start_us)
        # Nobody knows how many records a dump of a given size gets, so its damage comes early.
        planned = self._planned if self.recipe.size_bytes is None else self._planned // 2
        places = positions(self.recipe.damage, planned)
        ordinary = 0
        for batch in self.slices:
            records, begin = batch.in_order(), 0
            self.tally.add(batch.tally)
            while places and places[0][0] < ordinary + len(records):
                place, kind = places.pop(0)
                yield self._counted(records[begin : place - ordinary])
                begin = place - ordinary
                yield self._on_records(kind) if kind in ON_RECORDS else kind
            ordinary += len(records)
            yield self._counted(records[begin:])
        if places:
            raise RecipeError("the dump got too few records for its damage: ask for a greater size")
        if "truncated" not in self.recipe.damage:
            yield self._plain(DUMP_TRAILER, self.recipe.end_us + TRAILER_AFTER_US)

    def _counted(self, records: list[bytes]) -> list[bytes]:
        self._written += len(records)
        return records

    def _plain(self, record_type: int, time: int) -> list[bytes]:
        """The header or trailer that the dump program writes, under the name of the first system."""
        first, times = np.zeros(1, np.int64), np.array([time])
        columns = {
            "system": pick(self._scene.names[:1], first),
            "written_local": local(self._scene.local_us(first, times)),
        }
        self.tally.count(str(record_type), first, times)
        return self._counted(plain_records(record_type, columns, 1))

    def _on_records(self, kind: str) -> list[bytes]:
        """Records that carry damage."""
        time = Clock(self.recipe).at(self._done)
        if kind == "concatenated":
            numbers = [self._written + 1, self._written + 2]
            records = self._plain(DUMP_TRAILER, time) + self._plain(DUMP_HEADER, time)
        else:
            records = damaged(kind, self._specimen(self._done))
            numbers = [self._written + at + 1 for at in range(len(records))]
            self._counted(records)
            self.tally.records += len(records)
            self.tally.types["119-1"] += len(records)
            self.tally.tables[SPECIMEN_TABLE] += len(records) if DAMAGES[kind].rows else 0
        self._numbers.setdefault(kind, []).extend(numbers)
        return records

    def _specimen(self, done: float) -> bytes:
        """A good record, each one different, to do damage to."""
        connection = np.zeros(1, CONNECTION)
        connection["start"] = Clock(self.recipe).at(done)
        connection["connection_id"] = SPECIMEN_IDS + self._specimens
        self._specimens += 1
        return TcpRecords(self._scene).opened(connection).records[0]
