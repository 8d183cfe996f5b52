"""The zERT records that count for the protection of connections, as pages choose and name them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from zscope.app.dashboard.drawing import grid
from zscope.app.dashboard.tiles import MetricFigure
from zscope.pipelines.quantities import percent
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.page_data import PageData

POSTURE = "tls_posture"
_OLD_VERSION = "100 * old_version_connections / connections AS old_version_of_all_pct"
_OF_RECORDS = (
    "source", "connections", "unprotected_connections", "unprotected_pct", "old_version_connections",
    "old_version_of_all_pct", "covered_pct", "covered_hours", "hours",
)  # fmt: skip


def protection_records(data: PageData) -> list[dict[str, Any]]:
    """Return the sources of the posture with their connections and hours, the one with the most first."""
    rows: list[dict[str, Any]] = _protection_records(data).to_pylist()
    return rows


def _protection_records(data: PageData) -> pa.Table:
    most_first = "WHERE connections > 0 ORDER BY connections DESC, source"
    return data.found(POSTURE, f"SELECT *, {_OLD_VERSION} FROM found {most_first}", [])


def of_records(records: dict[str, Any]) -> str:
    """Return the condition of the rows of a source."""
    return f"source = {literal(records['source'])}"


def records_named(records: dict[str, Any]) -> str:
    """Return a source with the share of the hours that it covers."""
    return records_and_coverage(records["source"], records["covered_hours"], records["hours"])


_RECORDED = "FILTER (state <> 'not recorded')"
HANDSHAKE_COVERAGE = MetricFigure(
    "coverage",
    f"100 * sum(covered_hours) {_RECORDED} / sum(hours) {_RECORDED}",
    ("system", "source"),
    "source = '119-11'",
)
"""Share of the hours covered by the records that count full and resumed handshakes."""


def handshake_coverage(data: PageData) -> float | None:
    """Return the share of the hours that these records cover, in %; systems without any do not count."""
    rows = data.metric("coverage", ["system", "source"], where="source = '119-11'").to_pylist()
    recorded = [row for row in rows if row["state"] != "not recorded"]
    hours = sum(row["hours"] for row in recorded)
    return 100 * sum(row["covered_hours"] for row in recorded) / hours if hours else None


def records_and_coverage(source: str, covered_hours: float | None, hours: float | None) -> str:
    """Return the records that a share comes from, with how many of the hours they cover.

    >>> records_and_coverage("zERT summary", 18, 24)
    'zERT summaries (75.0 % of the hours)'
    >>> records_and_coverage("zERT detail", None, None)
    'zERT details (of an unknown share of the hours)'
    """
    records = {"zERT summary": "zERT summaries", "zERT detail": "zERT details"}.get(source, source)
    if covered_hours is None or not hours:
        return f"{records} (of an unknown share of the hours)"
    return f"{records} ({percent(100 * covered_hours / hours)} of the hours)"


def chosen_records(data: PageData, key: str) -> dict[str, Any] | None:
    """Show the sources, and let the user choose the one whose shares are shown; None without any."""
    table = _protection_records(data)
    every: list[dict[str, Any]] = table.to_pylist()
    if not every:
        return None
    chosen = every[0]
    if len(every) > 1:
        source: str = st.segmented_control(
            "Records", [row["source"] for row in every], default=chosen["source"], required=True, key=key,
            bind="query-params", persist_state="session",
        )  # fmt: skip
        chosen = next((row for row in every if row["source"] == source), chosen)
        st.caption(
            "Shares of the connections in the records that are chosen; the others count on other days or "
            "systems."
        )
    grid(table, key.replace("_", "-"), sources=[POSTURE], columns=_OF_RECORDS)
    return chosen
