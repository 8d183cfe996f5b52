"""Overview: the numbers that matter, what to look at first, and what is loaded."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.parts.cpu_tiles import cpu_tiles
from zscope.app.dashboard.parts.loaded import what_is_loaded
from zscope.app.dashboard.parts.look_first import look_first
from zscope.app.dashboard.parts.shares import resumption_tile, tls13_tile, unprotected_tile
from zscope.app.dashboard.queries.choices import choices
from zscope.app.dashboard.queries.overview import references
from zscope.app.dashboard.queries.state import store_state
from zscope.app.dashboard.show import grid, nothing, plain

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

_NAMED_SYSTEMS = 8
_MOMENT = "%Y-%m-%d %H:%M"


def render(data: Data) -> None:
    """Draw the page."""
    if not store_state(data.answers, data.version).loads:
        nothing(
            "Nothing is loaded yet. There are three ways to begin; data shows here as soon as there is any.",
            f"zscope ingest YOUR.SMF.DUMP --store {data.answers.store}   # your own data\n"
            "zscope demo   # the sample data, in a store of its own\n"
            "zscope generate world FOLDER   # systems as large as you like, then zscope ingest FOLDER",
        )
        return
    _state(data)
    _numbers(data)
    look_first(data)
    what_is_loaded(data)


def _state(data: Data) -> None:
    """The period, the systems and the amount in one line."""
    there, state = choices(data.answers, data.version), store_state(data.answers, data.version)
    systems = data.filters.systems or there.systems
    named = ", ".join(plain(system) for system in systems[:_NAMED_SYSTEMS])
    more = f" and {len(systems) - _NAMED_SYSTEMS} more" if len(systems) > _NAMED_SYSTEMS else ""
    parts = [f"**Systems**: {named}{more}" if systems else "**Systems**: none that tell of TLS or CPU"]
    begin = data.filters.begin or there.first_utc
    end = data.filters.end or there.last_utc
    if begin and end:
        age = (datetime.now(UTC) - end).days
        ago = f" ({age:,} days ago)" if age > 0 else ""
        parts.insert(0, f"**Period**: {begin:{_MOMENT}} to {end:{_MOMENT}} UTC{ago}")
    files = "file" if state.loads == 1 else "files"
    parts.append(f"**Loaded**: {state.loads:,} {files}, {state.rows:,} rows")
    st.markdown(" · ".join(parts))


def _numbers(data: Data) -> None:
    published = references(data)
    columns, others = st.columns(4), st.container()
    with columns[0]:
        trends = [resumption_tile(data, published)]
    with columns[1]:
        trends.append(tls13_tile(data, published))
    with columns[2]:
        trends.append(unprotected_tile(data))
    trends += cpu_tiles(data, columns[3], others)
    rows = pa.concat_tables(trends)
    if rows.num_rows:
        with st.expander(f"Data of the small lines ({rows.num_rows:,} rows)", icon=":material/table:"):
            grid(rows, "overview-trends")
