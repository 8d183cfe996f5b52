"""Crypto cards and ICSF services: number of operations, their duration, and how busy the cards were.

SMF 70 records count operations and their time; RMF reports contain rates. If both cover an interval, the
records are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import ROWS, ChartWithRows, clean, folded, grid, no_data, picture, with_rows
from zscope.app.dashboard.over_time import ChartOverTime, LinesBefore, picture_over_time, rows_before
from zscope.app.dashboard.pages.cpu.partitions import START
from zscope.app.dashboard.style import spread_colours, time_axis, time_tip, values
from zscope.app.dashboard.time_axis import PIECE, STEPS, in_pieces

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.style import Chart
    from zscope.app.dashboard.time_axis import Span


_COLUMNS = ("system",)
_CLOCK = "start_utc"
_MOST_ROWS = 3_000
_MOST_CARDS = 7
_MOST_SERVICES = 20
_ENGINES = 5
_TOTAL = "total"
_BY_ENGINE = {"me_1024": 128, "me_2048": 64, "crt_1024": 32, "crt_2048": 16}
"""RSA operations that an accelerator counts by engine, with the bit that marks them as counted."""
_LARGE = {"me_4096": 8, "crt_4096": 4}
_PKCS11 = {
    "slow_asymmetric": 128, "fast_asymmetric": 64, "symmetric_partial": 32, "symmetric_complete": 16,
    "asymmetric_key_generation": 8,
}  # fmt: skip
_CODES = {"cca": "cca_card", "accelerator": "accelerator_card", "pkcs11": "pkcs11_card"}


@dataclass(frozen=True, slots=True)
class CardsOverTime:
    """The rows of the charts of cards over time."""

    rows: pa.Table
    clock: Span
    shown: tuple[str, ...]
    left_out: int
    """Number of less busy cards that are not shown."""


def scopes(data: PageData) -> tuple[str, ...]:
    """Return the scopes of the counts: this system, the whole machine, or not known."""
    table = data.rows(f"{_cards(data)} SELECT DISTINCT scope FROM card ORDER BY scope = 'CPC', scope")
    return tuple(table["scope"].to_pylist())


def by_card(data: PageData, scope: str) -> pa.Table:
    """Return rate, duration and busy percentage of each card and operation."""
    return data.rows(f"""
        {_cards(data)}
        SELECT {_LABEL} AS card, system, unit_kind, operation, scope, {_FIGURES}, count(*) AS intervals
        FROM card WHERE scope = ?
        GROUP BY ALL
        ORDER BY card, operation
    """, [scope])  # fmt: skip


def over_time(data: PageData, scope: str) -> CardsOverTime:
    """Return the operations of the busiest cards in each hour, or in each day if hours are too many."""
    clock: Span = "hour_utc"
    table = _stepped(data, scope, clock)
    if table.num_rows > _MOST_ROWS:
        clock = "day"
        table = _stepped(data, scope, clock)
    work: dict[str, float] = {}
    for row in table.select(["card", "operations_per_s"]).to_pylist():
        work[row["card"]] = work.get(row["card"], 0) + (row["operations_per_s"] or 0)
    busiest = sorted(work, key=lambda card: (-work[card], card))
    shown = tuple(sorted(busiest[:_MOST_CARDS]))
    rows = table.filter([name in shown for name in table["card"].to_pylist()])
    pieces = in_pieces(rows, ("card",), clock, STEPS[clock])
    return CardsOverTime(pieces, clock, shown, len(busiest) - len(shown))


def _stepped(data: PageData, scope: str, clock: Span) -> pa.Table:
    time = "day" if clock == "day" else f"time_bucket(INTERVAL 1 HOUR, start_utc) AS {clock}"
    return data.rows(f"""
        {_cards(data)}
        SELECT {_LABEL} AS card, system, unit_kind, {time}, {_FIGURES}
        FROM card WHERE scope = ? AND operation = '{_TOTAL}' AND start_utc IS NOT NULL
        GROUP BY ALL
    """, [scope])  # fmt: skip


def services(data: PageData) -> pa.Table:
    """Return the ICSF services with the most calls per second."""
    return data.rows(f"""
        WITH record AS (
            SELECT DISTINCT * EXCLUDE (load_id), {START} AS start_utc FROM smf70_icsf
        ),
        called AS (
            UNPIVOT (
                SELECT system, start_utc, interval_start_local, interval_ms, COLUMNS('.*_calls') FROM record
            ) ON COLUMNS('.*_calls') INTO NAME service VALUE calls
        ),
        counted AS (
            SELECT system, replace(replace(service, '_calls', ''), '_', ' ') AS service, start_utc,
                interval_ms / 1000 AS seconds, calls
            FROM called
            UNION ALL BY NAME
            SELECT system, operation AS service, interval_start_utc AS start_utc,
                interval_ms / 1000 AS seconds, operation_rate * interval_ms / 1000 AS calls
            FROM rmf_crypto AS r
            WHERE unit_kind = 'icsf' AND NOT EXISTS (
                FROM smf70_icsf AS s WHERE s.system = r.system
                AND abs(epoch(s.interval_start_local) - epoch(r.interval_start_local)) < 2
            )
        ),
        rate AS (
            SELECT system, service, sum(calls) / nullif(sum(seconds), 0) AS calls_per_s, sum(calls) AS calls
            FROM counted {data.where(_COLUMNS, _CLOCK, "calls IS NOT NULL")}
            GROUP BY system, service HAVING calls > 0
        )
        FROM rate
        WHERE service IN (
            SELECT service FROM rate GROUP BY service
            ORDER BY max(calls_per_s) DESC NULLS LAST, service LIMIT {_MOST_SERVICES}
        )
        ORDER BY calls_per_s DESC, system, service
    """)  # fmt: skip


_LABEL = "concat_ws(' ', system, card_type, card_id)"
_FIGURES = """
    sum(operations) / nullif(sum(seconds) FILTER (operations IS NOT NULL), 0) AS operations_per_s,
    1000 * sum(busy_s) / nullif(sum(operations) FILTER (busy_s IS NOT NULL), 0) AS execution_ms,
    100 * sum(used_s) / nullif(sum(seconds) FILTER (used_s IS NOT NULL), 0) AS busy_pct
