"""Which tables of a metric need a time zone: found without reading the declarations of other metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from zscope.pipelines.local_time import unzoned_rows
from zscope.pipelines.metrics import Metric, declared


class OnlySome(Mapping[str, Metric]):
    """The declarations, which fail if all of them are read."""

    def __getitem__(self, name: str) -> Metric:
        return declared()[name]

    def __contains__(self, name: object) -> bool:
        return name in declared()

    def __iter__(self) -> Iterator[str]:
        pytest.fail("all declarations are read")

    def __len__(self) -> int:
        return len(declared())


def test_only_the_declarations_below_a_metric_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that prints one metric would take a quarter more CPU time."""
    monkeypatch.setattr(unzoned_rows, "declared", OnlySome)
    find = unzoned_rows.tables_that_need_zones
    find.cache_clear()
    assert find("gsk_cache_delta") == {"gsk_cache_stats"}
    assert find("handshake_mix") == frozenset()
