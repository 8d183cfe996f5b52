"""The steps of a night: what each does, its exit code, and what later steps do after a failure."""

from __future__ import annotations

import fcntl
import gzip
import io
import json
import os
import shutil
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from pyiceberg.table import StaticTable
from tests.app.cli.nightly.nights import (
    FIRST_DAY,
    LOAD,
    MOVE,
    OTHER,
    SMALL,
    NightFolder,
    codes,
    days_since,
    step,
)
from tests.app.report_reading import harmless
from tests.app.short_reports import shorten_report
from tests.pipelines.stores import queried

from zscope.app.cli.exits import ExitCode, NothingDoneError
from zscope.app.cli.nightly import running
from zscope.app.cli.nightly.night import Night, StepResult
from zscope.app.cli.nightly.running import STEPS, NightStep, run_night
from zscope.app.cli.nightly.settings_file import read_nightly_settings
from zscope.pipelines.store.commits import CHECK, Commit, append, read_state
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.process_lock import sign

EXPORT = '\n[[export]]\ntarget = "out"\nformat = "csv"\ntables = ["smf119_tcp_init"]\n'


def test_a_refused_file_among_good_ones(night: NightFolder) -> None:
    night.settings(LOAD + MOVE)
    night.add("a.smf", SMALL)
    night.add("sub/b.smf.gz", gzip.compress(OTHER))
    night.add("c.smf", b"")
    report = night.night()
    assert (codes(report), report["exit_code"]) == ({"load": 8, "files": 0}, 8)
    load = step(report, "load")
    assert (load["counts"]["loaded"], load["counts"]["refused"], load["outcome"]) == (2, 1, "failures")
    assert "refused: " in load["details"][0]
    assert night.names("loaded") == ["a.smf", "sub/b.smf.gz"]
    assert night.names("new") == ["c.smf"]
    assert {item["why"] for item in step(report, "files")["items"]} == {None, "refused"}
    assert len(queried(night.store, "SELECT * FROM load")) == 2


def test_what_is_passed_over_is_listed_with_the_issues_of_inputs(night: NightFolder) -> None:
    night.settings(LOAD.replace('["new"]', '["new", "gone"]'))
    night.add("module/__init__.py", b"")
    os.mkfifo(night.path / "new" / "pipe")
    (night.path / "new" / "linked").symlink_to("module")
    for again in range(2):
        report = night.night()
        assert step(report, "load")["counts"]["files"] == 0
        issues = queried(night.store, "SELECT file, code FROM input_issue ORDER BY file")
        assert issues == [
            (str(night.path / "gone"), "unreadable"),
            *((str(night.path / "new" / name), "not-an-input") for name in ("linked", "module", "pipe")),
        ], again


def test_a_night_without_new_files_is_a_warning_unless_it_is_expected(night: NightFolder) -> None:
    codes_by_setting = {}
    for setting in ("", 'no_files = "ok"', 'no_files = "failure"'):
        night.settings(LOAD + setting)
        codes_by_setting[setting] = night.night()["exit_code"]
    assert list(codes_by_setting.values()) == [4, 0, 8]
    assert step(night.night(), "load")["text"].startswith("no new file; 0 rows")


@pytest.mark.parametrize(("readers", "folders", "files"), [("group", 0o750, 0o640), ("all", 0o755, 0o644)])
def test_a_night_creates_files_for_the_readers_of_the_store(
    night: NightFolder, readers: str, folders: int, files: int
) -> None:
    before = os.umask(0o022)
    try:
        (night.path / "zscope.toml").write_text(f'[store]\nreadable_by = "{readers}"\n')
        night.settings(LOAD + EXPORT)
        night.add("a.smf", SMALL)
        (night.path / "out").mkdir()
        night.night()
    finally:
        os.umask(before)
    paths = [night.store, *night.store.rglob("*")]
    assert {path.stat().st_mode & 0o777 for path in paths if path.is_dir()} == {folders}
    assert {path.stat().st_mode & 0o777 for path in paths if path.is_file()} == {files}
    exported = list((night.path / "out").rglob("*.csv"))
    assert {path.stat().st_mode & 0o777 for path in exported} == {0o644}


