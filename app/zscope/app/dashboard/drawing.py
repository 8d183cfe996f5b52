"""Charts with their data, tables with downloads, numbers, and the messages of a section without data."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pyarrow as pa
import streamlit as st
from altair.utils import schemapi

from zscope.app.dashboard.amounts import in_readable_units, without_signed_zeros
from zscope.app.dashboard.labels import column_config
from zscope.app.dashboard.style import text_colours
from zscope.app.shared.plain_texts import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zscope.app.dashboard.style import Chart


ZOOMED = "zoomed"
"""Name of the selection in a chart over time with the range that the reader has marked."""
PICKED = "picked"
"""Name of the selection in a chart with the mark that the reader has clicked."""
FOLDED = True
"""Whether what can be opened is closed at first."""
EMPTIED = "emptied"
"""In the session: what draws why the filters leave a section no rows; returns whether they do, or None."""
_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:@&^=])")
_LINKED = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)
_NO_BREAK = "\N{WORD JOINER}"
"""Inserted into addresses, where Markdown would make a link: invisible, but no address any more."""
_LONGEST = 80
_BELOW_PX = 4
"""Below a chart; Streamlit would leave more."""
_LABEL_PX = 220
"""Room for a name at the vertical axis of a chart."""
_HASH = re.compile("-[0-9a-f]{8}$")
"""What the name of a table ends with if it depends on its rows."""


def plain(text: object, longest: int = _LONGEST) -> str:
    """Return text from the data for a place where Streamlit reads Markdown: in one line, cut, never markup.

    >>> plain("*bold* <b>")
    '\\\\*bold\\\\* \\\\<b\\\\>'
    """
    shown = _LINKED.sub(_NO_BREAK, clean(text, longest))
    return _MARKUP.sub(r"\\\1", shown)


def clean(text: object, longest: int = _LONGEST) -> str:
    """Return text from the data for a place that reads no markup, such as the options of a widget."""
    return one_line(text, longest)


@dataclass(frozen=True, slots=True)
class Zoom:
    """What happens when the reader marks a range or clicks a mark of a chart, which has a selection."""

    to: Callable[[Any], None]
    """Called with the ends of the range by axis, or with the marks that are clicked."""
    depends_on: object
    """What the chart shows: another one has nothing marked."""


def picture(
    chart: Chart, data: pa.Table, name: str, alternative: str, *, sources: Sequence[str] = ()
) -> None:
    """Draw a chart with its data and downloads below; `alternative` is for readers who cannot see it."""
    draw_chart(chart, name, alternative)
    data_below(data, name, sources)


def data_below(data: pa.Table, name: str, sources: Sequence[str]) -> None:
    """Draw the data of a chart, folded."""
    title = f"Data ({data.num_rows:,} rows)"
    folded(title, f"{name}-data", partial(grid, data, name, sources=sources), ":material/table:")


@st.fragment
def folded(title: str, key: str, draw: Callable[[], object], icon: str | None = None) -> None:
    """Draw something below a title when the reader opens it; until then it takes no time."""
    section = st.expander(title, expanded=not FOLDED, key=key, icon=icon, on_change="rerun")
    if section.open:
        with section:
            draw()


def draw_chart(
    chart: Chart,
    name: str,
    alternative: str,
    *,
    pick: bool = False,
    zoom: Zoom | None = None,
    click: Zoom | None = None,
) -> Mapping[str, Any] | None:
    """Draw a chart alone, and return the mark that the reader has clicked."""
    marked = {selection: to for selection, to in ((ZOOMED, zoom), (PICKED, click)) if to is not None}
    key = f"{name}-picture"
    for to in marked.values():
        # Another period needs a chart without a marked range.
        key += f"-{crc32(repr(to.depends_on).encode()):08x}"
    options: dict[str, Any] = {"width": "stretch", "key": key, "alt": alternative}
    # The server does not validate; the tests do.
    specification = chart.to_dict(validate=schemapi.DEBUG_MODE)
    config = {**specification.get("config", {}), **text_colours(st.context.theme.type or "")}
    # For screen readers a chart is its description and axes: its rows are in the table below it.
    config["mark"] = {**config.get("mark", {}), "aria": False, **({"cursor": "pointer"} if click else {})}
    config["axisY"] = {"labelLimit": _LABEL_PX, **config.get("axisY", {})}
    specification["config"] = config
    specification.setdefault("padding", {"bottom": _BELOW_PX})
    if marked:
        st.vega_lite_chart(
            spec=specification, **options, on_select=partial(_marked, key, marked), selection_mode=[*marked]
        )
        return None
    if not pick:
        st.vega_lite_chart(spec=specification, **options)
        return None
    state = st.vega_lite_chart(spec=specification, **options, on_select="rerun", selection_mode="picked")
    return next(iter(state["selection"].get("picked", [])), None)


def _marked(key: str, marked: Mapping[str, Zoom]) -> None:
    for selection, zoom in marked.items():
        if found := st.session_state[key]["selection"].get(selection):
            zoom.to(found)


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
    shown, units = in_readable_units(without_signed_zeros(data), config or {})
    options: dict[str, Any] = {
        "hide_index": True,
        "column_order": columns,
        "column_config": {**column_config(shown, sources, units), **(config or {})},
        "key": f"{name}-grid",
        "alt": f"{_HASH.sub('', name).replace('-', ' ')}, {data.num_rows:,} rows",
        "height": height or "auto",
        "placeholder": "",
    }
    selectable_grid: list[int] = []
    if pick:
        state = st.dataframe(shown, **options, on_select="rerun", selection_mode="single-row")
        selectable_grid = state["selection"]["rows"]
    else:
        st.dataframe(shown, **options)
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
    """Return a table as CSV; nested values are written as text, and no text is a formula."""
    import pyarrow.csv

    from zscope.app.shared.spreadsheet_texts import safe_text

    flat = [_as_text(column) for column in data.columns]
    out = io.BytesIO()
    pyarrow.csv.write_csv(pa.table(flat, names=[safe_text(name) for name in data.column_names]), out)
    return out.getvalue()


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    from zscope.app.shared.far_times import far_texts, is_far
    from zscope.app.shared.spreadsheet_texts import is_text, safe_texts

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_nested(kind):
        texts = [None if value is None else str(value) for value in column.to_pylist()]
        return pa.chunked_array([safe_texts(pa.array(texts, pa.string()))], pa.string())
    chunks = [far_texts(chunk) if is_far(chunk) else chunk.cast(pa.string()) for chunk in column.chunks]
    return pa.chunked_array([safe_texts(each) for each in chunks] if is_text(kind) else chunks, pa.string())


def as_parquet(data: pa.Table) -> bytes:
    """Return a table as a Parquet file."""
    import pyarrow.parquet

    out = io.BytesIO()
    pyarrow.parquet.write_table(data, out)
    return out.getvalue()


def no_data(why: str, command: str, section: str = "") -> None:
    """Draw the message of a section without data: why there is none, and the command that loads it.

    If only the filters leave none, the message says that instead, and what is near. `section` is its name on
    a page where sections have the same message.
    """
    emptied: Callable[[str], bool | None] = st.session_state.get(EMPTIED, lambda _: False)
    by_filters = emptied(section or why)
    if by_filters:
        return
    if by_filters is None:
        why += " It is also possible that no loaded data matches the filters above."
    st.info(why, icon=":material/inbox:")
    st.code(command, language="sh")


def without_effect(filters: Sequence[str]) -> None:
    """Name the filters that a part of a page does not follow."""
    if filters:
        st.caption(f"Not filtered by {', '.join(filters)}: this data has no such column.")


def number(value: float | None, digits: int = 1, unit: str = "") -> str:
    """Return a number with its unit, or n/a if there is none.

    >>> number(12345.678), number(99.5, 1, "%"), number(-0.04), number(None)
    ('12,345.7', '99.5 %', '0.0', 'n/a')
    """
    if value is None:
        return "n/a"
    # Less than half of the last digit below zero is zero, without a sign.
    return f"{round(value, digits) + 0.0:,.{digits}f}" + (f" {unit}" if unit else "")


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
