"""How far two benchmark runs are apart: as a picture, and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from zscope.app.dashboard.looks import BLUE, GREY, ORANGE, colours, values
from zscope.app.dashboard.queries.compare import MEASURES, NOISE
from zscope.app.dashboard.show import plain

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.looks import Chart

_NOISE_COLOURS = dict(zip(NOISE.values(), (BLUE, GREY, ORANGE), strict=True))
_NOISE_SHAPES = ["diamond", "circle", "cross"]


def drawn(shown: pa.Table) -> Chart:
    """The change of each measure as a point with its interval, around a line at none."""
    base = alt.Chart(values(shown)).encode(
        y=alt.Y("measured:N", title=None, sort=list(MEASURES.values()), axis=alt.Axis(labelLimit=200)),
        color=alt.Color("noise:N", title="The change is", scale=colours(_NOISE_COLOURS)),
        tooltip=[
            alt.Tooltip("measured:N", title="Measure"),
            alt.Tooltip("change_pct:Q", title="Change (%)", format="+.2f"),
            alt.Tooltip("low_pct:Q", title="From (%)", format="+.2f"),
            alt.Tooltip("high_pct:Q", title="To (%)", format="+.2f"),
            alt.Tooltip("noise:N", title="The change is"),
            alt.Tooltip("remarks:N", title="Remarks"),
        ],
    )
    x = alt.X(
        "change_pct:Q", title="Change from A to B (%), with its 95 % interval", scale=alt.Scale(zero=True)
    )
    zero = alt.Chart(alt.InlineData([{"zero": 0}])).mark_rule(color=GREY, strokeDash=[6, 4])
    layers = [
        zero.encode(x="zero:Q"),
        base.mark_rule(strokeWidth=2).encode(x="low_pct:Q", x2="high_pct:Q"),
        base.mark_point(filled=True, size=110, opacity=1).encode(
            x=x,
            shape=alt.Shape(
                "noise:N", title="The change is",
                scale=alt.Scale(domain=list(_NOISE_COLOURS), range=_NOISE_SHAPES),
            ),
        ),
    ]  # fmt: skip
    return alt.layer(*layers).properties(height=60 + 34 * shown.num_rows)


def sentence(row: dict[str, Any]) -> str:
    """A row of the comparison in words."""
    remarks = f" ({plain(row['remarks'], 300)})" if row["remarks"] else ""
    change = row["change_pct"]
    if change is None:
        return f"{row['measured']}: nothing to compare{remarks}."
    said = f"{row['measured']}: {abs(change):.1f} % {'more' if change >= 0 else 'less'} in B than in A"
    if row["low_pct"] is None:
        return f"{said}; too few intervals to tell it from noise{remarks}."
    verdict = "**more than noise**" if row["distinguishable"] else "not to be told from noise"
    return f"{said} (95 %: {row['low_pct']:+.1f} to {row['high_pct']:+.1f}), {verdict}{remarks}."
