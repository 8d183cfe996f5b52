"""Marks for families of similar cases, of which a few run in `make test`."""

from __future__ import annotations

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
