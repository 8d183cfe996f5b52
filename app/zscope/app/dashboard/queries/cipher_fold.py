"""Which protocols and suites a picture shows: the large ones each, the small ones together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from zscope.app.dashboard.queries.suite_marks import SHAPES, WEAK


@dataclass(frozen=True, slots=True)
class Fold:
    """What a picture shows: the large ones each, the small ones together."""

    groups: Mapping[str, str]
    """What each protocol or suite is shown as."""
    amounts: Mapping[str, int]
    """How much there is of what is shown, the largest first and the rest at the end."""
    marks: Mapping[str, str]

    @property
    def labels(self) -> list[str]:
        """All that is shown."""
        return list(self.amounts)

    @property
    def table(self) -> pa.Table:
        """With the share of each."""
        whole = sum(self.amounts.values())
        shares = [100 * amount / whole if whole else None for amount in self.amounts.values()]
        return pa.table(
            {
                "name": pa.array(self.labels, pa.string()),
                "mark": pa.array(list(self.marks.values()), pa.string()),
                "amount": pa.array(list(self.amounts.values()), pa.int64()),
                "share_pct": pa.array(shares, pa.float64()),
            }
        )


def fold(found: pa.Table, column: str, measure: str, most: int) -> Fold:
    """Which of them a picture shows: the largest, and the rest as one; weak suites stay apart."""
    amounts: dict[str, int] = {}
    marks: dict[str, str] = {}
    for row in found.to_pylist():
        name = shown(row[column], row.get("mark", ""))
        amounts[name] = amounts.get(name, 0) + (row[measure] or 0)
        marks[name] = row.get("mark", "")
    ranked = sorted(amounts, key=lambda key: (-amounts[key], key))
    kept = ranked if len(ranked) <= most + 1 else ranked[:most]
    weak = [name for name in ranked[len(kept) :] if marks[name].startswith(SHAPES[WEAK])]
    rest = [name for name in ranked[len(kept) :] if name not in weak]
    groups = {name: name for name in kept}
    groups |= _together(weak, f"{SHAPES[WEAK]} other weak ones")
    groups |= _together(rest, "other")
    sums = dict.fromkeys(groups.values(), 0)
    for name, label in groups.items():
        sums[label] += amounts[name]
    told = {label: marks.get(label, "") for label in sums}
    if weak:
        told[groups[weak[0]]] = marks[weak[0]]
    return Fold(groups, sums, told)


def _together(names: list[str], word: str) -> dict[str, str]:
    """What small ones are shown as: one alone as itself."""
    return (
        dict.fromkeys(names, f"{word} ({len(names)})") if len(names) > 1 else {name: name for name in names}
    )


def shown(name: str, marked: str) -> str:
    """A suite with the shape of its mark before it.

    >>> shown("TLS_RSA_WITH_RC4_128_SHA", "▲ weak")
    '▲ TLS_RSA_WITH_RC4_128_SHA'
    """
    return f"{marked[0]} {name}" if marked else name
