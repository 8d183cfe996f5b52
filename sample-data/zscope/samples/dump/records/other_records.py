"""Records without connections: sessions of the Telnet server, and what zscope counts but does not decode."""

from __future__ import annotations

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
from zscope.samples.dump.site import FIRST_PARTNERS, PARTNERS
from zscope.samples.dump.site_context import FILLER_BYTES
from zscope.schemas.model import TRIPLET_BYTES

if TYPE_CHECKING:
    from zscope.samples.dump.arrays import Numbers
    from zscope.samples.dump.context import RecordContext


FOREIGN_TYPES = SCENARIO.foreign_type
MEAN_SESSION_US = 1_200_000_000


def foreign_records(context: RecordContext, rng: np.random.Generator, written: Numbers) -> SmfBatch:
    """Generate records of other types."""
    weights = np.array([foreign.weight for foreign in FOREIGN_TYPES], float)
    kinds = rng.choice(len(FOREIGN_TYPES), len(written), p=weights / weights.sum())
    systems = rng.integers(0, len(context.names), len(written))
    batch = SmfBatch()
    for number, kind in enumerate(FOREIGN_TYPES):
        rows = np.flatnonzero(kinds == number)
        sizes = _sizes(rng, kind.lengths, len(rows))
        subtypes = kind.subtypes or (None,)
        for at, subtype in enumerate(subtypes):
            part, lengths = rows[at :: len(subtypes)], sizes[at :: len(subtypes)]
            if not len(part):
                continue
            heads = context.headers(kind.type, subtype, systems[part], written[part], kind.subsystem)
            places = rng.integers(0, FILLER_BYTES - lengths.max(), len(part))
            records = [
                with_descriptor(head[4:] + context.filler[place : place + length])
                for head, place, length in zip(
                    cut_rows(heads), places.tolist(), lengths.tolist(), strict=True
                )
            ]
            batch.add((kind.type, subtype), records, systems[part], written[part])
    return batch


def unknown_subtypes(context: RecordContext, rng: np.random.Generator, written: Numbers) -> SmfBatch:
    """Generate type 119 records with an identification section and one of unknown layout."""
    unknown, batch = SCENARIO.unknown_119, SmfBatch()
    systems = rng.integers(0, len(context.names), len(written))
    identification = context.identification(RecordWriter(component="IP"))
    size = identification.shape[1]
    begin = TCPIP_FIRST_TRIPLET + 2 * TRIPLET_BYTES
    for at, subtype in enumerate(unknown.subtypes):
        rows = np.arange(at, len(written), len(unknown.subtypes))
        if not len(rows):
            continue
        heads = context.headers(119, subtype, systems[rows], written[rows], "TCP")
        sizes = _sizes(rng, unknown.lengths, len(rows))
        records = []
        names = cut_rows(identification[systems[rows]])
        for head, name, length in zip(cut_rows(heads), names, sizes.tolist(), strict=True):
            pointers = triplet_bytes(begin, size, 1) + triplet_bytes(begin + size, length, 1)
            place = int(rng.integers(0, FILLER_BYTES - length))
            body = context.filler[place : place + length]
            records.append(with_descriptor(head[4:] + b"\0\2\0\0" + pointers + name + body))
        batch.add((119, subtype), records, systems[rows], written[rows])
    return batch


def _sizes(rng: np.random.Generator, lengths: tuple[int, int], count: int) -> Numbers:
    shortest, longest = lengths
    return rng.integers(shortest, longest + 1, count)


def telnet_sessions(
    context: RecordContext, rng: np.random.Generator, started: Numbers, ended: Numbers
) -> SmfBatch:
    """Generate records of sessions that start and that end at these times; as far as possible the same
    sessions.
    """
    count = max(len(started), len(ended))
    sessions = {
        "system": rng.integers(0, len(context.names), count),
        "partner": rng.integers(FIRST_PARTNERS, PARTNERS, count),
        "port": rng.integers(1024, 65_000, count),
        "draw": rng.integers(0, 1_000, count),
    }
    lasted = 1_000_000 + rng.exponential(MEAN_SESSION_US, count).astype(np.int64)
    both = min(len(started), len(ended))
    first, last = np.sort(started), np.sort(ended)
    begins = last - lasted[: len(last)]
    begins[:both] = np.minimum(first[:both], last[:both])
    batch = SmfBatch()
    for name, subtype, starts, written in (("init", 20, first, first), ("term", 21, begins, last)):
        these = {column: values[: len(written)] for column, values in sessions.items()}
        path = f"dump/records/tn3270_{name}.toml"
        batch.extend(context.make(path, subtype, {**these, "start": starts}, written))
    return batch
