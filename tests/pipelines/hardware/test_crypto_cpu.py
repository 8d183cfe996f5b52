"""address_space_crypto_cpu in generated worlds, written byte by byte, whose CPACF cycles are known by job."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tests.parsers.smf.records.hardware_counters import (
    BASIC,
    BEGIN,
    CRYPTO,
    QUARTER,
    HisRecord,
    clock,
    ebcdic,
)
from tests.parsers.smf.records.test_smf30 import (
    counters,
    identification,
    performance,
    processor,
    product,
    record,
)

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

WORLDS, QUARTERS, CPS, ZIIPS = 100, 4, 3, 1
SPEEDS = {0: 5_200, 4: 5_500}
AES, SHA, ECC = "AES", "hashing", "elliptic curves"
FIRST_OF_SET = {"random numbers": 0, SHA: 4, "DES and 3DES": 8, AES: 12, ECC: 16}
"""Place of the calls of a group among the crypto counters; its cycles follow."""
FUNCTIONS = {
    "TCPIP": {30: (AES, "TLS"), 32: (AES, "TLS"), 73: (SHA, "any"), 119: (ECC, "TLS"), 124: (ECC, "TLS")},
    "MQCHIN": {32: (AES, "TLS"), 83: (SHA, "any"), 119: (ECC, "TLS")},
    "REPORTS": {15: (AES, "data at rest"), 16: (AES, "data at rest")},
}
"""Group and purpose of the counters of each job."""
Row = tuple[str, str, str, str]
"""System, job, group, purpose."""


def system_of(world: int) -> str:
    return f"W{world:03}"


@dataclass
class CryptoWorlds:
    """The records of many systems for an hour, and the truth about each."""

    records: list[bytes] = field(default_factory=list)
    truth_s: dict[Row, float] = field(default_factory=lambda: defaultdict(float))
    share: dict[str, float] = field(default_factory=dict)

    def add(self, world: int, luck: Random) -> None:
        """Add a world: each function of a job has its own length of texts, and so its own cycles per call."""
        system = system_of(world)
        cost = {
            (job, number): self._cycles(luck, group)
            for job, functions in FUNCTIONS.items()
            for number, (group, _) in functions.items()
        }
        total = crypto = 0
        for quarter in range(QUARTERS):
            start = BEGIN + quarter * QUARTER
            made: list[tuple[str, int, float]] = []
            for job, functions in FUNCTIONS.items():
                counts = {number: int(10 ** luck.uniform(3, 6)) for number in functions}
                self.records.append(space(system, job, quarter, counts))
                for number, (group, purpose) in functions.items():
                    cycles = counts[number] * cost[job, number] * luck.uniform(0.9, 1.1)
                    made.append((group, counts[number], cycles))
                    self.truth_s[system, job, group, purpose] += cycles / SPEEDS[0] / 1e6
            for group in (AES, SHA, ECC):
                # What address spaces without records of SMF 30 did.
                calls = int(0.03 * sum(count for each, count, _ in made if each == group))
                made.append((group, calls, calls * self._cycles(luck, group)))
            for cpu in range(CPS + ZIIPS):
                kind = 0 if cpu < CPS else 4
                values = [0] * 20
                if kind == 0:
                    for group, count, cycles in made:
                        values[FIRST_OF_SET[group]] += count // CPS + (cpu < count % CPS)
                        values[FIRST_OF_SET[group] + 1] += int(cycles / CPS)
                busy = int(luck.uniform(0.2, 0.9) * 900e6 * SPEEDS[kind])
                if kind == 0:
                    total, crypto = total + busy, crypto + sum(values[1::4])
                self.records.append(
                    HisRecord(
                        {BASIC: [busy, busy // 2, 0, 0, 0, 0], CRYPTO: values}, system, start,
                        start + QUARTER, cpu=cpu, cpu_class=kind, speed=SPEEDS[kind],
                    ).subtype_1()
                )  # fmt: skip
        self.share[system] = 100 * crypto / total

    def _cycles(self, luck: Random, group: str) -> float:
        """Return the cycles of a call; some texts are longer or shorter than the ratio allows for."""
        if group == ECC:
            return 50_000 * 4 ** luck.uniform(0, 2)
        shortest, longest = (32, 65_536) if luck.random() < 0.1 else (256, 16_384)
        size = shortest * (longest / shortest) ** luck.random()
        return float(size * (0.4 if group == AES else 1.5))


def space(system: str, job: str, quarter: int, counts: dict[int, int]) -> bytes:
    """An interval of an address space."""
    start, end = (int.from_bytes(clock(BEGIN + number * QUARTER)) for number in (quarter, quarter + 1))
    written = record(2, {
        "product": (product(), 1),
        "identification": (identification(job, start, end), 1),
        "processor": (processor(60_000, 0), 1),
        "performance": (performance(), 1),
        "crypto": (counters(*counts.items()), len(counts)),
    })  # fmt: skip
    return written[:14] + ebcdic(system, 4) + written[18:]


@pytest.fixture(scope="module")
def worlds() -> CryptoWorlds:
    made = CryptoWorlds()
    luck = Random(113)
    for world in range(WORLDS):
        made.add(world, luck)
    return made


@pytest.fixture(scope="module")
def store(
    worlds: CryptoWorlds, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[duckdb.DuckDBPyConnection]:
    folder: Path = tmp_path_factory.mktemp("crypto-cpu")
    (folder / "dump.smf").write_bytes(b"".join(worlds.records))
    options = IngestOptions(selection=row_selection(None), settings=Settings().merge(["+00:00"]))
    ingest(folder / "store", [folder / "dump.smf"], options)
    with open_reader(folder / "store") as connection:
        yield connection


@pytest.fixture(scope="module")
def found(store: duckdb.DuckDBPyConnection) -> dict[Row, dict[str, Any]]:
    rows = store.execute("SELECT * FROM address_space_crypto_cpu").to_arrow_table().to_pylist()
    return {(row["system"], row["job_name"], row["crypto_group"], row["purpose"]): row for row in rows}


def test_the_truth_is_inside_the_ranges_of_95_of_100_rows(
    worlds: CryptoWorlds, found: dict[Row, dict[str, Any]]
) -> None:
    assert set(found) == set(worlds.truth_s)
    inside = [found[row]["low_s"] <= truth <= found[row]["high_s"] for row, truth in worlds.truth_s.items()]
    assert sum(inside) >= 0.95 * len(inside)


def test_the_lower_end_is_never_0_and_the_upper_end_never_all(found: dict[Row, dict[str, Any]]) -> None:
    """A range from nothing to everything would contain each truth."""
    assert all(0 < row["low_s"] < row["mean_s"] < row["high_s"] < row["group_s"] for row in found.values())


def test_the_mean_alone_is_far_from_the_truth_of_many(
    worlds: CryptoWorlds, found: dict[Row, dict[str, Any]]
) -> None:
    """The worlds need the range: a value without one would be wrong by half or more for every third row."""
    wrong = [abs(found[row]["mean_s"] / truth - 1) > 0.5 for row, truth in worlds.truth_s.items()]
    assert sum(wrong) > len(wrong) / 3


def test_what_was_on_general_purpose_processors_is_part_of_the_lower_end(
    found: dict[Row, dict[str, Any]],
) -> None:
    """The zIIP made no calls."""
    assert all(row["low_cp_s"] == pytest.approx(row["low_s"], rel=1e-9) for row in found.values())


def test_shares_of_cpacf_are_those_of_the_worlds(
    worlds: CryptoWorlds, store: duckdb.DuckDBPyConnection
) -> None:
    rows = store.execute(
        "SELECT system, 100 * sum(crypto_cycles) / sum(crypto_base_cycles) FROM crypto_share "
        "WHERE cpu_type = 'CP' GROUP BY system"
    ).fetchall()
    assert dict(rows) == pytest.approx(worlds.share, rel=0.01)
