"""Measure how often the estimate of the price of TLS contains the truth: `make bench-coverage`.

Worlds with known costs are simulated (`zscope.samples.cost_truth`), estimated as a store would be, and
compared with what the simulation put in. `--write-docs` also writes the tables into
`docs/metrics/estimate.md`.
"""

from __future__ import annotations

import argparse
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

# Each process has one core; threads of the linear algebra would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from earlier_fit import earlier_intervals
from figures import aligned, machine, verdict

from zscope.app.docs import write_documents
from zscope.pipelines.estimate.costs import estimate_costs
from zscope.pipelines.estimate.estimate_document import COVERAGE_FILE
from zscope.pipelines.estimate.intervals import SystemIntervals
from zscope.pipelines.estimate.periods import compare_periods
from zscope.samples.cost_truth import (
    FULL_US,
    WORLDS,
    CostIntervals,
    CostWorld,
    cost_intervals,
)

if TYPE_CHECKING:
    from zscope.pipelines.estimate.costs import SystemEstimate

Row = dict[str, float]
LENGTHS = (1, 3, 14, 90)
USUAL_DAYS = 14
REPLICATES = 300
EARLIER_REPLICATES = 1000
"""Of the earlier regression, which takes much less time, for the usual number of days."""
AT_ONCE = 25
"""Replicates that are simulated together."""
LEAST_PCT = 90.0
_SHORT_DAYS = 7
OPPOSITE = ("opposite, r -0.2", "opposite, r -0.5")
BROKEN = ("shock", "opposite", "counted early")
"""Worlds in which the condition of the levels does not hold: the beginnings of their names."""
CALM = ("iid", "AR", "curve")
"""Worlds that are never to be refused at 14 days."""
SHARES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02)
SHARES_OTHERWISE = (1.0, 0.1)
SHARE_WORLDS = ("AR 0.8", "curve, day height", "shock, r 0.5", "shock, r 0.95")
MOST_OF_RANGE = 0.25
CHEAPER, MOST_CHEAPER = 0.2, 0.9
VISIBLE = "smallest visible"
GROWING = "shock that grows"
POWER_PCT, POWER_ERROR_PCT = 80.0, 10.0
"""How often a change that is as large as the smallest visible one is seen."""
GROWN = 1.5
LEVELS = ("full handshake", "resumed handshake", "megabyte")
CHANGED = ("full handshake", "TLS", "full less resumed")


def truths(world: CostIntervals, row: int) -> dict[tuple[str, str], float]:
    """Return the true costs and the true price."""
    full, resumed, mb = world.truth
    return {
        ("full handshake", "us"): full,
        ("resumed handshake", "us"): resumed,
        ("megabyte", "us"): mb,
        ("full less resumed", "us"): full - resumed,
        ("TLS", "s/day"): float(world.tls_us[row].mean()) * 86_400 / 1e6,
    }


def holds(low: float | None, high: float | None, truth: float) -> float:
    """Return 1 if the interval contains the truth, 0 if not, and nothing if there is none."""
    return float("nan") if low is None or high is None else float(low <= truth <= high)


def judged(result: SystemEstimate, truth: dict[tuple[str, str], float]) -> Row:
    """Return what the result says about the truth."""
    row: Row = {
        "refused": float(result.status.kind == "refused"),
        "no kinds": float(result.cost("full less resumed").status.kind == "refused"),
    }
    for (item, unit), value in truth.items():
        cost = result.cost(item, unit)
        row[f"{item} range"] = holds(cost.low, cost.high, value)
        row[f"{item} estimate"] = holds(cost.conditional_low, cost.conditional_high, value)
        if cost.low is not None and cost.high is not None:
            row[f"{item} width"] = 50 * (cost.high - cost.low) / value
        if cost.conditional_low is not None and cost.conditional_high is not None:
            row[f"{item} estimate width"] = 50 * (cost.conditional_high - cost.conditional_low) / value
    return row


def of_lpar(world: CostWorld, seed: int) -> list[Row]:
    """Judge the estimates from the CPU time of the LPAR."""
    intervals = cost_intervals(world, AT_ONCE, seed)
    return [
        judged(estimate_costs(SystemIntervals(**intervals.measured(at))), truths(intervals, at))
        for at in range(AT_ONCE)
    ]


