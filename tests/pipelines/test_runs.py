"""Reading runs.toml: what can be used is used, and of all else it is said what and where it is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zscope.pipelines.runs import FILE_NAME, Run, read_runs, run_table
from zscope.pipelines.runs.entry import parse_run
from zscope.pipelines.runs.read import RUN_SCHEMA, parse_runs
from zscope.pipelines.store.folder import Folder, runs_digest
from zscope.schemas.errors import SettingsError

if TYPE_CHECKING:
    from pathlib import Path

ONE = """
[[run]]
name = "tls13"
system = "cli1"
role = "client"
from = 2026-03-09T02:00:00+01:00
to = 2026-03-09T01:12:00Z
"""
OTHER = ONE.replace("cli1", "SRV1").replace("client", "server")


def problem_of(text: str) -> tuple[int | None, str, str]:
    """The one thing that is wrong in a text."""
    (problem,) = parse_runs(text).problems
    return problem.line, problem.key, problem.text


def test_run_with_all_keys(tmp_path: Path) -> None:
    more = """workload = "CRR40(64B/8kB)"
transactions = 123456
note = "after the change"
synthetic = true
[run.tags]
version = "TLSv1.3"
cipher = "c030"
fips = false
mtu = 9000
release = 3.2
"""
    (tmp_path / FILE_NAME).write_text(ONE + more, encoding="utf-8")
    assert run_table(tmp_path).to_pylist() == [
        {
            "name": "tls13",
            "system": "CLI1",
            "role": "client",
            "from_utc": datetime(2026, 3, 9, 1, 0, tzinfo=UTC),
            "to_utc": datetime(2026, 3, 9, 1, 12, tzinfo=UTC),
            "workload": "CRR40(64B/8kB)",
            "workload_kind": "CRR",
            "clients": 40,
            "client_bytes": 64,
            "server_bytes": 8000,
            "transactions": 123456,
            "tags": ["cipher=C030", "fips=off", "mtu=9000", "release=3.2", "version=TLSv1.3"],
            "note": "after the change",
            "synthetic": True,
        }
    ]


def test_the_table_has_its_schema_with_and_without_a_file(tmp_path: Path) -> None:
    assert run_table(tmp_path).equals(RUN_SCHEMA.empty_table(), check_metadata=True)
    (tmp_path / FILE_NAME).write_text(ONE, encoding="utf-8")
    assert run_table(tmp_path).schema.equals(RUN_SCHEMA, check_metadata=True)
    assert all(field.metadata[b"meaning"] for field in RUN_SCHEMA)
    assert run_table(tmp_path).num_rows == 1


def test_missing_keys_are_null_and_tags_are_empty() -> None:
    (run,) = parse_runs(ONE).runs
    assert (run.workload, run.workload_kind, run.transactions, run.note) == (None, None, None, None)
    assert (run.tags, run.synthetic) == ((), False)


def test_a_kb_is_what_the_file_says() -> None:
    text = f'kb_bytes = 1024\n{ONE}workload = "RR60(4kB)"\n'
    (run,) = parse_runs(text).runs
    assert (run.client_bytes, run.server_bytes) == (4096, 4096)


def test_a_workload_of_several_parts_has_no_kind_and_no_sizes() -> None:
    (run,) = parse_runs(f'{ONE}workload = "RR10(4kB) + STR1(5MB/1B)"\n').runs
    assert run.workload == "RR10(4kB) + STR1(5MB/1B)"
    assert (run.workload_kind, run.clients, run.client_bytes, run.server_bytes) == (None, None, None, None)


@pytest.mark.parametrize(
    ("wrong", "key", "problem"),
    [
        ('name = ""', "name", "a text of 1 to 64 characters"),
        ('name = " a"', "name", "without leading or trailing blanks, got ' a'"),
        ('system = "SYSTEM001"', "system", "1 to 8 characters"),
        ('system = "SYS A"', "system", "'SYS A' is not a system name"),
        (
            "from = 2026-03-09T01:00:00",
            "from",
            "2026-03-09T01:00:00 has no offset from UTC; expected a time",
        ),
        ("from = 2026-03-09", "from", "or 2026-03-09T02:00:00+01:00, got 2026-03-09"),
        ('to = "2026-03-09T01:12:00Z"', "to", "without quotes, such as 2026-03-09T01:00:00Z"),
        (
            "to = 2026-03-09T01:00:00Z",
            "to",
            "2026-03-09 01:00:00 UTC is not after from, 2026-03-09 01:00:00 UTC",
        ),
        ("to = 2062-03-09T01:12:00Z", "to", "is 13,149 days after from; a run is shorter than 31 days"),
        ("from = 0001-01-01T00:00:00+05:00", "from", "is not a valid time in UTC"),
        ("transactions = -1", "transactions", "an integer from 0 to 9,223,372,036,854,775,807, got -1"),
        ("transactions = 9223372036854775808", "transactions", "got 9223372036854775808"),
        ('workload = "CRR40(64B/8k)"', "workload", "expected B, kB or MB at column 12, got 'k)'"),
        ("note = 1", "note", "a text of up to 2,000 characters, got 1"),
        ("tags = 1", "tags", "expected a table, got 1"),
        ('tags = { "a b" = 1 }', "tags.a b", "a name of 1 to 40 letters, digits and _"),
        ("tags = { mtu = [] }", "tags.mtu", "a number, true or false, got []"),
        ('tags = { mtu = "" }', "tags.mtu", "got ''"),
    ],
)
def test_invalid_value_is_a_problem_with_its_place(wrong: str, key: str, problem: str) -> None:
    replaced = wrong.partition(" ")[0]
    kept = [line for line in ONE.strip().splitlines() if line.partition(" ")[0] != replaced]
    text = "\n".join([*kept, wrong, OTHER])
    found = parse_runs(text)
    assert [run.title for run in found.runs] == ["tls13 (server on SRV1)"]
    (told,) = found.problems
    assert told.line == len(kept) + 1
    assert told.key.startswith("run[")
    assert told.key.endswith(f"].{key}")
    assert problem in told.text
    assert not told.warning


@pytest.mark.parametrize("key", ["name", "system", "role", "from", "to"])
def test_missing_required_keys_are_problems(key: str) -> None:
    text = "\n".join(line for line in ONE.splitlines() if not line.startswith(f"{key} "))
    line, place, told = problem_of(text)
    assert (line, told.partition("; expected ")[0]) == (2, "is missing")
    assert place.endswith(f"].{key}")


def test_duplicate_side_is_a_problem() -> None:
    found = parse_runs(ONE + OTHER + ONE.replace("cli1", "CLI1"))
    assert len(found.runs) == 2
    (problem,) = found.problems
    assert (problem.line, problem.key) == (16, "run[tls13]")
    assert (
        problem.text == "tls13 (client on CLI1) is already defined above; each side of a run is defined once"
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[run]\n", "is not TOML: "),
        ("from = 2026-02-30T00:00:00Z", "is not TOML: "),
        ("a = " + "[" * 5_000, "is nested too deeply"),
    ],
)
def test_invalid_toml_is_one_problem(text: str, problem: str) -> None:
    found = parse_runs(text)
    assert found.runs == ()
    assert found.problems[0].text.startswith(problem)


@pytest.mark.parametrize(
    ("text", "key", "problem"),
    [
        (f"[run]{ONE[7:]}".replace("[run]]", "[run]"), "run", "each with two brackets"),
        ("kb_bytes = 1000.0", "kb_bytes", "expected 1000 or 1024, got 1000.0"),
        ("kb_bytes = 512", "kb_bytes", "got 512"),
    ],
)
def test_problems_of_the_file_name_the_key(text: str, key: str, problem: str) -> None:
    _, place, told = problem_of(text)
    assert place == key
    assert problem in told


def test_unreadable_file_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"# \xff")
    assert read_runs(tmp_path).problems[0].text == "is not UTF-8 text (byte 2)"
    assert run_table(tmp_path).num_rows == 0
    (tmp_path / FILE_NAME).unlink()
    (tmp_path / FILE_NAME).mkdir()
    assert read_runs(tmp_path).problems[0].text == "cannot be read: Is a directory"
    assert run_table(tmp_path).num_rows == 0
    assert runs_digest(Folder(tmp_path)) == "unreadable: Is a directory"


def test_a_file_that_is_too_large_for_runs_is_not_read(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"#" * (5 << 20))
    assert read_runs(tmp_path).problems[0].text == "is larger than 4,194,304 bytes and not a list of runs"


def test_byte_order_mark_is_ignored() -> None:
    assert len(parse_runs("\ufeff" + ONE).runs) == 1


def test_the_digest_changes_with_the_file_and_with_nothing_else(tmp_path: Path) -> None:
    assert runs_digest(Folder(tmp_path)) == ""
    (tmp_path / FILE_NAME).write_text(ONE, encoding="utf-8")
    first = runs_digest(Folder(tmp_path))
    assert first == runs_digest(Folder(tmp_path)) != ""
    (tmp_path / FILE_NAME).write_text(ONE + "# a comment", encoding="utf-8")
    assert runs_digest(Folder(tmp_path)) != first


def doubts_of(text: str) -> list[str]:
    found = parse_runs(text)
    assert all(problem.warning for problem in found.problems)
    assert len(found.runs) == text.count("[[run]]")
    return [str(problem) for problem in found.problems]


def test_overlapping_runs_are_warned_about() -> None:
    later = ONE.replace("tls13", "next").replace("T02:00:00+01:00", "T01:10:00Z").replace("01:12", "01:20")
    (doubt,) = doubts_of(ONE + later)
    assert doubt == (
        "runs.toml, line 9: next (client on CLI1): overlaps with tls13 (client on CLI1): until 2026-03-09 "
        "01:12:00 UTC both include the same CPU time and connections"
    )


def test_runs_without_overlap_have_no_warning() -> None:
    behind = (
        ONE.replace("tls13", "next")
        .replace("T02:00:00+01:00", "T01:12:00Z")
        .replace("T01:12:00Z", "T01:20:00Z")
    )
    behind = behind.replace("from = 2026-03-09T01:20:00Z", "from = 2026-03-09T01:12:00Z")
    assert doubts_of(ONE + OTHER + behind) == []


def test_a_long_run_overlaps_with_every_one_in_it() -> None:
    short = (
        ONE.replace("T02:00:00+01:00", "T01:0{}:00Z").replace("01:12", "01:0{}:30").replace(":30:00Z", ":30Z")
    )
    inside = "".join(short.replace("tls13", f"s{n}").replace("{}", str(n)) for n in (1, 3))
    assert [doubt.count("overlaps with tls13") for doubt in doubts_of(ONE + inside)] == [1, 1]


def test_sides_that_do_not_match_are_warned_about() -> None:
    (workload,) = doubts_of(f'{ONE}workload = "CRR40(64B/8kB)"\n{OTHER}')
    assert "has workload None, but tls13 (client on CLI1) has CRR40(64B/8kB)" in workload
    (time,) = doubts_of(ONE + OTHER.replace("2026-03-09", "2026-03-10"))
    assert "is not at the same time as tls13 (client on CLI1)" in time


def test_misspelt_tag_is_warned_about() -> None:
    (doubt,) = doubts_of(f'{ONE}[run.tags]\ncypher = "1302"\nmy_own_setting = "x"\ncipher = "1302"\n')
    assert "tag 'cypher' is not used by published results; did you mean cipher?" in doubt


@given(st.text(max_size=200) | st.text(alphabet="[]run=\"\n#.{}'ta,0123456789-:TZ ", max_size=200))
def test_any_text_is_read_without_exception(text: str) -> None:
    found = parse_runs(text)
    assert all(isinstance(run, Run) for run in found.runs)
    assert all(str(problem) for problem in found.problems)


_VALUES: st.SearchStrategy[object] = (
    st.booleans() | st.integers() | st.floats() | st.text(max_size=70) | st.just([]) | st.dates() | st.times()
    | st.datetimes() | st.datetimes(timezones=st.just(UTC)) | st.dictionaries(st.text(max_size=4), st.text())
)  # fmt: skip


@given(
    st.dictionaries(st.sampled_from(["name", "system", "role", "from", "to", "note", "tags", "x"]), _VALUES)
)
def test_any_value_under_any_key_is_used_or_refused(raw: dict[str, object]) -> None:
    try:
        run = parse_run(raw)
    except SettingsError as error:
        assert error.problem  # noqa: PT017 - either of the two is right
    else:
        assert pa.Table.from_pylist([{"name": run.name}]).num_rows == 1
