"""The rows of figures, from the data of a page or of a command."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from zscope.app.figures.evidence import evidence_of
from zscope.app.figures.figure_declarations import TIME, TIME_COLUMN, TITLE_COLUMN
from zscope.app.shared.far_times import far_texts, is_far
from zscope.pipelines.benchmark.wording import plain_title
from zscope.pipelines.metrics import metric
from zscope.schemas.published import published_tables
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from zscope.app.figures.evidence import FigureEvidence
    from zscope.app.figures.figure_data import FigureData
    from zscope.app.figures.figure_declarations import FigureDeclaration

Row = dict[str, Any]
_COUNT = "rows_in_all"
_HOURLY = timedelta(days=2)
_HOURLY_OF: Mapping[str, timedelta] = {"heat": timedelta(days=31), "lines": timedelta(days=8)}
"""Up to this length a figure over time has hours or intervals in UTC, otherwise local days, by its kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureRows:
    """The rows of a figure that are shown."""

    figure: FigureDeclaration
    rows: tuple[Row, ...]
    count: int
    """The number of all rows."""
    has_data: bool
    """Whether the metric or the tables have any rows for the filters, whatever the figure selects."""
    by: tuple[str, ...] | None = None
    where: str = ""
    hourly: bool = False
    """Whether the rows of a course of time are hours."""
    ignored: tuple[str, ...] = ()
    """The filters that are set but cannot narrow these rows."""
    compared_with: str = ""
    """What the other period is, if one is chosen and can narrow these rows."""
    others: tuple[Row, ...] = ()
    """The rows of the other period, at the times of the chosen one."""
    answer: str = ""
    """The declared sentence that answers the question, if a metric has one."""
    evidence: FigureEvidence | None = None
    """What the rows rest on; those of a query do not say it."""


def figure_rows(data: FigureData, figure: FigureDeclaration, filled: dict[str, bool]) -> FigureRows:
    """Return the rows of a figure; `filled` keeps which metrics have any rows, for the next figures."""
    if figure.query:
        return _of_query(data, figure)
    ignored = tuple(name for name in data.filters.chosen() if name in figure.not_filtered_by)
    data = data.without_filters(ignored)
    by, moment, hourly = _grouping(data, figure)
    where = _condition(data, figure)
    timed = f"(SELECT *, {moment} AS {TIME_COLUMN} FROM found)" if moment else "found"
    inner = f"SELECT {figure.select or ', '.join(figure.selected)} FROM {timed}"
    if figure.having:
        inner += f" WHERE {figure.having}"
    if figure.group_by:
        inner += f" GROUP BY {figure.group_by}"
    table = data.found(figure.metric, _limited(inner, figure), by, where)
    if table.num_rows:
        filled[figure.metric] = True
    elif not (figure.where or figure.having or figure.source or figure.group_by):
        filled[figure.metric] = False
    elif figure.metric not in filled:
        filled[figure.metric] = _has_rows(data, figure)
    rows = _titled(plain_rows(table), figure)
    other = None if "period" in data.without_effect(figure.metric) else data.other()
    is_compared = figure.chart is not None and figure.chart.is_compared
    return FigureRows(
        figure=figure,
        compared_with=data.filters.compared_with if other else "",
        others=_moved(data, other, figure) if other and is_compared else (),
        rows=tuple({name: row[name] for name in row if name != _COUNT} for row in rows),
        count=rows[0][_COUNT] if rows else 0,
        has_data=filled[figure.metric],
        by=by,
        where=where,
        hourly=hourly,
        ignored=(*data.without_effect(figure.metric), *ignored),
        answer=_answer(data, figure) if rows else "",
        evidence=evidence_of(data, figure.metric, where, by) if rows else None,
    )


def _answer(data: FigureData, figure: FigureDeclaration) -> str:
    """The sentence of the first declared answer that has a row."""
    for each in figure.answer:
        sql = f"SELECT {each.sentence} AS sentence FROM found ORDER BY {each.order} LIMIT 1"
        if said := data.found(each.metric, sql, where=each.where)["sentence"].to_pylist():
            return str(said[0])
    return ""


