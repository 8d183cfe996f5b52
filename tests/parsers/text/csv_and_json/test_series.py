"""Series of samples: a worked example, exports of a panel, and samples out of order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.text.csv_and_json.reading import Row, issues_of, read_lines, rows, texts, values

from zscope.parsers import inventory, read
from zscope.parsers.issues import Code
from zscope.parsers.text.csv_and_json.series import stem_of
from zscope.parsers.text.csv_and_json.table_reader import supplied_lines

if TYPE_CHECKING:
    from pathlib import Path

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
    result = read_lines(tmp_path, TABLE, WORKED, name="flood.csv")
    assert issues_of(result) == []
    columns = (
        "series",
        "run",
        "sample_no",
        "since_start_us",
        "sample_utc",
        "ecbs_in_use",
        "tls_starts_completed",
    )
    assert values(result, *columns) == [
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
    result = read_lines(tmp_path, TABLE, lines, run="pj48040-on")
    assert values(result, "series", "run", "since_start_us", "sample_utc") == [
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
    result = read_lines(tmp_path, TABLE, lines, mapping={"ecbs_in_use": "ECBs in use (TPF1)"})
    assert issues_of(result) == []
    assert values(result, "ecbs_in_use") == [(62,), (1480,), (2510,), (None,), (None,)]
    assert {row["sample_utc"] for row in rows(result)} == {None}
    assert rows(result)[2]["extra"] == '{"cpu": "88.0"}'


def test_milliseconds_since_1970_are_moments(tmp_path: Path) -> None:
    first = int(BEGIN.timestamp()) * 1000
    result = read_lines(tmp_path, TABLE, ["Time,ECBs", f"{first},62", f"{first + 250},63"])
    assert values(result, "sample_utc", "since_start_us") == [
        (BEGIN, 0),
        (BEGIN + timedelta(milliseconds=250), 250_000),
    ]


def test_a_format_reads_other_times(tmp_path: Path) -> None:
    lines = ["Time,ECBs", "03/02/2026 13:20:00,62", "03/02/2026 13:20:01,63"]
    result = read_lines(tmp_path, TABLE, lines)
    assert rows(result) == []
    assert "'03/02/2026 13:20:00' is not a time such as" in texts(result)
    assert "--time-format sets another format" in texts(result)
    result = read_lines(tmp_path, TABLE, lines, time_format="%m/%d/%Y %H:%M:%S")
    assert values(result, "since_start_us") == [(0,), (SECOND,)]


@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        ("1,70,0", "time", "'1' is not after the time of the previous sample; the line is skipped"),
        ("0.5,70,0", "time", "is not after the time of the previous sample"),
        (
            "2026-03-02T13:20:00Z,70,0",
            "time",
            "is with a zone, and the first time of the series is a number of",
        ),
        ("soon,70,0", "time", "'soon' is not a time such as"),
        (",70,0", "time", "'' is not a time such as"),
    ],
)
def test_a_sample_out_of_order_is_skipped(tmp_path: Path, line: str, field: str, message: str) -> None:
    head, first, second, *rest = WORKED
    result = read_lines(tmp_path, TABLE, [head, first, second, line, *rest])
    assert issues_of(result) == [(Code.BAD_VALUE, 4, field)]
    assert message in texts(result)
    assert values(result, "sample_no", "since_start_us") == [(no, no * SECOND) for no in range(5)]


def test_falling_counters_and_negative_gauges_are_null(tmp_path: Path) -> None:
    lines = ["time,ecbs_in_use,tls_starts_completed", "0,62,10", "1,-1,9", "2,64,10", "3,65,x"]
    result = read_lines(tmp_path, TABLE, lines)
    assert values(result, "ecbs_in_use", "tls_starts_completed") == [
        (62, 10),
        (None, None),
        (64, 10),
        (65, None),
    ]
    assert issues_of(result) == [
        (Code.BAD_VALUE, 3, "ecbs_in_use"),
        (Code.BAD_VALUE, 3, "tls_starts_completed"),
        (Code.BAD_VALUE, 5, "tls_starts_completed"),
    ]
    assert "'9' is lower than in an earlier sample, but the counter never falls; the column is null" in texts(
        result
    )


def test_runs_and_lists_in_one_file_are_separate_series(tmp_path: Path) -> None:
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
    result = read_lines(tmp_path, TABLE, lines, name="floods.csv")
    assert issues_of(result) == []
    assert values(result, "series", "sample_no", "ecbs_in_use") == [
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
    assert (row["first_local"], row["first_utc"], row["last_utc"]) == (None, BEGIN, BEGIN)


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
def test_a_series_without_a_run_has_the_name_of_its_file(file: str, stem: str) -> None:
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


@given(SAMPLES, st.booleans(), st.sampled_from(",;\t"))
def test_written_displays_are_read(
    tmp_path_factory: pytest.TempPathFactory, samples: list[Row], with_moments: bool, separator: str
) -> None:
    written: list[Row] = []
    since = completed = 0
    for no, sample in enumerate(samples):
        since += sample["step"] if no else 0
        completed += sample["more"] or 0
        starts = None if sample["more"] is None else float(completed)
        moment = BEGIN + timedelta(microseconds=since) if with_moments else None
        use = {name: sample[name] for name in ("ecbs_in_use", "worker_threads")}
        written.append(use | {"since_start_us": since, "sample_utc": moment, "tls_starts_completed": starts})
    written[0]["ecbs_in_use"] = written[0]["ecbs_in_use"] or 0.0
    path = tmp_path_factory.mktemp("series") / "series.csv"
    lines = supplied_lines(TABLE, written, separator=separator)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    result = read(path, (TABLE,))
    assert issues_of(result) == []
    assert [{name: row[name] for name in written[0]} for row in rows(result)] == written
