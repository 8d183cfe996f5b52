"""Write a whole world day by day, so that memory contains one day and what lasts longer."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from contextlib import ExitStack
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.samples.dump.manifest import ExpectedCounts, positive
from zscope.samples.dump.output import HashingWriter, PieceWriter, packed
from zscope.samples.dump.recipe import microseconds
from zscope.samples.dump.records.connection_records import zert_switched
from zscope.samples.reports.files import write_files
from zscope.samples.reports.runs_file import RUNS, runs_toml
from zscope.samples.world.benchmark_runs import (
    RUN_SYSTEMS,
    ipls_of_runs,
    night_connections,
    planned_runs,
)
from zscope.samples.world.cpu_time import CpuTimeGrid
from zscope.samples.world.dumps import BEGINS, CEASES, SystemDump, WorldSummary, connection_records
from zscope.samples.world.expected import (
    ConnectionPrices,
    DayCounts,
    expected_cpu,
    expected_runs,
    expected_spaces,
    role_of,
)
from zscope.samples.world.icsf import icsf_records
from zscope.samples.world.policy import Messages, policy_files
from zscope.samples.world.services import ADDRESSES, world_context
from zscope.samples.world.stack_statistics import StackStatistics
from zscope.samples.world.traffic import Traffic, other_work, other_work_of_connection
from zscope.samples.world.user_files import (
    README,
    TRANSACTIONS,
    Transactions,
    readme,
    world_runs,
)
from zscope.samples.world.workload import WORKLOAD_SYSTEM, WorkloadRecords, captured_time
from zscope.samples.world.workload_report import LISTED_SYSTEM, workload_listing, workload_report
from zscope.samples.world.world_connections import (
    Numbering,
    WorldConnections,
    seen_by,
    session_prefixes,
)
from zscope.samples.world.world_displays import Caches, Displays, local_clock
from zscope.samples.world.world_recipe import (
    CLIENTS,
    DAY_US,
    INTERVAL_MINUTES,
    INTERVALS_A_DAY,
    MINUTE_US,
    NAMES,
    NIGHTS,
    RUN_INTERVAL_MINUTES,
    SYSTEMS,
    moment,
)
from zscope.samples.world.world_rmf import PROCESSORS, Coverage, RmfFiles, measured_minutes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from zscope.samples.dump.assemble import SmfBatch
    from zscope.samples.reports.files import ReportFile
    from zscope.samples.world.world_recipe import WorldRecipe


MANIFEST = "manifest.json"
_PACKED_FROM_BYTES = 100_000
"""Reports and displays from this size on are packed as the dumps are."""
SLICE_CONNECTIONS = 20_000
"""Number of connections whose records are generated at once."""


def write_world(recipe: WorldRecipe, folder: Path, progress: Callable[[str], None]) -> dict[str, Any]:
    """Write a world into a folder and return its manifest; `progress` gets a line for each file."""
    (folder / "smf").mkdir(parents=True, exist_ok=True)
    world = _World(recipe)
    ending = ".smf.gz" if recipe.packing == "gzip" else ".smf"
    with ExitStack() as stack:
        for system, name in enumerate(NAMES):
            path = folder / "smf" / f"{name}{ending}"
            file = HashingWriter(stack.enter_context(path.open("wb")))
            writer = PieceWriter(stack.enter_context(packed(recipe.packing, file)))
            world.dumps.append(SystemDump(world.context, system, path, file, writer))
        world.write()
    files = {}
    for dump in world.dumps:
        files[f"smf/{dump.path.name}"] = contents = dump.expected_contents()
        progress(f"{dump.path}: {contents['records']:,} records, {contents['bytes']:,} bytes")
    files |= write_files(folder, world.others(), progress)
    manifest = world.manifest(files)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in manifest.items())
    (folder / MANIFEST).write_text(f"{{\n{lines}\n}}\n", encoding="ascii")
    return manifest


class _World:
    """A world while it is written."""

    def __init__(self, recipe: WorldRecipe) -> None:
        self.recipe = recipe
        self._runs = planned_runs(recipe)
        self._ipls = ipls_of_runs(self._runs)
        self.context = world_context(recipe, INTERVAL_MINUTES, self._ipls)
        self.dumps: list[SystemDump] = []
        self._cpu_time = CpuTimeGrid(
            recipe.cost, recipe.start_us, INTERVAL_MINUTES * MINUTE_US, recipe.days * INTERVALS_A_DAY,
            other_work(recipe), (recipe.seed, 40), following_us=other_work_of_connection(recipe),
        )  # fmt: skip
        self._night_cpu_time = [
            CpuTimeGrid(
                recipe.cost, recipe.day_us(recipe.days + number), RUN_INTERVAL_MINUTES * MINUTE_US,
                1_440 // RUN_INTERVAL_MINUTES, np.array(recipe.cost.quiet_base_us_per_s),
                (recipe.seed, 41, number),
                [run.factors for run in self._runs],
            )
            for number in range(NIGHTS)
        ]  # fmt: skip
        self._coverage = Coverage(recipe.days)
        added_at = recipe.processors_added_at
        added_us = microseconds(added_at) if added_at else None
        self._rmf_files = RmfFiles(self.context, self._cpu_time, added_us)
        self._workload = WorkloadRecords(self.context, self._cpu_time)
        self._prefixes = session_prefixes(np.random.default_rng([recipe.seed, 50]))
        self._caches = Caches(recipe, self._runs)
        self._displays = Displays(self.context, self._caches, self._prefixes)
        self._messages = Messages(self.context, self._prefixes)
        self._counts, self._recorded = DayCounts(), DayCounts()
        self._prices = ConnectionPrices(recipe.cost)
        self._transactions = Transactions(recipe)
        self._run_connections = WorldConnections()

    def write(self) -> None:
        """Write everything in the dumps, and collect counts."""
        traffic, numbering = Traffic(self.recipe), Numbering(self.recipe.connection_numbers)
        summary = WorldSummary(self.context, self.recipe.start_us, self.recipe.summary_us)
        for system, dump in enumerate(self.dumps):
            dump.add(summary.enabled(system))
        pending = WorldConnections()
        for day in range(self.recipe.days + (NIGHTS if self._runs else 0)):
            number = day - self.recipe.days
            connections = (
                traffic.day(day) if number < 0 else night_connections(self._runs, number, self.recipe.seed)
            )
            numbering.number(connections)
            self._take(connections, number)
            pending = WorldConnections.joined([pending, connections])
            self._day(pending, day, summary)
            self._displays.day(pending, self.recipe.day_us(day))
            pending = pending[pending.end >= self.recipe.day_us(day + 1)]
        assert not len(pending), "a connection ends after the end of the world"
        for dump in self.dumps:
            dump.finish()

    def _take(self, connections: WorldConnections, number: int) -> None:
        """Count new connections; numbers from 0 on are nights of runs."""
        self._counts.add(connections)
        self._recorded.add(connections[connections.times == 1])
        self._messages.add(connections)
        self._caches.add(connections)
        if number < 0:
            self._cpu_time.add(connections)
            self._prices.add(connections)
            self._transactions.add(connections)
        else:
            self._night_cpu_time[number].add(connections)
            self._run_connections = WorldConnections.joined([self._run_connections, connections])

    def _day(self, connections: WorldConnections, day: int, summary: WorldSummary) -> None:
        """Write the records of a day."""
        begin = self.recipe.day_us(day)
        for system, batch in self._rmf_records(day):
            self.dumps[system].add(batch)
        length = self.recipe.summary_us
        for start in range(begin, begin + DAY_US, length):
            # What began before the interval and is over by then adds nothing.
            alive = connections[(connections.end >= start) & (connections.start < start + length)]
            for dump, batch in zip(self.dumps, summary.interval(alive), strict=True):
                dump.add(batch)
        for at_us, event in self._switches():
            if begin <= at_us < begin + DAY_US:
                for system, dump in enumerate(self.dumps):
                    dump.add(zert_switched(self.context, 11, system, event, np.array([at_us])))
        slices = max(1, len(connections) // SLICE_CONNECTIONS)
        for system, dump in enumerate(self.dumps):
            seen = seen_by(connections, system, self._prefixes)
            if day < self.recipe.days:
                dump.add(StackStatistics(self.context, system).day(seen, begin))
            elif system in RUN_SYSTEMS.values():
                night = [run for run in self._runs if run.night == day - self.recipe.days]
                dump.add(StackStatistics(self.context, system).night(seen, night))
            if system >= CLIENTS and begin <= self._icsf_us[0] < begin + DAY_US:
                dump.add(icsf_records(self.context, system, seen, self._icsf_us))
            for part in range(slices):
                first, last = (begin + DAY_US * at // slices for at in (part, part + 1))
                dump.add(connection_records(self.context, seen, first, last))
                dump.write_until(last)

    @property
    def _icsf_us(self) -> tuple[int, int]:
        """Start and end of the records of ICSF: the time of the connections that alone have records."""
        return self.recipe.recorded_us if self.recipe.recording == "counts" else (-1, -1)

    def _switches(self) -> list[tuple[int, int]]:
        """Return the times at which records of connections begin and cease."""
        if self.recipe.recording == "connections":
            return []
        first, after = self.recipe.recorded_us
        night = [(self.recipe.day_us(self.recipe.days), BEGINS)] if self._runs else []
        return [(first, BEGINS), (after, CEASES), *night]

    def _rmf_records(self, day: int) -> Iterator[tuple[int, SmfBatch]]:
        """Yield the records about the CPU time of a day, by system: SMF 70, 30 and 72."""
        number = day - self.recipe.days
        if number >= 0:
            cpu_time = self._night_cpu_time[number]
            files = RmfFiles(world_context(self.recipe, RUN_INTERVAL_MINUTES, self._ipls), cpu_time)
            for system, minutes in measured_minutes(self._runs, number, cpu_time).items():
                yield system, files.records(system, minutes)
            return
        intervals = range(day * INTERVALS_A_DAY, (day + 1) * INTERVALS_A_DAY)
        for system in range(len(NAMES)):
            covered = [interval for interval in intervals if self._coverage.has_record(system, interval)]
            yield system, self._rmf_files.records(system, covered)
            if system != WORKLOAD_SYSTEM:
                continue
            gap = self._coverage.gap
            yield (
                system,
                self._workload.make(
                    system, [n for n in intervals if system != gap.system or n not in gap.numbers]
                ),
            )

    def others(self) -> Iterator[tuple[str, bytes]]:
        """Yield the other files with their names in the folder."""
        reporting, listing = (local_clock(self.recipe, number) for number in (WORKLOAD_SYSTEM, LISTED_SYSTEM))
        reports: list[tuple[str, ReportFile]] = [
            *(("rmf", file) for file in self._rmf_files.reports(self._coverage)),
            *(("displays", file) for file in self._displays.files()),
            ("rmf", workload_report(self._cpu_time, reporting)),
            ("rmf", workload_listing(self._cpu_time, listing)),
            *(("policy", file) for file in policy_files(self.recipe)),
            *(("logs", file) for file in self._messages.files()),
        ]
        for folder, file in reports:
            if self.recipe.packing == "gzip" and len(file.content) > _PACKED_FROM_BYTES:
                yield f"{folder}/{file.name}.gz", gzip.compress(file.content, mtime=0)
            else:
                yield f"{folder}/{file.name}", file.content
        yield RUNS, runs_toml(world_runs(self._runs)).encode()
        yield TRANSACTIONS, self._transactions.csv(self._runs, self._run_connections).encode()
        yield README, readme(self.recipe).encode()

    def manifest(self, files: dict[str, Any]) -> dict[str, Any]:
        """Return the manifest."""
        expected = ExpectedCounts()
        for dump in self.dumps:
            expected.add(dump.expected)
        return {
            "synthetic": True,
            "notes": ["synthetic data, made by zscope; no record comes from a real system"],
            "zscope_version": version("zscope"),
            "recipe": self.recipe.to_json(),
            "seed": self.recipe.seed,
            "cost_model": self.recipe.cost.to_json(),
            "zone": self.recipe.zone,
            "systems": [
                {
                    "name": name,
                    "role": role_of(number),
                    "level": SYSTEMS[number].level,
                    "address": ADDRESSES[number],
                    "processors": PROCESSORS[role_of(number)],
                }
                for number, name in enumerate(NAMES)
            ],
            "distributed_address": ADDRESSES[-1],
            "files": files,
            "records_by_type": positive(Counter(expected.types)),
            "rows_by_table": positive(Counter(expected.tables)),
            "days": self._counts.plain(),
            "recorded": {
                "from": moment(self.recipe.recorded_us[0]).isoformat(),
                "to": moment(self.recipe.recorded_us[1]).isoformat(),
                "days": self._recorded.plain(),
            },
            "policy_changed": (
                moment(self.recipe.day_us(self.recipe.change_day)).isoformat()
                if self.recipe.change_day < self.recipe.days
                else None
            ),
            "connection_cpu": self._prices.plain(),
            "address_spaces": {
                NAMES[WORKLOAD_SYSTEM]: expected_spaces(
                    captured_time(self._cpu_time, WORKLOAD_SYSTEM, range(self._cpu_time.count))
                )
            },
            "costs": self._prices.costs(self._cpu_time),
            **expected_cpu(self._cpu_time, self._night_cpu_time, self._coverage),
            "gsksrvr": self._caches.expected(),
            "runs": expected_runs(self._runs, self._run_connections, self._night_cpu_time, self.recipe.seed),
        }
