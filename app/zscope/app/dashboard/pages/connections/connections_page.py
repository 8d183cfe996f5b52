"""Connections: search single connections, and show everything that is known of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import altair as alt
import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.amounts import amount
from zscope.app.dashboard.drawing import (
    clean,
    grid,
    no_data,
    number,
    picture,
    plain,
    selectable_grid,
    without_effect,
)
from zscope.app.dashboard.labels import explained
from zscope.app.dashboard.pages.connections.connection_key import ConnectionKey
from zscope.app.dashboard.pages.connections.events import (
    MOST,
    ConnectionEvent,
    ConnectionHistory,
    code_texts,
    connection_history,
    sentence,
)
from zscope.app.dashboard.pages.connections.search import (
    COLUMNS,
    COUNTED,
    PAGE_ROWS,
    ConnectionSearch,
    ConnectionSource,
    LastRow,
    OutcomeFilter,
    SearchTermError,
    count,
    protections,
    search,
    sources_with_rows,
)
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.style import BLUE, values
from zscope.app.dashboard.tiles import tile
from zscope.app.shared.column_labels import label

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData


_EXACT = "YYYY-MM-DD HH:mm:ss.SSS"
_CONFIG = {
    "time_utc": st.column_config.DatetimeColumn("Time (UTC)", format=_EXACT, timezone="UTC", width="medium"),
    "time_local": st.column_config.DatetimeColumn("Time (local)", format=_EXACT, width="medium"),
    "event": st.column_config.TextColumn("Event", width="large"),
}


def history_section(data: PageData, key: ConnectionKey) -> None:
    """Draw everything that is known of a connection."""
    history = connection_history(data, key)
    if not history.events:
        no_data(
            "The store has no record of this connection. Connections are in records of SMF type 119.",
            "zscope ingest SMF.DUMP --select 119",
        )
        return
    _facts(data, history)
    lines = _lines(data, history.in_utc)
    _timeline(lines, history)
    picked = _table(lines, history.in_utc, "utc", history)
    if history.in_local:
        st.header("Events with a local time")
        st.caption(
            "The time zone of these clocks is not known, so these events cannot be sorted among the others. "
            "Name the time zone with --timezone when you load the data."
        )
        picked = _table(_lines(data, history.in_local), history.in_local, "local", history) or picked
    if history.cut:
        st.caption(f"Only the first {MOST} rows are shown of: {plain(', '.join(history.cut))}.")
    if picked:
        _one_row(data, picked)
    else:
        st.caption("Select a row to see all of its columns with their meaning.")


def _facts(data: PageData, history: ConnectionHistory) -> None:
    facts, key = history.facts, history.key
    st.markdown(
        f"**{plain(facts.system)}, stack {plain(facts.stack or 'unknown')}, connection {key.number} "
        f"({key.hex})**: {plain(facts.local_ip or 'unknown')} port {plain(facts.local_port)} with "
        f"{plain(facts.remote_ip or 'unknown')} port {plain(facts.remote_port)}, "
        f"job {plain(facts.job_name or 'unknown')}, user {plain(facts.user_id or 'unknown')}"
    )
    duration = (
        (facts.end_utc - facts.start_utc).total_seconds() if facts.end_utc and facts.start_utc else None
    )
    received, sent = (
        max(event.row.get(name) or 0 for event in history.events) for name in ("in_bytes", "out_bytes")
    )
    for column, title, value in zip(
        st.columns(4),
        ("Duration", "Received", "Sent", "Events"),
        (
            "end not in the data" if duration is None else amount(duration, "s"),
            amount(received, "bytes"),
            amount(sent, "bytes"),
            number(len(history.events), 0),
        ),
        strict=True,
    ):
        tile(column, data, title, value, None)


def _lines(data: PageData, events: tuple[ConnectionEvent, ...]) -> pa.Table:
    """The events as rows of a table."""
    sentences = [sentence(event, code_texts(data, event.source.table, event.row)) for event in events]
    return pa.table(
        {
            "time_utc": pa.array([event.moment_utc for event in events], pa.timestamp("us", "UTC")),
            "time_local": pa.array([event.moment_local for event in events], pa.timestamp("us")),
            "source": pa.array([event.source.title for event in events], pa.string()),
            "event": pa.array(sentences, pa.string()),
            "matched_by": pa.array([event.matched_by for event in events], pa.string()),
            "file": pa.array([event.row["file"] for event in events], pa.string()),
            "place": pa.array([event.place for event in events], pa.string()),
            "table": pa.array([event.source.table for event in events], pa.string()),
            "no": pa.array(range(len(events)), pa.int64()),
        }
    )


def _timeline(lines: pa.Table, history: ConnectionHistory) -> None:
    moments = [event.moment_utc for event in history.in_utc if event.moment_utc]
    if len(set(moments)) < 2:
        return
    after = pa.array([(moment - moments[0]).total_seconds() for moment in moments], pa.float64())
    table = lines.select(["time_utc", "source", "event"]).append_column("after_s", after)
    chart = (
        alt.Chart(values(table))
        .mark_point(size=90, filled=True, color=BLUE, opacity=0.8)
        .encode(
            x=alt.X("after_s:Q", title="Time since the first event (s)"),
            y=alt.Y("source:N", title=None, sort=None, axis=alt.Axis(labelLimit=220)),
            tooltip=[
                alt.Tooltip("after_s:Q", title="After (s)", format=",.2f"),
                alt.Tooltip("source:N", title="Source"),
                alt.Tooltip("event:N", title="Event"),
            ],
        )
        .properties(height=60 + 26 * len({event.source.title for event in history.in_utc}))
    )
    picture(chart, table, "connection-timeline", "Events of the connection by source over time, as points.")


def _table(
    lines: pa.Table, events: tuple[ConnectionEvent, ...], clock: str, history: ConnectionHistory
) -> ConnectionEvent | None:
    columns = [f"time_{clock}", "source", "event", "place", "file", "matched_by", "table"]
    picked = selectable_grid(
        lines, f"connection-{clock}", history.key.text, columns=columns, config=_CONFIG,
        height=min(38 + 35 * len(events), 420),
    )  # fmt: skip
    return events[picked["no"]] if picked else None


def _one_row(data: PageData, event: ConnectionEvent) -> None:
    st.header("All columns of the row")
    st.caption(f"Table {plain(event.source.table)}, {plain(event.place)} of {plain(event.row['file'], 200)}")
    texts, known = code_texts(data, event.source.table, event.row), explained(event.source.table)
    st.text(sentence(event, texts))
    names = [name for name, value in event.row.items() if value is not None]
    table = pa.table(
        {
            "column": names,
            "value": [_as_text(event.row[name]) for name in names],
            "in_words": [texts.get(name) for name in names],
            "meaning": [known[name].meaning if name in known else label(name) for name in names],
        },
        schema=pa.schema([(name, pa.string()) for name in ("column", "value", "in_words", "meaning")]),
    )
    grid(table, "connection-row", height=420)


def _as_text(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


PAGE = Page(title="Connections", icon="lan", area="Explore", order=10)

_KEY = "connections_key"
_PAGES = "connections_pages"
_SHOWN = (
    "end_utc", "system", "job_name", "outcome", "protocol", "local_ip", "local_port", "remote_ip",
    "remote_port", "cipher_name", "in_bytes", "out_bytes", "handshake_role", "user_id", "start_utc", "stack",
    "connection_id", "connection_hex",
)  # fmt: skip


def render(data: PageData) -> None:
    """Draw the page."""
    if text := st.query_params.get(_KEY):
        st.button("Back to the search", icon=":material/arrow_back:", on_click=_close)
        if key := ConnectionKey.read(text):
            st.caption(
                "The filters do not apply to the history of one connection. The address of this page is a "
                "link to it."
            )
            history_section(data, key)
            return
        st.warning("The address of this page does not name a connection.", icon=":material/link_off:")
    sources = sources_with_rows(data)
    if not sources:
        no_data(
            "There are no connections. They come from zERT connection detail records (SMF 119 subtype 11) "
            "and "
            "from TCP connection termination records (subtype 2).",
            "zscope ingest SMF.DUMP --select '119(1,2,11)'",
        )
        return
    wanted = _form(data, sources)
    try:
        _results(data, wanted)
    except SearchTermError as error:
        st.warning(clean(error, 300), icon=":material/edit:")


def _close() -> None:
    del st.query_params[_KEY]


def _form(data: PageData, sources: tuple[ConnectionSource, ...]) -> ConnectionSearch:
    source: ConnectionSource = st.segmented_control(
        "Source", sources, default=sources[0], required=True, key="connections_source", bind="query-params",
        persist_state="session",
        help="zERT connection detail (SMF 119-11) covers all TLS, SSH and IPsec. TCP connection termination "
        "(SMF 119-2) covers TLS by AT-TLS only.",
    )  # fmt: skip
    offered = protections(data, source)
    with st.form("connections_form"):
        row = st.columns(4)
        address = _typed(row[0], "IP address or prefix", "address", "10.1.2.3, 10.1.0.0/16 or 2001:db8::/32")
        port = _typed(row[1], "Port", "port", "local or remote")
        job = _typed(row[2], "Job", "job", "CICSPROD or CICS*")
        hint = "WEBSRV or WEB*" if source == "zERT" else "not in this source"
        user = _typed(row[3], "User", "user", hint, disabled=source != "zERT")
        row = st.columns(4)
        identity = _typed(row[0], "Connection ID", "id", "4382 or 0000111E")
        protocol = row[1].selectbox(
            "TLS version or protection", offered.protocols, index=None, placeholder="any", format_func=clean,
            key="connections_protocol", bind="query-params", persist_state="session",
        )  # fmt: skip
        suite = row[2].selectbox(
            "Cipher suite", tuple(offered.suites), index=None, placeholder="any", format_func=clean,
            key="connections_cipher", bind="query-params", persist_state="session",
        )  # fmt: skip
        only: OutcomeFilter = row[3].selectbox(
            "Show", get_args(OutcomeFilter), key="connections_only", bind="query-params",
            persist_state="session",
            help="Failed: the handshake did not complete; before z/OS 3.2, zERT records it as unprotected. "
            "Unprotected: this source recorded no protection.",
        )  # fmt: skip
        st.form_submit_button("Search", icon=":material/search:")
    return ConnectionSearch(
        source=source, address=address, port=port, job=job, user=user if source == "zERT" else "",
        number=identity, protocol=protocol or "", only=only,
        ciphers=offered.suites.get(suite, ()) if suite else (),
    )  # fmt: skip


def _typed(
    column: st.delta_generator.DeltaGenerator, title: str, name: str, hint: str, disabled: bool = False
) -> str:
    text = column.text_input(
        title, key=f"connections_{name}", placeholder=hint, max_chars=64, disabled=disabled,
        bind="query-params", persist_state="session",
    )  # fmt: skip
    return (text or "").strip()


def _results(data: PageData, wanted: ConnectionSearch) -> None:
    earlier = _earlier_pages(data, wanted)
    result = search(data, wanted, earlier[-1] if earlier else None)
    if not result.rows.num_rows:
        st.info("No connection matches. Try fewer conditions, a longer period or fewer filters.",
                icon=":material/search_off:")  # fmt: skip
        return
    first = len(earlier) * PAGE_ROWS + 1
    last = first + result.rows.num_rows - 1
    with st.container(horizontal=True, vertical_alignment="center"):
        total = count(data, wanted) if result.has_more else last
        shown = f"more than {COUNTED:,}" if total > COUNTED else number(total, 0)
        st.markdown(f"**{first:,} to {last:,}** of {shown} connections, the newest first", width="content")
        st.button("Newer", icon=":material/chevron_left:", disabled=not earlier, on_click=_turn, args=(None,))
        st.button("Older", icon=":material/chevron_right:", disabled=not result.has_more, on_click=_turn,
                  args=(result.last,))  # fmt: skip
    without_effect(data.filters.without_effect(COLUMNS, "end_utc"))
    picked = selectable_grid(
        result.rows, "connections", (data.version, wanted, data.filters, first),
        sources=["connection_detail"], columns=_SHOWN, height=560,
    )  # fmt: skip
    st.caption("Select a row to see everything that the store contains about the connection.")
    if picked:
        key = ConnectionKey(picked["system"], picked["stack"], picked["connection_id"], picked["start_utc"])
        st.query_params[_KEY] = key.text
        st.rerun()


def _earlier_pages(data: PageData, wanted: ConnectionSearch) -> list[LastRow]:
    """The last rows of the pages before this one; empty for the first page and for a new search."""
    depends_on = (data.version, wanted, data.filters)
    if st.session_state.get(_PAGES, (None,))[0] != depends_on:
        st.session_state[_PAGES] = (depends_on, [])
    last_rows: list[LastRow] = st.session_state[_PAGES][1]
    return last_rows


def _turn(after: LastRow | None) -> None:
    """Go to the page after a row, or back by one page."""
    last_rows: list[LastRow] = st.session_state[_PAGES][1]
    if after is None:
        last_rows.pop()
    else:
        last_rows.append(after)
