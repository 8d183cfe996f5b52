"""Drawing: pictures with their data one click away, tables, numbers, and what to say where nothing is."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.explained import column_config
from zscope.app.dashboard.many_rows import described

if TYPE_CHECKING:
    from zscope.app.dashboard.looks import Chart
    from zscope.app.dashboard.many_rows import Drawn

_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:@&^=])")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
_LINKED = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)
_NO_BREAK = "\N{WORD JOINER}"
"""Put where Markdown would make a link of an address: nothing to be seen, and no address any more."""
_LONGEST = 80
FILTERED = "filtered"
"""Set in the session while filters are chosen."""


def plain(text: object, longest: int = _LONGEST) -> str:
    """Text from data where Streamlit reads Markdown: as it is, in one line, not endless, and never markup.

    >>> plain("*bold* <b>")
    '\\\\*bold\\\\* \\\\<b\\\\>'
    """
    shown = _LINKED.sub(_NO_BREAK, clean(text, longest))
    return _MARKUP.sub(r"\\\1", shown)


def clean(text: object, longest: int = _LONGEST) -> str:
    """Text from data where nothing reads markup, as the options of a widget."""
    shown = _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", str(text))
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def picture(
    chart: Chart | Drawn,
    data: pa.Table,
    name: str,
    alternative: str,
    *,
    sources: Sequence[str] = (),
    pick: bool = False,
) -> list[Mapping[str, Any]]:
    """A picture, with its data and the downloads of it below; what the reader clicked on if that is asked.

    `alternative` says in words what the picture shows, for those who cannot see it. To be picked from, the
    chart has a selection named `picked`.
    """
    shown: dict[str, Any] = {"width": "stretch", "key": f"{name}-picture", "alt": alternative}
    spec = described(chart)
    clicked: list[Mapping[str, Any]] = []
    if pick:
        state = st.vega_lite_chart(spec=spec, **shown, on_select="rerun", selection_mode="picked")
        clicked = list(state["selection"].get("picked", []))
    else:
        st.vega_lite_chart(spec=spec, **shown)
    with st.expander(f"Data ({data.num_rows:,} rows)", icon=":material/table:"):
        grid(data, name, sources=sources)
    return clicked


def grid(
    data: pa.Table,
    name: str,
    *,
    sources: Sequence[str] = (),
    pick: bool = False,
    columns: Sequence[str] | None = None,
    config: Mapping[str, Any] | None = None,
    height: int | None = None,
) -> int | None:
    """A table with its downloads; the number of the row that the reader chose if that is asked.

    Columns are labelled and explained from the declarations of `sources`, metrics or tables of the store.
    """
    shown: dict[str, Any] = {
        "hide_index": True,
        "column_order": columns,
        "column_config": {**column_config(data, sources), **(config or {})},
        "key": f"{name}-grid",
        "alt": f"{data.num_rows:,} rows",
        "height": height or "auto",
    }
    chosen: list[int] = []
    if pick:
        state = st.dataframe(data, **shown, on_select="rerun", selection_mode="single-row")
        chosen = state["selection"]["rows"]
    else:
        st.dataframe(data, **shown)
    downloads(data, name)
    return chosen[0] if chosen else None


def downloads(data: pa.Table, name: str) -> None:
    """The two downloads of a table; files are made when they are asked for."""
    with st.container(horizontal=True):
        st.download_button(
            "CSV", lambda: as_csv(data), f"{name}.csv", "text/csv", key=f"{name}-csv",
            icon=":material/download:", on_click="ignore", type="tertiary",
        )  # fmt: skip
        st.download_button(
            "Parquet", lambda: as_parquet(data), f"{name}.parquet", "application/vnd.apache.parquet",
            key=f"{name}-parquet", icon=":material/download:", on_click="ignore", type="tertiary",
        )  # fmt: skip


def as_csv(data: pa.Table) -> bytes:
    """A table as CSV; lists and the like as text."""
    import pyarrow.csv

    flat = [_as_text(column) for column in data.columns]
    out = io.BytesIO()
    pyarrow.csv.write_csv(pa.table(flat, names=data.column_names), out)
    return out.getvalue()


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_nested(column.type):
        return column.cast(pa.string())
    return pa.chunked_array(
        [[None if value is None else str(value) for value in column.to_pylist()]], pa.string()
    )


def as_parquet(data: pa.Table) -> bytes:
    """A table as a Parquet file."""
    import pyarrow.parquet

    out = io.BytesIO()
    pyarrow.parquet.write_table(data, out)
    return out.getvalue()


def nothing(what: str, command: str) -> None:
    """Where there is nothing to show: why, and the command that would change it."""
    if st.session_state.get(FILTERED):
        what += " Or the filters above leave nothing of what is loaded."
    st.info(what, icon=":material/inbox:")
    st.code(command, language="sh")


def without_effect(filters: Sequence[str]) -> None:
    """Say which filters a part of a page does not follow."""
    if filters:
        st.caption(f"Not narrowed by {', '.join(filters)}: this data does not tell it.")


def number(value: float | None, digits: int = 1, unit: str = "") -> str:
    """A number with its unit, or n/a where there is none.

    >>> number(12345.678), number(99.5, 1, "%"), number(None)
    ('12,345.7', '99.5 %', 'n/a')
    """
    if value is None:
        return "n/a"
    return f"{value:,.{digits}f}" + (f" {unit}" if unit else "")


def synthetic_badge() -> None:
    """Say that what is shown was made by zscope."""
    st.badge("synthetic", icon=":material/science:", color="orange",
             help="Made by zscope, not measured: it proves the arithmetic, not the figure.")  # fmt: skip
