"""The big numbers that are shares: resumption, TLSv1.3, unprotected connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from zscope.app.dashboard.parts.tile import missing, share_tile
from zscope.app.dashboard.queries.overview import (
    PRICE_OF_TLS13,
    RESUMPTION,
    resumption,
    tls13,
    unprotected,
)
from zscope.app.dashboard.show import plain, without_effect

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from zscope.app.dashboard.answers import Data
    from zscope.app.dashboard.queries.overview import Reference

_LONG = 300
_DETAIL, _OF_DETAIL = "zERT connection detail records", "zscope ingest SMF.DUMP --select '119(11)'"


def resumption_tile(data: Data, published: Mapping[str, Reference]) -> pa.Table:
    """Draw the resumption rate beside the published one."""
    found, reference = resumption(data), published.get(RESUMPTION)
    trend = share_tile("Resumption rate", found, reference.value if reference else None)
    if found.value is None:
        missing(_DETAIL, _OF_DETAIL)
        return trend
    st.caption("Handshakes that resumed a session, of all full and resumed ones that zERT saw.")
    if reference:
        st.caption(
            f"Published: {plain(reference.as_printed)}, with TLSv1.3 and tickets cached across the sysplex "
            f"({plain(reference.where, _LONG)}). More on the page Resumption."
        )
    without_effect(found.without_effect)
    return trend


def tls13_tile(data: Data, published: Mapping[str, Reference]) -> pa.Table:
    """Draw the share of TLSv1.3 and what is published of its price."""
    (found, source), price = tls13(data), published.get(PRICE_OF_TLS13)
    trend = share_tile("TLSv1.3, of TLS connections", found)
    if found.value is None:
        missing("records of TLS connections", "zscope ingest SMF.DUMP --select '119(2,11,12)'")
        return trend
    st.caption(f"By number of connections. Source: {plain(source)}.")
    if price:
        more = "more" if price.direction == "increase" else "less"
        st.caption(
            f"No goal is published. Published price: {plain(price.as_printed)} {more} CPU per transaction "
            f"than TLSv1.2 ({plain(price.where, _LONG)}). More on the page Ciphers and versions."
        )
    without_effect(found.without_effect)
    return trend


def unprotected_tile(data: Data) -> pa.Table:
    """Draw the share of unprotected connections."""
    found = unprotected(data)
    trend = share_tile("Unprotected connections", found)
    if found.value is None:
        missing(_DETAIL, _OF_DETAIL)
        return trend
    st.caption("Connections without any protection that zERT knows, of all that ended.")
    st.caption(
        "No figure is published. The goal: none that nobody has decided on. The page Posture and "
        "certificates names the ports."
    )
    without_effect(found.without_effect)
    return trend
