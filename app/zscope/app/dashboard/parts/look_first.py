"""What was found about protection, in short: how many of each severity, the worst kinds, their remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import streamlit as st

from zscope.app.dashboard.looks import SEVERITY_COLOURS, colours, values
from zscope.app.dashboard.queries.findings import PLACE
from zscope.app.dashboard.queries.look_first import by_severity, worst_kinds
from zscope.app.dashboard.show import downloads, nothing, picture, plain, without_effect

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

_MOST = 10
_LONG = 300
_FIXED_SPACE = "\N{NO-BREAK SPACE}"


def look_first(data: Data) -> None:
    """Draw the section."""
    st.subheader("What to look at first")
    counts = by_severity(data)
    if not any(counts["findings"].to_pylist()):
        nothing(
            "Nothing was found. Findings come from zERT connection detail records and certificates in them; "
            "without such records nothing can be found.",
            "zscope ingest SMF.DUMP --select '119(11,12)'",
        )
        return
    left, right = st.columns([1, 3])
    with left:
        _severities(counts)
    with right:
        _worst(worst_kinds(data, _MOST))
    without_effect(data.filters.without_effect(PLACE))


def _severities(counts: pa.Table) -> None:
    order = counts["mark"].to_pylist()
    base = alt.Chart(values(counts)).encode(
        y=alt.Y("mark:N", title=None, sort=order, axis=alt.Axis(labelFontSize=14)),
        x=alt.X(
            "findings:Q",
            title="Findings",
            axis=alt.Axis(tickMinStep=1, tickCount=4),
            scale=alt.Scale(domain=[0, 1.2 * max(counts["findings"].to_pylist())], nice=False),
        ),
        tooltip=[
            alt.Tooltip("severity:N", title="Severity"),
            alt.Tooltip("findings:Q", title="Findings", format=","),
        ],
    )
    bars = base.mark_bar(size=16).encode(
        color=alt.Color("severity:N", scale=colours(SEVERITY_COLOURS), legend=None)
    )
    numbers = base.mark_text(align="left", dx=4, color=SEVERITY_COLOURS["info"]).encode(
        text=alt.Text("findings:Q", format=",")
    )
    said = ", ".join(f"{row['findings']:,} {row['severity']}" for row in counts.to_pylist())
    picture(
        alt.layer(bars, numbers).properties(height=180), counts, "overview-severities",
        f"Findings of each severity, as bars: {said}.",
    )  # fmt: skip
    st.caption("A finding is one kind of weakness on one system, port and job.")


def _worst(kinds: pa.Table) -> None:
    rows = kinds.to_pylist()
    st.table(
        {
            "Severity": [row["mark"].replace(" ", _FIXED_SPACE) for row in rows],
            "What": [plain(row["what"], _LONG) for row in rows],
            "Places": [f"{row['places']:,}" for row in rows],
            "Most connections at": [_place(row) for row in rows],
            "Remedy": [plain(row["remedy"], _LONG) for row in rows],
        },
        border="horizontal", hide_index=True, hide_header=False,
        alt=f"The {len(rows)} worst kinds of finding with their remedy.",
    )  # fmt: skip
    downloads(kinds, "overview-findings")
    st.caption(
        "The worst kinds of finding. The page Posture and certificates has every place and its evidence."
    )


def _place(row: dict[str, Any]) -> str:
    parts = [row["system"], row["server_port"] and f"port {row['server_port']}", row["job_name"]]
    return plain(", ".join(str(part) for part in parts if part))
