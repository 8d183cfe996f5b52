"""Expressions of declared records: how they are evaluated, and the functions and names that they can use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.samples.dump.arrays import utc

if TYPE_CHECKING:
    from types import CodeType

    from zscope.samples.dump.arrays import Choice, Numbers

Names = dict[str, Any]


def evaluate(expression: int | str, names: Names) -> Any:  # noqa: ANN401 - whatever the expression is
    """Return the value of an expression of a declaration, which is a part of this package."""
    return eval(_compiled(str(expression)), {"__builtins__": {}}, names)


@cache
def _compiled(expression: str) -> CodeType:
    """Compile an expression; a traceback shows it in place of a file."""
    return compile(expression, f"expression {expression}", "eval")


@dataclass(frozen=True, slots=True)
class Picked:
    """A column with few different values: row i has `values[index[i]]`."""

    values: Any
    """Texts, an Arrow column, or several Arrow columns by name."""
    index: Choice


def numbered(pattern: str, numbers: Numbers) -> Picked:
    """Return texts with a number in each."""
    distinct, index = np.unique(numbers, return_inverse=True)
    return Picked([pattern.format(number) for number in distinct.tolist()], index.reshape(np.shape(numbers)))


def whole(numbers: Choice) -> Numbers:
    """Return whole numbers, rounded towards zero."""
    return numbers.astype(np.int64)


def random_names(rng: np.random.Generator, count: int) -> Names:
    """Return the functions that draw one random number for each record."""

    def choice(weights: Choice) -> Numbers:
        return rng.choice(len(weights), count, p=weights)

    return {
        "choice": choice,
        "integers": lambda low, high: rng.integers(low, high, count),
        "normal": lambda mean, deviation: rng.normal(mean, deviation, count),
        "random": lambda: rng.random(count),
    }


FUNCTIONS: Names = {
    "array": np.array,
    "exp": np.exp,
    "len": len,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "numbered": numbered,
    "pick": Picked,
    "round": np.rint,
    "utc": utc,
    "where": np.where,
    "whole": whole,
}