"""


def _cards(data: PageData) -> str:
    """The begin of a statement: a row for each card, operation and interval."""
    by_engine = [_figure(name, bit, _engines(name, "count"), _engines(name, "time_raw"))
                 for name, bit in _BY_ENGINE.items()]  # fmt: skip
    functions = [_figure(name, bit, f"{name}_count", f"{name}_time_raw") for name, bit in _PKCS11.items()]
    large = [_figure(name, bit, f"{name}_count", f"{name}_time_raw") for name, bit in _LARGE.items()]
    cca = [
        _figure(_TOTAL, 128, "all_operations_count", "all_operations_time_raw"),
        _figure("rsa_key_generation", 64, "rsa_key_generation_count", "NULL"),
    ]
    return f"""
        WITH figure AS (
            SELECT * EXCLUDE (engines), busy_s / engines AS used_s FROM (
                {_records("smf70_crypto_cca", "cca", cca)}
                UNION ALL
                {_records("smf70_crypto_accel", "accelerator", [*by_engine, *large], "engine_count")}
                UNION ALL
                {_records("smf70_crypto_pkcs11", "pkcs11", functions)}
            )
        ),
        recorded AS (
            SELECT * FROM figure
            UNION ALL BY NAME
            SELECT * EXCLUDE (operation, operations, busy_s, used_s), '{_TOTAL}' AS operation,
                sum(operations) AS operations, sum(busy_s) AS busy_s, sum(used_s) AS used_s
            FROM figure WHERE unit_kind <> 'cca' GROUP BY ALL
        ),
        reported AS (
            SELECT system, interval_start_utc AS start_utc, interval_start_local::DATE AS day,
                interval_ms / 1000 AS seconds, unit_kind,
                card_type_name AS card_type, card_id,
                CASE crypto_scope_name WHEN 'LPAR' THEN 'this system' WHEN 'CPC' THEN 'whole CPC'
                    ELSE 'not known' END AS scope,
                operation, operation_rate * interval_ms / 1000 AS operations,
                operation_rate * interval_ms / 1000 * execution_ms / 1000 AS busy_s,
                utilisation_pct / 100 * interval_ms / 1000 AS used_s
            FROM rmf_crypto AS r
            WHERE unit_kind IN ('cca', 'accelerator', 'pkcs11') AND NOT EXISTS (
                FROM figure AS f WHERE f.system = r.system
                AND abs(epoch(f.interval_start_local) - epoch(r.interval_start_local)) < 2
            )
            QUALIFY row_number() OVER (
                PARTITION BY system, interval_start_local, interval_start_utc, unit_kind, card_id, scope,
                    operation
                ORDER BY interval_ms, source DESC, file, line_no
            ) = 1
        ),
        card AS (
            SELECT * FROM (
                SELECT * EXCLUDE (interval_start_local), interval_start_local::DATE AS day FROM recorded
                UNION ALL BY NAME SELECT * FROM reported
            )
            {data.where(_COLUMNS, _CLOCK)}
        )
    """


def _records(table: str, kind: str, figures: list[str], engines: str = "1") -> str:
    """The figures in the records of one kind of cards."""
    return f"""
        SELECT system, start_utc, interval_start_local, interval_ms / 1000 AS seconds, '{kind}' AS unit_kind,
            coalesce(c.text, '{kind}') AS card_type, card_index::VARCHAR AS card_id,
            CASE scope WHEN 1 THEN 'this system' WHEN 0 THEN 'whole CPC' ELSE 'not known' END AS scope,
            greatest({engines}, 1) AS engines, unnest([{", ".join(figures)}], recursive := true)
        FROM (SELECT DISTINCT * EXCLUDE (load_id), {START} AS start_utc FROM {table}) AS r
        LEFT JOIN code_{_CODES[kind]} AS c ON r.card_type = c.code
    """


def _figure(name: str, bit: int, count: str, raw: str) -> str:
    """Number and time of an operation, if the record marks them as counted."""
    return f"""{{'operation': '{name.replace("_", " ")}',
        'operations': CASE WHEN validity_flags & {bit} > 0 THEN ({count})::DOUBLE END,
        'busy_s': CASE WHEN validity_flags & {bit} > 0 THEN (({raw}) * scaling_factor)::DOUBLE END}}"""


def _engines(name: str, what: str) -> str:
    """The sum over the engines of an accelerator; the record has fields for more engines than exist."""
    return " + ".join(
        f"CASE WHEN engine_count >= {n} THEN coalesce(engine_{n}_{name}_{what}, 0) ELSE 0 END"
        for n in range(1, _ENGINES + 1)
    )


_COMMAND = "zscope ingest SMF.DUMP --select '70(2)'"
_PANELS = {
    "operations_per_s": "Operations per second",
    "execution_ms": "Time of one operation (ms)",
    "busy_pct": "Card busy (%)",
}


def cards_section(data: PageData) -> None:
    """Draw the operations of crypto cards over time."""
    st.header("Crypto cards")
    known = scopes(data)
    if not known:
        no_data(
            "There are no crypto cards. They come from SMF 70 subtype 2 records or from Crypto Hardware "
            "Activity reports of RMF.",
            _COMMAND,
        )
        return
    scope = known[0]
    if len(known) > 1:
        scope = st.segmented_control(
            "Work of", known, default=known[0], required=True, key="cpu_crypto_scope",
            bind="query-params", persist_state="session",
        )  # fmt: skip
    cards = over_time(data, scope)
    if cards.rows.num_rows:
        before = rows_before(
            data, lambda earlier: over_time(earlier, scope).rows, cards.clock, daily=cards.clock == "day"
        )
        picture_over_time(
            data,
            ChartOverTime(_panels(cards, before), cards.clock),
            cards.rows,
            "crypto-cards-over-time",
            "Operations per second, time of one operation, and busy percentage of each crypto card over "
            "time, one below the other.",
        )
    each = cards.clock.removesuffix("_utc")
    hidden = f" {cards.left_out} less busy cards are not drawn." if cards.left_out else ""
    st.caption(
        f"Work counted: {clean(scope)}. Each point is the mean of one {each}; a line breaks off where data "
        "is "
        f"missing. An accelerator with several engines is busy when all of them are.{hidden}"
    )
    folded("Each card and operation", "crypto-cards-data", lambda: grid(by_card(data, scope), "crypto-cards"))


def _panels(cards: CardsOverTime, before: pa.Table | None) -> ChartWithRows:
    charts = []
    tips = [alt.Tooltip(f"{name}:Q", title=title, format=",.3f") for name, title in _PANELS.items()]
    for measure, title in _PANELS.items():
        first, last = measure == "operations_per_s", measure == "busy_pct"
        legend = alt.Legend(orient="top", labelLimit=240) if first else None
        encodings = {
            "x": time_axis(cards.clock) if last else time_axis(cards.clock).axis(None),
            "y": alt.Y(f"{measure}:Q", title=title, axis=alt.Axis(tickCount=4), scale=alt.Scale(zero=True)),
            "color": alt.Color("card:N", title="Card", scale=spread_colours(cards.shown), legend=legend),
            "detail": alt.Detail(f"{PIECE}:N"),
        }
        lines = (
            alt.Chart(ROWS, height=130)
            .mark_line(point=alt.OverlayMarkDef(size=20), strokeWidth=1.4)
            .encode(
                **encodings,
                shape=alt.Shape("card:N", title="Card", legend=legend,
                                scale=alt.Scale(domain=list(cards.shown))),
                tooltip=[alt.Tooltip("card:N", title="Card"), time_tip(cards.clock), *tips],
            )
        )  # fmt: skip
        if before is not None and before.num_rows:
            shown = before.filter(pc.field("card").isin(pa.array(cards.shown, pa.string())))
            lines = alt.layer(lines, LinesBefore(shown, encodings, labelled=first).chart())
        charts.append(lines)
    chart: Chart = alt.vconcat(*charts, spacing=10).resolve_scale(
        x="shared", color="independent", shape="independent", strokeDash="independent"
    )
    return with_rows(chart, cards.rows, cards.rows.column_names)


def services_section(data: PageData) -> None:
    """Draw the calls of ICSF services."""
    st.header("ICSF services")
    table = services(data)
    if not table.num_rows:
        no_data(
            "There are no ICSF calls. They come from SMF 70 subtype 2 records or from Crypto Hardware "
            "Activity "
            "reports of RMF.",
            _COMMAND,
        )
        return
    picture(
        _services(table), table, "icsf-services",
        "Calls per second of the ICSF services with the most calls, by system, as dots.",
    )  # fmt: skip
    st.caption(
        "Mean calls per second of the period, for the services with the most calls. A service can run on a "
        "crypto card or on the processors of the system."
    )


def _services(table: pa.Table) -> Chart:
    systems = sorted(set(table["system"].to_pylist()))
    chart: Chart = (
        alt.Chart(values(table))
        .mark_point(filled=True, size=60)
        .encode(
            x=alt.X("calls_per_s:Q", title="Calls per second (logarithmic)", scale=alt.Scale(type="log")),
            y=alt.Y("service:N", title="Service", sort="-x",
                    axis=alt.Axis(labelOverlap=False, labelLimit=260, grid=True)),
            color=alt.Color("system:N", title="System", scale=spread_colours(systems)),
            shape=alt.Shape("system:N", title="System", scale=alt.Scale(domain=systems)),
            tooltip=[
                alt.Tooltip("system:N", title="System"), alt.Tooltip("service:N", title="Service"),
                alt.Tooltip("calls_per_s:Q", title="Calls per second", format=",.3f"),
                alt.Tooltip("calls:Q", title="Calls", format=",.0f"),
            ],
        )
        .properties(height=alt.Step(18))
    )  # fmt: skip
    return chart
