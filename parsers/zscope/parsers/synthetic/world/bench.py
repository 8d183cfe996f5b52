"""The connections of benchmark runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.synthetic.connections import ABBREVIATED, FULL, NO_TLS
from zscope.parsers.synthetic.world.cast import SERVICES
from zscope.parsers.synthetic.world.links import LINK, TICK_US, Links, ticks
from zscope.parsers.synthetic.world.plan import RUN_CLIENT, RUN_SERVER
from zscope.parsers.synthetic.world.recipe import MINUTE_US
from zscope.parsers.synthetic.world.traffic import SHORTEST_LONG_US

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.synthetic.batch import Numbers
    from zscope.parsers.synthetic.world.plan import PlannedRun

_RAMP = 0.5
"""Rate of the first and of the last minute against the others."""
_LATENCY_SPREAD = 0.08
_ROOM_US = 200_000
"""So long after the start of a minute a connection starts, and before its end it is over, at least."""
_STAGGER_US = 45_000_000
"""The connections of RR and STR runs begin and end at different times in the first and the last minute."""
_FIRST_SESSION = 0xB000_0000


def night(runs: tuple[PlannedRun, ...], number: int, seed: int) -> Links:
    """The connections of all runs of a night, in order."""
    links = [
        _links(run, np.random.default_rng([seed, 30, run.number])) for run in runs if run.night == number
    ]
    made = np.concatenate(links) if links else np.zeros(0, LINK)
    return made[np.argsort(made["start"], kind="stable")]


def _links(run: PlannedRun, rng: np.random.Generator) -> Links:
    links = _connecting(run, rng) if run.kind == "CRR" else _lasting(run, rng)
    links["client"], links["server"] = RUN_CLIENT, RUN_SERVER
    links["service"], links["suite"], links["run"] = run.service, run.suite, run.number
    links["shaken"] = links["start"]
    links["session"] = (_FIRST_SESSION + (run.number << 16) + links["session"]) & 0xFFFFFFFF
    if not SERVICES[run.service].suites:
        links["handshake"] = NO_TLS
    links["long"] = links["end"] - links["start"] > SHORTEST_LONG_US
    return links


def _connecting(run: PlannedRun, rng: np.random.Generator) -> Links:
    """Connections one after the other, each with one request, none of them across the end of a minute."""
    counts = _whole(np.array([run.per_minute * part for part in _parts(run.minutes)]))
    minute = np.repeat(np.arange(run.minutes), counts)
    count = len(minute)
    lasting = ticks(run.latency_us * np.exp(rng.normal(0, _LATENCY_SPREAD, count))) + TICK_US
    place = rng.uniform(0, 1, count) * (MINUTE_US - 2 * _ROOM_US - lasting)
    links = np.zeros(count, LINK)
    links["start"] = run.begin_us + minute * MINUTE_US + ticks(_ROOM_US + place)
    links["end"] = links["start"] + lasting
    links = links[np.argsort(links["start"], kind="stable")]
    links["up"], links["down"] = run.client_bytes, run.server_bytes
    luck = rng.random(count)
    links["handshake"] = np.where(luck < run.resumed, ABBREVIATED, FULL)
    # Every client shows a session of its own; that it got it before the run is not in the data.
    links["session"] = np.where(luck < run.resumed, np.arange(count) % run.clients, 1_000 + np.arange(count))
    return links


def _lasting(run: PlannedRun, rng: np.random.Generator) -> Links:
    """One connection for each client, with one request after the other."""
    links = np.zeros(run.clients, LINK)
    late, early = rng.uniform(0, _STAGGER_US, (2, run.clients))
    links["start"] = run.begin_us + ticks(_ROOM_US + late)
    links["end"] = run.end_us - ticks(_ROOM_US + early)
    links = links[np.argsort(links["start"], kind="stable")]
    latency = run.latency_us * np.exp(rng.normal(0, _LATENCY_SPREAD / 4, run.clients))
    links["requests"] = ((links["end"] - links["start"]) / latency).astype(np.int64)
    links["up"], links["down"] = (
        links["requests"] * np.uint64(size) for size in (run.client_bytes, run.server_bytes)
    )
    return links


def _parts(minutes: int) -> list[float]:
    return [_RAMP, *[1.0] * (minutes - 2), _RAMP]


def _whole(rates: NDArray[np.float64]) -> Numbers:
    """Whole numbers whose sum keeps up with that of the rates."""
    total = np.floor(np.cumsum(rates) + 0.5).astype(np.int64)
    counts: Numbers = np.diff(total, prepend=0)
    return counts
