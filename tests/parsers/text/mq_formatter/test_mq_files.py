"""Whole files of the formatter: codings, damage, size and names."""

from __future__ import annotations

import random
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.damaging import interrupted
from tests.parsers.smf.mq_composed import TABLES
from tests.parsers.text.mq_formatter.examples import (
    ADAPTER,
    ADAPTER_LINE,
    BUSY,
    CHANNEL,
    IDLE,
    RUNNING,
    SSL,
    read_csv,
)

from zscope.parsers import ReadOptions, Tables, inventory, read
from zscope.parsers.issues import Code
from zscope.parsers.text import report_splitter as segment
from zscope.parsers.text.capture_writer import as_bytes
from zscope.parsers.text.mq_formatter.formatter_files import JSON_FILE, csv_files, json_lines
from zscope.parsers.zones import ZoneError

if TYPE_CHECKING:
    from pathlib import Path


def written(folder: Path, lines: list[str], name: str = "SMF-QCTSSL.csv") -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def read_file(
    folder: Path, lines: list[str], name: str = "SMF-QCTSSL.csv", zone: str | None = "UTC"
) -> Tables:
    return read(written(folder, lines, name), TABLES, options=ReadOptions(formatter_zone=zone))


def issues_of(result: Tables) -> list[tuple[Code, int | None]]:
    return [(issue.code, issue.line_no) for issue in result.issues]


def lines_of(result: Tables, table: str = "mq_task") -> list[int]:
    return [row["line_no"] for row in result[table].to_pylist()]


def places_apart(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | dict.fromkeys(("file", "line_no", "source", "extra")) for row in rows]


@pytest.mark.parametrize(
    ("coding", "end"), [("utf-8", "\n"), ("utf-8-sig", "\r\n"), ("utf-16", "\r\n"), ("cp037", "\x85")]
)
def test_a_file_is_the_same_however_it_is_coded(tmp_path: Path, coding: str, end: str) -> None:
    path = tmp_path / "SMF-QCTSSL.csv"
    path.write_bytes(as_bytes([SSL, BUSY, IDLE], coding, end))
    result = read(path, TABLES, options=ReadOptions(formatter_zone="UTC"))
    assert issues_of(result) == []
    assert [row["cpu_us"] for row in result["mq_task"].to_pylist()] == [1_954_000, 0]


def test_a_file_of_objects_is_known_by_its_content(tmp_path: Path) -> None:
    rows = read_csv([SSL, BUSY, IDLE], [ADAPTER, ADAPTER_LINE], [CHANNEL, RUNNING]).tables
    result = read_file(tmp_path, json_lines(rows), JSON_FILE)
    assert issues_of(result) == []
    for table in ("mq_task", "mq_channel"):
        assert places_apart(result[table].to_pylist()) == [
            row | {name: None for name in result[table].column_names if name not in row}
            for row in places_apart(rows[table])
        ]


def test_a_file_can_have_several_lists(tmp_path: Path) -> None:
    result = read_file(tmp_path, [SSL, BUSY, SSL, IDLE, CHANNEL, RUNNING, SSL], "all.csv")
    assert issues_of(result) == [(Code.REPORT_CUT, 7)]
    assert lines_of(result) == [2, 4]
    assert lines_of(result, "mq_channel") == [6]


def test_a_long_file_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment, "LINES_TOGETHER", 3)
    result = read_file(tmp_path, [SSL, *[BUSY, IDLE] * 6])
    assert issues_of(result) == []
    assert lines_of(result) == list(range(2, 14))


def test_only_column_names_are_recognised(tmp_path: Path) -> None:
    result = read_file(tmp_path, [SSL])
    assert issues_of(result) == [(Code.REPORT_CUT, 1)]
    assert "no line follows the column names" in next(iter(result.issues)).text


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(BUSY[:-1], id="without the last comma"),
        pytest.param(BUSY[:-4], id="cut in a number"),
        pytest.param(BUSY[:120], id="cut in the middle"),
        pytest.param(BUSY[:150], id="cut in a text"),
        pytest.param(BUSY + "1,", id="with a value more"),
        pytest.param(BUSY.replace('"MQ5A"', '"MQ5A'), id="quote not closed"),
        pytest.param(BUSY.replace("MQ5A", "MQ5A" * 300_000), id="a text of a megabyte"),
        pytest.param("this is no line of it", id="something else"),
        pytest.param('"', id="a quote"),
        pytest.param(BUSY.replace("SYS1", "SY\x00S1"), id="a zero byte in a text"),
    ],
)
def test_a_damaged_line_affects_no_other(tmp_path: Path, line: str) -> None:
    result = read_file(tmp_path, [SSL, IDLE, line, BUSY])
    assert set(lines_of(result)) >= {2, 4}
    if "\x00" not in line:
        assert lines_of(result) == [2, 4]
        assert issues_of(result) == [(Code.UNKNOWN_LINE, 3)]
        assert next(iter(result.issues)).text.endswith("write the file again if it was cut off")


