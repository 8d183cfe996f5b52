"""The arithmetic of one published result as a few narrow tables, for people."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from zscope.app.output import Rows

Line = dict[str, Any]

_INTERVALS = (
    "stands_for", "run", "role", "system", "start_utc", "seconds", "cpu_s", "transactions", "latency_ms",
    "text",
)  # fmt: skip
_FIGURES = ("part", "stands_for", "run", "role", "system", "value", "low", "high", "unit", "text")
_NUMBERS = ("figure", "measure", "change", "check", "count", "accepted")
_STATEMENTS = ("published", "conflict", "rule", "pair", "run")
_WIDEST = 100
_NARROWEST = 30
_DECIMALS = {"seconds": 3, "cpu_s": 6, "transactions": 3, "latency_ms": 6, "value": 6, "low": 6, "high": 6}
"""Decimals shown; the other formats have all there are."""


def as_tables(lines: Sequence[Line], *, on_terminal: bool) -> Iterator[Rows]:
    """What was published and chosen, the intervals with their sums, the figures, and the verdict."""
    terminal = shutil.get_terminal_size().columns if on_terminal else None
    yield _paragraphs([line for line in lines if line["part"] in _STATEMENTS], terminal)
    intervals = [line for line in lines if line["part"] == "interval"]
    sums = [line | {"text": f"sum of {line['text']}"} for line in lines if line["part"] == "sum"]
    if intervals:
        yield _columns(_INTERVALS, intervals + sums)
    figures = [line for line in lines if line["part"] in _NUMBERS]
    if figures:
        yield _columns(_FIGURES, [line | {"text": line["text"] or line["what"]} for line in figures])
    yield _paragraphs([line for line in lines if line["part"] == "verdict"], terminal)


def _paragraphs(lines: Sequence[Line], terminal: int | None) -> Rows:
    """Long texts over several rows: nothing of them is cut off on a terminal."""
    import pyarrow as pa

    whats = [" ".join(filter(None, (line["what"], line["role"], line["system"]))) for line in lines]
    used = max(map(len, ("published", *whats))) + 14
    width = _WIDEST if terminal is None else max(_NARROWEST, min(_WIDEST, terminal - used))
    rows: dict[str, list[str]] = {"part": [], "what": [], "text": []}
    for line, what in zip(lines, whats, strict=True):
        for number, text in enumerate(textwrap.wrap(line["text"] or "", width) or [""]):
            rows["part"].append("" if number else line["part"])
            rows["what"].append("" if number else what)
            rows["text"].append(text)
    return Rows.of(pa.table({name: pa.array(values, pa.string()) for name, values in rows.items()}))


def _columns(names: Sequence[str], lines: Sequence[Line]) -> Rows:
    import pyarrow as pa

    columns = {name: [_shown(name, line) for line in lines] for name in names}
    # What no line has is of no use here: CPU time to a latency, for one.
    return Rows.of(pa.table({name: values for name, values in columns.items() if any(values)}), tuple(names))


def _shown(name: str, line: Line) -> str:
    value = line["interval_start_utc" if name == "start_utc" else name]
    if value is None:
        return ""
    if name == "start_utc":
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return f"{value:.{_DECIMALS[name]}f}" if name in _DECIMALS else str(value)
