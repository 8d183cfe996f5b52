"""Price of TLS: what it costs, of which jobs and rules, what a change would save, and what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import altair as alt
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import clean, grid, no_data, picture, plain, without_effect
from zscope.app.dashboard.pages.tls_price.what_if import what_if_section
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.style import BLUE, GREY, ORANGE, colours, spread_colours, values
from zscope.app.shared.column_labels import label

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.style import Chart

PAGE = Page(title="Price of TLS", icon="payments", section="TLS", order=15)

PRICE, ADVICE, CHANGE = "tls_price", "tls_advice", "tls_price_change"
SharedBy = Literal["job", "port", "rule", "client network", "key exchange", "role"]
_COLUMN_OF = {
    "job": "job_name", "port": "server_port", "rule": "rule_name", "client network": "client_network",
    "key exchange": "key_exchange", "role": "handshake_role",
}  # fmt: skip
_STATUS_COLOURS = {"ok": BLUE, "conditional": ORANGE, "refused": GREY}
_BADGES: dict[str, Literal["blue", "orange", "gray"]] = {
    "ok": "blue", "conditional": "orange", "refused": "gray",
}  # fmt: skip
_ICONS = {
    "ok": ":material/check_circle:", "conditional": ":material/help:", "refused": ":material/block:",
}  # fmt: skip
_TIPS = (
    alt.Tooltip("low_cpu_s_per_day:Q", title="At least (s a day)", format=",.3~g"),
    alt.Tooltip("cpu_s_per_day:Q", title="Estimate (s a day)", format=",.3~g"),
    alt.Tooltip("high_cpu_s_per_day:Q", title="At most (s a day)", format=",.3~g"),
)
_LONGEST = 600
_MOST_SHARES = 20
_MOST_SENTENCES = 12
_OF_PRICE = (
    "system", "part", "status", "cpu_s_per_day", "low_cpu_s_per_day", "high_cpu_s_per_day", "lpar_pct",
    "high_lpar_pct", "peak_pct", "msu", "low_msu", "high_msu", "price", "low_price", "high_price",
    "ziip_s_per_day", "card_operations_per_day", "why",
)  # fmt: skip
_OF_ADVICE = (
    "sentence", "status", "saving_s_per_day", "saving_low_s_per_day", "saving_high_s_per_day", "statement",
    "parameter", "recommended", "value_today", "set_in", "reference_ids", "why",
)  # fmt: skip
_OF_CHANGE = (
    "sentence", "status", "changed_utc", "change", "smallest_visible", "before", "after", "by_costs",
    "by_number", "by_mix", "why",
)  # fmt: skip


def prices(data: PageData, price_per_msu: float | None = None) -> pa.Table:
    """Return the price of each system and of its parts."""
    money = [] if price_per_msu is None else [f"SET VARIABLE price_per_msu = {price_per_msu!r}"]
    return data.metric(PRICE, where="shared_by = 'system'", settings=money)


def shares(data: PageData, by: SharedBy, most: int = _MOST_SHARES) -> pa.Table:
    """Return the greatest shares of the price, or of the price of handshakes, which alone have roles."""
    part = "handshakes" if by in {"key exchange", "role"} else "TLS"
    rows = data.metric(PRICE, where=f"shared_by = '{by}' AND part = '{part}' AND status <> 'refused'")
    order = [("high_cpu_s_per_day", "descending"), ("share_pct", "descending")]
    top = rows.sort_by(order).slice(0, most)
    column = _COLUMN_OF[by]
    names = pc.fill_null(top[column].cast("string"), "unknown")
    return top.set_column(top.column_names.index(column), column, names)


def advice(data: PageData, shared_by: str, basis: str) -> pa.Table:
    """Return what changes would save, from the costs of the systems or from published percentages."""
    return data.metric(ADVICE, where=f"shared_by = '{shared_by}' AND basis = '{basis}'")


def render(data: PageData) -> None:
    """Draw the page."""
    found = prices(data)
    if not found.num_rows:
        no_data(
            "There is no price. It needs zERT records (SMF 119 subtype 11 or 12) and the CPU time of the "
            "same time (SMF 70 or an RMF report), with the time zone of the system.",
            "zscope ingest SMF.DUMP --select '119(11,12),70(1),30,72(3)' --timezone +01:00",
        )
        return
    _headline(found)
    _parts(data)
    _shares(data)
    what_if_section(data)
    _advice(data)
    _changes(data)
    without_effect(data.without_effect(PRICE))


def _headline(found: pa.Table) -> None:
    """One sentence for each system, and why it can or cannot be trusted."""
    of_tls = found.filter(pc.field("part") == "TLS")
    most_expensive = of_tls.sort_by([("high_cpu_s_per_day", "descending"), ("system", "ascending")])
    for row in most_expensive.slice(0, _MOST_SENTENCES).to_pylist():
        with st.container(border=True):
            st.badge(row["status"], icon=_ICONS[row["status"]], color=_BADGES[row["status"]])
            st.markdown(f"**{plain(row['sentence'], _LONGEST)}**")
            st.caption(plain(row["why"], _LONGEST))
    if (more := most_expensive.num_rows - _MOST_SENTENCES) > 0:
        st.caption(f"{more} more systems are in the table below.")


def _parts(data: PageData) -> None:
    st.header("Parts of the price")
    per_msu = st.number_input(
        "Price of an MSU, in any currency", min_value=0.0, value=None, step=100.0, key="tls_price_per_msu",
        help="Then the price of the MSU that TLS uses in the peak four-hour average is in the table.",
    )  # fmt: skip
    rows = prices(data, per_msu)
    known = rows.filter(pc.field("high_cpu_s_per_day").is_valid())
    if known.num_rows:
        picture(_ranges(known), known, "tls-price-parts",
                "CPU seconds a day of TLS and its parts, by system: a bar from the least to the most that it "
                "costs, and a dot at the estimate.", sources=[PRICE])  # fmt: skip
        st.caption(
            "The bar is the range or the 95 % interval, the dot the estimate; with the status conditional, "
            "it is right if the condition is true. Handshakes and bulk data are parts of TLS, full and "
            "resumed handshakes those of handshakes. zIIP time and operations of cryptographic cards are not "
            "in it."
        )
    shown = [name for name in _OF_PRICE if not name.endswith("price") or per_msu is not None]
    grid(rows, "tls-price", sources=[PRICE], columns=shown)


def _ranges(known: pa.Table) -> Chart:
    base = (
        alt.Chart(values(known))
        .transform_calculate(place="datum.system + ', ' + datum.part")
        .encode(
            y=alt.Y("place:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
            color=alt.Color("status:N", title="Status", scale=colours(_STATUS_COLOURS),
                            legend=alt.Legend(orient="top")),
            tooltip=[
                alt.Tooltip("system:N", title="System"), alt.Tooltip("part:N", title="Part"),
                alt.Tooltip("status:N", title="Status"), *_TIPS,
                alt.Tooltip("high_lpar_pct:Q", title="At most (% of the LPAR)", format=".2f"),
            ],
        )
    )  # fmt: skip
    bars = base.mark_rule(strokeWidth=8, opacity=0.4).encode(
        x=alt.X("low_cpu_s_per_day:Q", title="CPU seconds a day"), x2=alt.X2("high_cpu_s_per_day:Q")
    )
    dots = base.transform_filter("isValid(datum.cpu_s_per_day)").mark_point(filled=True, size=50, opacity=1)
    return alt.layer(bars, dots.encode(x=alt.X("cpu_s_per_day:Q")), height=alt.Step(24))


def _shares(data: PageData) -> None:
    st.header("Who uses it")
    by: SharedBy = st.segmented_control(
        "By", get_args(SharedBy), default="job", required=True, format_func=str.capitalize,
        key="tls_price_by", bind="query-params", persist_state="session",
    )  # fmt: skip
    table = shares(data, by)
    if not table.num_rows:
        st.info("No price has shares of this kind.", icon=":material/inbox:")
        return
    column = _COLUMN_OF[by]
    systems = sorted(set(table["system"].to_pylist()))
    chart = (
        alt.Chart(values(table))
        .mark_bar()
        .encode(
            x=alt.X("high_cpu_s_per_day:Q", title="At most, CPU seconds a day"),
            y=alt.Y(f"{column}:N", title=label(column), sort="-x"),
            color=alt.Color("system:N", title="System", scale=spread_colours(systems)),
            tooltip=[
                alt.Tooltip("system:N", title="System"), alt.Tooltip(f"{column}:N", title=label(column)),
                alt.Tooltip("share_pct:Q", title="Share of the price (%)", format=".1f"),
                *_TIPS,
            ],
        )
    )  # fmt: skip
    picture(chart, table, f"tls-price-by-{column}", f"The greatest shares of the price by {by}, as bars.",
            sources=[PRICE])  # fmt: skip
    st.caption(
        "These are shares of what was estimated for the system, by handshakes and megabytes: a full "
        "handshake of each is assumed to cost the same."
    )


def _advice(data: PageData) -> None:
    st.header("What a change would save")
    scope = st.segmented_control(
        "Of", ("system", "rule", "port"), default="system", required=True, format_func=str.capitalize,
        key="tls_advice_of", bind="query-params", persist_state="session",
    )  # fmt: skip
    for basis, title, words in (
        ("estimate", "From the costs of the system", "with its 95 % interval"),
        (
            "published",
            "By published percentages",
            "at most, and only if this workload is like the published one",
        ),
    ):
        rows = advice(data, scope, basis)
        if rows.num_rows:
            st.markdown(f"**{title}**, {words}")
            grid(rows, f"tls-advice-{basis}", sources=[ADVICE], columns=_OF_ADVICE)
    st.caption("Never add the two tables, nor rows of systems, rules and ports.")


def _changes(data: PageData) -> None:
    rows = data.metric(CHANGE)
    if not rows.num_rows:
        return
    st.header("Since the policy, release, capacity or cipher suites changed")
    for row in rows.to_pylist():
        if row["item"] in {"TLS", None}:
            st.text(clean(row["sentence"], _LONGEST))
    grid(rows, "tls-price-change", sources=[CHANGE], columns=_OF_CHANGE)
