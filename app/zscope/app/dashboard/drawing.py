"""Charts with their data, tables with downloads, numbers, and the messages of a section without data."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

import altair as alt
import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.labels import column_config
from zscope.app.dashboard.style import plain_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zscope.app.dashboard.style import Chart


ROWS = alt.NamedData("rows")
"""Placeholder for the rows of a chart with thousands of them (see `with_rows`)."""
FILTERED = "filtered"
"""Set in the session while filters are chosen."""
_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:@&^=])")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
_LINKED = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)
_NO_BREAK = "\N{WORD JOINER}"
"""Inserted into addresses, where Markdown would make a link: invisible, but no address any more."""
_LONGEST = 80


def plain(text: object, longest: int = _LONGEST) -> str:
    """Return text from the data for a place where Streamlit reads Markdown: in one line, cut, never markup.

    >>> plain("*bold* <b>")
    '\\\\*bold\\\\* \\\\<b\\\\>'
    """
    shown = _LINKED.sub(_NO_BREAK, clean(text, longest))
    return _MARKUP.sub(r"\\\1", shown)


def clean(text: object, longest: int = _LONGEST) -> str:
    """Return text from the data for a place that reads no markup, such as the options of a widget."""
    shown = _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", str(text))
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


@dataclass(frozen=True, slots=True)
class ChartWithRows:
    """A chart of `ROWS`, and the rows."""

    chart: Chart
    rows: list[dict[str, Any]]


def with_rows(chart: Chart, table: pa.Table, columns: Sequence[str]) -> ChartWithRows:
    """Return a chart of `ROWS` with its rows: these columns of a table, if the table has them.

    Altair checks and copies the rows inside a chart one by one, which takes seconds for thousands of rows.
    """
    present = [name for name in dict.fromkeys(columns) if name in table.column_names]
    return ChartWithRows(chart, plain_rows(table.select(present)))


def _specification(chart: Chart | ChartWithRows) -> dict[str, Any]:
    """The chart as the browser reads it."""
    if not isinstance(chart, ChartWithRows):
        return chart.to_dict()
    specification = chart.chart.to_dict()
    specification.setdefault("datasets", {})[ROWS["name"]] = chart.rows
    return specification


def picture(
    chart: Chart | ChartWithRows,
    data: pa.Table,
    name: str,
    alternative: str,
    *,
    sources: Sequence[str] = (),
    pick: bool = False,
) -> list[Mapping[str, Any]]:
    """Draw a chart with its data and downloads below; with `pick`, return what the reader clicked on.

    `alternative` describes the chart for readers who cannot see it. A chart to pick from has a selection
    named `picked`.
    """
    options: dict[str, Any] = {"width": "stretch", "key": f"{name}-picture", "alt": alternative}
    specification = _specification(chart)
    clicked: list[Mapping[str, Any]] = []
    if pick:
        state = st.vega_lite_chart(spec=specification, **options, on_select="rerun", selection_mode="picked")
        clicked = list(state["selection"].get("picked", []))
    else:
        st.vega_lite_chart(spec=specification, **options)
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
    """Draw a table with its downloads; with `pick`, return the number of the row that the reader chose.

    Labels and explanations of the columns come from the declarations of `sources`: metrics, or tables of the
    store.
    """
    options: dict[str, Any] = {
        "hide_index": True,
        "column_order": columns,
        "column_config": {**column_config(data, sources), **(config or {})},
        "key": f"{name}-grid",
        "alt": f"{data.num_rows:,} rows",
        "height": height or "auto",
    }
    selectable_grid: list[int] = []
    if pick:
        state = st.dataframe(data, **options, on_select="rerun", selection_mode="single-row")
        selectable_grid = state["selection"]["rows"]
    else:
        st.dataframe(data, **options)
    downloads(data, name)
    return selectable_grid[0] if selectable_grid else None


def downloads(data: pa.Table, name: str) -> None:
    """Draw the two download buttons of a table; a file is written when its button is clicked."""
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
    """Return a table as CSV; nested values are written as text."""
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
    """Return a table as a Parquet file."""
    import pyarrow.parquet

    out = io.BytesIO()
    pyarrow.parquet.write_table(data, out)
    return out.getvalue()


def no_data(why: str, command: str) -> None:
    """Draw the message of a section without data: why there is none, and the command that loads it."""
    if st.session_state.get(FILTERED):
        why += " It is also possible that no loaded data matches the filters above."
    st.info(why, icon=":material/inbox:")
    st.code(command, language="sh")


def without_effect(filters: Sequence[str]) -> None:
    """Name the filters that a part of a page does not follow."""
    if filters:
        st.caption(f"Not filtered by {', '.join(filters)}: this data has no such column.")


def number(value: float | None, digits: int = 1, unit: str = "") -> str:
    """Return a number with its unit, or n/a if there is none.

    >>> number(12345.678), number(99.5, 1, "%"), number(None)
    ('12,345.7', '99.5 %', 'n/a')
    """
    if value is None:
        return "n/a"
    return f"{value:,.{digits}f}" + (f" {unit}" if unit else "")


def synthetic_badge() -> None:
    """Draw the mark of synthetic data."""
    st.badge("synthetic", icon=":material/science:", color="orange",
             help="Generated by zscope, not measured: checks the calculation, not the result.")  # fmt: skip


def selectable_grid(
    rows: pa.Table,
    name: str,
    depends_on: object,
    *,
    sources: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    config: Mapping[str, Any] | None = None,
    height: int | None = None,
) -> dict[str, Any] | None:
    """Draw a table and return the row that the reader chose in it.

    `depends_on` is all that its rows depend on. Streamlit remembers the number of the chosen row, not the row
    itself, so a table with other rows needs another key.
    """
    row = grid(
        rows,
        f"{name}-{crc32(repr(depends_on).encode()):08x}",
        sources=sources,
        pick=True,
        columns=columns,
        config=config,
        height=height,
    )
    selected: list[dict[str, Any]] = [] if row is None else rows.slice(row, 1).to_pylist()
    return selected[0] if selected else None
