"""`zscope coverage`: lost hours of a dump are lost, and an hour that nothing shows is never complete."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.dumps import records_in
from tests.sample_stores import SAMPLE

from zscope.app.cli.commands.coverage import strips
from zscope.app.cli.output import output_options
from zscope.parsers import read
from zscope.parsers.smf.record_writer import as_stream, encode_without_triplets
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.settings import Settings
from zscope.schemas import catalog
from zscope.schemas.arrow import LOCAL

if TYPE_CHECKING:
    from tests.app.conftest import Run

DUMP = SAMPLE / "smf-sample.bin"
DAY = date(2026, 3, 2)
FIRST, LAST = datetime(2026, 3, 2, 10), datetime(2026, 3, 2, 13)  # noqa: DTZ001 - local time
"""The lost hours of SYSA."""


def dump_without_hours(*, with_loss: bool) -> bytes:
    """Return the sample without the TCP/IP records of the lost hours, perhaps with the loss in type 7."""
    headers = read(DUMP, "smf_record[system,written_local,record_type]")["smf_record"].to_pylist()
    kept = [
        record
        for record, header in zip(records_in(DUMP.read_bytes()), headers, strict=True)
        if not (
            header["record_type"] == 119
            and header["system"] == "SYSA"
            and FIRST <= header["written_local"] < LAST
        )
    ]
    assert 0 < len(kept) < len(headers)
    loss = {
        "system": pa.array(["SYSA"]),
        "written_local": pa.array([LAST], LOCAL),
        "start_local": pa.array([FIRST], LOCAL),
        "lost_records": pa.array([4711], pa.uint16()),
        "loss_flags": pa.array([0], pa.uint8()),
    }
    lost = encode_without_triplets(catalog().records[7, None], loss, 1) if with_loss else []
    return b"".join(as_stream([*kept, *lost]))


def loaded(folder: Path, content: bytes) -> Path:
    """Load a dump and return the store."""
    (folder / "dump.smf").write_bytes(content)
    how = IngestOptions(selection=row_selection(None), settings=Settings().merge(["+01:00"]))
    ingest(folder / "store", [folder / "dump.smf"], how)
    return folder / "store"


@pytest.fixture(scope="module")
def with_loss(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the sample in which SMF says that it lost the hours; read-only."""
    return loaded(tmp_path_factory.mktemp("loss"), dump_without_hours(with_loss=True))


def hours_of(run: Run, store: Path) -> dict[tuple[str, int], tuple[str, str]]:
    """Return state and reason of each hour of SYSA, by source and local hour."""
    chosen = f"system = 'SYSA' AND hour_local::DATE = DATE '{DAY}'"
    query = f"SELECT source, hour(hour_local) AS h, state, why FROM coverage WHERE {chosen}"
    result = run("sql", query, "--store", store, "--json")
    assert result.exit_code == 0, result.stderr
    return {(row["source"], row["h"]): (row["state"], row["why"]) for row in json.loads(result.stdout)}


@pytest.mark.parametrize("source", ["119-1/2", "119-11"])
def test_hours_that_smf_lost_are_lost(run: Run, with_loss: Path, source: str) -> None:
    hours = hours_of(run, with_loss)
    assert [hours[source, hour][0] for hour in (10, 11, 12)] == ["lost"] * 3
    assert hours[source, 10][1] == "SMF lost 1,570 records of all types"
    assert hours[source, 9][0] == hours[source, 14][0] == "complete"
    assert {hours["70", hour][0] for hour in range(2, 24)} == {"complete"}


def test_hours_without_records_are_never_complete(run: Run, tmp_path: Path) -> None:
    hours = hours_of(run, loaded(tmp_path, dump_without_hours(with_loss=False)))
    for source in ("119-1/2", "119-11"):
        assert {hours[source, hour][0] for hour in (10, 11, 12)} <= {"lost", "not known"}


def test_the_rows_are_days_with_their_hours(run: Run, with_loss: Path) -> None:
    result = run("coverage", "--system", "SYSA", "--store", with_loss, "--json")
    assert result.exit_code == 0, result.stderr
    rows = {(row["source"], row["day"]): row for row in json.loads(result.stdout)}
    # The data begin at 01:00 on the clock of the system.
    day = rows["119-11", str(DAY)]
    assert (day["state"], day["hours"], day["hours_with_loss"]) == ("partial", 23, 3)
    assert day["loss"].startswith("SMF lost 1,570 records")
    assert "why" not in day
    assert rows["30", str(DAY)]["state"] == "not recorded"


