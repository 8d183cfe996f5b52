"""Measure how often `tls_price` contains the truth, from the dump to the metric: `make bench-worlds`.

`make bench-coverage` gives arrays to the estimate. Here worlds are written as SMF dumps and reports, loaded,
and read with the command line, as users do: `zscope generate world`, `zscope ingest`, `zscope metrics`. Each
world has four systems with noise of their own. One of them has SMF 30 and 72; of the others only the CPU time
of the LPAR is known. The truth is what handshakes and bytes cost more than connections without TLS. In some
worlds the servers work for their connections, and handshakes and bytes are charged to the TCP/IP stack or to
the jobs. All is seeded. `--write-docs` also writes the table into the page of the estimate.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from figures import aligned, measured_here, verdict
from working_folder import working_folder

from zscope.pipelines.estimate.estimate_document import WORLDS_FILE

ZSCOPE = Path(sys.executable).with_name("zscope")
DAYS = 14
REPLICATES = 40
SYSTEMS = 4
"""Systems of a generated world."""
CONNECTIONS_PER_HOUR = 240
START = "2026-03-08T23:00Z"
LEAST_PCT = 90
WITH_NOTES = 4
"""Exit code of a load with notes."""
SLOW_MACHINE: dict[str, float] = {
    "rsa_us": 150_000, "dhe_us": 2_000_000, "ecdhe_us": 200_000, "tls13_us": 250_000,
    "resumed_us": 100_000, "resumed13_us": 180_000, "failed_us": 30_000,
    "connection_us": 15_000, "megabyte_us": 70_000, "plain_megabyte_us": 15_000,
    "base_us_per_s": 30_000, "noise": 0.05,
}  # fmt: skip
"""Costs so high that a few hundred connections an hour are a good part of the CPU time."""
WORLDS: dict[str, dict[str, float]] = {
    "iid": {"base_swing": 0},
    "AR 0.8": {"base_swing": 0, "noise_correlation": 0.8},
    "AR 0.95": {"base_swing": 0, "noise_correlation": 0.95},
    "curve": {"base_swing": 0.6},
    "curve, AR 0.95": {"base_swing": 0.6, "noise_correlation": 0.95},
    "shock": {"base_swing": 0.6, "base_follows": 0.3},
    "stack": {"handshakes_in_stack": 1, "bytes_in_stack": 1},
    "stack, servers 0.2 s": {"handshakes_in_stack": 1, "bytes_in_stack": 1, "server.application_us": 200_000},
    "stack, servers 1 s": {"handshakes_in_stack": 1, "bytes_in_stack": 1, "server.application_us": 1_000_000},
    "stack, servers 4 s": {"handshakes_in_stack": 1, "bytes_in_stack": 1, "server.application_us": 4_000_000},
    "stack, logons 1 s": {"handshakes_in_stack": 1, "bytes_in_stack": 1, "server.new_client_us": 1_000_000},
    "callers": {"handshakes_in_stack": 0, "bytes_in_stack": 0},
    "callers, servers 1 s": {
        "handshakes_in_stack": 0,
        "bytes_in_stack": 0,
        "server.application_us": 1_000_000,
    },
    "half, servers 1 s": {
        "handshakes_in_stack": 0.5,
        "bytes_in_stack": 0.5,
        "server.application_us": 1_000_000,
    },
}
COSTS = {"full": "full_us", "resumed": "abbreviated_us"}
NOT_TLS = {"failed", "connection", "bytes", "application"}
"""What connections without TLS cost as well, and failed handshakes, which the estimate does not know."""


@dataclass
class Count:
    """How many results there are, and how many contain the truth."""

    statuses: dict[str, int] = field(default_factory=dict)
    holds: dict[str, list[bool]] = field(default_factory=dict)

    def add(self, name: str, low: float | None, high: float | None, truth: float) -> None:
        """Count an interval, if there is one."""
        if low is not None and high is not None:
            self.holds.setdefault(name, []).append(low <= truth <= high)

    def cell(self, name: str) -> str:
        """Return how many of them contain the truth."""
        found = self.holds.get(name, [])
        return f"{sum(found)} of {len(found)}" if found else "-"


def together(counts: Iterable[Count]) -> Count:
    """Add several counts up."""
    total = Count()
    for count in counts:
        for status, number in count.statuses.items():
            total.statuses[status] = total.statuses.get(status, 0) + number
        for name, found in count.holds.items():
            total.holds.setdefault(name, []).extend(found)
    return total


def enough(count: Count) -> bool:
    """Tell whether 90 of 100 results contain the truth, less two standard errors of so few."""
    for found in count.holds.values():
        least_pct = LEAST_PCT - 2 * math.sqrt(LEAST_PCT * (100 - LEAST_PCT) / len(found))
        if 100 * sum(found) < least_pct * len(found):
            return False
    return True


def run(*arguments: str) -> str:
    """Run zscope and return its output; a failure ends the benchmark."""
    result = subprocess.run([ZSCOPE, *arguments], capture_output=True, text=True, check=False)
    if result.returncode not in {0, WITH_NOTES}:
        raise SystemExit(f"zscope {' '.join(arguments)}: exit code {result.returncode}\n{result.stderr}")
    return result.stdout


def answers(folder: Path, name: str, seed: int) -> tuple[dict[str, Any], list[Any], list[Any]]:
    """Write a world, load it and return its manifest and the rows of two metrics."""
    folder = folder / f"{name}-{seed}".replace(" ", "-")
    world, store = folder / "world", folder / "store"
    costs = ",".join(f"{cost}={value:g}" for cost, value in (SLOW_MACHINE | WORLDS[name]).items())
    run(
        *("generate", "world", str(world), "--days", str(DAYS), "--start", START, "--runs", "none"),
        *("--connections-per-hour", str(CONNECTIONS_PER_HOUR), "--seed", str(seed), "--cost", costs),
    )
    run("ingest", str(world), "--store", str(store), "--timezone", "+01:00", "-q")
    prices, costs_of_handshakes = (
        json.loads(run("metrics", metric, "--store", str(store), "--format", "json"))
        for metric in ("tls_price", "handshake_cost")
    )
    manifest = json.loads((world / "manifest.json").read_text(encoding="ascii"))
    shutil.rmtree(folder)
    return manifest, prices, costs_of_handshakes


def judge(count: dict[str, Count], manifest: dict[str, Any], prices: list[Any], costs: list[Any]) -> None:
    """Count what the rows of the systems say about the truth, by the CPU time that they are from."""
    source = {row["system"]: row["cpu_source"] for row in costs}
    for row in prices:
        # Shares of the price of a system say nothing about those of its jobs.
        if row["derived_from"] != "connections" or row["part"] != "TLS":
            continue
        of = count.setdefault(source[row["system"]], Count())
        jobs = prices_of_jobs(manifest, row["system"])
        ends = row["low_cpu_s_per_day"], row["high_cpu_s_per_day"]
        if row["shared_by"] == "job":
            of.add("job", *ends, jobs[row["job_name"]])
            continue
        of.statuses[row["status"]] = of.statuses.get(row["status"], 0) + 1
        of.add("price", *ends, sum(jobs.values()))
    for row in costs:
        of, known = count[row["cpu_source"]], manifest["costs"][row["system"]]
        for kind, name in COSTS.items():
            truth = known[name] - known["connection_us"]
            of.add(kind, row[f"{kind}_low_us"], row[f"{kind}_high_us"], truth)
        truth = known["megabyte_us"] - known["plain_megabyte_us"]
        of.add("mb", row["mb_low_us"], row["mb_high_us"], truth)
        truth = known["full_us"] - known["abbreviated_us"]
        of.add("difference", row["difference_low_us"], row["difference_high_us"], truth)


def prices_of_jobs(manifest: dict[str, Any], system: str) -> dict[str, float]:
    """Return what TLS costs in each job of a system, in CPU seconds a day."""
    return {
        name: float(sum(s for kind, s in job["cpu_s"].items() if kind not in NOT_TLS)) / DAYS
        for name, job in manifest["connection_cpu"][system].items()
    }


def row_of(name: str, source: str, count: Count, columns: Iterable[str]) -> tuple[str, ...]:
    """Return a row of the table."""
    statuses = (
        str(count.statuses.get(status, 0))
        for status in ("estimate", "conditional", "range", "not enough data")
    )
    return (name, source, *statuses, *map(count.cell, columns), verdict(enough(count)))


def report(folder: Path, replicates: int) -> str:
    """Write, load and read all worlds, and return the table."""
    number_of_seeds = -(-replicates // SYSTEMS)
    columns = ("price", "job", *COSTS, "mb", "difference")
    rows: list[tuple[str, ...]] = [
        (
            *("world", "CPU time", "estimate", "conditional", "range", "not enough data"),
            *("TLS CPU cost", "of a job", "full handshake", "resumed", "megabyte", "full less resumed", ""),
        )
    ]
    processes = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    of_all: list[Count] = []
    with ThreadPoolExecutor(processes) as pool:
        for at, name in enumerate(WORLDS):
            counts: dict[str, Count] = {}
            # Worlds with the same seed would have the same connections, and their misses would be the same.
            first = 1 + at * number_of_seeds
            results = pool.map(partial(answers, folder, name), range(first, first + number_of_seeds))
            for number, found in enumerate(results, 1):
                judge(counts, *found)
                print(f"\r{name}: {number} of {number_of_seeds}   ", end="", file=sys.stderr, flush=True)
            of_all.extend(counts.values())
            rows += [row_of(name, source, count, columns) for source, count in sorted(counts.items())]
    rows.append(row_of("all", "", together(of_all), columns))
    print(file=sys.stderr)
    facts = f"{DAYS} days, {CONNECTIONS_PER_HOUR} connections an hour and pair of systems"
    facts += f", {number_of_seeds} seeds for each world"
    return f"{aligned(rows)}\n\n- {facts}; {measured_here()}"


def main() -> None:
    """Run the worlds."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replicates", type=int, default=REPLICATES, help="systems of each world")
    parser.add_argument(
        "--write-docs", action="store_true", help="write the table into the page of the estimate"
    )
    arguments = parser.parse_args()
    with working_folder() as folder:
        text = report(folder, arguments.replicates)
    print(text)
    if arguments.write_docs:
        WORLDS_FILE.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
