"""The spans in which clocks kept one distance from UTC, as SQL joins them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa
from tests.handbook import blocks, section

from zscope.pipelines.local_time.timelines import CLOCK_SCHEMA, clock_spans
from zscope.schemas.arrow import LOCAL

CHECKOUT = Path(__file__).resolve().parents[3]
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - of local times
BERLIN = "Europe/Berlin"


def at(text: str) -> datetime:
    """A local time."""
    return datetime.fromisoformat(text)


def micro(time: datetime) -> int:
    return (time - EPOCH) // timedelta(microseconds=1)


def test_spans_join_local_times_to_their_moments() -> None:
    first, last = at("2026-02-01"), at("2026-11-01")
    table = clock_spans("SYSA", BERLIN, micro(first), micro(last))
    assert table.schema == CLOCK_SCHEMA
    rows = table.to_pylist()
    # Six changes from 2025 to 2027 make seven spans.
    assert [row["system"] for row in rows] == ["SYSA"] * 7
    for row, after in pairwise(rows):
        assert row["to_utc"] == after["from_utc"]
    for time in (first, at("2026-07-01"), last):
        [row] = [row for row in rows if row["from_local"] <= time < row["to_local"]]
        moment = (time - timedelta(seconds=row["offset_s"])).replace(tzinfo=UTC)
        assert moment == time.replace(tzinfo=ZoneInfo(BERLIN)).astimezone(UTC)
        assert row["zone"] == BERLIN
    twice = at("2026-10-25T02:30")
    assert sum(row["from_local"] <= twice < row["to_local"] for row in rows) == 2


def test_the_statement_of_the_document_converts_other_columns() -> None:
    [statement] = blocks(section("load.md", "Other local columns"), "sql")
    times = [at("2026-07-01T12:00"), at("2026-12-01T12:00"), at("2026-03-29T02:30"), at("2026-10-25T02:30")]
    first = pa.array([1] * 4, pa.uint32())
    rows = pa.table(
        {
            "load_id": first,
            "system": ["SYSA"] * 4,
            "start_local": pa.array(list(map(micro, times))).view(LOCAL),
        }
    )
    spans_of_all = clock_spans("SYSA", BERLIN, micro(times[0]), micro(times[1]))
    load = pa.array([1] * spans_of_all.num_rows, pa.uint32())
    spans_of_all = spans_of_all.append_column("load_id", load)
    with duckdb.connect() as connection:
        connection.register("smf119_tcp_term", rows)
        connection.register("system_clock", spans_of_all)
        found = connection.sql(f"{statement} ORDER BY ALL").fetchall()
    assert found == [
        (at("2026-07-01T12:00"), at("2026-07-01T10:00")),
        (at("2026-10-25T02:30"), at("2026-10-25T00:30")),
        (at("2026-10-25T02:30"), at("2026-10-25T01:30")),
        (at("2026-12-01T12:00"), at("2026-12-01T11:00")),
    ]


def test_spans_of_times_far_away_end_with_the_calendar() -> None:
    table = clock_spans("SYSA", BERLIN, -(1 << 63), (1 << 63) - 1)
    assert table["from_utc"][0].as_py() == datetime(1900, 1, 1, tzinfo=UTC)
    assert table["to_utc"][-1].as_py() == datetime(2101, 1, 1, tzinfo=UTC)
    assert table.num_rows > 200


def test_a_fixed_offset_is_one_span() -> None:
    [row] = clock_spans("SYSB", "-05:30", micro(at("2026-02-01")), micro(at("2026-11-01"))).to_pylist()
    assert (row["system"], row["offset_s"]) == ("SYSB", -19_800)
    assert (row["from_local"], row["to_local"]) == (at("2024-12-31T18:30"), at("2027-12-31T18:30"))
