"""Displays of a world: NETSTAT once a day on every system, caches of System SSL on servers several times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.parsers.synthetic.cast import STACK
from zscope.parsers.synthetic.connections import ABBREVIATED, FULL
from zscope.parsers.synthetic.reports.displays import Clock
from zscope.parsers.synthetic.reports.files import (
    LABEL,
    ReportFile,
    cache_displays,
    console_displays,
    shell_session,
)
from zscope.parsers.synthetic.reports.moments import CLOSED_S, Handshakes, Moment
from zscope.parsers.synthetic.world.cast import ADDRESSES, IS_TLS13, LISTENING, SUITES, local_address
from zscope.parsers.synthetic.world.links import Links, side
from zscope.parsers.synthetic.world.recipe import (
    CLIENTS,
    DAY_US,
    MINUTE_US,
    NAMES,
    NIGHTS,
    OFFSET_MINUTES,
    SYSTEMS,
    WorldRecipe,
    moment,
)
from zscope.parsers.synthetic.world.traffic import DISPLAY_HOURS
from zscope.parsers.text.dress import Log, as_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.synthetic.batch import Numbers, Scene
    from zscope.parsers.synthetic.world.plan import PlannedRun

CLOCK = Clock(timedelta(minutes=OFFSET_MINUTES))
CACHES = {"session-id": False, "ticket": True}
HOUR_US = 60 * MINUTE_US
_NETSTAT_AT_US = 12 * HOUR_US + 7 * MINUTE_US + 30_000_000
RESET_SYSTEM, _RESET_AT_US = 3, 9 * HOUR_US + 30 * MINUTE_US
_AROUND_US = 30_000_000
"""So long before and after runs about tickets the caches are displayed besides."""
_AFTER_NIGHT_US = 12 * HOUR_US
_STARTED_BEFORE_US = 9 * DAY_US + 5 * HOUR_US
_FULL_A_MISS = 32
"""One of so many full handshakes was made because a session was shown that the cache did not have."""
_MOST_SHOWN = 12
"""So many TTLS CONN displays are in a capture at most."""


@dataclass
class Caches:
    """What the caches of the servers counted, and what displays showed of it."""

    recipe: WorldRecipe
    runs: Sequence[PlannedRun]
    _counts: Numbers = field(init=False)
    """By server, cache, kind (full, resumed) and stretch of time."""

    def __post_init__(self) -> None:
        shape = (len(NAMES) - CLIENTS, len(CACHES), 2, len(self._edges) - 1)
        self._counts = np.zeros(shape, np.int64)

    @property
    def times_us(self) -> list[int]:
        """When they are displayed."""
        recipe = self.recipe
        times = [recipe.day_us(day) + hour * HOUR_US for day in range(recipe.days) for hour in DISPLAY_HOURS]
        times.append(recipe.day_us(recipe.days))
        if self.runs:
            times += [recipe.day_us(recipe.days + night) + _AFTER_NIGHT_US for night in range(NIGHTS)]
        for run in self.runs:
            if "sysplex_tickets" in run.tags:
                times += [run.begin_us - _AROUND_US, run.end_us + _AROUND_US]
        return sorted(times)

    @property
    def reset_us(self) -> int:
        """When the counters of one of the servers are set back."""
        return self.recipe.start_us + _RESET_AT_US

    @property
    def _edges(self) -> Numbers:
        return np.array(sorted([*self.times_us, self.reset_us, self.times_us[-1] + DAY_US]))

    def add(self, links: Links) -> None:
        """Count the handshakes of connections."""
        for server in range(len(self._counts)):
            mine = links[links["server"] == CLIENTS + server]
            tls13 = IS_TLS13[mine["suite"]]
            for cache, newest in enumerate(CACHES.values()):
                for kind, handshake in enumerate((FULL, ABBREVIATED)):
                    chosen = mine["shaken"][(mine["handshake"] == handshake) & (tls13 == newest)]
                    self._counts[server, cache, kind] += np.histogram(chosen, self._edges)[0]

    def shown(self, system: int, cache: str, at_us: int) -> Handshakes:
        """The counters at a time."""
        reset = self.reset_us if system == RESET_SYSTEM and at_us > self.reset_us else None
        edges = self._edges[:-1]
        past = (edges < at_us) & (edges >= (reset or 0))
        counted = self._counts[system - CLIENTS, list(CACHES).index(cache)][:, past].sum(axis=1)
        full, resumed = counted.tolist()
        since = moment(self.recipe.start_us - _STARTED_BEFORE_US)
        return Handshakes(full, resumed, full // _FULL_A_MISS, moment(reset) if reset else None, since)

    def answers(self) -> list[dict[str, Any]]:
        """The known answers: what was displayed, and the handshakes between two displays."""
        rows = []
        for system in range(CLIENTS, len(NAMES)):
            for number, cache in enumerate(CACHES):
                before = None
                for at_us in self.times_us:
                    shown = self.shown(system, cache, at_us)
                    row = {
                        "system": NAMES[system],
                        "cache": cache,
                        "at": moment(at_us).isoformat(),
                        "add_successful": shown.full,
                        "retrieval_successful": shown.resumed,
                        "reset": shown.reset.isoformat() if shown.reset else None,
                    }
                    if before is not None:
                        edges = self._edges[:-1]
                        between = (edges >= before) & (edges < at_us)
                        since = self._counts[system - CLIENTS, number][:, between].sum(axis=1)
                        row["handshakes_since_display"] = dict(
                            zip(("full", "resumed"), since.tolist(), strict=True)
                        )
                    rows.append(row)
                    before = at_us
        return rows


@dataclass
class Displays:
    """Captures what systems would have shown at certain times, and puts the captures into files."""

    scene: Scene
    caches: Caches
    prefixes: NDArray[np.uint8]
    _sessions: list[ReportFile] = field(default_factory=list)
    _seen: dict[int, list[Moment]] = field(default_factory=dict)
    """By time, what is open on the servers when caches are displayed."""
    _console: list[tuple[int, list[str]]] = field(default_factory=list)

    def day(self, links: Links, begin_us: int) -> None:
        """Look at the connections of a day at the times of displays in it."""
        at_us = begin_us + _NETSTAT_AT_US
        for system in range(len(NAMES)):
            if not self.in_traffic(begin_us):
                break
            now = self._moment(links, system, at_us)
            level, log = SYSTEMS[system].level, Log(NAMES[system], CLOCK.local(now.at_utc), 612, "OPER01")
            fewer = Moment(now.system, now.at_utc, now.open[:_MOST_SHOWN], now.closing[:_MOST_SHOWN])
            self._sessions.append(shell_session(fewer, CLOCK, level, LISTENING))
            if begin_us == self.caches.recipe.start_us:
                lines = [
                    line
                    for name, reply in console_displays(fewer, level, LISTENING)
                    for line in (log.command(f"D TCPIP,,NETSTAT,{name}"), *log.reply(reply))
                ]
                self._console.append((at_us, lines))
        for time in self.caches.times_us:
            if begin_us <= time < begin_us + DAY_US:
                self._seen[time] = [self._moment(links, s, time) for s in range(CLIENTS, len(NAMES))]

    def in_traffic(self, begin_us: int) -> bool:
        """Whether a day is one of background traffic."""
        return begin_us < self.caches.recipe.day_us(self.caches.recipe.days)

    def files(self) -> Iterator[ReportFile]:
        """All captures: a z/OS UNIX session for each system and day, and one log of all systems."""
        yield from self._sessions
        clocks = dict.fromkeys(NAMES, CLOCK)
        parts = list(self._console)
        for at_us in self.caches.times_us:
            at = moment(at_us)
            counted = {
                (NAMES[system], tls13, at): self.caches.shown(system, cache, at_us)
                for system in range(CLIENTS, len(NAMES))
                for cache, tls13 in CACHES.items()
            }
            nobody = [Moment(name, at, [], []) for name in NAMES[CLIENTS:]]
            parts.append((at_us, cache_displays(at, self._seen.get(at_us, nobody), clocks, counted)))
        parts.sort(key=lambda part: part[0])
        first = Log(NAMES[0], CLOCK.local(moment(parts[0][0]))).reply([LABEL])
        lines = [*first, *(line for _, part in parts for line in part)]
        yield ReportFile("syslog.txt", as_bytes(lines), "SYSLOG of all systems: GSKSRVR caches, NETSTAT")

    def _moment(self, links: Links, system: int, at_us: int) -> Moment:
        lately = (links["start"] <= at_us) & (links["end"] > at_us - CLOSED_S * 1_000_000)
        seen = side(links[lately], system, self.prefixes)
        rows = [self._row(one) for one in seen]
        at = moment(at_us)
        still = [row["end_utc"] > at for row in rows]
        opened = [row for row, there in zip(rows, still, strict=True) if there]
        return Moment(
            NAMES[system], at, opened, [row for row, there in zip(rows, still, strict=True) if not there]
        )

    def _row(self, one: Any) -> dict[str, Any]:  # noqa: ANN401 - a row of a structured array
        """A connection as the rows of decoded zERT records tell it."""
        cast = self.scene.cast
        owner = cast.applications[int(one["application"])]
        here = ADDRESSES[int(local_address(one["system"], one["application"]))]
        shaken = owner.protection == "tls" and one["handshake"] in {FULL, ABBREVIATED}
        suite = SUITES[int(one["suite"])] if shaken else None
        length = int(one["session_length"])
        ours, theirs = (int(owner.port), int(one["partner_port"]))
        local_port, remote_port = (theirs, ours) if owner.calls_out else (ours, theirs)
        return {
            "system": NAMES[int(one["system"])], "stack": STACK, "job_name": owner.job, "user_id": owner.user,
            "connection_id": int(one["connection_id"]), "local_ip": here, "local_port": local_port,
            "remote_ip": ADDRESSES[int(one["partner"])], "remote_port": remote_port,
            "start_utc": moment(int(one["start"])), "end_utc": moment(int(one["end"])),
            "in_bytes": int(one["in_bytes"]), "out_bytes": int(one["out_bytes"]),
            "tls_version": suite.version if suite else None, "cipher": suite.code if suite else None,
            "session_id": one["session"].tobytes()[:length].hex().upper() if length else None,
            "handshake_role": owner.role,
        }  # fmt: skip
