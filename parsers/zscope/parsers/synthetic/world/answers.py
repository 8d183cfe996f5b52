"""The known answers of a world, counted while it is made."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.parsers.synthetic.connections import ABBREVIATED, FAILED, FULL, NO_TLS
from zscope.parsers.synthetic.world.cast import IS_TLS13, KEY_EXCHANGES, SUITES
from zscope.parsers.synthetic.world.meter import Meter, Price
from zscope.parsers.synthetic.world.recipe import CLIENTS, DAY_US, NAMES, moment
from zscope.parsers.synthetic.zert_sections import VERSION_NAMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.synthetic.batch import Numbers
    from zscope.parsers.synthetic.world.cost import CostModel
    from zscope.parsers.synthetic.world.links import Links
    from zscope.parsers.synthetic.world.plan import PlannedRun

Plain = dict[str, Any]
KINDS = {"full": FULL, "abbreviated": ABBREVIATED, "failed": FAILED, "none": NO_TLS}
_KEY_EXCHANGE_NAMES = ("RSA", "DHE", "ECDHE", "TLS13")


def role_of(system: int) -> str:
    """Client or server."""
    return "client" if system < CLIENTS else "server"


def links_of(links: Links, system: int) -> Links:
    """The connections of a system."""
    mine: Links = links[links[role_of(system)] == system]
    return mine


@dataclass
class DayCounts:
    """Counts of each system on each UTC day."""

    _days: dict[tuple[int, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, links: Links) -> None:
        """Count connections, each once, when all that is to be known of them is."""
        for system in range(len(NAMES)):
            mine = links_of(links, system)
            self._count(system, mine["start"], {"connections_started": np.ones(len(mine), np.int64)})
            self._count(system, mine["end"], _ended(mine, system))
            self._count(system, mine["shaken"], _handshakes(mine))

    def _count(self, system: int, times: Numbers, amounts: dict[str, NDArray[Any]]) -> None:
        days = times // DAY_US
        for day in np.unique(days).tolist():
            counter, today = self._days[system, f"{moment(day * DAY_US):%Y-%m-%d}"], days == day
            for name, amount in amounts.items():
                counter[name] += int(amount[today].sum())

    def plain(self) -> dict[str, dict[str, Plain]]:
        """By system and day; names with a dot become tables."""
        found: dict[str, dict[str, Plain]] = {name: {} for name in NAMES}
        for (system, day), counts in sorted(self._days.items()):
            row: Plain = {}
            for name, count in counts.items():
                table, _, key = name.partition(".")
                if not key:
                    row[name] = count
                elif count:
                    row.setdefault(table, {})[key] = count
            found[NAMES[system]][day] = row
        return found


def _ended(mine: Links, system: int) -> dict[str, NDArray[Any]]:
    client = system < CLIENTS
    return {
        "connections_ended": np.ones(len(mine), np.int64),
        "in_bytes": mine["down" if client else "up"],
        "out_bytes": mine["up" if client else "down"],
        "protection_changed": mine["changed"],
    }


def _handshakes(mine: Links) -> dict[str, NDArray[Any]]:
    made, suite = mine["handshake"], mine["suite"]
    good = (made == FULL) | (made == ABBREVIATED)
    counts: dict[str, NDArray[Any]] = {f"handshakes.{name}": made == kind for name, kind in KINDS.items()}
    for number, one in enumerate(SUITES):
        counts[f"by_cipher.{one.code}"] = good & (suite == number)
        version = f"by_version.{VERSION_NAMES[one.version]}"
        counts[version] = counts.get(version, np.zeros(len(mine), bool)) | (good & (suite == number))
    for number, name in enumerate(_KEY_EXCHANGE_NAMES):
        counts[f"full_by_key_exchange.{name}"] = (made == FULL) & (KEY_EXCHANGES[suite] == number)
    counts["resumed_by_version.TLSv1.3"] = (made == ABBREVIATED) & IS_TLS13[suite]
    counts["resumed_by_version.older"] = (made == ABBREVIATED) & ~IS_TLS13[suite]
    return counts


@dataclass
class Costs:
    """What the handshakes of the background traffic really cost each system, on average."""

    model: CostModel
    _sums: dict[tuple[int, str], float] = field(default_factory=lambda: defaultdict(float))

    def add(self, links: Links) -> None:
        """Add connections of the background."""
        for system in range(len(NAMES)):
            mine, side = links_of(links, system), role_of(system)
            price = Price(mine, side, getattr(self.model, side), ())
            for name, kind in KINDS.items():
                chosen = mine["handshake"] == kind
                self._sums[system, f"{name}_count"] += int(chosen.sum())
                self._sums[system, f"{name}_us"] += float((price.handshake + price.connection)[chosen].sum())

    def plain(self, meter: Meter) -> dict[str, Plain]:
        """By system: the truth that a fit of CPU time against handshakes, bytes and intervals looks for."""
        found = {}
        for system, name in enumerate(NAMES):
            cost = getattr(self.model, role_of(system))
            others = self._sums[system, "none_us"] + self._sums[system, "failed_us"]
            row: Plain = {}
            for kind in ("full", "abbreviated"):
                count = self._sums[system, f"{kind}_count"]
                row[f"{kind}_us"] = round(self._sums[system, f"{kind}_us"] / count, 3) if count else None
            row["megabyte_us"] = cost.megabyte_us
            row["connection_us"] = cost.connection_us
            row["base_us_per_interval"] = meter.base_us
            row["other_connections_us_per_interval"] = round(others / meter.count, 3)
            row["constant_us_per_interval"] = round(meter.base_us + others / meter.count, 3)
            row["interval_s"] = meter.length_us / 1e6
            found[name] = row
        return found


def run_answers(runs: Iterable[PlannedRun], links: Links, meters: Sequence[Meter]) -> list[Plain]:
    """Of each run and side: transactions, CPU time of each, how long it took."""
    return [_run(run, links[links["run"] == run.number], meters[run.night]) for run in runs]


def _run(run: PlannedRun, links: Links, meter: Meter) -> Plain:
    crr = run.kind == "CRR"
    begin, end = run.steady_us
    whole = len(links) if crr else int(links["requests"].sum())
    steady = _transactions_between(links, begin, end, crr=crr)
    latency = (links["end"] - links["start"]) / 1_000
    inside = (links["start"] >= begin) & (links["end"] <= end) if crr else np.ones(len(links), bool)
    first, last = ((at - meter.first_us) // meter.length_us for at in (begin, end))
    sides = {}
    for side, system in (("client", 0), ("server", CLIENTS)):
        expected = float(meter.expected[system, first:last].sum())
        shown = int(meter.shown()[system, first:last].sum())
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
        "connections": len(links),
        "transactions": whole,
        "steady_transactions": steady,
        "full": int((links["handshake"] == FULL).sum()),
        "abbreviated": int((links["handshake"] == ABBREVIATED).sum()),
        "client_to_server_bytes": int(links["up"].sum()),
        "server_to_client_bytes": int(links["down"].sum()),
        "mean_connection_ms": float(latency.mean()),
        "steady_mean_connection_ms": float(latency[inside].mean()),
        "sides": sides,
    }


def _transactions_between(links: Links, begin: int, end: int, *, crr: bool) -> float:
    if crr:
        return float(((links["end"] >= begin) & (links["end"] < end)).sum())
    lasting = links["end"] - links["start"]
    inside = np.minimum(links["end"], end) - np.maximum(links["start"], begin)
    return float((links["requests"] * np.maximum(inside, 0) / lasting).sum())
