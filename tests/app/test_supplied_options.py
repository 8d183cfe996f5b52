"""What a command line says about supplied figures: it reaches the rows, and what cannot be is refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zscope.parsers import inventory, read
from zscope.parsers.text.supplied.mapping import MappingError
from zscope.parsers.text.supplied.times import TimeFormatError

if TYPE_CHECKING:
    from tests.app.conftest import Run

PANEL = '"Clock","Blocks"\n"03/02/2026 13:20:00","62"\n"03/02/2026 13:20:01","1.48 K"\n'
SAID = (
    *("--map", "time=Clock", "--map", "ecbs_in_use=Blocks"),
    *("--time-format", "%m/%d/%Y %H:%M:%S", "--run", "pj48040-on"),
)


@pytest.fixture
def panel(tmp_path: Path) -> Path:
    path = tmp_path / "panel.csv"
    path.write_text(PANEL)
    return path


def test_decode_reads_what_the_options_say(run: Run, panel: Path) -> None:
    result = run("decode", panel, "--table", "ztpf_series", *SAID)
    assert result.exit_code == 0, result.stderr
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["series"], row["since_start_us"], row["ecbs_in_use"]) for row in rows] == [
        ("pj48040-on", "0", "62"),
        ("pj48040-on", "1000000", "1480"),
    ]


def test_inventory_recognises_a_file_by_the_options(run: Run, panel: Path) -> None:
    assert run("inventory", panel).exit_code == 8
    result = run("inventory", panel, *SAID)
    assert result.exit_code == 0, result.stderr
    assert "Z/TPF TIME SERIES" in result.stdout


def test_ingest_loads_what_the_options_say(run: Run, panel: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    result = run("ingest", panel, "--store", store, *SAID)
    assert result.exit_code == 0, result.stderr
    found = run("sql", "SELECT run, max(ecbs_in_use) FROM ztpf_series GROUP BY run", "--store", store)
    assert found.stdout.splitlines()[1:] == ["pj48040-on,1480"]


def test_a_json_file_is_told_as_such(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "flood.json"
    path.write_text(json.dumps([{"t": 0, "a": {"b": 1}}]))
    result = run(
        *("decode", path, "--table", "ztpf_series", "--map", "time=t", "--map", "ecbs_in_use=a.b"),
    )
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, 2)
    assert "flood.json: JSON, UTF-8, 1 line, 1 report" in result.stderr


@pytest.mark.parametrize("command", [("decode", "--table", "ztpf_series"), ("inventory",), ("ingest",)])
@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("--run", "", "expected is a text of 1 to 64 characters"),
        ("--run", "a\nb", "expected is a text of 1 to 64 characters"),
        ("--map", "time", "'time' is no COLUMN=NAME such as"),
        ("--map", "colour=red", "'colour' is no column of a table that can be supplied; columns are"),
        ("--map", "colour=red", " sslrkeyc,"),
        ("--time-format", "%Q", "'%Q' is no format of times down to the second"),
        ("--formatter-zone", "Europe/Berln", "near it are Europe/Berlin"),
        ("--formatter-zone", "+25:00", "it goes up to 16 hours"),
    ],
)
def test_what_cannot_be_is_a_usage_error(
    run: Run, panel: Path, command: tuple[str, ...], option: str, value: str, problem: str
) -> None:
    result = run(*command, panel, option, value)
    assert result.exit_code == 12
    assert f"'{option}'" in result.stderr
    assert problem in " ".join(result.stderr.split())


def test_a_zone_that_is_one_is_taken(run: Run, panel: Path) -> None:
    result = run("inventory", panel, *SAID, "--formatter-zone", "Europe/Berlin")
    assert result.exit_code == 0, result.stderr


def test_programs_say_the_same(panel: Path) -> None:
    mapping = {"time": "Clock", "ecbs_in_use": "Blocks"}
    found = read(panel, "ztpf_series", run="on", mapping=mapping, time_format="%m/%d/%Y %H:%M:%S")
    assert found["ztpf_series"]["series"].to_pylist() == ["on", "on"]
    with pytest.raises(MappingError):
        inventory(panel, mapping={"colour": "red"})
    with pytest.raises(TimeFormatError):
        read(panel, time_format="hours")
