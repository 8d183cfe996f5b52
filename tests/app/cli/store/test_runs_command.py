"""`zscope runs`: the list, and the subcommands that change runs.toml."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.dumps import composed

from zscope.app.cli.main import program

SAMPLE = Path(__file__).resolve().parents[4] / "sample-data" / "smf-sample.bin"
FROM_TO = ("--from", "2026-03-02T01:00Z", "--to", "2026-03-02T05:00+01:00")


def start(*arguments: object) -> Result:
    return CliRunner().invoke(program, [str(argument) for argument in arguments], prog_name="zscope")


@pytest.fixture
def store(utc_store: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(utc_store, tmp_path / "store"))


def add(store: Path, name: str, *more: object) -> Result:
    needed = ("--system", "sysa", "--role", "client", *FROM_TO)
    return start("runs", "add", name, *needed, *more, "--store", store)


def test_an_added_run_is_listed_with_its_values(store: Path) -> None:
    options = ("--workload", "CRR40(64B/8kB)", "--transactions", 1_000_000, "--tag", "cipher=c030")
    done = add(store, "first", *options, "--tag", "fips=on", "--note", 'say "when"')
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "first (client on SYSA) added\n")
    listed = start("runs", "--store", store, "--format", "json")
    assert (listed.exit_code, listed.stderr) == (0, "")
    (row,) = json.loads(listed.stdout)
    assert row["name"] == "first"
    assert row["system"] == "SYSA"
    assert row["to_utc"].startswith("2026-03-02T04:00:00")
    assert row["tags"] == ["cipher=C030", "fips=on"]
    assert row["note"] == 'say "when"'
    assert (row["status"], row["intervals"], row["trimmed"]) == ("ok", 12, 0)
    assert row["low_us"] <= row["cpu_us_per_tran"] <= row["high_us"]
    # A million in three hours.
    assert row["transactions_per_s"] == pytest.approx(1e6 / 10_800)


def test_without_runs_the_message_explains_how_to_add_one(store: Path) -> None:
    done = start("runs", "--store", store, "--format", "json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, [])
    assert "add one with zscope runs add" in done.stderr


@pytest.mark.deep
def test_problems_of_runs_toml_are_printed(store: Path) -> None:
    add(store, "good")
    file = store / "runs.toml"
    file.write_text(f'[[run]]\nname = "bad"\n{file.read_text(encoding="utf-8")}', encoding="utf-8")
    done = start("runs", "--store", store, "--format", "jsonl")
    assert done.exit_code == 4
    assert [json.loads(line)["name"] for line in done.stdout.splitlines()] == ["good"]
    missing = [line.partition(": is missing; expected ")[0] for line in done.stderr.splitlines()]
    run = f"left out: {file.resolve()}, line 1: run[bad]"
    assert missing == [f"{run}.{key}" for key in ("system", "role", "from", "to")]


def test_an_invalid_runs_toml_does_not_affect_the_store(store: Path) -> None:
    (store / "runs.toml").write_text("[[run", encoding="utf-8")
    done = start("runs", "--store", store)
    assert done.exit_code == 4
    assert "is not TOML" in done.stderr
    assert start("sql", "SELECT count(*) FROM run", "--store", store).exit_code == 0


@pytest.mark.deep
def test_a_doubtful_run_is_added_with_a_warning(store: Path) -> None:
    add(store, "one")
    done = add(store, "two", "--tag", "cypher=1302")
    assert done.exit_code == 4
    assert "two (client on SYSA) added" in done.stderr
    assert "warning: " in done.stderr
    assert "overlaps with one (client on SYSA)" in done.stderr
    assert "did you mean cipher?" in done.stderr


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--from", "yesterday"), "--from: 'yesterday' is not a time such as 2026-03-09T01:00Z"),
        (("--from", "2026-03-02T01:00"), "from: 2026-03-02T01:00:00 has no offset from UTC"),
        (("--from", "2026-03-03T01:00Z"), "to: 2026-03-02 04:00:00 UTC is not after from"),
        (("--workload", "CRR40"), "workload: 'CRR40' is not a workload"),
        (("--tag", "cipher"), "--tag: 'cipher' is not KEY=VALUE"),
        (("--tag", "=1302"), "--tag: '=1302' is not KEY=VALUE"),
        (("--tag", "mtu=1", "--tag", "mtu=2"), "--tag: mtu is given twice, as 1 and 2"),
        (
            ("--transactions", "-1"),
            "transactions: expected an integer from 0 to 9,223,372,036,854,775,807, got -1",
        ),
        (("--system", "SYSTEM001"), "system: 'SYSTEM001' is not a system name of 1 to 8 characters"),
    ],
)
def test_an_invalid_run_is_not_added(store: Path, options: tuple[str, ...], problem: str) -> None:
    done = add(store, "wrong", *options)
    assert done.exit_code == 12
    assert problem in done.stderr
    assert not (store / "runs.toml").exists()


@pytest.mark.deep
def test_an_existing_side_is_not_added_again(store: Path) -> None:
    add(store, "one")
    done = add(store, "one")
    assert done.exit_code == 12
    assert "one (client on SYSA) exists already" in done.stderr


def test_remove_needs_an_existing_run(store: Path) -> None:
    add(store, "one")
    done = start("runs", "remove", "one", "--store", store)
    assert (done.exit_code, done.stderr) == (0, "one: 1 side removed\n")
    again = start("runs", "remove", "one", "--store", store)
    assert again.exit_code == 12
    assert "there is no run 'one'; there are no runs" in again.stderr


@pytest.mark.deep
def test_runs_of_a_file_are_imported_once(store: Path, tmp_path: Path) -> None:
    add(store, "one")
    other = Path(shutil.copy(store / "runs.toml", tmp_path / "other.toml"))
    start("runs", "remove", "one", "--store", store)
    assert start("runs", "import", other, "--store", store).stderr == (
        "one: no pair with it has the tags of a published result; zscope runs plan ID says which\n"
        "1 run imported, 0 already there\n"
        "shares, rates and prices leave out their hours; outside of production, "
        "zscope coverage counts only hours of runs\n"
    )
    assert start("runs", "import", other, "--store", store).stderr == "0 runs imported, 1 already there\n"


def test_a_file_with_an_error_is_refused_as_a_whole(store: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text("[[run]]\nname = 'a'\n", encoding="utf-8")
    done = start("runs", "import", other, "--store", store)
    assert done.exit_code == 8
    assert f"{other}, line 1: run[a].system: is missing" in done.stderr
    assert "nothing was imported" in done.stderr
    assert not (store / "runs.toml").exists()
    assert start("runs", "import", tmp_path / "none.toml", "--store", store).exit_code == 12


def test_options_before_a_subcommand_are_an_error(store: Path) -> None:
    done = start("runs", "--store", store, "remove", "one")
    assert done.exit_code == 12
    assert "write the options after remove" in done.stderr


def test_an_unknown_subcommand_explains_how_to_list_runs(store: Path) -> None:
    done = start("runs", "show", "--store", store)
    assert (done.exit_code, done.stdout) == (12, "")
    assert (
        "runs has no command 'show'; use one of list, add, remove, import, plan, propose, or zscope runs "
        in done.stderr
    )


def test_importing_a_file_without_runs_is_reported(store: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text("# none yet", encoding="utf-8")
    done = start("runs", "import", other, "--store", store)
    assert (done.exit_code, done.stderr) == (0, f"{other}: contains no runs; nothing was imported\n")


@pytest.mark.parametrize("content", [b"\xe2\x28\xa1", b"Read me first\n", b"x" * (5 << 20)])
def test_another_kind_of_file_is_refused(store: Path, tmp_path: Path, content: bytes) -> None:
    other = tmp_path / "README.md"
    other.write_bytes(content)
    (store / "runs.toml").write_bytes(b"# mine")
    done = start("runs", "import", other, "--store", store)
    assert done.exit_code == 8
    assert str(other) in done.stderr
    assert "nothing was imported" in done.stderr
    assert (store / "runs.toml").read_bytes() == b"# mine"


def test_propose_reports_an_unusable_runs_toml(store: Path) -> None:
    (store / "runs.toml").write_bytes(b"\xff")
    done = start("runs", "propose", "--store", store)
    assert done.exit_code == 4
    assert "left out: " in done.stderr
    assert "is not UTF-8 text (byte 0)" in done.stderr


def test_other_traffic_is_not_proposed(store: Path) -> None:
    done = start("runs", "propose", "--add", "--store", store, "--format", "json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, [])
    assert "0 runs proposed that runs.toml does not contain" in done.stderr
    assert not (store / "runs.toml").exists()


BEGIN = datetime(2026, 3, 9, 1, tzinfo=UTC)
MINUTES, EACH = 6, 12


def steady_dump() -> bytes:
    """Twelve short connections a minute for six minutes, all with the same handshake and the same bytes."""
    starts = [BEGIN + timedelta(seconds=60 / EACH * number) for number in range(MINUTES * EACH)]
    records = composed(
        (119, 11), starts, "CLI1",
        identification={"stack": "TCPIP"},
        common={
            "event_type": 4, "security_protocols_flags": 128, "connection_id": [*range(len(starts))],
            "start_utc": starts, "end_utc": [start + timedelta(seconds=1) for start in starts],
            "in_bytes": 8_000, "out_bytes": 64,
        },
        tls={"tls_version": 0x0304, "handshake_type": 1, "handshake_role": 1, "cipher": "1302"},
    )  # fmt: skip
    return b"".join(records)


def test_a_proposed_run_is_added_once(tmp_path: Path) -> None:
    dump, store = tmp_path / "steady.smf", tmp_path / "store"
    dump.write_bytes(steady_dump())
    assert start("ingest", dump, "--store", store).exit_code == 0
    done = start("runs", "propose", "--add", "--store", store, "--format", "json")
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)
    assert (row["name"], row["system"], row["role"]) == ("TLSv1.3-1302-full-20260309-0100", "CLI1", "client")
    assert (row["minutes"], row["connections"], row["connections_per_s"]) == (MINUTES, MINUTES * EACH, 0.2)
    assert (row["in_bytes_each"], row["out_bytes_each"], row["known_as"]) == (8_000, 64, None)
    assert "1 run added; complete tags and workloads in" in done.stderr
    (listed,) = json.loads(start("runs", "--store", store, "--format", "json").stdout)
    assert listed["tags"] == ["cipher=1302", "resumption=none", "version=TLSv1.3"]
    assert (listed["status"], listed["counted_by"]) == ("no CPU data", "zERT connections")
    again = start("runs", "propose", "--add", "--store", store, "--format", "json")
    assert json.loads(again.stdout)[0]["known_as"] == row["name"]
    assert "0 runs proposed that runs.toml does not contain" in again.stderr


def test_a_plan_names_workload_tags_records_and_minutes(store: Path) -> None:
    done = start("runs", "plan", "perf32-smcr-tcp-rr-cpu", "--store", store, "--format", "json")
    assert (done.exit_code, done.stderr) == (0, "")
    plan = [(row["part"], row["what"], row["value"]) for row in json.loads(done.stdout)]
    assert plan[0] == ("both", "workload", "RR60(4kB)")
    assert ("baseline", "tag", "transport=TCP") in plan
    assert ("candidate", "tag", "transport=SMC-Rv2") in plan
    # No run of this store shows the noise.
    (width,) = (value for _, what, value in plan if what == "width")
    assert width.startswith("2.0 % on each side of the change, if a minute varies by 2.0 % (assumed")
    assert plan[-1] == ("both", "minutes", "13")


def test_a_smaller_width_takes_more_minutes(store: Path) -> None:
    asked = ("runs", "plan", "perf32-smcr-tcp-rr-cpu", "--store", store, "--format", "json")
    minutes = [json.loads(start(*asked, *width).stdout)[-1]["value"] for width in ((), ("--width", 1))]
    assert int(minutes[0]) < int(minutes[1])


def test_a_result_that_no_runs_measure_has_no_plan(store: Path) -> None:
    refused = start("runs", "plan", "ztpf-memory", "--store", store)
    assert (refused.exit_code, "benchmark runs do not measure this result" in refused.stderr) == (8, True)
    unknown = start("runs", "plan", "tls", "--store", store)
    assert (unknown.exit_code, "there is no such published result" in unknown.stderr) == (12, True)


def test_imported_runs_are_recognised_by_their_tags(store: Path, tmp_path: Path) -> None:
    blocks = [
        f"[[run]]\nname = \"{name}\"\nsystem = \"SYSA\"\nrole = \"client\"\n"
        f"from = 2026-03-02T{hour}:00:00Z\nto = 2026-03-02T{hour}:30:00Z\nworkload = \"RR60(4kB)\"\n"
        f"transactions = 1000\n[run.tags]\ninterface = \"{interface}\"\ntransport = \"{transport}\"\n"
        for name, hour, interface, transport in (
            ("plain", "01", "OSH", "TCP"), ("shared-memory", "02", "NETH", "SMC-Rv2"),
            ("neither", "03", "OSH", "UDP"),
        )
    ]  # fmt: skip
    file = tmp_path / "other.toml"
    file.write_text("".join(blocks), encoding="utf-8")
    done = start("runs", "import", file, "--store", store)
    assert done.exit_code == 0
    assert "perf32-smcr-tcp-rr-cpu: shared-memory against plain" in done.stderr
    assert "\nneither: no pair with it has the tags of a published result" in done.stderr
    assert "perf32-smcr-tcp-rr-cpu" not in start("runs", "import", file, "--store", store).stderr
