"""A model of many TLS sessions that start at once on z/TPF: a discrete-event simulation and its results.

Shared SSL daemons have worker threads that perform handshakes. Before APAR PJ48040 a thread was held while a
handshake waited for the network; with it, the thread and the ECB of the connection are free in the meantime.
The results come from a model and not from measurements, and are labelled so wherever they are shown.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cache
from heapq import heappop, heappush
from itertools import chain, count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from zscope.schemas.errors import Error
from zscope.schemas.published import published_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray


class FloodError(Error, ValueError):
    """Parameters that cannot be simulated; the message contains which and why."""


Mode = StrEnum("Mode", {"BLOCKING": "blocking", "NON_BLOCKING": "non-blocking"})
"""Whether a worker thread is held while a handshake waits for the network, or free, with PJ48040."""
Arrivals = StrEnum("Arrivals", ["EVEN", "POISSON"])
Network = StrEnum("Network", ["CONSTANT", "EXPONENTIAL"])
Order = StrEnum("Order", ["BEGUN", "ARRIVAL"])
MOST_PIECES, MOST_TRANSFERS = 1_000_000, 500_000
"""Maximum number of pieces of processor work, and of data transfers; more would take minutes."""
MOST_SAMPLES, USUAL_SAMPLES = 10_000, 200
"""Maximum and default number of steps of a sampled curve."""
MOST_BUSY = 0.9
"""Maximum share of threads and processors for data transfer; with more, a flood may never end."""


def _number(default: float, unit: str, low: float, high: float, meaning: str) -> Any:  # noqa: ANN401 - any number
    return field(default=default, metadata={"unit": unit, "low": low, "high": high, "meaning": meaning})


@dataclass(frozen=True, slots=True)
class Flood:
    """The parameters of one flood; the defaults are close to those that reproduce the published ECBs."""

    sessions: int = _number(8000, "sessions", 1, 200_000, "TLS session requests in the flood.")
    burst_s: float = _number(2.0, "s", 0, 3600, "Time over which the requests arrive; 0: all at once.")
    arrivals: Arrivals = Arrivals.POISSON
    connections: int = _number(2500, "connections", 0, 200_000, "Maximum number of open connections; further "
                               "requests wait without an ECB; 0: no limit.")  # fmt: skip
    client_ms: float = _number(0.0, "ms", 0, 60_000,
                               "Time between a connection and the first data of its client.")  # fmt: skip
    daemons: int = _number(1, "daemons", 1, 64, "Shared SSL daemons; connections are assigned in turn.")
    workers: int = _number(4, "threads", 1, 1000, "Worker threads of each daemon.")
    share: float = _number(0.5, "", 0.01, 1, "Maximum share of the worker threads that may start sessions.")
    processors: int = _number(4, "I-streams", 1, 256, "I-streams that all threads run on.")
    flows: int = _number(2, "flows", 0, 20, "Number of times that a handshake waits for its partner.")
    network_ms: float = _number(2.3, "ms", 0, 10_000, "Length of each of these waits.")
    network: Network = Network.CONSTANT
    cpu_ms: float = _number(0.5, "ms", 0.001, 10_000,
                            "Processor time of a handshake, in equal pieces around its waits.")  # fmt: skip
    ecb_in_queue: bool = True
    """Whether, with PJ48040, a session that waits for a thread has an ECB."""
    order: Order = Order.BEGUN
    """Whether, with PJ48040, a free thread continues with handshakes that have begun, before new ones."""
    background_per_s: float = _number(0.0, "1/s", 0, 100_000,
                               "Data transfers, which also need a thread and a processor.")  # fmt: skip
    background_ms: float = _number(0.1, "ms", 0.001, 10_000, "Processor time of each of these.")
    threshold: float = _number(0.1, "", 0.001, 1,
                               "Share of the peak above which the use of ECBs counts as high.")  # fmt: skip
    seed: int = _number(1, "", 0, 2**32 - 1, "The same seed gives the same random arrivals and waits.")

    def __post_init__(self) -> None:
        """Raise FloodError for values outside the limits."""
        for number in NUMBERS:
            number.check(getattr(self, number.name))
        if self.sessions * (self.flows + 1) > MOST_PIECES:
            raise FloodError(
                f"{self.sessions:,} sessions of {self.flows} flows are too many for the simulation; "
                f"sessions times (flows + 1) may be {MOST_PIECES:,} at most"
            )
        busy = self.background_per_s * self.background_ms / 1000
        room = MOST_BUSY * min(self.processors, self.daemons * self.workers)
        if busy > room:
            raise FloodError(
                f"data transfers keep {busy:g} of the threads and processors busy, which leaves too little "
                f"for sessions; background_per_s times background_ms may be {room * 1000:g} here"
            )

    @property
    def starters(self) -> int:
        """Threads of a daemon that may start sessions at the same time: at least one."""
        # A share such as 0.29 of 100 is 28.999... in binary.
        return max(1, math.floor(self.workers * self.share + 1e-9))

    @property
    def cpu_s(self) -> float:
        """Processor time of a handshake."""
        return self.cpu_ms / 1000

    def rate_per_s(self, mode: Mode) -> float:
        """Session starts per second from a long queue; an upper bound if several resources are short."""
        waits_s = self.flows * self.network_ms / 1000
        held = self.cpu_s + (waits_s if mode is Mode.BLOCKING else 0)
        limits = [self.daemons * self.starters / held, self.processors / self.cpu_s]
        if self.connections:
            limits.append(self.connections / (self.client_ms / 1000 + waits_s + self.cpu_s))
        return min(limits)


@dataclass(frozen=True, slots=True)
class FloodParameter:
    """A numeric parameter with its limits."""

    name: str
    whole: bool
    unit: str
    low: float
    high: float
    meaning: str

    def check(self, value: object) -> None:
        """Raise FloodError for a value outside the limits."""
        if isinstance(value, bool) or not isinstance(value, int if self.whole else (int, float)):
            raise FloodError(f"{self.name}: {value!r} is not a {'whole ' * self.whole}number")
        # NaN is outside of every range.
        if not self.low <= value <= self.high:
            unit = f" {self.unit}" if self.unit else ""
            raise FloodError(f"{self.name}: {value:g} is not between {self.low:g} and {self.high:g}{unit}")


NUMBERS = tuple(
    FloodParameter(each.name, each.type == "int", **each.metadata) for each in fields(Flood) if each.metadata
)


class Curve:
    """A count over time as exact steps: each value is valid until the next; before the first it is zero."""

    def __init__(self, times: Iterable[float], counts: Iterable[int]) -> None:
        """Build a curve from the changes of a count in their order; values of no duration are omitted."""
        at, values = np.array(times, np.float64), np.array(counts, np.int64)
        lasts = np.ones(at.size, np.bool_)
        lasts[:-1] = at[1:] > at[:-1]
        self.times, self.counts = at[lasts], values[lasts]
        self.peak = int(self.counts.max(initial=0))
        self.peak_at_s = float(self.times[int(self.counts.argmax())]) if at.size else 0.0

    def at(self, moments: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the count at some times."""
        return np.concatenate([[0], self.counts])[np.searchsorted(self.times, moments, "right")]

    def integral(self, until: float) -> float:
        """Return the integral of the count up to a time."""
        return float(self._lengths(until) @ self.counts)

    def time_at_least(self, level: float, until: float) -> float:
        """Return for how long, up to a time, the count is at least `level`."""
        return float(self._lengths(until)[self.counts >= level].sum())

    def _lengths(self, until: float) -> NDArray[np.float64]:
        ends = np.minimum(np.append(self.times[1:], [until] * bool(self.times.size)), until)
        return np.asarray(np.maximum(ends - self.times, 0.0), np.float64)