def of_earlier(world: CostWorld, seed: int) -> list[Row]:
    """Judge the earlier regression of the CPU time of the LPAR."""
    intervals = cost_intervals(world, AT_ONCE, seed)
    rng = np.random.default_rng(seed)
    rows = []
    for at in range(AT_ONCE):
        truth = truths(intervals, at)
        row: Row = {}
        _, low, high = earlier_intervals(
            intervals.full[at], intervals.resumed[at], intervals.mb[at], intervals.cpu_us[at], rng
        )
        names = (*LEVELS, "full less resumed")
        for name, least, most in zip(names, low, high, strict=True):
            row[f"{name} earlier"] = holds(float(least), float(most), truth[name, "us"])
        row["earlier width"] = 50 * float(high[0] - low[0]) / FULL_US
        rows.append(row)
    return rows


def of_spaces(share: float, world: CostWorld, seed: int) -> list[Row]:
    """Judge the estimates from the CPU time of address spaces that also have a share of the other work."""
    intervals = cost_intervals(world, AT_ONCE, seed)
    rows = []
    for at in range(AT_ONCE):
        truth = truths(intervals, at)
        if share == 1:
            rows.append(judged(estimate_costs(SystemIntervals(**intervals.measured(at))), truth))
            continue
        result = estimate_costs(SystemIntervals(**intervals.measured(at, share)))
        row = judged(result, truth)
        row["zero"] = float(result.fitted is not None and result.fitted.control_is_zero)
        rows.append(row)
    return rows


def of_change(share: float | None, after: CostWorld, before: CostWorld, seed: int) -> list[Row]:
    """Judge the change between two periods."""
    old, new = cost_intervals(before, AT_ONCE, seed), cost_intervals(after, AT_ONCE, seed + 10_000)
    cheaper = after.full_us - before.full_us
    rows = []
    for at in range(AT_ONCE):
        results = [estimate_costs(SystemIntervals(**world.measured(at, share))) for world in (old, new)]
        changes = {change.item: change for change in compare_periods(*results).changes}
        full = (old.full[at].mean() + new.full[at].mean()) / 2 * 86_400 / 1e6
        price = np.mean([world.tls_us[at].mean() for world in (old, new)]) * 86_400 / 1e6
        truth = {"full handshake": cheaper, "full less resumed": cheaper, "TLS": cheaper * full}
        unit = {"full handshake": FULL_US, "full less resumed": 700.0, "TLS": price}
        row: Row = {}
        for item, value in truth.items():
            if change := changes.get(item):
                row[item] = holds(change.low, change.high, value)
                row[f"{item} ok"] = float(change.status.kind == "ok")
                row[f"{item} visible"] = 100 * change.smallest_visible / unit[item]
                row[f"{item} seen"] = float(not change.low <= 0 <= change.high)
        rows.append(row)
    return rows


@dataclass(frozen=True)
class Summary:
    """The judgements of all replicates."""

    rows: list[Row]

    def pct(self, name: str) -> float:
        """Return the share of replicates in percent; not a number if none has it."""
        values = self._values(name)
        return 100 * float(np.mean(values)) if values else float("nan")

    def median(self, name: str) -> float:
        """Return the median; not a number if none has it."""
        values = self._values(name)
        return float(np.median(values)) if values else float("nan")

    def percents(self, *names: str) -> str:
        """Return several shares as one cell."""
        return "/".join(plain(self.pct(name)) for name in names)

    def _values(self, name: str) -> list[float]:
        return [row[name] for row in self.rows if name in row and not np.isnan(row[name])]


def plain(number: float) -> str:
    """Return a number without digits, or a dash."""
    return "-" if np.isnan(number) else f"{number:.0f}"


Judge = Callable[[int], list[Row]]


