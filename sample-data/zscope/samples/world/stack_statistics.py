"""SMF 119-5, -6 and -7 records of a world: what its stacks count of the connections of a day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.smf.record_writer import SectionRows, encode_section
from zscope.samples.dump.arrays import same
from zscope.samples.dump.assemble import RecordAssembler, SmfBatch
from zscope.samples.dump.context import INTERVAL, RecordContext
from zscope.samples.dump.records.rmf_record import columns_for
from zscope.samples.world.services import ADDRESSES, LISTENING
from zscope.samples.world.traffic import INTERVAL_US
from zscope.samples.world.world_recipe import CLIENTS, INTERVALS_A_DAY
from zscope.schemas import catalog

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.samples.dump.arrays import Connections, Numbers
    from zscope.samples.dump.records.rmf_record import Values
    from zscope.schemas import Section

INTERFACE, SEGMENT_BYTES, HEADER_BYTES = "OSAETH1", 1_400, 40
_TRIPLETS = {5: 7, 6: 3, 7: 3}


@dataclass(frozen=True)
class StackStatistics:
    """Generates the interval records of the stack of one system."""

    context: RecordContext
    system: int

    def day(self, seen: Connections, begin: int) -> SmfBatch:
        """Generate the records of a day from all connections that are open in it."""
        batch = SmfBatch()
        edges = begin + np.arange(INTERVALS_A_DAY + 1) * INTERVAL_US
        self._stack(batch, seen, edges)
        self._interface(batch, seen, edges)
        if self.system >= CLIENTS:
            self._ports(batch, seen, edges)
        return batch

    def _stack(self, batch: SmfBatch, seen: Connections, edges: Numbers) -> None:
        opened, closed = (_counted(seen, name, edges) for name in ("start", "end"))
        # The clients open connections, the servers accept them.
        calls = self.system < CLIENTS
        sent, received = self._segments(seen, edges)
        values: Values = {
            "interval_us": [INTERVAL_US] * INTERVALS_A_DAY,
            "opened_connections": (opened * calls).tolist(),
            "accepted_connections": (opened * (not calls)).tolist(),
            "failed_opens": (opened // 100).tolist(),
            "closed_connections": closed.tolist(),
            "open_connections": _open(seen, edges).tolist(),
            "sent_segments": sent.tolist(),
            "received_segments": received.tolist(),
            "retransmitted_segments": (sent // 1_000).tolist(),
        }
        datagrams: Values = {
            "ip_interval_us": [INTERVAL_US] * INTERVALS_A_DAY,
            "ip_received": received.tolist(),
            "ip_delivered": received.tolist(),
            "ip_sent": sent.tolist(),
        }
        layout = catalog().records[119, 5]
        parts = [self._rows(layout.section("ip"), datagrams), self._rows(layout.section("tcp"), values)]
        self._add(batch, 5, "STACK", edges, parts, ("smf119_stack_statistics",))

    def _segments(self, seen: Connections, edges: Numbers) -> tuple[Numbers, Numbers]:
        """Segments sent and received; those of a connection count when it ends."""
        out, into = (
            _counted(seen, "end", edges, 4 + seen[name] // SEGMENT_BYTES)
            for name in ("out_bytes", "in_bytes")
        )
        return out + into // 2, into + out // 2

    def _interface(self, batch: SmfBatch, seen: Connections, edges: Numbers) -> None:
        sent, received = self._segments(seen, edges)
        into, out = (_counted(seen, "end", edges, seen[name]) for name in ("in_bytes", "out_bytes"))
        values: Values = {
            "interval_us": [INTERVAL_US] * INTERVALS_A_DAY,
            "interface_name": [INTERFACE] * INTERVALS_A_DAY,
            "interface_type": ["IPAQENET"] * INTERVALS_A_DAY,
            "largest_packet_bytes": [1_500] * INTERVALS_A_DAY,
            "speed_bits_per_second": [1_000_000_000] * INTERVALS_A_DAY,
            "in_bytes": (into + HEADER_BYTES * received).tolist(),
            "in_unicast_packets": received.tolist(),
            "out_bytes": (out + HEADER_BYTES * sent).tolist(),
            "out_unicast_packets": sent.tolist(),
        }
        section = catalog().records[119, 6].section("interface")
        home = {"home_ip": same(ADDRESSES[self.system], INTERVALS_A_DAY)}
        self._add(
            batch, 6, "IP", edges, [self._rows(section, values, home)], ("smf119_interface_statistics",)
        )

    def _ports(self, batch: SmfBatch, seen: Connections, edges: Numbers) -> None:
        section = catalog().records[119, 7].section("tcp_port")
        applications = self.context.site.applications
        rows = []
        for job, port in LISTENING.items():
            here = [number for number, one in enumerate(applications) if (one.job, one.port) == (job, port)]
            mine = seen[np.isin(seen["application"], here)]
            accepted, still_open = _counted(mine, "start", edges), _open(mine, edges)
            values: Values = {
                "interval_us": [INTERVAL_US] * INTERVALS_A_DAY,
                "reserved_for": [job] * INTERVALS_A_DAY,
                "local_port": [port] * INTERVALS_A_DAY,
                "accepted_connections": accepted.tolist(),
                "binds": [1] * INTERVALS_A_DAY,
                "most_connections": (still_open + accepted // 4).tolist(),
                "open_connections": still_open.tolist(),
            }
            anywhere = {"bind_ip": same("::", INTERVALS_A_DAY)}
            rows.append(self._rows(section, values, anywhere))
        together = SectionRows(
            section, np.concatenate([part.rows for part in rows], axis=1), rows[0].length, len(rows)
        )
        self._add(batch, 7, "STACK", edges, [together], ("smf119_port_statistics",) * len(rows))

    def _rows(self, section: Section, values: Values, more: dict[str, pa.Array] | None = None) -> SectionRows:
        length = self.context.length(section)
        columns = columns_for(section, values) | (more or {})
        return SectionRows(section, encode_section(section, columns, INTERVALS_A_DAY, length), length)

    def _add(
        self,
        batch: SmfBatch,
        subtype: int,
        component: str,
        edges: Numbers,
        parts: list[SectionRows],
        tables: tuple[str, ...],
    ) -> None:
        layout = catalog().records[119, subtype]
        systems, written = np.full(INTERVALS_A_DAY, self.system), edges[1:]
        heads = self.context.headers(119, subtype, systems, written, "TCP")
        names = self.context.identification(component, reason=INTERVAL)[[self.system]]
        section = layout.section("identification")
        identification = SectionRows(section, names, names.shape[1])
        assembler = RecordAssembler(self.context, layout, _TRIPLETS[subtype])
        assembler.add_alike(
            batch, np.zeros(len(systems)), heads, lambda _: [identification, *parts], systems, written
        )
        for table in tables:
            batch.expected.tables[table] += len(systems)


def _counted(seen: Connections, moment: str, edges: Numbers, amounts: Numbers | None = None) -> Numbers:
    """Count connections by the interval of their start or end, or add up amounts of them."""
    place = (seen[moment] - edges[0]) // INTERVAL_US
    inside = (place >= 0) & (place < INTERVALS_A_DAY)
    weights = seen["times"][inside] * (1.0 if amounts is None else amounts[inside].astype(float))
    counted: Numbers = np.bincount(place[inside], weights, INTERVALS_A_DAY).astype(np.int64)
    return counted


def _open(seen: Connections, edges: Numbers) -> Numbers:
    """Connections that are open at the end of each interval."""
    begun, ended = (_before(seen, name, edges[1:]) for name in ("start", "end"))
    still: Numbers = begun - ended
    return still


def _before(seen: Connections, moment: str, edges: Numbers) -> Numbers:
    """Count connections that started or ended before each edge."""
    order = np.argsort(seen[moment], kind="stable")
    total = np.concatenate([[0], np.cumsum(seen["times"][order].astype(np.int64))])
    counted: Numbers = total[np.searchsorted(seen[moment][order], edges)]
    return counted