def _moved(data: FigureData, other: FigureData, figure: FigureDeclaration) -> tuple[Row, ...]:
    """The rows of the other period, at the times of the chosen one."""
    rows = figure_rows(other, figure, {}).rows
    time = figure.chart.time if figure.chart else ""
    if not time:
        return rows
    here, there = data.filters, other.filters
    assert here.begin is not None and there.begin is not None, "both periods begin"  # noqa: PT018
    days = here.first_day - there.first_day if here.first_day and there.first_day else None
    return tuple(row | {time: row[time] + (days or here.begin - there.begin)} for row in rows if row[time])


def _of_query(data: FigureData, figure: FigureDeclaration) -> FigureRows:
    """The rows of a query, for the chosen systems if it tells them apart."""
    conditions = data.filters.conditions(("system",) if "system" in figure.columns else ())
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    table = data.rows(_limited(f"SELECT {', '.join(figure.selected)} FROM ({figure.query}){where}", figure))
    rows = plain_rows(table)
    return FigureRows(
        figure=figure,
        rows=tuple({name: row[name] for name in figure.selected} for row in rows),
        count=rows[0][_COUNT] if rows else 0,
        has_data=bool(rows) or bool(data.rows("SELECT 1 FROM load LIMIT 1").num_rows),
    )


def _limited(inner: str, figure: FigureDeclaration) -> str:
    return (
        f"SELECT *, count(*) OVER () AS {_COUNT} FROM ({inner}) ORDER BY {figure.order} LIMIT {figure.most}"
    )


def _grouping(data: FigureData, figure: FigureDeclaration) -> tuple[tuple[str, ...] | None, str, bool]:
    """What the rows are grouped by, the column with the moment, and whether that is an hour."""
    if figure.by is None or TIME not in figure.by:
        return figure.by, "", False
    definition = metric(figure.metric)
    clock = definition.clock
    # Rows that cannot be combined are grouped by the figure itself.
    by = figure.by if definition.combinable else None
    [ends] = data.found(
        figure.metric, f"SELECT min({clock}) AS first, max({clock}) AS last FROM found", by and [clock]
    ).to_pylist()
    longest = _HOURLY_OF.get(figure.chart.kind if figure.chart else "", _HOURLY)
    hourly = ends["first"] is None or ends["last"] - ends["first"] < longest
    moment = clock if hourly else "day"
    return by and tuple(moment if key == TIME else key for key in by), moment, hourly


def _condition(data: FigureData, figure: FigureDeclaration) -> str:
    """The condition of the figure; of several sources of the same connections the one with the most."""
    if not figure.source:
        return figure.where
    listed = ", ".join(map(literal, figure.source))
    best = data.found(
        figure.metric,
        f"SELECT source FROM found WHERE source IN ({listed}) GROUP BY source "
        f"ORDER BY sum(connections) DESC NULLS LAST, list_position([{listed}], source) LIMIT 1",
    ).to_pylist()
    of_source = f"source = {literal(best[0]['source'] if best else figure.source[0])}"
    return f"{of_source} AND ({figure.where})" if figure.where else of_source


def _has_rows(data: FigureData, figure: FigureDeclaration) -> bool:
    return bool(data.found(figure.metric, "SELECT 1 AS one FROM found LIMIT 1").num_rows)


def plain_rows(table: pa.Table) -> list[Row]:
    """Return rows of Python values; moments that Python does not have are texts."""
    columns = {
        name: [value for chunk in table[name].chunks for value in _values(chunk)]
        for name in table.column_names
    }
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _values(chunk: pa.Array) -> list[object]:
    values: list[object] = far_texts(chunk).to_pylist() if is_far(chunk) else chunk.to_pylist()
    return values


def _titled(rows: list[Row], figure: FigureDeclaration) -> list[Row]:
    if not figure.titled:
        return rows
    titles = {
        result["id"]: plain_title(
            {**result, "published_value": result["value"], "published_direction": result["direction"]}
        )
        for result in published_tables()["reference_result"].to_pylist()
    }
    return [{**row, TITLE_COLUMN: titles.get(row[figure.titled])} for row in rows]
