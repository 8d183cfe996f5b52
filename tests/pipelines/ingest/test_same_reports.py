"""Reports that were cut, grew or come again: the rows of one clean load, and no capture lost."""

from __future__ import annotations

import gzip
import random
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.marking import deep_except
from tests.pipelines.ingest.comparing import TABLES_OF_REPORTS, Clean, Fresh, duplicates, statuses, write
from tests.pipelines.stores import contents, load, rows_of

from zscope.parsers.options import ReadOptions
from zscope.pipelines.ingest import IngestOptions, row_selection
from zscope.pipelines.store import open_reader

REPORTS = sorted((Path(__file__).resolve().parents[3] / "sample-data" / "reports").iterdir())
NETSTAT = next(path for path in REPORTS if path.name == "netstat.SYSA.2026-03-02.txt")
SYSLOG = next(path for path in REPORTS if path.name == "syslog.txt")
FROM_FILE = ("load_id", "record_no", "record_offset", "file", "line_no", "system_from", "time_from")
"""What differs when the same is in a file of another name, too."""


@pytest.fixture(scope="module")
def tables() -> tuple[str, ...]:
    return TABLES_OF_REPORTS


def cut_reports() -> list[Any]:
    """Return each report cut between lines and within them; most cuts are for deep tests."""
    rng = random.Random(7)
    cases = []
    for path in REPORTS:
        content = path.read_bytes()
        ends = [match.end() for match in re.finditer(rb"\n", content)]
        at_line_ends = {rng.choice(ends) for _ in range(2)}
        within_lines = {rng.randrange(1, len(content)) for _ in range(4)} - at_line_ends
        for cuts in (sorted(at_line_ends), sorted(within_lines)):
            for cut in (cut for cut in cuts if cut < len(content)):
                short = path == NETSTAT and cut == cuts[0]
                cases.append(pytest.param(path.name, cut, marks=() if short else pytest.mark.deep))
    return cases


@pytest.mark.deep
@pytest.mark.parametrize(("name", "cut"), cut_reports())
def test_incomplete_report_is_replaced_by_the_complete_one(
    fresh: Fresh, clean: Clean, place: Path, name: str, cut: int
) -> None:
    """Its last entry, of which the end was missing, must not stay."""
    content = next(path.read_bytes() for path in REPORTS if path.name == name)
    expected = clean(content, name)
    store, path = fresh(), place / "growing" / name
    load(store, write(path, content[:cut]))
    load(store, write(path, content))
    assert rows_of(store) == expected
    assert statuses(load(store, path)) == ["repeated"]


@pytest.mark.deep
@pytest.mark.parametrize("report", deep_except([SYSLOG], REPORTS), ids=lambda path: path.name)
def test_a_report_that_grows_in_steps(fresh: Fresh, clean: Clean, place: Path, report: Path) -> None:
    content = report.read_bytes()
    expected = clean(content, report.name)
    store, path = fresh(), place / "growing" / report.name
    for share in (0.3, 0.55, 0.8, 1.0):
        load(store, write(path, content[: int(share * len(content))]))
    assert rows_of(store) == expected
    with open_reader(store) as connection:
        live = connection.execute(
            "SELECT count(*) FROM load WHERE status IN ('loaded', 'incomplete')"
        ).fetchone()
    assert live == (1,)


@pytest.mark.parametrize("report", deep_except([NETSTAT], REPORTS), ids=lambda path: path.name)
def test_same_capture_in_two_files_is_stored_once(
    fresh: Fresh, clean: Clean, place: Path, report: Path
) -> None:
    content = report.read_bytes()
    expected = clean(content, report.name)
    store = fresh()
    load(store, write(place / "one" / report.name, content))
    assert statuses(load(store, write(place / "two" / report.name, content))) == ["repeated"]
    assert statuses(load(store, write(place / "two" / report.name, gzip.compress(content)))) == ["repeated"]
    other = load(store, write(place / "two" / report.name, content + b"\n\n"))
    assert statuses(other) == ["loaded"]
    assert rows_of(store) == expected


NAMES = ("netstat.SYSC.2026-03-02.txt", "netstat.SYSA.2026-03-05.txt")


@pytest.mark.deep
@pytest.mark.parametrize("name", NAMES)
def test_same_content_with_another_system_or_day_in_the_name_is_loaded(
    fresh: Fresh, place: Path, name: str
) -> None:
    store, content = fresh(), NETSTAT.read_bytes()
    load(store, write(place / "named" / NETSTAT.name, content))
    before = rows_of(store)
    assert statuses(load(store, write(place / "named" / name, content))) == ["loaded"]
    after = rows_of(store)
    assert {table: rows for table, (rows, _) in after.items()} == {
        table: 2 * rows for table, (rows, _) in before.items()
    }
    for same in (NETSTAT.name, name):
        assert statuses(load(store, place / "named" / same)) == ["repeated"]


def test_same_content_under_a_name_without_facts_is_repeated(fresh: Fresh, place: Path) -> None:
    store, content = fresh(), NETSTAT.read_bytes()
    load(store, write(place / "named" / NETSTAT.name, content))
    before = rows_of(store)
    assert statuses(load(store, write(place / "named" / "capture.txt", content))) == ["repeated"]
    assert rows_of(store) == before


@pytest.mark.deep
def test_options_and_file_name_give_the_same_rows(fresh: Fresh, place: Path) -> None:
    store, content = fresh(), NETSTAT.read_bytes()
    load(store, write(place / "named" / NETSTAT.name, content))
    with open_reader(store) as connection:
        before = contents(connection, FROM_FILE)
    said = IngestOptions(
        selection=row_selection(None, ["SYSA"]),
        read_options=ReadOptions(system="SYSA", taken=date(2026, 3, 2)),
    )
    report = load(store, write(place / "named" / "capture.txt", content + b"\n"), how=said)
    assert statuses(report) == ["loaded"]
    assert sum(ld.rows for ld in report.loads) == 0
    assert duplicates(report) == sum(rows for rows, _ in before.values())
    with open_reader(store) as connection:
        assert contents(connection, FROM_FILE) == before


@pytest.fixture
def undated(place: Path) -> Path:
    """A capture that tells no time, under a name that tells none."""
    lines = NETSTAT.read_bytes().split(b"\n")
    return write(
        place / "undated" / "capture.txt", b"\n".join(line for line in lines if b"11:46" not in line)
    )


def test_an_undated_capture_is_stored_once(fresh: Fresh, undated: Path) -> None:
    store = fresh()
    load(store, undated)
    before = rows_of(store)
    assert before
    assert statuses(load(store, undated)) == ["repeated"]
    assert rows_of(store) == before


@pytest.mark.deep
def test_an_undated_capture_with_one_selection_and_then_another(
    fresh: Fresh, clean: Clean, undated: Path
) -> None:
    expected = clean(undated.read_bytes(), undated.name)
    tables = sorted(expected)
    store = fresh()
    for select in (tables[0], None, tables[-1]):
        load(store, undated, how=IngestOptions(selection=row_selection(select)))
    assert rows_of(store) == expected


def test_different_undated_captures_are_both_stored(fresh: Fresh, undated: Path) -> None:
    """Nothing tells whether the lines they share are of one moment or of two."""
    store = fresh()
    load(store, undated)
    before = rows_of(store)
    other = write(undated.with_name("other.txt"), b"first line of another capture\n" + undated.read_bytes())
    assert statuses(load(store, other)) == ["loaded"]
    assert {table: rows for table, (rows, _) in rows_of(store).items()} == {
        table: 2 * rows for table, (rows, _) in before.items()
    }
