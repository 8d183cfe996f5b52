"""The price of TLS from dumps with faults: its range contains the truth, or it is withheld with the reason.

`docs/data-quality.md` contains the table of faults and answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from tests.pipelines.stores import load
from tests.samples.world_reading import SLOW, write

from zscope.pipelines.ingest import IngestOptions, row_selection
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.samples.world import ZONE, WorldRecipe
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
    only_details_of,
    with_faults,
    with_lost_data,
    without,
)

pytestmark = pytest.mark.deep
SYSTEMS = ("CLI1", "SRV1")
"""A system with LPAR CPU time alone, and one with SMF 30."""
DAYS = 7
DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "data-quality.md"


def at(day: int, hour: int, minute: int = 0) -> datetime:
    """Return a local time of March 2026."""
    return datetime(2026, 3, day, hour, minute)  # noqa: DTZ001


HOURS = [at(day, hour) for day in (10, 11, 12) for hour in (9, 10, 11)]
HALF_OF_THE_HOURS = [at(day, hour) for day in range(9, 16) for hour in range(8, 21)]
LOST_DATA = with_lost_data([(at(day, 9), at(day, 12), 500) for day in (10, 11, 12)])
NO_COUNTERS = without((TCPIP, STACK), (TCPIP, STACK_PROTOCOLS))
SINGLE = without((TCPIP, OPENED), (TCPIP, CLOSED), (TCPIP, DETAIL))
FAULTS: Mapping[str, Sequence[Change]] = {
    "none": (),
    "SMF 119 of three hours on three days lost": (lost_hours(HOURS),),
    "so, with type 7 records": (lost_hours(HOURS), LOST_DATA),
    "so, with type 7 records, without 119-5": (lost_hours(HOURS), LOST_DATA, NO_COUNTERS),
    "so, without type 7 records and 119-5": (lost_hours(HOURS), NO_COUNTERS),
    "SMF 119 of thirteen hours on each day lost": (lost_hours(HALF_OF_THE_HOURS),),
    "SMF 70 of three hours on three days lost": (lost_hours(HOURS, record_type=RMF_CPU),),
    "half of the ends of connections lost": (lost_ends(0.5),),
    "half of the ends lost, without 119-5": (lost_ends(0.5), NO_COUNTERS),
    "zERT summaries only": (SINGLE,),
    "zERT details of a quarter of an hour only": (only_details_of(at(12, 10), at(12, 10, 15)),),
    "clock of SMF 70 a minute late": (late_intervals(timedelta(minutes=1)),),
}


WITHOUT_LOSS = ("none", "SMF 70 of three hours on three days lost", "clock of SMF 70 a minute late")
"""Faults that lose no handshake."""
WITHOUT_DETAILS = ("zERT summaries only", "zERT details of a quarter of an hour only")
FEW = 100


@dataclass(frozen=True)
class Answer:
    """What zscope says about a system, and the truth."""

    fault: str
    system: str
    price: dict[str, Any]
    resumed_pct: float | None
    handshakes: int
    truth_s: float
    truth_resumed_pct: float
    truth_handshakes: int

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
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("faulty")
    recipe = WorldRecipe(days=DAYS, connections_per_hour=60, runs="none", cost=SLOW)
    return folder / "smf", write(recipe, folder)


@pytest.fixture(scope="module")
def answers(
    world: tuple[Path, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[Answer]]:
    """The answers of each fault, by its name."""
    dumps, manifest = world
    options = IngestOptions(selection=row_selection(None), settings=Settings().merge([ZONE]))
    found = {}
    for fault, changes in FAULTS.items():
        folder = tmp_path_factory.mktemp("fault")
        for system in SYSTEMS:
            content = (dumps / f"{system}.smf").read_bytes()
            (folder / f"{system}.smf").write_bytes(with_faults(content, *changes))
        load(folder / "store", *(folder / f"{system}.smf" for system in SYSTEMS), how=options)
        found[fault] = [answer(fault, system, folder / "store", manifest) for system in SYSTEMS]
    return found


def answer(fault: str, system: str, store: Path, manifest: dict[str, Any]) -> Answer:
    with open_reader(store) as connection:
        (price,) = (
            connection.execute(
                """SELECT low_cpu_s_per_day AS low, high_cpu_s_per_day AS high, covered_pct, status,
                    why, sentence
                FROM tls_price WHERE system = ? AND shared_by = 'system' AND part = 'TLS'""",
                [system],
            )
            .to_arrow_table()
            .to_pylist()
        )
        full, resumed = connection.execute(
            """SELECT coalesce(sum(full_handshakes), 0)::BIGINT, coalesce(sum(resumed_handshakes), 0)::BIGINT
            FROM handshake_mix WHERE system = ?""",
            [system],
        ).fetchone() or (0, 0)
    days = [day["handshakes"] for day in manifest["days"][system].values() if "handshakes" in day]
    true_full = sum(day.get("full", 0) for day in days)
    true_resumed = sum(day.get("abbreviated", 0) for day in days)
    seconds = sum(sum(job["cpu_s"].values()) for job in manifest["connection_cpu"][system].values())
    return Answer(
        fault,
        system,
        price,
        100 * resumed / (full + resumed) if full + resumed else None,
        full + resumed,
        seconds / DAYS,
        100 * true_resumed / (true_full + true_resumed),
        true_full + true_resumed,
    )


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
def test_share_of_resumed_handshakes_is_that_of_the_world(
    fault: str, answers: dict[str, list[Answer]]
) -> None:
    """Within a point, or what chance explains in the few handshakes that a loss leaves."""
    for each in answers[fault]:
        if fault in WITHOUT_LOSS:
            assert each.handshakes == each.truth_handshakes
        if each.handshakes < FEW:
            assert fault in WITHOUT_DETAILS
        else:
            by_chance = 3 * 50 / sqrt(each.handshakes) if fault not in WITHOUT_LOSS else 0
            assert each.resumed_pct == pytest.approx(each.truth_resumed_pct, abs=max(1, by_chance))


def test_document_has_the_table(answers: dict[str, list[Answer]]) -> None:
    table = [each.row for of_fault in answers.values() for each in of_fault]
    document = DOCUMENT.read_text(encoding="utf-8").splitlines()
    (header,) = (number for number, line in enumerate(document) if line.startswith("| fault |"))
    assert document[header + 2 : header + 2 + len(table)] == table
