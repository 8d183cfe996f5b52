"""`zscope model flood`: figures, series and the reproduction of published figures."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from zscope.app.cli.commands.model import ESSENTIAL_OF_SERIES, as_tables
from zscope.pipelines.flood_model import NUMBERS, Flood, Mode

if TYPE_CHECKING:
    from pathlib import Path

    from tests.app.conftest import Run

SMALL = ("model", "flood", "--sessions", 400, "--burst-s", 0.1)
LABEL = "MODEL: computed by a simulation, not measured"


def test_both_modes_side_by_side_are_labelled_as_a_model(run: Run) -> None:
    done = run(*SMALL, "--format", "json")
    assert done.exit_code == 0
    assert LABEL in done.stderr
    rows = {row["figure"]: row for row in json.loads(done.stdout)}
    assert {row["basis"] for row in rows.values()} == {"model"}
    before, after = rows["throughput_per_s"]["blocking"], rows["throughput_per_s"]["non_blocking"]
    # Two threads, 0.5 ms of work, 4.6 ms of waits.
    assert before == pytest.approx(2 / 0.0051, rel=0.01)
    assert rows["throughput_per_s"]["change_pct"] == pytest.approx(100 * (after / before - 1))
    assert rows["ecb_seconds"]["blocking"] > 50 * rows["ecb_seconds"]["non_blocking"]


def test_the_same_command_prints_the_same_and_another_seed_something_else(run: Run) -> None:
    first, again, other = (run(*SMALL, "--seed", seed).stdout for seed in (5, 5, 6))
    assert first == again != other


def test_without_waits_for_the_network_nothing_changes(run: Run) -> None:
    done = run(*SMALL, "--network-ms", 0, "--client-ms", 0, "--format", "json")
    assert all(row["change_pct"] in (0, None) for row in json.loads(done.stdout))


def test_one_mode_alone(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(run(*SMALL, "--mode", "blocking").stdout)))
    assert list(rows[0]) == ["figure", "unit", "blocking", "basis", "meaning"]
    rows = list(csv.DictReader(io.StringIO(run(*SMALL, "--mode", "non-blocking").stdout)))
    assert list(rows[0]) == ["figure", "unit", "non_blocking", "basis", "meaning"]


def test_series_can_be_exported(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "curves.parquet"
    done = run(*SMALL, "--series", "--samples", 50, "-o", file)
    assert (done.exit_code, done.stdout) == (0, "")
    table = pq.read_table(file)
    assert table.column_names == list(ESSENTIAL_OF_SERIES)
    assert table.num_rows == 2 * 51
    assert set(table["mode"].to_pylist()) == {"blocking", "non-blocking"}
    assert set(table["basis"].to_pylist()) == {"model"}
    one = run(*SMALL, "--series", "--samples", 50, "--mode", "non-blocking")
    assert len(one.stdout.splitlines()) == 1 + 51


def test_every_parameter_is_an_option_with_default_and_bounds(run: Run) -> None:
    text = " ".join(run("model", "flood", "--help").stdout.split())
    for number in NUMBERS:
        assert f"--{number.name.replace('_', '-')} " in text
        # FloatRange and IntRange write their bounds as Python does.
        assert f"[default: {getattr(Flood(), number.name)}; {number.low}<=x<={number.high}]" in text
    assert "zscope model flood --reproduce" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--sessions", 0), "0 is not in the range 1<=x<=200000"),
        (("--sessions", 10**30), "is not in the range"),
        (("--sessions", "many"), "is not a valid integer"),
        (("--cpu-ms", "nan"), "cpu_ms: nan is not between 0.001 and 10000 ms"),
        (("--burst-s", "inf"), "is not in the range"),
        (("--sessions", 200_000, "--flows", 20), "too many for the simulation"),
        (("--background-per-s", 90_000), "leaves too little for sessions"),
        (
            ("--sessions", 200_000, "--cpu-ms", 100, "--background-per-s", 1000),
            "more than 500,000 data transfers",
        ),
        (("--mode", "half"), "is not one of"),
        (("--samples", 10), "--samples needs --series"),
        (("--series", "--samples", 10_001), "is not in the range 1<=x<=10000"),
        (("--reproduce", "--cpu-ms", 2), "has parameters of its own: omit --cpu-ms"),
        (("--reproduce", "--series"), "omit --series"),
    ],
)
def test_parameters_that_cannot_be_simulated_are_refused(
    run: Run, options: tuple[object, ...], message: str
) -> None:
    done = run("model", "flood", *options)
    assert (done.exit_code, done.stdout) == (12, "")
    assert message in done.stderr


def test_reproduce_prints_parameters_and_figures(run: Run) -> None:
    done = run("model", "flood", "--reproduce", "--format", "json")
    assert done.exit_code == 0
    assert LABEL in done.stderr
    rows = [row for row in json.loads(done.stdout) if row["test"] == "throughput test"]
    assert {row["part"] for row in rows} == {"remark", "parameter", "figure", "sensitivity"}
    [figure] = [row for row in rows if row["part"] == "figure"]
    assert figure["published"] == 46
    assert figure["value"] == pytest.approx(46, rel=0.005)
    assert figure["basis"] == "model"
    [network] = [row for row in rows if row["part"] == "parameter" and row["name"] == "network_ms"]
    assert (network["value"], network["basis"]) == (pytest.approx(0.23, rel=0.01), "fitted")


def test_reproduce_prints_tables(run: Run) -> None:
    done = run("model", "flood", "--reproduce", "--format", "table")
    remarks, parameters, figures, changes, *others = done.stdout.split("\n\n")
    assert len(others) == 2 * 4
    assert "Only this ratio follows" in remarks
    assert "fitted" in parameters
    assert "ztpf-sharedssl-throughput" in figures
    assert "model" in figures
    line = next(line.split() for line in changes.splitlines() if "0.276" in line)
    assert line[2:5] == ["network_ms", "0.276", "model"]
    change = float(line[-2].removeprefix("("))
    assert change == pytest.approx(20, abs=0.5)


def test_reproduce_without_rows_prints_no_table() -> None:
    assert list(as_tables([], on_terminal=False)) == []


def test_the_group_lists_its_models(run: Run) -> None:
    done = run("model", "--help")
    assert done.exit_code == 0
    assert "flood" in done.stdout
    assert run("model", "weather").exit_code == 12
    assert [str(mode) for mode in Mode] == ["blocking", "non-blocking"]
