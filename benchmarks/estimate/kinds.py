"""Judge the prices of TLS in all kinds of worlds in which applications work for connections."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from estimate.replicates import Row, Simulation, Summary, holds, plain
from figures import aligned, verdict

from zscope.pipelines.estimate.costs import estimate_costs
from zscope.pipelines.estimate.intervals import SystemIntervals
from zscope.pipelines.estimate.jobs import estimate_jobs
from zscope.samples.space_truth import space_intervals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zscope.samples.space_worlds import SpaceKind, SpaceWorld

SOURCES = {"LPAR": (False, True), "SMF 30": (True, False), "SMF 30 and plain": (True, True)}
"""Which records are loaded: of the address spaces, and of connections without TLS."""
_ALL = "SMF 30 and plain"
_PARTS = ("TLS", "handshakes", "bulk data")
_STATUSES = ("estimate", "conditional", "range", "not enough data")
_CHARGED = ("stack", "caller", "not known")
_MOST_OTHER_WORK_PCT = 10.0
"""How far an estimate may be from what TLS costs."""
_MOST_WIDTH = 1.15
"""How much wider than the reference a range may be."""


def of_kind(world: SpaceWorld, seed: int) -> list[Row]:
    """Judge the TLS CPU cost in a world."""
    intervals = space_intervals(world, seed)
    full, resumed, bulk = intervals.parts_s_per_day
    truth = dict(zip(_PARTS, (intervals.tls_s_per_day, full + resumed, bulk), strict=True))
    row: Row = {}
    for source, (spaces, plain_connections) in SOURCES.items():
        measured = intervals.measured(spaces=spaces, plain=plain_connections)
        result = estimate_costs(SystemIntervals(**measured, jobs=intervals.jobs))
        for part, seconds in truth.items():
            cost = result.cost(part, "s/day")
            row[f"{source} {part}"] = holds(cost.low, cost.high, seconds)
        price = result.cost("TLS", "s/day")
        if price.low is not None and price.high is not None:
            low, high = price.low / truth["TLS"], price.high / truth["TLS"]
            row |= {f"{source} low": low, f"{source} high": high}
        row |= {f"{source} {status}": float(price.status.kind == status) for status in _STATUSES}
        if price.status.kind == "estimate" and price.value is not None:
            off_pct = 100 * abs(price.value / truth["TLS"] - 1)
            row[f"{source} wrong"] = float(off_pct > _MOST_OTHER_WORK_PCT)
        handshakes = result.cost("handshakes", "s/day")
        row[f"{source} value"] = holds(
            handshakes.conditional_low, handshakes.conditional_high, truth["handshakes"]
        )
        if result.fitted is not None:
            charged = result.fitted.attribution.charged_to
            row |= {f"{source} in {place}": float(charged == place) for place in _CHARGED}
    if result.fitted is not None and result.status.kind != "not enough data":
        jobs = estimate_jobs(result.fitted, [str(number) for number in range(len(intervals.jobs_s_per_day))])
        held = [
            holds(price.low, price.high, seconds)
            for job, seconds in zip(jobs, intervals.jobs_s_per_day, strict=True)
            for price in job.costs
            if (price.item, price.unit) == ("TLS", "s/day")
        ]
        row["jobs"] = float(np.nanmean(held)) if np.isfinite(held).any() else float("nan")
    return [row]


def kinds_table(run: Simulation, kinds: Mapping[str, SpaceKind], replicates: int) -> str:
    """Return the table of the prices of all kinds, and a sentence about all of them."""
    header = (
        *("world", "LPAR: range", "holds", "SMF 30: range", "holds"),
        *("and connections without TLS: range", "reference", "width", "holds: TLS/handshakes/bulk", "jobs"),
        *("value holds", "estimate/conditional/range/not enough", "estimates wrong"),
        *("in stack/caller/not known", ""),
    )
    rows: list[tuple[str, ...]] = [header]
    judged: list[Row] = []
    met = 0
    for name, kind in kinds.items():
        of = run.summary(name, partial(of_kind, kind), replicates)
        missed = missed_limits(kind, of)
        met += not missed
        judged += of.rows
        why = f": {', '.join(missed)}" if missed else ""
        rows.append((name, *_cells(kind, of), verdict(not missed) + why))
    return f"{aligned(rows)}\n\n{_in_all(Summary(judged), met, len(kinds))}"


def missed_limits(kind: SpaceKind, of: Summary) -> list[str]:
    """Return which limits of a kind its replicates miss."""
    refused_pct = of.pct(f"{_ALL} not enough data")
    if kind.is_refused:
        return [] if refused_pct == 100 else [f"{100 - refused_pct:.0f} % answered"]
    missed = [f"{refused_pct:.0f} % not enough data"] if refused_pct else []
    limited = {"LPAR": "LPAR TLS", "SMF 30": "SMF 30 TLS", "jobs": "jobs"} | {
        part: f"{_ALL} {part}" for part in _PARTS
    }
    for what, name in limited.items():
        if of.pct(name) < kind.least_held_pct:
            missed.append(f"{what} holds {of.pct(name):.0f} < {kind.least_held_pct:.0f}")
    missed += [f"{source}: wrong estimate" for source in SOURCES if of.pct(f"{source} wrong") > 0]
    ratio = _width_ratio(kind, of)
    if ratio is not None and ratio > _MOST_WIDTH:
        missed.append(f"width {ratio:.2f} > {_MOST_WIDTH}")
    return missed


def _cells(kind: SpaceKind, of: Summary) -> list[str]:
    ratio = _width_ratio(kind, of)
    return [
        _range(of, "LPAR"),
        plain(of.pct("LPAR TLS")),
        _range(of, "SMF 30"),
        plain(of.pct("SMF 30 TLS")),
        _range(of, _ALL),
        "-" if kind.reference is None else "{:.2f} .. {:.2f}".format(*kind.reference),
        "-" if ratio is None else f"{ratio:.2f}",
        of.percents(*(f"{_ALL} {part}" for part in _PARTS)),
        plain(of.pct("jobs")),
        plain(of.pct(f"{_ALL} value")),
        of.percents(*(f"{_ALL} {status}" for status in _STATUSES)),
        plain(of.pct(f"{_ALL} wrong")),
        of.percents(*(f"{_ALL} in {place}" for place in _CHARGED)),
    ]


def _range(of: Summary, source: str) -> str:
    low, high = of.median(f"{source} low"), of.median(f"{source} high")
    return "-" if np.isnan(low) else f"{low:.2f} .. {high:.2f}"


def _width_ratio(kind: SpaceKind, of: Summary) -> float | None:
    """Return how many times as wide as the reference the range is."""
    if kind.reference is None:
        return None
    low, high = kind.reference
    return (of.median(f"{_ALL} high") - of.median(f"{_ALL} low")) / (high - low)


def _in_all(of: Summary, met: int, kinds: int) -> str:
    held, estimates = of.values(f"{_ALL} TLS"), of.values(f"{_ALL} wrong")
    return (
        f"- {met} of {kinds} kinds meet their limits. With SMF 30 and connections without TLS, "
        f"{sum(held):.0f} of {len(held)} ranges hold, and {sum(estimates):.0f} of {len(estimates)} estimates "
        "are wrong."
    )