def test_the_missing_hours_are_listed(run: Run, with_loss: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = ("--system", "SYSA", "--store", with_loss)
    lost = run(
        "coverage", "--by", "hour_local", "--where", "source = '119-11' AND state = 'lost'", *chosen, "--json"
    )
    rows = json.loads(lost.stdout)
    assert [row["hour_local"][:13] for row in rows] == [f"{DAY}T{hour}" for hour in (10, 11, 12)]
    assert {(row["source"], row["why"]) for row in rows} == {
        ("119-11", "SMF lost 1,570 records of all types")
    }
    assert "rows by system, source, hour_local with source = '119-11' AND state = 'lost'" in lost.stderr
    days = run("coverage", "--where", "source = '119-11' AND state = 'lost'", *chosen, "--json")
    assert json.loads(days.stdout) == []
    assert "rows by system, source, day with" in days.stderr
    wrong = run("coverage", "--where", "state = 'loss'", *chosen)
    assert "state has no value 'loss'; it has: complete, " in wrong.stderr
    assert "did you mean lost?" in wrong.stderr
    refused = run("coverage", "--by", "hour", *chosen)
    assert (refused.exit_code, refused.stdout) == (12, "")
    assert "there is: system, source, day, hour_utc, hour_local" in refused.stderr
    monkeypatch.setattr(output_options, "is_terminal", lambda: True)
    command = shlex.split(
        run("coverage", *chosen).stderr.splitlines()[-1].removesuffix(" lists the missing hours")
    )
    listed = run(*command[1:], *chosen, "--format", "json")
    assert {row["hour_local"] for row in rows} <= {row["hour_local"] for row in json.loads(listed.stdout)}


def test_the_generated_loss_has_its_reason(run: Run, tmp_path: Path) -> None:
    dump, store = tmp_path / "lost.smf", tmp_path / "store"
    for _ in range(2):
        before = dump.read_bytes() if dump.exists() else b""
        assert run("generate", "losses", dump).exit_code == 0
    assert dump.read_bytes() == before
    assert run("ingest", dump, "--store", store, "--timezone", "UTC").exit_code == 0
    result = run("coverage", "--store", store, "--json")
    rows = {row["source"]: row for row in json.loads(result.stdout)}
    for source in ("119-1/2", "119-11"):
        assert (rows[source]["covered_hours"], rows[source]["hours_with_loss"]) == (21, 3)
        assert rows[source]["loss"] == "SMF lost 187 records of all types"
    assert (rows["70"]["covered_hours"], rows["70"]["hours_with_loss"]) == (21.25, 3)
    query = """
    SELECT count(*) AS hours, sum(records_written)::BIGINT AS written,
        (SELECT lost_records FROM smf7_lost) AS lost,
        (SELECT sum(records)::BIGINT FROM load_kind WHERE record_type IN (70, 119)) AS records
    FROM smf23_status"""
    [counts] = json.loads(run("sql", query, "--store", store, "--json").stdout)
    assert (counts["hours"], counts["lost"] + counts["records"]) == (22, 2896)
    assert 0 < counts["written"] < counts["records"]


def test_a_store_without_records_says_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    run("ingest", SAMPLE / "reports", "--store", tmp_path / "store", "--select", "tls_rule")
    result = run("coverage", "--store", tmp_path / "store")
    assert result.exit_code == 0
    assert "no rows" in result.stderr


def day_row(source: str, day: date, state: str, **values: object) -> dict[str, Any]:
    usual: dict[str, object] = {
        "hours": 24,
        "covered_hours": 0.0,
        "hours_with_loss": 0,
        "hours_not_recorded": 0,
        "hours_not_known": 0,
        "loss": None,
    }
    return {"system": "SYSA", "source": source, "day": day, "state": state, **usual, **values}


def test_a_strip_has_a_character_for_each_day() -> None:
    states = ["complete", "partial", "lost", "not known", "not recorded"]
    rows = [day_row("70", DAY + timedelta(days=n), state) for n, state in enumerate(states)]
    rows += [day_row("72", DAY + timedelta(days=n), "not recorded") for n in range(5)]
    lines = strips(rows, 80)
    assert lines[3].split() == ["70", "#+x?-", "0", "%", "of", "120", "hours"]
    assert "Not recorded: 72." in lines


@pytest.mark.parametrize("width", [40, 80, 200])
def test_long_strips_are_broken_and_no_line_is_too_wide(width: int) -> None:
    days = [DAY + timedelta(days=n) for n in (*range(100), *range(400, 500))]
    rows = [day_row("119-1/2", day, "complete", covered_hours=24.0) for day in days]
    lines = strips(rows, width)
    assert max(map(len, lines)) <= width
    drawn = Counter("".join(line for line in lines if line.startswith("119-1/2 ")))
    assert drawn["#"] == len(days)
    # The 300 days without data take no room.
    assert sum(line.startswith("119-1/2 ") for line in lines) <= 2 * -(-100 // (width - 32))


def test_sentences_name_the_worst_day_and_its_reason() -> None:
    rows = [
        day_row("70", DAY, "partial", covered_hours=23.0, hours_with_loss=1, loss="a gap"),
        day_row("70", DAY + timedelta(days=1), "partial", covered_hours=21.0, hours_with_loss=3, loss="SMF"),
        day_row("72", DAY, "complete", covered_hours=24.0),
        day_row("30", DAY, "not known", hours_not_known=24),
        day_row("119-11", DAY, "partial", covered_hours=1.0, hours_not_recorded=23),
    ]
    text = " ".join(strips(rows, 200))
    assert "4 hours of 70 are lost or partial, on 2 days, most on 2026-03-03: SMF." in text
    assert "72: 24 hours, no sign of a loss." in text
    assert "23 hours of 119-11 are not recorded." in text
    assert "Of 24 hours of 30 nothing shows whether the data cover them." in text
