"""What could not be read as it stands: by file, by code, one by one; and the files that were refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import streamlit as st

from zscope.app.dashboard.looks import GREY, ORANGE, RED, colours, values
from zscope.app.dashboard.picking import chosen
from zscope.app.dashboard.queries.issues import (
    MOST,
    SHOWN_ROWS,
    by_file_and_code,
    of_code,
    refused,
)
from zscope.app.dashboard.show import clean, grid, picture, plain

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

_SEVERITIES = {"note": GREY, "warning": ORANGE, "refused": RED}
_MARKS = {"note": "○ note", "warning": "◆ warning", "refused": "▲ refused"}
_PICTURED = 20
_WITH_PLACE = 1.12
"""How much longer than the longest bar the axis is, for the word behind it."""


def issues(data: Data) -> None:
    """Draw how many there are of what, some of them in full, and the refused files."""
    st.subheader("What could not be read")
    table = by_file_and_code(data)
    if table.num_rows:
        st.caption(
            "A note is good to know; a warning means that something could not be used as it stands, refused "
            "that a whole file could not."
        )
        _pictured(table.slice(0, _PICTURED))
        row = chosen(table, "issues", data.version, sources=["issue"], config=_explained(), height=300)
        if table.num_rows == MOST:
            st.caption(f"The {MOST:,} combinations of file and code with the most issues.")
        if row is None:
            st.caption("Choose a row, by the box at its left, to see where in the file they are.")
        else:
            _each(data, row)
    else:
        st.success("Everything that was loaded could be read.", icon=":material/check:")
    _refused(data)


def _pictured(table: pa.Table) -> None:
    rows = table.to_pylist()
    where = [f"{row['code']}, load {row['load_id']}: {clean(row['name'], 60)}" for row in rows]
    marks = [_MARKS.get(row["severity"], row["severity"]) for row in rows]
    table = table.append_column("where", [where]).append_column("mark", [marks])
    scale = alt.Scale(domainMin=0, domainMax=_WITH_PLACE * max(row["issues"] for row in rows))
    base = alt.Chart(values(table)).encode(
        x=alt.X("issues:Q", title="Issues", axis=alt.Axis(tickMinStep=1), scale=scale),
        y=alt.Y("where:N", title=None, sort=where, axis=alt.Axis(labelLimit=480)),
    )
    bars = base.mark_bar().encode(
        color=alt.Color("severity:N", scale=colours(_SEVERITIES), legend=None),
        tooltip=[
            alt.Tooltip("code:N", title="Code"),
            alt.Tooltip("severity:N", title="Severity"),
            alt.Tooltip("name:N", title="File"),
            alt.Tooltip("load_id:Q", title="Load"),
            alt.Tooltip("issues:Q", title="Issues", format=","),
        ],
    )
    words = base.mark_text(align="left", dx=6, color=GREY).encode(text="mark:N")
    picture((bars + words).properties(height=alt.Step(24)), table, "issues-by-file",
            "Issues by code and file, the most first, as bars.", sources=["issue"])  # fmt: skip


def _explained() -> dict[str, Any]:
    return {
        "name": st.column_config.TextColumn("File", help="Without its folder, which stands under Path."),
        "file": st.column_config.TextColumn("Path"),
        "issues": st.column_config.NumberColumn("Issues", format="localized"),
    }


def _each(data: Data, row: dict[str, Any]) -> None:
    rows = of_code(data, row)
    most = f", the first {SHOWN_ROWS}" if rows.num_rows == SHOWN_ROWS else ""
    st.markdown(f"**{plain(row['code'])}** in load {row['load_id']}, {plain(row['name'])}{most}")
    grid(rows, "issues-of-code", sources=["issue"], height=300)


def _refused(data: Data) -> None:
    st.subheader("Refused files")
    table = refused(data)
    if not table.num_rows:
        st.caption("No file was refused.")
        return
    st.caption("Nothing of these is in the store. The remedy says what to do with each.")
    grid(
        table, "refused", height=260,
        columns=["refused_utc", "file", "times", "code", "text", "place", "remedy", "size_bytes"],
    )  # fmt: skip
