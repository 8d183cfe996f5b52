"""Titles of pages with a wrong, missing or extra character: the page is read, and an issue reports it."""

from __future__ import annotations

from pathlib import Path

import pytest

from zscope.parsers import Code, ReadOptions, read
from zscope.parsers.text.rmf.page_title import TITLES_READ, damaged_title, title_of

LISTING = Path(__file__).parents[4] / "sample-data" / "reports" / "rmf-cpu.SYSB.txt"
TABLES = ("rmf_interval", "rmf_cpu", "rmf_partition")
OTHER_TITLES = (
    *("CHANNEL PATH ACTIVITY", "I/O QUEUING ACTIVITY", "DIRECT ACCESS DEVICE ACTIVITY", "PAGING ACTIVITY"),
    *("CACHE SUBSYSTEM ACTIVITY", "VIRTUAL STORAGE ACTIVITY", "ENQUEUE ACTIVITY", "TRACE ACTIVITY"),
    *("COUPLING FACILITY ACTIVITY", "FICON DIRECTOR ACTIVITY", "PCIE ACTIVITY"),
    *("SCM ACTIVITY", "EADM ACTIVITY", "HFS ACTIVITY", "LPAR CLUSTER REPORT", "GROUP CAPACITY REPORT"),
)
"""Reports of RMF that zscope does not read."""


def spaced(title: str) -> str:
    return " " * 50 + "   ".join(" ".join(word) for word in title.split())


@pytest.mark.parametrize("title", TITLES_READ)
def test_a_title_with_one_wrong_character_is_nearly_the_title(title: str) -> None:
    line = spaced(title)
    for at in range(50, len(line)):
        for change in ("X", "4", " ", "", line[at] + "X"):
            damaged = line[:at] + change + line[at + 1 :]
            assert damaged_title(damaged) == title or title_of(damaged) == title


@pytest.mark.parametrize("title", OTHER_TITLES)
def test_titles_of_other_reports_are_not_damaged_titles(title: str) -> None:
    assert damaged_title(spaced(title)) is None


@pytest.mark.parametrize(
    ("title", "damaged"),
    [
        ("P A R T I T I O N", "P A X T I T I O N"),
        ("P A R T I T I O N", "P A 4 T I T I O N"),
        ("P A R T I T I O N", "P A  T I T I O N"),
        ("P A R T I T I O N", "P AR T I T I O N"),
        ("P A R T I T I O N", "P A R T I I T I O N"),
        ("C P U  A C T", "C P U  A K T"),
        ("C P U  A C T", "C P-U  A C T"),
    ],
)
def test_a_page_with_a_damaged_title_is_read_and_reported(title: str, damaged: str, tmp_path: Path) -> None:
    text = LISTING.read_text(encoding="utf-8")
    path = tmp_path / LISTING.name
    lines = text.splitlines()
    line = next(number for number, line in enumerate(lines, 1) if title in line)
    path.write_text(text.replace(title, damaged, 1), encoding="utf-8")
    good, read_again = (read(file, TABLES, options=ReadOptions()) for file in (LISTING, path))
    for table in TABLES:
        assert read_again[table].drop_columns(["file"]) == good[table].drop_columns(["file"])
    (issue,) = read_again.issues
    assert (issue.code, issue.line_no) == (Code.REPORT_UNREADABLE, line)
    assert f"lines {line} to " in issue.text


def test_a_page_with_another_system_is_reported(tmp_path: Path) -> None:
    """CPU Activity and Partition Data of an interval belong together."""
    text = LISTING.read_text(encoding="utf-8")
    lines = text.splitlines()
    title = next(number for number, line in enumerate(lines, 1) if "P A R T I T I O N" in line)
    begin = text.index("SYSTEM ID SYSB", text.index("P A R T I T I O N"))
    path = tmp_path / LISTING.name
    path.write_text(f"{text[:begin]}SYSTEM ID SXSB{text[begin + 14 :]}", encoding="utf-8")
    found = [issue.line_no for issue in read(path, TABLES).issues if issue.field == "SYSTEM ID"]
    assert found == [2, title]
