"""`zscope runs`: the list, and the commands that change it."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from zscope.app.cli import program
from zscope.parsers.smf.write import SectionBytes, encode_records, encode_section
from zscope.schemas import catalog
from zscope.schemas.arrow import arrow_type

SAMPLE = Path(__file__).resolve().parents[2] / "sample-data" / "smf-sample.bin"
FROM_TO = ("--from", "2026-03-02T01:00Z", "--to", "2026-03-02T05:00+01:00")


def start(*arguments: object) -> Result:
    return CliRunner().invoke(program, [str(argument) for argument in arguments], prog_name="zscope")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample dump; only to be read."""
    store = tmp_path_factory.mktemp("runs") / "store"
    assert start("ingest", SAMPLE, "--store", store, "--timezone", "+00:00").exit_code == 0
    return store


@pytest.fixture
def store(loaded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(loaded, tmp_path / "store"))


def add(store: Path, name: str, *more: object) -> Result:
    needed = ("--system", "sysa", "--role", "client", *FROM_TO)
    return start("runs", "add", name, *needed, *more, "--store", store)


def test_a_run_that_is_added_is_listed_with_its_figures(store: Path) -> None:
    options = ("--workload", "CRR40(64B/8kB)", "--transactions", 1_000_000, "--tag", "cipher=c030")
    done = add(store, "first", *options, "--tag", "fips=on", "--note", 'say "when"')
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "first (client on SYSA) is added\n")
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


def test_without_runs_it_says_how_to_get_some(store: Path) -> None:
    done = start("runs", "--store", store, "--format", "json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, [])
    assert "zscope runs add names one" in done.stderr


def test_problems_of_the_file_are_told_beside_the_runs_that_can_be_used(store: Path) -> None:
    add(store, "good")
    file = store / "runs.toml"
    file.write_text(f'[[run]]\nname = "bad"\n{file.read_text(encoding="utf-8")}', encoding="utf-8")
    done = start("runs", "--store", store, "--format", "jsonl")
    assert done.exit_code == 4
    assert [json.loads(line)["name"] for line in done.stdout.splitlines()] == ["good"]
    assert done.stderr == f"left out: {file.resolve()}, line 1: run 1 ('bad'): system: is missing\n"


def test_a_file_that_is_no_toml_is_told_and_the_store_is_of_use(store: Path) -> None:
    (store / "runs.toml").write_text("[[run", encoding="utf-8")
    done = start("runs", "--store", store)
    assert done.exit_code == 4
    assert "is not TOML" in done.stderr
    assert start("sql", "SELECT count(*) FROM run", "--store", store).exit_code == 0


def test_what_is_doubtful_is_added_with_a_warning(store: Path) -> None:
    add(store, "one")
    done = add(store, "two", "--tag", "cypher=1302")
    assert done.exit_code == 4
    assert "two (client on SYSA) is added" in done.stderr
    assert "warning: " in done.stderr
    assert "overlaps with one (client on SYSA)" in done.stderr
    assert "did you mean 'cipher'?" in done.stderr


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--from", "yesterday"), "--from: 'yesterday' is no time such as 2026-03-09T01:00Z"),
        (("--from", "2026-03-02T01:00"), "from: 2026-03-02T01:00:00 has no offset from UTC"),
        (("--from", "2026-03-03T01:00Z"), "to: 2026-03-02 04:00:00 UTC is not after from"),
        (("--workload", "CRR40"), "workload: 'CRR40' is no workload"),
        (("--tag", "cipher"), "--tag: 'cipher' is no KEY=VALUE"),
        (("--tag", "=1302"), "--tag: '=1302' is no KEY=VALUE"),
        (("--tag", "mtu=1", "--tag", "mtu=2"), "--tag: mtu is given twice, as 1 and 2"),
        (("--transactions", "-1"), "transactions: expected is a whole number of 0 or more"),
        (("--system", "SYSTEM001"), "system: expected is the name of a system"),
    ],
)
def test_a_run_that_cannot_be_is_not_added(store: Path, options: tuple[str, ...], problem: str) -> None:
    done = add(store, "wrong", *options)
    assert done.exit_code == 12
    assert problem in done.stderr
    assert not (store / "runs.toml").exists()


def test_a_side_that_is_there_is_not_added_again(store: Path) -> None:
    add(store, "one")
    done = add(store, "one")
    assert done.exit_code == 12
    assert "one (client on SYSA) is there already" in done.stderr


def test_a_run_is_removed_and_one_that_is_not_there_is_refused(store: Path) -> None:
    add(store, "one")
    done = start("runs", "remove", "one", "--store", store)
    assert (done.exit_code, done.stderr) == (0, "one: 1 side removed\n")
    again = start("runs", "remove", "one", "--store", store)
    assert again.exit_code == 12
    assert "there is no run 'one'; it has none" in again.stderr


