"""The figures at the top of the overview: one number each, with its course over time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from zscope.app.dashboard.amounts import amount, between
from zscope.app.dashboard.drawing import number
from zscope.app.dashboard.protection_records import (
    POSTURE,
    of_records,
    protection_records,
    records_named,
)
from zscope.app.dashboard.tiles import MetricFigure
from zscope.app.dashboard.time_axis import drawn_at, span
from zscope.app.figures.evidence import COUNTED, SIGNS, evidence_of
from zscope.app.figures.figure_declarations import declared_figures
from zscope.app.figures.figure_rows import figure_rows
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.page_data import PageData

_COUNTED_ONCE = ("each connection once", "zERT summary")
"""Sources that count no connection twice, the better one first."""
_QUANTITIES = {"resumed_pct": "resumed handshakes", "tls13_pct": "TLSv1.3"}
"""The quantities of period_difference by the columns that they are about."""
_HOURLY = timedelta(days=31)
"""Up to this length a trend has a point for each hour, otherwise for each day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFigure:
    """A figure of the overview; `shown` is n/a without data."""

    title: str
    shown: str
    words: str
    """What it is of, or which records it needs."""
    note: str = ""
    """What it rests on, in a few words."""
    trend: tuple[float, ...] = ()
    """Its value in each hour or day."""
    without_effect: tuple[str, ...] = ()
    """Filters that are set but do not narrow it."""
    source: MetricFigure | None = None
    """Where the value comes from."""
    quantity: str = ""
    """The quantity of period_difference that it shows, if there is one."""


def cost(data: PageData) -> KeyFigure:
    """Return what TLS costs all systems together: the sum of their bounds."""
    title, figure = "TLS CPU cost, a day", declared_figures()["price-in-all"]
    found = figure_rows(data, figure, {})
    if not found.rows or not found.rows[0]["known"]:
        return KeyFigure(title=title, shown="n/a", words="Needs zERT records and CPU time of the same time.")
    [row] = found.rows
    where = f"{figure.where} AND high_cpu_s_per_day IS NOT NULL"
    days = data.found(
        "tls_price_day",
        "SELECT day, if(count(*) = count(high_cpu_s_per_day), sum(high_cpu_s_per_day), NULL) AS high "
        "FROM found GROUP BY day",
    )  # fmt: skip
    return KeyFigure(
        title=title,
        shown=between(amount(row["low_cpu_s_per_day"], "s"), amount(row["high_cpu_s_per_day"], "s")),
        words="CPU time of general-purpose processors: the sum over the systems with a known cost.",
        note=replace(found.evidence, sources=()).words if found.evidence else "",
        trend=_trend(days, "day", "high"),
        without_effect=found.ignored,
        source=MetricFigure(figure.metric, "sum(high_cpu_s_per_day)", (), where),
        quantity="TLS cost",
    )


def resumption(data: PageData) -> KeyFigure:
    """Return the share of resumed handshakes among the full and resumed ones in zERT records."""
    needs = "Needs zERT connection details (SMF 119-11)."
    words = "Share of the resumed among the full and resumed handshakes in zERT details."
    return _share(data, "Resumed", "handshake_mix", "resumed_pct", words, needs)


def tls13(data: PageData) -> KeyFigure:
    """Return the share of TLSv1.3 among TLS connections, of one source."""
    name, column = "protocol_distribution", "tls13_pct"
    shares = {row["source"]: row[column] for row in data.metric(name, ["source"]).to_pylist()}
    # The records that count for the most connections come first.
    first = [records["source"] for records in protection_records(data)[:1]]
    known = [source for source in (*first, *_COUNTED_ONCE) if shares.get(source) is not None]
    source = known[0] if known else _COUNTED_ONCE[0]
    words = f"Share of the TLS connections. Source: {source}."
    needs = "Needs records of TLS connections (SMF 119-2, 119-11 or 119-12)."
    return _share(data, "TLSv1.3", name, column, words, needs, f"source = {literal(source)}")


def unprotected(data: PageData) -> KeyFigure:
    """Return the share of connections without protection, of the records with the most connections."""
    title, needs = "Unprotected", "Needs zERT records (SMF 119-11 or 119-12)."
    every = protection_records(data)
    if not every:
        return KeyFigure(title=title, shown="n/a", words=needs)
    words = f"Share without recognized cryptographic protection, in {records_named(every[0])}."
    return _share(data, title, POSTURE, "unprotected_pct", words, needs, of_records(every[0]))


def next_certificate(data: PageData) -> KeyFigure:
    """Return the days until the next certificate ends."""
    title, name = "Next certificate", "certificate_inventory"
    [row] = data.found(
        name,
        "SELECT min(not_after_utc) AS ends, arg_min(subject_dn, not_after_utc) AS subject FROM found "
        "WHERE days_left >= 0",
    ).to_pylist()
    source = MetricFigure(name, "strftime(min(not_after_utc), '%Y-%m-%d')", (), "days_left >= 0")
    if row["ends"] is None:
        return KeyFigure(title=title, shown="n/a", words="Needs zERT records with certificates.")
    return KeyFigure(
        title=title,
        shown=f"{row['ends']:%Y-%m-%d}",
        words=f"The first that ends after the newest record with a certificate: {row['subject']}.",
        note=_rests_on(data, name, "days_left >= 0"),
        without_effect=data.without_effect(name),
        source=source,
    )


def _share(
    data: PageData, title: str, name: str, column: str, words: str, needs: str, of_source: str = ""
) -> KeyFigure:
    """A percentage of a metric, of a source if it has several: for the whole period, and over time."""
    [value] = data.metric(name, [], where=of_source)[column].to_pylist() or [None]
    if value is None:
        return KeyFigure(title=title, shown="n/a", words=needs)
    moment = span(data, _HOURLY)
    table = data.metric(name, [moment], where=of_source)
    figure = MetricFigure(name, column, ("source",), of_source) if of_source else MetricFigure(name, column)
    return KeyFigure(
        title=title,
        shown=number(value, 1, "%"),
        words=words,
        note=_rests_on(data, name, of_source),
        trend=_trend(table, moment, column),
        without_effect=data.without_effect(name),
        source=figure,
        quantity=_QUANTITIES.get(column, ""),
    )


def _rests_on(data: PageData, name: str, where: str) -> str:
    """Return the evidence of a metric as text. The kind is omitted if it is `counted`."""
    return evidence_of(data, name, where).words.removeprefix(f"{SIGNS[COUNTED]} {COUNTED} · ")


def _trend(table: pa.Table, moment: str, column: str) -> tuple[float, ...]:
    rows = [row for row in table.select([moment, column]).to_pylist() if None not in row.values()]
    return tuple(row[column] for row in sorted(rows, key=lambda row: drawn_at(row[moment])))
