"""What is allowed as a value of a type, in words for messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

LONGEST_VALUE = 60
MAPPINGS = (dict, Mapping)
LISTS = (list, tuple, Sequence)
_UNIONS = (Union, UnionType)


class Allowed(msgspec.Struct, frozen=True):
    """What is allowed as a value, for an annotation: in words, and by a function where types cannot say it.

    The function receives a value of the type `of`, or a list or table whose values were read. It returns what
    the value becomes, or raises ValueError with the problem.
    """

    text: str
    read: Callable[..., object] | None = None
    of: type | tuple[type, ...] = str
    in_folder: bool = False
    """Whether the function also receives the folder of the file, where relative paths begin."""

    def reads(self, raw: object) -> bool:
        """Return whether a value can go to the function."""
        return type(raw) in (self.of if isinstance(self.of, tuple) else (self.of,))


def shortened(raw: object) -> str:
    """Return a value as it is shown in a message."""
    text = raw.isoformat() if isinstance(raw, date | time) else repr(raw)
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
        return own.text + _range(declared)
    if words := words_of(kind):
        quote = "" if get_origin(kind) is Literal and isinstance(get_args(kind)[0], int) else '"'
        return _one_of([f"{quote}{word}{quote}" for word in words])
    if get_origin(kind) in _UNIONS:
        return _one_of([allowed(each) for each in get_args(kind)])
    if get_origin(kind) in LISTS:
        return f"a list of {_several(get_args(kind)[0])}"
    return _SINGLE.get(kind, ("a table", ""))[0] + _range(declared)


def example(declared: object) -> str:
    """Return the example of a value that is annotated, in TOML; an empty text if there is none."""
    return next((str(text) for meta in metas(declared) for text in meta.examples or ()), "")


def _range(declared: object) -> str:
    """Return the limits of a number in words.

    >>> allowed(Annotated[int, msgspec.Meta(ge=0, le=4096)]), allowed(Annotated[int, msgspec.Meta(ge=1)])
    ('an integer from 0 to 4,096', 'an integer of 1 or more')
    """
    least = next((meta.ge for meta in metas(declared) if meta.ge is not None), None)
    most = next((meta.le for meta in metas(declared) if meta.le is not None), None)
    if least is None:
        return ""
    return f" of {least:,} or more" if most is None else f" from {least:,} to {most:,}"


def metas(declared: object) -> Iterator[msgspec.Meta]:
    """Yield what `msgspec` checks in addition to a type, without what is annotated inside of lists."""
    if get_origin(declared) is Annotated:
        declared, *annotations = get_args(declared)
        yield from (each for each in annotations if isinstance(each, msgspec.Meta))
    if get_origin(declared) in _UNIONS:
        for each in get_args(declared):
            yield from metas(each)


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
        return tuple(str(word) for word in get_args(kind) if word)
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
