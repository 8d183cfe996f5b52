"""Supplied tables as JSON: each object is a row, with the names of columns as keys or paths to them."""

from __future__ import annotations

import json
from collections.abc import Mapping
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

    def take(self, line: int, found: Mapping[str, Any]) -> bool:
        """Make a row of an object that has the columns of a supplied table; false if it has not."""
        for form in self._forms.all:
            told, extra = _told(form, found)
            if form.is_told_by(tuple(told)):
                self._taker(form, line).take(line, told, extra, _SEPARATOR)
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


def _told(form: Form, found: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """The texts of the columns that an object has, and what else is in it."""
    told, extra = dict[str, str](), dict[str, str]()
    used = set[str]()
    for column, path in form.mapped.items():
        value = _at(found, path)
        if value is not _NOT_THERE:
            told[column] = _text(value)
            used.add(path if path in found else path.partition(".")[0])
    for key, value in found.items():
        declared = form.columns.get(_plain(key))
        if declared and declared not in told and key not in used:
            told[declared] = _text(value)
        elif key not in used and value not in (None, ""):
            extra[key] = _text(value)
    return told, extra


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
