"""Series of samples: the worked one, what a panel exports, and what cannot stand in a series."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parsers.text.supplied.reading import Row, read_lines, rows, texts, told, values

from zscope.parsers import inventory, read
from zscope.parsers.issues import Code
from zscope.parsers.text.supplied.series import stem_of
from zscope.parsers.text.supplied.write import supplied_lines

TABLE = "ztpf_series"
WORKED = (
    "time,ecbs_in_use,tls_starts_completed",
    "0,60,0",
    "1,1060,60",
    "2,1060,125",
    "3,560,190",
    "4,60,250",
)
"""The composed check: five seconds of a flood of 250 sessions."""
SECOND = 1_000_000
BEGIN = datetime(2026, 3, 2, 13, 20, tzinfo=UTC)


def test_the_worked_series(tmp_path: Path) -> None:
    found = read_lines(tmp_path, TABLE, WORKED, name="flood.csv")
    assert told(found) == []
    columns = (
        "series",
        "run",
        "sample_no",
        "since_start_us",
        "sample_utc",
        "ecbs_in_use",
        "tls_starts_completed",
    )
    assert values(found, *columns) == [
        ("flood", None, no, no * SECOND, None, ecbs, starts)
        for no, (ecbs, starts) in enumerate(
            zip((60, 1060, 1060, 560, 60), (0, 60, 125, 190, 250), strict=True)
        )
    ]


def test_the_same_series_with_moments(tmp_path: Path) -> None:
    lines = ["time;ecbs_in_use"]
    lines += [
        f"{(BEGIN + no * timedelta(seconds=0.5)).isoformat(timespec='milliseconds')};62" for no in range(3)
    ]
    found = read_lines(tmp_path, TABLE, lines, run="pj48040-on")
    assert values(found, "series", "run", "since_start_us", "sample_utc") == [
        ("pj48040-on", "pj48040-on", no * SECOND // 2, BEGIN + no * timedelta(seconds=0.5)) for no in range(3)
    ]


def test_what_a_panel_exports(tmp_path: Path) -> None:
    lines = [
        "sep=;",
        '"Time";"ECBs in use (TPF1)";"CPU"',
        '2026-03-02 13:20:00;"62";"3.1"',
        '2026-03-02 13:20:01;"1 480";',
        '2026-03-02 13:20:02;"2.51 K";"88.0"',
        "2026-03-02 13:20:03;;",
        '2026-03-02 13:20:04;"null";',
    ]
    found = read_lines(tmp_path, TABLE, lines, mapping={"ecbs_in_use": "ECBs in use (TPF1)"})
    assert told(found) == []
    assert values(found, "ecbs_in_use") == [(62,), (1480,), (2510,), (None,), (None,)]
    assert {row["sample_utc"] for row in rows(found)} == {None}
    assert rows(found)[2]["extra"] == '{"cpu": "88.0"}'


def test_milliseconds_since_1970_are_moments(tmp_path: Path) -> None:
    first = int(BEGIN.timestamp()) * 1000
    found = read_lines(tmp_path, TABLE, ["Time,ECBs", f"{first},62", f"{first + 250},63"])
    assert values(found, "sample_utc", "since_start_us") == [
        (BEGIN, 0),
        (BEGIN + timedelta(milliseconds=250), 250_000),
    ]


def test_a_format_tells_times_that_are_not_seen(tmp_path: Path) -> None:
    lines = ["Time,ECBs", "03/02/2026 13:20:00,62", "03/02/2026 13:20:01,63"]
    found = read_lines(tmp_path, TABLE, lines)
    assert rows(found) == []
    assert "'03/02/2026 13:20:00' is no time such as" in texts(found)
    assert "--time-format tells another" in texts(found)
    found = read_lines(tmp_path, TABLE, lines, time_format="%m/%d/%Y %H:%M:%S")
    assert values(found, "since_start_us") == [(0,), (SECOND,)]


@pytest.mark.parametrize(
    ("line", "field", "says"),
    [
        ("1,70,0", "time", "'1' is not behind the time of the sample before; the line is left out"),
        ("0.5,70,0", "time", "is not behind the time of the sample before"),
        (
            "2026-03-02T13:20:00Z,70,0",
            "time",
            "is with a zone, and the first time of the series is a number of",
        ),
        ("soon,70,0", "time", "'soon' is no time such as"),
        (",70,0", "time", "'' is no time such as"),
    ],
)
def test_a_sample_that_cannot_stand_there_is_left_out(
    tmp_path: Path, line: str, field: str, says: str
) -> None:
    head, first, second, *rest = WORKED
    found = read_lines(tmp_path, TABLE, [head, first, second, line, *rest])
    assert told(found) == [(Code.BAD_VALUE, 4, field)]
    assert says in texts(found)
    assert values(found, "sample_no", "since_start_us") == [(no, no * SECOND) for no in range(5)]


def test_a_counter_that_falls_and_a_gauge_below_0_are_told_and_null(tmp_path: Path) -> None:
    lines = ["time,ecbs_in_use,tls_starts_completed", "0,62,10", "1,-1,9", "2,64,10", "3,65,x"]
    found = read_lines(tmp_path, TABLE, lines)
    assert values(found, "ecbs_in_use", "tls_starts_completed") == [
        (62, 10),
        (None, None),
        (64, 10),
        (65, None),
    ]
    assert told(found) == [
        (Code.BAD_VALUE, 3, "ecbs_in_use"),
        (Code.BAD_VALUE, 3, "tls_starts_completed"),
        (Code.BAD_VALUE, 5, "tls_starts_completed"),
    ]
    assert "'9' is below what an earlier sample has: the counter never falls; the column is null" in texts(
        found
    )


def test_runs_and_lists_in_one_file_are_series_of_their_own(tmp_path: Path) -> None:
    lines = [
        "time,ecbs_in_use,run",
        "0,1,off",
        "0,2,on",
        "1,3,off",
        "1,4,on",
        "0,5,",
        "time,ecbs_in_use",
        "0,6",
    ]
    found = read_lines(tmp_path, TABLE, lines, name="floods.csv")
    assert told(found) == []
    assert values(found, "series", "sample_no", "ecbs_in_use") == [
        ("off", 0, 1),
        ("on", 0, 2),
        ("off", 1, 3),
        ("on", 1, 4),
        ("floods", 0, 5),
        ("floods (2)", 0, 6),
    ]


def test_the_inventory_shows_when_a_series_with_moments_begins(tmp_path: Path) -> None:
    read_lines(tmp_path, TABLE, ["time,ecbs_in_use", f"{BEGIN.isoformat()},62"])
    (row,) = inventory(tmp_path).rows.to_pylist()
    assert (row["kind"], row["report"]) == ("ztpf", "Z/TPF TIME SERIES")
    assert row["first_local"] == BEGIN.replace(tzinfo=None)


@pytest.mark.parametrize(
    ("file", "stem"),
    [
        ("a/b/pj48040.off.csv", "pj48040.off"),
        ("flood.json.gz", "flood"),
        ("floods.zip: in/on.CSV", "on"),
        ("plain", "plain"),
        (".csv", ".csv"),
    ],
)
def test_a_series_without_a_run_is_called_like_its_file(file: str, stem: str) -> None:
    assert stem_of(file) == stem


SAMPLES = st.lists(
    st.fixed_dictionaries(
        {
            "step": st.integers(1, 10**10),
            "ecbs_in_use": st.none() | st.integers(0, 10**11).map(lambda number: number / 128),
            "more": st.none() | st.integers(0, 10_000),
            "worker_threads": st.none() | st.integers(0, 64),
        }
    ),
    min_size=1,
    max_size=6,
)


@settings(deadline=None, max_examples=40)
@given(SAMPLES, st.booleans(), st.sampled_from(",;\t"))
def test_what_the_writer_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, samples: list[Row], with_moments: bool, separator: str
) -> None:
    written: list[Row] = []
    since = completed = 0
    for no, sample in enumerate(samples):
        since += sample["step"] if no else 0
        completed += sample["more"] or 0
        starts = None if sample["more"] is None else float(completed)
        moment = BEGIN + timedelta(microseconds=since) if with_moments else None
        kept = {name: sample[name] for name in ("ecbs_in_use", "worker_threads")}
        written.append(kept | {"since_start_us": since, "sample_utc": moment, "tls_starts_completed": starts})
    written[0]["ecbs_in_use"] = written[0]["ecbs_in_use"] or 0.0
    path = tmp_path_factory.mktemp("series") / "series.csv"
    path.write_text("\n".join(supplied_lines(TABLE, written, separator=separator)), encoding="utf-8")
    found = read(path, (TABLE,))
    assert told(found) == []
    assert [{name: row[name] for name in written[0]} for row in rows(found)] == written
