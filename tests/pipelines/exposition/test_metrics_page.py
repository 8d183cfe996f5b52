"""The page for Prometheus: its values, what it says about the store, and when it is computed again."""

from __future__ import annotations

import shutil
import threading
from datetime import date
from typing import TYPE_CHECKING

import pytest
from tests.pipelines.exposition.official_parsers import parsed

from zscope.pipelines.exposition.metrics_page import MetricsPage, about_names
from zscope.pipelines.settings import Settings
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.remove import remove_load
from zscope.pipelines.store.transaction import changing

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.pipelines.exposition.metrics_page import State, Values

METRICS = ("handshake_mix",)
WAIT = 600


def page(
    store: Path, *, most: int = 50_000, report: list[str] | None = None, day: date = date(2026, 3, 10)
) -> MetricsPage:
    messages = [] if report is None else report
    return MetricsPage(store, "9.9", most, METRICS, WAIT, lambda: day, messages.append)


def remove_dump(store: Path) -> None:
    """Remove the load with the SMF records."""
    folder = existing_store(store)
    with changing(folder, Settings(), lambda _: None) as state:
        remove_load(folder, state, 1)


def test_the_page_has_values_and_says_of_which_commit(sample_store: Path) -> None:
    families = parsed(page(sample_store).text().decode())
    assert sum(families["zscope_handshake_mix_full_handshakes"].values()) > 0
    assert families["zscope_export_version"] == {frozenset({("version", "9.9")}): 1}
    assert families["zscope_export_store_up"] == families["zscope_export_values_present"] == {frozenset(): 1}
    assert families["zscope_export_commit"][frozenset()] > 0
    assert {name for name in families if name.startswith("zscope_export_")} <= set(about_names())


def test_a_store_that_cannot_be_read_is_a_metric_and_a_message(tmp_path: Path) -> None:
    report: list[str] = []
    missing = page(tmp_path / "none", report=report)
    families = parsed(missing.text().decode())
    assert families == {
        "zscope_export_version": {frozenset({("version", "9.9")}): 1},
        "zscope_export_store_up": {frozenset(): 0},
        "zscope_export_values_present": {frozenset(): 0},
    }
    missing.text()
    assert report == [missing.problem()]
    assert "there is no store" in missing.problem()


def test_a_metric_with_too_many_series_is_left_out_with_a_message(sample_store: Path) -> None:
    report: list[str] = []
    families = parsed(page(sample_store, most=5, report=report).text().decode())
    assert families["zscope_export_left_out"] == {frozenset({("metric", name)}): 1 for name in METRICS}
    assert not [name for name in families if name.startswith("zscope_handshake_mix")]
    assert [text.split(" has ")[0] for text in report] == [f"left out: {name}" for name in METRICS]
    assert all("more than 5; " in text for text in report)


def test_values_are_computed_once_for_a_commit_and_day(
    sample_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = [date(2026, 3, 10)]
    computed: list[date] = []

    def compute(page: MetricsPage, state: State) -> Values | None:
        computed.append(days[0])
        return compute_values(page, state)

    compute_values = MetricsPage._computed
    monkeypatch.setattr(MetricsPage, "_computed", compute)
    one = MetricsPage(sample_store, "9.9", 50_000, METRICS, WAIT, lambda: days[0])
    first = one.text()
    assert one.text() == first
    assert computed == days
    days[0] = date(2026, 3, 11)
    one.text()
    assert computed == [date(2026, 3, 10), date(2026, 3, 11)]


@pytest.mark.deep
def test_a_change_of_the_store_is_seen(sample_store: Path, tmp_path: Path) -> None:
    store = shutil.copytree(sample_store, tmp_path / "store")
    one = page(store)
    before = parsed(one.text().decode())
    remove_dump(store)
    after = parsed(one.text().decode())
    assert after["zscope_export_commit"][frozenset()] > before["zscope_export_commit"][frozenset()]
    assert "zscope_handshake_mix_full_handshakes" not in after
    shutil.rmtree(store)
    assert parsed(one.text().decode())["zscope_export_store_up"] == {frozenset(): 0}
    shutil.copytree(sample_store, store)
    assert parsed(one.text().decode())["zscope_handshake_mix_full_handshakes"]


@pytest.mark.deep
def test_values_before_stay_while_new_ones_are_computed(
    sample_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = shutil.copytree(sample_store, tmp_path / "store")
    one = MetricsPage(store, "9.9", 50_000, ("handshake_mix",), WAIT)
    before = parsed(one.text().decode())
    one._wait = 0
    remove_dump(store)
    asked = threading.Event()

    def compute(page: MetricsPage, state: State) -> Values | None:
        assert asked.wait(WAIT)
        return compute_values(page, state)

    compute_values = MetricsPage._computed
    monkeypatch.setattr(MetricsPage, "_computed", compute)
    assert (
        parsed(one.text().decode())["zscope_handshake_mix_full_handshakes"]
        == before["zscope_handshake_mix_full_handshakes"]
    )
    asked.set()
    one.close()


def test_a_damaged_store_is_reported(sample_store: Path, tmp_path: Path) -> None:
    store = shutil.copytree(sample_store, tmp_path / "store")
    (store / "zscope-store.json").write_text("{")
    damaged = page(store)
    assert parsed(damaged.text().decode())["zscope_export_store_up"] == {frozenset(): 0}
    assert "the store cannot be read" in damaged.problem()


@pytest.mark.deep
def test_damaged_data_is_reported_once(sample_store: Path, tmp_path: Path) -> None:
    store = shutil.copytree(sample_store, tmp_path / "store")
    for file in store.rglob("*.parquet"):
        file.write_bytes(b"damaged")
    report: list[str] = []
    damaged = page(store, report=report)
    assert parsed(damaged.text().decode())["zscope_export_store_up"] == {frozenset(): 0}
    assert len(report) == 1
    assert report[0] == damaged.problem() != ""


def test_a_closed_page_computes_nothing_more(sample_store: Path) -> None:
    one = page(sample_store)
    one.close()
    assert parsed(one.text().decode())["zscope_export_values_present"] == {frozenset(): 0}
