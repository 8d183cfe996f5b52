"""Records that zscope counts but does not decode: other SMF types, and type 119 subtypes without a layout."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.smf.record_writer import TCPIP_FIRST_TRIPLET, cut_rows, with_descriptor
from zscope.samples.dump.assemble import SmfBatch
from zscope.schemas.model import TRIPLET_BYTES

if TYPE_CHECKING:
    from zscope.parsers.smf.codecs.base import ByteRows
    from zscope.samples.dump.arrays import Numbers
    from zscope.samples.dump.context import RecordContext


@dataclass(frozen=True, slots=True)
class ForeignType:
    """A record type with the range of its content lengths."""

    number: int
    subtypes: tuple[int | None, ...]
    subsystem: str
    weight: int
    shortest: int
    longest: int


FOREIGN_TYPES = (
    ForeignType(14, (None,), "", 14, 260, 400),
    ForeignType(15, (None,), "", 9, 260, 400),
    ForeignType(30, (1,), "STC", 26, 600, 2_400),
    ForeignType(42, (6,), "SMS", 14, 300, 1_600),
    ForeignType(72, (4,), "RMF", 9, 800, 3_000),
    ForeignType(74, (1, 5), "RMF", 8, 1_500, 16_000),
    ForeignType(80, (None,), "", 8, 140, 380),
    ForeignType(110, (1,), "CICS", 6, 6_000, 30_000),
    ForeignType(231, (None,), "", 6, 80, 500),
)
UNKNOWN_SUBTYPES = (41, 42, 44, 48, 94)
UNKNOWN_SHORTEST, UNKNOWN_LONGEST = 180, 460
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
            sizes = rng.integers(kind.shortest, kind.longest + 1, len(rows))
            for at, subtype in enumerate(kind.subtypes):
                part = rows[at :: len(kind.subtypes)]
                if not len(part):
                    continue
                heads = self.context.headers(
                    kind.number, subtype, systems[part], written[part], kind.subsystem
                )
                records = self._with_bodies(rng, heads, sizes[at :: len(kind.subtypes)])
                batch.add((kind.number, subtype), records, systems[part], written[part])
        return batch

    def unknown_subtypes(self, rng: np.random.Generator, written: Numbers) -> SmfBatch:
        """Generate type 119 records with an identification section and one of unknown layout."""
        systems = rng.integers(0, len(self.context.names), len(written))
        batch = SmfBatch()
        ident = self._identification
        size = ident.shape[1]
        begin = TCPIP_FIRST_TRIPLET + 2 * TRIPLET_BYTES
        for at, subtype in enumerate(UNKNOWN_SUBTYPES):
            rows = np.arange(at, len(written), len(UNKNOWN_SUBTYPES))
            if not len(rows):
                continue
            heads = self.context.headers(119, subtype, systems[rows], written[rows], "TCP")
            sizes = rng.integers(UNKNOWN_SHORTEST, UNKNOWN_LONGEST + 1, len(rows))
            records = []
            names = cut_rows(ident[systems[rows]])
            for head, name, length in zip(cut_rows(heads), names, sizes.tolist(), strict=True):
                pointers = _triplet(begin, size) + _triplet(begin + size, length)
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
        return self.context.identification("IP")

    def _body(self, at: int, size: int) -> bytes:
        return self._pool[at : at + size]

    def _with_bodies(self, rng: np.random.Generator, heads: ByteRows, sizes: Numbers) -> list[bytes]:
        places = rng.integers(0, _POOL_BYTES - sizes.max(initial=0), len(sizes)).tolist()
        starts = cut_rows(heads)
        return [
            with_descriptor(head[4:] + self._body(at, size))
            for head, at, size in zip(starts, places, sizes.tolist(), strict=True)
        ]


def _triplet(offset: int, length: int) -> bytes:
    return offset.to_bytes(4, "big") + length.to_bytes(2, "big") + b"\0\1"
