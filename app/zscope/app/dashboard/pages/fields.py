"""Fields: search everything that has a name, and all there is to know about one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from zscope.app.dashboard.picking import chosen
from zscope.app.dashboard.queries.field_told import codes, statements, told
from zscope.app.dashboard.queries.fields import records, search, tables
from zscope.app.dashboard.show import clean, grid, plain
from zscope.schemas.field_catalog import FIELD_CATALOG_SCHEMA

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

_LONGEST_SEARCH = 200
_LONG = 4000
_HEIGHT_PX = 420
_LOW = 10
"""So many rows need no fixed height."""
_LABELS = {
    "table_name": ("Table or metric", 145), "column_name": ("Our name", 150),
    "vendor_name": ("IBM's name", 185), "meaning": ("Meaning", 290), "unit": ("Unit", 55),
    "codes": ("Codes", 100), "record": ("Record or report", 120), "section": ("Section", 100),
    "byte_offset": ("Byte offset", 90), "byte_length": ("Bytes", 70), "format": ("Written as", 100),
    "duckdb_type": ("Type", 110), "evidence": ("Evidence", 120), "source": ("Source", 140),
}  # fmt: skip
"""The columns in the order shown, with their labels and widths."""


def render(data: Data) -> None:
    """Draw the page."""
    text, of_tables, of_records = _asked()
    found = search(text, of_tables, of_records)
    if not found.num_rows:
        st.info(
            "No field or column matches. Try fewer or shorter words, or clear the other two choices.",
            icon=":material/search_off:",
        )
        return
    named = "field or column" if found.num_rows == 1 else "fields and columns"
    st.caption(f"{found.num_rows:,} {named}. Tick a row to see everything about it.")
    row = chosen(
        found, "fields", (text, of_tables, of_records), columns=list(_LABELS), config=_config(),
        height=_HEIGHT_PX if found.num_rows > _LOW else None,
    )  # fmt: skip
    if row is None and found.num_rows == 1:
        [row] = found.to_pylist()
    if row is not None:
        _everything(data, row)


def _asked() -> tuple[str, list[str], list[str]]:
    """What is searched for, in which tables and records."""
    words, left, right = st.columns([2, 1, 1])
    text = words.text_input(
        "Search", key="fields_search", max_chars=_LONGEST_SEARCH, icon=":material/search:",
        placeholder="cipher    handshake failed    SMF119SC_TLS_*", bind="query-params",
        persist_state="session",
        help="Words that all occur in our name, IBM's name, the table or the meaning. With *, ? or [ a word "
        "stands for a whole name.",
    )  # fmt: skip
    of_tables = left.multiselect(
        "Table or metric", tables(), key="fields_table", placeholder="all", format_func=clean,
        bind="query-params", persist_state="session",
    )  # fmt: skip
    of_records = right.multiselect(
        "Record or report", records(), key="fields_record", placeholder="all", format_func=clean,
        bind="query-params", persist_state="session",
    )  # fmt: skip
    return text or "", of_tables, of_records


def _config() -> dict[str, Any]:
    shown = {}
    for name, (label, width) in _LABELS.items():
        kind = FIELD_CATALOG_SCHEMA.field(name)
        explained = (kind.metadata or {})[b"meaning"].decode()
        number = name.startswith("byte_")
        column = st.column_config.NumberColumn if number else st.column_config.TextColumn
        shown[name] = column(label, help=explained, width=width)
    return shown


def _everything(data: Data, row: dict[str, Any]) -> None:
    name = ".".join(filter(None, (row["table_name"], row["column_name"]))) or row["vendor_name"]
    st.subheader(plain(name))
    left, right = st.columns(2)
    with left:
        facts = told(row)
        st.table(
            {"About": list(facts), "": [plain(text, _LONG) for text in facts.values()]},
            border="horizontal", hide_index=True, hide_header=True, alt=f"All about {clean(name)}",
        )  # fmt: skip
    with right:
        _to_copy(row)
        listed = codes(data, row)
        if listed is not None:
            st.markdown("**What its codes mean**")
            grid(listed, f"code_{row['codes']}", height=300)


def _to_copy(row: dict[str, Any]) -> None:
    ready = statements(row)
    if not ready:
        st.caption(
            "No table has this field, so nothing can be asked for it: it is listed to show that it is known."
        )
        return
    for one in ready:
        where = "the page SQL workbench or zscope sql" if one.language == "sql" else "the command line"
        st.markdown(f"**Ready to copy**, for {where}:")
        st.code(one.text, language=one.language, wrap_lines=True)
