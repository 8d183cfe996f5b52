"""Price of TLS: what it costs, of which jobs and rules, what a change would save, and what changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import clean, grid, no_data, number, picture, plain, without_effect
from zscope.app.dashboard.figure_cards import Card, draw_figures
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.style import BLUE, GREY, ORANGE, colours, spread_colours, values
from zscope.app.shared.column_labels import label
from zscope.app.shared.shown_statements import STATEMENT, shown_sql
from zscope.pipelines.estimate.what_if import PriceRange, changed_price

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.style import Chart

PAGE = Page(title="Price of TLS", icon="payments", area="Cost", order=10)

FIGURES = ((Card("cost-by-day", 4), Card("price-by-system", 3)),)
PRICE, COST, ADVICE, CHANGE = "tls_price", "handshake_cost", "tls_advice", "tls_price_change"
SharedBy = Literal["job", "port", "rule", "client network", "key exchange", "role"]
_COLUMN_OF = {
    "job": "job_name", "port": "server_port", "rule": "rule_name", "client network": "client_network",
    "key exchange": "key_exchange", "role": "handshake_role",
}  # fmt: skip
_STATUS_COLOURS = {"estimate": BLUE, "conditional": ORANGE, "range": ORANGE, "not enough data": GREY}
_BADGES: dict[str, Literal["blue", "orange", "gray"]] = {
    "estimate": "blue", "conditional": "orange", "range": "orange", "not enough data": "gray",
}  # fmt: skip
_ICONS = {
    "estimate": ":material/check_circle:", "conditional": ":material/help:", "range": ":material/expand:",
    "not enough data": ":material/block:",
}  # fmt: skip
_TIPS = (
    alt.Tooltip("low_cpu_s_per_day:Q", title="At least (s a day)", format=",.3~g"),
    alt.Tooltip("cpu_s_per_day:Q", title="Estimate (s a day)", format=",.3~g"),
    alt.Tooltip("high_cpu_s_per_day:Q", title="At most (s a day)", format=",.3~g"),
)
_LONGEST = 2000
_MOST_SHARES = 20
_MOST_SENTENCES = 12
_MOST_PCT, _STEP_PCT = 300, 5
_TODAY, _CHANGED = "today", "what if"
_OF_PRICE = (
    "system", "part", "status", "cpu_s_per_day", "low_cpu_s_per_day", "high_cpu_s_per_day", "lpar_pct",
    "high_lpar_pct", "peak_pct", "msu", "low_msu", "high_msu", "price", "low_price", "high_price",
    "why_no_msu", "ziip_s_per_day", "card_operations_per_day", "why",
)  # fmt: skip
_OF_SHARE = (
    "system", "job_name", "server_port", "status", "cpu_s_per_day", "low_cpu_s_per_day",
    "high_cpu_s_per_day", "share_pct", "lpar_pct", "high_lpar_pct", "msu", "low_msu", "high_msu",
)  # fmt: skip
_ADVICE_OF = {"all": "shared_by = 'system' OR rule_name IS NOT NULL"}
_OF_ADVICE = (
    "sentence", "basis", "status", "saving_s_per_day", "saving_low_s_per_day", "saving_high_s_per_day",
    "statement", "parameter", "recommended", "value_today", "is_seen", "set_in", "why_full",
    "reference_ids", "why",
)  # fmt: skip
_OF_CHANGE = (
    "system", "changed_utc", "change", "item", "verdict", "status", "value", "low", "high",
    "smallest_visible", "before", "after", "cpu_source", "why",
)  # fmt: skip


def prices(data: PageData, price_per_msu: float | None = None) -> pa.Table:
    """Return the price of each system and of its parts."""
    money = [] if price_per_msu is None else [f"SET VARIABLE price_per_msu = {price_per_msu!r}"]
    return data.metric(PRICE, where="shared_by = 'system'", settings=money)


def shares(data: PageData, by: SharedBy, most: int = _MOST_SHARES) -> pa.Table:
    """Return the greatest shares of the price, or of the price of handshakes, which alone have roles."""
    part = "handshakes" if by in {"key exchange", "role"} else "TLS"
    rows = data.metric(PRICE, where=f"shared_by = '{by}' AND part = '{part}' AND status <> 'not enough data'")
    order = [("high_cpu_s_per_day", "descending"), ("share_pct", "descending")]
    top = rows.sort_by(order).slice(0, most)
    column = _COLUMN_OF[by]
    names = pc.fill_null(top[column].cast("string"), "unknown")
    return top.set_column(top.column_names.index(column), column, names)


def advice(data: PageData, shared_by: str) -> pa.Table:
    """Return what changes would save, of all systems and rules, or of one of rule, system and port."""
    return data.metric(ADVICE, where=_ADVICE_OF.get(shared_by, f"shared_by = '{shared_by}'"))


@dataclass(frozen=True, slots=True)
class PricedSystem:
    """A system with the price of TLS in its parts, and what they are the price of."""

    system: str
    status: str
    why: str
    parts: dict[str, PriceRange]
    """CPU seconds a day by part of tls_price."""
    handshakes: float
    megabytes: float
    full_pct: float | None
    """Share of the full handshakes; None if full and resumed ones have no prices of their own."""

    def changed(self, handshakes: float, megabytes: float, full_pct: float | None = None) -> PriceRange:
        """Return the price with these multiples of today's handshakes and megabytes, and another mix."""
        full = resumed = handshakes
        if full_pct is not None and self.full_pct is not None:
            full *= full_pct / self.full_pct
            resumed *= (100 - full_pct) / (100 - self.full_pct)
        return changed_price(self.parts, full, resumed, megabytes)


