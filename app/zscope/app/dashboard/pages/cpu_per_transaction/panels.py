"""Panels over time: one for each system, with the median and the usual range of each part of a day.

Days without data take no room, and lines are interrupted where there is no data.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, timezone
from statistics import quantiles
from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.dashboard.amounts import amount, amount_axis
from zscope.app.dashboard.drawing import clean
from zscope.app.dashboard.over_time import LinesBefore
from zscope.app.dashboard.pages.cpu_per_transaction.cpu_per_transaction_queries import TITLES
from zscope.app.dashboard.style import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY, colours, time_tip, values
from zscope.app.dashboard.time_axis import PIECE, drawn_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from zscope.app.dashboard.pages.cpu_per_transaction.cpu_per_transaction_queries import CostOverTime
    from zscope.app.dashboard.style import Chart

MEASURES = {
    **dict.fromkeys(TITLES, "us"), "ziip_us_per_transaction": "us", "transactions": "transactions",
    "cpu_s": "s", "ziip_s": "s",
}  # fmt: skip
"""What a panel can show, with its unit."""
_HOURS = (0.25, 0.5, 1, 2, 3, 4, 6, 8, 12, 24)
_MOST_PARTS = 100
"""Parts in a panel: more are not distinguishable."""
_DAY_HOURS = 24
_PANEL_PX, _AXIS_PX, _LABEL_PX = 110, 45, 170
_SAME_EXTENT: dict[str, Any] = {"minExtent": _LABEL_PX, "maxExtent": _LABEL_PX}
"""Panels have one time axis, so their vertical axes need the same room."""
_STATUS_COLOURS = {
    "no transactions": SKY, "no transaction data": GREY, "no records": GREY,
    "partly counted": PURPLE, "gap": RED, "no CPU data": ORANGE, "overlap": GREEN, "no UTC": GREY,
    "no end time": GREY,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CollapsedDays:
    """A time axis of the days with data only: places are hours since the first of them."""

    days: Sequence[date]
    zone: timezone = UTC
    """The clock of the days."""

    @classmethod
    def of(cls, moments: Iterable[datetime], zone: timezone = UTC) -> CollapsedDays:
        """Return the axis of the days of some moments."""
        return cls(sorted({moment.astimezone(zone).date() for moment in moments}), zone)

    @property
    def hours(self) -> int:
        """The length of the axis."""
        return _DAY_HOURS * len(self.days)

    def place(self, moment: datetime) -> float:
        """Return the place of a moment on a day with data."""
        midnight = datetime.combine(moment.astimezone(self.zone).date(), time(), self.zone)
        hours = (moment - midnight).total_seconds() / 3600
        return _DAY_HOURS * self.days.index(midnight.date()) + hours

    def moment(self, place: float) -> datetime:
        """Return the moment at a place of the axis."""
        day = min(max(int(place // _DAY_HOURS), 0), len(self.days) - 1)
        midnight = datetime.combine(self.days[day], time(), self.zone)
        return midnight + timedelta(hours=place - _DAY_HOURS * day)

    def breaks(self) -> list[int]:
        """Return the places at which days are left out."""
        return [
            _DAY_HOURS * place
            for place in range(1, len(self.days))
            if self.days[place] - self.days[place - 1] > timedelta(days=1)
        ]

    def axis(self) -> alt.Axis:
        """Return the labels: days, and hours if there are few days."""
        step = 3 if len(self.days) == 1 else 6 if len(self.days) <= 3 else _DAY_HOURS
        places = list(range(0, self.hours, step))
        labels = [
            f"{self.days[place // _DAY_HOURS]:%d %b}"
            if place % _DAY_HOURS == 0
            else f"{place % _DAY_HOURS:02}:00"
            for place in places
        ]
        return alt.Axis(values=places, labelExpr=f"{labels}[datum.value / {step}]", labelOverlap=True)


def in_parts(
    rows: pa.Table, clock: str, measure: str, on: CollapsedDays | timezone
) -> tuple[pa.Table, CollapsedDays]:
    """Return the median and the range from 10 to 90 % of a measure in each part of a day, by system.

    Parts of one piece follow each other. Runs have pieces of their own. `on` is the axis, of whose days the
    rows are, or the clock of the days.
    """
    known = [row | {clock: drawn_at(row[clock])} for row in rows.to_pylist() if row[clock] is not None]
    if isinstance(on, CollapsedDays):
        days = on
        known = [row for row in known if row[clock].astimezone(days.zone).date() in days.days]
    else:
        days = CollapsedDays.of((row[clock] for row in known), on)
    fitting = (hours for hours in _HOURS if days.hours / hours <= _MOST_PARTS)
    hours = _DAY_HOURS if clock == "day" else next(fitting, _DAY_HOURS)
    groups: dict[tuple[str, str, datetime], list[float]] = {}
    for row in known:
        if row.get(measure) is not None:
            key = (row["system"], row.get("run") or "", _start_of_part(row[clock], hours, days.zone))
            groups.setdefault(key, []).append(row[measure])
    parts: list[dict[str, Any]] = []
    piece, before = 0, ("", "", datetime.min.replace(tzinfo=UTC))
    length = timedelta(hours=hours)
    for system, run, start in sorted(groups):
        if (system, run) != before[:2] or start - before[2] > length:
            piece += 1
        before = (system, run, start)
        sizes = groups[system, run, start]
        tenths = quantiles(sizes, n=10, method="inclusive") if len(sizes) > 1 else sizes * 9
        low, middle, high = tenths[0], tenths[4], tenths[8]
        unit = MEASURES[measure]
        parts.append(
            {
                "system": system, "run": run, "start_utc": start, "place": days.place(start), PIECE: piece,
                "low": low, "middle": middle, "high": high, "intervals": len(sizes),
                "middle_in_words": amount(middle, unit),
                "range_in_words": f"{amount(low, unit)} to {amount(high, unit)}",
            }
        )  # fmt: skip
    return pa.Table.from_pylist(parts, _PARTS), days


_PARTS = pa.schema(
    [
        ("system", pa.string()), ("run", pa.string()), ("start_utc", pa.timestamp("us", "UTC")),
        ("place", pa.float64()), (PIECE, pa.int64()), ("low", pa.float64()), ("middle", pa.float64()),
        ("high", pa.float64()), ("intervals", pa.int64()), ("middle_in_words", pa.string()),
        ("range_in_words", pa.string()),
    ]
)  # fmt: skip


def _start_of_part(moment: datetime, hours: float, zone: timezone) -> datetime:
    midnight = datetime.combine(moment.astimezone(zone).date(), time(), zone)
    return midnight + ((moment - midnight) // timedelta(hours=hours)) * timedelta(hours=hours)


def without_values(rows: pa.Table, days: CollapsedDays) -> list[dict[str, Any]]:
    """Return the times without a value of each system and status; neighbouring intervals are one time."""
    times: list[dict[str, Any]] = []
    ordered = sorted(
        (row for row in rows.to_pylist() if row["interval_start_utc"] is not None),
        key=lambda row: (row["system"], row["status"], row["interval_start_utc"]),
    )
    for row in ordered:
        start = days.place(row["interval_start_utc"])
        # An interval over midnight ends with its day: the next one may be far away.
        end = min(start + (row["interval_ms"] or 0) / 3_600_000, (start // _DAY_HOURS + 1) * _DAY_HOURS)
        reason = f"{row['system']}: {row['status']}"
        if times and times[-1]["reason"] == reason and start - times[-1]["end"] < 0.01:
            times[-1]["end"] = max(end, times[-1]["end"])
        else:
            moment = row["interval_start_utc"].astimezone(UTC).isoformat()
            times.append(
                {"reason": reason, "status": row["status"], "system": row["system"], "place": start,
                 "end": end, "start_utc": moment}
            )  # fmt: skip
    return times


def charts_over_time(
    costs: CostOverTime,
    missing: pa.Table,
    before: pa.Table | None,
    measure: str,
    title: str,
    *,
    logarithmic: bool,
) -> tuple[dict[str, Chart], CollapsedDays]:
    """Return a panel for each system, and the times without a value, by what they show in words; their axis.

    `before` are the rows of the period before, at the times of the chosen one.
    """
    parts, days = in_parts(costs.rows, costs.clock, measure, costs.zone)
    earlier = None if before is None else in_parts(before, costs.clock, measure, days)[0]
    reasons = without_values(missing, days) if costs.clock == "interval_start_utc" else []
    of_system = {name: parts.filter(pc.field("system") == name) for name in costs.systems}
    drawn = [name for name, rows in of_system.items() if rows.num_rows]
    charts: dict[str, Chart] = {}
    for name in drawn:
        words = f"{title} of {name} over time: a line for the median, a band for the range from 10 to 90 %."
        last = name == drawn[-1] and not reasons
        charts[words] = _panel(
            of_system[name], None if earlier is None else earlier.filter(pc.field("system") == name), days,
            MEASURES[measure], logarithmic=logarithmic, labelled=last,
        )  # fmt: skip
    if reasons:
        charts["Times without a value of each system, with the reason, as bars."] = _reasons(reasons, days)
    return charts, days


def _place(days: CollapsedDays, *, labelled: bool) -> alt.X:
    scale = alt.Scale(domain=[0, max(days.hours, 1)], nice=False)
    if not labelled:
        return alt.X("place:Q", scale=scale, axis=None)
    note = ", days without data are left out" if days.breaks() else ""
    return alt.X("place:Q", scale=scale, axis=days.axis(), title=f"Time ({days.zone}){note}")


def _panel(
    rows: pa.Table,
    before: pa.Table | None,
    days: CollapsedDays,
    unit: str,
    *,
    logarithmic: bool,
    labelled: bool,
) -> Chart:
    """The median of a system as a line, and its range as a band; the median of the period before."""
    [system] = set(rows["system"].to_pylist())
    # A logarithmic scale has no zero.
    shown = rows.filter(pc.field("low") > 0) if logarithmic else rows
    scale = alt.Scale(type="log") if logarithmic else alt.Scale(zero=True)
    base = alt.Chart(values(shown)).encode(x=_place(days, labelled=labelled), detail=alt.Detail(f"{PIECE}:N"))
    axis = amount_axis("" if unit == "transactions" else unit, tickCount=3, **_SAME_EXTENT)
    band = base.mark_area(opacity=0.25, color=BLUE).encode(
        y=alt.Y("low:Q", title=None, scale=scale, axis=axis), y2=alt.Y2("high:Q")
    )
    line = base.mark_line(color=BLUE, strokeWidth=1.4, point=alt.OverlayMarkDef(size=14, color=BLUE)).encode(
        y=alt.Y("middle:Q", title=None, scale=scale, axis=axis),
        tooltip=[
            alt.Tooltip("system:N", title="System"), time_tip("start_utc", "From (UTC)"),
            alt.Tooltip("run:N", title="Run"), alt.Tooltip("middle_in_words:N", title="Median"),
            alt.Tooltip("range_in_words:N", title="10 % to 90 %"),
            alt.Tooltip("intervals:Q", title="Intervals"),
        ],
    )  # fmt: skip
    drawn = [band, line]
    if before is not None and before.num_rows:
        encodings = {
            "x": _place(days, labelled=labelled), "y": alt.Y("middle:Q", title=None, scale=scale, axis=axis),
            "detail": alt.Detail(f"{PIECE}:N"),
        }  # fmt: skip
        known = before.filter(pc.field("middle") > 0) if logarithmic else before
        drawn.append(LinesBefore(known, encodings).chart())
    if days.breaks():
        breaks = alt.Chart(alt.InlineData([{"place": place} for place in days.breaks()]))
        rule = breaks.mark_rule(color=GREY, strokeDash=[2, 3])
        drawn.append(rule.encode(x=_place(days, labelled=labelled)))
    chart: Chart = alt.layer(
        *drawn, height=_PANEL_PX + (_AXIS_PX if labelled else 0), title=_title(clean(system))
    )
    return chart


def _title(words: str) -> alt.TitleParams:
    return alt.TitleParams(words, anchor="start", frame="group", fontSize=13, offset=2)


def _reasons(reasons: list[dict[str, Any]], days: CollapsedDays) -> alt.Chart:
    """Times without a value as bars, in a row for each system and status."""
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(reasons), height=alt.Step(18))
        .mark_bar(height=9)
        .encode(
            x=_place(days, labelled=True),
            x2=alt.X2("end:Q"),
            y=alt.Y(
                "reason:N",
                title=None,
                axis=alt.Axis(labelOverlap=False, labelLimit=_LABEL_PX, **_SAME_EXTENT),
            ),
            color=alt.Color("status:N", scale=colours(_STATUS_COLOURS), legend=None),
            tooltip=[
                alt.Tooltip("system:N", title="System"),
                time_tip("start_utc", "From (UTC)"),
                alt.Tooltip("status:N", title="No value, because"),
            ],
        )
        .properties(title=_title("Times without a value"))
    )
    return chart


def shown_measures(main: str, *, ziip: bool) -> Mapping[str, str]:
    """Return the titles of the measures that the panels can show."""
    return {
        main: TITLES[main],
        **({"ziip_us_per_transaction": "zIIP per transaction"} if ziip else {}),
        "transactions": "Transactions", "cpu_s": "CPU time", **({"ziip_s": "zIIP time"} if ziip else {}),
    }  # fmt: skip
