"""Published results against what was measured, one row each; and how many have which verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pyarrow.compute as pc

from zscope.app.dashboard.looks import GREY, ORANGE, VERDICT_COLOURS, colours, values
from zscope.app.dashboard.queries.benchmark import MARKS

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.looks import Chart
    from zscope.app.dashboard.queries.benchmark import Panel

_SHAPES = {
    "agrees": "circle", "differs": "cross", "direction only": "triangle-up", "not comparable": "diamond",
    "no data": "square",
}  # fmt: skip
"""The signs of the verdicts, as Vega calls them."""
_ROW_PX = 24
_AXES_PX = 130
_TIPS = {
    "id": "Result", "as_printed": "Published", "measured": "Measured", "verdict": "Verdict", "why": "Why",
    "metric": "What", "side": "Side", "workload": "Workload",
}  # fmt: skip
KEY = (
    "Orange: what was published, a line for a figure or the end of a bound, a band for everything that "
    "agrees with it. Point: measured here, with its 95 % interval; where a document does not say which side "
    "it is about, the line reaches from what one side shows to what the other does."
)


def against_measured(panel: Panel) -> Chart:
    """The results of a panel, each a row that can be picked."""
    picked = alt.selection_point(name="picked", fields=["id"], on="click")
    base = alt.Chart(values(_told(panel.rows))).encode(y=_rows(panel))
    scale = alt.Scale(domain=list(panel.ends), nice=False, zero=False)
    agrees = base.mark_bar(color=ORANGE, opacity=0.25, height=_ROW_PX - 8).encode(
        x=alt.X("agrees_from:Q", title=panel.title, scale=scale), x2="agrees_to:Q"
    )
    published = base.mark_tick(color=ORANGE, thickness=3, size=_ROW_PX - 6).encode(x="published:Q")
    there = [verdict for verdict in MARKS if verdict in panel.rows["verdict"].to_pylist()]
    legend = alt.Legend(orient="top")
    verdict = alt.Color(
        "verdict:N", title=None, scale=colours({name: VERDICT_COLOURS[name] for name in there}), legend=legend
    )
    interval = base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", color=verdict)
    measured = base.mark_point(filled=True, size=70, opacity=1).encode(
        x="value:Q",
        color=verdict,
        shape=alt.Shape(
            "verdict:N", title=None, scale=colours({name: _SHAPES[name] for name in there}), legend=legend
        ),
    )
    # Over everything else, so that all of a row can be pointed at.
    row = (
        base.mark_rect(opacity=0, cursor="pointer")
        .encode(tooltip=[alt.Tooltip(f"{name}:N", title=title) for name, title in _TIPS.items()])
        .add_params(picked)
    )
    zero = alt.Chart(alt.InlineData([{"zero": 0}])).mark_rule(color=GREY).encode(x="zero:Q")
    drawn = [agrees, zero, published, interval, measured, row]
    return alt.layer(*drawn).properties(height=_AXES_PX + _ROW_PX * panel.rows.num_rows)


def _told(rows: pa.Table) -> pa.Table:
    """The same with words where there is none: tooltips would say null."""
    for name in _TIPS:
        words = pc.fill_null(rows[name], "nothing" if name == "measured" else "not told")
        rows = rows.set_column(rows.column_names.index(name), name, words)
    return rows


def _rows(panel: Panel) -> alt.Y:
    axis = alt.Axis(labelLimit=380, labelOverlap=False, grid=True, tickBand="extent")
    return alt.Y("row:N", title=None, sort=panel.rows["row"].to_pylist(), axis=axis)


def counts(table: pa.Table) -> Chart:
    """How many results have which verdict, as bars with their number."""
    base = alt.Chart(values(table)).encode(
        y=alt.Y("verdict:N", title=None, sort=list(MARKS), axis=alt.Axis(labelLimit=140)),
        x=alt.X("results:Q", title="Published results", axis=alt.Axis(tickMinStep=1)),
        tooltip=[alt.Tooltip("verdict:N", title="Verdict"), alt.Tooltip("results:Q", title="Results")],
    )
    bars = base.mark_bar().encode(color=alt.Color("verdict:N", scale=colours(VERDICT_COLOURS), legend=None))
    numbers = base.mark_text(align="left", dx=4, color=GREY).encode(text="results:Q")
    return alt.layer(bars, numbers).properties(height=180)
