"""The published results beside what was measured here, and what of them can be drawn on one axis."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.pipelines.metrics import metric

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

Row = dict[str, Any]

MARKS = {
    "agrees": "●", "differs": "✚", "direction only": "▲", "not comparable": "◆", "no data": "■",
}  # fmt: skip
"""The verdicts, and what each is drawn as: a sign beside the word, so that no colour is needed."""
_FROM_REFERENCE = ("author", "published", "baseline", "candidate", "value_kind", "note")
"""What the metric does not repeat of the table of published results."""
_FAR_PCT = 200
"""Percents beyond this are drawn on an axis of their own: all others would be too small to be read there."""
_UNITS = {"us": "µs", "CPU us": "CPU µs"}
_PCT = "pct"
_TOLD = ("id", "metric", "side", "workload", "as_printed", "measured", "verdict", "why")
_NUMBERS = ("published", "agrees_from", "agrees_to", "value", "low", "high")
_FIGURE_CHARACTERS = 30


@dataclass(frozen=True, slots=True)
class Panel:
    """Results of one unit, with the ends of the axis they are drawn on."""

    title: str
    rows: pa.Table
    """row, the columns of _TOLD, and as numbers: published, agrees_from, agrees_to, value, low, high."""
    ends: tuple[float, float]


def results(data: Data) -> pa.Table:
    """All published results with their verdicts: those of a figure together, figures in their order."""
    question = f"SELECT id, {', '.join(_FROM_REFERENCE)} FROM reference_result"
    told = {row["id"]: row for row in data.rows(question).to_pylist()}
    found = data.metric("benchmark")
    ids = found["id"].to_pylist()
    for name in _FROM_REFERENCE:
        found = found.append_column(name, pa.array([told[one][name] for one in ids], pa.string()))
    rows = found.select(["area", "section", "figure", "id"]).to_pylist()
    return found.take(sorted(range(len(rows)), key=lambda n: _place(rows[n])))


def chosen(
    found: pa.Table, verdicts: Sequence[str], documents: Sequence[str], *, measured: bool
) -> list[Row]:
    """The results that the reader narrowed the page to; what is empty leaves all."""
    return [
        row
        for row in found.to_pylist()
        if (not verdicts or row["verdict"] in verdicts)
        and (not documents or row["document"] in documents)
        and (not measured or row["measured"] is not None)
    ]


def in_words(row: Row) -> bool:
    """Whether a result was published without any number."""
    return all(row[name] is None for name in ("published_value", "published_low", "published_high"))


def panels(rows: Sequence[Row]) -> Iterator[Panel]:
    """What of some results can be drawn, each axis with its own unit."""
    drawn: dict[str, list[Row]] = {}
    for row in rows:
        if in_words(row) and _shown(row)["value"] is None:
            continue
        drawn.setdefault(_axis(row), []).append(row)
    for title in sorted(drawn, key=lambda title: (not title.startswith("Change"), "words" in title, title)):
        yield _panel(title, drawn[title])


def _axis(row: Row) -> str:
    far = max(abs(number) for number in (_published(row), _shown(row)["value"], 0.0) if number is not None)
    beyond = f", beyond {_FAR_PCT} %" if far > _FAR_PCT else ""
    if in_words(row):
        return f"Change (%), published in words{beyond}"
    if row["value_kind"] == "percent_share":
        return "Share (%)"
    if row["measured_unit"] == _PCT:
        return f"Change (%){beyond}"
    return f"Published value ({_UNITS.get(row['published_unit'], row['published_unit'])})"


def _panel(title: str, rows: Sequence[Row]) -> Panel:
    lines = [
        {name: row[name] for name in _TOLD} | {"row": _label(row)} | _agreed(row) | _shown(row)
        for row in rows
    ]
    known = [line[name] for line in lines for name in _NUMBERS if line[name] is not None]
    least, most = min(0.0, *known), max(0.0, *known)
    margin = 0.05 * (most - least) or 1.0
    ends = (least - margin if least < 0 else 0.0, most + margin)
    for line, row in zip(lines, rows, strict=True):
        # Words and open bounds agree with everything on one side, up to the end of the axis.
        if in_words(row) and row["published_direction"] == "decrease":
            line["agrees_from"] = ends[0]
        if in_words(row) and row["published_direction"] == "increase":
            line["agrees_to"] = ends[1]
    text = {name: pa.array([line[name] for line in lines], pa.string()) for name in ("row", *_TOLD)}
    numbers = {name: pa.array([line[name] for line in lines], pa.float64()) for name in _NUMBERS}
    return Panel(title, pa.table(text | numbers), ends)


def _agreed(row: Row) -> dict[str, float | None]:
    """The published mark, and from where to where a measurement agrees with it."""
    if not in_words(row):
        return {
            "published": _published(row),
            "agrees_from": _first(row["accepted_low"], row["published_low"]),
            "agrees_to": _first(row["accepted_high"], row["published_high"]),
        }
    same = _comparable_pct()
    begin, end = {
        "increase": (0.0, None), "decrease": (None, 0.0),
        "no_change": (-same, same), "comparable": (-same, same),
    }.get(row["published_direction"], (None, None))  # fmt: skip
    return {"published": None, "agrees_from": begin, "agrees_to": end}


def _published(row: Row) -> float | None:
    """The published figure in the unit of what was measured: of two levels the change between them."""
    return _first(row["published_change_pct"], row["published_value"])


def _shown(row: Row) -> dict[str, float | None]:
    """What was measured; from side to side where a document does not say which one it is about."""
    sides = [row[f"measured_{side}_pct"] for side in ("both", "client", "server")]
    known = [side for side in sides if side is not None]
    if row["measured_value"] is None and known:
        return {"value": known[0], "low": min(known), "high": max(known)}
    return {"value": row["measured_value"], "low": row["measured_low"], "high": row["measured_high"]}


def _comparable_pct() -> float:
    [found] = [one for one in metric("benchmark").parameters if one.name == "benchmark_comparable_pct"]
    return float(found.default)


def _label(row: Mapping[str, Any]) -> str:
    place = row["figure"] or row["section"]
    if len(place) > _FIGURE_CHARACTERS:
        place = f"{place[: _FIGURE_CHARACTERS - 1]}…"
    return f"{place} · {row['id']} {MARKS[row['verdict']]}"


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Numbers of sections before those of figures, and as numbers: 10 comes behind 9."""
    numbers = re.findall(r"\d+", row["section"]) if row["section"][:1].isdigit() else []
    figures = re.findall(r"\d+", row["figure"] or "")
    return (
        row["area"], [int(one) for one in numbers], not figures, [int(one) for one in figures], row["id"],
    )  # fmt: skip


def _first(*numbers: float | None) -> float | None:
    return next((number for number in numbers if number is not None), None)
