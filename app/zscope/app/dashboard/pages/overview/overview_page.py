"""Overview: key figures with their trends, the worst findings, and what is loaded."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow as pa
import streamlit as st

from zscope.app.dashboard.amounts import amount
from zscope.app.dashboard.drawing import (
    downloads,
    folded,
    grid,
    no_data,
    number,
    picture,
    plain,
    without_effect,
)
from zscope.app.dashboard.filter_bar import choices
from zscope.app.dashboard.links import page_link
from zscope.app.dashboard.pages.cpu_per_transaction.cpu_per_transaction_queries import TITLES, WAYS, measure
from zscope.app.dashboard.pages.overview.loaded_sources import loaded_section
from zscope.app.dashboard.pages.overview.overview_figures import (
    NO_FIGURE,
    PRICE_OF_TLS13,
    RESUMPTION,
    by_severity,
    cpu_by_system,
    cpu_ways,
    resumption,
    tls13,
    unprotected,
    worst_kinds,
)
from zscope.app.dashboard.pages.posture.findings import PLACE
from zscope.app.dashboard.protection_records import handshake_records
from zscope.app.dashboard.published import cited_results
from zscope.app.dashboard.registry import Page
from zscope.app.dashboard.style import SEVERITY_COLOURS, colours, values
from zscope.app.dashboard.tiles import tile
from zscope.app.shared.shown_statements import STATEMENT, shown_sql

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamlit.delta_generator import DeltaGenerator

    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.pages.overview.overview_figures import KeyFigure
    from zscope.app.dashboard.published import CitedResult


PAGE = Page(title="Overview", icon="dashboard", section="TLS", order=10)


_HEIGHT_PX = 200
_OTHER_SYSTEMS = 4
_LONG = 300
_DETAIL, _LOAD_DETAIL = "zERT connection detail records", "zscope ingest SMF.DUMP --select '119(11)'"
_MOST_KINDS = 10
_FIXED_SPACE = "\N{NO-BREAK SPACE}"
_NAMED_SYSTEMS = 8
_MOMENT = "%Y-%m-%d %H:%M"


def render(data: PageData) -> None:
    """Draw the page."""
    if not data.summary().loads:
        no_data(
            "Nothing is loaded yet. There are three ways to start; loaded data appears here within seconds.",
            f"zscope ingest YOUR.SMF.DUMP --store {data.queries.store}   # your own data\n"
            "zscope demo   # the sample data, in its own store\n"
            "zscope generate world FOLDER   # synthetic systems of any size, then zscope ingest FOLDER",
        )
        return
    _scope(data)
    # After a load the price takes seconds: all else is drawn meanwhile.
    above = st.container()
    _figures(data)
    findings_summary(data)
    loaded_section(data)
    with above, st.spinner("Computing the statements"):
        sentences_section(data)


def _scope(data: PageData) -> None:
    """Period, systems and amount of data in one line."""
    offered, summary = choices(data.queries, data.version), data.summary()
    systems = data.filters.systems or offered.systems
    named = ", ".join(plain(system) for system in systems[:_NAMED_SYSTEMS])
    more = f" and {len(systems) - _NAMED_SYSTEMS} more" if len(systems) > _NAMED_SYSTEMS else ""
    parts = [f"**Systems**: {named}{more}" if systems else "**Systems**: none with TLS or CPU data"]
    begin = data.filters.begin or offered.first_utc
    end = data.filters.end or offered.last_utc
    if begin and end:
        age = (datetime.now(UTC) - end).days
        ago = f" ({age:,} days ago)" if age > 0 else ""
        first, last = data.filters.first_day, data.filters.last_day
        days = f"{first} to {last}" if first != last else f"{first}"
        shown = days if first else f"{begin:{_MOMENT}} to {end:{_MOMENT}} UTC"
        parts.insert(0, f"**Period**: {shown}{ago}")
    files = "file" if summary.loads == 1 else "files"
    parts.append(f"**Loaded**: {summary.loads:,} {files}, {summary.rows:,} rows")
    st.markdown(" · ".join(parts))


def _figures(data: PageData) -> None:
    published = cited_results(data, RESUMPTION, PRICE_OF_TLS13)
    columns = st.columns(4)
    others = st.expander(
        "CPU per transaction of other systems, counted in another way", icon=":material/tune:"
    )
    with columns[0]:
        trends = [_resumption_tile(data, published)]
    with columns[1]:
        trends.append(_tls13_tile(data, published))
    with columns[2]:
        trends.append(_unprotected_tile(data))
    trends += _cpu_tiles(data, columns[3], others)
    rows = pa.concat_tables(trends)
    if rows.num_rows:
        title = f"Data of the trends ({rows.num_rows:,} rows)"
        folded(title, "overview-trends-data", lambda: grid(rows, "overview-trends"), ":material/table:")


def _share_tile(data: PageData, name: str, figure: KeyFigure, published: float | None = None) -> pa.Table:
    """Draw a percentage and its distance from a published one; returns the rows of its trend."""
    distance = None if published is None or figure.value is None else figure.value - published
    return _tile(data, name, "%", figure, number(figure.value, 1, "%"), distance)


def _time_tile(data: PageData, name: str, figure: KeyFigure, system: str = "") -> pa.Table:
    """Draw a number of microseconds, of one system or of all; returns the rows of its trend."""
    return _tile(data, name, "µs", figure, amount(figure.value, "us"), system=system)


def _missing(what: str, command: str) -> None:
    """Draw below a figure without data what it needs."""
    st.caption(f"Needs {what}:")
    st.code(command, language="sh", wrap_lines=True)


def _tile(
    data: PageData,
    name: str,
    unit: str,
    figure: KeyFigure,
    shown: str,
    distance: float | None = None,
    system: str = "",
) -> pa.Table:
    below = distance is not None and distance < 0
    compared = (
        None if distance is None else f"{abs(distance):.1f} points {'below' if below else 'above'} published"
    )
    title = f"{name}, {plain(system)}" if system else name
    tile(
        st.container(), data, title, shown, figure.source, delta=compared,
        delta_arrow="down" if below else "up", delta_color="blue",
        chart_data=figure.trend["value"].to_pylist() if figure.trend.num_rows > 1 else None,
        height=_HEIGHT_PX,
    )  # fmt: skip
    keys = {"number": name, "system": system or "all chosen", "unit": unit}
    columns = [pa.array([value] * figure.trend.num_rows, pa.string()) for value in keys.values()]
    return pa.table([*columns, *figure.trend.columns], [*keys, *figure.trend.column_names])


def _cpu_tiles(data: PageData, busiest: DeltaGenerator, others: DeltaGenerator) -> list[pa.Table]:
    """Draw the system with the most transactions in one place and the next ones in another."""
    ways = cpu_ways(data)
    way = _way(others, ways) if ways else ""
    by_system, left_out = cpu_by_system(data, way, 1 + _OTHER_SYSTEMS) if ways else ({}, 0)
    if not by_system:
        with busiest:
            trend = _time_tile(data, "CPU per transaction", NO_FIGURE)
            _missing(
                "CPU time and connections of the same system",
                "zscope ingest SMF.DUMP --select '70,119(2,11)'",
            )
        return [trend]
    (first, figure), *rest = by_system.items()
    title = TITLES[measure(way)]
    with busiest:
        trends = [_time_tile(data, title, figure, first)]
        rank = f" The system with most transactions of {len(by_system) + left_out}." if rest else ""
        st.caption(f"General-purpose processor time. Transactions counted by: {way}.{rank}")
        st.caption("Published results are changes between two runs, not levels: see the page Benchmark.")
        without_effect(figure.without_effect)
    if not rest:
        return trends
    with others:
        for column, (system, figure) in zip(st.columns(_OTHER_SYSTEMS), rest, strict=False):
            with column:
                trends.append(_time_tile(data, title, figure, system))
        hidden = f"{left_out} systems with fewer transactions are not shown. " if left_out else ""
        st.caption(f"{hidden}See the page CPU per transaction for more.")
    return trends


def _way(place: DeltaGenerator, ways: tuple[str, ...]) -> str:
    way: str = place.segmented_control(
        "Transactions counted by", ways, default=ways[0], required=True, key="overview_counted_by",
        bind="query-params", persist_state="session",
    )  # fmt: skip
    place.caption(f"{WAYS[way]} CPU time is that of the whole system, including other work.")
    return way


def _resumption_tile(data: PageData, published: Mapping[str, CitedResult]) -> pa.Table:
    """Draw the resumption rate next to the published one."""
    figure, reference = resumption(data), published.get(RESUMPTION)
    trend = _share_tile(data, "Resumption rate", figure, reference.value if reference else None)
    if figure.value is None:
        _missing(_DETAIL, _LOAD_DETAIL)
        return trend
    st.caption(f"Share of the resumed among the full and resumed handshakes in {handshake_records(data)}.")
    if reference:
        st.caption(
            f"Published: {plain(reference.as_printed)}, with TLSv1.3 and tickets cached across the sysplex "
            f"({plain(reference.where, _LONG)}). See the page Resumption."
        )
    without_effect(figure.without_effect)
    return trend


def _tls13_tile(data: PageData, published: Mapping[str, CitedResult]) -> pa.Table:
    """Draw the share of TLSv1.3 and its published cost."""
    (figure, source), cost = tls13(data), published.get(PRICE_OF_TLS13)
    trend = _share_tile(data, "TLSv1.3, of TLS connections", figure)
    if figure.value is None:
        _missing("records of TLS connections", "zscope ingest SMF.DUMP --select '119(2,11,12)'")
        return trend
    st.caption(f"By number of connections. Source: {plain(source)}.")
    if cost:
        more = "more" if cost.direction == "increase" else "less"
        st.caption(
            f"No target is published. Published cost: {plain(cost.as_printed)} {more} CPU per transaction "
            f"than TLSv1.2 ({plain(cost.where, _LONG)}). See the page Ciphers and versions."
        )
    without_effect(figure.without_effect)
    return trend


def _unprotected_tile(data: PageData) -> pa.Table:
    """Draw the share of unprotected connections."""
    figure, records = unprotected(data)
    trend = _share_tile(data, "Unprotected connections", figure)
    if figure.value is None:
        _missing("zERT records", "zscope ingest SMF.DUMP --select '119(11:12)'")
        return trend
    st.caption(f"Share without any protection that zERT recognizes, of {plain(records)}.")
    st.caption(
        "No figure is published. Every unprotected port should be a deliberate decision; the page Posture "
        "and certificates lists them."
    )
    without_effect(figure.without_effect)
    return trend


def findings_summary(data: PageData) -> None:
    """Draw the number of findings of each severity and the worst kinds with their remedy."""
    st.header("What to look at first")
    counts = by_severity(data)
    if not any(counts["findings"].to_pylist()):
        no_data(
            "There are no findings. Findings come from zERT summaries or connection details, and the "
            "certificates in them; without such records zscope cannot find anything.",
            "zscope ingest SMF.DUMP --select '119(11,12)'",
        )
        return
    left, right = st.columns([1, 3])
    with left:
        _severities(counts)
    with right:
        _worst(worst_kinds(data, _MOST_KINDS))
    without_effect(data.filters.without_effect(PLACE))


def _severities(counts: pa.Table) -> None:
    order = counts["mark"].to_pylist()
    base = alt.Chart(values(counts)).encode(
        y=alt.Y("mark:N", title=None, sort=order, axis=alt.Axis(labelFontSize=14)),
        x=alt.X(
            "findings:Q",
            title="Findings",
            axis=alt.Axis(tickMinStep=1, tickCount=4),
            scale=alt.Scale(domain=[0, 1.2 * max(counts["findings"].to_pylist())], nice=False),
        ),
        tooltip=[
            alt.Tooltip("severity:N", title="Severity"),
            alt.Tooltip("findings:Q", title="Findings", format=","),
        ],
    )
    bars = base.mark_bar(size=16).encode(
        color=alt.Color("severity:N", scale=colours(SEVERITY_COLOURS), legend=None)
    )
    numbers = base.mark_text(align="left", dx=4, color=SEVERITY_COLOURS["info"]).encode(
        text=alt.Text("findings:Q", format=",")
    )
    listed = ", ".join(f"{row['findings']:,} {row['severity']}" for row in counts.to_pylist())
    picture(
        alt.layer(bars, numbers, height=180), counts, "overview-severities",
        f"Findings of each severity, as bars: {listed}.",
    )  # fmt: skip
    st.caption("A finding is one kind of weakness on one system, port and job.")


def _worst(kinds: pa.Table) -> None:
    rows = kinds.to_pylist()
    st.table(
        {
            "Severity": [row["mark"].replace(" ", _FIXED_SPACE) for row in rows],
            "What": [plain(row["what"], _LONG) for row in rows],
            "Places": [f"{row['places']:,}" for row in rows],
            "Most connections at": [_place(row) for row in rows],
            "Remedy": [plain(row["remedy"], _LONG) for row in rows],
        },
        border="horizontal", hide_index=True, hide_header=False,
        alt=f"The {len(rows)} worst kinds of finding with their remedy.",
    )  # fmt: skip
    downloads(kinds, "overview-findings")
    st.caption(
        "The worst kinds of finding. The page Posture and certificates shows every place with its evidence."
    )


def _place(row: dict[str, Any]) -> str:
    parts = [row["system"], row["server_port"] and f"port {row['server_port']}", row["job_name"]]
    return plain(", ".join(str(part) for part in parts if part))


_LONGEST = 2000
STATEMENT_PAGES: dict[str, tuple[str, dict[str, str]]] = {
    "price": ("tls_price", {}),
    "saving": ("tls_price", {"tls_advice_of": "Rule"}),
    "exposure": ("posture", {"posture_part": "Protection"}),
    "old versions": ("posture", {"posture_part": "Protection"}),
    "certificates": ("posture", {"posture_part": "Certificates"}),
    "change": ("ranking", {}),
    "coverage": ("quality", {}),
    "runs": ("compare", {}),
}
"""The page with the evidence of each statement, and the parameters of its address."""


def sentences_section(data: PageData) -> None:
    """Draw the statements that are shown first, with a link below the last of each subject."""
    statements = data.found(STATEMENT, shown_sql("found")).to_pylist()
    with st.container(border=True):
        for subject, of_subject in groupby(statements, key=lambda each: each["subject"]):
            words, link = st.columns([4, 1], vertical_alignment="center")
            with words:
                for each in of_subject:
                    st.markdown(f"**{each['heading']}.** {plain(each['sentence'], _LONGEST)}")
                    if each["not_filtered_by"]:
                        st.caption(f"Not filtered by {each['not_filtered_by']}.")
            with link:
                name, parameters = STATEMENT_PAGES[subject]
                page_link(name, **parameters)
        st.caption("The same sentences: `zscope summary`; all of them: `zscope metrics statement`.")
