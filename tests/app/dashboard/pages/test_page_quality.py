"""The page about data quality and loads."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.app.dashboard.conftest import MARKUP, Open, fine, words
from tests.app.dashboard.page_helpers import choose, data_of, listed, sql, table
from tests.sample_stores import SAMPLE

from zscope.app.dashboard.pages.quality.validation import examples
from zscope.app.figures.figure_declarations import declared_figures
from zscope.app.figures.figure_rows import figure_rows
from zscope.pipelines.ingest import IngestOptions, ingest
from zscope.pipelines.ingest import row_selection as chosen_types
from zscope.pipelines.quality import VALIDATION_SCHEMA
from zscope.pipelines.settings import Settings
from zscope.pipelines.store.maintenance import record_validation

if TYPE_CHECKING:
    from pathlib import Path

PARTS = ["Loads", "Coverage", "Issues", "Gaps", "Expectations", "Sources"]
_UNEXPECTED = [{"load_id": 1, "record_no": 6, "system": MARKUP}, {"load_id": 1, "busy_pct": 101.5}]


def _result(name: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - values of a row
    return {
        "run_id": "20260311T020000-abc", "checked_utc": datetime(2026, 3, 11, 2, tzinfo=UTC),
        "load_ids": [1], "whole_loads": True, "slice_system": None, "first_day": None, "last_day": None,
        "table_name": "smf70_cpu", "column_name": None, "expectation": name, "kind": "range",
        "severity": "warning", "outcome": "passed", "success": True, "checked_rows": 10, "slice_rows": 10,
        "unexpected_rows": 0, "sampled": False, "examples": None, "meaning": f"What {name} is about.",
        "error": None,
    } | more  # fmt: skip


RESULTS = [
    _result("holds"),
    _result("note", outcome="failed", severity="note", success=False, unexpected_rows=7),
    _result("fails", outcome="failed", severity="failure", success=False, unexpected_rows=2,
            examples=json.dumps(_UNEXPECTED)),
    _result("unknown", outcome="error", success=None, unexpected_rows=None, error=f"no engine {MARKUP}"),
    _result("other run", run_id="20260310T020000-abc", checked_utc=datetime(2026, 3, 10, 2, tzinfo=UTC)),
]  # fmt: skip


@pytest.fixture(scope="module")
def validated(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with results of the validation, pages about them, and a refused file."""
    folder = tmp_path_factory.mktemp("validated")
    store = folder / "store"
    shutil.copytree(world, store)
    record_validation(store, pa.Table.from_pylist(RESULTS, VALIDATION_SCHEMA), Settings(), lambda _: None)
    (store / "data-docs").mkdir()
    (store / "data-docs" / "index.html").write_text("<html></html>", encoding="utf-8")
    refused = folder / f"{MARKUP.replace('/', '')}.bin"
    refused.write_bytes(b"\x00\x01 this is no dump" * 20)
    ingest(store, [refused], IngestOptions(selection=chosen_types(None), settings=Settings()))
    return store


def test_numbers_are_those_of_the_loads(drawn_page: Open, world: Path) -> None:
    page = drawn_page("quality", world)
    [(loads, rows, issues, gaps)] = sql(world, "SELECT count(*), sum(rows), sum(issues), sum(gaps) FROM load")
    shown = {metric.label: metric.value for metric in page.metric}
    assert shown["Loads"] == str(loads)
    assert shown["Rows"] == f"{rows:,}"
    assert shown["Issues"] == str(issues)
    assert shown["Gaps"] == str(gaps)
    assert rows > 0
    assert gaps > 0
    assert len(page.get("vega_lite_chart")) == 2  # days that are covered, and rows by day
    assert len(table(page, "loads-")) == loads


def test_choosing_a_load_shows_its_contents(open_page: Open, world: Path) -> None:
    page = choose(open_page("quality", world), "loads-", 0)
    [(newest,)] = sql(world, "SELECT max(load_id) FROM load")
    [(kinds,)] = sql(world, f"SELECT count(*) FROM load_kind WHERE load_id = {newest}")
    [(rows,)] = sql(world, f"SELECT rows FROM load WHERE load_id = {newest}")
    assert len(listed(page, "record_type")) == kinds > 0
    assert listed(page, "table_name")["rows"].sum() == rows
    assert page.code[-1].value == f"zscope loads remove {newest}"


def test_issues_are_counted_by_file_and_code(drawn_page: Open, world: Path) -> None:
    page = drawn_page("quality", world, {"quality_part": "Issues"})
    counted = sql(world, "SELECT count(*) FROM issue GROUP BY file, code ORDER BY 1 DESC")
    assert table(page, "issues-")["issues"].tolist() == [count for (count,) in counted]
    assert len(page.get("vega_lite_chart")) == 2
    assert "No file was refused" in words(page)


