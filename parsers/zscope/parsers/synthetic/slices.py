"""The records of a dump in slices of time: each maker contributes its share, and all are put in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from zscope.parsers.synthetic.batch import Batch, Numbers, Scene
from zscope.parsers.synthetic.connections import ConnectionSource
from zscope.parsers.synthetic.events import ends_of, events_of
from zscope.parsers.synthetic.foreign import ForeignRecords
from zscope.parsers.synthetic.ftp import CLIENT, SERVER, FtpRecords
from zscope.parsers.synthetic.plan import RMF, Clock, Plan
from zscope.parsers.synthetic.recipe import TYPICAL_BYTES, Kind
from zscope.parsers.synthetic.rmf_cpu import CpuRecords
from zscope.parsers.synthetic.rmf_crypto import CryptoRecords
from zscope.parsers.synthetic.rmf_machine import Workload
from zscope.parsers.synthetic.rmf_record import Interval
from zscope.parsers.synthetic.tcp import TcpRecords
from zscope.parsers.synthetic.telnet import TelnetRecords
from zscope.parsers.synthetic.zert_detail import ZertDetail
from zscope.parsers.synthetic.zert_summary import ZertSummary

SLICE_RECORDS = 8_192
_TAIL = 0.98
"""A dump of a given size never quite reaches the end of its span, as its last record is not known before."""


@dataclass
class Slices:
    """Makes all ordinary records of a dump, slice by slice."""

    scene: Scene
    plan: Plan
    _number: int = 0
    """Of the slice being made."""
    _rmf_done: dict[Kind, int] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Batch]:
        """Every slice; the last one brings what is left of records made at intervals."""
        return self._to_count() if self.scene.recipe.size_bytes is None else self._to_size()

    def _to_count(self) -> Iterator[Batch]:
        totals = {kind: self.plan.counts.get(kind, 0) for kind in self.plan.flowing}
        slices = max(1, -(-sum(self.plan.counts.values()) // SLICE_RECORDS))
        for at in range(slices):
            counts = {kind: n * (at + 1) // slices - n * at // slices for kind, n in totals.items()}
            yield self._slice(counts, at / slices, (at + 1) / slices, last=at == slices - 1)

    def _to_size(self) -> Iterator[Batch]:
        size = self.scene.recipe.size_bytes or 0
        shares = {kind: self.plan.counts.get(kind, 0) for kind in self.plan.flowing}
        whole = sum(shares.values())
        typical = sum(TYPICAL_BYTES[kind] * n for kind, n in self.plan.counts.items()) / whole
        written, made, done = 0, 0, 0.0
        while written < size:
            mean = written / made if made else typical
            left = size - written
            # Half of what is left at a time: each step knows better how long records are.
            count = min(SLICE_RECORDS, int(left / mean / 2) + 1)
            counts = {kind: n * (made + count) // whole - n * made // whole for kind, n in shares.items()}
            end = done + (1 - done) * min(_TAIL, count * mean / left)
            batch = self._slice(counts, done, end, last=False)
            written += sum(map(len, batch.records))
            made, done = made + count, end
            yield batch
        yield self._slice(dict.fromkeys(shares, 0), done, 1.0, last=True)

    # --- one slice -----------------------------------------------------------------------------------------

    def _slice(self, counts: dict[Kind, int], begin: float, end: float, *, last: bool) -> Batch:
        """All records of the time in which a dump gets from one part done to another."""
        batch, until = Batch(), self.scene.recipe.end_us if last else self._clock.at(end)

        def times(kind: Kind) -> Numbers:
            return self._clock.between(self._random(kind, 1), begin, end, counts[kind])

        self._connections(batch, counts, begin, end, until)
        ftp, telnet, other = self._ftp, self._telnet, self._foreign
        batch.join(ftp.transfers(self._random(Kind.FTP_CLIENT), CLIENT, times(Kind.FTP_CLIENT)))
        batch.join(ftp.transfers(self._random(Kind.FTP_SERVER), SERVER, times(Kind.FTP_SERVER)))
        batch.join(ftp.failures(self._random(Kind.FTP_FAILURE), times(Kind.FTP_FAILURE)))
        started, ended = times(Kind.TN3270_INIT), times(Kind.TN3270_TERM)
        batch.join(telnet.make(self._random(Kind.TN3270_TERM), started, ended))
        batch.join(other.foreign(self._random(Kind.FOREIGN), times(Kind.FOREIGN)))
        unknown = times(Kind.UNKNOWN_SUBTYPE)
        batch.join(other.unknown_subtypes(self._random(Kind.UNKNOWN_SUBTYPE), unknown))
        batch.join(self._summary.until(until, last=last))
        for kind in RMF:
            self._rmf(batch, kind, until)
        # Intervals that nobody asks for any more must not pile up.
        self.workload.forget((until - self.workload.first_us) // self.scene.recipe.interval_us)
        self._number += 1
        return batch

    def _connections(
        self, batch: Batch, counts: dict[Kind, int], begin: float, end: float, until: int
    ) -> None:
        """ZERT detail records and the TCP records of the same connections."""
        wanted = counts[Kind.ZERT_DETAIL]
        rng = self._random(Kind.ZERT_DETAIL)
        due = self._source.due(until, wanted)
        made = self._source.new(rng, self._clock.between(rng, begin, end, wanted - len(due)), until)
        events = ends_of(due).both(events_of(made, until))
        self.workload.add(events)
        batch.join(self._zert.make(events))
        closed = np.concatenate([due, made[made["end"] < until]])
        inits, terms = counts[Kind.TCP_INIT], counts[Kind.TCP_TERM]
        more = max(0, inits - len(made), terms - len(closed))
        starts = self._clock.between(rng, begin, end, more)
        unseen = self._source.unseen(rng, starts, protected=not self.plan.counts.get(Kind.ZERT_DETAIL))
        opened, closed = np.concatenate([made, unseen]), np.concatenate([closed, unseen])
        batch.join(self._tcp.opened(opened[_spread(len(opened), inits)]))
        batch.join(self._tcp.closed(closed[_spread(len(closed), terms)]))

    def _rmf(self, batch: Batch, kind: Kind, until: int) -> None:
        """The records of intervals that are over."""
        planned, length = self._rmf_intervals[kind], self.scene.recipe.interval_us
        over: list[Interval] = []
        done = self._rmf_done.get(kind, 0)
        while done < len(planned) and self.workload.begin(planned[done][0]) + length <= until:
            number, systems = planned[done]
            begin = self.workload.begin(number)
            over += [Interval(number, system, begin, length) for system in range(systems)]
            done += 1
        self._rmf_done[kind] = done
        batch.join(self._cpu.make(over) if kind is Kind.RMF_CPU else self._crypto.make(over))

    def _random(self, kind: Kind, purpose: int = 0) -> np.random.Generator:
        return self.scene.random(100 + list(Kind).index(kind), self._number, purpose)

    # --- the makers ----------------------------------------------------------------------------------------

    @cached_property
    def workload(self) -> Workload:
        """What the connections cost."""
        return Workload(self.scene.recipe)

    @cached_property
    def _clock(self) -> Clock:
        return Clock(self.scene.recipe)

    @cached_property
    def _source(self) -> ConnectionSource:
        return ConnectionSource(self.scene)

    @cached_property
    def _zert(self) -> ZertDetail:
        return ZertDetail(self.scene)

    @cached_property
    def _tcp(self) -> TcpRecords:
        return TcpRecords(self.scene)

    @cached_property
    def _ftp(self) -> FtpRecords:
        return FtpRecords(self.scene)

    @cached_property
    def _telnet(self) -> TelnetRecords:
        return TelnetRecords(self.scene)

    @cached_property
    def _foreign(self) -> ForeignRecords:
        return ForeignRecords(self.scene)

    @cached_property
    def _summary(self) -> ZertSummary:
        return ZertSummary(self.scene, self.plan.summary)

    @cached_property
    def _cpu(self) -> CpuRecords:
        return CpuRecords(self.scene, self.workload)

    @cached_property
    def _crypto(self) -> CryptoRecords:
        return CryptoRecords(self.scene)

    @cached_property
    def _rmf_intervals(self) -> dict[Kind, list[tuple[int, int]]]:
        return {kind: self.plan.rmf_intervals(kind) for kind in RMF}


def _spread(there: int, wanted: int) -> Numbers:
    """So many of the rows there are, evenly spread."""
    return np.arange(wanted) * there // max(1, wanted)
