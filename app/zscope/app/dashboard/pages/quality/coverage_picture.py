"""What the data cover: the days of each source of each system as a picture, with what is missing of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.drawing import ROWS, grid, no_data, picture, with_rows
from zscope.app.dashboard.pages.quality.load_history import chosen_system
from zscope.app.dashboard.style import COVERAGE_COLOURS, colours
from zscope.app.shared.covered_days import (
    BY,
    HEIGHTS,
    METRIC,
    ONE_DAY,
    PICTURE_LEGEND,
    SIGNS,
    covered_systems,
    day_blocks,
)
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.style import Chart
    from zscope.app.shared.covered_days import CoveredSystem


MOST_DAYS = 93
"""The newest days that are drawn: three months."""
_ROW_PX = 20
_BETWEEN = " "
"""Begins the names of the places between two periods of days; each is longer by one."""


def days_of(data: PageData, system: str | None) -> list[dict[str, Any]]:
    """Return the rows of the newest days, of one system or all."""
    newest = f"SELECT * FROM found WHERE day > (SELECT max(day) FROM found) - {MOST_DAYS}"
    where = f"system = {literal(system)}" if system else ""
    rows: list[dict[str, Any]] = data.found(METRIC, f"{newest} ORDER BY ALL", BY, where).to_pylist()
    return rows


def coverage_section(data: PageData) -> None:
    """Draw the days that the data of each source cover, and what is missing of each source."""
    st.header("What the data cover")
    system = chosen_system(data)
    found = covered_systems(days_of(data, system))
    if not found:
        no_data("No loaded records show hours that they cover.", "zscope ingest SMF.DUMP")
        return
    table = _table(found)
    picture(with_rows(_chart(found, table), table, table.column_names), table, "covered-days",
            "Days of each source of each system by their state, as bars and signs.",
            sources=[METRIC])  # fmt: skip
    st.caption(
        f"Local days of each system. {PICTURE_LEGEND} If there are more than "
        f"{MOST_DAYS} days, the newest of them; zscope coverage shows all."
    )
    st.header("What is missing")
    grid(_sentences(found), "covered-sources", sources=[METRIC], config={
        "system": st.column_config.TextColumn("System", width=70),
        "source": st.column_config.TextColumn("Source", width=90),
        "missing": st.column_config.TextColumn("What is missing, and why", width="large"),
    })  # fmt: skip


def _table(found: list[CoveredSystem]) -> pa.Table:
    """The rows of the chart; sources that a system did not record on any day are left out."""
    rows = [
        {
            "what": f"{system.system} · {source.source}",
            "day": row["day"],
            "place": row["day"].isoformat(),
            "state": row["state"],
            "covered_pct": row["covered_pct"],
            "hours_with_loss": row["hours_with_loss"],
            "hours_not_recorded": row["hours_not_recorded"],
            "hours_not_known": row["hours_not_known"],
            "loss": row["loss"],
        }
        for system in found
        for source in system.recorded
        for row in source.rows
    ]
    return pa.Table.from_pylist(rows, _SCHEMA)


_SCHEMA = pa.schema(
    [
        ("what", pa.string()),
        ("day", pa.date32()),
        ("place", pa.string()),
        ("state", pa.string()),
        ("covered_pct", pa.float64()),
        ("hours_with_loss", pa.int64()),
        ("hours_not_recorded", pa.int64()),
        ("hours_not_known", pa.int64()),
        ("loss", pa.string()),
    ]
)


def _sentences(found: list[CoveredSystem]) -> pa.Table:
    """What is missing of each source; the sources that a system did not record are one row."""
    rows: list[dict[str, object]] = []
    for system in found:
        of_system = {"system": system.system}
        rows += [
            of_system
            | {
                "source": each.source,
                "covered_pct": each.covered_pct(),
                "covered_hours": sum(row["covered_hours"] for row in each.rows),
                "hours": sum(row["hours"] for row in each.rows),
                "missing": each.sentence,
            }
            for each in system.recorded
        ]
        if system.absent:
            absent = ", ".join(system.absent)
            rows.append(of_system | {"source": absent, "covered_pct": 0.0, "missing": "Not recorded."})
    return pa.Table.from_pylist(rows)


def _places(found: list[CoveredSystem]) -> list[str]:
    """The days in order, with a place between two that are far apart."""
    days = sorted({day for system in found for day in system.days})
    places: list[str] = []
    for number, (begin, length) in enumerate(day_blocks(days, MOST_DAYS)):
        places += [_BETWEEN * number] if number else []
        places += [(begin + index * ONE_DAY).isoformat() for index in range(length)]
    return places


def _chart(found: list[CoveredSystem], table: pa.Table) -> Chart:
    label = "trim(datum.value) ? utcFormat(toDate(datum.value), '%d %b') : ''"
    base = alt.Chart(ROWS).encode(
        x=alt.X("place:O", title="Day (local)", scale=alt.Scale(domain=_places(found)),
                axis=alt.Axis(labelExpr=label, labelAngle=0, labelOverlap="greedy",
                              labelFlush=False, ticks=False)),
        y=alt.Y("what:N", title=None, sort=list(dict.fromkeys(table["what"].to_pylist())),
                axis=alt.Axis(labelLimit=360, labelOverlap=False, labelFlush=False,
                              ticks=False, domain=False)),
        color=alt.Color("state:N", title=None, scale=colours(COVERAGE_COLOURS), legend=None),
        tooltip=[
            alt.Tooltip("what:N", title="Source"),
            alt.Tooltip("place:N", title="Day"),
            alt.Tooltip("state:N", title="State"),
            alt.Tooltip("covered_pct:Q", title="Covered (%)", format=".3~g"),
            alt.Tooltip("hours_with_loss:Q", title="Hours lost or partial"),
            alt.Tooltip("hours_not_recorded:Q", title="Hours not recorded"),
            alt.Tooltip("hours_not_known:Q", title="Hours not known"),
            alt.Tooltip("loss:N", title="Why"),
        ],
    )  # fmt: skip
    bars = [
        _of_state(base, state).mark_rect(height=alt.RelativeBandSize(band=height), width=_WIDTH)
        for state, height in HEIGHTS.items()
    ]
    signs = [
        _of_state(base, state).mark_text(text=sign, fontSize=15, fontWeight="bold")
        for state, sign in SIGNS.items()
    ]
    chart: Chart = alt.layer(*bars, *signs).properties(height=alt.Step(_ROW_PX))
    return chart


_WIDTH = alt.RelativeBandSize(band=0.86)


def _of_state(base: alt.Chart, state: str) -> alt.Chart:
    chart: alt.Chart = base.transform_filter(alt.datum.state == state)
    return chart
