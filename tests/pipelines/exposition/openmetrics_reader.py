"""The OpenMetrics text format, read by the parser of the Prometheus project; numbers and times as written.

What this parser accepts and the specification, version 1.0, does not is an error here, as gauges require it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from prometheus_client.openmetrics.parser import text_string_to_metric_families

LabelSet = frozenset[tuple[str, str]]
_ORDER = ("TYPE", "UNIT", "HELP")
_METADATA = re.compile(r"^# (TYPE|UNIT|HELP) (\S+) (.+)$", re.MULTILINE)
_QUOTED = re.compile(r'[^"]*(?:"(?:[^"\\]|\\[n"\\])*"[^"]*)*')
"""A line without unknown escapes."""
_REAL = re.compile(r"[+-]?(?:\d+|(?:\d+\.\d*|\d*\.\d+|\d+)(?:[eE][+-]?\d+)?)|NaN|[+-]Inf")
_TIME = re.compile(r"\d+(?:\.\d+)?")
_SUFFIXES = ("_total", "_created", "_count", "_sum", "_bucket", "_gcount", "_gsum", "_info")
_EXPLANATION = re.compile(r'(?:[^"\\]|\\[n\\])+')
"""Without escapes that only one of two formats knows."""


@dataclass
class Read:
    """One family."""

    metadata: dict[str, str] = field(default_factory=dict)
    samples: dict[LabelSet, list[tuple[str | None, str]]] = field(default_factory=dict)
    """Time and number as they were written, for each series."""


def read(data: bytes) -> dict[str, Read]:
    """Return the families of a text."""
    text = data.decode("utf-8")
    assert "\r" not in text
    families: dict[str, Read] = {}
    for key, name, value in _METADATA.findall(text):
        families.setdefault(name, Read()).metadata[key] = value
    lines = iter([line for line in text.split("\n") if line and not line.startswith("#")])
    for family in text_string_to_metric_families(text):  # type: ignore[no-untyped-call] # it has no types
        found = families[family.name]
        for sample in family.samples:
            line = next(lines)
            assert _QUOTED.fullmatch(line), line
            assert all(sample.labels.values()), f"{line}: an empty label is none"
            assert not any(label.startswith("_") for label in sample.labels), line
            _, number, *times = line.rsplit(" ", 1 if sample.timestamp is None else 2)
            assert _REAL.fullmatch(number), line
            assert all(map(_TIME.fullmatch, times)), line
            series = found.samples.setdefault(frozenset(sample.labels.items()), [])
            series.append((times[0] if times else None, number))
    assert not list(lines), "the parser leaves out a second sample of the same time"
    for name, found in families.items():
        _check(name, found)
    return families


def _check(name: str, family: Read) -> None:
    assert family.metadata["TYPE"] == "gauge", name
    assert list(family.metadata) == [key for key in _ORDER if key in family.metadata], name
    assert _EXPLANATION.fullmatch(family.metadata["HELP"]), name
    assert not name.endswith(_SUFFIXES), f"{name} could be taken for a part of another type"
    assert family.samples, f"{name} has no samples"
