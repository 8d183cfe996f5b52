"""What the data say, in the sentences of `zscope summary`, each with a link to the page with its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from zscope.app.dashboard.drawing import plain
from zscope.app.dashboard.links import page_link
from zscope.pipelines.summary import conclusions

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData
    from zscope.pipelines.summary import Conclusion

_LONGEST = 1000
_HEADINGS = {
    "price": "What TLS costs", "saving": "What to change first", "exposure": "What is unprotected",
    "certificates": "What will expire", "change": "What changed",
}  # fmt: skip
_PAGES: dict[str, tuple[str, dict[str, str]]] = {
    "price": ("tls_price", {}),
    "saving": ("tls_price", {"tls_advice_of": "Rule"}),
    "exposure": ("posture", {"posture_part": "Protection"}),
    "certificates": ("posture", {"posture_part": "Certificates"}),
    "change": ("ranking", {}),
}
"""The page with the evidence of each sentence, and the parameters of its address."""


def said_by(data: PageData) -> list[Conclusion]:
    """Return the sentences about the data that match the filters."""

    def run(metric: str, statement: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = data.found(metric, statement).to_pylist()
        return rows

    return conclusions(run, chosen_period=bool(data.filters.begin or data.filters.end))


def sentences_section(data: PageData) -> None:
    """Draw the sentences."""
    with st.container(border=True):
        for each in said_by(data):
            words, link = st.columns([4, 1], vertical_alignment="center")
            with words:
                st.markdown(f"**{_HEADINGS[each.about]}.** {plain(each.sentence, _LONGEST)}")
                if ignored := data.without_effect(each.metric):
                    st.caption(f"Not filtered by {', '.join(ignored)}: this data has no such column.")
            with link:
                name, parameters = _PAGES[each.about]
                page_link(name, **parameters)
        st.caption("The same sentences: `zscope summary`; the rows behind them: `zscope metrics`.")