NS = 1_000_000_000
"""Nanoseconds in a second: in whole ones sums are exact, and simultaneous events are simultaneous."""
_Process = Generator[int | None, None, None]
"""A session or a transfer. It yields the nanoseconds until it continues, or None to wait for a unit."""
_TOO_MANY_TRANSFERS = (
    f"more than {MOST_TRANSFERS:,} data transfers during the flood are too many for the simulation; "
    "choose a lower background_per_s, or a longer background_ms for the same load"
)
_BEGUN, _NEW, _TRANSFER = range(3)
"""What a unit is for: a handshake that has begun, another one, a data transfer."""


class _Pool:
    """A limited number of threads, processors or connections, of which only some may start sessions."""

    def __init__(self, simulation: Simulation, name: str, size: int, starters: int) -> None:
        self._simulation, self._name = simulation, name
        self._free, self._starters = size, starters
        self._numbers = count()
        self._waiting = [deque[tuple[int, _Process]]() for _ in (_BEGUN, _NEW, _TRANSFER)]

    def take(self, use: int) -> bool:
        """Assign a unit to the running process and return True, or add the process to the queue."""
        if self._free and (self._starters or use == _TRANSFER):
            self._assign(use)
            return True
        self._waiting[use].append((next(self._numbers), self._simulation.running))
        return False

    def give(self, use: int) -> None:
        """Return a unit, which goes to a process that waits."""
        self._free += 1
        self._starters += use != _TRANSFER
        self._simulation.change(self._name, -1)
        uses = [use for use in (_BEGUN, _NEW) if self._waiting[use]][:1] if self._starters else []
        uses += [_TRANSFER] if self._waiting[_TRANSFER] else []
        if uses:
            longest = min(uses, key=lambda use: self._waiting[use][0][0])
            _, process = self._waiting[longest].popleft()
            self._assign(longest)
            self._simulation.resume_after(0, process)

    def _assign(self, use: int) -> None:
        self._free -= 1
        self._starters -= use != _TRANSFER
        self._simulation.change(self._name, 1)