def priced_systems(data: PageData) -> list[PricedSystem]:
    """Return the systems with a price, the most expensive first."""
    costs = {row["system"]: row for row in data.metric(COST).to_pylist()}
    parts: dict[str, dict[str, dict[str, Any]]] = {}
    for row in data.metric(PRICE, where="shared_by = 'system'").to_pylist():
        if row["high_cpu_s_per_day"] is not None:
            parts.setdefault(row["system"], {})[row["part"]] = row
    found = [
        _priced(costs[system], rows)
        for system, rows in parts.items()
        if {"TLS", "handshakes", "bulk data"} <= rows.keys() and costs[system]["handshakes_per_day"]
    ]
    return sorted(found, key=lambda each: (-each.parts["TLS"].high, each.system))


def _priced(cost: dict[str, Any], rows: dict[str, dict[str, Any]]) -> PricedSystem:
    full, resumed = cost["full_handshakes_per_day"], cost["resumed_handshakes_per_day"]
    apart = {"full handshakes", "resumed handshakes"} <= rows.keys() and full and resumed
    return PricedSystem(
        system=cost["system"],
        status=rows["TLS"]["status"],
        why=rows["TLS"]["why"],
        parts={
            name: PriceRange(row["cpu_s_per_day"], row["low_cpu_s_per_day"], row["high_cpu_s_per_day"])
            for name, row in rows.items()
        },
        handshakes=cost["handshakes_per_day"],
        megabytes=cost["megabytes_per_day"] or 0.0,
        full_pct=100 * full / (full + resumed) if apart else None,
    )


def render(data: PageData) -> None:
    """Draw the page."""
    found = prices(data)
    if not found.num_rows:
        _without_price(data)
        return
    draw_figures(data, FIGURES)
    _headline(found)
    _parts(data)
    _shares(data)
    _what_if(data)
    _advice(data)
    _changes(data)
    without_effect(data.without_effect(PRICE))


def _without_price(data: PageData) -> None:
    """The shares of the jobs or ports that the reader selects, or why there are none, and no price."""
    shares = data.metric(PRICE, where="shared_by IN ('job', 'port') AND share_pct IS NOT NULL")
    if not shares.num_rows:
        [price, *_] = data.found(STATEMENT, shown_sql("found")).to_pylist()
        no_data(
            plain(price["sentence"], _LONGEST),
            "zscope ingest SMF.DUMP --select '119(11,12),70(1),30,72(3)' --timezone +01:00",
        )
    else:
        _headline(shares)
        grid(shares, "tls-price-chosen", sources=[PRICE], columns=_OF_SHARE)
    if data.metric(ADVICE).num_rows:
        _advice(data)
    without_effect(data.without_effect(PRICE))


