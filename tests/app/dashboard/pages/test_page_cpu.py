"""The page about CPU, partitions and crypto cards."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from tests.app.dashboard.conftest import MARKUP, Open, fine, words
from tests.app.dashboard.page_helpers import data_of, sql
from tests.sample_stores import SAMPLE

from zscope.app.dashboard.pages.cpu.cpu_page import compared
from zscope.app.figures import figure_rows as rows_of_figures
from zscope.app.figures.drawn_values import lines_of
from zscope.app.figures.figure_declarations import declared_figures
from zscope.app.figures.figure_rows import FigureRows, figure_rows
from zscope.app.shared.filters import Filters
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

PAGE = "cpu"
CRYPTO = """\
                       C R Y P T O   H A R D W A R E   A C T I V I T Y
                                                                                          PAGE    2
     z/OS V2R5         SYSTEM ID SYSC         DATE 03/02/2026       INTERVAL 10.00.000
                       RPT VERSION V2R5 RMF   TIME 09.40.00         CYCLE 1.000 SECONDS

-------- CRYPTOGRAPHIC CCA COPROCESSOR --------
            ------- LPAR -------    ------- CPC --------   LPAR KEY-GEN  CPC KEY-GEN
TYPE   ID   RATE EXEC TIME UTIL%    RATE EXEC TIME UTIL%   RATE          RATE
CEX6C   0   7.25     1.375   1.0    9.50     1.500   1.4   0.25          0.50
"""


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with all SMF 70 records of the sample, a report that contradicts them, and one on cards."""
    folder = tmp_path_factory.mktemp("cards")
    report = (SAMPLE / "reports" / "rmf-cpu.SYSB.txt").read_text(encoding="utf-8")
    true, false = "CP     100.00    38.00", "CP     100.00    48.00"
    assert true in report
    (folder / "wrong.txt").write_text(report.replace(true, false, 1), encoding="utf-8")
    (folder / "crypto.txt").write_text(CRYPTO, encoding="utf-8")
    how = IngestOptions(selection=row_selection("70"), settings=Settings().merge(["+01:00"]))
    ingest(folder / "store", [SAMPLE / "smf-sample.bin"], how)
    how = IngestOptions(selection=row_selection(None), settings=Settings().merge(["+01:00"]))
    ingest(folder / "store", [folder / "wrong.txt", folder / "crypto.txt"], how)
    return folder / "store"


def found_rows(store: Path, figure: str, filters: Filters | None = None) -> FigureRows:
    return figure_rows(data_of(store, filters or Filters()), declared_figures()[figure], {})


def test_systems_are_as_the_metric_has_them(world: Path) -> None:
    rows = data_of(world).metric("cpu_interval").to_pylist()
    shown = {(row["system"], row["source"]): row for row in found_rows(world, "cpu-systems").rows}
    assert set(shown) == {(row["system"], row["source"]) for row in rows}
    for (system, source), row in shown.items():
        of = [one for one in rows if (one["system"], one["source"]) == (system, source)]
        assert row["intervals"] == len(of)
        busy = sum(one["lpar_busy_pct"] * one["interval_ms"] for one in of)
        assert row["lpar_busy_pct"] == pytest.approx(busy / sum(one["interval_ms"] for one in of))


def test_a_line_breaks_where_a_system_has_no_interval(world: Path) -> None:
    found = found_rows(world, "busy-over-time", Filters(systems=("CLI2",)))
    # Two quarter hours of a week are missing, next to each other.
    assert len(found.rows) == 7 * 96 - 2
    assert {point.piece for point in lines_of(found)["CLI2"]} == {0, 1}


