"""Colours, shapes and axes that all charts share.

Colour never carries a meaning alone: a shape, a position or a word always says the same.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import altair as alt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from zscope.app.figures.figure_declarations import ColourName

Chart = alt.Chart | alt.LayerChart | alt.VConcatChart | alt.HConcatChart | alt.FacetChart
"""The chart classes of Altair, single and combined."""

BLUE, ORANGE, GREEN, RED = "#1a6fd1", "#c98015", "#12877b", "#d6455d"
SKY, PURPLE, GREY = "#63aef8", "#7c5cd6", "#8b98a7"
CATEGORIES = (BLUE, ORANGE, GREEN, PURPLE, SKY, RED, GREY)

PINK, VIOLET = "#c2185b", "#a678c8"
COLOURS: Mapping[ColourName, str] = {
    "blue": BLUE, "orange": ORANGE, "green": GREEN, "red": RED, "sky": SKY, "purple": PURPLE, "grey": GREY,
    "pink": PINK, "violet": VIOLET,
}  # fmt: skip
"""The colours by the names that declarations of figures use."""
PUBLISHED = PURPLE
"""What a colour means is the same on every page."""
SEVERITY_MARKS = {"high": "▲ high", "medium": "◆ medium", "low": "● low", "info": "○ info"}
"""Severities with a shape before the word, for tables."""

_TEXT = {"light": "#555867", "dark": "#bdc1cb"}
"""Colours of text: 7:1 on white, 10:1 on the dark page."""
DAY = "day"
"""Column with a local day."""
_CLOCK = {
    "minutes": "%H:%M", "hours": "%H:%M", "day": "%d %b", "date": "%d %b", "week": "%d %b", "month": "%b %Y",
}  # fmt: skip
"""Labels of a time axis by the unit that changes at the tick, with a 24-hour clock."""


def values(table: pa.Table) -> alt.InlineData:
    """Return the rows of a chart; times are moments in UTC, whatever the time zone of the browser."""
    # A tuple: Altair copies lists, row by row, each time something is added to a chart.
    return alt.InlineData(tuple(plain_rows(table)))


def plain_rows(table: pa.Table) -> list[dict[str, Any]]:
    """Return the rows of a table with values that JSON has."""
    return [{name: _plain(value) for name, value in row.items()} for row in table.to_pylist()]


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat() if value.tzinfo else value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and value != value:  # noqa: PLR0124 - JSON has no NaN
        return None
    return value


def time_axis(column: str, title: str = "", **more: Any) -> alt.X:  # noqa: ANN401 - Altair's own
    """Return a horizontal axis of moments in UTC, or of local days if the column is `DAY`."""
    title = title or time_title(column)
    # Between two days there is nothing to label, and labels of days say that they are days.
    days = alt.TimeIntervalStep(interval="day", step=1)
    is_daily = title == time_title(DAY)
    axis = alt.Axis(format=_CLOCK, labelOverlap=True, tickCount=days if is_daily else alt.Undefined)
    shown = None if is_daily else title
    return alt.X(f"{column}:T", title=shown, scale=alt.Scale(type="utc"), axis=axis, **more)


def time_tip(column: str, title: str = "") -> alt.Tooltip:
    """Return a tooltip with a moment in UTC, or with a local day if the column is `DAY`."""
    # Vega formats in the time zone of the browser unless the time unit is a UTC unit.
    tip = alt.Tooltip(f"{column}:T", title=title or time_title(column))
    return tip.timeUnit("utcyearmonthdate" if column == DAY else "utcyearmonthdatehoursminutes")


def time_title(column: str) -> str:
    """Return the title of a time axis with the times of a column."""
    return "Day" if column == DAY else "Time (UTC)"


def colours(known: Mapping[str, str]) -> alt.Scale:
    """Return the scale of values with fixed colours."""
    return alt.Scale(domain=list(known), range=list(known.values()))


def spread_colours(names: Sequence[str]) -> alt.Scale:
    """Return the scale of values that differ from store to store, in the order given."""
    return alt.Scale(domain=list(names), range=[CATEGORIES[n % len(CATEGORIES)] for n in range(len(names))])


def text_colours(theme: str) -> dict[str, Any]:
    """Return the configuration of a chart with text that has enough contrast on a light or dark page."""
    colour = _TEXT[theme if theme in _TEXT else "light"]
    labels = {"labelColor": colour, "titleColor": colour}
    return {
        "axis": labels, "legend": labels, "header": labels, "title": {"color": colour},
        "text": {"color": colour},
    }  # fmt: skip


def reference_line(value: float, words: str) -> list[alt.Chart]:
    """Return a horizontal line at a published value with its label, to be layered over a chart."""
    row = alt.InlineData([{"value": value, "words": words}])
    rule = alt.Chart(row).mark_rule(strokeDash=[6, 4], color=PUBLISHED).encode(y=alt.Y("value:Q"))
    text = (
        alt.Chart(row)
        .mark_text(align="left", dx=4, dy=-6)
        .encode(y=alt.Y("value:Q"), x=alt.value(0), text=alt.Text("words:N"))
    )
    return [rule, text]