def _headline(found: pa.Table) -> None:
    """One sentence for each system or share, and why it can or cannot be trusted."""
    of_tls = found.filter(pc.field("part") == "TLS")
    most_expensive = of_tls.sort_by([("high_cpu_s_per_day", "descending"), ("system", "ascending")])
    for row in most_expensive.slice(0, _MOST_SENTENCES).to_pylist():
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge(row["status"], icon=_ICONS[row["status"]], color=_BADGES[row["status"]])
            st.markdown(f"**{plain(row['sentence'], _LONGEST)}**")
        st.caption(plain(row["why"], _LONGEST))
    if (more := most_expensive.num_rows - _MOST_SENTENCES) > 0:
        st.caption(f"{more} more are in `zscope metrics {PRICE}`.")


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
            "The bar is the range, the dot the estimate; with the status conditional, it is right if the "
            "condition is true. With the status range there is no dot: the upper end can contain work of the "
            "servers for a connection. Handshakes and bulk data are parts of TLS, full and "
            "resumed handshakes those of handshakes. zIIP time and operations of cryptographic cards are not "
            "in it."
        )
    shown = [name for name in _OF_PRICE if not name.endswith("price") or per_msu is not None]
    grid(rows, "tls-price", sources=[PRICE], columns=shown)


def _with_estimates(bars: alt.Chart, base: alt.Chart, rows: pa.Table, *, size: int, step: int) -> Chart:
    """Bars of ranges with a dot for each estimate, if there is any."""
    estimated = rows["cpu_s_per_day"].null_count < rows.num_rows
    dots = base.transform_filter("isValid(datum.cpu_s_per_day)").mark_point(filled=True, size=size, opacity=1)
    layers = [bars, dots.encode(x=alt.X("cpu_s_per_day:Q"))] if estimated else [bars]
    return alt.layer(*layers, height=alt.Step(step))


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
    return _with_estimates(bars, base, known, size=50, step=24)


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


def _what_if(data: PageData) -> None:
    """Sliders, and the price that follows from them."""
    systems = priced_systems(data)
    if not systems:
        return
    st.header("What if")
    names = [each.system for each in systems]
    name = st.selectbox(
        "System", names, key="tls_price_what_if", bind="query-params", persist_state="session", width=240,
    )  # fmt: skip
    chosen = systems[names.index(name)]
    left, middle, right = st.columns(3)
    with left:
        handshakes = _slider("Handshakes, % of today", "handshakes")
        st.caption(f"{number(chosen.handshakes * handshakes / 100, 0)} a day.")
    with middle:
        megabytes = _slider("Bulk data, % of today", "megabytes")
        st.caption(f"{number(chosen.megabytes * megabytes / 100, 0)} MB a day.")
    full_pct = None
    with right:
        if chosen.full_pct is None:
            st.caption(
                "The share of resumed handshakes cannot be changed here: full and resumed handshakes have no "
                "prices of their own on this system. Below is what published percentages say."
            )
        else:
            resumed = st.slider(
                "Resumed handshakes, %", 0, 100, round(100 - chosen.full_pct), key=f"what_if_resumed_{name}"
            )
            # The rounded share of today is today's.
            unchanged = resumed == round(100 - chosen.full_pct)
            full_pct = chosen.full_pct if unchanged else 100.0 - resumed
    _price_beside_today(chosen, chosen.changed(handshakes / 100, megabytes / 100, full_pct))


def _slider(words: str, key: str) -> int:
    chosen: int = st.slider(words, 0, _MOST_PCT, 100, _STEP_PCT, key=f"what_if_{key}")
    return chosen


