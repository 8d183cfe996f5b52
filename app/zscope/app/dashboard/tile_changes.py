"""What changed since the period that figures are compared with, in words of the metric period_difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zscope.pipelines.metrics.metric_statements import moment
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData

_NOT_KNOWN = "not known"


def change_in_tile(data: PageData, quantity: str) -> dict[str, Any]:
    """Return the options of a tile with the change of its quantity; none without another period."""
    words = change_words(data, quantity)
    return {"delta": words, "delta_color": "off", "delta_arrow": "off"} if words else {}


def change_words(data: PageData, quantity: str) -> str:
    """Return the systems on which a quantity is less or more than in the other period; empty without one."""
    other = data.filters.other()
    if not quantity or other is None or other.begin is None or other.end is None:
        return ""
    times = {"earlier_from": other.begin, "earlier_to": other.end}
    rows = data.metric(
        "period_difference", where=f"quantity = {literal(quantity)}",
        settings=[f"SET VARIABLE {name} = {moment(time)}" for name, time in times.items()],
    )  # fmt: skip
    found: dict[str, list[str]] = {}
    for row in rows.to_pylist():
        found.setdefault(row["verdict"], []).append(row["system"])
    if not found.keys() - {_NOT_KNOWN}:
        return "change not known"
    seen = [f"{verdict} on {', '.join(found[verdict])}" for verdict in ("more", "less") if verdict in found]
    return "; ".join(seen) or "no change can be seen"
