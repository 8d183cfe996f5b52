"""The expected values of a world, collected during generation."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.samples.dump.connections import FAILED, FULL, NO_TLS, RESUMED
from zscope.samples.dump.records.zert_sections import VERSION_NAMES
from zscope.samples.world.cpu_time import ConnectionCost, CpuTimeGrid
from zscope.samples.world.recipe import CLIENTS, DAY_US, INTERVALS_A_DAY, NAMES, moment
from zscope.samples.world.services import IS_TLS13, KEY_EXCHANGES, SUITES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from zscope.samples.dump.arrays import Numbers
    from zscope.samples.world.benchmark_runs import PlannedRun
    from zscope.samples.world.connections import WorldConnections
    from zscope.samples.world.cost import CostModel
    from zscope.samples.world.rmf import Coverage, IntervalRange


Plain = dict[str, Any]
KINDS = {"full": FULL, "abbreviated": RESUMED, "failed": FAILED, "none": NO_TLS}
_KEY_EXCHANGE_NAMES = ("RSA", "DHE", "ECDHE", "TLS13")


def role_of(system: int) -> str:
    """Return the side of a system: `client` or `server`."""
    return "client" if system < CLIENTS else "server"


def connections_of(connections: WorldConnections, system: int) -> WorldConnections:
    """Return the connections of a system."""
    mine: WorldConnections = connections[connections[role_of(system)] == system]
    return mine


@dataclass
class DayCounts:
    """Counts of each system on each UTC day."""

    _days: dict[tuple[int, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, connections: WorldConnections) -> None:
        """Count connections whose values are final."""
        for system in range(len(NAMES)):
            mine = connections_of(connections, system)
            self._count(system, mine["start"], {"connections_started": np.ones(len(mine), np.int64)})
            self._count(system, mine["end"], _ended(mine, system))
            self._count(system, mine["handshake_time"], _handshakes(mine))

    def _count(self, system: int, times: Numbers, amounts: dict[str, NDArray[Any]]) -> None:
        days = times // DAY_US
        for day in np.unique(days).tolist():
            counter, today = self._days[system, f"{moment(day * DAY_US):%Y-%m-%d}"], days == day
            for name, amount in amounts.items():
                counter[name] += int(amount[today].sum())

    def plain(self) -> dict[str, dict[str, Plain]]:
        """Return the counts by system and day; names with a dot become nested objects."""
        by_system: dict[str, dict[str, Plain]] = {name: {} for name in NAMES}
        for (system, day), counts in sorted(self._days.items()):
            row: Plain = {}
            for name, count in counts.items():
                table, _, key = name.partition(".")
                if not key:
                    row[name] = count
                elif count:
                    row.setdefault(table, {})[key] = count
            by_system[NAMES[system]][day] = row
        return by_system


def _ended(mine: WorldConnections, system: int) -> dict[str, NDArray[Any]]:
    client = system < CLIENTS
    return {
        "connections_ended": np.ones(len(mine), np.int64),
        "in_bytes": mine["down" if client else "up"],
        "out_bytes": mine["up" if client else "down"],
        "protection_changed": mine["changed"],
    }


def _handshakes(mine: WorldConnections) -> dict[str, NDArray[Any]]:
    handshake, suite = mine["handshake"], mine["suite"]
    good = (handshake == FULL) | (handshake == RESUMED)
    counts: dict[str, NDArray[Any]] = {
        f"handshakes.{name}": handshake == kind for name, kind in KINDS.items()
    }
    for number, one in enumerate(SUITES):
        counts[f"by_cipher.{one.code}"] = good & (suite == number)
        version = f"by_version.{VERSION_NAMES[one.version]}"
        counts[version] = counts.get(version, np.zeros(len(mine), bool)) | (good & (suite == number))
    for number, name in enumerate(_KEY_EXCHANGE_NAMES):
        counts[f"full_by_key_exchange.{name}"] = (handshake == FULL) & (KEY_EXCHANGES[suite] == number)
    counts["resumed_by_version.TLSv1.3"] = (handshake == RESUMED) & IS_TLS13[suite]
    counts["resumed_by_version.older"] = (handshake == RESUMED) & ~IS_TLS13[suite]
    return counts


@dataclass
class HandshakeCosts:
    """Average cost of the handshakes of the background traffic on each system."""

    model: CostModel
    _sums: dict[tuple[int, str], float] = field(default_factory=lambda: defaultdict(float))

    def add(self, connections: WorldConnections) -> None:
        """Add connections of the background traffic."""
        for system in range(len(NAMES)):
            mine, side = connections_of(connections, system), role_of(system)
            cost_of = ConnectionCost(mine, side, getattr(self.model, side), ())
            for name, kind in KINDS.items():
                chosen = mine["handshake"] == kind
                self._sums[system, f"{name}_count"] += int(chosen.sum())
                self._sums[system, f"{name}_us"] += float(
                    (cost_of.handshake + cost_of.connection)[chosen].sum()
                )

    def plain(self, cpu_time: CpuTimeGrid) -> dict[str, Plain]:
        """Return by system the values that a fit of CPU time to handshakes, bytes and intervals should
        estimate.
        """
        by_system = {}
        for system, name in enumerate(NAMES):
            cost = getattr(self.model, role_of(system))
            others = self._sums[system, "none_us"] + self._sums[system, "failed_us"]
            row: Plain = {}
            for kind in ("full", "abbreviated"):
                count = self._sums[system, f"{kind}_count"]
                row[f"{kind}_us"] = round(self._sums[system, f"{kind}_us"] / count, 3) if count else None
            row["megabyte_us"] = cost.megabyte_us
            row["connection_us"] = cost.connection_us
            row["base_us_per_interval"] = cpu_time.base_us
            row["other_connections_us_per_interval"] = round(others / cpu_time.count, 3)
            row["constant_us_per_interval"] = round(cpu_time.base_us + others / cpu_time.count, 3)
            row["interval_s"] = cpu_time.length_us / 1e6
            by_system[name] = row
        return by_system


def expected_runs(
    runs: Iterable[PlannedRun], connections: WorldConnections, night_cpu_time: Sequence[CpuTimeGrid]
) -> list[Plain]:
    """Return for each run and side the transactions, their CPU time and duration."""
    return [
        _run(run, connections[connections["run"] == run.number], night_cpu_time[run.night]) for run in runs
    ]


def _run(run: PlannedRun, connections: WorldConnections, cpu_time: CpuTimeGrid) -> Plain:
    crr = run.kind == "CRR"
    begin, end = run.steady_us
    whole = len(connections) if crr else int(connections["requests"].sum())
    steady = _transactions_between(connections, begin, end, crr=crr)
    latency = (connections["end"] - connections["start"]) / 1_000
    inside = (
        (connections["start"] >= begin) & (connections["end"] <= end)
        if crr
        else np.ones(len(connections), bool)
    )
    first, last = ((at - cpu_time.first_us) // cpu_time.length_us for at in (begin, end))
    sides = {}
    for side, system in (("client", 0), ("server", CLIENTS)):
        expected = float(cpu_time.expected[system, first:last].sum())
        shown = int(cpu_time.shown()[system, first:last].sum())
        factors = getattr(run.factors, side)
        sides[side] = {
            "system": NAMES[system],
            "steady_cpu_s_expected": expected / 1e6,
            "steady_cpu_s": shown / 1e6,
            "cpu_us_per_transaction_expected": expected / steady,
            "cpu_us_per_transaction": shown / steady,
            "handshake_factor": factors.handshake,
            "everything_factor": factors.everything,
        }
    return {
        "name": run.name,
        "workload": run.workload,
        "from": moment(run.begin_us).isoformat(),
        "to": moment(run.end_us).isoformat(),
        "steady_from": moment(begin).isoformat(),
        "steady_to": moment(end).isoformat(),
        "tags": dict(sorted(run.tags.items())),
        "connections": len(connections),
        "transactions": whole,
        "steady_transactions": steady,
        "full": int((connections["handshake"] == FULL).sum()),
        "abbreviated": int((connections["handshake"] == RESUMED).sum()),
        "client_to_server_bytes": int(connections["up"].sum()),
        "server_to_client_bytes": int(connections["down"].sum()),
        "mean_connection_ms": float(latency.mean()),
        "steady_mean_connection_ms": float(latency[inside].mean()),
        "sides": sides,
    }


def _transactions_between(connections: WorldConnections, begin: int, end: int, *, crr: bool) -> float:
    if crr:
        return float(((connections["end"] >= begin) & (connections["end"] < end)).sum())
    lasting = connections["end"] - connections["start"]
    inside = np.minimum(connections["end"], end) - np.maximum(connections["start"], begin)
    return float((connections["requests"] * np.maximum(inside, 0) / lasting).sum())


def expected_cpu(cpu_time: CpuTimeGrid, nights: Sequence[CpuTimeGrid], coverage: Coverage) -> Plain:
    """Return CPU seconds by system and day of background traffic, by the model and as RMF shows them."""
    shown, expected = cpu_time.shown(), cpu_time.expected
    days: Plain = {}
    for system, name in enumerate(NAMES):
        days[name] = {}
        for day in range(coverage.days):
            part = slice(day * INTERVALS_A_DAY, (day + 1) * INTERVALS_A_DAY)
            gap = [
                n
                for n in coverage.gap.numbers()
                if part.start <= n < part.stop and coverage.gap.system == system
            ]
            days[name][f"{moment(cpu_time.first_us + day * DAY_US):%Y-%m-%d}"] = {
                "cpu_s": int(shown[system, part].sum()) / 1e6,
                "cpu_s_expected": round(float(expected[system, part].sum()) / 1e6, 6),
                "cpu_s_in_gaps": int(shown[system, gap].sum()) / 1e6,
            }
    return {
        "cpu_seconds": days,
        "cpu_intervals_s": {
            name: [round(value / 1e6, 6) for value in shown[system].tolist()]
            for system, name in enumerate(NAMES)
        },
        "rmf": {
            "xml": _interval_range(coverage.xml, cpu_time),
            "text": _interval_range(coverage.text, cpu_time),
            "no_smf70": [_interval_range(intervals, cpu_time) for intervals in coverage.without_records],
            "no_source": _interval_range(coverage.gap, cpu_time),
        },
        "nights_begin": [moment(night.first_us).isoformat() for night in nights],
    }


def _interval_range(intervals: IntervalRange, cpu_time: CpuTimeGrid) -> Plain:
    numbers = intervals.numbers()
    return {
        "system": NAMES[intervals.system],
        "from": moment(cpu_time.begin(numbers[0])).isoformat(),
        "to": moment(cpu_time.begin(numbers[-1] + 1)).isoformat(),
        "intervals": len(numbers),
    }
