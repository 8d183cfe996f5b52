"""The spans in which clocks kept one distance from UTC, as SQL joins them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa

from zscope.pipelines.offsets import CLOCK_SCHEMA, spans, system_clock
from zscope.pipelines.settings import Zones
from zscope.schemas.arrow import LOCAL

CHECKOUT = Path(__file__).resolve().parents[2]
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - of local times
BERLIN = "Europe/Berlin"


def at(text: str) -> datetime:
    """A local time."""
    return datetime.fromisoformat(text)


def micro(time: datetime) -> int:
    return (time - EPOCH) // timedelta(microseconds=1)


def test_spans_join_local_times_to_their_moments() -> None:
    first, last = at("2026-02-01"), at("2026-11-01")
    table = system_clock(Zones({"SYSA": BERLIN}, "-05:30"), ["SYSA", "SYSB"], micro(first), micro(last))
    assert table.schema == CLOCK_SCHEMA
    rows = table.to_pylist()
    # Five changes from 2025 to 2027 make seven spans; the other clock is never changed.
    assert [row["system"] for row in rows] == ["SYSA"] * 7 + ["SYSB"]
    for row, after in pairwise(rows[:7]):
        assert row["to_utc"] == after["from_utc"]
    for time in (first, at("2026-07-01"), last):
        [row] = [row for row in rows[:7] if row["from_local"] <= time < row["to_local"]]
        moment = (time - timedelta(seconds=row["offset_s"])).replace(tzinfo=UTC)
        assert moment == time.replace(tzinfo=ZoneInfo(BERLIN)).astimezone(UTC)
        assert row["zone"] == BERLIN
    twice = at("2026-10-25T02:30")
    assert sum(row["from_local"] <= twice < row["to_local"] for row in rows[:7]) == 2


def test_the_statement_of_the_document_converts_other_columns() -> None:
    text = (CHECKOUT / "docs/time-zones.md").read_text(encoding="utf-8")
    statement = text.split("```sql\n")[1].split("```")[0]
    times = [at("2026-07-01T12:00"), at("2026-12-01T12:00"), at("2026-03-29T02:30"), at("2026-10-25T02:30")]
    first = pa.array([1] * 4, pa.uint32())
    rows = pa.table(
        {
            "load_id": first,
            "system": ["SYSA"] * 4,
            "start_local": pa.array(list(map(micro, times))).view(LOCAL),
        }
    )
    spans_of_all = system_clock(Zones({}, BERLIN), ["SYSA"], micro(times[0]), micro(times[1]))
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
    table = spans("SYSA", BERLIN, -(1 << 63), (1 << 63) - 1)
    assert table["from_utc"][0].as_py() == datetime(1900, 1, 1, tzinfo=UTC)
    assert table["to_utc"][-1].as_py() == datetime(2101, 1, 1, tzinfo=UTC)
    assert table.num_rows > 200


def test_systems_without_a_zone_have_no_spans() -> None:
    assert system_clock(Zones(), ["SYSA"], 0, 0).num_rows == 0
