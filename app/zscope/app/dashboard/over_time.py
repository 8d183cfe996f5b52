"""Charts over time: a marked range becomes the period, with the moments of changes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.dashboard.drawing import ZOOMED, Zoom
from zscope.app.dashboard.period import show_between, show_days
from zscope.app.dashboard.style import DAY, GREY, time_axis, time_tip, time_title, values
from zscope.app.dashboard.time_axis import drawn_at

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.style import Chart

_MOST_MARKS = 40
_LOAD = "load"


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
    """A chart over time, and the column of its data with the times."""

    chart: Chart
    clock: str


@dataclass(frozen=True, slots=True)
class MarkedChart:
    """A chart over time with the moments of changes, in which a range can be marked."""

    chart: Chart
    zoom: Zoom
    kinds: tuple[str, ...]
    """The kinds of changes that are marked."""

    @property
    def marks_in_words(self) -> str:
        """What is marked."""
        return f"▼ marks changes: {', '.join(self.kinds)}"


def marked_chart(data: PageData, over: ChartOverTime, table: pa.Table) -> MarkedChart:
    """Return a chart over time with what happened in its time."""
    marks = _marks(data, table, over.clock)
    layers = [over.chart, *([] if marks is None else _drawn_marks(marks, time_title(over.clock)))]
    drawn: Any = alt.layer(*layers) if marks is not None else over.chart
    return MarkedChart(
        drawn.add_params(_range()),
        Zoom(partial(show_marked, days=over.clock == DAY), (data.filters.begin, data.filters.end)),
        () if marks is None else tuple(sorted({str(kind) for kind in marks["kind"].to_pylist()})),
    )


def _range() -> alt.Parameter:
    return alt.selection_interval(name=ZOOMED, encodings=["x"])


def _marks(data: PageData, table: pa.Table, clock: str) -> pa.Table | None:
    """The changes within the times of a chart, if there are any."""
    times = [time for time in table[clock].to_pylist() if time is not None]
    if not times:
        return None
    found = changes(data, drawn_at(min(times)), drawn_at(max(times)))
    return found if found.num_rows else None


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
