"""Supplied tables as JSON: each object is a row, with the names of columns as keys or paths to them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from zscope.parsers.text.supplied.forms import forms_for
from zscope.parsers.text.supplied.taker import Rules
from zscope.schemas.printed import plain_label

if TYPE_CHECKING:
    from zscope.parsers.inputs import Options
    from zscope.parsers.text.out import Sheet
    from zscope.parsers.text.report import Origin
    from zscope.parsers.text.supplied.forms import Form
    from zscope.parsers.text.supplied.taker import Taker

_SEPARATOR = ","
"""Numbers in texts are written as in a CSV with commas."""
_NOT_THERE = object()


class SuppliedObjects:
    """Takes the objects of one file."""

    def __init__(self, sheet: Sheet, options: Options, origin: Origin) -> None:
        self._forms = forms_for(options.mapping)
        self._rules = Rules(sheet, options)
        self._origin = origin
        self._takers: dict[str, Taker] = {}
        self._number = 0

    def take(self, line: int, found: Mapping[str, Any]) -> bool:
        """Make a row of an object that has the columns of a supplied table; false if it has not."""
        self._number += 1
        for form in self._forms.all:
            paths = _paths(form, found)
            if form.is_told_by(tuple(paths)):
                told = {column: _text(_at(found, path)) for column, path in paths.items()}
                left = _without(found, paths.values())
                extra = {key: _text(value) for key, value in left.items() if value not in (None, "")}
                self._taker(form, line).take(line, told, extra, _SEPARATOR, self._number)
                return True
        return False

    def finish(self) -> None:
        """There are no more in this file."""
        for taker in self._takers.values():
            taker.finish()

    def _taker(self, form: Form, line: int) -> Taker:
        name = form.table.name
        if name not in self._takers:
            self._takers[name] = self._rules.taker(self._origin, form, line)
        return self._takers[name]


def _paths(form: Form, found: Mapping[str, Any]) -> dict[str, str]:
    """The columns that an object has, and under which key or path."""
    paths = {column: path for column, path in form.mapped.items() if _at(found, path) is not _NOT_THERE}
    used = set(paths.values())
    for key in found:
        declared = form.columns.get(_plain(key))
        if declared and key not in used:
            paths.setdefault(declared, key)
    return paths


def _without(found: Mapping[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """What else is in an object than the values at the end of some paths."""
    left = dict(found)
    for path in paths:
        left = _pruned(left, [path] if path in found else path.split("."))
    return left


def _pruned(value: Any, steps: Sequence[str]) -> Any:  # noqa: ANN401 - as the object has it
    """A value without what a path leads to, and without what is empty then; in a list others are counted."""
    step, *others = steps
    if isinstance(value, list):
        at = int(step[:9])
        value = [*value[:at], _pruned(value[at], others) if others else None, *value[at + 1 :]]
        return value if any(value) else None
    if not isinstance(value, Mapping) or step not in value:
        # Another path led to all of it.
        return value
    rest = _pruned(value[step], others) if others else None
    return {key: each if key != step else rest for key, each in value.items() if key != step or rest}


def _at(found: Mapping[str, Any], path: str) -> object:
    """What stands at the end of a path of keys with points between them; a list counts from 0."""
    if path in found:
        return found[path]
    here: object = found
    for step in path.split("."):
        if isinstance(here, Mapping) and step in here:
            here = here[step]
        elif isinstance(here, list) and step.isascii() and step.isdigit() and int(step[:9]) < len(here):
            here = here[int(step[:9])]
        else:
            return _NOT_THERE
    return here


@lru_cache(maxsize=1024)
def _plain(key: str) -> str:
    return plain_label(key)


def _text(value: object) -> str:
    """A value as a CSV would have it."""
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
