"""SMF 119-5, -6 and -7 records of a world: what its stacks count of the connections of a day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.samples.dump.assemble import SmfBatch
from zscope.samples.dump.record_declaration import read_declaration
from zscope.samples.world.benchmark_runs import MINUTES_BETWEEN, runs_between_ipls
from zscope.samples.world.services import ADDRESSES, LISTENING
from zscope.samples.world.traffic import INTERVAL_US
from zscope.samples.world.world_recipe import CLIENTS, INTERVALS_A_DAY, MINUTE_US

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zscope.samples.dump.arrays import Floats, Numbers
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.world.benchmark_runs import PlannedRun
    from zscope.samples.world.world_connections import SeenConnections

SEGMENT_BYTES = 1_400
_INTERFACES = "world/records/interface_counters.toml"
_LISTENERS = {
    "addresses": ADDRESSES,
    "listening_jobs": list(LISTENING),
    "listening_ports": np.array(list(LISTENING.values())),
    "listeners": np.arange(len(LISTENING)),
}
"""Names that the declarations of these records use."""
_USUAL_PACKET_BYTES = 1_500


@dataclass(frozen=True)
class StackStatistics:
    """Generates the interval records of the stack of one system."""

    context: RecordContext
    system: int

    def day(self, seen: SeenConnections, begin: int) -> SmfBatch:
        """Generate the records of a day from all connections that are open in it."""
        edges = begin + np.arange(INTERVALS_A_DAY + 1) * INTERVAL_US
        zeros = np.zeros(INTERVALS_A_DAY, np.int64)
        batch = self._intervals(seen, edges, dict.fromkeys(("interface", "has_smc", "forwarded"), zeros))
        if self.system >= CLIENTS:
            ports = self._ports(seen, edges)
            batch.extend(self._made("world/records/port_counters.toml", 7, edges, ports))
        return batch

    def night(self, seen: SeenConnections, runs: Sequence[PlannedRun]) -> SmfBatch:
        """Generate the records of a night of runs: an interval begins with each run."""
        batch, kinds = SmfBatch(), read_declaration(_INTERFACES).lists["kinds"]
        for group in runs_between_ipls(runs):
            last = group[-1].end_us + MINUTES_BETWEEN * MINUTE_US
            edges = np.array([*(run.begin_us for run in group), last])
            of_runs = {
                "interface": np.array([kinds.index(run.tags.get("interface", kinds[0])) for run in group]),
                "has_smc": np.array(["SMC" in run.tags.get("transport", "") for run in group]),
                "forwarded": np.array([run.forwarded for run in group]) * (self.system >= CLIENTS),
                "packet_bytes": np.array([int(run.tags.get("mtu", _USUAL_PACKET_BYTES)) for run in group]),
            }
            batch.extend(self._intervals(seen, edges, of_runs))
        return batch

    def _intervals(self, seen: SeenConnections, edges: Numbers, of_intervals: Mapping[str, Any]) -> SmfBatch:
        """Generate the records of consecutive intervals."""
        batch = SmfBatch()
        traffic = self._traffic(seen, edges, of_intervals["forwarded"])
        counted = self._connections(seen, edges) | traffic
        batch.extend(self._made("world/records/stack_counters.toml", 5, edges, counted))
        given = {"packet_bytes": _USUAL_PACKET_BYTES, **of_intervals, **traffic}
        batch.extend(self._made(_INTERFACES, 6, edges, given))
        return batch

    def _made(self, path: str, subtype: int, edges: Numbers, counted: Mapping[str, Any]) -> SmfBatch:
        systems = np.full(len(edges) - 1, self.system)
        given = {**_LISTENERS, **counted, "system": systems, "length_us": np.diff(edges)}
        return self.context.make(path, subtype, given, edges[1:])

    def _connections(self, seen: SeenConnections, edges: Numbers) -> dict[str, Any]:
        opened, closed = (_counted(times, edges, seen.times) for times in (seen.start, seen.end))
        return {
            "calls": self.system < CLIENTS,
            "opened": opened,
            "closed": closed,
            "still_open": _open(seen, edges),
        }

    def _traffic(self, seen: SeenConnections, edges: Numbers, forwarded: Floats) -> dict[str, Any]:
        """Bytes and segments sent and received; those of a connection count when it ends.

        The data of connections with SMC are not among them. What is forwarded is received and sent.
        """
        over_tcp = ~self.context.site_names["smc"][seen.application]
        times = seen.times * over_tcp
        into, out = (_counted(seen.end, edges, times * size) for size in (seen.in_bytes, seen.out_bytes))
        sent_alone, received_alone = (
            _counted(seen.end, edges, seen.times * (4 + over_tcp * size // SEGMENT_BYTES))
            for size in (seen.out_bytes, seen.in_bytes)
        )
        sent, received = sent_alone + received_alone // 2, received_alone + sent_alone // 2
        passed, passed_bytes = ((each * forwarded).astype(np.int64) for each in (sent + received, into + out))
        return {
            "in_bytes": into + passed_bytes,
            "out_bytes": out + passed_bytes,
            "sent": sent,
            "received": received,
            "passed": passed,
        }

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
    place = np.searchsorted(edges, times, side="right") - 1
    inside = (place >= 0) & (place < len(edges) - 1)
    return np.bincount(place[inside], amounts[inside], len(edges) - 1).astype(np.int64)


def _open(seen: SeenConnections, edges: Numbers) -> Numbers:
    """Connections that are open at the end of each interval."""
    return _before(seen.start, seen.times, edges[1:]) - _before(seen.end, seen.times, edges[1:])


def _before(times: Numbers, amounts: Numbers, edges: Numbers) -> Numbers:
    """Count connections that started or ended before each edge."""
    order = np.argsort(times, kind="stable")
    total = np.concatenate([[0], np.cumsum(amounts[order])])
    return total[np.searchsorted(times[order], edges)]
