"""Compare two lists of tags (key=value) side by side."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

SAME, DIFFERS, MISSING = "= same", "≠ differs", "… only on one side"


def side_by_side(left: Sequence[str], right: Sequence[str]) -> pa.Table:
    """Return a row for each key with the columns tag, compared, left and right; differences come first.

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
    by_key: dict[str, list[str]] = {}
    for tag in tags:
        key, _, value = tag.partition("=")
        if value not in by_key.setdefault(key, []):
            by_key[key].append(value)
    return {key: ", ".join(values) for key, values in by_key.items()}


def _compared(one: str | None, other: str | None) -> str:
    if one is None or other is None:
        return MISSING
    words, others = _words(one), _words(other)
    # A document is more detailed than a record: "z16 (A01, 3931)" is the same as "3931 A01".
    return SAME if one == other or (words and others and (words <= others or others <= words)) else DIFFERS


def _words(text: str) -> set[str]:
    return set(re.findall(r"[\w./+]+", text.upper()))
