"""Writer of the OpenMetrics 1.0 text format.

Everything is a gauge: a value is a count or a measurement of one interval, and not a counter that continues.
So the text is also valid in the older Prometheus format, in which `UNIT` and `EOF` are comments.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, BinaryIO

from zscope.pipelines.exposition.series import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.pipelines.exposition.samples import Sample
    from zscope.pipelines.exposition.series import Family, Labels, Value

MARKS = (b"# TYPE zscope_", b"# EOF\n")
"""First bytes of such a file."""
_MICRO = 1_000_000


class OpenMetrics:
    """Writes families one after the other."""

    def __init__(self, out: BinaryIO, *, timestamps: bool) -> None:
        self._out = out
        self._timestamps = timestamps

    def write(self, family: Family, samples: Iterable[Sample]) -> int:
        """Write a family and return the number of samples; a family without samples is omitted."""
        name = f"{PREFIX}_{family.metric}_{family.name}"
        written = 0
        labels: Labels | None = None
        series = ""
        for sample in samples:
            if not written:
                self._out.write(_metadata(name, family).encode())
            if sample.labels is not labels:
                labels = sample.labels
                series = name + _braced(labels)
            time = f" {_seconds(sample.end_us)}" if self._timestamps else ""
            self._out.write(f"{series} {number(sample.value)}{time}\n".encode())
            written += 1
        return written

    def close(self) -> None:
        """Write the end mark, without which readers take the file as incomplete."""
        self._out.write(b"# EOF\n")


def _metadata(name: str, family: Family) -> str:
    unit = f"# UNIT {name} {family.unit.name}\n" if family.unit.name else ""
    # The older format knows no escape for a double quote here, and OpenMetrics demands one.
    text = family.help.replace("\\", "\\\\").replace('"', "'")
    return f"# TYPE {name} gauge\n{unit}# HELP {name} {text}\n"


def _braced(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(_text(value))}"' for name, value in labels) + "}"


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    return str(value)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def number(value: float) -> str:
    """Format a number with all its digits; only integers have no decimal point.

    >>> number(2**53 + 1), number(0.1), number(3.0), number(float("inf"))
    ('9007199254740993', '0.1', '3.0', '+Inf')
    """
    if isinstance(value, int) or math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else f"{value:+}".replace("inf", "Inf")


def _seconds(microseconds: int) -> str:
    whole, rest = divmod(microseconds, _MICRO)
    return f"{whole}.{rest:06d}" if rest else str(whole)