def test_choosing_a_code_shows_where_the_issues_are(open_page: Open, world: Path) -> None:
    page = choose(open_page("quality", world, {"quality_part": "Issues"}), "issues-", 0)
    chosen = table(page, "issues-").loc[0]
    texts = sql(world, f"SELECT text FROM issue WHERE load_id = {chosen['load_id']}")
    assert sorted(listed(page, "byte_offset")["text"]) == sorted(text for (text,) in texts)


def test_refused_files_have_a_remedy(drawn_page: Open, validated: Path) -> None:
    page = drawn_page("quality", validated, {"quality_part": "Issues"})
    refused = listed(page, "remedy")
    assert len(refused) == 1
    assert MARKUP.replace("/", "") in refused.loc[0, "file"]
    assert refused.loc[0, "remedy"]
    assert MARKUP not in words(page)


def test_gaps_are_those_of_the_loads(drawn_page: Open, world: Path) -> None:
    page = drawn_page("quality", world, {"quality_part": "Gaps"})
    missing = sql(world, "SELECT missing_intervals FROM load_gap ORDER BY to_local - from_local DESC")
    rows = figure_rows(data_of(world), declared_figures()["missing-intervals"], {}).rows
    assert sorted(row["missing_intervals"] for row in rows) == sorted(number for (number,) in missing)
    assert len(page.get("vega_lite_chart")) == 2
    assert len(listed(page, "kind_of_input")) > 3


def test_what_is_missing_is_said_for_each_source(drawn_page: Open, world: Path) -> None:
    page = drawn_page("quality", world, {"quality_part": "Coverage"})
    said = listed(page, "missing")
    [sentence] = said[(said["system"] == "CLI1") & (said["source"] == "119-11")]["missing"]
    [(hours,)] = sql(
        world,
        "SELECT count(*) FROM coverage_hour "
        "WHERE system = 'CLI1' AND source = '119-11' AND state IN ('lost', 'partial')",
    )
    assert hours > 1
    assert f"{hours} hours of 119-11 are lost or partial, on 2 days" in sentence
    absent = said[said["missing"] == "Not recorded."].set_index("system")["source"]
    assert "30" in absent["CLI1"].split(", ")


def test_a_hole_between_loads_is_seen(world: Path) -> None:
    rows = figure_rows(data_of(world), declared_figures()["covered-periods"], {}).rows
    details = [
        row for row in rows if (row["system"], row["kind_of_input"]) == ("SRV1", "SMF 119-11")
    ]  # fmt: skip
    [(first, last)] = sql(
        world,
        "SELECT min(first_local), max(last_local) FROM load_kind "
        "WHERE system = 'SRV1' AND record_type = 119 AND record_subtype = 11",
    )
    assert details[0]["first_local"] == first
    assert details[-1]["last_local"] == last


def test_the_verdict_follows_from_its_reasons(drawn_page: Open, world: Path, validated: Path) -> None:
    verdicts = {}
    for store in (world, validated):
        rows = figure_rows(data_of(store), declared_figures()["data-verdict"], {}).rows
        verdicts[store] = {row["aspect"]: (row["verdict"], row["words"]) for row in rows}
    checks = {store: found["Checks"] for store, found in verdicts.items()}
    assert checks[world] == ("In part", "The values were never checked. zscope validate checks them.")
    assert checks[validated][0] == "No"
    assert checks[validated][1].startswith("1 of 4 expectations met. Last checked 2026-03-11, ")
    [(loads,)] = sql(validated, "SELECT count(*) FROM load")
    assert checks[validated][1].endswith(f"; {loads - 1} files not checked.")
    assert verdicts[validated]["All in all"][0] == "No"
    assert "1 file refused" not in verdicts[world]["Decoding"][1]
    assert "Can the data be trusted?" in words(drawn_page("quality", world))


def test_without_a_validation_the_page_shows_the_command(drawn_page: Open, world: Path) -> None:
    page = drawn_page("quality", world, {"quality_part": "Expectations"})
    assert "has not been validated yet" in words(page)
    assert page.code[-1].value == "zscope validate"


def test_the_worst_results_of_the_newest_run_come_first(drawn_page: Open, validated: Path) -> None:
    page = drawn_page("quality", validated, {"quality_part": "Expectations"})
    shown = table(page, "expectations-")
    assert shown["expectation"].tolist() == ["unknown", "fails", "note", "holds"]
    assert set(shown["verdict"]) == {"? error", "▲ failure", "○ note", "✓ passed"}
    assert "1 of 4 expectations met" in page.selectbox(key="quality_run").options[0]
    assert len(page.get("vega_lite_chart")) == 2


def test_an_older_run_can_be_chosen(open_page: Open, validated: Path) -> None:
    page = open_page("quality", validated, {"quality_part": "Expectations"})
    page.selectbox(key="quality_run").set_value("20260310T020000-abc").run()
    fine(page)
    assert table(page, "expectations-")["expectation"].tolist() == ["other run"]


