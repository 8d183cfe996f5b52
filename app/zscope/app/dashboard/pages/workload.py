"""Workload: CPU time of address spaces and service classes, and the captured share of all CPU time."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Literal, get_args

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import grid, no_data, number, picture, plain, without_effect
from zscope.app.dashboard.over_time import ChartOverTime, LinesBefore, picture_over_time, rows_before
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    colours,
    time_axis,
    time_tip,
    values,
)
from zscope.app.dashboard.tiles import MetricFigure, tile
from zscope.app.dashboard.time_axis import PIECE, STEPS, in_pieces, period_length
from zscope.app.shared.column_labels import label
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

PAGE = Page(title="Workload", icon="workspaces", area="Data", order=30)

SPACES, CLASSES, CAPTURE = "address_space_cpu", "service_class_cpu", "capture_ratio"
ClassKind = Literal["service class", "report class"]
_ROLES = {
    "TLS port": BLUE, "TCP/IP stack": ORANGE, "System SSL server": GREEN, "ICSF": PURPLE,
    "policy agent": SKY, "other": GREY, "uncaptured": RED,
}  # fmt: skip
"""Roles of address spaces with their colours, in the order of the bars."""
_SOURCES = {"SMF 72": BLUE, "RMF": GREEN, "SMF 30": ORANGE}
_MOST_ROWS = 25


def roles(data: PageData) -> pa.Table:
    """Return the CPU time of each system by what its address spaces do for TLS."""
    return _with_share(data.metric(SPACES, ["system", "account", "role"]), "system")


def spaces(data: PageData) -> pa.Table:
    """Return the CPU time of each job, the greatest first."""
    keys = ["system", "account", "role", "job_name", "service_class", "tls_ports"]
    found = _with_share(data.metric(SPACES, keys), "system")
    return found.filter(pc.field("account") == "address space").sort_by(
        [("cp_s", "descending"), ("system", "ascending"), ("job_name", "ascending")]
    )


def classes(data: PageData, kind: ClassKind) -> pa.Table:
    """Return the CPU time, transactions and delays of each service or report class, the greatest first."""
    keys = ["source", "system", "workload", "class_name"]
    found = data.metric(CLASSES, keys, where=f"class_kind = '{kind}' AND sysplex IS NULL")
    return _with_share(found, "source", "system").sort_by(
        [("cp_s", "descending"), ("class_name", "ascending")]
    )


def _with_share(table: pa.Table, *of: str) -> pa.Table:
    """The rows with the share of each in the CPU time of all rows with the same values of these columns."""
    rows = table.to_pylist()
    totals: dict[tuple[object, ...], float] = {}
    for row in rows:
        key = tuple(row[name] for name in of)
        totals[key] = totals.get(key, 0.0) + (row["cp_s"] or 0.0)
    shares = []
    for row in rows:
        total = totals[tuple(row[name] for name in of)]
        shares.append(100 * row["cp_s"] / total if row["cp_s"] is not None and total > 0 else None)
    return table.append_column("share_pct", pa.array(shares, pa.float64()))


def render(data: PageData) -> None:
    """Draw the page."""
    by_role, captured = roles(data), data.metric(CAPTURE, ["system"])
    if not by_role.num_rows and not captured.num_rows:
        no_data(
            "There is no CPU time of address spaces or service classes. It comes from interval records of "
            "address spaces (SMF 30) and of service classes (SMF 72-3), next to SMF 70 or an RMF report.",
            "zscope ingest SMF.DUMP --select '30,70(1),72(3)' --timezone +01:00",
        )
        return
    _capture(data, captured)
    if by_role.num_rows:
        _roles(data, by_role)
        _spaces(data)
    _classes(data)
    _over_time(data)


def _capture(data: PageData, captured: pa.Table) -> None:
    """How much of the CPU time is accounted for, as one number for each source and system."""
    rows = [row for row in captured.to_pylist() if row["capture_ratio"] is not None]
    if not rows:
        return
    for column, row in zip(st.columns(max(4, len(rows))), rows, strict=False):
        of = f"source = {literal(row['source'])} AND system = {literal(row['system'])}"
        tile(
            column, data, f"Captured, {row['source']}, {plain(row['system'])}",
            number(100 * row["capture_ratio"], 1, "%"),
            MetricFigure(CAPTURE, "100 * capture_ratio", ("system",), of),
            f"{row['captured_s']:,.0f} of {row['cpu_s']:,.0f} CPU seconds of the system.",
        )  # fmt: skip
    st.caption(
        "Captured: the share of the CPU time of the system that address spaces (SMF 30) or service classes "
        "(SMF 72) account for. What is missing is the time of the system itself, or of address spaces "
        "without interval records."
    )


def _roles(data: PageData, by_role: pa.Table) -> None:
    st.header("What the CPU time is used for")
    chart = (
        alt.Chart(values(by_role))
        .mark_bar()
        .encode(
            x=alt.X("cp_s:Q", title="CPU seconds, general processors"),
            y=alt.Y("system:N", title="System"),
            color=alt.Color("role:N", title="Used by", scale=colours(_ROLES),
                            legend=alt.Legend(orient="top")),
            order=alt.Order("place:Q"),
            tooltip=[
                alt.Tooltip("system:N", title="System"), alt.Tooltip("role:N", title="Used by"),
                alt.Tooltip("cp_s:Q", title="CPU seconds", format=",.1f"),
                alt.Tooltip("share_pct:Q", title="Share (%)", format=".1f"),
                alt.Tooltip("ziip_s:Q", title="On zIIPs, seconds", format=",.1f"),
            ],
        )
        .transform_calculate(place=f"indexof({list(_ROLES)!r}, datum.role)")
        .properties(height=alt.Step(34))
    )  # fmt: skip
    picture(chart, by_role, "workload-roles", "CPU seconds of each system by what address spaces do for TLS.",
            sources=[SPACES])  # fmt: skip
    st.caption(
        "TLS port: address spaces with TLS connections, for all their work. The TLS CPU cost is a part of it "
        "and of the TCP/IP stack."
    )
    without_effect(data.without_effect(SPACES))


def _spaces(data: PageData) -> None:
    st.header("Address spaces")
    grid(
        spaces(data), "workload-spaces", sources=[SPACES],
        columns=["system", "job_name", "role", "cp_s", "share_pct", "task_s", "srb_s", "enclave_s", "ziip_s",
                 "ziip_on_cp_s", "service_class", "tls_ports"],
        config={"share_pct": _share_column()},
    )  # fmt: skip


def _classes(data: PageData) -> None:
    st.header("Service classes")
    kind: ClassKind = st.segmented_control(
        "Kind", get_args(ClassKind), default="service class", required=True, format_func=str.capitalize,
        key="workload_kind", bind="query-params", persist_state="session",
    )  # fmt: skip
    found = classes(data, kind)
    if not found.num_rows:
        st.info(f"No {kind} has CPU time in the data.", icon=":material/inbox:")
        return
    top = found.slice(0, _MOST_ROWS)
    names = pc.binary_join_element_wise(top["class_name"], top["system"], ", ")
    top = top.append_column("class", names)
    chart = (
        alt.Chart(values(top))
        .mark_bar(color=BLUE)
        .encode(
            x=alt.X("cp_s:Q", title="CPU seconds, general processors"),
            y=alt.Y("class:N", title=None, sort="-x", axis=alt.Axis(labelLimit=240)),
            tooltip=[
                alt.Tooltip("class:N", title=kind.capitalize()),
                alt.Tooltip("source:N", title="Source"),
                alt.Tooltip("cp_s:Q", title="CPU seconds", format=",.1f"),
                alt.Tooltip("share_pct:Q", title="Share (%)", format=".1f"),
                alt.Tooltip("ended_transactions:Q", title="Transactions", format=","),
                alt.Tooltip("avg_response_ms:Q", title="Average response (ms)", format=",.3~g"),
                alt.Tooltip("velocity_pct:Q", title=label("velocity_pct"), format=".1f"),
                alt.Tooltip("crypto_delay_pct:Q", title=label("crypto_delay_pct"), format=".2f"),
            ],
        )
    )  # fmt: skip
    picture(chart, found, "workload-classes", f"CPU seconds of each {kind}, as bars.", sources=[CLASSES])
    st.caption(
        "The same work is in a service class and in a report class: never add the two. Crypto delay is the "
        "share of the samples in which work waited for a cryptographic card."
    )
    without_effect(data.without_effect(CLASSES))


def _share_column() -> object:
    return st.column_config.ProgressColumn(
        "Share (%)", help="Share of the CPU time of the system, with the time that is not captured.",
        format="%.1f", min_value=0, max_value=100,
    )  # fmt: skip


def _over_time(data: PageData) -> None:
    """The capture ratio over time: a fall means that records are missing."""
    # Up to two days, single intervals are distinguishable.
    daily = period_length(data) >= timedelta(days=2)
    column = "day" if daily else "interval_start_utc"
    length = STEPS["day" if daily else "hour_utc"]

    def shares(of: PageData) -> pa.Table:
        known = of.metric(CAPTURE, ["system", column]).filter(pc.field("capture_ratio").is_valid())
        captured = known.append_column("captured_pct", pc.multiply(known["capture_ratio"], 100.0))
        return in_pieces(captured, ("source", "system"), column, length)

    lines = shares(data)
    if lines.num_rows < 2:
        return
    st.header("Captured share over time")
    encodings = {
        "x": time_axis(column),
        "y": alt.Y("captured_pct:Q", title="Captured (%)", scale=alt.Scale(zero=False)),
        "color": alt.Color("source:N", title="Source", scale=colours(_SOURCES)),
        "detail": alt.Detail(f"{PIECE}:N"),
    }
    chart = (
        alt.Chart(values(lines))
        .mark_line(point=True, strokeWidth=1.5)
        .encode(
            **encodings,
            tooltip=[
                time_tip(column), alt.Tooltip("source:N", title="Source"),
                alt.Tooltip("system:N", title="System"),
                alt.Tooltip("captured_pct:Q", title="Captured (%)", format=".1f"),
            ],
        )
        .properties(height=220)
    )  # fmt: skip
    before = rows_before(data, shares, column, daily=daily)
    lines_before = None if before is None else LinesBefore(before, encodings)
    picture_over_time(
        data,
        ChartOverTime(chart, column, lines_before),
        lines.drop_columns([PIECE]),
        "workload-capture",
        "Captured share of the CPU time over time, as lines.",
        sources=[CAPTURE],
    )
