"""SMF 119-5, -6 and -7 records of a world: what its stacks count of the connections of a day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.samples.dump.assemble import SmfBatch
from zscope.samples.world.services import ADDRESSES, LISTENING
from zscope.samples.world.traffic import INTERVAL_US
from zscope.samples.world.world_recipe import CLIENTS, INTERVALS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zscope.samples.dump.arrays import Numbers
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.world.world_connections import SeenConnections

SEGMENT_BYTES = 1_400
_LISTENERS = {
    "length_us": INTERVAL_US,
    "addresses": ADDRESSES,
    "listening_jobs": list(LISTENING),
    "listening_ports": np.array(list(LISTENING.values())),
    "listeners": np.arange(len(LISTENING)),
}
"""Names that the declarations of these records use."""


@dataclass(frozen=True)
class StackStatistics:
    """Generates the interval records of the stack of one system."""

    context: RecordContext
    system: int

    def day(self, seen: SeenConnections, begin: int) -> SmfBatch:
        """Generate the records of a day from all connections that are open in it."""
        batch = SmfBatch()
        edges = begin + np.arange(INTERVALS_A_DAY + 1) * INTERVAL_US
        batch.extend(self._made("stack_counters", 5, edges, self._connections(seen, edges)))
        batch.extend(self._made("interface_counters", 6, edges, self._traffic(seen, edges)))
        if self.system >= CLIENTS:
            batch.extend(self._made("port_counters", 7, edges, self._ports(seen, edges)))
        return batch

    def _made(self, name: str, subtype: int, edges: Numbers, counted: Mapping[str, Any]) -> SmfBatch:
        given = {**_LISTENERS, **counted, "system": np.full(INTERVALS_A_DAY, self.system)}
        return self.context.make(f"world/records/{name}.toml", subtype, given, edges[1:])

    def _connections(self, seen: SeenConnections, edges: Numbers) -> dict[str, Any]:
        opened, closed = (_counted(times, edges, seen.times) for times in (seen.start, seen.end))
        sent, received = self._segments(seen, edges)
        return {
            "calls": self.system < CLIENTS,
            "opened": opened,
            "closed": closed,
            "still_open": _open(seen, edges),
            "sent": sent,
            "received": received,
        }

    def _segments(self, seen: SeenConnections, edges: Numbers) -> tuple[Numbers, Numbers]:
        """Segments sent and received; those of a connection count when it ends."""
        out, into = (
            _counted(seen.end, edges, seen.times * (4 + size // SEGMENT_BYTES))
            for size in (seen.out_bytes, seen.in_bytes)
        )
        return out + into // 2, into + out // 2

    def _traffic(self, seen: SeenConnections, edges: Numbers) -> dict[str, Any]:
        sent, received = self._segments(seen, edges)
        into, out = (_counted(seen.end, edges, seen.times * size) for size in (seen.in_bytes, seen.out_bytes))
        return {"in_bytes": into, "out_bytes": out, "sent": sent, "received": received}

    def _ports(self, seen: SeenConnections, edges: Numbers) -> dict[str, Any]:
        """Return the counts by interval and port."""
        applications = self.context.site.applications
        accepted, still_open = [], []
        for job, port in LISTENING.items():
            here = [number for number, one in enumerate(applications) if (one.job, one.port) == (job, port)]
            mine = seen[np.isin(seen.application, here)]
            accepted.append(_counted(mine.start, edges, mine.times))
            still_open.append(_open(mine, edges))
        return {"accepted": np.stack(accepted, axis=1), "still_open": np.stack(still_open, axis=1)}


def _counted(times: Numbers, edges: Numbers, amounts: Numbers) -> Numbers:
    """Add up amounts of connections by the interval of their start or end."""
    place = (times - edges[0]) // INTERVAL_US
    inside = (place >= 0) & (place < INTERVALS_A_DAY)
    return np.bincount(place[inside], amounts[inside], INTERVALS_A_DAY).astype(np.int64)


def _open(seen: SeenConnections, edges: Numbers) -> Numbers:
    """Connections that are open at the end of each interval."""
    return _before(seen.start, seen.times, edges[1:]) - _before(seen.end, seen.times, edges[1:])


def _before(times: Numbers, amounts: Numbers, edges: Numbers) -> Numbers:
    """Count connections that started or ended before each edge."""
    order = np.argsort(times, kind="stable")
    total = np.concatenate([[0], np.cumsum(amounts[order])])
    return total[np.searchsorted(times[order], edges)]
