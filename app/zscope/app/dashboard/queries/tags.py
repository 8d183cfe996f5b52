"""Two lists of key=value side by side, and where they differ."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa

SAME, DIFFERS, MISSING = "= same", "≠ differs", "… told on one side only"
"""What can be said of a pair, with a sign before the word."""


def side_by_side(left: Sequence[str], right: Sequence[str]) -> pa.Table:
    """One row for each key: tag, left, right, compared; what differs comes first.

    >>> side_by_side(["cpc=z16 (A01, 3931)", "fips=on"], ["cpc=3931 A01", "fips=off"]).to_pylist()[0]
    {'tag': 'fips', 'compared': '≠ differs', 'left': 'on', 'right': 'off'}
    """
    one, other = _by_key(left), _by_key(right)
    rows = [
        {"tag": key, "compared": _compared(one.get(key), other.get(key)), "left": one.get(key),
         "right": other.get(key)}
        for key in dict.fromkeys([*one, *other])
    ]  # fmt: skip
    order = (DIFFERS, SAME, MISSING)
    rows.sort(key=lambda row: (order.index(row["compared"] or ""), row["tag"] or ""))
    names = ("tag", "compared", "left", "right")
    return pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in names})


def _by_key(tags: Sequence[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for tag in tags:
        key, _, value = tag.partition("=")
        if value not in found.setdefault(key, []):
            found[key].append(value)
    return {key: ", ".join(values) for key, values in found.items()}


def _compared(one: str | None, other: str | None) -> str:
    if one is None or other is None:
        return MISSING
    words, others = _words(one), _words(other)
    # A document says more of the same thing than a record does: "z16 (A01, 3931)" is "3931 A01".
    return SAME if one == other or (words and others and (words <= others or others <= words)) else DIFFERS


def _words(text: str) -> set[str]:
    return set(re.findall(r"[\w./+]+", text.upper()))
