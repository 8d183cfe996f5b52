"""The TLS CPU cost from dumps with faults: its range contains the truth, or it is withheld with the reason.

`docs/trust.md` contains the table of faults and answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.pipelines.stores import load
from tests.samples.world_reading import SLOW, write

from zscope.pipelines.ingest import IngestOptions, row_selection
from zscope.pipelines.metrics.narrowing import prepare
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.samples.world import WorldRecipe
from zscope.samples.world.faults import (
    CLOSED,
    DETAIL,
    OPENED,
    RMF_CPU,
    STACK,
    STACK_PROTOCOLS,
    TCPIP,
    Change,
    late_intervals,
    lost_ends,
    lost_hours,
    of_system,
    only_details_of,
    with_faults,
    with_lost_data,
    without,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

pytestmark = pytest.mark.deep
SYSTEMS = ("CLI1", "SRV1")
"""A system with LPAR CPU time alone, and one with SMF 30."""
DAYS = 7
USUAL = WorldRecipe(days=DAYS, connections_per_hour=60, runs="none", cost=SLOW)
AUTUMN = replace(
    USUAL,
    start=datetime(2026, 10, 21, 22, tzinfo=UTC),
    zone="Europe/Berlin",
    holidays=(1,),
    processors_added_at=datetime(2026, 10, 26, 12, 30, tzinfo=UTC),
)
"""A holiday, a day on which the clock shows an hour twice, and one on which processors are added."""
ZONES = {"CLI1": "+05:30", "SRV1": "-05:00"}
SEVEN_MINUTES = replace(
    USUAL, start=datetime(2026, 3, 9, 0, 7, tzinfo=UTC), zones=ZONES, connection_numbers=500
)
"""Intervals that begin seven minutes after the quarter hour, and connection numbers that are used again."""
DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "trust.md"


def at(day: int, hour: int, minute: int = 0) -> datetime:
    """Return a local time of March 2026."""
    return datetime(2026, 3, day, hour, minute)  # noqa: DTZ001


HOURS = [at(day, hour) for day in (10, 11, 12) for hour in (9, 10, 11)]
HALF_OF_THE_HOURS = [at(day, hour) for day in range(9, 16) for hour in range(8, 21)]
LOST_DATA = with_lost_data([(at(day, 9), at(day, 12), 500) for day in (10, 11, 12)])
NO_COUNTERS = without((TCPIP, STACK), (TCPIP, STACK_PROTOCOLS))
SINGLE = without((TCPIP, OPENED), (TCPIP, CLOSED), (TCPIP, DETAIL))


@dataclass(frozen=True)
class Fault:
    """What is wrong with the dumps of a world, or special about it."""

    changes: tuple[Change, ...] = ()
    world: WorldRecipe = USUAL
    sysplexes: Mapping[str, str] = field(default_factory=dict)
    """The sysplexes of systems that all have the same SMFID."""

    def name(self, system: str) -> str:
        """Return the name that the system has in the store."""
        return f"{self.sysplexes[system]}.{SHARED}" if self.sysplexes else system

    def dump(self, system: str, content: bytes) -> bytes:
        """Return the dump of a system with the fault."""
        renamed = (of_system(system, SHARED, sysplex=self.sysplexes[system]),) if self.sysplexes else ()
        return with_faults(content, *self.changes, *renamed)

    @property
    def zones(self) -> list[str]:
        """The option `--timezone` for it."""
        return [self.world.zone, *(f"{system}={zone}" for system, zone in self.world.zones.items())]


SHARED = "SYSX"
HALF_A_MINUTE, FIVE_MINUTES = "clock of SMF 70 half a minute late", "clock of SMF 70 five minutes late"
FAULTS = {
    "none": Fault(),
    "SMF 119 of three hours on three days lost": Fault((lost_hours(HOURS),)),
    "so, with type 7 records": Fault((lost_hours(HOURS), LOST_DATA)),
    "so, with type 7 records, without 119-5": Fault((lost_hours(HOURS), LOST_DATA, NO_COUNTERS)),
    "so, without type 7 records and 119-5": Fault((lost_hours(HOURS), NO_COUNTERS)),
    "SMF 119 of thirteen hours on each day lost": Fault((lost_hours(HALF_OF_THE_HOURS),)),
    "SMF 70 of three hours on three days lost": Fault((lost_hours(HOURS, record_type=RMF_CPU),)),
    "half of the ends of connections lost": Fault((lost_ends(0.5),)),
    "half of the ends lost, without 119-5": Fault((lost_ends(0.5), NO_COUNTERS)),
    "zERT summaries only": Fault((SINGLE,)),
    "zERT details of a quarter of an hour only": Fault((only_details_of(at(12, 10), at(12, 10, 15)),)),
    HALF_A_MINUTE: Fault((late_intervals(timedelta(seconds=30)),)),
    "clock of SMF 70 a minute late": Fault((late_intervals(timedelta(minutes=1)),)),
    FIVE_MINUTES: Fault((late_intervals(timedelta(minutes=5)),)),
    "the same SMFID in two sysplexes": Fault(sysplexes={"CLI1": "PLEX1", "SRV1": "PLEX2"}),
    "a holiday, an hour twice in autumn, processors added": Fault(world=AUTUMN),
    "+05:30 and -05:00, intervals at minute 7, numbers of connections used again": Fault(world=SEVEN_MINUTES),
}


WITHOUT_LOSS = (
    "none",
    "SMF 70 of three hours on three days lost",
    *(fault for fault in FAULTS if fault.startswith("clock of SMF 70")),
    *(fault for fault, each in FAULTS.items() if each.sysplexes or each.world != USUAL),
)
"""Faults that lose no handshake."""
WITHOUT_DETAILS = ("zERT summaries only", "zERT details of a quarter of an hour only")
FEW = 100


@dataclass(frozen=True)
class Answer:
    """What zscope says about a system, and the truth."""

    fault: str
    system: str
    price: dict[str, Any]
    full: int
    handshakes: int
    unprotected: int
    connections: int
    intervals: int
    cpu_s: float
    truth_s: float
    truth: dict[str, int]
    """Connections by what their handshake was."""
    truth_cpu_s: list[float]

    @property
    def true_handshakes(self) -> int:
        """Full and resumed handshakes of the world."""
        return self.truth["full"] + self.truth["abbreviated"]

    @property
    def row(self) -> str:
        """The row of the table in the documents."""
        answer = (
            f"{self.price['low']:,.0f} to {self.price['high']:,.0f} s"
            if self.price["high"] is not None
            else f"not enough data: {self.price['why'].split(';')[0]}"
        )
        return (
            f"| {self.fault} | {self.system} | {self.truth_s:,.0f} s | {answer} | "
            f"{self.price['covered_pct']:.0f} % |"
        )


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[WorldRecipe, Path, dict[str, Any]]]:
    """Each world with its folder and its manifest."""
    recipes = (USUAL, AUTUMN, SEVEN_MINUTES)
    folders = [tmp_path_factory.mktemp("world") for _ in recipes]
    return [(recipe, folder, write(recipe, folder)) for recipe, folder in zip(recipes, folders, strict=True)]


@pytest.fixture(scope="module")
def answers(
    worlds: list[tuple[WorldRecipe, Path, dict[str, Any]]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[Answer]]:
    """The answers of each fault, by its name."""
    found = {}
    for name, fault in FAULTS.items():
        [(world, manifest)] = [(path, made) for recipe, path, made in worlds if recipe == fault.world]
        options = IngestOptions(selection=row_selection(None), settings=Settings().merge(fault.zones))
        folder = tmp_path_factory.mktemp("fault")
        for system in SYSTEMS:
            content = (world / "smf" / f"{system}.smf").read_bytes()
            (folder / f"{system}.smf").write_bytes(fault.dump(system, content))
        load(folder / "store", *(folder / f"{system}.smf" for system in SYSTEMS), how=options)
        with open_reader(folder / "store") as connection:
            prepare(connection, ["tls_price", "handshake_mix", "tls_posture", "cpu_interval"])
            found[name] = [answer(name, system, connection, manifest) for system in SYSTEMS]
    return found


def answer(fault: str, system: str, connection: DuckDBPyConnection, manifest: dict[str, Any]) -> Answer:
    shown = FAULTS[fault].name(system)
    (price,) = (
        connection.execute(
            """SELECT low_cpu_s_per_day AS low, high_cpu_s_per_day AS high, covered_pct, status,
                why, sentence
            FROM tls_price WHERE system = ? AND shared_by = 'system' AND part = 'TLS'""",
            [shown],
        )
        .to_arrow_table()
        .to_pylist()
    )
    full, resumed = counts_of(
        connection, "sum(full_handshakes), sum(resumed_handshakes)", "handshake_mix", shown
    )
    unprotected, connections = counts_of(
        connection, "sum(unprotected_connections), sum(connections)", "tls_posture", shown
    )
    intervals, cpu_us = counts_of(
        connection, "count(*), round(1000000 * sum(cpu_s))::BIGINT", "cpu_interval", shown
    )
    days = [day["handshakes"] for day in manifest["days"][system].values() if "handshakes" in day]
    truth = {
        kind: sum(day.get(kind, 0) for day in days) for kind in ("full", "abbreviated", "failed", "none")
    }
    seconds = sum(sum(job["cpu_s"].values()) for job in manifest["connection_cpu"][system].values())
    return Answer(
        fault=fault,
        system=shown,
        price=price,
        full=full,
        handshakes=full + resumed,
        unprotected=unprotected,
        connections=connections,
        intervals=intervals,
        cpu_s=cpu_us / 1e6,
        truth_s=seconds / DAYS,
        truth=truth,
        truth_cpu_s=recorded_cpu_s(manifest, system),
    )


def counts_of(connection: DuckDBPyConnection, counts: str, metric: str, system: str) -> list[int]:
    """Return sums over the rows of a system."""
    row = connection.execute(f"SELECT {counts} FROM {metric} WHERE system = ?", [system]).fetchone()
    return [each or 0 for each in row or ()]


def recorded_cpu_s(manifest: dict[str, Any], system: str) -> list[float]:
    """Return the CPU time of each interval of a system that has an SMF 70 record."""
    start = datetime.fromisoformat(manifest["recipe"]["start"])
    seconds = list(manifest["cpu_intervals_s"][system])
    for gap in manifest["rmf"]["no_smf70"]:
        if gap["system"] == system:
            first = (datetime.fromisoformat(gap["from"]) - start) // timedelta(minutes=15)
            seconds[first : first + gap["intervals"]] = [0.0] * gap["intervals"]
    return [each for each in seconds if each]


@pytest.mark.parametrize("fault", FAULTS)
def test_range_contains_the_truth_or_is_withheld(fault: str, answers: dict[str, list[Answer]]) -> None:
    for each in answers[fault]:
        if each.price["status"] == "not enough data":
            assert each.price["high"] is None
            assert each.price["why"]
        else:
            assert each.price["low"] <= each.truth_s <= each.price["high"]


@pytest.mark.parametrize("fault", FAULTS)
def test_less_than_all_of_the_time_is_stated(fault: str, answers: dict[str, list[Answer]]) -> None:
    for each in answers[fault]:
        if each.price["status"] != "not enough data":
            states = "the data cover" in each.price["sentence"]
            assert states == (each.price["covered_pct"] < 95)


@pytest.mark.parametrize("fault", FAULTS)
def test_shares_are_those_of_the_world(fault: str, answers: dict[str, list[Answer]]) -> None:
    """Within a point, or what chance explains in the few handshakes that a loss leaves."""
    for each in answers[fault]:
        if each.handshakes < FEW:
            assert fault in WITHOUT_DETAILS
            continue
        by_chance = 3 * 50 / sqrt(each.handshakes) if fault not in WITHOUT_LOSS else 0
        true_full_pct = 100 * each.truth["full"] / each.true_handshakes
        assert 100 * each.full / each.handshakes == pytest.approx(true_full_pct, abs=max(1, by_chance))


@pytest.mark.parametrize("fault", WITHOUT_LOSS)
def test_sums_are_those_of_the_world(fault: str, answers: dict[str, list[Answer]]) -> None:
    for each in answers[fault]:
        assert each.handshakes == each.true_handshakes
        assert each.full == each.truth["full"]
        assert (each.unprotected, each.connections) == (each.truth["none"], sum(each.truth.values()))
        if fault != "SMF 70 of three hours on three days lost":
            assert each.intervals == len(each.truth_cpu_s)
            assert each.cpu_s == pytest.approx(sum(each.truth_cpu_s), abs=0.01)


def test_clocks_that_differ_are_named(answers: dict[str, list[Answer]]) -> None:
    """Half a minute is less than the method can see."""
    for fault, differ in (("none", False), (HALF_A_MINUTE, False), (FIVE_MINUTES, True)):
        for each in answers[fault]:
            assert ("the clocks of SMF 119 and SMF 70 differ by about" in each.price["why"]) == differ


def test_document_has_the_table(answers: dict[str, list[Answer]]) -> None:
    table = [each.row for of_fault in answers.values() for each in of_fault]
    document = DOCUMENT.read_text(encoding="utf-8").splitlines()
    (header,) = (number for number, line in enumerate(document) if line.startswith("| fault |"))
    assert document[header + 2 : header + 2 + len(table)] == table