def _price_beside_today(chosen: PricedSystem, then: PriceRange) -> None:
    now = chosen.parts["TLS"]
    st.markdown(f"**{plain(what_if_sentence(chosen.status, now, then), _LONGEST)}**")
    rows = pa.Table.from_pylist(
        [
            {
                "case": case,
                "low_cpu_s_per_day": each.low,
                "cpu_s_per_day": each.value,
                "high_cpu_s_per_day": each.high,
            }
            for case, each in ((_TODAY, now), (_CHANGED, then))
        ],
        pa.schema([
            ("case", pa.string()), ("low_cpu_s_per_day", pa.float64()), ("cpu_s_per_day", pa.float64()),
            ("high_cpu_s_per_day", pa.float64()),
        ]),
    )  # fmt: skip
    base = alt.Chart(values(rows)).encode(
        y=alt.Y("case:N", title=None, sort=[_TODAY, _CHANGED]),
        color=alt.Color("case:N", legend=None, scale=colours({_TODAY: GREY, _CHANGED: BLUE})),
        tooltip=[alt.Tooltip("case:N", title="Case"), *_TIPS],
    )
    bars = base.mark_rule(strokeWidth=8, opacity=0.4).encode(
        x=alt.X("low_cpu_s_per_day:Q", title="CPU seconds a day", scale=alt.Scale(zero=True)),
        x2=alt.X2("high_cpu_s_per_day:Q"),
    )
    picture(
        _with_estimates(bars, base, rows, size=60, step=28), rows, "tls-price-what-if",
        "CPU seconds a day of TLS today and with the numbers of the sliders.", sources=[PRICE],
    )  # fmt: skip
    st.caption(
        f"Status {chosen.status}: {plain(chosen.why, _LONGEST)}. Costs of a handshake and a megabyte "
        "are assumed to stay as they are, also far from the numbers of today."
    )


def what_if_sentence(status: str, now: PriceRange, then: PriceRange) -> str:
    """Return the price today and with the numbers of the sliders."""
    between = _between(then)
    if now.value is None or then.value is None:
        return f"{between[0].upper()}{between[1:]} CPU seconds a day; today {_between(now)}."
    change = then.value - now.value
    compared = f"{number(abs(change), 1)} {'more' if change > 0 else 'less'} than today"
    if number(abs(change), 1) == number(0.0, 1):
        compared = "as today"
    if status != "estimate":
        estimate = f"{number(then.value, 1)} if the condition below is true, {compared}"
        return f"{between[0].upper()}{between[1:]} CPU seconds a day; {estimate}."
    return f"{number(then.value, 1)} CPU seconds a day ({between}), {compared}."


def _between(price: PriceRange) -> str:
    """Return a range in words; nothing is known of a lower end of 0."""
    return (
        f"{number(price.low, 1)} to {number(price.high, 1)}"
        if price.low
        else f"at most {number(price.high, 1)}"
    )


def _advice(data: PageData) -> None:
    st.header("What a change would save")
    # Only the advice for ports tells them apart.
    scopes = ("port",) if data.filters.ports else (*_ADVICE_OF, "system", "rule", "port")
    scope = st.segmented_control(
        "Of", scopes, default=scopes[0], required=True, format_func=str.capitalize,
        key="tls_advice_of", bind="query-params", persist_state="session",
    )  # fmt: skip
    rows = advice(data, scope)
    if rows.num_rows:
        grid(rows, "tls-advice", sources=[ADVICE], columns=_OF_ADVICE)
    st.caption(
        "First what the data show, then what may be set so already, each with the largest saving first. "
        "Basis: estimate is from the costs of the system, with its 95 % interval; published is at most what "
        "IBM measured, if this workload is like that one; counted is at most what the work costs. "
        "Never add rows."
    )


def _changes(data: PageData) -> None:
    rows = data.metric(CHANGE)
    if not rows.num_rows:
        return
    st.header("Since the policy, release, capacity or cipher suites changed")
    for row in rows.to_pylist():
        if row["item"] in {"TLS", None}:
            st.text(clean(row["sentence"], _LONGEST))
    grid(rows, "tls-price-change", sources=[CHANGE], columns=_OF_CHANGE)
