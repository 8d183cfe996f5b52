"""Amounts look the same in tiles, at axes, in tooltips and in tables."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from zscope.app.dashboard.amounts import (
    amount,
    amount_expression,
    in_readable_units,
    with_amounts,
    without_signed_zeros,
)
from zscope.app.dashboard.labels import column_config
from zscope.app.dashboard.style import COLOURS
from zscope.app.figures.figure_declarations import figure_words
from zscope.app.shared.column_labels import unit_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.app.dashboard.conftest import Open


def test_a_time_has_the_same_unit_in_a_tile_a_tooltip_and_a_table() -> None:
    table = pa.table({"cpu_us_per_transaction": [679_824.0, 12.0]})
    assert amount(679_824.0, "us") == "680 ms"
    [tip, _] = with_amounts(table, cpu_us_per_transaction="us")["cpu_us_per_transaction_in_words"].to_pylist()
    assert tip == "680 ms"
    shown, units = in_readable_units(table, {})
    config = column_config(shown, [], units)["cpu_us_per_transaction"]
    assert (config["label"], shown["cpu_us_per_transaction"][0].as_py()) == (
        "CPU ms per transaction",
        679.824,
    )


@pytest.mark.parametrize("unit", ["us", "ms", "s", "bytes", "bytes/s"])
def test_an_axis_changes_its_unit_where_a_tile_does(unit: str) -> None:
    expression = amount_expression(unit, "v")
    sizes = [float(size) for size in re.findall(r"abs\(v\) >= (\S+) \?", expression)]
    for size in sizes:
        written = amount(size, unit).split(" ")[1]
        assert re.search(rf"abs\(v\) >= {size:.15g} \? [^:]*: [^:]*: [^:]*' {written}'\)", expression)
        assert amount(size * 0.9, unit).split(" ")[1] != written


def test_columns_without_a_time_keep_their_values() -> None:
    table = pa.table({"transactions_per_s": [5000.0], "interval_start_utc": [1], "status": ["us"]})
    assert in_readable_units(table, {}) == (table, {})
    assert [unit_of(name) for name in table.column_names] == ["", "", ""]


def test_a_column_with_a_format_of_its_page_keeps_its_unit() -> None:
    table = pa.table({"longest_us": [5000]})
    assert in_readable_units(table, {"longest_us": object()}) == (table, {})


def test_no_axis_of_cpu_time_mixes_prefixes_and_units(drawn_page: Open, world: Path) -> None:
    page = drawn_page("compare", world)
    charts = [chart.proto.spec for chart in page.get("vega_lite_chart")]
    assert not any("~s" in chart for chart in charts)
    assert any("labelExpr" in chart for chart in charts)


@pytest.mark.deep
def test_protocols_have_one_name_and_one_colour(drawn_page: Open, recorded: Path) -> None:
    page = drawn_page("ciphers", recorded)
    specs = [json.loads(chart.proto.spec) for chart in page.get("vega_lite_chart")]
    seen = {}
    for spec in specs:
        for scale in re.findall(r'"scale": (\{"domain": \[[^]]*\], "range": \[[^]]*\]\})', json.dumps(spec)):
            pairs = json.loads(scale)
            for name, colour in zip(pairs["domain"], pairs["range"], strict=True):
                if name in figure_words().colours:
                    assert colour == COLOURS[figure_words().colours[name]]
                    seen[name] = colour
    assert {"TLSv1.2", "TLSv1.3"} <= seen.keys()
    assert not [name for name in seen if name.isupper()]


def test_no_percentage_of_a_table_is_zero_with_a_sign() -> None:
    values = [-0.049, -0.05, -0.0, 0.04, None, 12.0]
    table = pa.table({"change_pct": values, "change": values})
    shown = without_signed_zeros(table)
    written = ["" if value is None else f"{value + 0.0:.1f}" for value in shown["change_pct"].to_pylist()]
    assert written == ["0.0", "-0.1", "0.0", "0.0", "", "12.0"]
    assert shown["change"].equals(table["change"])
