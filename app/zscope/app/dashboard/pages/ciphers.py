"""Ciphers and versions: protocols and cipher suites by number and by bytes, over time and by port."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import streamlit as st

from zscope.app.dashboard.parts.cipher_pictures import over_time_and_ports, shares
from zscope.app.dashboard.parts.failed_handshakes import failed_by_port
from zscope.app.dashboard.queries.ciphers import (
    Measure,
    Subject,
    failed,
    headline,
    protocols,
    sources,
    suites,
)
from zscope.app.dashboard.queries.suite_marks import SHAPES
from zscope.app.dashboard.show import clean, nothing, number, without_effect

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

_WORTH_TELLING_PCT = 0.05
_COLUMNS = ("system", "stack", "hour_utc", "job_name", "server_port")


def render(data: Data) -> None:
    """Draw the page."""
    found = sources(data)
    if not found:
        nothing(
            "No connections whose protection is told: that comes from zERT, AT-TLS, FTP and TN3270 records"
            " (SMF 119) and from NETSTAT TTLS displays.",
            "zscope ingest SMF.DUMP --select '119(2:3,11:12,21,70)'",
        )
        return
    source, measure = _choice(found)
    all_protocols, all_suites, failures = protocols(data, source), suites(data, source), failed(data, source)
    _numbers(all_suites, failures, measure)
    _distributions(all_protocols, all_suites, measure)
    _spread(data, source, measure, {"protocols": all_protocols, "cipher suites": all_suites})
    failed_by_port(failures)
    without_effect(data.filters.without_effect(_COLUMNS, "hour_utc"))


def _choice(found: list[str]) -> tuple[str, Measure]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source: str = st.selectbox(
            "Source", found, key="ciphers_source", bind="query-params", persist_state="session",
            format_func=clean, width=260,
            help="Sources tell of the same connections in their own ways, so one is shown at a time.",
        )  # fmt: skip
        measure: Measure = st.segmented_control(
            "Shares of", get_args(Measure), default="connections", required=True, key="ciphers_measure",
            bind="query-params", persist_state="session",
        )  # fmt: skip
    return source, measure


def _numbers(found: pa.Table, failures: pa.Table, measure: Measure) -> None:
    told = headline(found, measure)
    failed_count = sum(failures["failed_handshakes"].to_pylist())
    of_what = f"Of all {measure} under TLS that this source tells of."
    cards = [
        ("TLSv1.3", told["tls13"], 1, "%", of_what),
        ("Without forward secrecy", told["without_pfs"], 1, "%",
         f"{of_what} Who gets the key of the certificate later can read what was recorded before."),
        ("Weak", told["weak"], 1, "%",
         f"{of_what} 3DES, RC4, DES or RC2, not encrypted at all, made weak for export, or anonymous."),
        ("Failed handshakes", failed_count, 0, "", "Not among the connections; see below."),
    ]  # fmt: skip
    for column, (title, value, digits, unit, help_text) in zip(st.columns(4), cards, strict=True):
        column.metric(title, number(value, digits, unit), border=True, help=help_text)
    told_of = f"The first three are shares of the {measure} under TLS."
    if (told["not_known"] or 0) >= _WORTH_TELLING_PCT:
        told_of += (
            f" Of {number(told['not_known'], 1, '%')} of them the suite is not known or not told by this"
            " source: they count as neither weak nor without forward secrecy."
        )
    st.caption(told_of)


def _distributions(all_protocols: pa.Table, all_suites: pa.Table, measure: Measure) -> None:
    left, right = st.columns([2, 3])
    with left:
        st.subheader("Protocols")
        shares(all_protocols, "protocols", measure)
    with right:
        st.subheader("Cipher suites")
        shares(all_suites, "cipher suites", measure)
        st.caption("Marks: " + ", ".join(f"{shape} {word}" for word, shape in SHAPES.items()))


def _spread(data: Data, source: str, measure: Measure, found: Mapping[Subject, pa.Table]) -> None:
    st.subheader("Over time and by port")
    subject: Subject = st.segmented_control(
        "Show", get_args(Subject), default="protocols", required=True, key="ciphers_subject",
        bind="query-params", persist_state="session",
    )  # fmt: skip
    over_time_and_ports(data, source, subject, measure, found[subject])
