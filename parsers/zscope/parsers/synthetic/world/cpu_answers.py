"""The known answers about CPU time: which source tells of which intervals, and what it should tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zscope.parsers.synthetic.world.recipe import DAY_US, INTERVALS_A_DAY, NAMES, moment

if TYPE_CHECKING:
    from zscope.parsers.synthetic.world.meter import Meter
    from zscope.parsers.synthetic.world.rmf import Coverage, Span

Plain = dict[str, Any]


def cpu_answers(meter: Meter, nights: Sequence[Meter], coverage: Coverage) -> Plain:
    """CPU seconds by system and day of background traffic, by the model and as RMF shows them."""
    shown, expected = meter.shown(), meter.expected
    days: Plain = {}
    for system, name in enumerate(NAMES):
        days[name] = {}
        for day in range(coverage.days):
            part = slice(day * INTERVALS_A_DAY, (day + 1) * INTERVALS_A_DAY)
            gap = [
                n
                for n in coverage.gap.numbers()
                if part.start <= n < part.stop and coverage.gap.system == system
            ]
            days[name][f"{moment(meter.first_us + day * DAY_US):%Y-%m-%d}"] = {
                "cpu_s": int(shown[system, part].sum()) / 1e6,
                "cpu_s_expected": round(float(expected[system, part].sum()) / 1e6, 6),
                "cpu_s_in_gaps": int(shown[system, gap].sum()) / 1e6,
            }
    return {
        "cpu_seconds": days,
        "cpu_intervals_s": {
            name: [round(value / 1e6, 6) for value in shown[system].tolist()]
            for system, name in enumerate(NAMES)
        },
        "rmf": {
            "xml": _span(coverage.xml, meter),
            "text": _span(coverage.text, meter),
            "no_smf70": [_span(span, meter) for span in coverage.without_records],
            "no_source": _span(coverage.gap, meter),
        },
        "nights_begin": [moment(night.first_us).isoformat() for night in nights],
    }


def _span(span: Span, meter: Meter) -> Plain:
    numbers = span.numbers()
    return {
        "system": NAMES[span.system],
        "from": moment(meter.begin(numbers[0])).isoformat(),
        "to": moment(meter.begin(numbers[-1] + 1)).isoformat(),
        "intervals": len(numbers),
    }