class Simulation:
    """Runs judgements over seeds in processes."""

    def __init__(self, pool: ProcessPoolExecutor, replicates: int) -> None:
        self._pool = pool
        self._replicates = replicates

    def summary(self, name: str, judge: Judge, replicates: int = 0) -> Summary:
        """Return the judgements of all replicates; the seeds depend on the name."""
        first = zlib.crc32(name.encode()) % 1_000_000
        print(f"\r{name:50s}", end="", file=sys.stderr, flush=True)
        chunks = self._pool.map(judge, range(first, first - (-(replicates or self._replicates) // AT_ONCE)))
        return Summary([row for chunk in chunks for row in chunk])


def least(days: int, replicates: int) -> float:
    """Return how often a result has to contain the truth: less two standard errors if the data are short."""
    if days >= _SHORT_DAYS:
        return LEAST_PCT
    return LEAST_PCT - 200 * float(np.sqrt(0.9 * 0.1 / replicates))


def lpar_table(run: Simulation, names: Iterable[str], lengths: Iterable[int], replicates: int) -> str:
    """Return the table of the estimates from the CPU time of the LPAR."""
    header = (
        *("world", "days", "refused", "only mean", "before", "+-"),
        *("estimate: full/resumed/MB", "+-", "TLS", "difference", "+-"),
        *("range: full/resumed/MB", "+-", "TLS", ""),
    )
    rows: list[tuple[str, ...]] = [header]
    for days in lengths:
        for name in names:
            world = replace(WORLDS[name], days=days)
            of = run.summary(f"{name}, {days} days", partial(of_lpar, world))
            more = max(replicates, EARLIER_REPLICATES) if days == USUAL_DAYS else replicates
            earlier = run.summary(f"{name}, {days} days", partial(of_earlier, world), more)
            rows.append(
                (
                    name,
                    str(days),
                    plain(of.pct("refused")),
                    plain(of.pct("no kinds") - of.pct("refused")),
                    earlier.percents(*(f"{item} earlier" for item in (*LEVELS[:2], "full less resumed"))),
                    plain(earlier.median("earlier width")),
                    of.percents(*(f"{item} estimate" for item in LEVELS)),
                    plain(of.median("full handshake estimate width")),
                    plain(of.pct("TLS estimate")),
                    plain(of.pct("full less resumed range")),
                    plain(of.median("full less resumed width")),
                    of.percents(*(f"{item} range" for item in LEVELS)),
                    plain(of.median("full handshake width")),
                    plain(of.pct("TLS range")),
                    _lpar_verdict(name, days, of, least(days, replicates)),
                )
            )
    return aligned(rows)


def _lpar_verdict(name: str, days: int, of: Summary, least_pct: float) -> str:
    if name in OPPOSITE:
        return "known limit"
    if of.pct("refused") > 95:
        return "refused"
    unconditional = [f"{item} range" for item in (*LEVELS, "full less resumed", "TLS")]
    conditional = [] if name.startswith(BROKEN) else [f"{item} estimate" for item in (*LEVELS, "TLS")]
    enough = all(not of.pct(name) < least_pct for name in (*unconditional, *conditional))
    answered = days != USUAL_DAYS or not name.startswith(CALM) or of.pct("no kinds") <= 5
    return verdict(enough and answered)


def spaces_table(run: Simulation, lengths: Iterable[int], replicates: int) -> str:
    """Return the table of the estimates from the CPU time of address spaces."""
    header = (
        *("world", "days", "share of other work", "control zero", "range or interval: full/resumed/MB"),
        *("+-", "TLS", "+-", "difference", "+-", "width of full to that of LPAR", ""),
    )
    rows: list[tuple[str, ...]] = [header]
    for days in lengths:
        for name in SHARE_WORLDS:
            world = replace(WORLDS[name], days=days)
            whole = float("nan")
            for share in SHARES if days == USUAL_DAYS else SHARES_OTHERWISE:
                of = run.summary(f"{name}, {days} days", partial(of_spaces, share, world))
                width = of.median("full handshake width")
                whole = width if share == 1 else whole
                ranges = [f"{item} range" for item in (*LEVELS, "full less resumed", "TLS")]
                enough = all(not of.pct(item) < least(days, replicates) for item in ranges)
                narrow = share > 0.1 or width <= MOST_OF_RANGE * whole
                rows.append(
                    (
                        name,
                        str(days),
                        f"{share:g}",
                        plain(of.pct("zero")),
                        of.percents(*(f"{item} range" for item in LEVELS)),
                        plain(width),
                        plain(of.pct("TLS range")),
                        plain(of.median("TLS width")),
                        plain(of.pct("full less resumed range")),
                        plain(of.median("full less resumed width")),
                        f"{width / whole:.2f}",
                        verdict(enough and narrow),
                    )
                )
    return aligned(rows)


def change_table(run: Simulation, lengths: Iterable[int], replicates: int) -> str:
    """Return the table of the changes between two periods."""
    header = (
        *("world", "days", "share of other work", "full handshakes", "ok", "holds: full/TLS/difference"),
        *("seen: full/TLS/difference", "smallest visible %", ""),
    )
    shock = WORLDS["shock, r 0.95"]
    pairs = [(name, WORLDS[name], WORLDS[name]) for name in ("AR 0.8", "curve, weekends", "shock, r 0.95")]
    pairs.append((GROWING, shock, replace(shock, shock=GROWN)))
    rows = [
        row
        for days in lengths
        for name, before, after in pairs
        for share in (None, 0.1)
        for row in _change_rows(
            run, name, replace(before, days=days), replace(after, days=days), share, replicates
        )
    ]
    return aligned([header, *rows])


def _change_rows(
    run: Simulation, name: str, before: CostWorld, after: CostWorld, share: float | None, replicates: int
) -> Iterator[tuple[str, ...]]:
    """Return the rows of two worlds: without a change, with one of 20 %, and with one just visible."""
    days = before.days
    visible = 0.0
    for said in ("as before", "20 % cheaper", VISIBLE):
        # Only where the condition of the change holds, and a cost can be that much lower.
        conditional = days == USUAL_DAYS and share is None and name != GROWING
        if said == VISIBLE and not (conditional and visible < MOST_CHEAPER):
            continue
        cheaper = {"as before": 0.0, "20 % cheaper": CHEAPER, VISIBLE: visible}[said]
        later = replace(after, full_us=(1 - cheaper) * FULL_US)
        of = run.summary(f"{name}, {days} days", partial(of_change, share, later, before))
        if said == "as before":
            visible = of.median("full handshake visible") / 100
        limit = least(days, replicates)
        enough = said != VISIBLE or abs(of.pct("full handshake seen") - POWER_PCT) <= POWER_ERROR_PCT
        conditions_hold = [item for item in CHANGED if of.pct(f"{item} ok") > 0 or name != GROWING]
        yield (
            name,
            str(days),
            "LPAR" if share is None else f"{share:g}",
            said,
            plain(of.pct("full handshake ok")),
            of.percents(*CHANGED),
            of.percents(*(f"{item} seen" for item in CHANGED)),
            "/".join(plain(of.median(f"{item} visible")) for item in CHANGED),
            verdict(enough and all(not of.pct(item) < limit for item in conditions_hold)),
        )


def report(arguments: argparse.Namespace) -> str:
    """Simulate, and return the tables."""
    processes = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with ProcessPoolExecutor(processes) as pool:
        run = Simulation(pool, arguments.replicates)
        replicates = -(-arguments.replicates // AT_ONCE) * AT_ONCE
        parts = list(_parts(run, arguments, replicates))
    print(file=sys.stderr)
    today = datetime.now(UTC).date()
    more = max(replicates, EARLIER_REPLICATES)
    counts = f"- {replicates} replicates of each row, {more} of the column `before` at {USUAL_DAYS} days"
    return "\n\n".join([*parts, f"{counts}; {today}, {machine()}"])


def _parts(run: Simulation, arguments: argparse.Namespace, replicates: int) -> Iterator[str]:
    chosen = arguments.worlds.split(";") if arguments.worlds else list(WORLDS)
    lengths = [int(days) for days in arguments.days.split(",")]
    if "lpar" in arguments.tables:
        yield "CPU time of the LPAR:"
        yield lpar_table(run, chosen, lengths, replicates)
    if "spaces" in arguments.tables:
        yield "CPU time of the address spaces with TLS, which have a share of the other work:"
        yield spaces_table(run, lengths, replicates)
    if "changes" in arguments.tables:
        yield "Changes between two periods:"
        yield change_table(run, [days for days in lengths if days > 1], replicates)


def main() -> None:
    """Run the simulation."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replicates", type=int, default=REPLICATES, help="of each world and length")
    parser.add_argument(
        "--worlds", default="", help="names with ; between them; default: all, and all tables"
    )
    parser.add_argument("--tables", default="lpar,spaces,changes", help="which tables; --worlds is for lpar")
    parser.add_argument("--days", default=",".join(map(str, LENGTHS)), help="lengths with , between them")
    parser.add_argument(
        "--write-docs", action="store_true", help="write the tables into docs/metrics/estimate.md"
    )
    arguments = parser.parse_args()
    if arguments.worlds and not set(arguments.worlds.split(";")) <= set(WORLDS):
        parser.error(f"--worlds: these are the names: {'; '.join(WORLDS)}")
    text = report(arguments)
    print(text)
    if arguments.write_docs:
        COVERAGE_FILE.write_text(text + "\n", encoding="utf-8")
        write_documents()


if __name__ == "__main__":
    main()
