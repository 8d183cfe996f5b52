"""What if: the TLS CPU cost with other numbers of handshakes and bytes, and another resumption."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.drawing import number, picture, plain
from zscope.app.dashboard.figure_charts import chart_of
from zscope.app.figures.drawn_values import words_of
from zscope.app.figures.figure_declarations import ChartDeclaration, FigureDeclaration
from zscope.app.figures.figure_rows import FigureRows
from zscope.pipelines.estimate.what_if import PriceRange, changed_price

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

_LONGEST = 2000
_MOST_PCT, _STEP_PCT = 300, 5
_PRICE = "tls_price"
_FIGURE = FigureDeclaration(
    id="what-if", title="What if", metric=_PRICE, columns=(), order="",
    chart=ChartDeclaration(
        kind="ranges", what="CPU seconds a day for TLS, today and with the numbers of the sliders",
        name=("case",), value="value", low="low", high="high",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PricedSystem:
    """A system with the TLS CPU cost in its parts, and what they are the price of."""

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
    costs = {row["system"]: row for row in data.metric("handshake_cost").to_pylist()}
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
    """Draw sliders, and the price that follows from them."""
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
    drawn = FigureRows(
        figure=_FIGURE, count=2, has_data=True,
        rows=tuple({"case": case} | asdict(each) for case, each in (("today", now), ("what if", then))),
    )  # fmt: skip
    chart = chart_of(drawn)
    assert chart is not None, "two rows are drawn"
    picture(
        chart, pa.Table.from_pylist(list(drawn.rows)), "tls-price-what-if", words_of(drawn), sources=[_PRICE]
    )
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