def test_repeated_columns_are_reported(tmp_path: Path) -> None:
    result = read_file(tmp_path, [SSL + "Request_Count,", BUSY + "1,"])
    assert issues_of(result) == [(Code.REPORT_UNREADABLE, 1)]
    assert lines_of(result) == []


def test_an_incomplete_object_affects_no_other(tmp_path: Path) -> None:
    lines = json_lines(read_csv([SSL, BUSY, IDLE]).tables)
    size = len(lines) // 2
    result = read_file(tmp_path, [*lines[: size // 2], *lines, *lines[:5]], JSON_FILE)
    assert [code for code, _ in issues_of(result)] == [Code.UNKNOWN_LINE] * 2
    assert len(lines_of(result)) == 2


def test_a_name_of_another_structure_is_reported(tmp_path: Path) -> None:
    result = read_file(tmp_path, [ADAPTER, ADAPTER_LINE], "SMF-QCTSSL.csv")
    (issue,) = result.issues
    assert (issue.code, issue.line_no) == (Code.BAD_VALUE, 1)
    assert "a file of this name has blocks QCTSSL, but these columns are those of QCTADP" in issue.text
    assert [row["task_type"] for row in result["mq_task"].to_pylist()] == ["adapter"]
    assert issues_of(read_file(tmp_path, [ADAPTER, ADAPTER_LINE], "SMF-QCTADP.csv")) == []


def test_times_without_a_zone_are_text_in_extra(tmp_path: Path) -> None:
    (row,) = read_file(tmp_path, [SSL, BUSY], zone=None)["mq_task"].to_pylist()
    assert (row["longest_utc"], row["interval_start_local"]) == (None, None)
    with pytest.raises(ValueError, match="is not a time zone"):
        read_file(tmp_path, [SSL, BUSY], zone="Mars/Olympus")


def test_other_tables_do_not_read_it(tmp_path: Path) -> None:
    path = written(tmp_path, [SSL, BUSY])
    result = read(path, ("rmf_cpu",))
    assert (issues_of(result), result["rmf_cpu"].num_rows) == ([], 0)


def test_the_inventory_shows_structures_by_system(tmp_path: Path) -> None:
    path = written(tmp_path, [SSL, BUSY, IDLE, BUSY.replace("SYS1", "SYS2"), CHANNEL, RUNNING])
    rows = inventory(path).rows.to_pylist()
    assert [(row["kind"], row["system"], row["report"], row["source"]) for row in rows] == [
        ("mq", "SYS1", "MQ QCST", "csv"),
        ("mq", "SYS1", "MQ QCTSSL", "csv"),
        ("mq", "SYS2", "MQ QCTSSL", "csv"),
    ]
    assert {row["first_local"] for row in rows} == {datetime.fromisoformat("2026-03-02T08:30:00")}


@given(st.integers(), st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), min_size=1))
def test_noise_affects_no_line(tmp_path_factory: pytest.TempPathFactory, seed: int, noise: list[str]) -> None:
    spoken = [" ".join(f"?{word}".split()) for word in noise]
    lines = interrupted(random.Random(seed), [BUSY, IDLE] * 5, spoken, share=0.3)
    result = read_file(tmp_path_factory.mktemp("mq"), [SSL, *lines])
    assert len(lines_of(result)) == 10
    assert {code for code, _ in issues_of(result)} <= {Code.UNKNOWN_LINE}


@given(st.data())
def test_any_inserted_text_is_read_or_reported(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = "\n".join(csv_files(read_csv([SSL, BUSY, IDLE], [CHANNEL, RUNNING]).tables)["SMF-QCST.csv"])
    at = data.draw(st.integers(len(CHANNEL) + 1, len(whole)))
    cut = data.draw(st.integers(0, 40))
    put = data.draw(st.text('",=-.0\n/: ', max_size=10))
    damaged = whole[:at] + put + whole[at + cut :]
    result = read_file(tmp_path_factory.mktemp("mq"), [damaged, CHANNEL, RUNNING])
    assert lines_of(result, "mq_channel")[-1] == damaged.count("\n") + 3


@pytest.mark.parametrize("zone", ["Nowhere", "", "../UTC", "+1", "+25:00", "-"])
def test_an_unknown_zone_is_refused_with_an_example(tmp_path: Path, zone: str) -> None:
    with pytest.raises(ZoneError, match=r"such as|the largest is"):
        read_file(tmp_path, [SSL, BUSY], zone=zone)
