"""`zscope report --since` names what is new and gone; `--by job` has what the data know of each job."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.app.report_reading import ReportReader, harmless
from tests.app.short_reports import shorten_report

from zscope.app.report.earlier_report import META, KeptReport, read_earlier

if TYPE_CHECKING:
    from pathlib import Path

    from tests.app.conftest import Run


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compared is in the head of a report, whatever sections it has."""
    shorten_report(monkeypatch, "findings", statements=True, compared=True)


INVENTED = ("high", "An invented weakness <b>", "SYSX", 1, "JOBX", None)


def file_of(kept: KeptReport, folder: Path) -> Path:
    """Write a file as an earlier version of zscope may have left it: what matters is in its head."""
    content = kept.written().replace("&", "&amp;").replace('"', "&quot;")
    file = folder / "earlier.html"
    file.write_text(f'<html><head><meta name="{META}" content="{content}"></head></html>', encoding="utf-8")
    return file


def test_a_later_report_names_what_is_new_and_what_is_gone(
    run: Run, zoned_store: Path, tmp_path: Path
) -> None:
    first = run("report", "-o", "-", "--store", zoned_store)
    assert first.exit_code == 0
    kept = read_earlier(first.stdout_bytes, "first")
    result = run("metrics", "check_result", "--where", "kind = 'finding'", "--store", zoned_store, "--json")
    found = json.loads(result.stdout)
    assert len(kept.findings) == len(found) > 3
    new, *others = kept.findings
    said = kept.statements[0]
    earlier = msgspec.structs.replace(
        kept,
        findings=(*others, INVENTED),
        statements=(msgspec.structs.replace(said, sentence="What it said."), *kept.statements[1:]),
        last_day=date(2026, 3, 1),
    )
    later = run("report", "-o", "-", "--since", file_of(earlier, tmp_path), "--store", zoned_store)
    assert later.exit_code == 0, later.stderr
    read = ReportReader(later.stdout_bytes)
    [row] = read.tables["since-new-findings"].rows
    assert {cell.text for cell in row.values()} >= {str(value) for value in new[:3]}
    [row] = read.tables["since-findings-that-are-gone"].rows
    assert [cell.text for cell in row.values()] == [str(value) for value in INVENTED if value is not None]
    differ = [
        [cell.text for cell in row.values()] for row in read.tables["since-statements-that-differ"].rows
    ]
    assert [said.heading, "What it said.", " ".join(said.sentence.split())] in differ
    assert "Its data end on 2026-03-01, these on " in read.text
    assert b"<b>" not in later.stdout_bytes.partition(b"<title>")[0]


def test_nothing_differs_from_the_same_report(run: Run, zoned_store: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    assert run("report", "-o", file, "--store", zoned_store).exit_code == 0
    read = ReportReader(run("report", "-o", "-", "--since", file, "--store", zoned_store).stdout_bytes)
    assert not [name for name in read.tables if name.startswith("since-")]
    assert "New findingsNone." in re.sub(r"\s*\n\s*", "", read.text)


def test_a_period_is_compared(run: Run, zoned_store: Path) -> None:
    result = run("report", "-o", "-", "--since", "2026-02-23", "--store", zoned_store)
    assert result.exit_code == 0, result.stderr
    assert "2026-02-23" in ReportReader(result.stdout_bytes).text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<html>", "is no report that keeps what a later one compares"),
        (f'<meta name="{META}" content="[1]">', "what it keeps for a later report is damaged"),
    ],
)
def test_other_files_are_refused(
    content: str, message: str, run: Run, zoned_store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "other.html"
    file.write_text(content)
    result = run("report", "-o", tmp_path / "report.html", "--since", file, "--store", zoned_store)
    assert result.exit_code == 12
    assert message in result.stderr
    assert not (tmp_path / "report.html").exists()


def test_a_page_of_a_job_has_its_rows_and_no_others(run: Run, zoned_store: Path) -> None:
    result = run("report", "-o", "-", "--by", "job", "--store", zoned_store)
    assert result.exit_code == 0, result.stderr
    harmless(result.stdout_bytes)
    pages = result.stdout_bytes.decode().split('class="page"')[1:]
    jobs = [re.findall("<h2>Job (.*?)</h2>", page)[0] for page in pages]
    counted = json.loads(
        run("metrics", "handshake_mix", "--by", "job_name", "--store", zoned_store, "--json").stdout
    )
    assert {row["job_name"] for row in counted if row["job_name"]} <= set(jobs)
    assert len(set(jobs)) == len(jobs) > 3
    for job, page in zip(jobs, pages, strict=True):
        named = set(re.findall('<td data-label="Job"[^>]*>(.*?)</td>', page))
        assert named <= {job}
    assert any("Certificates, the first to end first" in page for page in pages)


def test_pages_of_jobs_are_a_file_of_their_own(run: Run, zoned_store: Path, tmp_path: Path) -> None:
    options = ["--by", "job", "--since", "2026-03-01", "--store", zoned_store]
    result = run("report", "-o", tmp_path / "jobs.html", *options)
    assert result.exit_code == 12
    assert "leave out --appendix and --since" in result.stderr
