"""Records that zscope counts but does not decode: other SMF types, and type 119 subtypes without a layout."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.smf.record_writer import (
    TCPIP_FIRST_TRIPLET,
    cut_rows,
    triplet_bytes,
    with_descriptor,
)
from zscope.samples.dump.assemble import SmfBatch
from zscope.samples.dump.dump_scenario import SCENARIO
from zscope.samples.dump.record_declaration import RecordWriter
from zscope.schemas.model import TRIPLET_BYTES

if TYPE_CHECKING:
    from zscope.parsers.smf.codecs.base import ByteRows
    from zscope.samples.dump.arrays import Numbers
    from zscope.samples.dump.context import RecordContext


FOREIGN_TYPES = SCENARIO.foreign_type
_POOL_BYTES = 1 << 18


@dataclass(frozen=True)
class UndecodedRecords:
    """Generates records with random content."""

    context: RecordContext

    def foreign(self, rng: np.random.Generator, written: Numbers) -> SmfBatch:
        """Generate records of other types."""
        weights = np.array([foreign.weight for foreign in FOREIGN_TYPES], float)
        kinds = rng.choice(len(FOREIGN_TYPES), len(written), p=weights / weights.sum())
        systems = rng.integers(0, len(self.context.names), len(written))
        batch = SmfBatch()
        for number, kind in enumerate(FOREIGN_TYPES):
            rows = np.flatnonzero(kinds == number)
            sizes = _sizes(rng, kind.lengths, len(rows))
            subtypes = kind.subtypes or (None,)
            for at, subtype in enumerate(subtypes):
                part = rows[at :: len(subtypes)]
                if not len(part):
                    continue
                heads = self.context.headers(kind.type, subtype, systems[part], written[part], kind.subsystem)
                records = self._with_bodies(rng, heads, sizes[at :: len(subtypes)])
                batch.add((kind.type, subtype), records, systems[part], written[part])
        return batch

    def unknown_subtypes(self, rng: np.random.Generator, written: Numbers) -> SmfBatch:
        """Generate type 119 records with an identification section and one of unknown layout."""
        unknown = SCENARIO.unknown_119
        systems = rng.integers(0, len(self.context.names), len(written))
        batch = SmfBatch()
        ident = self._identification
        size = ident.shape[1]
        begin = TCPIP_FIRST_TRIPLET + 2 * TRIPLET_BYTES
        for at, subtype in enumerate(unknown.subtypes):
            rows = np.arange(at, len(written), len(unknown.subtypes))
            if not len(rows):
                continue
            heads = self.context.headers(119, subtype, systems[rows], written[rows], "TCP")
            sizes = _sizes(rng, unknown.lengths, len(rows))
            records = []
            names = cut_rows(ident[systems[rows]])
            for head, name, length in zip(cut_rows(heads), names, sizes.tolist(), strict=True):
                pointers = triplet_bytes(begin, size, 1) + triplet_bytes(begin + size, length, 1)
                body = self._body(int(rng.integers(0, _POOL_BYTES - length)), length)
                records.append(with_descriptor(head[4:] + b"\0\2\0\0" + pointers + name + body))
            batch.add((119, subtype), records, systems[rows], written[rows])
        return batch

    @cached_property
    def _pool(self) -> bytes:
        """Random bytes; the contents of records are slices of it."""
        return self.context.random(3).bytes(_POOL_BYTES)

    @cached_property
    def _identification(self) -> ByteRows:
        return self.context.identification(RecordWriter(component="IP"))

    def _body(self, at: int, size: int) -> bytes:
        return self._pool[at : at + size]

    def _with_bodies(self, rng: np.random.Generator, heads: ByteRows, sizes: Numbers) -> list[bytes]:
        places = rng.integers(0, _POOL_BYTES - sizes.max(initial=0), len(sizes)).tolist()
        starts = cut_rows(heads)
        return [
            with_descriptor(head[4:] + self._body(at, size))
            for head, at, size in zip(starts, places, sizes.tolist(), strict=True)
        ]


def _sizes(rng: np.random.Generator, lengths: tuple[int, int], count: int) -> Numbers:
    shortest, longest = lengths
    return rng.integers(shortest, longest + 1, count)
