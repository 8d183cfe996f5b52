"""What is allowed as a value of a type, in words for messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

LONGEST_VALUE = 60
MAPPINGS = (dict, Mapping)
LISTS = (list, tuple, Sequence)
_UNIONS = (Union, UnionType)


@dataclass(frozen=True, slots=True)
class Allowed:
    """What is allowed as a value, for an annotation: in words, and by a function where types cannot say it.

    The function receives a value of the type `of`, or a list or table whose values were read. It returns what
    the value becomes, or raises ValueError with the problem.
    """

    text: str
    read: Callable[[Any], object] | None = None
    of: type = str

    def reads(self, raw: object) -> bool:
        """Return whether a value goes to the function without another check."""
        return self.read is not None and type(raw) is self.of


def shortened(raw: object) -> str:
    """Return a value as it is shown in a message."""
    text = repr(raw)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 3]}..."


_SINGLE: Mapping[object, tuple[str, str]] = {
    str: ("a text", "texts"),
    bool: ("true or false", "values true or false"),
    int: ("an integer", "integers"),
    float: ("a number", "numbers"),
    datetime: ("a time such as 2026-03-09T01:00:00Z", "times"),
    date: ("a date such as 2026-03-09", "dates"),
    time: ("a time of day such as 01:00:00", "times of day"),
}
"""The words for one value of a type, and for several."""


def allowed(declared: object) -> str:
    """Return in words what is allowed as a value of a type.

    >>> allowed(tuple[str, ...]), allowed(Literal["high", "low"]), allowed(int | None)
    ('a list of texts', '"high" or "low"', 'an integer')
    """
    kind, own = without_annotations(declared)
    if own is not None:
        return own.text
    if words := words_of(kind):
        return _one_of([f'"{word}"' for word in words])
    if get_origin(kind) in _UNIONS:
        return _one_of([allowed(each) for each in get_args(kind)])
    if get_origin(kind) in LISTS:
        return f"a list of {_several(get_args(kind)[0])}"
    return _SINGLE.get(kind, ("a table", ""))[0]


def _several(declared: object) -> str:
    kind, own = without_annotations(declared)
    simple = own is None and not get_args(kind) and not words_of(kind)
    return _SINGLE.get(kind, ("", "tables"))[1] if simple else f"values, each {allowed(declared)}"


def _one_of(texts: Sequence[str]) -> str:
    *others, last = texts
    return f"{', '.join(others)} or {last}" if others else last


def words_of(declared: object) -> tuple[str, ...]:
    """Return the words of a choice; none if a type is not one."""
    kind, _ = without_annotations(declared)
    if get_origin(kind) is Literal:
        return tuple(word for word in get_args(kind) if word)
    return tuple(each.value for each in kind) if isinstance(kind, type) and issubclass(kind, Enum) else ()


def without_annotations(declared: object) -> tuple[Any, Allowed | None]:
    """Return a type without `Annotated` and without None, and what is annotated."""
    own = None
    if get_origin(declared) is Annotated:
        declared, *annotations = get_args(declared)
        own = next((each for each in annotations if isinstance(each, Allowed)), None)
    if get_origin(declared) in _UNIONS:
        present = [each for each in get_args(declared) if each is not NoneType]
        if len(present) == 1:
            inner, inner_own = without_annotations(present[0])
            return inner, own or inner_own
    return declared, own


def is_table(kind: object) -> bool:
    """Return whether values of a type are tables with declared keys."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)
