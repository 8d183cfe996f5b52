"""What was published about floods of TLS sessions on z/TPF, and the same figures of a modelled flood."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from zscope.pipelines.flood.parameters import Mode
from zscope.schemas.published import published_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zscope.pipelines.flood.figures import Comparison

GAIN, PEAK_BEFORE, PEAK_WITH, HIGH_BEFORE, HIGH_WITH = (
    "throughput_gain", "peak_ecbs_before", "peak_ecbs_with", "duration_before", "duration_with",
)  # fmt: skip
_FROM = {
    GAIN: ("ztpf-sharedssl-throughput", "value", "throughput_per_s", None),
    PEAK_BEFORE: ("ztpf-inetd-peak-ecbs", "baseline_value", "peak_ecbs", Mode.BLOCKING),
    PEAK_WITH: ("ztpf-inetd-peak-ecbs", "candidate_value", "peak_ecbs", Mode.NON_BLOCKING),
    HIGH_BEFORE: ("ztpf-inetd-duration", "baseline_value", "duration_s", Mode.BLOCKING),
    HIGH_WITH: ("ztpf-inetd-duration", "candidate_value", "duration_s", Mode.NON_BLOCKING),
}
"""Id of the published result, its column, and the figure of the model with its mode, or the gain of both."""
_UNITS = {"pct": "%"}


@dataclass(frozen=True, slots=True)
class Published:
    """A published figure."""

    name: str
    result: str
    """Id of the published result."""
    value: float
    unit: str
    as_printed: str


@cache
def published_figures() -> Mapping[str, Published]:
    """The published figures that a model can be held against.

    >>> [figure.value for figure in published_figures().values()]
    [46.0, 2500.0, 100.0, 20.0, 2.0]
    """
    rows = {row["id"]: row for row in published_tables()["reference_result"].to_pylist()}
    return {
        name: Published(
            name, result, rows[result][column], _UNITS.get(rows[result]["unit"], rows[result]["unit"]),
            rows[result]["as_printed"],
        )
        for name, (result, column, _, _) in _FROM.items()
    }  # fmt: skip


def modelled(comparison: Comparison) -> Mapping[str, float | None]:
    """The figures of a modelled flood that correspond to the published ones."""
    return {
        name: comparison.change_pct(figure) if mode is None else comparison.value(figure, mode)
        for name, (_, _, figure, mode) in _FROM.items()
    }
