"""`zscope inventory`: counts, summaries and issues."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from click.testing import Result

from zscope.app.cli import input_options
from zscope.app.cli.output import output_options
from zscope.parsers import Framing
from zscope.parsers.text.coding import CODE_PAGES

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Result]


def rows_of(result: Result) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_counts_by_system_type_and_subtype(run: Run, dump: Path) -> None:
    result = run("inventory", dump)
    assert result.exit_code == 0
    rows = rows_of(result)
    assert [(r["system"], r["record_type"], r["record_subtype"], r["records"]) for r in rows] == [
        ("SYSA", "119", "11", "2"),
        ("SYSB", "119", "11", "1"),
    ]
    assert rows[0]["first_local"] == "2026-03-01T12:00:00.000000"
    assert rows[0]["last_local"] == "2026-03-01T12:00:01.000000"


def test_one_line_about_each_file_goes_to_standard_error(run: Run, dump: Path) -> None:
    size = dump.stat().st_size
    packed = dump.with_suffix(".gz")
    packed.write_bytes(gzip.compress(dump.read_bytes()))
    result = run("inventory", dump, packed)
    assert result.stderr.splitlines() == [
        f"{dump}: SMF dump, framing rdw, 3 records (0 spanned), {size:,} bytes",
        f"{packed}: SMF dump, packed with gzip, framing rdw, 3 records (0 spanned), {size:,} bytes",
    ]
    assert {r["file"] for r in rows_of(result)} == {str(dump), str(packed)}


def test_lines_of_a_text_that_belong_to_no_report_are_counted(run: Run, tmp_path: Path) -> None:
    capture = tmp_path / "capture.SYSA.2026-03-02.txt"
    capture.write_text(
        "this line belongs to no report\nREADY\n\n"
        "GSK01009I Cryptographic status\nAlgorithm  Hardware  Software\nAES  256  256\n"
    )
    stated = "UTF-8, 6 lines, 1 report; 2 of 6 lines belong to no report"
    assert f"{capture}: text, {stated}" in run("inventory", capture).stderr


def test_quiet_prints_no_summary(run: Run, dump: Path) -> None:
    assert run("inventory", "--quiet", dump).stderr == ""


def test_a_dash_is_standard_input(run: Run, dump_bytes: bytes) -> None:
    result = run("inventory", "-", stdin=dump_bytes)
    assert [r["records"] for r in rows_of(result)] == ["2", "1"]
    assert result.exit_code == 0


def test_folders_are_searched(run: Run, dump: Path) -> None:
    below = dump.parent / "deep" / "er"
    below.mkdir(parents=True)
    dump.rename(below / "dump.smf")
    assert [r["file"] for r in rows_of(run("inventory", dump.parent))] == [str(below / "dump.smf")] * 2


def test_an_input_that_is_missing_is_refused_and_the_others_are_read(run: Run, dump: Path) -> None:
    missing = dump.parent / "missing.smf"
    result = run("inventory", missing, dump)
    assert result.exit_code == 8
    assert len(rows_of(result)) == 2
    assert f"refused: {missing}: cannot be read: No such file or directory [unreadable]\n" in result.stderr


def test_without_any_input_nothing_can_be_done(run: Run, tmp_path: Path) -> None:
    result = run("inventory", tmp_path / "missing.smf", "-o", tmp_path / "rows.csv")
    assert result.exit_code == 12
    assert result.stdout == ""
    assert result.stderr.endswith("Error: no input could be opened\n")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_is_an_error(run: Run, tmp_path: Path) -> None:
    result = run("inventory", tmp_path)
    assert result.exit_code == 12
    assert result.stderr == "Error: there is nothing to read\n"


def test_other_files_are_refused(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("These are my notes about SMF.\n" * 100)
    result = run("inventory", text)
    assert result.exit_code == 8
    assert result.stdout == ""
    assert f"refused: {text}: the file is readable text without a report" in result.stderr


def test_damage_is_a_warning(run: Run, dump: Path) -> None:
    dump.write_bytes(dump.read_bytes()[:-100])
    result = run("inventory", dump)
    assert result.exit_code == 4
    assert sum(int(r["records"]) for r in rows_of(result)) == 2
    assert "warning: " in result.stderr
    assert "[truncated]" in result.stderr


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl"])
def test_issues_can_be_written_to_a_file(ending: str, run: Run, dump: Path, tmp_path: Path) -> None:
    dump.write_bytes(dump.read_bytes()[:-100])
    target = tmp_path / f"issues.{ending}"
    run("inventory", dump, "--issues", target)
    text = target.read_text()
    if ending == "csv":
        [row] = list(csv.DictReader(io.StringIO(text)))
    else:
        [row] = json.loads(text if ending == "json" else f"[{text}]")
    assert (row["file"], row["severity"], row["code"]) == (str(dump), "warning", "truncated")


def test_an_unknown_file_ending_is_refused_before_reading(run: Run, dump: Path) -> None:
    result = run("inventory", dump, "--issues", "issues.xyz")
    assert (result.exit_code, result.stdout) == (12, "")


def test_the_choices_are_those_of_the_parsers() -> None:
    assert input_options.CODE_PAGES == CODE_PAGES
    assert sorted(input_options.FRAMINGS) == sorted(framing.value for framing in Framing)


def test_a_wrong_framing_is_an_issue(run: Run, dump: Path) -> None:
    result = run("inventory", dump, "--framing", "bdw")
    assert result.exit_code in {4, 8}
    assert result.stderr != ""


def test_the_code_page_is_used_for_the_system(run: Run, dump: Path) -> None:
    """Byte AD is [ in code page 1047 and Y with acute accent in 037."""
    before, _, rest = dump.read_bytes().rpartition(bytes.fromhex("e2e8e2c1"))
    dump.write_bytes(before + bytes.fromhex("e2e8e2ad") + rest)
    assert "SYS[" in {row["system"] for row in rows_of(run("inventory", dump))}
    assert "SYS\u00dd" in {row["system"] for row in rows_of(run("inventory", dump, "--code-page", "037"))}


def test_an_invalid_date_in_a_header_is_an_issue(run: Run, dump: Path) -> None:
    before, name, rest = dump.read_bytes().rpartition(bytes.fromhex("e2e8e2c1"))
    dump.write_bytes(before[:-4] + bytes.fromhex("0126999f") + name + rest)
    result = run("inventory", dump)
    assert result.exit_code == 4
    assert "record 2" in result.stderr
    assert "[bad-date]" in result.stderr


def test_a_folder_names_what_its_files_do_not_answer(run: Run, dump: Path) -> None:
    result = run("inventory", dump.parent)
    lines = result.stderr.splitlines()
    answered = next(line for line in lines if "questions can be answered" in line)
    assert answered.endswith("(--questions lists them)")
    missing = [line.removeprefix("missing: ") for line in lines if line.startswith("missing: ")]
    assert "no SMF 30: CPU of address spaces unknown" in missing
    assert len(missing) == len(set(missing))
    assert not [line for line in missing if "kinds of handshakes" in line], "there is zERT detail"
    assert "missing" not in run("inventory", "--quiet", dump.parent).stderr


def test_questions_are_rows(run: Run, dump: Path) -> None:
    rows = rows_of(run("inventory", "--questions", dump))
    answers = {row["metric"]: (row["answered"], row["missing"]) for row in rows}
    assert answers["handshake_mix"] == ("yes", "")
    assert answers["table tls_message"] == ("no", "no AT-TLS messages: reasons of failed handshakes unknown")
    assert answers["address_space_cpu"] == (
        "no",
        (
            "no SMF 30: CPU of address spaces unknown; "
            "no SMF 70-1 and no RMF CPU report: nothing to compare address spaces with"
        ),
    )


def test_a_policy_alone_does_not_answer_which_rule_governs_a_connection(run: Run, dump: Path) -> None:
    policy = dump.with_name("SYSA.policy")
    policy.write_text("TTLSRule web\n{\n  Direction Inbound\n  LocalPortRange 443\n}\n")

    def answer(*paths: Path) -> tuple[str, str]:
        rows = {row["metric"]: row for row in rows_of(run("inventory", "--questions", *paths))}
        return rows["tls_connection"]["answered"], rows["tls_connection"]["missing"]

    assert answer(policy) == ("no", "no records and no displays of connections: nothing to match rules with")
    assert answer(dump)[1].startswith("no AT-TLS policy, no NETSTAT TTLS or ALL and no AT-TLS messages: ")
    assert answer(policy, dump) == ("yes", "")


def test_records_without_a_layout_are_named(run: Run, tmp_path: Path) -> None:
    """A record of a type without any layout, one of MQ with its header only, and the frame of the dump."""
    parts = []
    for record_type, subtype, length in ((2, None, 18), (14, None, 60), (42, 6, 60), (115, 2, 200)):
        flags = 0x1E if subtype is None else 0x5E
        head = length.to_bytes(2, "big") + bytes((0, 0, flags, record_type)) + bytes(4)
        head += bytes.fromhex("0126060f") + "SYSA".encode("cp037")
        if subtype is not None:
            head += b"\x40" * 4 + subtype.to_bytes(2, "big")
        parts.append(head.ljust(length, b"\0"))
    (tmp_path / "dump").write_bytes(b"".join(parts))
    lines = run("inventory", tmp_path).stderr.splitlines()
    assert "only counted, no layout: SMF 14, 42-6" in lines
    assert "only the header is read, no layout of the data: SMF 115-2" in lines


def test_a_terminal_shows_the_sums_of_several_files_after_the_answer(
    run: Run, dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump.with_name("again.smf").write_bytes(dump.read_bytes())
    dump.with_name("counts.csv").write_text(
        "system,start,end,transactions\n"
        "SYSA,2026-03-02T10:00:00Z,2026-03-02T10:15:00Z,7\n"
        "SYSA,2026-03-02T10:15:00Z,2026-03-02T10:30:00Z,9\n"
    )
    monkeypatch.setattr(output_options, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    shown = run("inventory", dump.parent, "--no-pager").output
    lines = [line.split() for line in shown.splitlines()]
    assert "questions can be answered" in shown.splitlines()[0]
    assert ["SYSA", "119", "11", "2", "4", "2026-03-01T12:00:00", "2026-03-01T12:00:01"] in lines
    assert ["SYSB", "119", "11", "2", "2"] in [line[:5] for line in lines]
    counts = next(line for line in lines if "TRANSACTION" in line)
    assert counts[-3:] == ["2026-03-02T10:00:00Z", "2026-03-02T10:30:00Z", "csv"]
    assert shown.index("TRANSACTION COUNTS") < shown.index("again.smf: SMF dump")
    whole = run("inventory", dump.parent, "--no-pager", "--all-columns").output
    assert whole.count("119") >= 4


def test_many_files_are_counted_by_kind(run: Run, dump: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_options, "FILES_SHOWN", 1)
    dump.with_name("again.smf").write_bytes(dump.read_bytes())
    (dump.parent / "SYSA.policy").write_text("stray\nTTLSRule web\n{\n  Direction Inbound\n}\n")
    lines = run("inventory", dump.parent).stderr.splitlines()
    assert "3 files: 2 SMF dump, 1 text" in [line.partition(";")[0] for line in lines]
    assert not [line for line in lines if line.startswith(f"{dump}: ")]


def test_a_list_of_benchmark_runs_is_named_with_the_command_that_reads_it(run: Run, dump: Path) -> None:
    runs = dump.with_name("measured.toml")
    runs.write_text('# my runs\n\n[[run]]\nname = "a"\n')
    stated = "a list of benchmark runs, which zscope runs import reads"
    folder = run("inventory", dump.parent)
    assert folder.exit_code == 0
    assert f"note: {runs}: skipped: {stated} [benchmark-runs]" in folder.stderr
    named = run("inventory", runs)
    assert named.exit_code == 8
    assert f"refused: {runs}: the file is {stated} [no-report]" in named.stderr
