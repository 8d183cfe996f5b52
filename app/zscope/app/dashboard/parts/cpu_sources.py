"""Where sources differ about the CPU use of an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.queries.cpu import DIFFERENT, compared, disagreements
from zscope.app.dashboard.show import grid

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data


def sources_section(data: Data) -> None:
    """How many intervals two sources tell of, and what they differ in."""
    st.markdown("**Do the sources agree?**")
    twice = compared(data)
    if not twice:
        st.caption(
            "Only one source tells of each interval, so nothing can be compared. SMF 70 records and an RMF "
            "CPU Activity report of the same time would check each other."
        )
        return
    found = disagreements(data)
    if not found.num_rows:
        st.caption(f"Two sources tell of {twice:,} intervals, and nowhere differ by more than rounding.")
        return
    intervals = len(set(zip(found["system"].to_pylist(), found["interval_start_local"].to_pylist(),
                            strict=True)))  # fmt: skip
    st.warning(
        f"Two sources tell of {twice:,} intervals; in {intervals:,} of the newest they differ by more than "
        "rounding.",
        icon=":material/difference:",
    )
    grid(found, "cpu-disagreements", sources=[DIFFERENT])
