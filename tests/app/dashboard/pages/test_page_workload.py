"""The page about the workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.conftest import Open, words
from tests.app.dashboard.page_helpers import data_of, sql

from zscope.app.figures.figure_declarations import declared_figures
from zscope.app.figures.figure_rows import Row, figure_rows
from zscope.app.shared.filters import Filters

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "workload"


def test_the_captured_share_is_that_of_the_metric(drawn_page: Open, world: Path) -> None:
    shown = {metric.label: metric.value for metric in drawn_page(PAGE, world).metric}
    for source, system, share in sql(
        world,
        "SELECT source, system, 100 * sum(captured_s) / sum(cpu_s) FROM capture_ratio GROUP BY ALL",
    ):
        assert shown[f"Captured, {source}, {system}"] == f"{share:.1f} %"


def rows_of(store: Path, figure: str, filters: Filters | None = None) -> tuple[Row, ...]:
    return figure_rows(data_of(store, filters or Filters()), declared_figures()[figure], {}).rows


def test_the_shares_of_a_system_are_a_hundred_percent(world: Path) -> None:
    rows = rows_of(world, "cpu-by-role")
    assert {row["role"] for row in rows} >= {"TCP/IP stack", "TLS port", "uncaptured"}
    assert sum(row["share_pct"] for row in rows if row["system"] == "SRV1") == pytest.approx(100)


def test_the_address_space_with_most_cpu_time_is_first(world: Path) -> None:
    rows = rows_of(world, "address-spaces")
    [(job, seconds)] = sql(
        world,
        "SELECT job_name, sum(cp_s) FROM address_space_cpu WHERE account = 'address space' "
        "GROUP BY ALL ORDER BY 2 DESC LIMIT 1",
    )
    assert (rows[0]["job_name"], rows[0]["cp_s"]) == (job, pytest.approx(seconds))
    [(whole,)] = sql(world, f"SELECT sum(cp_s) FROM address_space_cpu WHERE system = '{rows[0]['system']}'")
    assert rows[0]["share_pct"] == pytest.approx(100 * seconds / whole)


def test_service_and_report_classes_are_apart(drawn_page: Open, world: Path) -> None:
    shown = words(drawn_page(PAGE, world))
    for kind in ("service", "report"):
        assert f"Which {kind} classes use it?" in shown
        named = {row["class_name"] for row in rows_of(world, f"cpu-by-{kind}-class")}
        [(listed,)] = sql(
            world,
            "SELECT list(DISTINCT class_name) FROM service_class_cpu "
            f"WHERE class_kind = '{kind} class' AND sysplex IS NULL",
        )
        assert named == set(listed or [])


def test_a_job_narrows_the_address_spaces_alone(world: Path) -> None:
    filters = Filters(jobs=("TCPIP",))
    assert {row["job_name"] for row in rows_of(world, "address-spaces", filters)} == {"TCPIP"}
    classes = figure_rows(data_of(world, filters), declared_figures()["cpu-by-service-class"], {})
    assert classes.ignored == ("job",)


@pytest.mark.deep
def test_without_data_it_names_what_to_load(drawn_page: Open, only_zert: Path) -> None:
    assert "zscope ingest SMF.DUMP --select '30,70(1),72(3)'" in words(drawn_page(PAGE, only_zert))
