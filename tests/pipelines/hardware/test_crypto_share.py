"""crypto_share of records with known cycles, written byte by byte: what is put in comes out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tests.parsers.smf.records.hardware_counters import BASIC, BEGIN, CRYPTO, LOST, QUARTER, HisRecord

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

ALGORITHMS = ("prng", "sha", "dea", "aes", "ecc")
CPS, ZIIP, SPEEDS = 3, 4, {0: 5_200, 4: 5_500}
LENGTH_US = 900_000_000
INTERVALS = 8
SUMMED = (
    "cycles", "instructions", "crypto_base_cycles", "lost_records", "first_records", "busy_s", "records",
    "crypto_cycles", *(f"{each}_cycles" for each in ALGORITHMS),
)  # fmt: skip
OLD, NEW, BOTH = "OLD1", "NEW1", "TWO1"
"""A system with 16 crypto counters, one with 20, and one that writes both subtypes for some intervals."""


@dataclass
class KnownWorld:
    """The records of three systems, and their sums by system and class of processors."""

    records: list[bytes] = field(default_factory=list)
    cycles: dict[tuple[str, int], int] = field(default_factory=lambda: defaultdict(int))
    crypto: dict[tuple[str, int, str], int] = field(default_factory=lambda: defaultdict(int))
    instructions: dict[tuple[str, int], int] = field(default_factory=lambda: defaultdict(int))

    def add(self, system: str, luck: Random) -> None:
        """Add all intervals of a system; in one of them the counters of a processor are lost."""
        for cpu in range(CPS + 1):
            kind = 0 if cpu < CPS else ZIIP
            sums = {BASIC: [0] * 6, CRYPTO: [0] * (16 if system == OLD else 20)}
            for interval in range(INTERVALS):
                lost = interval == 3 and cpu == 1
                counters = self._interval(luck, kind, len(sums[CRYPTO]))
                sums = {k: [a + b for a, b in zip(sums[k], counters[k], strict=True)] for k in sums}
                record = HisRecord(
                    counters, system, BEGIN + interval * QUARTER, BEGIN + (interval + 1) * QUARTER,
                    cpu=cpu, cpu_class=kind, speed=SPEEDS[kind], flags=LOST if lost else 0,
                    versions=(1, 3, 5 if system == OLD else 7),
                )  # fmt: skip
                # Of the last intervals of one system there is only subtype 2, and the first has a base.
                if not (system == BOTH and interval >= 4):
                    self.records.append(record.subtype_1())
                if system == BOTH and interval >= 2:
                    self.records.append(record.of(counters=sums, flags=0).subtype_2())
                if not lost:
                    self._count(system, kind, counters)

    def _interval(self, luck: Random, kind: int, crypto: int) -> dict[int, list[int]]:
        cycles = int(luck.uniform(0.05, 0.95) * LENGTH_US * SPEEDS[kind])
        values = []
        for _ in range(crypto // 4):
            busy = int(cycles * luck.uniform(0, 0.02))
            calls = busy // 1_500
            values += [calls, busy, calls // 400, calls // 400 * 200]
        return {BASIC: [cycles, int(cycles * 0.6), 1, 2, 3, 4], CRYPTO: values}

    def _count(self, system: str, kind: int, counters: dict[int, list[int]]) -> None:
        self.cycles[system, kind] += counters[BASIC][0]
        self.instructions[system, kind] += counters[BASIC][1]
        for number, algorithm in enumerate(ALGORITHMS[: len(counters[CRYPTO]) // 4]):
            self.crypto[system, kind, algorithm] += counters[CRYPTO][4 * number + 1]


@pytest.fixture(scope="module")
def known() -> KnownWorld:
    """The records."""
    made = KnownWorld()
    for system in (OLD, NEW, BOTH):
        made.add(system, Random(system))
    return made


@pytest.fixture(scope="module")
def store(known: KnownWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """A store with them, and with a second dump that repeats some."""
    folder: Path = tmp_path_factory.mktemp("counters")
    order = sorted(known.records, key=lambda record: (record[6:14], record))
    (folder / "first.smf").write_bytes(b"".join(order[:60]))
    (folder / "second.smf").write_bytes(b"".join(order[40:]))
    settings = Settings().merge(["+00:00"])
    for name in ("second.smf", "first.smf"):
        ingest(
            folder / "store", [folder / name], IngestOptions(selection=row_selection(None), settings=settings)
        )
    with open_reader(folder / "store") as connection:
        yield connection


def rows(store: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    sums = ", ".join(f"sum({name}) AS {name}" for name in SUMMED)
    found = store.execute(f"SELECT system, cpu_type, {sums} FROM crypto_share GROUP BY ALL ORDER BY ALL")
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def test_shares_are_those_of_the_world(known: KnownWorld, store: duckdb.DuckDBPyConnection) -> None:
    found = {(row["system"], {"CP": 0, "zIIP": ZIIP}[row["cpu_type"]]): row for row in rows(store)}
    assert set(found) == set(known.cycles)
    for (system, kind), row in found.items():
        cycles = known.cycles[system, kind]
        assert row["cycles"] == row["crypto_base_cycles"] == pytest.approx(cycles, rel=1e-12)
        assert row["busy_s"] == pytest.approx(cycles / SPEEDS[kind] / 1e6, rel=1e-9)
        assert row["instructions"] == pytest.approx(known.instructions[system, kind], rel=1e-12)
        for algorithm in ALGORITHMS:
            truth = known.crypto.get((system, kind, algorithm))
            expected = None if truth is None else pytest.approx(truth, rel=1e-12)
            assert row[f"{algorithm}_cycles"] == expected, algorithm
        share = (
            100 * sum(known.crypto[key] for key in list(known.crypto) if key[:2] == (system, kind)) / cycles
        )
        assert 100 * row["crypto_cycles"] / row["crypto_base_cycles"] == pytest.approx(share, rel=0.01)


def test_lost_counters_are_counted_and_not_used(store: duckdb.DuckDBPyConnection) -> None:
    lost = {(row["system"], row["cpu_type"]): row["lost_records"] for row in rows(store)}
    assert lost == {
        (system, kind): int(kind == "CP") for system in (OLD, NEW, BOTH) for kind in ("CP", "zIIP")
    }
    assert {row["first_records"] for row in rows(store)} == {0}


def test_each_interval_counts_once_and_differences_only_without_subtype_1(
    store: duckdb.DuckDBPyConnection,
) -> None:
    found = store.execute(
        "SELECT source, count(DISTINCT interval_start_utc), sum(records) FROM crypto_share "
        f"WHERE system = '{BOTH}' AND cpu_type = 'CP' GROUP BY source ORDER BY source"
    ).fetchall()
    assert found == [("SMF 113-1", 4, 4 * CPS), ("SMF 113-2", 4, 4 * CPS)]


def test_a_repeated_record_counts_once(known: KnownWorld, store: duckdb.DuckDBPyConnection) -> None:
    [(processors,)] = store.execute("SELECT count(*) FROM smf113_processor").fetchall()
    assert processors == len(known.records)


def test_the_first_total_of_a_run_has_no_difference(store: duckdb.DuckDBPyConnection) -> None:
    found = store.execute(
        "SELECT interval_end_utc, basis, count(counter_value) FROM smf113_counter "
        "WHERE record_subtype = 2 GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    assert found[0] == (BEGIN + 3 * QUARTER, "no record before", 0)
    assert [(row[0], row[1]) for row in found[1:]] == [
        (BEGIN + number * QUARTER, "difference") for number in range(4, INTERVALS + 1)
    ]
    assert all(row[2] == (CPS + 1) * 26 for row in found[1:])


def test_times_of_the_counters_are_those_of_the_records(store: duckdb.DuckDBPyConnection) -> None:
    [(first, last)] = store.execute(
        "SELECT min(interval_start_utc), max(interval_end_utc) FROM crypto_share"
    ).fetchall()
    assert (first, last - first) == (BEGIN, INTERVALS * timedelta(minutes=15))
