"""The options of supplied figures: they change the rows, and invalid values are refused."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

from zscope.parsers import ReadOptions, inventory, read
from zscope.parsers.text.csv_and_json.forms import MappingError
from zscope.parsers.text.csv_and_json.times import TimeFormatError

if TYPE_CHECKING:
    from pathlib import Path

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


def test_decode_applies_the_options(run: Run, panel: Path) -> None:
    result = run("decode", panel, "--table", "ztpf_series", *SAID)
    assert result.exit_code == 0, result.stderr
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["series"], row["since_start_us"], row["ecbs_in_use"]) for row in rows] == [
        ("pj48040-on", "0", "62"),
        ("pj48040-on", "1000000", "1480"),
    ]


def test_inventory_applies_the_options(run: Run, panel: Path) -> None:
    assert run("inventory", panel).exit_code == 8
    result = run("inventory", panel, *SAID)
    assert result.exit_code == 0, result.stderr
    assert "Z/TPF TIME SERIES" in result.stdout


def test_ingest_applies_the_options(run: Run, panel: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    result = run("ingest", panel, "--store", store, *SAID)
    assert result.exit_code == 0, result.stderr
    stored = run("sql", "SELECT run, max(ecbs_in_use) FROM ztpf_series GROUP BY run", "--store", store)
    assert stored.stdout.splitlines()[1:] == ["pj48040-on,1480"]


def test_a_json_file_is_named_as_json(run: Run, tmp_path: Path) -> None:
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
        ("--run", "", "expected a text of 1 to 64 characters"),
        ("--run", "a\nb", "expected a text of 1 to 64 characters"),
        ("--map", "time", "'time' is not COLUMN=NAME such as"),
        ("--map", "colour=red", "'colour' is not a column of a supplied table; columns are"),
        ("--map", "colour=red", " sslrkeyc,"),
        ("--time-format", "%Q", "'%Q' is not a time format with seconds"),
        ("--formatter-zone", "Europe/Berln", "similar names are Europe/Berlin"),
        ("--formatter-zone", "+25:00", "the largest is 16 hours"),
    ],
)
def test_invalid_options_are_refused(
    run: Run, panel: Path, command: tuple[str, ...], option: str, value: str, problem: str
) -> None:
    result = run(*command, panel, option, value)
    assert result.exit_code == 12
    assert f"'{option}'" in result.stderr
    assert problem in " ".join(result.stderr.split())


def test_a_valid_zone_is_accepted(run: Run, panel: Path) -> None:
    result = run("inventory", panel, *SAID, "--formatter-zone", "Europe/Berlin")
    assert result.exit_code == 0, result.stderr


def test_json_and_csv_contain_the_same_values(panel: Path) -> None:
    mapping = {"time": "Clock", "ecbs_in_use": "Blocks"}
    result = read(
        panel, "ztpf_series", options=ReadOptions(run="on", mapping=mapping, time_format="%m/%d/%Y %H:%M:%S")
    )
    assert result["ztpf_series"]["series"].to_pylist() == ["on", "on"]
    with pytest.raises(MappingError):
        inventory(panel, options=ReadOptions(mapping={"colour": "red"}))
    with pytest.raises(TimeFormatError):
        read(panel, options=ReadOptions(time_format="hours"))
