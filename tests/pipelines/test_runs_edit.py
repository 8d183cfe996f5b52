"""Changing runs.toml: what is wanted changes, and every other line stays as its author wrote it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zscope.pipelines.runs import Run
from zscope.pipelines.runs.edit import RunsChangeError, run_block, with_runs, without_runs
from zscope.pipelines.runs.read import parse_runs

START = datetime(2026, 3, 9, 1, tzinfo=UTC)
HAND_WRITTEN = """\
# Runs of the spring campaign
kb_bytes = 1024   # as our load driver counts

# the old level
[[run]]
name = "old"   # before
system = "CLI1"
role = 'client'
from = 2026-03-09T02:00:00+01:00
to = 2026-03-09T01:12:00Z

  [run.tags]
  cipher = "1302"

# the new level
# (second try)
[[ run ]]  # the candidate
to = 2026-03-10T01:12:00Z
from = 2026-03-10T01:00:00Z
role = "client"
system = "CLI1"
name = "new"
"""


def a_run(name: str = "b", hours: int = 0, **more: object) -> Run:
    start = START + timedelta(hours=hours)
    return Run(name, "SYSA", "client", start, start + timedelta(minutes=10), **more)  # type: ignore[arg-type]


def test_runs_are_appended() -> None:
    changed = with_runs(HAND_WRITTEN, [a_run("x", 5), a_run("y", 6)])
    assert changed.startswith(HAND_WRITTEN)
    assert [run.name for run in parse_runs(changed).runs] == ["old", "new", "x", "y"]


@pytest.mark.parametrize("text", ["", "# nothing yet", "\n\n", "\ufeff", "kb_bytes = 1024"])
def test_runs_are_added_to_an_empty_file(text: str) -> None:
    changed = with_runs(text, [a_run()])
    assert changed.startswith(text)
    assert parse_runs(changed).runs == (a_run(),)


@pytest.mark.parametrize("year", [1, 1970, 9999])
def test_a_run_of_any_year_can_be_written(year: int) -> None:
    run = Run(
        "far", "SYSA", "client", datetime(year, 3, 9, tzinfo=UTC), datetime(year, 3, 9, 0, 0, 1, 5, UTC)
    )
    assert parse_runs(with_runs(HAND_WRITTEN, [run])).runs[-1] == run


def test_a_file_without_a_last_line_feed_gets_one() -> None:
    assert len(parse_runs(with_runs(HAND_WRITTEN.rstrip("\n"), [a_run()])).runs) == 3


def test_line_ends_are_preserved() -> None:
    changed = with_runs(HAND_WRITTEN.replace("\n", "\r\n"), [a_run()])
    assert changed.count("\r\n") == changed.count("\n")
    shorter, _ = without_runs(changed, "old")
    assert shorter.count("\r\n") == shorter.count("\n")
    assert [run.name for run in parse_runs(shorter).runs] == ["new", "b"]


def test_existing_run_is_not_added_again() -> None:
    with pytest.raises(RunsChangeError, match=r"b \(client on SYSA\) exists already"):
        with_runs(with_runs("", [a_run()]), [a_run(hours=3)])
    with pytest.raises(RunsChangeError, match="exists already"):
        with_runs("", [a_run(), a_run()])


@pytest.mark.parametrize("text", ["run = []", "[run]\nname = 'a'"])
def test_file_in_unsupported_form_is_refused(text: str) -> None:
    with pytest.raises(RunsChangeError, match="edit the file by hand"):
        with_runs(text, [a_run()])


def test_run_is_added_to_a_file_with_an_invalid_run() -> None:
    changed = with_runs("[[run]]\nname = 5\n", [a_run()])
    assert parse_runs(changed).runs == (a_run(),)


def test_run_is_removed_with_the_comment_above_it() -> None:
    changed, gone = without_runs(HAND_WRITTEN, "old")
    assert gone == 1
    assert (
        changed
        == HAND_WRITTEN.replace(HAND_WRITTEN[HAND_WRITTEN.index("# the old") :], "")
        + (HAND_WRITTEN[HAND_WRITTEN.index("# the new") :])
    )
    changed, gone = without_runs(HAND_WRITTEN, "new")
    assert gone == 1
    assert changed == HAND_WRITTEN[: HAND_WRITTEN.index("# the new")]


def test_first_comment_of_a_file_stays() -> None:
    changed, _ = without_runs(f"# my runs\n{run_block(a_run())}", "b")
    assert changed == "# my runs\n"


def test_all_sides_of_a_run_are_removed() -> None:
    sides = [
        a_run("a"),
        a_run("b"),
        Run("a", "SRV1", "server", START, START + timedelta(hours=1)),
        a_run("c"),
    ]
    changed, gone = without_runs(with_runs("", sides), "a")
    assert gone == 2
    assert [run.name for run in parse_runs(changed).runs] == ["b", "c"]
    assert without_runs(changed, "nobody") == (changed, 0)


def test_invalid_run_can_be_removed() -> None:
    assert without_runs(f'[[run]]\nname = "bad"\n{run_block(a_run())}', "bad") == (run_block(a_run()), 1)


@pytest.mark.parametrize(
    "text",
    [
        "run = 3",
        'run = [{ name = "a" }]',
        '[[run]]\nname = "a"\nnote = """\n[[run]]\n"""\n',
        '[[run]]\nname = "a"\n[else]\nkey = 1\n',
    ],
)
def test_removal_from_a_file_in_unsupported_form_is_refused(text: str) -> None:
    with pytest.raises(RunsChangeError, match="edit the file by hand"):
        without_runs(text, "a")


def test_invalid_toml_must_be_corrected_first() -> None:
    with pytest.raises(RunsChangeError, match=r"the file is not TOML: .* correct it first"):
        without_runs("[[run", "a")
    with pytest.raises(RunsChangeError, match=r"the file is not TOML: .* correct it first"):
        with_runs("[[run", [a_run()])


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
_PRINTABLE = st.characters(exclude_categories=["C", "Z"])
_NAME = st.lists(st.text(_PRINTABLE, min_size=1, max_size=8), min_size=1, max_size=3).map(" ".join)
_SYSTEM_NAME = st.lists(st.text("ABCXYZ019$#@=", min_size=1, max_size=8), min_size=1, max_size=2).map(
    ".".join
)
_RUNS = st.builds(
    Run,
    name=_NAME,
    system=_SYSTEM_NAME,
    role=st.sampled_from(["client", "server"]),
    from_utc=st.datetimes(datetime(2026, 1, 1), datetime(2026, 1, 9), timezones=st.just(UTC)),  # noqa: DTZ001
    to_utc=st.datetimes(datetime(2026, 1, 10), datetime(2026, 1, 30), timezones=st.just(UTC)),  # noqa: DTZ001
    transactions=st.none() | st.integers(0, 2**63 - 1),
    tags=st.dictionaries(st.text("abcxyz019_", min_size=1, max_size=9), _NAME, max_size=3).map(
        lambda tags: tuple(sorted(f"{key}={value}" for key, value in tags.items() if key != "cipher"))
    ),
    note=st.none() | _TEXT,
    synthetic=st.booleans(),
)


@given(st.lists(_RUNS, max_size=4, unique_by=lambda run: run.key))
def test_written_runs_are_read_back(runs: list[Run]) -> None:
    found = parse_runs(with_runs(HAND_WRITTEN, runs))
    assert [problem for problem in found.problems if not problem.warning] == []
    assert list(found.runs[2:]) == runs


@given(st.lists(_RUNS, min_size=1, max_size=4, unique_by=lambda run: run.key), st.integers(0, 3))
def test_added_runs_can_be_removed(runs: list[Run], which: int) -> None:
    name = runs[which % len(runs)].name
    changed, gone = without_runs(with_runs(HAND_WRITTEN, runs), name)
    assert gone == sum(run.name == name for run in runs)
    assert list(parse_runs(changed).runs[2:]) == [run for run in runs if run.name != name]
    assert changed.startswith(HAND_WRITTEN)