def test_runs_are_taken_over_from_a_file_once(store: Path, tmp_path: Path) -> None:
    add(store, "one")
    other = Path(shutil.copy(store / "runs.toml", tmp_path / "other.toml"))
    start("runs", "remove", "one", "--store", store)
    assert start("runs", "import", other, "--store", store).stderr == "1 run taken over, 0 were there\n"
    assert start("runs", "import", other, "--store", store).stderr == "0 runs taken over, 1 were there\n"


def test_a_file_with_an_error_is_refused_as_a_whole(store: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text("[[run]]\nname = 'a'\n", encoding="utf-8")
    done = start("runs", "import", other, "--store", store)
    assert done.exit_code == 8
    assert f"{other}, line 1: run 1 ('a'): system: is missing" in done.stderr
    assert "nothing was taken over" in done.stderr
    assert not (store / "runs.toml").exists()
    assert start("runs", "import", tmp_path / "none.toml", "--store", store).exit_code == 12


def test_options_of_the_list_are_not_lost_before_a_command(store: Path) -> None:
    done = start("runs", "--store", store, "remove", "one")
    assert done.exit_code == 12
    assert "remove has options of its own: put them behind it" in done.stderr


def test_who_looks_for_the_list_among_the_commands_is_told_where_it_is(store: Path) -> None:
    done = start("runs", "list", "--store", store)
    assert (done.exit_code, done.stdout) == (12, "")
    assert (
        "runs has no command 'list', but add, remove, import, propose; zscope runs by itself" in done.stderr
    )


def test_a_file_without_runs_is_told_apart_from_one_with_known_ones(store: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text("# none yet", encoding="utf-8")
    done = start("runs", "import", other, "--store", store)
    assert (done.exit_code, done.stderr) == (0, f"{other}: has no runs, so nothing was taken over\n")


@pytest.mark.parametrize("content", [b"\xe2\x28\xa1", b"Read me first\n", b"x" * (5 << 20)])
def test_another_kind_of_file_is_refused(store: Path, tmp_path: Path, content: bytes) -> None:
    other = tmp_path / "README.md"
    other.write_bytes(content)
    (store / "runs.toml").write_bytes(b"# mine")
    done = start("runs", "import", other, "--store", store)
    assert done.exit_code == 8
    assert str(other) in done.stderr
    assert "nothing was taken over" in done.stderr
    assert (store / "runs.toml").read_bytes() == b"# mine"


def test_what_is_proposed_beside_a_file_that_cannot_be_used_is_told_so(store: Path) -> None:
    (store / "runs.toml").write_bytes(b"\xff")
    done = start("runs", "propose", "--store", store)
    assert done.exit_code == 4
    assert "left out: " in done.stderr
    assert "is not UTF-8 text (byte 0)" in done.stderr


def test_what_does_not_look_like_a_run_is_not_proposed(store: Path) -> None:
    done = start("runs", "propose", "--add", "--store", store, "--format", "json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, [])
    assert "0 runs proposed that runs.toml does not have" in done.stderr
    assert not (store / "runs.toml").exists()


BEGIN = datetime(2026, 3, 9, 1, tzinfo=UTC)
MINUTES, EACH = 6, 12


def steady_dump() -> bytes:
    """Twelve short connections a minute for six minutes, all with the same handshake and the same bytes."""
    layout, records = catalog().records[119, 11], MINUTES * EACH
    starts = [BEGIN + timedelta(seconds=60 / EACH * number) for number in range(records)]
    columns: dict[str, dict[str, list[object]]] = {
        "identification": {"stack": ["TCPIP"] * records},
        "common": {
            "event_type": [4] * records,
            "security_protocols_flags": [128] * records,
            "start_utc": [*starts],
            "end_utc": [start + timedelta(seconds=1) for start in starts],
            "connection_id": [*range(records)],
            "in_bytes": [8_000] * records,
            "out_bytes": [64] * records,
        },
        "tls": {
            "tls_version": [0x0304] * records,
            "handshake_type": [1] * records,
            "handshake_role": [1] * records,
            "cipher": ["1302"] * records,
        },
    }
    parts = []
    for key, given in columns.items():
        section = layout.section(key)
        types = {field.column: arrow_type(field) for field in section.columns}
        values = {name: pa.array(column, types[name]) for name, column in given.items()}
        rows = encode_section(section, values, records, section.known_length)
        parts.append(SectionBytes(section, [[row.tobytes()] for row in rows]))
    header = {
        "written_local": pa.array([start.replace(tzinfo=None) for start in starts], pa.timestamp("us")),
        "system": pa.array(["CLI1"] * records),
    }
    return b"".join(encode_records(layout, header, parts, records))


def test_a_run_is_found_in_the_data_and_added_once(tmp_path: Path) -> None:
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
    assert "0 runs proposed that runs.toml does not have" in again.stderr