def test_days_of_a_long_time_are_weighted_means(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    intervals = data_of(world).metric("cpu_interval", where="system = 'SRV1'").to_pylist()
    monkeypatch.setattr(rows_of_figures, "_HOURLY_OF", {})
    found = found_rows(world, "busy-over-time", Filters(systems=("SRV1",)))
    assert not found.hourly
    assert {row["time"] for row in found.rows} == {row["day"] for row in intervals}
    for row in found.rows:
        of = [one for one in intervals if one["day"] == row["time"]]
        busy = sum(one["lpar_busy_pct"] * one["interval_ms"] for one in of)
        assert row["lpar_busy_pct"] == pytest.approx(busy / sum(one["interval_ms"] for one in of))
        assert row["cpu_s"] == pytest.approx(sum(one["cpu_s"] for one in of))


def test_all_sections_are_drawn(drawn_page: Open, cards: Path) -> None:
    page = drawn_page(PAGE, cards)
    assert len(page.get("vega_lite_chart")) == 7
    assert "There " not in "".join(info.value for info in page.info)


def test_processors_and_systems_can_be_chosen(open_page: Open, world: Path) -> None:
    page = open_page(PAGE, world)
    page.button_group(key="cpu_processors").set_value("zIIP").run()
    fine(page)
    page.selectbox(key="cpu_reported_by").set_value("SRV1").run()
    assert "LINUX1" not in specifications(page)
    page.button_group(key="cpu_type").set_value("IFL").run()
    fine(page)
    assert "LINUX1" in specifications(page)


def specifications(page: AppTest) -> str:
    return "\n".join(chart.proto.spec for chart in page.get("vega_lite_chart"))


def test_filters_of_the_address_narrow_it(drawn_page: Open, world: Path) -> None:
    page = drawn_page(PAGE, world, {"system": "SRV2", "job": "nobody"})
    assert page.selectbox(key="cpu_reported_by").options == ["SRV2"]


def test_sources_that_agree_are_reported(drawn_page: Open, world: Path) -> None:
    assert "do not differ by more than rounding" in words(drawn_page(PAGE, world))


def test_sources_that_differ_are_shown(drawn_page: Open, cards: Path) -> None:
    data = data_of(cards)
    assert compared(data) == 8
    result = found_rows(cards, "cpu-disagreements").rows
    assert {row["column_name"] for row in result} == {"cpu_s", "lpar_busy_pct"}
    busy = next(row for row in result if row["column_name"] == "lpar_busy_pct")
    assert busy["system"] == "SYSB"
    assert busy["difference"] == pytest.approx(2.5, abs=0.01)
    assert "Do the sources agree?" in words(drawn_page(PAGE, cards))


def test_partitions_of_records_and_reports_agree(only_rmf: Path, cards: Path) -> None:
    by_system = Filters(systems=("SYSB",))
    reports, records = (found_rows(store, "partitions", by_system) for store in (only_rmf, cards))
    assert (records.evidence and records.evidence.sources) == ("SMF 70",)
    assert (reports.evidence and reports.evidence.sources) == ("RMF",)
    expected = {row["partition_name"]: row for row in reports.rows}
    assert {row["partition_name"] for row in records.rows} == set(expected)
    for row in records.rows:
        other = expected[row["partition_name"]]
        assert (row["weight"], row["weight_pct"]) == (other["weight"], other["weight_pct"])
        assert row["sharing"] == other["sharing"]
        assert row["used_pct"] == pytest.approx(other["used_pct"], abs=0.02)


def test_weights_are_shares_of_shared_processors(world: Path) -> None:
    rows = {row["partition_name"]: row for row in found_rows(world, "partitions").rows}
    assert {name for name, row in rows.items() if row["sharing"] == "dedicated"} == {"SRV1", "SRV2"}
    assert (rows["CLI1"]["weight"], rows["CLI1"]["weight_pct"]) == (2500, 50.0)
    assert rows["SRV1"]["weight_pct"] is None
    assert rows["SRV1"]["used_pct"] == pytest.approx(100 * 4 / 12)


def test_partitions_are_those_of_one_system_and_type(world: Path) -> None:
    """Every system of a machine records all of its partitions: together they would be many times its use."""
    for name in ("partitions", "partitions-over-time"):
        found = found_rows(world, name)
        assert {(row["system"], row["cpu_type"]) for row in found.rows} == {("CLI1", "CP")}
    day = found.rows[0]["time"]
    every = {row["partition_name"]: row for row in found_rows(world, "partitions").rows}
    assert {row["used_by"] for row in found.rows if row["time"] == day} == set(every)


def test_small_partitions_are_others(world: Path) -> None:
    figure = declared_figures()["partitions-over-time"]
    assert figure.select.count("<= 7") == 1
    few = structs.replace(figure, select=figure.select.replace("<= 7", "<= 2"))
    whole, shown = (figure_rows(data_of(world), each, {}).rows for each in (figure, few))
    assert {row["used_by"] for row in shown} == {"SRV1", "SRV2", "others"}
    for time in {row["time"] for row in whole}:
        sums = [sum(row["used_pct"] for row in rows if row["time"] == time) for rows in (whole, shown)]
        assert sums[0] == pytest.approx(sums[1])


def test_cards_of_reports_keep_their_scope(drawn_page: Open, cards: Path) -> None:
    page = drawn_page(PAGE, cards, {"system": "SYSC"})
    assert page.button_group(key="cpu_crypto_scope").options == ["this system", "whole CPC"]
    page = drawn_page(PAGE, cards, {"system": "SYSC", "cpu_crypto_scope": "whole CPC"})
    [shown] = [frame.value for frame in page.dataframe if "avg_execution_ms" in frame.value.columns]
    assert shown[["scope", "operations_per_s", "avg_execution_ms"]].to_numpy().tolist() == [
        ["whole CPC", pytest.approx(9.5), pytest.approx(1.5)]
    ]
    lines = lines_of(found_rows(cards, "card-busy-over-time", Filters(systems=("SYSC",))))
    assert {name: [point.value for point in line] for name, line in lines.items()} == {
        "SYSC CEX6C 0": [pytest.approx(1.0)],
        "SYSC CEX6C 0 (whole CPC)": [pytest.approx(1.4)],
    }


def test_counted_cryptography_is_shown_where_it_is_recorded(
    drawn_page: Open, world: Path, cards: Path, tmp_path: Path
) -> None:
    heading = "Cryptographic work of the processors"
    ingest(
        tmp_path / "store", [SAMPLE / "hardware-counters.smf.gz"],
        IngestOptions(selection=row_selection(None), settings=Settings().merge(["+01:00"])),
    )  # fmt: skip
    assert heading not in words(drawn_page(PAGE, cards))
    assert heading in words(drawn_page(PAGE, tmp_path / "store"))
    shares = found_rows(tmp_path / "store", "crypto-share-over-time")
    by_day = {row["crypto_pct"] for row in shares.rows if 8 <= row["time"].hour < 18}
    assert len(shares.rows) > 100
    assert min(by_day) > 3
    used = sql(world, "SELECT sum(instructions)::BIGINT FROM address_space_crypto")
    assert [(sum(row["instructions"] for row in found_rows(world, "crypto-instructions").rows),)] == used
    assert used[0][0] > 0


def test_each_section_shows_what_to_load(drawn_page: Open, empty: Path) -> None:
    shown = words(drawn_page(PAGE, empty))
    for said in (
        "There is no CPU use",
        "There are no partitions",
        "There are no crypto cards",
        "There are no ICSF calls",
        "'70(1)'",
        "'70(2)'",
    ):
        assert said in shown


@pytest.mark.deep
def test_a_report_alone_is_enough(drawn_page: Open, only_rmf: Path) -> None:
    page = drawn_page(PAGE, only_rmf)
    shown = words(page)
    assert "There are no crypto cards" in shown
    assert "There is no CPU use" not in shown
    assert "covered by one source only" in shown
    charts = [json.loads(chart.proto.spec) for chart in page.get("vega_lite_chart")]
    assert len(charts) == 3, "use over time, and two of partitions"


@pytest.mark.deep
@pytest.mark.parametrize("store", ["only_netstat", "only_zert"])
def test_missing_cpu_use_is_reported(drawn_page: Open, store: str, request: pytest.FixtureRequest) -> None:
    assert "There is no CPU use" in words(drawn_page(PAGE, request.getfixturevalue(store)))


@pytest.mark.deep
def test_names_of_data_are_never_markup(drawn_page: Open, hostile: Path) -> None:
    assert MARKUP not in words(drawn_page(PAGE, hostile))
