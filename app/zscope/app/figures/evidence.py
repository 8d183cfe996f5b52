"""What a figure rests on, said below it: the kind of evidence, the records, and the hours they cover."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zscope.app.shared.written_values import shown
from zscope.pipelines.metrics import metric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zscope.app.figures.figure_data import FigureData

COUNTED = "counted"
SIGNS = {
    COUNTED: "●", "estimate": "●", "conditional": "◐", "range": "◐", "not enough data": "○", "published": "◇",
}  # fmt: skip
"""Kinds of evidence, the surest first, each with the sign before its word."""
_UNKNOWN = "not enough data"
_PUBLISHED = "published"
_ASKED = ("status", "basis", "source")
_COVERAGE = "coverage"
"""The metric that the covered shares of others are from."""
_COMPARED = frozenset({"published", "published_value", "published_ratio"})
"""Columns of metrics that put published results beside measured ones."""
_MOST_SOURCES, _MOST_RECORDS = 2, 3
_RECORDS = re.compile(
    r"(?<=SMF )\d+(?:-\d+)?|(?<=, )\d+(?:-\d+)?(?=[ ,;.])"
    r"|RMF|GSKSRVR|NETSTAT|pasearch|benchmark runs|\bMQ\b|z/VM|z/TPF"
)


@dataclass(frozen=True, slots=True)
class FigureEvidence:
    """What the numbers of a figure rest on."""

    kinds: tuple[str, ...] = ()
    """Kinds of evidence, the surest first."""
    sources: tuple[str, ...] = ()
    """What the rows are from; all that the metric reads if the rows do not say it."""
    covered_pct: tuple[float, float] | None = None
    """The lowest and the highest share of the hours that have these records, if the rows know it."""

    @property
    def words(self) -> str:
        """What is said below the figure; nothing where the rows are counted and say no more.

        >>> FigureEvidence(("range",), ("zERT summary",), (82.4, 100.0)).words
        '◐ range · zERT summary · 82.4 to 100 % of time'
        """
        if self == FigureEvidence((COUNTED,)):
            return ""
        said = ", ".join(f"{SIGNS[kind]} {kind}" for kind in self.kinds)
        return " · ".join(filter(None, (said, ", ".join(self.sources), self._covered())))

    def _covered(self) -> str:
        if self.covered_pct is None:
            return ""
        low, high = (shown(value, "covered_pct").removesuffix(".0") for value in self.covered_pct)
        return f"{low} % of time" if low == high else f"{low} to {high} % of time"


def evidence_of(
    data: FigureData, name: str, where: str, shown_by: tuple[str, ...] | None = None
) -> FigureEvidence:
    """Return what the rows of a metric rest on that match the filters and a condition.

    Rows are combined, as their covered share is that of all hours. If each row has a status of its own, they
    are grouped as those shown, and the covered share is that of rows with a known value.
    """
    definition = metric(name)
    of = (*definition.measures, *definition.derived) if definition.combinable else definition.columns
    columns = {column.name for column in of}
    judged = "status" in columns
    by = shown_by
    if definition.combinable and not judged:
        by = ("source",) if any(each.name == "source" for each in definition.dimensions) else ()
        columns |= {*by}
    selected = [f"list_sort(list(DISTINCT {column})) AS {column}" for column in _ASKED if column in columns]
    if "covered_pct" in columns and name != _COVERAGE:
        ends = ["min(covered_pct)", "max(covered_pct)"]
        if judged:
            ends = [f"coalesce({end} FILTER (WHERE status <> '{_UNKNOWN}'), {end})" for end in ends]
        selected.append(f"[{', '.join(ends)}] AS covered_pct")
    row = {}
    if selected:
        [row] = data.found(name, f"SELECT {', '.join(selected)} FROM found", by, where).to_pylist()
    low, high = row.get("covered_pct") or (None, None)
    return FigureEvidence(
        _kinds(row, compares=any(column.name in _COMPARED for column in definition.columns)),
        _sources(row.get("source") or (), definition.sources),
        None if low is None or high is None else (low, high),
    )


def _kinds(row: Mapping[str, Sequence[str]], *, compares: bool) -> tuple[str, ...]:
    named = set(row.get("status") or ())
    if len(named) > 1:
        named.discard(_UNKNOWN)
    if compares or _PUBLISHED in (row.get("basis") or ()):
        named.add(_PUBLISHED)
    return tuple(kind for kind in SIGNS if kind in named) or (COUNTED,)


def _sources(of_rows: Sequence[str | None], read: str) -> tuple[str, ...]:
    """What the rows are from, or the records and reports that the metric reads."""
    named = tuple(filter(None, of_rows))
    if 0 < len(named) <= _MOST_SOURCES:
        return named
    records = [*dict.fromkeys(_RECORDS.findall(read))]
    if records and records[0][0].isdigit():
        records[0] = f"SMF {records[0]}"
    more = ("and more",) if len(records) > _MOST_RECORDS else ()
    return (*records[:_MOST_RECORDS], *more)
