"""What TLS would cost with other numbers of handshakes, another share of resumed ones, or other volumes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.drawing import number, picture, plain
from zscope.app.dashboard.style import BLUE, GREY, colours, values
from zscope.pipelines.estimate.what_if import KnownSum, PriceRange

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

_PRICE, _COST = "tls_price", "handshake_cost"
_LONGEST = 600
_MOST_PCT, _STEP_PCT = 300, 5
_TODAY, _CHANGED = "today", "what if"


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
        every, bulk = self.parts["handshakes"], self.parts["bulk data"]
        mixed = every
        if full_pct is not None and self.full_pct is not None:
            full, resumed = self.parts["full handshakes"], self.parts["resumed handshakes"]
            mixed = KnownSum(full, resumed, every).added(
                full.times(full_pct / self.full_pct), resumed.times((100 - full_pct) / (100 - self.full_pct))
            )
        known = KnownSum(every, bulk, self.parts["TLS"])
        return known.added(mixed.times(handshakes), bulk.times(megabytes))


def priced_systems(data: PageData) -> list[PricedSystem]:
    """Return the systems with a price, the most expensive first."""
    costs = {row["system"]: row for row in data.metric(_COST).to_pylist()}
    parts: dict[str, dict[str, dict[str, Any]]] = {}
    for row in data.metric(_PRICE, where="shared_by = 'system'").to_pylist():
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


def what_if_section(data: PageData) -> None:
    """Draw the sliders and the price that follows from them."""
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
        handshakes = _slider("Handshakes, % of today", "handshakes", 100)
        st.caption(f"{number(chosen.handshakes * handshakes / 100, 0)} a day.")
    with middle:
        megabytes = _slider("Bulk data, % of today", "megabytes", 100)
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
    _result(chosen, chosen.changed(handshakes / 100, megabytes / 100, full_pct))


def _slider(words: str, key: str, today: int) -> int:
    chosen: int = st.slider(words, 0, _MOST_PCT, today, _STEP_PCT, key=f"what_if_{key}")
    return chosen


def _result(chosen: PricedSystem, then: PriceRange) -> None:
    now = chosen.parts["TLS"]
    st.markdown(f"**{plain(_sentence(chosen.status, now, then), _LONGEST)}**")
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
        tooltip=[
            alt.Tooltip("case:N", title="Case"),
            alt.Tooltip("low_cpu_s_per_day:Q", title="At least (s a day)", format=",.3~g"),
            alt.Tooltip("cpu_s_per_day:Q", title="Estimate (s a day)", format=",.3~g"),
            alt.Tooltip("high_cpu_s_per_day:Q", title="At most (s a day)", format=",.3~g"),
        ],
    )
    bars = base.mark_rule(strokeWidth=8, opacity=0.4).encode(
        x=alt.X("low_cpu_s_per_day:Q", title="CPU seconds a day", scale=alt.Scale(zero=True)),
        x2=alt.X2("high_cpu_s_per_day:Q"),
    )
    dots = base.transform_filter("isValid(datum.cpu_s_per_day)").mark_point(filled=True, size=60, opacity=1)
    picture(
        alt.layer(bars, dots.encode(x=alt.X("cpu_s_per_day:Q")), height=alt.Step(28)),
        rows, "tls-price-what-if",
        "CPU seconds a day of TLS today and with the numbers of the sliders.", sources=[_PRICE],
    )  # fmt: skip
    st.caption(
        f"Status {chosen.status}: {plain(chosen.why, _LONGEST)}. Costs of a handshake and a megabyte "
        "are assumed to stay as they are, also far from the numbers of today."
    )


def _sentence(status: str, now: PriceRange, then: PriceRange) -> str:
    if now.value is None or then.value is None:
        return f"At most {number(then.high, 1)} CPU seconds a day; today at most {number(now.high, 1)}."
    change = then.value - now.value
    compared = f"{number(abs(change), 1)} {'more' if change > 0 else 'less'} than today"
    if number(abs(change), 1) == number(0.0, 1):
        compared = "as today"
    if status != "ok":
        estimate = f"{number(then.value, 1)} if the condition below is true, {compared}"
        return f"At most {number(then.high, 1)} CPU seconds a day; {estimate}."
    between = f"{number(then.low, 1)} to {number(then.high, 1)}"
    return f"{number(then.value, 1)} CPU seconds a day ({between}), {compared}."