def test_files_that_may_still_be_written_are_left(night: NightFolder) -> None:
    night.settings(LOAD + MOVE)
    night.add("old.smf", SMALL, age_s=301)
    night.add("fresh.smf", OTHER, age_s=10)
    night.add("ahead.smf", OTHER, age_s=-500)
    night.add("half.part", OTHER)
    night.add(".hidden", OTHER)
    report = night.night()
    load = step(report, "load")
    assert (report["exit_code"], load["counts"]["loaded"], load["counts"]["unsettled"]) == (0, 1, 2)
    assert load["counts"]["not_matching"] == 1
    assert any("in the future; the clock of its writer differs" in line for line in load["details"])
    assert night.names("new") == ["ahead.smf", "fresh.smf", "half.part"]
    night.add("fresh.smf", OTHER)
    assert step(night.night(), "load")["counts"]["loaded"] == 1


@pytest.mark.deep
def test_of_a_file_that_grew_only_the_new_part_is_loaded(night: NightFolder) -> None:
    night.settings(LOAD)
    night.add("a.smf", SMALL[: len(SMALL) // 2])
    first = night.night()
    night.add("a.smf", SMALL)
    second = night.night()
    assert second["exit_code"] <= 4
    records = [step(report, "load")["counts"]["records"] for report in (first, second)]
    assert min(records) > 0
    [(total,)] = queried(night.store, "SELECT count(*) FROM smf119_tcp_init")
    whole = NightFolder(night.path / "whole")
    (whole.path / "new").mkdir(parents=True)
    whole.settings(LOAD)
    whole.add("a.smf", SMALL)
    whole.night()
    assert queried(whole.store, "SELECT count(*) FROM smf119_tcp_init") == [(total,)]


def test_patterns_apply_to_names_or_with_a_slash_to_paths(night: NightFolder) -> None:
    night.settings(LOAD + 'patterns = ["*.smf", "b/*.bin"]\nexclude = []')
    for name in ("1.smf", "2.bin", "a/3.smf", "b/4.bin", "5.txt"):
        night.add(name, SMALL)
    report = step(night.night("--dry-run"), "load")
    loaded = sorted(Path(item["file"]).name for item in report["items"])
    assert loaded == ["1.smf", "3.smf", "4.bin"]
    assert report["counts"]["not_matching"] == 2


def test_a_missing_folder_is_a_failure_and_the_others_are_loaded(night: NightFolder) -> None:
    night.settings('store = "store"\n[load]\nfolders = ["gone", "new", "new/sub"]\n')
    night.add("sub/a.smf", SMALL)
    report = night.night()
    assert report["exit_code"] == 8
    load = step(report, "load")
    assert (load["counts"]["files"], load["counts"]["loaded"]) == (1, 1)
    assert any("gone: does not exist" in line for line in load["details"])


def test_without_any_folder_the_steps_that_need_new_files_are_skipped(night: NightFolder) -> None:
    text = 'store = "store"\n[load]\nfolders = ["gone"]\n' + MOVE + '[expire]\nkeep = "9y"' + EXPORT
    night.settings(text)
    report = night.night()
    assert codes(report) == {"load": 12, "files": 0, "expire": 0, "export": 0}
    outcomes = {each["step"]: each["outcome"] for each in report["steps"]}
    assert outcomes == {
        "load": "not done",
        "files": "skipped",
        "validate": "not set up",
        "expire": "done",
        "check": "not set up",
        "export": "skipped",
        "publish": "not set up",
        "report": "not set up",
    }
    assert step(report, "export")["text"] == "skipped because of the step load"


def test_a_store_that_is_busy_for_too_long(night: NightFolder) -> None:
    night.settings("lock_wait_s = 0\n" + LOAD + MOVE)
    night.night()
    night.add("a.smf", SMALL)
    with (night.store / ".lock").open("a+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        report = night.night()
    assert codes(report) == {"load": 12, "files": 0}
    assert "is being changed by another process" in step(report, "load")["text"]
    assert night.names("new") == ["a.smf"]


@pytest.mark.deep
def test_options_of_reading_reach_the_ingest(night: NightFolder) -> None:
    night.settings(LOAD + 'select = "119(1)"\nsystems = ["nope"]\ntimezones = { SYSA = "Europe/Berlin" }')
    night.add("a.smf", SMALL)
    assert step(night.night(), "load")["counts"]["rows"] == 0
    night.settings(LOAD + 'timezone = "+01:00"')
    assert step(night.night(), "load")["counts"]["rows"] > 0
    [(unzoned,)] = queried(night.store, "SELECT count(*) FROM smf119_tcp_init WHERE written_utc IS NULL")
    assert unzoned == 0


@pytest.mark.deep
def test_files_can_be_deleted(night: NightFolder) -> None:
    night.settings(LOAD + '[files]\nafter_load = "delete"')
    night.add("a.smf", SMALL)
    night.add("notes.txt", b"nothing that zscope knows")
    assert step(night.night(), "files")["text"] == "1 file deleted, 1 stays"
    assert night.names("new") == ["notes.txt"]


@pytest.mark.deep
def test_an_archive_with_a_refused_member_stays(night: NightFolder) -> None:
    night.settings(LOAD + MOVE)
    for name, second in (("good.zip", OTHER), ("bad.zip", b"")):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("a.smf", SMALL)
            archive.writestr("b.smf", second)
        night.add(name, packed.getvalue())
    assert night.night()["exit_code"] == 8
    assert night.names("loaded") == ["good.zip"]


@pytest.mark.deep
def test_moving_replaces_nothing(night: NightFolder) -> None:
    night.settings(LOAD + MOVE)
    night.add("a.smf", SMALL)
    night.night()
    night.add("a.smf", OTHER)
    night.night()
    night.add("a.smf", SMALL)  # sent again
    night.night()
    assert night.names("new") == []
    assert night.names("loaded") == ["a.2.smf", "a.smf"]
    assert (night.path / "loaded" / "a.smf").read_bytes() == SMALL


@pytest.mark.deep
def test_files_can_be_moved_within_their_folder_and_to_another_disk(
    night: NightFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def refuse(source: Path, target: Path) -> None:
        if "done" in Path(target).parts:
            raise OSError(18, "Invalid cross-device link")
        link(source, target)

    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr("zscope.pipelines.unix_calls.rename_to_free_name", refuse)
    night.settings(LOAD + '[files]\nafter_load = "move"\nmove_to = "new/done"')
    night.add("sub/a.smf", SMALL)
    (night.path / "new" / "done" / "sub").mkdir(parents=True)
    leftover = night.path / "new" / "done" / "sub" / ".a.smf.4194305.beside"
    leftover.write_bytes(b"half")
    assert night.night()["exit_code"] == 0
    assert night.names("new") == ["done/sub/a.smf"]
    assert not leftover.exists()
    night.add("sub/a.smf", OTHER)
    night.night()
    assert night.names("new") == ["done/sub/a.2.smf", "done/sub/a.smf"]


def test_old_days_expire_before_the_export(night: NightFolder) -> None:
    night.settings(LOAD + f'[expire]\nkeep = "{days_since(FIRST_DAY) - 1}d"' + EXPORT)
    night.add("a.smf", SMALL)
    report = night.night()
    days = [day for (day,) in queried(night.store, "SELECT DISTINCT day FROM smf119_tcp_init")]
    assert min(map(str, days)) == "2026-03-03"
    assert step(report, "expire")["counts"]["rows"] > 0
    exported = (night.path / "out" / "smf119_tcp_init.csv").read_text()
    assert "2026-03-03" in exported
    assert "2026-03-02T" not in exported


@pytest.mark.parametrize("arguments", [(), ("--dry-run",)])
@pytest.mark.parametrize(
    ("section", "module"), [("validate", "great_expectations"), ("publish", "pyiceberg")]
)
def test_a_missing_extra_is_noticed_before_the_first_step(
    section: str, module: str, arguments: tuple[str, ...], night: NightFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "find_spec", lambda name: None if name == module else object())
    night.settings(LOAD + f"[{section}]\n")
    night.add("a.smf", SMALL)
    result = night.run(*arguments)
    assert result.exit_code == 12
    assert f"[{section}] needs {module}: pip install 'zscope[" in result.stderr
    assert not night.store.exists()


def test_files_are_compared_with_their_checksums(night: NightFolder) -> None:
    night.settings(LOAD + "[check]\n")
    night.add("a.smf", SMALL)
    report = night.night()
    check = step(report, "check")
    assert (check["exit_code"], check["counts"]["damaged"], check["counts"]["left"]) == (0, 0, 0)
    assert check["counts"]["checked"] == check["counts"]["files"] > 3
    path = next((night.store / "data" / "smf119_tcp_init").rglob("*.parquet"))
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    (night.store / "zscope.duckdb").write_bytes(b"?" * 40_000)
    queried(night.store, "SELECT 1")
    [(at,)] = queried(night.store, "SELECT max(checked_utc) FROM stored_file")
    _check_again(night, at - timedelta(days=7))
    report = night.night()
    check = step(report, "check")
    assert (codes(report)["check"], check["counts"]["damaged"]) == (8, 1)
    assert check["text"].startswith(
        "1 file is damaged, and nothing is read from smf119_tcp_init: zscope store"
    )
    assert check["items"][0]["problem"] == "has other content"
    assert codes(night.night())["check"] == 8  # until it is repaired


def _check_again(night: NightFolder, at: datetime) -> None:
    """Let all checks be from another time, so that all files are due."""
    folder = existing_store(night.store)
    state = read_state(folder)
    append(folder, state, Commit(CHECK, checked=tuple(state.checked), at_utc=at.isoformat()))


@pytest.mark.deep
def test_a_clock_that_is_wrong_does_not_empty_the_store(night: NightFolder) -> None:
    night.settings(LOAD + '[expire]\nkeep = "1d"')
    night.add("a.smf", SMALL)
    report = night.night()
    assert codes(report) == {"load": 0, "expire": 8}
    assert "all days would be removed; nothing was removed" in step(report, "expire")["text"]
    assert queried(night.store, "SELECT count(*) > 0 FROM smf119_tcp_init") == [(True,)]


@pytest.mark.deep
def test_exports_replace_those_of_the_night_before(night: NightFolder) -> None:
    dated = '[[export]]\ntarget = "dated/{month}/{date}.duckdb"\ntables = ["load"]\n'
    series = '[[export]]\ntarget = "now.prom"\ntables = ["handshake_mix"]\n'
    night.settings(LOAD + EXPORT + dated + series)
    (night.path / "dated").mkdir()
    night.add("a.smf", SMALL)
    assert step(night.night(), "export")["text"] == "3 exports written"
    night.add("b.smf", OTHER)
    assert night.night()["exit_code"] == 0
    [file] = night.names("dated")
    with duckdb.connect(str(night.path / "dated" / file), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM load").fetchall() == [(2,)]
    assert (night.path / "now.prom").read_text().endswith("# EOF\n") or (night.path / "now.prom").exists()
    assert not list(night.path.rglob(".*.part"))


@pytest.mark.deep
def test_an_export_that_fails_does_not_stop_the_others(night: NightFolder) -> None:
    wrong = '[[export]]\ntarget = "no/folder/x.duckdb"\n[[export]]\ntarget = "y"\ntables = ["xyzzy"]\n'
    night.settings(LOAD + wrong + EXPORT)
    night.add("a.smf", SMALL)
    report = night.night()
    assert codes(report) == {"load": 0, "export": 8}
    export = step(report, "export")
    assert export["text"] == "1 export written, 2 failed"
    assert [item["exit_code"] for item in export["items"]] == [12, 12, 0]
    assert "does not exist; create it first" in export["items"][0]["text"]
    assert "there is no table 'xyzzy'" in export["items"][1]["text"]


def test_a_folder_of_others_is_not_replaced(night: NightFolder) -> None:
    night.settings(LOAD + EXPORT)
    (night.path / "out").mkdir()
    (night.path / "out" / "mine.txt").touch()
    night.add("a.smf", SMALL)
    report = night.night()
    assert codes(report) == {"load": 0, "export": 12}
    assert night.names("out") == ["mine.txt"]


@pytest.mark.parametrize("folder_exists", [False, pytest.param(True, marks=pytest.mark.deep)])
def test_a_dry_run_changes_nothing(folder_exists: bool, night: NightFolder) -> None:
    if folder_exists:
        night.store.mkdir()
    night.settings(LOAD + MOVE + "[validate]\n" + '[expire]\nkeep = "9y"' + EXPORT)
    night.add("a.smf", SMALL)
    night.add("b.smf", b"")
    before = sorted(night.path.rglob("*"))
    result = night.run("--dry-run", "--quiet")
    assert result.exit_code == 8
    assert "dry run: nothing was changed" in result.stdout
    assert f"a.smf: would be moved to {night.path / 'loaded' / 'a.smf'}" in result.stdout
    assert "0 loads in the store and 1 new ones would be validated" in result.stdout
    assert "out: would be written as csv" in result.stdout
    assert sorted(night.path.rglob("*")) == before


@pytest.mark.deep
def test_a_dry_run_of_a_store_without_a_batch_changes_nothing(night: NightFolder) -> None:
    night.settings(LOAD)
    night.add("a.smf", SMALL)
    night.night()
    shutil.rmtree(night.store / "nightly")
    before = sorted(night.path.rglob("*"))
    assert "dry run: nothing was changed" in night.run("--dry-run", "--quiet").stdout
    assert sorted(night.path.rglob("*")) == before


def test_results_of_checks_are_exported(night: NightFolder) -> None:
    night.settings(LOAD + '[[export]]\ntarget = "findings.jsonl"\nformat = "splunk"')
    night.add("a.smf", SMALL)
    assert codes(night.night())["export"] == 0
    lines = (night.path / "findings.jsonl").read_text().splitlines()
    assert lines
    assert all("event" in json.loads(line) for line in lines)


def test_two_batches_do_not_overlap(night: NightFolder) -> None:
    night.settings(LOAD)
    night.night()
    before = (night.store / "nightly" / "last.json").read_bytes()
    with (night.store / "nightly" / ".lock").open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sign(lock.fileno())
        result = night.run()
        assert result.exit_code == 12
        assert f"process {os.getpid()} on " in result.stderr
        assert "runs the nightly batch of this store; nothing was done" in result.stderr
    # Now the lock is that of a process which ended without unlocking it.
    assert (night.store / "nightly" / ".lock").stat().st_size
    assert (night.store / "nightly" / "last.json").read_bytes() == before
    assert night.night()["exit_code"] == 4


def test_a_note_that_is_not_ours_is_an_error(night: NightFolder) -> None:
    night.settings(LOAD)
    night.night()
    (night.store / "nightly" / "unfinished.json").write_text("{}")
    result = night.run()
    assert result.exit_code == 12
    assert "unfinished.json: not a note of a night" in result.stderr


def test_reports_are_kept_for_some_nights(night: NightFolder) -> None:
    night.settings('keep_reports = 2\nreports = "reports"\n' + LOAD)
    (night.path / "reports").mkdir()
    for day in range(1, 5):
        (night.path / "reports" / f"2026-01-0{day}T020000Z.json").touch()
    (night.path / "reports" / "mine.json").touch()
    report = night.night()
    name = report["started_utc"].replace(":", "")
    assert night.names("reports") == sorted(
        ["2026-01-04T020000Z.json", f"{name}.json", f"{name}.txt", "last.json", "last.txt", "mine.json"]
    )
    assert json.loads((night.path / "reports" / "last.json").read_text()) == report


def test_quiet_prints_only_what_is_wrong(night: NightFolder) -> None:
    night.settings(LOAD + 'no_files = "ok"')
    good = night.run("--quiet")
    assert (good.exit_code, good.output) == (0, "")
    night.add("a.smf", b"")
    bad = night.run("--quiet")
    assert bad.exit_code == 8
    assert bad.stdout.startswith("zscope nightly: exit code 8, failures\n")
    assert bad.stderr == ""


def night_with(folder: NightFolder, *steps: NightStep) -> list[tuple[str, str, int]]:
    """Run a night with other steps, and return step, outcome and exit code."""
    file = folder.path / "nightly.toml"
    report = run_night(file, read_nightly_settings(file), lambda _: None, steps=steps, quiet=True)
    return [(each.step, each.outcome, int(each.code)) for each in report.steps]


def test_whatever_ends_a_step_the_others_run(night: NightFolder, capsys: pytest.CaptureFixture[str]) -> None:
    def defect(_: Night, __: object) -> StepResult:
        raise ZeroDivisionError

    def unusable(_: Night, __: object) -> StepResult:
        raise NothingDoneError("no")

    def full(_: Night, __: object) -> StepResult:
        raise OSError(28, "No space left on device")

    night.settings(LOAD + 'no_files = "ok"\n[validate]\n')
    first = STEPS[0]
    outcomes = night_with(
        night,
        replace(first, run=defect),
        *(NightStep("validate", run) for run in (unusable, full)),
        first,
        NightStep("validate", full, needs=("load",)),
    )
    assert outcomes == [
        ("load", "not done", 12),
        ("validate", "not done", 12),
        ("validate", "not done", 12),
        ("load", "done", 0),
        ("validate", "skipped", 0),
    ]
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize("stops", [False, True])
def test_a_step_can_stop_those_that_need_it(stops: bool, night: NightFolder) -> None:
    def failed(_: Night, __: object) -> StepResult:
        return StepResult(code=ExitCode.REFUSED, text="the data contradict each other", stops=stops)

    night.settings(LOAD + 'no_files = "ok"\n[validate]\n' + EXPORT)
    steps = [replace(each, run=failed) if each.name == "validate" else each for each in STEPS]
    outcome = "skipped" if stops else "done"
    assert night_with(night, *steps)[-1][:2] == ("export", outcome)


@pytest.mark.parametrize("damaged", ["zscope-store.json", "commits/00000001.json"])
def test_a_damaged_store_is_an_error(damaged: str, night: NightFolder) -> None:
    night.settings(LOAD)
    night.add("a.smf", SMALL)
    night.night()
    (night.store / damaged).write_text("{")
    result = night.run()
    assert result.exit_code == 12
    assert str(night.store) in result.output


@pytest.mark.deep
@pytest.mark.usefixtures("validation_here")
def test_data_that_contradict_each_other_are_not_exported_if_so_set(night: NightFolder) -> None:
    displays = Path(__file__).resolve().parents[4] / "sample-data" / "reports" / "syslog.txt"
    text = displays.read_text(encoding="utf-8")
    end = text.index("\n", text.index("Failed full dataspace:"))
    night.add(displays.name, (text[: end - 1] + "7" + text[end:]).encode())
    night.settings(LOAD + "[validate]\nstop_on_failure = true\n" + EXPORT)
    report = night.night()
    assert codes(report) == {"load": 4, "validate": 8, "export": 0}
    validate = step(report, "validate")
    assert "gsk_cache_stats.add-sum" in {item["expectation"] for item in validate["items"]}
    assert any("gsk_cache_stats.add-sum" in line for line in validate["details"])
    assert step(report, "export")["text"] == "skipped because of the step validate"
    assert not (night.path / "out").exists()
    night.add("b.smf", OTHER)
    good = night.night()
    assert (step(good, "validate")["exit_code"], step(good, "export")["outcome"]) == (0, "done")


def test_a_night_continues_one_that_was_killed_two_days_ago(night: NightFolder) -> None:
    dated = '[[export]]\ntarget = "dated/{date}.duckdb"\ntables = ["load"]\n'
    night.settings(LOAD + MOVE + dated)
    (night.path / "dated").mkdir()
    night.add("a.smf", SMALL)
    night.night()
    begun = datetime.now(UTC) - timedelta(days=2)
    note = night.store / "nightly" / "unfinished.json"
    note.write_text(json.dumps({"began_utc": begun.isoformat(), "last_load": 0}))
    leftover = night.path / "dated" / f".{begun.astimezone().date()}.duckdb.4194305.part"
    leftover.touch()
    report = night.night()
    assert (report["exit_code"], report["continues_run_of_utc"][:16]) == (0, f"{begun:%Y-%m-%dT%H:%M}")
    [item] = step(report, "load")["items"]
    assert (item["status"], item["load_id"]) == ("loaded", 1)
    assert item["note"] == "loaded by the run that was interrupted"
    assert not note.exists()
    assert not leftover.exists()


def test_tables_are_published(night: NightFolder) -> None:
    night.settings(LOAD + '\n[publish]\niceberg = "tables"\n')
    night.add("a.smf", SMALL)
    report = night.night()
    assert codes(report) == {"load": 0, "publish": 0}
    [[connections]] = queried(night.store, "SELECT count(*) FROM smf119_tcp_init")
    [hint] = (night.path / "tables").glob("**/smf119_tcp_init/metadata/version-hint.text")
    version = hint.read_text(encoding="utf-8").strip()
    table = StaticTable.from_metadata(f"{hint.parent}/v{version}.metadata.json")
    assert table.scan().to_arrow().num_rows == connections
    night.add("b.smf", OTHER)
    assert step(night.night(), "publish")["counts"]["published"] > 0


def test_a_publication_that_fails_does_not_undo_the_load(night: NightFolder) -> None:
    night.settings(LOAD + '\n[publish]\niceberg = "store/tables"\n')
    night.add("a.smf", SMALL)
    report = night.night()
    assert codes(report) == {"load": 0, "publish": 12}
    assert len(queried(night.store, "SELECT * FROM load")) == 1


def test_the_report_to_send_is_written_and_replaced(
    night: NightFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the data of this night, and a killed run leaves nothing under the name of another day."""
    shorten_report(monkeypatch, "exposure", "data")
    night.settings(
        LOAD + '\n[report]\npath = "{year}/tls-{date}.html"\nlast_days = 9999\n'
        'appendix = "{year}/appendix-{date}.html"\n'
    )
    night.add("a.smf", SMALL)
    report = night.night()
    assert codes(report) == {"load": 0, "report": 0}
    [name] = [path.name for path in night.path.glob("*/tls-*.html")]
    night.add("b.smf", OTHER)
    begun = datetime.now(UTC) - timedelta(days=2)
    note = night.store / "nightly" / "unfinished.json"
    note.write_text(json.dumps({"began_utc": begun.isoformat(), "last_load": 0}))
    folder = night.path / f"{begun.astimezone():%Y}"
    folder.mkdir(exist_ok=True)
    leftover = folder / f".tls-{begun.astimezone().date()}.html.4194305.part"
    leftover.touch()
    assert night.night()["exit_code"] == 0
    assert not leftover.exists()
    [page] = list(night.path.glob(f"*/{name}"))
    assert "Not known: load zERT summaries or connection detail" in harmless(page.read_bytes()).text
    [appendix] = list(night.path.glob("*/appendix-*.html"))
    read = harmless(appendix.read_bytes())
    assert [row["Load"].text for row in read.tables["loads"].rows] == ["2", "1"]
    assert "Not known: load zERT summaries or connection detail" in read.text


def test_a_report_that_cannot_be_written_fails_alone(night: NightFolder) -> None:
    night.settings(LOAD + '\n[report]\npath = "no/folder/tls.html"\n' + EXPORT)
    night.add("a.smf", SMALL)
    report = night.night()
    assert codes(report) == {"load": 0, "report": 12, "export": 0}
    assert "does not exist; create it first" in step(report, "report")["text"]
    (night.path / "no" / "folder" / "tls.html").mkdir(parents=True)
    assert "exists and is not a file" in step(night.night(), "report")["text"]
    (night.path / "no" / "folder" / "tls.html").rmdir()
    assert "would be written" in step(night.night("--dry-run"), "report")["text"]
    assert night.names("no") == []
