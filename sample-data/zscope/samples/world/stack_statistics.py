"""SMF 119-5, -6 and -7 records of a world: what its stacks count of the connections of a day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.samples.dump.assemble import SmfBatch
from zscope.samples.dump.declared_records import DeclaredRecords
from zscope.samples.world.services import ADDRESSES, LISTENING
from zscope.samples.world.traffic import INTERVAL_US
from zscope.samples.world.world_recipe import CLIENTS, INTERVALS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zscope.samples.dump.arrays import Connections, Numbers
    from zscope.samples.dump.context import RecordContext

SEGMENT_BYTES = 1_400
_SITE = {
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

    def day(self, seen: Connections, begin: int) -> SmfBatch:
        """Generate the records of a day from all connections that are open in it."""
        batch = SmfBatch()
        edges = begin + np.arange(INTERVALS_A_DAY + 1) * INTERVAL_US
        batch.extend(self._made("stack_counters", 5, edges, self._connections(seen, edges)))
        batch.extend(self._made("interface_counters", 6, edges, self._traffic(seen, edges)))
        if self.system >= CLIENTS:
            batch.extend(self._made("port_counters", 7, edges, self._ports(seen, edges)))
        return batch

    def _made(self, name: str, subtype: int, edges: Numbers, counted: Mapping[str, Any]) -> SmfBatch:
        records = DeclaredRecords(self.context, f"world/records/{name}.toml", subtype, _SITE)
        return records.make({"system": np.full(INTERVALS_A_DAY, self.system), **counted}, edges[1:])

    def _connections(self, seen: Connections, edges: Numbers) -> dict[str, Any]:
        opened, closed = (_counted(seen, name, edges) for name in ("start", "end"))
        sent, received = self._segments(seen, edges)
        return {
            "calls": self.system < CLIENTS,
            "opened": opened,
            "closed": closed,
            "still_open": _open(seen, edges),
            "sent": sent,
            "received": received,
        }

    def _segments(self, seen: Connections, edges: Numbers) -> tuple[Numbers, Numbers]:
        """Segments sent and received; those of a connection count when it ends."""
        out, into = (
            _counted(seen, "end", edges, 4 + seen[name] // SEGMENT_BYTES)
            for name in ("out_bytes", "in_bytes")
        )
        return out + into // 2, into + out // 2

    def _traffic(self, seen: Connections, edges: Numbers) -> dict[str, Any]:
        sent, received = self._segments(seen, edges)
        size = {name: _counted(seen, "end", edges, seen[name]) for name in ("in_bytes", "out_bytes")}
        return {**size, "sent": sent, "received": received}

    def _ports(self, seen: Connections, edges: Numbers) -> dict[str, Any]:
        """Return the counts by interval and port."""
        applications = self.context.site.applications
        accepted, still_open = [], []
        for job, port in LISTENING.items():
            here = [number for number, one in enumerate(applications) if (one.job, one.port) == (job, port)]
            mine = seen[np.isin(seen["application"], here)]
            accepted.append(_counted(mine, "start", edges))
            still_open.append(_open(mine, edges))
        return {"accepted": np.stack(accepted, axis=1), "still_open": np.stack(still_open, axis=1)}


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