class Simulation:
    """A flood simulated in one mode: times of each session by its number, in seconds, and curves."""

    def __init__(self, flood: Flood, mode: Mode) -> None:
        """Simulate a flood."""
        self.flood, self.mode = flood, mode
        least_s = max(flood.burst_s * (1 - 1 / flood.sessions), flood.sessions / flood.rate_per_s(mode))
        if flood.background_per_s * least_s > MOST_TRANSFERS:
            raise FloodError(_TOO_MANY_TRANSFERS)
        self._draw()
        self.now, self.transfers, self._left = 0, 0, flood.sessions
        self._ended, self._waited = [0] * flood.sessions, [0] * flood.sessions
        self._changes: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._numbers = count()
        self._later: list[tuple[int, int, _Process | None]] = []
        self._run()
        seconds = (np.array(times) / NS for times in (self._arrived, self._ended, self._waited))
        self.arrived, self.ended, self.waited = seconds
        """When each session arrived and had started, and how long it waited for a unit of any pool."""
        curves = (self._curve(name) for name in ("ecbs", "threads", "starters", "waiting"))
        self.ecbs, self.threads, self.starters, self.waiting = curves
        """ECBs and threads in use, threads in use for sessions, sessions that wait for a unit of any pool."""
        self.completed = Curve(np.sort(self.ended), range(1, flood.sessions + 1))
        self.elapsed_s = float(self.ended.max())

    def _draw(self) -> None:
        """Draw what is random before the simulation, so that both modes have the same flood."""
        flood = self.flood
        # One generator for each, so that none affects another.
        arrivals, network, background = np.random.default_rng(flood.seed).spawn(3)
        places = np.arange(flood.sessions) / flood.sessions
        if flood.arrivals is Arrivals.POISSON:
            # Given their number, the arrivals of a Poisson process are uniformly distributed.
            places = np.sort(arrivals.random(flood.sessions))
        shape, mean = (flood.sessions, flood.flows), flood.network_ms / 1000
        waits = np.full(shape, mean)
        if flood.network is Network.EXPONENTIAL:
            waits = network.exponential(mean, shape)
        blocks = (_ns(background.exponential(1 / flood.background_per_s, 1024)) for _ in count())
        self._arrived: list[int] = _ns(places * flood.burst_s)
        self.waits: list[list[int]] = _ns(waits)
        self._gaps: Iterator[int] = chain.from_iterable(blocks)
        # Cut between whole nanoseconds, so that the pieces of processor work are all of it.
        cuts = [round(flood.cpu_s * NS) * cut // (flood.flows + 1) for cut in range(flood.flows + 2)]
        self._pieces = [end - begin for begin, end in pairwise(cuts)]

    def _run(self) -> None:
        flood = self.flood
        connections = flood.connections or flood.sessions
        self._connections = _Pool(self, "connections", connections, connections)
        self._processors = _Pool(self, "processors", flood.processors, flood.processors)
        self._daemons = [_Pool(self, "threads", flood.workers, flood.starters) for _ in range(flood.daemons)]
        for number in range(flood.sessions):
            self._resume(self._session(number))
        if flood.background_per_s:
            self._resume(self._background())
        while True:
            self.now, _, process = heappop(self._later)
            if process is None:
                return
            self._resume(process)

    def _resume(self, process: _Process) -> None:
        self.running = process
        delay = next(process, None)
        if delay is not None:
            self.resume_after(delay, process)

    def resume_after(self, delay: int, process: _Process | None) -> None:
        """Resume a process later, in the order of time and request; None ends the simulation."""
        heappush(self._later, (self.now + delay, next(self._numbers), process))

    def change(self, name: str, by: int) -> None:
        """Record the change of a count."""
        self._changes[name].append((self.now, by))

    def _curve(self, name: str) -> Curve:
        changes = np.array(self._changes[name], np.int64).reshape(-1, 2)
        return Curve(changes[:, 0] / NS, changes[:, 1].cumsum())

    def _session(self, number: int) -> _Process:
        """Run a session from the request to the end of SSL_accept."""
        flood, blocking = self.flood, self.mode is Mode.BLOCKING
        yield self._arrived[number]
        yield from self._take(number, self._connections, _NEW)
        if blocking:
            self.change("ecbs", 1)
        if flood.client_ms:
            yield round(flood.client_ms / 1000 * NS)
        threads, use, held = self._daemons[number % flood.daemons], _NEW, False
        for piece, wait in zip(self._pieces, (*self.waits[number], None), strict=True):
            if not held:
                ecb_in_queue = flood.ecb_in_queue or blocking
                if ecb_in_queue and not blocking:
                    self.change("ecbs", 1)
                yield from self._take(number, threads, use)
                self.change("starters", 1)
                if not ecb_in_queue:
                    self.change("ecbs", 1)
            yield from self._take(number, self._processors, _NEW)
            yield piece
            self._processors.give(_NEW)
            # If the data of the partner has already arrived, the handshake keeps its thread.
            held = wait is not None and (blocking or wait == 0)
            if not held:
                self.change("starters", -1)
                threads.give(use)
                self.change("ecbs", -1)
            if flood.order is Order.BEGUN:
                use = _BEGUN
            if wait:
                yield wait
        self._connections.give(_NEW)
        self._ended[number] = self.now
        self._left -= 1
        if not self._left:
            self.resume_after(0, None)

    def _take(self, number: int, pool: _Pool, use: int) -> _Process:
        """Take a unit for a session, and wait for it if there is none."""
        if not pool.take(use):
            began = self.now
            self.change("waiting", 1)
            yield None
            self.change("waiting", -1)
            self._waited[number] += self.now - began

    def _background(self) -> _Process:
        for number, gap in zip(range(MOST_TRANSFERS), self._gaps, strict=False):
            yield gap
            # A transfer begins before everything else that continues at this time.
            heappush(self._later, (self.now, -1, self._transfer(self._daemons[number % self.flood.daemons])))
        raise FloodError(_TOO_MANY_TRANSFERS)

    def _transfer(self, threads: _Pool) -> _Process:
        for pool, use in ((threads, _TRANSFER), (self._processors, _NEW)):
            if not pool.take(use):
                yield None
        yield round(self.flood.background_ms / 1000 * NS)
        self._processors.give(_NEW)
        threads.give(_TRANSFER)
        self.transfers += 1


def _ns(seconds: NDArray[np.float64]) -> Any:  # noqa: ANN401 - lists as deep as the array has dimensions
    return np.rint(seconds * NS).astype(np.int64).tolist()


FIGURES = {
    "throughput_per_s": ("1/s", "Session starts per second, between 5 % and 95 % of them."),
    "elapsed_s": ("s", "Time from the start of the burst until the last session has started."),
    "peak_ecbs": ("ECBs", "Maximum number of ECBs in use for starting sessions."),
    "peak_at_s": ("s", "Time at which the peak is first reached."),
    "duration_s": ("s", "Time in which the ECBs in use are at least the threshold share of the peak."),
    "ecb_seconds": ("ECB*s", "Integral of the ECBs in use over time."),
    "ecb_seconds_per_session": ("ECB*s", "The same divided by the number of sessions."),
    "mean_wait_ms": ("ms", "Mean time that a session waits for a connection, a thread or a processor."),
    "p95_wait_ms": ("ms", "95th percentile of this time."),
    "thread_busy_pct": ("%", "Share of the time in which worker threads are in use or held."),
    "starter_busy_pct": ("%", "The same for the threads that may start sessions."),
    "processor_busy_pct": ("%", "Share of the time in which I-streams work."),
}
"""Unit and meaning of each figure."""


def flood_figures(simulation: Simulation) -> dict[str, float | None]:
    """Return the figures of a simulated flood; no throughput if all sessions start at the same time."""
    flood, elapsed, ecbs = simulation.flood, simulation.elapsed_s, simulation.ecbs
    ended = np.sort(simulation.ended)
    first, last = (math.ceil(share * flood.sessions) for share in (0.05, 0.95))
    took = float(ended[last - 1] - ended[first - 1])
    worked_s = flood.sessions * flood.cpu_s + simulation.transfers * flood.background_ms / 1000
    values = (
        (last - first) / took if took else None,
        elapsed,
        ecbs.peak,
        ecbs.peak_at_s,
        ecbs.time_at_least(flood.threshold * ecbs.peak, elapsed),
        ecbs.integral(elapsed),
        ecbs.integral(elapsed) / flood.sessions,
        float(simulation.waited.mean()) * 1000,
        float(np.quantile(simulation.waited, 0.95, method="inverted_cdf")) * 1000,
        100 * simulation.threads.integral(elapsed) / (flood.daemons * flood.workers * elapsed),
        100 * simulation.starters.integral(elapsed) / (flood.daemons * flood.starters * elapsed),
        100 * worked_s / (flood.processors * elapsed),
    )
    return dict(zip(FIGURES, values, strict=True))


def change_pct(before: float | None, after: float | None) -> float | None:
    """Return the change of a figure in percent; None if there is no figure, or it was zero."""
    return None if before is None or after is None or not before else 100 * (after / before - 1)


PEAK_BEFORE, PEAK_WITH = "peak_ecbs_before", "peak_ecbs_with"
_PUBLISHED = {
    "throughput_gain": ("ztpf-sharedssl-throughput", "value", "throughput_per_s", None),
    PEAK_BEFORE: ("ztpf-inetd-peak-ecbs", "baseline_value", "peak_ecbs", Mode.BLOCKING),
    PEAK_WITH: ("ztpf-inetd-peak-ecbs", "candidate_value", "peak_ecbs", Mode.NON_BLOCKING),
    "duration_before": ("ztpf-inetd-duration", "baseline_value", "duration_s", Mode.BLOCKING),
    "duration_with": ("ztpf-inetd-duration", "candidate_value", "duration_s", Mode.NON_BLOCKING),
}
"""Id and column of a published result, and the figure of the model with its mode; None: the change."""


@cache
def published_figures() -> Mapping[str, dict[str, Any]]:
    """Return `value`, `unit` and `as_printed` of the published figures that a flood can be compared with."""
    rows = {row["id"]: row for row in published_tables()["reference_result"].to_pylist()}
    return {
        name: {
            **rows[result],
            "value": rows[result][column],
            "unit": rows[result]["unit"].replace("pct", "%"),
        }
        for name, (result, column, _, _) in _PUBLISHED.items()
    }


def beside_published(simulations: Iterable[Simulation]) -> dict[str, float | None]:
    """Return the figures of the model that correspond to the published ones, from both modes."""
    figures = {each.mode: flood_figures(each) for each in simulations}
    return {
        name: change_pct(*(figures[each][figure] for each in Mode)) if mode is None else figures[mode][figure]
        for name, (_, _, figure, mode) in _PUBLISHED.items()
    }


def figure_table(simulations: Iterable[Simulation]) -> pa.Table:
    """Return a row for each figure: its value in each mode, and the change from before PJ48040 to with it."""
    of_mode = {str(each.mode).replace("-", "_"): flood_figures(each) for each in simulations}
    rows: list[dict[str, Any]] = []
    for name, (unit, meaning) in FIGURES.items():
        values = {mode: figures[name] for mode, figures in of_mode.items()}
        change = {"change_pct": change_pct(*values.values())} if len(values) == len(Mode) else {}
        rows.append({"figure": name, "unit": unit, **values, **change, "basis": "model", "meaning": meaning})
    return pa.Table.from_pylist(rows)


def curve_table(simulations: Sequence[Simulation], samples: int = USUAL_SAMPLES) -> pa.Table:
    """Return the curves, sampled at the same times for every mode."""
    times = np.linspace(0, max(each.elapsed_s for each in simulations), samples + 1)
    return pa.concat_tables(
        pa.table(
            {
                "mode": [str(each.mode)] * len(times),
                "since_start_s": times,
                "ecbs_in_use": each.ecbs.at(times),
                "threads_in_use": each.threads.at(times),
                "sessions_started": each.completed.at(times),
                "waiting": each.waiting.at(times),
                "basis": ["model"] * len(times),
            }
        )
        for each in simulations
    )


@cache
def reproduction() -> pa.Table:
    """Return parameters that reproduce published tests, and the effect of each, as simulated once."""
    options = csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
    return csv.read_csv(Path(__file__).with_suffix(".csv"), convert_options=options)


@cache
def published_tests() -> Mapping[str, Flood]:
    """Return the flood that reproduces each published test."""
    tests: dict[str, dict[str, Any]] = defaultdict(dict)
    whole = {number.name for number in NUMBERS if number.whole}
    for row in reproduction().to_pylist():
        if row["part"] == "parameter" and row["value"] is not None:
            tests[row["test"]][row["name"]] = int(row["value"]) if row["name"] in whole else row["value"]
    return {test: Flood(arrivals=Arrivals.EVEN, **numbers) for test, numbers in tests.items()}
