"""`zscope compare`: two runs of a store side by side."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from zscope.app.cli import program
from zscope.app.commands.compare import sentence

SAMPLE = Path(__file__).resolve().parents[2] / "sample-data" / "smf-sample.bin"
RUNS = """
[[run]]
name = "slow"
system = "SYSA"
role = "client"
from = 2026-03-02T01:00:00Z
to = 2026-03-02T04:00:00Z
workload = "CRR40(64B/8kB)"
transactions = 1000000
synthetic = true
[[run]]
name = "fast"
system = "SYSA"
role = "client"
from = 2026-03-02T05:00:00Z
to = 2026-03-02T08:00:00Z
workload = "CRR40(64B/8kB)"
transactions = 1200000
synthetic = true
[[run]]
name = "fast"
system = "SYSB"
role = "server"
from = 2026-03-02T05:00:00Z
to = 2026-03-02T08:00:00Z
workload = "CRR40(64B/8kB)"
transactions = 1200000
synthetic = true
[[run]]
name = "stream"
system = "SYSA"
role = "client"
from = 2026-03-02T09:00:00Z
to = 2026-03-02T10:00:00Z
workload = "STR3(1B/20MB)"
[[run]]
name = "nothing"
system = "NONE"
role = "client"
from = 2020-03-02T09:00:00Z
to = 2020-03-02T10:00:00Z
workload = "CRR40(64B/8kB)"
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample dump, with runs in it; only to be read."""
    store = tmp_path_factory.mktemp("compare") / "store"
    loaded = start("ingest", SAMPLE, "--store", store, "--timezone", "+00:00")
    assert loaded.exit_code == 0, loaded.output
    file = store.with_name("runs.toml")
    file.write_text(RUNS, encoding="utf-8")
    assert start("runs", "import", file, "--store", store).exit_code == 0
    return store


def start(*arguments: object) -> Result:
    return CliRunner().invoke(program, [str(argument) for argument in arguments], prog_name="zscope")


def test_every_measure_of_the_sides_that_both_have_is_a_row(store: Path) -> None:
    done = start("compare", "slow", "fast", "--store", store, "--format", "json")
    assert done.exit_code == 0, done.output
    rows = {row["measure"]: row for row in json.loads(done.stdout)}
    assert {row["role"] for row in rows.values()} == {"client"}
    assert set(rows) == {"cpu_per_tran", "ziip_per_tran", "transaction_rate", "latency", "throughput"}
    # A fifth more in the same time.
    assert rows["transaction_rate"]["change_pct"] == pytest.approx(20)
    assert rows["transaction_rate"]["low_pct"] is None
    cpu = rows["cpu_per_tran"]
    assert cpu["baseline_intervals"] == cpu["candidate_intervals"] == 12
    assert cpu["low_pct"] < cpu["change_pct"] < cpu["high_pct"] < 0
    assert cpu["distinguishable"] is True
    assert cpu["change_pct"] == pytest.approx(100 * (cpu["candidate_value"] / cpu["baseline_value"] - 1))


def test_the_value_is_what_follows_from_the_intervals_of_the_store(store: Path) -> None:
    # Microseconds over a million transactions are the seconds.
    question = (
        "SELECT sum(cpu_s) AS us FROM cpu_interval WHERE system = 'SYSA' "
        "AND interval_start_utc >= '2026-03-02 01:00:00+00' AND interval_start_utc < '2026-03-02 04:00:00+00'"
    )
    (row,) = json.loads(start("sql", question, "--store", store, "--format", "json").stdout)
    rows = json.loads(start("compare", "slow", "fast", "--store", store, "--format", "json").stdout)
    assert rows[0]["baseline_value"] == pytest.approx(row["us"])


def test_standard_output_is_rows_and_generated_data_are_told_beside(store: Path) -> None:
    done = start("compare", "slow", "fast", "--store", store)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["measure"] for row in rows] == sorted(row["measure"] for row in rows)
    assert "the data were generated" in done.stderr


def test_a_side_that_one_run_does_not_have_cannot_be_compared(store: Path) -> None:
    done = start("compare", "slow", "fast", "--role", "server", "--store", store)
    assert (done.exit_code, done.stdout) == (12, "")
    assert "the two cannot be compared as server" in done.stderr
    assert "fast has client and server, workload CRR; slow has client, workload CRR" in done.stderr


def test_different_kinds_of_workload_cannot_be_compared(store: Path) -> None:
    done = start("compare", "slow", "stream", "--store", store)
    assert done.exit_code == 12
    assert "stream has client, workload STR" in done.stderr


def test_runs_without_data_are_a_warning_with_the_reason(store: Path) -> None:
    done = start("compare", "slow", "nothing", "--store", store, "--format", "jsonl")
    assert done.exit_code == 4
    assert len(done.stdout.splitlines()) == 5
    assert "nothing could be compared: nothing: no CPU data" in done.stderr


def test_a_run_that_is_not_there_ends_with_the_names_of_those_that_are(store: Path) -> None:
    done = start("compare", "slow", "fats", "--store", store)
    assert done.exit_code == 12
    assert "there is no run 'fats'; there are fast, nothing, slow, stream" in done.stderr


def test_a_run_is_not_compared_with_itself(store: Path) -> None:
    done = start("compare", "slow", "slow", "--store", store)
    assert done.exit_code == 12
    assert "'slow' is compared with itself" in done.stderr


def test_without_a_store_it_says_so(tmp_path: Path) -> None:
    done = start("compare", "a", "b", "--store", tmp_path / "none")
    assert done.exit_code == 12
    assert "there is no store" in done.stderr


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "b, client: CPU per transaction 5.0 % below a (95 %: -7.0 to -3.0), more than noise"),
        ({"distinguishable": False, "high_pct": 1.0}, "-7.0 to +1.0), not to be told from noise"),
        (
            {"low_pct": None},
            "b, client: CPU per transaction 5.0 % below a; too few intervals to tell it from noise",
        ),
        ({"role": "both"}, "b, both sides: CPU"),
    ],
)
def test_a_change_is_put_into_a_sentence(values: dict[str, object], said: str) -> None:
    row = {
        "baseline": "a", "candidate": "b", "role": "client", "measure": "cpu_per_tran", "change_pct": -5.0,
        "low_pct": -7.0, "high_pct": -3.0, "distinguishable": True,
    }  # fmt: skip
    assert said in sentence(row | values)


def test_runs_that_cannot_be_used_are_told_where_one_is_missing(store: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(store, tmp_path / "store"))
    (copy / "runs.toml").write_text("[[run]", encoding="utf-8")
    done = start("compare", "slow", "fast", "--store", copy)
    assert (done.exit_code, done.stdout) == (12, "")
    assert "there is no run 'slow'" in done.stderr
    assert f"left out: {copy / 'runs.toml'}: is not TOML" in done.stderr
