"""The page about CPU, partitions and crypto cards."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.conftest import MARKUP, Open, fine, words
from tests.app.dashboard.page_helpers import data_of, sql
from tests.sample_stores import SAMPLE

from zscope.app.dashboard.pages.cpu import crypto
from zscope.app.dashboard.pages.cpu.cpu_page import compared
from zscope.app.dashboard.pages.cpu.partitions import partition_sources, partitions, use_over_time
from zscope.app.figures import figure_rows as rows_of_figures
from zscope.app.figures.drawn_values import lines_of
from zscope.app.figures.figure_declarations import declared_figures
from zscope.app.figures.figure_rows import FigureRows, figure_rows
from zscope.app.shared.filters import Filters
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

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
    assert len(page.get("vega_lite_chart")) == 5
    assert "There " not in "".join(info.value for info in page.info)


def test_processors_and_systems_can_be_chosen(open_page: Open, world: Path) -> None:
    page = open_page(PAGE, world)
    page.button_group(key="cpu_processors").set_value("zIIP").run()
    fine(page)
    page.selectbox(key="cpu_reported_by").set_value("SRV1").run()
    page.button_group(key="cpu_type").set_value("IIP").run()
    fine(page)
    assert "SMF 70 records of SRV1" in words(page)
    assert "Physical processors of this type 4" in words(page)


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
    [source] = partition_sources(data_of(only_rmf))
    assert (source.system, source.by) == ("SYSB", "RMF reports")
    expected = {
        (row["partition_name"].strip("*"), row["processors"]): row
        for row in partitions(data_of(only_rmf), source).to_pylist()
    }
    [records] = [source for source in partition_sources(data_of(cards)) if source.system == "SYSB"]
    assert records.by == "SMF 70 records"
    for row in partitions(data_of(cards), records).to_pylist():
        other = expected[row["partition_name"], row["processors"]]
        assert (row["weight"], row["sharing"]) == (other["weight"], other["sharing"])
        assert row["used_pct"] == pytest.approx(other["used_pct"], abs=0.02)


def test_weights_are_shares_of_shared_processors(world: Path) -> None:
    data = data_of(world)
    rows = partitions(data, partition_sources(data)[0]).to_pylist()
    cps = {row["partition_name"]: row for row in rows if row["processors"] == "CP"}
    assert {name for name, row in cps.items() if row["sharing"] == "dedicated"} == {"SRV1", "SRV2"}
    assert (cps["CLI1"]["weight"], cps["CLI1"]["weight_pct"]) == (2500, 50.0)
    assert cps["SRV1"]["weight_pct"] is None
    assert cps["SRV1"]["used_pct"] == pytest.approx(100 * 4 / 12)
    moments, clock = use_over_time(data, partition_sources(data)[0], "CP")
    assert clock == "hour_utc"
    assert {row["partition_name"] for row in moments.to_pylist()} == set(cps)


def test_cards_count_operations_and_time(cards: Path) -> None:
    data = data_of(cards)
    [count] = data.rows("""
        SELECT sum(all_operations_count) / sum(interval_ms / 1000) AS rate,
            1000 * sum(all_operations_time_raw * scaling_factor) / sum(all_operations_count) AS ms
        FROM smf70_crypto_cca WHERE system = 'SYSA' AND card_index = 1
    """).to_pylist()  # fmt: skip
    every = {(row["card"], row["operation"]): row for row in crypto.by_card(data, "this system").to_pylist()}
    card = every["SYSA CEX8C 1", "total"]
    assert card["operations_per_s"] == pytest.approx(count["rate"])
    assert card["execution_ms"] == pytest.approx(count["ms"])
    accelerator = [row for (name, _), row in every.items() if name == "SYSA CEX8A 2"]
    total = next(row for row in accelerator if row["operation"] == "total")
    rest = [row for row in accelerator if row is not total]
    assert len(rest) == 6
    assert total["operations_per_s"] == pytest.approx(sum(row["operations_per_s"] for row in rest))
    assert total["busy_pct"] == pytest.approx(sum(row["busy_pct"] for row in rest))


def test_cards_of_reports_keep_their_scope(drawn_page: Open, cards: Path) -> None:
    data = data_of(cards, Filters(systems=("SYSC",)))
    assert crypto.scopes(data) == ("this system", "whole CPC")
    [row] = crypto.by_card(data, "whole CPC").to_pylist()
    expected = (row["card"], row["operations_per_s"], row["execution_ms"], row["busy_pct"])
    assert expected == ("SYSC CEX6C 0", pytest.approx(9.5), pytest.approx(1.5), pytest.approx(1.4))
    page = drawn_page(PAGE, cards, {"cpu_crypto_scope": "whole CPC"})
    assert "Work counted: whole CPC" in words(page)


def test_services_are_calls_a_second(cards: Path) -> None:
    data = data_of(cards, Filters(systems=("SYSA",)))
    [rate] = data.rows("""
        SELECT sum(aes_encipher_calls) / sum(interval_ms / 1000) AS rate FROM smf70_icsf WHERE system = 'SYSA'
    """).to_pylist()  # fmt: skip
    busiest = crypto.services(data).to_pylist()[0]
    assert busiest["service"] == "aes encipher"
    assert busiest["calls_per_s"] == pytest.approx(rate["rate"])


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
    assert len(charts) == 3


@pytest.mark.deep
@pytest.mark.parametrize("store", ["only_netstat", "only_zert"])
def test_missing_cpu_use_is_reported(drawn_page: Open, store: str, request: pytest.FixtureRequest) -> None:
    assert "There is no CPU use" in words(drawn_page(PAGE, request.getfixturevalue(store)))


@pytest.mark.deep
def test_names_of_data_are_never_markup(drawn_page: Open, hostile: Path) -> None:
    assert MARKUP not in words(drawn_page(PAGE, hostile))
