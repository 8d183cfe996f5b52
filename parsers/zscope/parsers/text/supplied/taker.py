"""Rows of supplied tables from what lines or objects tell, whichever it was."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.parsers.text.out import Found, Out
from zscope.parsers.text.report import Told
from zscope.parsers.text.supplied.draft import Draft
from zscope.parsers.text.supplied.forms import SYSTEM
from zscope.parsers.text.supplied.rules import RULES
from zscope.parsers.text.supplied.series import TABLE as SERIES
from zscope.parsers.text.supplied.series import Samples
from zscope.schemas.arrow import UTC, table_schema

if TYPE_CHECKING:
    from zscope.parsers.inputs import Options
    from zscope.parsers.text.out import Sheet
    from zscope.parsers.text.report import Origin
    from zscope.parsers.text.supplied.draft import Rule
    from zscope.parsers.text.supplied.forms import Form

_PERIOD = "interval_start_local"


class Taker:
    """Makes the rows of one table from one list of lines or objects."""

    def __init__(self, out: Out, form: Form, rule: Rule | None, first_line: int) -> None:
        self._out = out
        self._form = form
        self._rule = rule
        self._first_line = first_line
        self._found: dict[str | None, Found] = {}
        """By system."""

    def take(
        self,
        line: int,
        told: Mapping[str, str],
        extra: Mapping[str, str],
        separator: str,
        object_no: int | None = None,
    ) -> None:
        """Make a row of the texts of some columns; what is wrong with them is told."""
        draft = Draft(self._out, self._form, line, told, separator)
        draft.read()
        if self._rule:
            self._rule(draft)
        if not draft.good:
            return
        lead = {"run": draft.run, "object_no": object_no, **draft.made, **self._period()}
        if told.get(SYSTEM):
            lead |= {"system": draft.system, "system_from": Told.REPORT.value}
        self._out.lead = lead
        row = self._out.row(self._form.table.name, line, draft.values, extra=extra)
        if draft.system not in self._found:
            origin = self._out.origin
            self._found[draft.system] = Found(
                self._form.report, origin.source.value, draft.system, self._when(row), self._first_line
            )

    def finish(self) -> None:
        """There are no more: what was found goes into the inventory."""
        self._out.sheet.found += self._found.values()

    def _period(self) -> dict[str, Any]:
        """When the period began, for tables that have such a column: only from outside the file."""
        if _PERIOD not in table_schema(self._form.table.name).names:
            return {}
        taken = self._out.origin.taken()
        return {_PERIOD: taken} if taken else {"time_from": Told.NOTHING.value}

    def _when(self, row: Mapping[str, Any]) -> datetime | None:
        """The first moment of a row for the inventory, which has no place for an offset."""
        moments = (row.get(name) for name in _moments(self._form.table.name))
        found: datetime | None = next((moment for moment in moments if moment), None)
        return found.replace(tzinfo=None) if found else row.get(_PERIOD)


@cache
def _moments(table: str) -> tuple[str, ...]:
    return tuple(
        field.name for field in table_schema(table) if pa.types.is_timestamp(field.type) and field.type == UTC
    )


class Rules:
    """The rules of the supplied tables in one file."""

    def __init__(self, sheet: Sheet, options: Options) -> None:
        self._sheet = sheet
        self._samples = Samples(sheet.file, options.time_format)

    def taker(self, origin: Origin, form: Form, first_line: int) -> Taker:
        """What makes rows of a list that begins in this line."""
        rule: Rule | None = RULES.get(form.table.name)
        if form.table.name == SERIES:
            self._samples.begin()
            rule = self._samples
        return Taker(Out(self._sheet, origin), form, rule, first_line)
