"""Tables and columns to look up while a statement is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.picking import chosen
from zscope.app.dashboard.queries.store_schema import columns, tables
from zscope.app.dashboard.show import grid

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

_PLAIN = {
    "table_name": st.column_config.TextColumn("Table"),
    "column_name": st.column_config.TextColumn("Column"),
    "data_type": st.column_config.TextColumn("Type", width=110),
    "meaning": st.column_config.TextColumn("Meaning"),
}


def schema_browser(data: Data) -> None:
    """Draw the search, the tables it finds, and the columns of the one that is chosen."""
    wanted = st.text_input(
        "Search", key="workbench_search", placeholder="a word in names or meanings, such as handshake",
        label_visibility="collapsed", max_chars=100,
    )  # fmt: skip
    found = tables(data, wanted.strip())
    if not found.num_rows:
        st.caption("No table or column has this in its name or meaning.")
        return
    left, right = st.columns(2)
    with left:
        row = chosen(found, "tables", (data.version, wanted), config=_PLAIN, height=300)
    with right:
        if row is None:
            st.caption("Choose a table, by the box at its left, to see its columns.")
        else:
            grid(
                columns(data, row["table_name"]), f"columns-of-{row['table_name']}", config=_PLAIN, height=300
            )
