"""Charts over time: a marked range becomes the period, with the period before and the moments of changes.

The period before has the length of the chosen period and ends where that begins; it is drawn as light lines
at the times of the chosen period. If all days are shown, there is none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import ZOOMED, ChartWithRows, Zoom, picture
from zscope.app.dashboard.period import show_between, show_days
from zscope.app.dashboard.style import DAY, GREY, time_axis, time_tip, time_title, values
from zscope.app.dashboard.time_axis import drawn_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.style import Chart

_BEFORE = "period before"
_MOST_MARKS = 40
_LOAD = "load"
_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class LinesBefore:
    """The period before, as light lines."""

    rows: pa.Table
    """Its rows, at the times of the chosen period."""
    encodings: dict[str, Any]
    """Those of the chart: x, y, color, detail."""
    labelled: bool = True
    """Whether the legend has an entry for it."""

    def chart(self) -> alt.Chart:
        """Return the lines, with their own entry in the legend."""
        legend = (
            alt.Legend(symbolStrokeColor=GREY, symbolType="stroke", orient="top") if self.labelled else None
        )
        dashed = alt.StrokeDash(
            "period:N", title=None, scale=alt.Scale(domain=[_BEFORE], range=[[4, 3]]), legend=legend
        )
        chart: alt.Chart = (
            alt.Chart(values(self.rows))
            .transform_calculate(period=f"'{_BEFORE}'")
            .mark_line(strokeWidth=1.5, opacity=0.6, color=GREY)
            .encode(**self.encodings, strokeDash=dashed)
        )
        return chart


def rows_before(
    data: PageData, rows: Callable[[PageData], pa.Table], *clocks: str, daily: bool = False
) -> pa.Table | None:
    """Return the rows of the period before at the times of the chosen one; None if there is none.

    `clocks` are the columns with times. Days stay days: then the shift is a whole number of them.
    """
    begin, end, earlier = data.filters.begin, data.filters.end, data.filters.before()
    if begin is None or end is None or earlier is None:
        return None
    length = end - begin
    if data.filters.first_day and data.filters.last_day:
        length = data.filters.last_day - data.filters.first_day + _ONE_DAY
    elif daily:
        length = -(-length // _ONE_DAY) * _ONE_DAY
    table = rows(replace(data, filters=earlier))
    if not table.num_rows or not set(clocks) <= set(table.column_names):
        # Intervals are few enough to be drawn, days not, or the other way around.
        return None
    shift = pa.scalar(length, pa.duration("us"))
    for clock in clocks:
        field = table.schema.field(clock)
        zone = getattr(field.type, "tz", None)  # days have none
        moved = pc.add(table[clock].cast(pa.timestamp("us", zone)), shift).cast(field.type)
        table = table.set_column(table.column_names.index(clock), clock, moved)
    return table


def changes(data: PageData, first: datetime, last: datetime) -> pa.Table:
    """Return the loads, and the changes of the policy, release, capacity and cipher suites, of a time.

    Columns: moment, kind, words. Records do not show an IPL.
    """
    # One result for all charts and filters: the metric reads much, and returns little.
    every = data.rows(
        "SELECT system, changed_utc AS moment, changed AS kind, concat_ws(': ', system, change) AS words "
        "FROM cost_change_point"
    )
    during = pc.and_(pc.greater_equal(every["moment"], first), pc.less_equal(every["moment"], last))
    if data.filters.systems:
        during = pc.and_(during, pc.is_in(every["system"], pa.array(data.filters.systems)))
    loads = data.rows(f"""
        SELECT time_bucket(INTERVAL 1 HOUR, started_utc) AS moment, '{_LOAD}' AS kind,
            concat(count(*), if(count(*) = 1, ' file, ', ' files, '), sum(rows), ' rows') AS words
        FROM load
        WHERE status = 'loaded' AND started_utc BETWEEN {_literal(first)} AND {_literal(last)}
        GROUP BY 1
        ORDER BY moment LIMIT {_MOST_MARKS}
    """)
    found = pa.concat_tables([every.filter(during).drop_columns(["system"]), loads])
    return found.sort_by([(name, "ascending") for name in found.column_names]).slice(0, _MOST_MARKS)


def _literal(moment: datetime) -> str:
    return f"TIMESTAMPTZ '{moment.astimezone(UTC).isoformat()}'"


@dataclass(frozen=True, slots=True)
class ChartOverTime:
    """A chart over time, the column of its data with the times, and the period before."""

    chart: Chart | ChartWithRows
    clock: str
    before: LinesBefore | None = None
    title: str = ""
    """That of the time axis, if it does not follow from the column."""


@dataclass(frozen=True, slots=True)
class MarkedChart:
    """A chart over time with the moments of changes, in which a range can be marked."""

    chart: Chart | ChartWithRows
    zoom: Zoom
    kinds: tuple[str, ...]
    """The kinds of changes that are marked."""

    @property
    def marks_in_words(self) -> str:
        """What is marked."""
        return f"▼ marks changes: {', '.join(self.kinds)}"

    def name_marks(self) -> None:
        """Say what is marked."""
        if self.kinds:
            st.caption(self.marks_in_words)


def marked_chart(data: PageData, over: ChartOverTime, table: pa.Table) -> MarkedChart:
    """Return a chart over time with what happened in its time."""
    marks, title = _marks(data, table, over.clock), over.title or time_title(over.clock)
    rows = over.chart.rows if isinstance(over.chart, ChartWithRows) else None
    drawn = over.chart.chart if isinstance(over.chart, ChartWithRows) else over.chart
    if isinstance(drawn, alt.VConcatChart):
        # A range can be marked in the first of several panels.
        first, *others = (_layered(part, None, marks, title) for part in drawn.vconcat)
        whole = drawn.copy()
        whole.vconcat = [first.add_params(_range()), *others]
    else:
        whole = _layered(drawn, over.before, marks, title).add_params(_range())
    return MarkedChart(
        whole if rows is None else ChartWithRows(whole, rows),
        Zoom(partial(show_marked, days=over.clock == DAY), (data.filters.begin, data.filters.end)),
        () if marks is None else tuple(sorted({str(kind) for kind in marks["kind"].to_pylist()})),
    )


def picture_over_time(
    data: PageData,
    over: ChartOverTime,
    table: pa.Table,
    name: str,
    alternative: str,
    sources: Sequence[str] = (),
) -> None:
    """Draw a chart over time with its data."""
    marked = marked_chart(data, over, table)
    picture(marked.chart, table, name, alternative, sources=sources, zoom=marked.zoom)
    marked.name_marks()


def _range() -> alt.Parameter:
    return alt.selection_interval(name=ZOOMED, encodings=["x"])


def _marks(data: PageData, table: pa.Table, clock: str) -> pa.Table | None:
    """The changes within the times of a chart, if there are any."""
    times = [time for time in table[clock].to_pylist() if time is not None]
    if not times:
        return None
    found = changes(data, drawn_at(min(times)), drawn_at(max(times)))
    return found if found.num_rows else None


def _layered(chart: Any, before: LinesBefore | None, marks: pa.Table | None, title: str) -> Any:  # noqa: ANN401 - the classes of Altair
    layers = [chart]
    if before is not None:
        layers.append(before.chart())
    if marks is not None:
        layers += _drawn_marks(marks, title)
    return alt.layer(*layers) if len(layers) > 1 else chart


def _drawn_marks(marks: pa.Table, title: str) -> list[alt.Chart]:
    """Vertical lines with a triangle at the top; a chart has one title for the times of all its layers."""
    tips = [time_tip("moment"), alt.Tooltip("kind:N", title="Change"), alt.Tooltip("words:N", title="What")]
    base = alt.Chart(values(marks)).encode(x=time_axis("moment", title), tooltip=tips)
    rule = base.mark_rule(color=GREY, strokeDash=[2, 3])
    top = base.mark_point(shape="triangle-down", filled=True, size=90, color=GREY, opacity=1)
    return [rule, top.encode(y=alt.value(5))]


def show_marked(marked: dict[str, Any], *, days: bool = False) -> None:
    """Make the range that the reader has marked in a chart the period.

    On an axis of `days`, the period is of all days that the range touches.
    """
    for ends in marked.values():
        if not isinstance(ends, list) or not all(isinstance(end, int | float) for end in ends):
            continue
        begin, end = (_of_milliseconds(end) for end in (min(ends), max(ends)))
        if end > begin and days:
            show_days(begin.date(), (end - timedelta(microseconds=1)).date())
        elif end > begin:
            show_between(begin, end)


def _of_milliseconds(milliseconds: float) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