def test_choosing_a_result_shows_unexpected_rows(open_page: Open, validated: Path) -> None:
    page = open_page("quality", validated, {"quality_part": "Expectations"})
    page = choose(page, "expectations-", 1)
    shown = listed(page, "load_id")
    assert shown["load_id"].tolist() == ["1", "1"]
    assert shown["system"].tolist()[0] == MARKUP
    assert shown["busy_pct"].tolist()[1] == "101.5"
    page = choose(page, "expectations-", 0)
    assert page.text[0].value == f"no engine {MARKUP}"


def test_examples_of_different_kinds_are_one_table() -> None:
    rows = examples(json.dumps([{"a": 1}, {"a": "x", "b": [1]}])).to_pylist()
    assert rows == [{"a": "1", "b": None}, {"a": "x", "b": "[1]"}]
    assert examples(None).num_rows == 0


def test_data_docs_are_shown_as_a_path(drawn_page: Open, validated: Path) -> None:
    page = drawn_page("quality", validated, {"quality_part": "Expectations"})
    index = validated / "data-docs" / "index.html"
    assert str(index) in [text.value for text in page.text]
    assert page.code[-1].value == f"python3 -m webbrowser {index.as_uri()}"


def test_missing_sources_have_the_metrics_that_need_them(drawn_page: Open, only_rmf: Path) -> None:
    page = drawn_page("quality", only_rmf, {"quality_part": "Sources"})
    rows = listed(page, "to_load").set_index("table_name")
    there = {name for (name,) in sql(only_rmf, "SELECT table_name FROM load_table WHERE rows > 0")}
    assert set(rows.index[rows["state"] == "● present"]) == there - {"issue"}
    zert = rows.loc["smf119_zert_detail"]
    assert zert["state"] == "✕ missing"
    assert zert["origin"] == "119-11"
    assert "tls_posture" in list(zert["metrics"])
    assert zert["to_load"] == "zscope ingest PATH --select smf119_zert_detail"
    assert rows["state"].tolist()[0] == "✕ missing"


def test_sources_are_counted_by_kind_and_system(drawn_page: Open, world: Path) -> None:
    page = drawn_page("quality", world, {"quality_part": "Sources"})
    shown = listed(page, "data_kind", "system").set_index(["data_kind", "system"])
    [(records, newest)] = sql(
        world,
        "SELECT sum(records), max(last_local) FROM load_kind "
        "WHERE system = 'CLI1' AND record_type = 119 AND record_subtype = 11",
    )
    row = shown.loc["zERT detail (SMF 119-11)", "CLI1"]
    assert (row["records"], row["last_local"]) == (records, newest)
    assert shown["hours_behind"].min() == 0
    # The latest are the first.
    assert shown["hours_behind"].dropna().is_monotonic_decreasing
    assert shown["hours_behind"].max() > 24


@pytest.mark.deep
def test_without_a_time_zone_it_is_not_known_whether_data_are_late(drawn_page: Open, tmp_path: Path) -> None:
    ingest(
        tmp_path / "store",
        [SAMPLE / "reports" / "netstat.SYSA.2026-03-02.txt"],
        IngestOptions(selection=chosen_types(None)),
    )
    page = drawn_page("quality", tmp_path / "store", {"quality_part": "Sources"})
    [row] = listed(page, "data_kind", "system").to_dict("records")
    assert row["last_local"].isoformat() == "2026-03-02T11:46:58"
    assert str(row["hours_behind"]) in {"nan", "None", "<NA>"}


@pytest.mark.parametrize("part", PARTS)
def test_an_empty_store_shows_what_to_load(drawn_page: Open, empty: Path, part: str) -> None:
    page = drawn_page("quality", empty, {"quality_part": part})
    assert "Nothing is loaded" in words(page)
    assert "zscope ingest" in words(page)


@pytest.mark.deep
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("store", ["only_rmf", "only_netstat", "only_zert"])
def test_one_source_is_enough(
    drawn_page: Open, store: str, part: str, request: pytest.FixtureRequest
) -> None:
    page = drawn_page("quality", request.getfixturevalue(store), {"quality_part": part})
    assert page.metric[0].value == "1"


@pytest.mark.deep
@pytest.mark.parametrize("part", PARTS)
def test_names_of_data_are_never_markup(drawn_page: Open, hostile: Path, part: str) -> None:
    page = drawn_page("quality", hostile, {"quality_part": part})
    assert MARKUP not in words(page)
    assert "<img" not in words(page)


def test_the_name_of_a_file_is_never_markup(open_page: Open, hostile: Path) -> None:
    page = open_page("quality", hostile)
    names = table(page, "loads-")["name"]
    number = names.index[names.str.startswith("<img")][0]
    shown = words(choose(page, "loads-", int(number)))
    assert r"\<img src\=x" in shown
    assert "<img" not in shown.replace(r"\<img", "")
