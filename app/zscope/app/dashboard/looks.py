"""Colours, shapes and axes that all pictures share.

The colours can be told apart by people who see no red, green or blue (after Okabe and Ito), on a light and on
a dark ground. Whatever a colour says is also said by a shape, a place or a word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import altair as alt

if TYPE_CHECKING:
    import pyarrow as pa

Chart = alt.Chart | alt.LayerChart | alt.VConcatChart | alt.HConcatChart | alt.FacetChart
"""What Altair makes of a picture, alone or of several."""

BLUE, ORANGE, GREEN, RED = "#2b83ba", "#e69f00", "#009e73", "#d55e00"
SKY, PURPLE, GREY = "#56b4e9", "#cc79a7", "#8c8c8c"
CATEGORIES = (BLUE, ORANGE, GREEN, PURPLE, SKY, RED, GREY)

HANDSHAKE_COLOURS = {"resumed": BLUE, "full": ORANGE, "failed": RED, "unknown": GREY}
VERDICT_COLOURS = {
    "agrees": BLUE, "differs": RED, "direction only": GREEN, "not comparable": PURPLE, "no data": GREY,
}  # fmt: skip
SEVERITY_COLOURS = {"high": RED, "medium": ORANGE, "low": SKY, "info": GREY}
SEVERITY_MARKS = {"high": "▲ high", "medium": "◆ medium", "low": "● low", "info": "○ info"}
"""Severities with a shape before the word, for tables."""

_CLOCK = {
    "minutes": "%H:%M", "hours": "%H:%M", "day": "%d %b", "date": "%d %b", "week": "%d %b", "month": "%b %Y",
}  # fmt: skip
"""What stands at the ticks of an axis, by what changes there: the clock has 24 hours."""


def values(table: pa.Table) -> alt.InlineData:
    """Rows for a picture; times as the moments they are, whatever the zone of the browser."""
    return alt.InlineData(plain_rows(table))


def plain_rows(table: pa.Table) -> list[dict[str, Any]]:
    """The same, not yet checked by Altair, which takes long where there are thousands."""
    return [{name: _plain(value) for name, value in row.items()} for row in table.to_pylist()]


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat() if value.tzinfo else value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and value != value:  # noqa: PLR0124 - JSON has no word for it
        return None
    return value


def time_axis(column: str, title: str = "Time (UTC)", **more: Any) -> alt.X:  # noqa: ANN401 - Altair's own
    """A horizontal axis of moments in UTC."""
    axis = alt.Axis(format=_CLOCK, labelOverlap=True)
    return alt.X(f"{column}:T", title=title, scale=alt.Scale(type="utc"), axis=axis, **more)


def time_tip(column: str, title: str = "Time (UTC)") -> alt.Tooltip:
    """The moment under the pointer, in UTC."""
    # Vega formats in the zone of the browser unless the unit of time is one of UTC.
    return alt.Tooltip(f"{column}:T", title=title, timeUnit="utcyearmonthdatehoursminutes")


def colours(known: Mapping[str, str]) -> alt.Scale:
    """The fixed colours of known values."""
    return alt.Scale(domain=list(known), range=list(known.values()))


def spread_colours(found: Sequence[str]) -> alt.Scale:
    """Colours for values that differ from store to store, in the order given; the last is the rest."""
    return alt.Scale(domain=list(found), range=[CATEGORIES[n % len(CATEGORIES)] for n in range(len(found))])


def reference_line(value: float, words: str) -> list[alt.Chart]:
    """A horizontal line at a published value and its words, to be layered over a picture."""
    row = alt.InlineData([{"value": value, "words": words}])
    rule = alt.Chart(row).mark_rule(strokeDash=[6, 4], color=GREY).encode(y="value:Q")
    text = (
        alt.Chart(row)
        .mark_text(align="left", dx=4, dy=-6, color=GREY)
        .encode(y="value:Q", x=alt.value(0), text="words:N")
    )
    return [rule, text]
