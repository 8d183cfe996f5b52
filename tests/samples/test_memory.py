"""Generating a dump of gigabytes takes the memory of a few slices."""

from __future__ import annotations

import io
import tracemalloc

import pytest

from zscope.samples import Recipe, RecordKind, generate


class Discard(io.RawIOBase):
    """Discards all bytes."""

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        return len(data)


def peak(recipe: Recipe) -> int:
    tracemalloc.start()
    try:
        generate(recipe, Discard())  # type: ignore[arg-type]
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("packing", ["none", pytest.param("gzip", marks=pytest.mark.deep)])
def test_memory_does_not_grow_with_the_dump(packing: str) -> None:
    mix = {RecordKind.ZERT_DETAIL: 0.7, RecordKind.FOREIGN: 0.1, RecordKind.TCP_TERM: 0.2}
    small, large = (Recipe(records=n, mix=mix, packing=packing) for n in (16_384, 32_768))
    generate(small, Discard())  # type: ignore[arg-type]  # fills the caches of declarations
    assert peak(large) < 1.5 * peak(small)
