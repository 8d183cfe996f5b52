"""The table of the numbers of the sample data in the page of metrics: what `zscope demo --full` and the page
Overview show.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from streamlit.testing.v1 import AppTest
from tests.app.dashboard.conftest import LONGEST_S, draw_page, fine

from zscope.app.shared.dashboard_server import STORE
from zscope.pipelines.metrics.metric_documents import OVERVIEW, SAMPLE_NUMBERS, metrics_documents
from zscope.schemas.published import published_tables

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from click.testing import Result

_RULE = re.compile(r"^-+(  -+)+$")
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def printed_tables(output: str) -> dict[str, dict[str, list[float]]]:
    """Return the numbers of each table before the benchmark, by metric and column."""
    lines = output.partition("\nBenchmark runs compared")[0].splitlines()
    tables = {}
    for at, line in enumerate(lines):
        if not _RULE.match(line):
            continue
        metric = lines[at - 3].removeprefix("zscope metrics ")
        ends = [match.span() for match in re.finditer("-+", line)]
        columns: dict[str, list[float]] = {}
        for row in lines[at + 1 :]:
            if not row:
                break
            for begin, end in ends:
                text = row[begin:end].strip()
                if _NUMBER.fullmatch(text):
                    columns.setdefault(lines[at - 1][begin:end].strip(), []).append(
                        float(text.replace(",", ""))
                    )
        tables[metric] = columns
    return tables


def shown(values: list[float]) -> str:
    """Return the least and the greatest value with three digits."""
    least, most = (f"{float(f'{value:.3g}'):,.10g}" for value in (min(values), max(values)))
    return least if least == most else f"{least} to {most}"


def test_every_number_of_the_demo_is_in_the_table(demo: tuple[Path, Result]) -> None:
    computed = {
        (metric, column): shown(values)
        for metric, columns in printed_tables(demo[1].stdout).items()
        for column, values in columns.items()
    }
    assert len(computed) > 20
    documented = {(row.table, row.number): row.sample for row in SAMPLE_NUMBERS if row.table != OVERVIEW}
    assert documented == computed


def test_every_number_of_the_overview_is_in_the_table(
    demo: tuple[Path, Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STORE, str(demo[0]))
    page = AppTest.from_function(draw_page, args=("overview",), default_timeout=LONGEST_S).run()
    fine(page)
    computed: dict[str, list[float]] = {}
    for metric in page.metric[:-1]:  # the last one is a date
        value, unit = metric.value.removeprefix("≤ ").rsplit(" ", 1)
        assert unit in {"%", "s"}
        computed.setdefault(metric.label.partition(",")[0], []).append(float(value.replace(",", "")))
    documented = {row.number.partition(",")[0]: row.sample for row in SAMPLE_NUMBERS if row.table == OVERVIEW}
    assert documented == {number: shown(values) for number, values in computed.items()}


def test_the_document_has_the_table_with_what_is_published() -> None:
    document = metrics_documents()["metrics.md"]
    results = published_tables()["reference_result"]
    printed = dict(zip(results["id"].to_pylist(), results["as_printed"].to_pylist(), strict=True))
    compared = 0
    for row in SAMPLE_NUMBERS:
        [line] = [one for one in document.splitlines() if one.startswith(f"| {row.table} | {row.number} | ")]
        assert row.sample in line
        for name in row.published:
            assert f"{printed[name]} (`{name}`)" in line
            compared += 1
        # A number without a published one states why.
        assert row.published or row.remark
    assert compared >= 10
