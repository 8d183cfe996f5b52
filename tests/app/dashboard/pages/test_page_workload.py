"""The page about the workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.conftest import Open, words
from tests.app.dashboard.page_helpers import data_of, sql

from zscope.app.dashboard.pages.workload import classes, roles, spaces
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


def test_the_shares_of_a_system_are_a_hundred_percent(world: Path) -> None:
    rows = roles(data_of(world)).to_pylist()
    assert {row["role"] for row in rows} >= {"TCP/IP stack", "TLS port", "uncaptured"}
    assert sum(row["share_pct"] for row in rows if row["system"] == "SRV1") == pytest.approx(100)


def test_the_address_space_with_most_cpu_time_is_first(world: Path) -> None:
    first = spaces(data_of(world)).to_pylist()[0]
    [(job, seconds)] = sql(
        world,
        "SELECT job_name, sum(cp_s) FROM address_space_cpu WHERE account = 'address space' "
        "GROUP BY ALL ORDER BY 2 DESC LIMIT 1",
    )
    assert (first["job_name"], first["cp_s"]) == (job, pytest.approx(seconds))


def test_service_and_report_classes_are_apart(open_page: Open, world: Path) -> None:
    page = open_page(PAGE, world, {"workload_kind": "Report class"})
    assert "report class" in str(page.get("vega_lite_chart")[1].proto).lower()
    for kind in ("service class", "report class"):
        assert set(classes(data_of(world), kind)["class_kind"].to_pylist()) == {kind}


def test_a_job_narrows_the_address_spaces_alone(world: Path) -> None:
    data = data_of(world, Filters(jobs=("TCPIP",)))
    assert set(spaces(data)["job_name"].to_pylist()) == {"TCPIP"}
    assert data.without_effect("service_class_cpu") == ("job",)


@pytest.mark.deep
def test_without_data_it_names_what_to_load(drawn_page: Open, only_zert: Path) -> None:
    assert "zscope ingest SMF.DUMP --select '30,70(1),72(3)'" in words(drawn_page(PAGE, only_zert))
