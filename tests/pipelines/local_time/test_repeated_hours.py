"""Reports of one of two hours that a clock showed twice: SMF 70 records tell which one it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.dumps import generated
from tests.marking import deep_except
from tests.parsers.text.rmf.test_rmf_workload import ONLINE
from tests.pipelines.stores import EVERYTHING, load

from zscope.parsers import read
from zscope.parsers.issues import Code
from zscope.parsers.options import ReadOptions
from zscope.parsers.text.capture_writer import as_bytes
from zscope.parsers.text.rmf.workload.workload_listing_write import workload_pages
from zscope.parsers.text.rmf.xml_write import rmf_xml
from zscope.pipelines.ingest.options_and_outcomes import FileStatus
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import Folder
from zscope.pipelines.store.remove import remove_load
from zscope.samples import Recipe, RecordKind
from zscope.samples.dump.recipe import CpuCost, named_systems
from zscope.samples.reports.files import listing
from zscope.samples.reports.rmf import TABLES_NEEDED, RmfRows, rmf_rows

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.pipelines.ingest.options_and_outcomes import FileOutcome

BERLIN = replace(EVERYTHING, settings=Settings().merge(["Europe/Berlin"]))
HOUR = timedelta(hours=1)
FIRST = datetime(2026, 10, 25, 0, tzinfo=UTC)
"""02:00 local time for the first time; an hour later it is 02:00 for the second time."""
STARTS = [FIRST + number * HOUR / 4 for number in range(4)]
SECOND_STARTS = [start + HOUR for start in STARTS]
REPORT_TABLES = ("rmf_interval", "rmf_cpu", "rmf_partition")
Starts = list[datetime | None]
UNKNOWN: Starts = [None] * 4


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Mapping[tuple[int, float], Path]:
    """SMF 70 records of each hour, by the hour and the share of the processors that is used."""
    folder = tmp_path_factory.mktemp("dumps")
    return {
        (number, use): dump_of(folder / f"smf.{number}.{use}.smf", number, use)
        for number, use in ((1, 0.40), (2, 0.40), (2, 0.55), (2, 0.4001))
    }


def dump_of(path: Path, number: int, use: float) -> Path:
    """The records of four intervals of the first or second hour."""
    start = FIRST + (number - 1) * HOUR
    recipe = Recipe(
        records=4,
        mix={RecordKind.RMF_CPU: 1.0},
        start=start,
        end=start + HOUR,
        systems=named_systems("SYSA", utc_offset_minutes=120 if number == 1 else 60),
        cpu_cost=CpuCost(base=use),
    )
    path.write_bytes(generated(recipe))
    return path


def report_rows(dump: Path) -> RmfRows:
    return rmf_rows(read(dump, TABLES_NEEDED).tables)


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """The report is named so that it comes before the dumps in their folder."""
    return tmp_path / "a-report.txt"


def starts_in(store: Path, *tables: str) -> Starts:
    """The starts of the four intervals of the report in UTC, which are the same in all tables."""
    found = []
    with open_reader(store) as connection:
        for table in tables or REPORT_TABLES:
            rows = connection.execute(
                f"SELECT DISTINCT interval_start_local, interval_start_utc FROM {table} ORDER BY ALL"
            ).fetchall()
            assert len({local for local, _ in rows}) == len(rows) == 4, table
            found.append([moment and moment.astimezone(UTC) for _, moment in rows])
    assert found[1:] == found[:-1]
    return found[0]


def notes(outcome: FileOutcome) -> list[str]:
    return [issue.text for issue in outcome.issues if issue.code is Code.AMBIGUOUS_TIME]


@pytest.mark.deep
@pytest.mark.parametrize(
    ("loaded", "reported", "expected"),
    [
        pytest.param([(1, 0.40), (2, 0.55)], (1, 0.40), STARTS, id="both hours, equal to the first"),
        pytest.param([(1, 0.40), (2, 0.55)], (2, 0.55), SECOND_STARTS, id="both hours, equal to the second"),
        pytest.param([(1, 0.40)], (1, 0.40), STARTS, id="only the first hour, equal"),
        pytest.param([(2, 0.55)], (2, 0.55), SECOND_STARTS, id="only the second hour, equal"),
        pytest.param([(1, 0.40)], (2, 0.55), UNKNOWN, id="only the first hour, different"),
        pytest.param([(2, 0.55)], (1, 0.40), UNKNOWN, id="only the second hour, different"),
        pytest.param([(1, 0.40), (2, 0.40)], (1, 0.40), UNKNOWN, id="both hours are equal"),
        pytest.param([(1, 0.40), (2, 0.4001)], (2, 0.4001), UNKNOWN, id="both differ by less than rounding"),
        pytest.param([], (1, 0.40), UNKNOWN, id="no records"),
    ],
)
@pytest.mark.parametrize("xml", deep_except([False], [False, True]))
def test_the_hour_whose_record_has_the_same_figures(
    tmp_path: Path,
    report: Path,
    dumps: Mapping[tuple[int, float], Path],
    loaded: list[tuple[int, float]],
    reported: tuple[int, float],
    expected: Starts,
    xml: bool,
) -> None:
    store = tmp_path / "store"
    if loaded:
        load(store, *(dumps[each] for each in loaded), how=BERLIN)
    rows = report_rows(dumps[reported])
    report.write_bytes(rmf_xml(rows.intervals, rows.cpus, rows.partitions).encode() if xml else listing(rows))
    [outcome] = load(store, report, how=BERLIN).outcomes
    assert starts_in(store) == expected
    if expected != UNKNOWN:
        assert notes(outcome) == []
        return
    [note] = notes(outcome)
    assert "rows of SYSA between 2026-10-25 02:00 and 2026-10-25 03:00 local time" in note
    missing = "SMF 70 records of both hours tell which one it was: load them, then remove this load"
    assert (missing in note) == (len(loaded) < 2)
    assert ("SMF 70 records of the two hours do not tell which one it was" in note) == (len(loaded) == 2)


@pytest.mark.deep
def test_figures_of_neither_hour(
    tmp_path: Path, report: Path, dumps: Mapping[tuple[int, float], Path]
) -> None:
    store = tmp_path / "store"
    load(store, dumps[1, 0.40], dumps[2, 0.55], how=BERLIN)
    rows = report_rows(dumps[1, 0.40])
    cpus = [row | {"lpar_busy_pct": row["lpar_busy_pct"] + 5} for row in rows.cpus]
    report.write_bytes(listing(replace(rows, cpus=cpus)))
    [outcome] = load(store, report, how=BERLIN).outcomes
    assert starts_in(store) == UNKNOWN
    assert len(notes(outcome)) == 1


def test_each_interval_is_decided_by_itself(
    tmp_path: Path, report: Path, dumps: Mapping[tuple[int, float], Path]
) -> None:
    """Half of the intervals are of the first hour, the others of the second: nothing goes back."""
    store = tmp_path / "store"
    load(store, dumps[1, 0.40], dumps[2, 0.55], how=BERLIN)
    one, other = (report_rows(dumps[each]) for each in ((1, 0.40), (2, 0.55)))
    half = one.intervals[2]["interval_start_local"]

    def halves(table: str) -> list[dict[str, Any]]:
        first = [row for row in getattr(one, table) if row["interval_start_local"] < half]
        return first + [row for row in getattr(other, table) if row["interval_start_local"] >= half]

    report.write_bytes(listing(RmfRows(*(halves(table) for table in ("intervals", "cpus", "partitions")))))
    [outcome] = load(store, report, how=BERLIN).outcomes
    assert starts_in(store) == [*STARTS[:2], *SECOND_STARTS[2:]]
    assert notes(outcome) == []


@pytest.mark.deep
def test_partition_data_is_enough(
    tmp_path: Path, report: Path, dumps: Mapping[tuple[int, float], Path]
) -> None:
    store = tmp_path / "store"
    load(store, dumps[1, 0.40], dumps[2, 0.55], how=BERLIN)
    rows = report_rows(dumps[2, 0.55])
    text = listing(rows).decode()
    pages = text.split("\n1")
    kept = [page for page in pages if "P A R T I T I O N" in page]
    assert len(kept) == 4
    report.write_text("\n1".join([pages[0], *kept]))
    load(store, report, how=BERLIN)
    assert starts_in(store, "rmf_interval", "rmf_partition") == SECOND_STARTS


@pytest.mark.deep
def test_other_rows_of_the_interval_have_the_same_time(
    tmp_path: Path, report: Path, dumps: Mapping[tuple[int, float], Path]
) -> None:
    store = tmp_path / "store"
    load(store, dumps[1, 0.40], dumps[2, 0.55], how=BERLIN)
    rows = report_rows(dumps[2, 0.55])
    card = {"unit_kind": "accelerator", "card_type_name": "CEX7A", "card_id": "1", "operation": "total"}
    figures = {"operation_rate": 1.0, "execution_ms": 1.0, "utilisation_pct": 1.0}
    names = ("system", "interval_start_local", "interval_ms")
    crypto = [
        {name: row[name] for name in names} | card | {"crypto_scope_name": "LPAR"} | figures
        for row in rows.intervals
    ]
    report.write_text(rmf_xml(rows.intervals, rows.cpus, rows.partitions, crypto))
    load(store, report, how=BERLIN)
    assert starts_in(store, *REPORT_TABLES, "rmf_crypto") == SECOND_STARTS


@pytest.mark.deep
def test_the_order_of_files_in_a_run_does_not_matter(
    tmp_path: Path, report: Path, dumps: Mapping[tuple[int, float], Path]
) -> None:
    report.write_bytes(listing(report_rows(dumps[2, 0.55])))
    outcomes = load(tmp_path / "store", report, dumps[1, 0.40], dumps[2, 0.55], how=BERLIN).outcomes
    assert [outcome.status for outcome in outcomes] == [FileStatus.LOADED] * 3
    assert outcomes[-1].file == str(report)
    assert notes(outcomes[-1]) == []
    assert starts_in(tmp_path / "store") == SECOND_STARTS


@pytest.mark.deep
def test_the_note_states_how_to_repair_an_earlier_load(
    tmp_path: Path, report: Path, dumps: Mapping[tuple[int, float], Path]
) -> None:
    store = tmp_path / "store"
    report.write_bytes(listing(report_rows(dumps[1, 0.40])))
    [outcome] = load(store, report, how=BERLIN).outcomes
    [note] = notes(outcome)
    assert note.endswith(
        "load them, then remove this load (zscope loads remove 1), and ingest this file again"
    )
    load(store, dumps[1, 0.40], dumps[2, 0.55], how=BERLIN)
    assert load(store, report, how=BERLIN).outcomes[0].status is FileStatus.REPEATED
    assert starts_in(store) == UNKNOWN
    folder = Folder(store)
    remove_load(folder, read_state(folder), 1)
    load(store, report, how=BERLIN)
    assert starts_in(store) == STARTS


def test_a_dry_run_states_what_is_missing(
    tmp_path: Path, report: Path, dumps: Mapping[tuple[int, float], Path]
) -> None:
    report.write_bytes(listing(report_rows(dumps[1, 0.40])))
    outcomes = load(tmp_path / "store", report, dumps[1, 0.40], how=replace(BERLIN, dry_run=True)).outcomes
    assert [outcome.file for outcome in outcomes] == [str(report), str(dumps[1, 0.40])]
    [note] = notes(outcomes[0])
    assert note.endswith("load them, and then this file")


def test_a_report_without_cpu_use_cannot_be_decided(
    tmp_path: Path, report: Path, dumps: Mapping[tuple[int, float], Path]
) -> None:
    store = tmp_path / "store"
    load(store, dumps[1, 0.40], dumps[2, 0.55], how=BERLIN)
    start = report_rows(dumps[1, 0.40]).intervals[0]["interval_start_local"]
    page = workload_pages([ONLINE | {"system": "SYSA", "sysplex": "SYNTHPLX", "interval_start_local": start}])
    report.write_bytes(as_bytes(line for lines in page for line in lines))
    [outcome] = load(store, report, how=replace(BERLIN, read_options=ReadOptions(system="SYSA"))).outcomes
    [note] = notes(outcome)
    assert note.endswith("if the report has CPU Activity or Partition Data of the same intervals")
    with open_reader(store) as connection:
        assert connection.execute("SELECT DISTINCT interval_start_utc FROM rmf_workload").fetchall() == [
            (None,)
        ]


def test_records_of_another_system_decide_nothing(
    tmp_path: Path, report: Path, dumps: Mapping[tuple[int, float], Path]
) -> None:
    store = tmp_path / "store"
    load(store, dumps[1, 0.40], dumps[2, 0.55], how=BERLIN)
    rows = report_rows(dumps[1, 0.40])
    other = RmfRows()
    for name in ("intervals", "cpus", "partitions"):
        getattr(other, name).extend(row | {"system": "SYSB"} for row in getattr(rows, name))
    report.write_bytes(listing(other))
    [outcome] = load(store, report, how=BERLIN).outcomes
    assert starts_in(store) == UNKNOWN
    assert "of SYSB between" in notes(outcome)[0]
