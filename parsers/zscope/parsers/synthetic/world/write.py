"""Making a whole world: day by day, so that memory holds one day and what lasts longer."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.parsers.synthetic.manifest import Tally, positive
from zscope.parsers.synthetic.world.answers import Costs, DayCounts, role_of, run_answers
from zscope.parsers.synthetic.world.bench import night
from zscope.parsers.synthetic.world.cast import ADDRESSES, scene
from zscope.parsers.synthetic.world.cpu_answers import cpu_answers
from zscope.parsers.synthetic.world.displays import Caches, Displays
from zscope.parsers.synthetic.world.dumps import SystemDump
from zscope.parsers.synthetic.world.inputs import README, RUNS, TRANSACTIONS, Transactions, readme, runs_toml
from zscope.parsers.synthetic.world.links import LINK, Links, Numbering, session_prefixes, side
from zscope.parsers.synthetic.world.meter import Meter
from zscope.parsers.synthetic.world.plan import planned_runs
from zscope.parsers.synthetic.world.recipe import (
    CLIENTS,
    DAY_US,
    INTERVAL_MINUTES,
    INTERVALS_A_DAY,
    MINUTE_US,
    NAMES,
    NIGHTS,
    RUN_INTERVAL_MINUTES,
    SYSTEMS,
    ZONE,
)
from zscope.parsers.synthetic.world.records import ConnectionRecords
from zscope.parsers.synthetic.world.rmf import Coverage, RmfFiles, measured_minutes
from zscope.parsers.synthetic.world.summary import HOUR_US, WorldSummary
from zscope.parsers.synthetic.world.traffic import Traffic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zscope.parsers.synthetic.batch import Batch
    from zscope.parsers.synthetic.reports.files import ReportFile
    from zscope.parsers.synthetic.world.recipe import WorldRecipe

MANIFEST = "manifest.json"
SLICE_CONNECTIONS = 20_000
"""So many connections have their records made at once."""


def write_world(recipe: WorldRecipe, folder: Path, tell: Callable[[str], None]) -> dict[str, Any]:
    """Write a world into a folder, and say what is in it; `tell` hears of every file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("smf", "rmf", "displays"):
        (folder / name).mkdir(exist_ok=True)
    world = _World(recipe)
    ending = ".smf.gz" if recipe.packing == "gzip" else ".smf"
    with ExitStack() as stack:
        for system, name in enumerate(NAMES):
            dump = SystemDump(folder / "smf" / f"{name}{ending}", world.scene, system, recipe.packing)
            world.dumps.append(stack.enter_context(dump))
        world.write()
    made = {}
    for dump in world.dumps:
        made[f"smf/{dump.path.name}"] = answers = dump.answers()
        tell(f"{dump.path}: {answers['records']:,} records, {answers['bytes']:,} bytes")
    for name, content in world.others():
        (folder / name).write_bytes(content)
        made[name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        tell(f"{folder / name}: {len(content):,} bytes")
    manifest = world.answers(made)
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="ascii")
    return manifest


