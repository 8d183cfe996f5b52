"""One byte of a report changes: no row vanishes or changes unless an issue covers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.parsers.single_fault import known_sample, silent_changes
from tests.parsers.text.rmf.fault_samples import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.parsers.single_fault import Fault

_SHARES = 16
"""Parts of the faults of a sample, for several processes."""


def _silent(name: str, faults: Iterable[Fault], folder: Path) -> list[str]:
    known = known_sample(SAMPLES[name], folder)
    assert known.reading.rows
    assert not known.reading.issues
    return [text for fault in faults for text in silent_changes(known, fault)]


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("count", [10, pytest.param(150, marks=pytest.mark.deep)])
def test_no_single_fault_is_silent(name: str, count: int, tmp_path: Path) -> None:
    assert _silent(name, SAMPLES[name].some_faults(count), tmp_path) == []


@pytest.mark.bytes
@pytest.mark.parametrize("share", range(_SHARES))
@pytest.mark.parametrize("name", SAMPLES)
def test_no_fault_of_any_byte_is_silent(name: str, share: int, tmp_path: Path) -> None:
    assert _silent(name, SAMPLES[name].share_of_faults(share, _SHARES), tmp_path) == []
