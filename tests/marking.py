"""Marks for families of similar cases, of which a few run in `make test`, and parts of the long tests."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from _pytest.mark import ParameterSet

Case = TypeVar("Case")


def deep_except(short: Collection[Case], cases: Iterable[Case]) -> list[ParameterSet]:
    """Return all cases as parameters; those that are not `short` are deep tests."""
    every = list(cases)
    assert all(case in every for case in short), "a short case that does not exist"
    return [pytest.param(case, marks=() if case in short else pytest.mark.deep) for case in every]


def is_in_part(name: str, part: str) -> bool:
    """Tell whether a file of tests, or one test, is in a part such as `2/4`.

    Each name is in one of the parts. Which one depends on the name only.
    """
    number, count = map(int, part.split("/"))
    if not 1 <= number <= count:
        raise ValueError(f"there is no part {part}")
    return zlib.crc32(name.encode()) % count == number - 1