class _World:
    """A world while it is made."""

    def __init__(self, recipe: WorldRecipe) -> None:
        self.recipe = recipe
        self.scene = scene(recipe, INTERVAL_MINUTES)
        self.dumps: list[SystemDump] = []
        self._runs = planned_runs(recipe)
        self._meter = Meter(
            recipe.cost, recipe.start_us, INTERVAL_MINUTES * MINUTE_US, recipe.days * INTERVALS_A_DAY,
            recipe.cost.base_us_per_s, (recipe.seed, 40),
        )  # fmt: skip
        self._night_meters = [
            Meter(
                recipe.cost, recipe.day_us(recipe.days + number), RUN_INTERVAL_MINUTES * MINUTE_US,
                1_440 // RUN_INTERVAL_MINUTES, recipe.cost.quiet_base_us_per_s, (recipe.seed, 41, number),
                [run.factors for run in self._runs],
            )
            for number in range(NIGHTS)
        ]  # fmt: skip
        self._coverage = Coverage(recipe.days)
        self._prefixes = session_prefixes(np.random.default_rng([recipe.seed, 50]))
        self._caches = Caches(recipe, self._runs)
        self._displays = Displays(self.scene, self._caches, self._prefixes)
        self._counts, self._costs = DayCounts(), Costs(recipe.cost)
        self._transactions = Transactions(recipe)
        self._bench = np.zeros(0, LINK)

    def write(self) -> None:
        """Everything that goes into the dumps, and counts of it on the way."""
        traffic, numbering = Traffic(self.recipe), Numbering()
        summary = WorldSummary(self.scene, self.recipe.start_us)
        for system, dump in enumerate(self.dumps):
            dump.take(summary.enabled(system))
        pending = np.zeros(0, LINK)
        for day in range(self.recipe.days + (NIGHTS if self._runs else 0)):
            number = day - self.recipe.days
            links = traffic.day(day) if number < 0 else night(self._runs, number, self.recipe.seed)
            numbering.number(links)
            self._take(links, number)
            pending = np.concatenate([pending, links])
            self._day(pending, day, summary)
            self._displays.day(pending, self.recipe.day_us(day))
            pending = pending[pending["end"] >= self.recipe.day_us(day + 1)]
        assert not len(pending), "a connection goes on beyond the end of the world"

    def _take(self, links: Links, number: int) -> None:
        """Count new connections; from number 0 on it is a night."""
        self._counts.add(links)
        self._caches.add(links)
        if number < 0:
            self._meter.charge(links)
            self._costs.add(links)
            self._transactions.add(links)
        else:
            self._night_meters[number].charge(links)
            self._bench = np.concatenate([self._bench, links])

    def _day(self, links: Links, day: int, summary: WorldSummary) -> None:
        """The records of a day."""
        begin = self.recipe.day_us(day)
        for system, batch in self._rmf_records(day):
            self.dumps[system].take(batch)
        for hour in range(24):
            start = begin + hour * HOUR_US
            # What began before the hour and is over by then adds nothing.
            alive = links[(links["end"] >= start) & (links["start"] < start + HOUR_US)]
            for dump, batch in zip(self.dumps, summary.hour(alive), strict=True):
                dump.take(batch)
        maker, slices = ConnectionRecords(self.scene), max(1, len(links) // SLICE_CONNECTIONS)
        for system, dump in enumerate(self.dumps):
            seen = side(links, system, self._prefixes)
            for part in range(slices):
                first, last = (begin + DAY_US * at // slices for at in (part, part + 1))
                dump.take(maker.make(seen, first, last))
                dump.until(last)

    def _rmf_records(self, day: int) -> Iterator[tuple[int, Batch]]:
        """The SMF 70 records of a day, by system."""
        number = day - self.recipe.days
        if number >= 0:
            meter = self._night_meters[number]
            files = RmfFiles(scene(self.recipe, RUN_INTERVAL_MINUTES), meter)
            for system, minutes in measured_minutes(self._runs, number, meter).items():
                yield system, files.records(system, minutes)
            return
        intervals = range(day * INTERVALS_A_DAY, (day + 1) * INTERVALS_A_DAY)
        for system in range(len(NAMES)):
            told = [interval for interval in intervals if self._coverage.has_record(system, interval)]
            yield system, RmfFiles(self.scene, self._meter).records(system, told)

    def others(self) -> Iterator[tuple[str, bytes]]:
        """The other files, by their names in the folder."""
        reports: list[tuple[str, ReportFile]] = [
            *(("rmf", file) for file in RmfFiles(self.scene, self._meter).reports(self._coverage)),
            *(("displays", file) for file in self._displays.files()),
        ]
        for folder, file in reports:
            yield f"{folder}/{file.name}", file.content
        yield RUNS, runs_toml(self._runs).encode()
        yield TRANSACTIONS, self._transactions.csv(self._runs, self._bench).encode()
        yield README, readme(self.recipe).encode()

    def answers(self, files: dict[str, Any]) -> dict[str, Any]:
        """The manifest."""
        tally = Tally()
        for dump in self.dumps:
            tally.add(dump.tally)
        return {
            "synthetic": True,
            "notes": ["synthetic data, made by zscope; no record comes from a real system"],
            "zscope_version": version("zscope"),
            "recipe": self.recipe.to_json(),
            "seed": self.recipe.seed,
            "cost_model": self.recipe.cost.to_json(),
            "zone": ZONE,
            "systems": [
                {
                    "name": name,
                    "role": role_of(number),
                    "level": SYSTEMS[number].level,
                    "address": ADDRESSES[number],
                    "processors": "shared" if number < CLIENTS else "dedicated",
                }
                for number, name in enumerate(NAMES)
            ],
            "distributed_address": ADDRESSES[-1],
            "files": files,
            "records_by_type": positive(Counter(tally.types)),
            "rows_by_table": positive(Counter(tally.tables)),
            "days": self._counts.plain(),
            "costs": self._costs.plain(self._meter),
            **cpu_answers(self._meter, self._night_meters, self._coverage),
            "gsksrvr": self._caches.answers(),
            "runs": run_answers(self._runs, self._bench, self._night_meters),
        }
