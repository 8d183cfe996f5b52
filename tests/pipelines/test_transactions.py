"""Transactions of generated dumps in a store: their rates, and the CPU time that belongs to them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.dumps import generated, kind_of, records_in
from tests.pipelines.record_changes import connection_times, with_connection_times
from tests.pipelines.stores import load

from zscope.pipelines.metrics import metric, statement
from zscope.pipelines.metrics.narrowing import prepared
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.catalogue_file import has_summaries
from zscope.samples import Recipe, RecordKind, named_systems

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

START = datetime(2026, 3, 2, tzinfo=UTC)
DAY = timedelta(days=1)
SYSTEMS = named_systems("SYSA", utc_offset_minutes=0)
MIX = {RecordKind.ZERT_DETAIL: 0.5, RecordKind.TCP_TERM: 0.4, RecordKind.RMF_CPU: 0.1}
ENDED = "counted_by = 'connections ended' AND job_name IS NULL"


def dump(start: datetime = START, seed: int = 1) -> list[bytes]:
    """Return the records of a generated dump of a day."""
    return records_in(generated(Recipe(records=3_000, start=start, seed=seed, systems=SYSTEMS, mix=MIX)))


def store_of(folder: Path, *dumps: Sequence[bytes]) -> Path:
    """Load dumps into a new store."""
    folder.mkdir(exist_ok=True)
    for number, records in enumerate(dumps):
        path = folder / f"{number}.smf"
        path.write_bytes(b"".join(records))
        load(folder / "store", path)
    return folder / "store"


@pytest.fixture(scope="module")
def one_day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one dump; read-only."""
    return store_of(tmp_path_factory.mktemp("one_day"), dump())


def asked(store: Path, by: Sequence[str], where: str = ENDED) -> list[dict[str, Any]]:
    """Return the rows of the metric, grouped."""
    with open_reader(store) as connection:
        for sql in prepared(metric("cpu_per_transaction"), summarised=has_summaries(connection)):
            connection.execute(sql)
        text = statement(metric("cpu_per_transaction"), by)
        result = connection.execute(f"SELECT * FROM ({text}) WHERE {where}").to_arrow_table().to_pylist()
    return list(result)


@pytest.mark.deep
def test_a_connection_open_for_ten_days_does_not_make_rates_lower(one_day: Path, tmp_path: Path) -> None:
    records = dump()
    [before] = asked(one_day, ["system"])
    number, (_, end) = next(
        (number, connection_times(record))
        for number, record in enumerate(records)
        if kind_of(record) == (119, 2)
    )
    records[number] = with_connection_times(records[number], end - 10 * DAY, end)
    [after] = asked(store_of(tmp_path / "after", records), ["system"])
    assert after["transactions"] == pytest.approx(before["transactions"])
    # One connection of over a thousand is less; a rate over eleven days would be an eleventh.
    assert before["transactions"] > 1_000
    assert after["transactions_per_s"] == pytest.approx(before["transactions_per_s"], rel=1e-3)


@pytest.mark.deep
def test_rates_of_two_separate_days_are_those_of_each_day(one_day: Path, tmp_path: Path) -> None:
    first, second = dump(), dump(START + 4 * DAY, seed=2)
    number, (_, end) = next(
        (number, connection_times(record))
        for number, record in enumerate(second)
        if kind_of(record) == (119, 2)
    )
    # One connection is open from the first day to the second one.
    second[number] = with_connection_times(second[number], START + DAY / 2, end)
    second_day = store_of(tmp_path / "second", second)
    alone = [asked(store, ["system"])[0] for store in (one_day, second_day)]
    store = store_of(tmp_path / "both", first, second)
    by_day = [row for row in asked(store, ["system", "day_utc"]) if row["transactions_per_s"] is not None]
    assert [row["day_utc"] for row in by_day] == [START, START + 4 * DAY]
    for row, expected in zip(by_day, alone, strict=True):
        assert row["transactions_per_s"] == pytest.approx(expected["transactions_per_s"], rel=5e-3)
    [whole] = asked(store, ["system"])
    mean = sum(row["transactions_per_s"] for row in alone) / 2
    assert whole["transactions_per_s"] == pytest.approx(mean, rel=0.02)


@pytest.mark.deep
def test_cpu_time_of_a_system_is_no_price_of_a_connection(one_day: Path) -> None:
    """The system uses 40 % of its processors for other work: a connection would cost seconds."""
    [row] = asked(one_day, ["system"])
    assert row["cpu_us_per_transaction"] is None
    assert row["why"] == "CPU time is that of the whole system, in no run and of no job with SMF 30"
    assert row["lpar_cpu_us_per_ended_connection"] == pytest.approx(
        1e6 * row["matched_cpu_s"] / row["matched_connections"]
    )
    assert row["lpar_cpu_us_per_ended_connection"] > 1e6


@pytest.mark.deep
def test_the_peak_interval_is_that_with_the_most_cpu_time(one_day: Path) -> None:
    with open_reader(one_day) as connection:
        for sql in prepared(metric("peak_load"), summarised=has_summaries(connection)):
            connection.execute(sql)
        peak = connection.execute(
            "SELECT peak, peak_start_utc, intervals FROM peak_load WHERE measure = 'CPU time'"
        ).fetchone()
        expected = connection.execute("""
            SELECT 1000 * cpu_s / interval_ms AS busy, interval_start_utc, (SELECT count(*) FROM cpu_interval)
            FROM cpu_interval ORDER BY busy DESC, interval_start_utc LIMIT 1
        """).fetchone()
    assert peak == expected


def test_supplied_response_times_are_means_over_transactions(tmp_path: Path) -> None:
    counts = tmp_path / "counts.csv"
    counts.write_text(
        "system,start,end,transactions,response_us\n"
        "SYSA,2026-03-02T10:00Z,2026-03-02T10:15Z,900,100\n"
        "SYSA,2026-03-02T10:15Z,2026-03-02T10:30Z,300,500.0\n",
        encoding="utf-8",
    )
    load(tmp_path / "store", counts)
    [row] = asked(tmp_path / "store", ["system"], "true")
    assert (row["response_us"], row["transactions"]) == (200, 1200)
