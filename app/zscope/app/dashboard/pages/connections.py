"""Connections: find single ones among millions, and read all that is known of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import streamlit as st

from zscope.app.dashboard.parts.connection_story import draw
from zscope.app.dashboard.picking import chosen
from zscope.app.dashboard.queries.connection_key import ConnectionKey
from zscope.app.dashboard.queries.connection_sources import COLUMNS, Source, protections, sources_with_rows
from zscope.app.dashboard.queries.connection_terms import UnreadableError
from zscope.app.dashboard.queries.connections import COUNTED, PAGE, Only, Place, Question, count, search
from zscope.app.dashboard.show import clean, nothing, number, without_effect

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

_KEY = "connections_key"
_PAGES = "connections_pages"
_SHOWN = (
    "end_utc", "system", "job_name", "outcome", "protocol", "local_ip", "local_port", "remote_ip",
    "remote_port", "cipher_name", "in_bytes", "out_bytes", "handshake_role", "user_id", "start_utc", "stack",
    "connection_id", "connection_hex",
)  # fmt: skip


def render(data: Data) -> None:
    """Draw the page."""
    if text := st.query_params.get(_KEY):
        st.button("Back to the search", icon=":material/arrow_back:", on_click=_close)
        if key := ConnectionKey.read(text):
            st.caption(
                "The filters do not narrow the story of one connection. The address of this page leads to it."
            )
            draw(data, key)
            return
        st.warning("The address of this page names no connection.", icon=":material/link_off:")
    sources = sources_with_rows(data)
    if not sources:
        nothing(
            "No connections: they come from zERT connection detail records (SMF 119 subtype 11) and from TCP "
            "termination records (subtype 2).",
            "zscope ingest SMF.DUMP --select '119(1,2,11)'",
        )
        return
    question = _form(data, sources)
    try:
        _results(data, question)
    except UnreadableError as error:
        st.warning(clean(error, 300), icon=":material/edit:")


def _close() -> None:
    del st.query_params[_KEY]


def _form(data: Data, sources: tuple[Source, ...]) -> Question:
    source: Source = st.segmented_control(
        "Told by", sources, default=sources[0], required=True, key="connections_source", bind="query-params",
        persist_state="session",
        help="zERT connection detail (SMF 119-11) sees all TLS, SSH and IPsec. TCP termination (SMF 119-2) "
        "knows of TLS done by AT-TLS only.",
    )  # fmt: skip
    there = protections(data, source)
    with st.form("connections_form"):
        row = st.columns(4)
        address = _typed(row[0], "IP address or prefix", "address", "10.1.2.3, 10.1.0.0/16 or 2001:db8::/32")
        port = _typed(row[1], "Port", "port", "of either side")
        job = _typed(row[2], "Job", "job", "CICSPROD or CICS*")
        hint = "WEBSRV or WEB*" if source == "zERT" else "not told by this source"
        user = _typed(row[3], "User", "user", hint, disabled=source != "zERT")
        row = st.columns(4)
        identity = _typed(row[0], "Connection ID", "id", "4382 or 0000111E")
        protocol = row[1].selectbox(
            "TLS version or protection", there.protocols, index=None, placeholder="any", format_func=clean,
            key="connections_protocol", bind="query-params", persist_state="session",
        )  # fmt: skip
        suite = row[2].selectbox(
            "Cipher suite", tuple(there.suites), index=None, placeholder="any", format_func=clean,
            key="connections_cipher", bind="query-params", persist_state="session",
        )  # fmt: skip
        only: Only = row[3].selectbox(
            "Show", get_args(Only), key="connections_only", bind="query-params", persist_state="session",
            help="Failed: the handshake was not done; before z/OS 3.2 zERT shows that as unprotected. "
            "Unprotected: this source saw no protection.",
        )  # fmt: skip
        st.form_submit_button("Search", icon=":material/search:", type="primary")
    ciphers = there.suites.get(suite, ()) if suite else ()
    told = user if source == "zERT" else ""
    return Question(source, address, port, job, told, identity, protocol or "", ciphers, only)


def _typed(
    column: st.delta_generator.DeltaGenerator, title: str, name: str, hint: str, disabled: bool = False
) -> str:
    text = column.text_input(
        title, key=f"connections_{name}", placeholder=hint, max_chars=64, disabled=disabled,
        bind="query-params", persist_state="session",
    )  # fmt: skip
    return (text or "").strip()


def _results(data: Data, question: Question) -> None:
    behind = _pages(data, question)
    found = search(data, question, behind[-1] if behind else None)
    if not found.rows.num_rows:
        st.info("No connection fits. Fewer conditions, a longer period or fewer filters find more.",
                icon=":material/search_off:")  # fmt: skip
        return
    first = len(behind) * PAGE + 1
    with st.container(horizontal=True, vertical_alignment="center"):
        all_of_them = first + found.rows.num_rows - 1 if not found.has_more else count(data, question)
        told = f"more than {COUNTED:,}" if all_of_them > COUNTED else number(all_of_them, 0)
        shown = (
            f"**{first:,} to {first + found.rows.num_rows - 1:,}** of {told} connections, the newest first"
        )
        st.markdown(shown, width="content")
        st.button("Newer", icon=":material/chevron_left:", disabled=not behind, on_click=_turn, args=(None,))
        st.button("Older", icon=":material/chevron_right:", disabled=not found.has_more, on_click=_turn,
                  args=(found.last,))  # fmt: skip
    without_effect(data.filters.without_effect(COLUMNS, "end_utc"))
    picked = chosen(
        found.rows, "connections", (data.version, question, data.filters, first),
        sources=["connection_detail"], columns=_SHOWN, height=560,
    )  # fmt: skip
    st.caption("Choose a row to read everything that the store has about that connection.")
    if picked:
        key = ConnectionKey(picked["system"], picked["stack"], picked["connection_id"], picked["start_utc"])
        st.query_params[_KEY] = key.text
        st.rerun()


def _pages(data: Data, question: Question) -> list[Place]:
    """Where the pages before this one ended; none on the first, and where something else is asked."""
    of = (data.version, question, data.filters)
    if st.session_state.get(_PAGES, (None,))[0] != of:
        st.session_state[_PAGES] = (of, [])
    places: list[Place] = st.session_state[_PAGES][1]
    return places


def _turn(to: Place | None) -> None:
    """Go on to the page behind a place, or back by one."""
    places: list[Place] = st.session_state[_PAGES][1]
    if to is None:
        places.pop()
    else:
        places.append(to)
