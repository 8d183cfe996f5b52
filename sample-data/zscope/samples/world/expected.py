"""The expected values of a world, collected during generation."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.samples.dump.connections import FAILED, FULL, NO_TLS, RESUMED
from zscope.samples.world.address_spaces import address_spaces, time_of
from zscope.samples.world.benchmark_runs import RUN_SYSTEMS
from zscope.samples.world.cpu_time import ConnectionCost, CpuTimeGrid
from zscope.samples.world.services import IS_TLS13, KEY_EXCHANGES, SERVICES, SUITES
from zscope.samples.world.world_recipe import CLIENTS, DAY_US, INTERVALS_A_DAY, NAMES, WORLD_SYSTEMS, moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zscope.samples.dump.arrays import Floats, Numbers
    from zscope.samples.world.benchmark_runs import PlannedRun
    from zscope.samples.world.cost import CostModel
    from zscope.samples.world.workload import CapturedTime
    from zscope.samples.world.world_connections import WorldConnections
    from zscope.samples.world.world_rmf import Coverage, IntervalRange


Plain = dict[str, Any]
KINDS = {"full": FULL, "abbreviated": RESUMED, "failed": FAILED, "none": NO_TLS}
_KEY_EXCHANGE_NAMES = ("RSA", "DHE", "ECDHE", "TLS13")


def role_of(system: int) -> str:
    """Return the side of a system: `client` or `server`."""
    return WORLD_SYSTEMS[system].role


@dataclass
class DayCounts:
    """Counts of each system on each UTC day."""

    _days: dict[tuple[int, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, connections: WorldConnections) -> None:
        """Count connections whose values are final."""
        for system in range(len(NAMES)):
            mine = connections.of_system(system)
            self._count(system, mine.start, {"connections_started": mine.times})
            self._count(system, mine.end, _ended(mine, system))
            self._count(system, mine.handshake_time, _handshakes(mine))

    def _count(self, system: int, times: Numbers, amounts: dict[str, Numbers]) -> None:
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


def _ended(mine: WorldConnections, system: int) -> dict[str, Numbers]:
    received, sent = (mine.down, mine.up) if system < CLIENTS else (mine.up, mine.down)
    times = mine.times
    return {
        "connections_ended": times,
        "in_bytes": times * received,
        "out_bytes": times * sent,
        "protection_changed": times * mine.changed,
    }


def _handshakes(mine: WorldConnections) -> dict[str, Numbers]:
    handshake, suite = mine.handshake, mine.suite
    good = (handshake == FULL) | (handshake == RESUMED)
    counts = {f"handshakes.{name}": handshake == kind for name, kind in KINDS.items()}
    for number, one in enumerate(SUITES):
        counts[f"by_cipher.{one.code}"] = good & (suite == number)
        version = f"by_version.{one.version}"
        counts[version] = counts.get(version, np.zeros(len(mine), bool)) | (good & (suite == number))
    for number, name in enumerate(_KEY_EXCHANGE_NAMES):
        counts[f"full_by_key_exchange.{name}"] = (handshake == FULL) & (KEY_EXCHANGES[suite] == number)
    counts["resumed_by_version.TLSv1.3"] = (handshake == RESUMED) & IS_TLS13[suite]
    counts["resumed_by_version.older"] = (handshake == RESUMED) & ~IS_TLS13[suite]
    return {name: mine.times * value for name, value in counts.items()}


@dataclass
class ConnectionPrices:
    """CPU time by the model, without noise, of the connections of the background traffic: what TLS costs.

    By system, job and kind of cost: full handshakes by key exchange, resumed and failed handshakes,
    connections themselves, their bytes, what bytes cost more with TLS, and the work of applications.
    """

    model: CostModel
    _sums: dict[tuple[int, int, str], float] = field(default_factory=lambda: defaultdict(float))
    _counts: dict[tuple[int, int, str], int] = field(default_factory=lambda: defaultdict(int))

    def add(self, connections: WorldConnections) -> None:
        """Add connections of the background traffic."""
        for system in range(len(NAMES)):
            mine, side = connections.of_system(system), role_of(system)
            costs = ConnectionCost(mine, side, getattr(self.model, side), ())
            times, handshake = mine.times, mine.handshake
            kinds = {
                **{
                    f"full {name}": (handshake == FULL) & (KEY_EXCHANGES[mine.suite] == number)
                    for number, name in enumerate(_KEY_EXCHANGE_NAMES)
                },
                "resumed TLSv1.3": (handshake == RESUMED) & IS_TLS13[mine.suite],
                "resumed older": (handshake == RESUMED) & ~IS_TLS13[mine.suite],
                "failed": handshake == FAILED,
            }
            for service in np.unique(mine.service).tolist():
                here = mine.service == service
                for kind, chosen in kinds.items():
                    count = times * (here & chosen)
                    self._count(system, service, kind, count, costs.handshake)
                self._count(system, service, "connection", times * here, costs.connection)
                of_life = costs.life - costs.tls_bytes
                for kind, cost in (
                    ("bytes", of_life),
                    ("TLS bytes", costs.tls_bytes),
                    ("application", costs.application),
                ):
                    self._sums[system, service, kind] += float((times * here * cost).sum())

    def _count(self, system: int, service: int, kind: str, count: Numbers, cost: Floats) -> None:
        self._counts[system, service, kind] += int(count.sum())
        self._sums[system, service, kind] += float((count * cost).sum())

    def plain(self) -> dict[str, dict[str, Plain]]:
        """Return seconds and counts by system and job."""
        by_system: dict[str, dict[str, Plain]] = {name: {} for name in NAMES}
        for (system, service, kind), time in sorted(self._sums.items()):
            owner = SERVICES[service]
            row = by_system[NAMES[system]].setdefault(
                owner.caller if system < CLIENTS else owner.job, {"cpu_s": {}, "count": {}}
            )
            if time:
                row["cpu_s"][kind] = round(time / 1e6, 6)
                if (system, service, kind) in self._counts:
                    row["count"][kind] = self._counts[system, service, kind]
        return by_system

    def costs(self, cpu_time: CpuTimeGrid) -> dict[str, Plain]:
        """Return by system the values that a fit of CPU time to handshakes, bytes and intervals should
        estimate if applications do no work for connections.
        """
        by_system = {}
        for system, name in enumerate(NAMES):
            cost = getattr(self.model, role_of(system))
            full_count, full_us = self._all_of(system, "full")
            resumed_count, resumed_us = self._all_of(system, "resumed")
            _, failed_us = self._all_of(system, "failed")
            connections, _ = self._all_of(system, "connection")
            others = failed_us + (connections - full_count - resumed_count) * cost.connection_us
            other_work = float(cpu_time.other_us[system].mean())
            by_system[name] = {
                "full_us": round(full_us / full_count + cost.connection_us, 3) if full_count else None,
                "abbreviated_us": (
                    round(resumed_us / resumed_count + cost.connection_us, 3) if resumed_count else None
                ),
                "megabyte_us": cost.megabyte_us,
                "plain_megabyte_us": cost.plain_megabyte_us,
                "connection_us": cost.connection_us,
                "other_work_us_per_interval": round(other_work, 3),
                "other_connections_us_per_interval": round(others / cpu_time.count, 3),
                "constant_us_per_interval": round(other_work + others / cpu_time.count, 3),
                "interval_s": cpu_time.length_us / 1e6,
            }
        return by_system

    def _all_of(self, system: int, kind: str) -> tuple[int, float]:
        """Return number and microseconds of all kinds on a system whose names begin with this word."""
        keys = [key for key in self._counts if key[0] == system and key[2].split()[0] == kind]
        return sum(self._counts[key] for key in keys), sum(self._sums[key] for key in keys)


def expected_spaces(time: CapturedTime) -> dict[str, Plain]:
    """Return for each address space its CPU seconds, and those that its connections cost."""
    spaces = {}
    for space in address_spaces():
        own = time_of(space, np.zeros_like(time.in_spaces), time.connections, time.in_stack)
        spaces[space.job] = {
            "cpu_s": round(int(time.of(space).sum()) / 1e6, 6),
            "connections_cpu_s": round(int(own.sum()) / 1e6, 6),
        }
    return spaces


def expected_runs(
    runs: Iterable[PlannedRun],
    connections: WorldConnections,
    night_cpu_time: Sequence[CpuTimeGrid],
    seed: int,
) -> list[Plain]:
    """Return for each run and side the transactions, their CPU time and duration."""
    return [
        _run(run, connections[connections.run == run.number], night_cpu_time[run.night], seed) for run in runs
    ]


def _run(run: PlannedRun, connections: WorldConnections, cpu_time: CpuTimeGrid, seed: int) -> Plain:
    times = connections.times
    begin, end = run.steady_us
    own = np.where(connections.long, connections.requests, times)
    transactions = own * run.counted_times
    steady = _transactions_between(connections, transactions, begin, end)
    first, last = ((at - cpu_time.first_us) // cpu_time.length_us for at in (begin, end))
    latencies = run.latencies_us(seed)[1:-1]
    sides = {}
    for side, system in RUN_SYSTEMS.items():
        expected = float(cpu_time.expected[system, first:last].sum())
        shown = int(cpu_time.shown()[system, first:last].sum())
        sides[side] = {
            "system": NAMES[system],
            "steady_cpu_s_expected": expected / 1e6,
            "steady_cpu_s": shown / 1e6,
            "cpu_us_per_transaction_expected": expected / steady,
            "cpu_us_per_transaction": shown / steady,
            "handshake_factor": run.factors[side, "handshake"],
            "everything_factor": run.factors[side, "everything"],
        }
    return {
        "name": run.name,
        "workload": run.workload,
        "from": moment(run.begin_us).isoformat(),
        "to": moment(run.end_us).isoformat(),
        "steady_from": moment(begin).isoformat(),
        "steady_to": moment(end).isoformat(),
        "tags": dict(sorted(run.tags.items())),
        "connections": int(times.sum()),
        "recorded_connections": int((times == 1).sum()),
        "transactions": int(transactions.sum()),
        "steady_transactions": steady,
        "steady_transactions_per_s": steady / ((end - begin) / 1e6),
        "steady_latency_ms": _latency_ms(run, latencies, steady),
        "full": int(times[connections.handshake == FULL].sum()),
        "abbreviated": int(times[connections.handshake == RESUMED].sum()),
        "client_to_server_bytes": int((times * connections.up).sum()),
        "server_to_client_bytes": int((times * connections.down).sum()),
        "sides": sides,
    }


def _latency_ms(run: PlannedRun, latencies: Floats, steady: float) -> float | None:
    """Return the time of a transaction; several workloads at once have none."""
    if run.kind == "CRR":
        # Minutes with a higher rate count more.
        return float(len(latencies) / (1 / latencies).sum()) / 1_000
    begin, end = run.steady_us
    return run.parts[0].clients * (end - begin) / 1_000 / steady if len(run.parts) == 1 else None


def _transactions_between(connections: WorldConnections, transactions: Floats, begin: int, end: int) -> float:
    lasting = connections.end - connections.start
    inside = np.minimum(connections.end, end) - np.maximum(connections.start, begin)
    return float((transactions * np.maximum(inside, 0) / lasting).sum())


def expected_cpu(cpu_time: CpuTimeGrid, nights: Sequence[CpuTimeGrid], coverage: Coverage) -> Plain:
    """Return CPU seconds by system and day of background traffic, by the model and as RMF shows them."""
    shown, expected, missing = cpu_time.shown(), cpu_time.expected, coverage.gap.system
    days: Plain = {}
    for system, name in enumerate(NAMES):
        days[name] = {}
        for day in range(coverage.days):
            part = slice(day * INTERVALS_A_DAY, (day + 1) * INTERVALS_A_DAY)
            gap = [n for n in coverage.gap.numbers if part.start <= n < part.stop and missing == system]
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
            **{form: _interval_range(intervals, cpu_time) for form, intervals in coverage.reported},
            "no_smf70": [_interval_range(intervals, cpu_time) for intervals in coverage.without_records],
            "no_source": _interval_range(coverage.gap, cpu_time),
        },
        "nights_begin": [moment(night.first_us).isoformat() for night in nights],
    }


def _interval_range(intervals: IntervalRange, cpu_time: CpuTimeGrid) -> Plain:
    numbers = intervals.numbers
    return {
        "system": NAMES[intervals.system],
        "from": moment(cpu_time.begin(numbers[0])).isoformat(),
        "to": moment(cpu_time.begin(numbers[-1] + 1)).isoformat(),
        "intervals": len(numbers),
    }
