"""Dumps of gigabytes are made in the memory of a few slices."""

from __future__ import annotations

import io
import tracemalloc

import pytest

from zscope.parsers.synthetic import Kind, Recipe, generate


class Nowhere(io.RawIOBase):
    """Forgets what it is given."""

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        return len(data)


def peak(recipe: Recipe) -> int:
    tracemalloc.start()
    try:
        generate(recipe, Nowhere())  # type: ignore[arg-type]
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("packing", ["none", "gzip"])
def test_memory_does_not_grow_with_the_dump(packing: str) -> None:
    mix = {Kind.ZERT_DETAIL: 0.7, Kind.FOREIGN: 0.1, Kind.TCP_TERM: 0.2}
    small, large = (Recipe(records=n, mix=mix, packing=packing) for n in (17_000, 50_000))
    generate(small, Nowhere())  # type: ignore[arg-type]  # what is read once does not count
    assert peak(large) < 1.5 * peak(small)
