"""`zscope compare`: two runs of a store side by side."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from zscope.app.cli.main import program

SAMPLE = Path(__file__).resolve().parents[4] / "sample-data" / "smf-sample.bin"
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
def store(utc_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample dump and runs; read it only."""
    store = Path(shutil.copytree(utc_store, tmp_path_factory.mktemp("compare") / "store"))
    file = store.with_name("runs.toml")
    file.write_text(RUNS, encoding="utf-8")
    assert start("runs", "import", file, "--store", store).exit_code == 0
    return store


def start(*arguments: object) -> Result:
    return CliRunner().invoke(program, [str(argument) for argument in arguments], prog_name="zscope")


def test_each_measure_of_the_common_sides_has_a_row(store: Path) -> None:
    done = start("compare", "slow", "fast", "--store", store, "--format", "json")
    # The dump is loaded with another time zone than its own: what depends on its connections is refused.
    assert done.exit_code == 4, done.output
    assert "refused: latency, throughput: slow: records were written 60 minutes after" in done.stderr
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


def test_values_follow_from_the_intervals_of_the_store(store: Path) -> None:
    # Microseconds over a million transactions are the seconds.
    question = (
        "SELECT sum(cpu_s) AS us FROM cpu_interval WHERE system = 'SYSA' "
        "AND interval_start_utc >= '2026-03-02 01:00:00+00' AND interval_start_utc < '2026-03-02 04:00:00+00'"
    )
    (row,) = json.loads(start("sql", question, "--store", store, "--format", "json").stdout)
    rows = json.loads(start("compare", "slow", "fast", "--store", store, "--format", "json").stdout)
    assert rows[0]["baseline_value"] == pytest.approx(row["us"])


def test_synthetic_data_is_reported_on_standard_error(store: Path) -> None:
    done = start("compare", "slow", "fast", "--store", store)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["measure"] for row in rows] == sorted(row["measure"] for row in rows)
    assert "the data of at least one run is synthetic" in done.stderr


def test_a_side_must_exist_in_both_runs(store: Path) -> None:
    done = start("compare", "slow", "fast", "--role", "server", "--store", store)
    assert (done.exit_code, done.stdout) == (12, "")
    assert "the runs cannot be compared as server" in done.stderr
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


def test_an_unknown_run_is_an_error_with_the_known_names(store: Path) -> None:
    done = start("compare", "slow", "fats", "--store", store)
    assert done.exit_code == 12
    assert "there is no run 'fats'; the store has fast, nothing, slow, stream" in done.stderr


def test_a_run_cannot_be_compared_with_itself(store: Path) -> None:
    done = start("compare", "slow", "slow", "--store", store)
    assert done.exit_code == 12
    assert "'slow' cannot be compared with itself" in done.stderr


def test_the_tags_in_which_runs_differ_are_stated(store: Path) -> None:
    done = start("compare", "slow", "fast", "--store", store, "--format", "csv")
    assert "The runs differ in server system: not stated and SYSB\n" in done.stderr


def test_the_pair_that_differs_in_the_fewest_tags_is_compared_first(store: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(store, tmp_path / "store"))
    tagged = {
        # From a: in one tag a small change (b) and a larger one (c), in three the largest (d), in none (e).
        "a": (1, 1_000_000, "[run.tags]\ncipher = 'C030'\nfips = 'off'\n"),
        "b": (3, 1_050_000, "[run.tags]\ncipher = 'C02C'\nfips = 'off'\n"),
        "c": (5, 1_500_000, "[run.tags]\ncipher = 'C030'\nfips = 'on'\n"),
        "d": (7, 9_000_000, "[run.tags]\ncipher = '1302'\nfips = 'on'\nversion = 'TLSv1.3'\n"),
        "e": (9, 1_000_100, "[run.tags]\ncipher = 'C030'\nfips = 'off'\n"),
    }
    (copy / "runs.toml").write_text(
        "".join(
            f'[[run]]\nname = "{name}"\nsystem = "SYSA"\nrole = "client"\nworkload = "CRR40(64B/8kB)"\n'
            f"from = 2026-03-02T{hour:02}:00:00Z\nto = 2026-03-02T{hour + 2:02}:00:00Z\n"
            f"transactions = {transactions}\n{tags}"
            for name, (hour, transactions, tags) in tagged.items()
        ),
        encoding="utf-8",
    )
    done = start("compare", "--store", copy, "--format", "json")
    assert {(row["baseline"], row["candidate"]) for row in json.loads(done.stdout)} == {("a", "c")}
    assert "The runs differ in fips: off and on\n" in done.stderr


def test_without_names_the_largest_change_is_compared(store: Path) -> None:
    named = start("compare", "slow", "fast", "--store", store, "--format", "json")
    assert json.loads(start("compare", "--store", store, "--format", "json").stdout) == json.loads(
        named.stdout
    )
    one = start("compare", "slow", "--store", store)
    assert one.exit_code == 12
    assert "name two runs, or none" in one.stderr


def test_unusable_runs_are_reported_if_a_run_is_missing(store: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(store, tmp_path / "store"))
    (copy / "runs.toml").write_text("[[run]", encoding="utf-8")
    done = start("compare", "slow", "fast", "--store", copy)
    assert (done.exit_code, done.stdout) == (12, "")
    assert "there is no run 'slow'" in done.stderr
    assert f"left out: {copy / 'runs.toml'}, line 1: is not TOML" in done.stderr
