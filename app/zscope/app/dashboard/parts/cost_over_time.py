"""CPU per transaction, transactions and CPU seconds on one axis of time, with the reasons for gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from zscope.app.dashboard.looks import (
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    colours,
    spread_colours,
    time_axis,
    time_tip,
)
from zscope.app.dashboard.many_rows import ROWS, Drawn, with_rows
from zscope.app.dashboard.queries.cpu_per_transaction import broken
from zscope.app.dashboard.queries.pieces import PIECE

if TYPE_CHECKING:
    from zscope.app.dashboard.looks import Chart
    from zscope.app.dashboard.queries.cpu_per_transaction import OverTime

_STATUS_COLOURS = {
    "no transactions": SKY, "no transaction data": GREY, "partly counted": PURPLE, "gap": RED,
    "no CPU data": ORANGE, "overlap": GREEN, "no UTC": GREY, "no end time": GREY,
}  # fmt: skip
_DRAWN = (
    "system", "run", "status", "cpu_us_per_transaction", "ziip_us_per_transaction", "transactions",
    "transactions_per_s", "apportioned_pct", "cpu_s", "ziip_s",
)  # fmt: skip


def panels(found: OverTime, *, logarithmic: bool, ziip: bool) -> Drawn:
    """The pictures, one below the other."""
    draw = _Lines(found)
    shown = [draw.lines("cpu_us_per_transaction", "CPU per transaction (µs)", 240, logarithmic=logarithmic)]
    if ziip:
        shown.append(draw.lines("ziip_us_per_transaction", "zIIP per tr. (µs)", 120, logarithmic=logarithmic))
    shown.append(draw.lines("transactions", "Transactions", 100))
    shown.append(draw.lines("cpu_s", "CPU time (s)", 100, last=not ziip))
    if ziip:
        shown.append(draw.lines("ziip_s", "zIIP time (s)", 80, last=True))
    if broken(found).num_rows:
        shown.append(_reasons())
    chart: Chart = alt.vconcat(*shown, spacing=8).resolve_scale(
        x="shared", color="independent", shape="independent"
    )
    return with_rows(chart, found.rows, (found.clock, PIECE, "interval_ms", *_DRAWN))


class _Lines:
    """Draws measures of the same rows."""

    def __init__(self, found: OverTime) -> None:
        self.clock = found.clock
        self.systems = found.systems
        of_runs = found.rows["run"].null_count < found.rows.num_rows
        self.tips = [
            alt.Tooltip("system:N", title="System"),
            time_tip(self.clock),
            *([alt.Tooltip("run:N", title="Run")] if of_runs else []),
            alt.Tooltip("cpu_us_per_transaction:Q", title="CPU per transaction (µs)", format=",.0f"),
            alt.Tooltip("ziip_us_per_transaction:Q", title="zIIP per transaction (µs)", format=",.0f"),
            alt.Tooltip("transactions:Q", title="Transactions", format=",.1f"),
            alt.Tooltip("transactions_per_s:Q", title="Transactions per second", format=",.2f"),
            alt.Tooltip("apportioned_pct:Q", title="Apportioned (%)", format=".1f"),
            alt.Tooltip("cpu_s:Q", title="CPU time (s)", format=",.1f"),
            alt.Tooltip("ziip_s:Q", title="zIIP time (s)", format=",.1f"),
            *([alt.Tooltip("status:N", title="Status")] if self.clock == "interval_start_utc" else []),
        ]

    def lines(
        self, measure: str, title: str, height: int, *, logarithmic: bool = False, last: bool = False
    ) -> Chart:
        """A line for each system, which breaks off where the rows do; the last one has the axis of time."""
        first = measure == "cpu_us_per_transaction"
        legend = alt.Legend(orient="top") if first else None
        ticks = 3 if logarithmic else 5
        # A zero has no place on a logarithmic scale.
        placed = f"datum.{measure} > 0 ? datum.{measure} : null" if logarithmic else f"datum.{measure}"
        chart: Chart = (
            alt.Chart(ROWS, height=height)
            .transform_calculate(placed=placed)
            .mark_line(point=alt.OverlayMarkDef(size=16), strokeWidth=1.2)
            .encode(
                x=time_axis(self.clock) if last else time_axis(self.clock).axis(None),
                y=alt.Y("placed:Q", title=title, axis=alt.Axis(tickCount=ticks, format="~s"),
                        scale=alt.Scale(type="log") if logarithmic else alt.Scale(zero=True)),
                color=alt.Color("system:N", title="System", legend=legend,
                                scale=spread_colours(self.systems)),
                shape=alt.Shape("system:N", title="System", legend=legend,
                                scale=alt.Scale(domain=list(self.systems))),
                detail=f"{PIECE}:N",
                tooltip=self.tips,
            )
        )  # fmt: skip
        return chart


def _reasons() -> Chart:
    """Intervals without a value, as strips: a row for each system and status."""
    chart: Chart = (
        alt.Chart(ROWS, height=alt.Step(16))
        .transform_filter("datum.status !== 'ok'")
        .transform_calculate(
            ends="toDate(datum.interval_start_utc) + datum.interval_ms",
            reason="datum.system + ': ' + datum.status",
        )
        .mark_bar(height=9)
        .encode(
            x=time_axis("interval_start_utc"),
            x2="ends:T",
            y=alt.Y("reason:N", title="No value", axis=alt.Axis(labelOverlap=False, labelLimit=200)),
            color=alt.Color("status:N", scale=colours(_STATUS_COLOURS), legend=None),
            tooltip=[
                alt.Tooltip("system:N", title="System"),
                time_tip("interval_start_utc"),
                alt.Tooltip("status:N", title="Status"),
            ],
        )
    )
    return chart
