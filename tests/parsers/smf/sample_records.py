"""Records of the sample dump, by type and subtype."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path

SAMPLE = Path(__file__).parents[3] / "sample-data" / "smf-sample.bin"


@cache
def records() -> dict[tuple[int, int], list[bytes]]:
    """Return the first two records of each type and subtype, with their length words."""
    data, at = SAMPLE.read_bytes(), 0
    chosen: dict[tuple[int, int], list[bytes]] = defaultdict(list)
    while at < len(data):
        end = at + int.from_bytes(data[at : at + 2], "big")
        kind = data[at + 5], int.from_bytes(data[at + 22 : at + 24], "big")
        if len(chosen[kind]) < 2:
            chosen[kind].append(data[at:end])
        at = end
    return chosen
